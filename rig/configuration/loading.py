"""The configuration in force: defaults, under the file, under the environment, under the command line."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ValidationError

from downfield.core.errors import FormatError, InputError
from downfield.core.records import read_text
from downfield.rig.configuration.settings import RigSettings

FILE: Final = "downfield.toml"
"""Looked for where the command is given."""

PREFIX: Final = "DOWNFIELD_"

Origin = Literal["default", "file", "environment", "command line"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configuration in force.

    Attributes:
        settings: the values.
        origins: where a value comes from, by dotted key; defaults are left out.
        file: the file that was read; None for none.

    """

    settings: RigSettings
    origins: Mapping[str, Origin]
    file: Path | None = None


def load(
    file: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    command_line: Mapping[str, object] | None = None,
) -> Configuration:
    """Load the configuration.

    Args:
        file: the file; None for `downfield.toml` here, if there is one.
        environment: by default this process's.
        command_line: values by dotted key; None for those that were not given.

    Raises:
        InputError: the file is missing; a variable or an option names no setting or has an impossible value.
        FormatError: the file is broken, or has an unknown key or an impossible value; names it.

    """
    if file is None and Path(FILE).is_file():
        file = Path(FILE)
    layers: list[tuple[Origin, dict[str, object], str]] = []
    if file is not None:
        layers.append(("file", dict(_flat(_parse(file))), str(file)))
    layers.append(("environment", dict(_from_environment(os.environ if environment is None else environment)), ""))
    given = {key: value for key, value in (command_line or {}).items() if value is not None}
    layers.append(("command line", given, ""))
    values: dict[str, object] = {}
    origins: dict[str, Origin] = {}
    for origin, layer, where in layers:
        for key, value in layer.items():
            _known(key, where or f"the {origin}")
            values[key], origins[key] = value, origin
    return Configuration(_checked(values, origins, file), origins, file)


def keys() -> Iterator[str]:
    """Every setting's dotted key, in order."""
    for name, value in RigSettings.model_fields.items():
        kind = value.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from (f"{name}.{key}" for key in kind.model_fields)
        else:
            yield name


def variable(key: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + key.replace(".", "_").upper()


def assignments(texts: Iterable[str]) -> dict[str, object]:
    """RigSettings written as ``table.key=value``.

    Raises:
        InputError: one is written otherwise.

    """
    out = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"'{text}' sets nothing: write table.key=value, such as recording.on=false")
        out[key.strip()] = _value(value.strip())
    return out


def _parse(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(str(file), f"broken TOML: {error}") from None


def _flat(data: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", inner) for key, inner in value.items())
        else:
            yield name, value


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    by_variable = {variable(key): key for key in keys()}
    for name, text in environment.items():
        if name.startswith(PREFIX):
            if name not in by_variable:
                raise InputError(f"the environment sets {name}, which is no setting{_meant(name, by_variable)}")
            yield by_variable[name], _value(text)


def _value(text: str) -> object:
    """A value as TOML has it, or else the text itself, so that names need no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _known(key: str, where: str) -> None:
    if key not in set(keys()):
        raise FormatError(where, f"no such setting{_meant(key, keys())}", field=key)


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _checked(values: Mapping[str, object], origins: Mapping[str, Origin], file: Path | None) -> RigSettings:
    nested: dict[str, Any] = {}
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        (nested.setdefault(table, {}) if table else nested)[name] = value
    try:
        return RigSettings.model_validate(nested)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = [str(part) for part in first["loc"]]
        key = next((key for key in keys() if key in (".".join(path[:2]), path[0])), ".".join(path))
        origin = origins.get(key, "default")
        where = str(file) if origin == "file" else f"the {origin}"
        raise FormatError(where, first["msg"], field=key) from None
