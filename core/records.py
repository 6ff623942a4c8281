"""Records: small frozen types with one JSON form, and readers that name the line and field of an error.

A record is a frozen, slotted dataclass. Its JSON form is the object of its fields, enumerations by value, tuples as
arrays. Unknown keys, missing keys, NaN and infinities are refused. pydantic does the checking where data enters, and is
the base of the configuration's sections.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from itertools import repeat
from operator import attrgetter, call
from pathlib import Path
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, cast, dataclass_transform

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.config import JsonDict

from downfield.core.errors import FormatError, OutputError
from downfield.core.files.input_files import read_text

T = TypeVar("T")

LARGEST: Final = 2**63 - 1
"""Largest magnitude of a number, beyond which arithmetic overflows far away from what is to blame: nanoseconds of 292
years; no length, probability or count is larger."""

_SHAPE: Final = bytes.maketrans(b"123456789E", b"000000000e")
"""Makes the shape of the numbers in JSON text: every digit is a zero."""
_LARGE_SHAPES: Final = (b"0" * 20, b"0e00", b"0e+00")
_NINETEEN: Final = b"0" * 19
_NINETEEN_FROM_9: Final = re.compile(rb"9[0-9]{18}")

Probability = Annotated[float, Field(ge=0, le=1)]  # a probability; others are refused where they enter

_RULES = {"extra": "forbid", "allow_inf_nan": False, "strict": False}


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Turn a class into a record: a frozen, slotted dataclass whose JSON form is strict about its keys."""
    cls.__pydantic_config__ = _RULES  # type: ignore[attr-defined]
    return dataclasses.dataclass(frozen=True, slots=True)(cls)


if TYPE_CHECKING:
    from dataclasses import replace as replace
else:

    def replace(value, /, **changes):
        """Return a record with changes, as `dataclasses.replace` does, in 40 % of its time: a judge does it most."""
        if (slots := _slots(type(value))) is None or not changes.keys() <= slots[0].keys():
            return dataclasses.replace(value, **changes)
        setters, values = slots
        changed = object.__new__(type(value))
        deque(map(call, setters.values(), repeat(changed), values(value)), maxlen=0)
        for name, new in changes.items():
            setters[name](changed, new)
        return changed


@cache
def _slots(kind: type[Any]) -> tuple[dict[str, Callable[[object, object], None]], Callable[[object], Any]] | None:
    """Return what sets and what gets all slots of a dataclass; None where one that is made is checked or completed."""
    names = [field.name for field in dataclasses.fields(kind) if field.init]
    slotted = all(isinstance(getattr(kind, name, None), MemberDescriptorType) for name in names)
    if hasattr(kind, "__post_init__") or not slotted or not 1 < len(names) == len(dataclasses.fields(kind)):
        return None
    return {name: getattr(kind, name).__set__ for name in names}, attrgetter(*names)


adapter: Final[Callable[[Any], TypeAdapter[Any]]] = cache(TypeAdapter)
"""Returns pydantic's adapter for a record type or an annotated union of them; built once."""


def to_json(kind: Any, value: object, *, defaults: bool = True) -> str:
    """Return a record as one line of JSON, without what is None, and without defaults where these are not wanted."""
    return adapter(kind).dump_json(value, exclude_defaults=not defaults, exclude_none=True).decode()


def from_json(kind: type[T], text: str | bytes, *, path: str, line: int | None = None) -> T:
    """Parse one record from JSON; `line` is its 1-based number in a file. Raises FormatError: names line and field."""
    problem = number_fault(text)
    if problem is not None:
        raise FormatError(path, problem, line=line)
    try:
        return cast("T", adapter(kind).validate_json(text))
    except ValidationError as error:
        raise _format_error(error, path, line) from None


def read_record(kind: type[T], path: Path | str) -> T:
    """Read a file of one record. Raises InputError: unreadable; FormatError: its version, or names the field."""
    text = read_text(Path(path))
    check_format(kind, text, path=str(path))
    return from_json(kind, text, path=str(path))


def check_format(kind: type, text: str | bytes, *, path: str, line: int | None = None) -> None:
    """Check that JSON text is of the format and version of a record type, so that an error says no more than that.

    Text that names no format is left to its parser.

    Args:
        kind: a record type with the fields ``format`` and ``version``.
        line: 1-based line number, for the error.

    Raises:
        FormatError: the text has another version, or another format.
    """
    names = {field.name: field.default for field in dataclasses.fields(kind)}
    try:
        data = json.loads(text)
    except RecursionError:
        raise FormatError(path, "nested too deeply", line=line) from None
    except ValueError:
        return
    if not isinstance(data, dict):
        return
    found, expected = data.get("format"), names["format"]
    if isinstance(found, str) and found != expected:
        raise FormatError(path, f"this is {found!r}; {expected!r} is needed", line=line, field="format")
    current, version = cast("int", names["version"]), data.get("version")
    if found == expected and isinstance(version, int) and version != current:
        remedy = "Update Downfield." if version > current else "Make it again."
        problem = f"the file has version {version}; this Downfield reads version {current}. {remedy}"
        raise FormatError(path, problem, line=line, field="version")


def from_data(kind: type[T], data: object, *, path: str) -> T:
    """Parse one record from parsed data, such as TOML. Raises FormatError: naming the field."""
    problem = out_of_range(data)
    if problem is not None:
        raise FormatError(path, problem)
    try:
        return cast("T", adapter(kind).validate_python(data))
    except ValidationError as error:
        raise _format_error(error, path, None) from None


def write_text(path: Path, chunks: Iterable[str]) -> None:
    """Write a text file whole or not at all, by renaming a temporary one. Raises OutputError: it can't be written."""
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8") as out:
            out.writelines(chunks)
        part.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None


def check(condition: bool, error: Callable[[str], Exception], problem: str) -> None:
    """Raise ``error(problem)`` unless the condition holds; for the ``__post_init__`` of records."""
    if not condition:
        raise error(problem)


_WORDS: Final = {
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "string_too_short": "must have at least {min_length} letters",
    "string_too_long": "must have at most {max_length} letters",
    "literal_error": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "missing": "missing",
    "missing_argument": "missing",
    "unexpected_keyword_argument": "unknown key",
    "extra_forbidden": "unknown key",
}
"""What is wrong with a value, by pydantic's name for it."""


def plain_problem(error: Mapping[str, Any]) -> str:
    """Return what pydantic has found wrong with a value, in plain words. `error`: one of `ValidationError.errors`."""
    context: Mapping[str, Any] = error.get("ctx", {})
    if error["type"] == "json_invalid":
        return f"broken JSON: {context['error']}"
    if "error" in context:
        return str(context["error"])
    words = _WORDS.get(error["type"])
    return str(error["msg"]) if words is None else words.format(**context)


def _format_error(error: ValidationError, path: str, line: int | None) -> FormatError:
    errors = error.errors(include_url=False)
    # A misspelled key is also a missing one: report the misspelling.
    first = next((entry for entry in errors if entry["type"] == "unexpected_keyword_argument"), errors[0])
    field = ".".join(str(part) for part in first["loc"]) or None
    return FormatError(path, plain_problem(first), line=line, field=field)


def number_fault(text: str | bytes) -> str | None:
    """Return what is wrong with the first number out of range in JSON text; None if there is none, or it is broken."""
    with suppress(ValueError, RecursionError):  # parsing it as a record reports that it is broken
        return out_of_range(json.loads(text)) if _may_have_large_number(text) else None
    return None


def _may_have_large_number(text: str | bytes) -> bool:
    """Return whether JSON text has what a number out of range looks like; few others have.

    Reading a scene takes less time than checking all of its numbers. Nineteen digits that begin with less than a 9 are
    in range: times of the day have as many.
    """
    data = text.encode(errors="replace") if isinstance(text, str) else text
    shape = data.translate(_SHAPE)
    if any(large in shape for large in _LARGE_SHAPES):
        return True
    return _NINETEEN in shape and _NINETEEN_FROM_9.search(data) is not None


def out_of_range(data: object) -> str | None:
    """Return what is wrong with the first number out of range in parsed JSON or TOML; None if all are in range."""
    waiting: list[tuple[str, object]] = [("", data)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{place}.{key}" if place else str(key), inner) for key, inner in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(f"{place}.{index}" if place else str(index), inner) for index, inner in enumerate(value)]
        elif isinstance(value, int | float) and abs(value) > LARGEST and value == value:
            return f"the number of '{place}' is out of range" if place else "the number is out of range"
    return None


SECRET: Final[JsonDict] = {"secret": "value"}  # marks a setting that is never shown

SECRET_PATH: Final[JsonDict] = {"secret": "path"}
"""Marks an address of which only the host is shown: anyone who knows its path may post there."""


class SettingsSection(BaseModel):
    """A section of the file: frozen, unknown keys refused; camera 0 may be written without quotes."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True)


def made_of(kind: type[T], source: object, /, **others: Any) -> T:
    """Return a record or model with the values that a source has by the same names, but for others.

    Raises:
        AttributeError: a field is neither among the others nor an attribute of the source.
    """
    names = kind.model_fields if issubclass(kind, BaseModel) else (field.name for field in dataclasses.fields(kind))  # type: ignore[arg-type]
    return kind(**{name: getattr(source, name) for name in names if name not in others}, **others)
