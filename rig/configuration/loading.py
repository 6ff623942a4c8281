"""Loading the configuration: defaults, overridden by the file, by environment variables and by the command line.

pydantic-settings was tried: it ignores misspelled environment variables, does not report which source a value came
from, and reads variables as JSON while everything else here is TOML. It could replace only the fifteen lines of
`_parse_file` and `_from_environment`; the checks and the origins would still be needed.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ValidationError

from downfield.core.errors import FormatError, InputError
from downfield.core.files.input_files import read_toml
from downfield.core.records import plain_problem
from downfield.rig.configuration.settings import RigSettings

FILE_NAME: Final = "downfield.toml"  # The configuration file in the current folder, read if no other file is named

ENVIRONMENT_PREFIX: Final = "DOWNFIELD_"

NOT_SETTINGS: Final = frozenset({"DOWNFIELD_CACHE", "DOWNFIELD_TRACER"})
"""Variables of that prefix that are no settings of a rig: read where no configuration is."""

Origin = Literal["default", "file", "environment", "command line"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configuration in effect."""

    settings: RigSettings
    origins: Mapping[str, Origin]  # where each value comes from, by dotted key; defaults are left out
    file: Path | None = None  # the file that was read; None if there was none


def load(
    file: Path | None = None,
    assignments: Iterable[str] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    command_line: Mapping[str, object] | None = None,
) -> Configuration:
    """Load the configuration.

    Args:
        file: the file; None for ``downfield.toml`` in the current folder, if there is one.
        assignments: ``section.key=value``, which override file and environment; None for none.
        environment: environment variables; None for those of this process.
        command_line: values by dotted key, which override all else; a value of None overrides nothing.

    Raises:
        InputError: the file is missing; a variable or an option names no setting or has an invalid value.
        FormatError: the file is malformed, or has an unknown key or an invalid value; names it.
    """
    if file is None and Path(FILE_NAME).is_file():
        file = Path(FILE_NAME)
    layers: list[tuple[Origin, dict[str, object], str]] = []
    if file is not None:
        layers.append(("file", dict(_flatten(read_toml(file))), str(file)))
    layers.append(("environment", dict(_from_environment(os.environ if environment is None else environment)), ""))
    given = parse_assignments(assignments or ())
    given |= {key: value for key, value in (command_line or {}).items() if value is not None}
    layers.append(("command line", given, ""))
    values: dict[str, object] = {}
    origins: dict[str, Origin] = {}
    known = frozenset(setting_keys())
    for origin, layer, place in layers:
        for key, value in layer.items():
            if key not in known:
                problem = f"no such setting{_suggestion(key, setting_keys())}"
                raise FormatError(place or f"the {origin}", problem, field=key)
            values[key], origins[key] = value, origin
    return Configuration(_validate(values, origins, file), origins, file)


def setting_keys() -> Iterator[str]:
    """Yield every setting's dotted key, in order."""
    for name, field in RigSettings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            yield from (f"{name}.{key}" for key in section.model_fields)
        else:
            yield name


def variable_name(key: str) -> str:
    """Return the environment variable of a setting."""
    return ENVIRONMENT_PREFIX + key.replace(".", "_").upper()


def parse_assignments(texts: Iterable[str]) -> dict[str, object]:
    """Return settings written as ``section.key=value``, by key. Raises InputError: a text has another form."""
    out = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"'{text}' sets nothing. Write section.key=value, such as recording.on=false.")
        out[key.strip()] = _parse_value(value.strip())
    return out


def _flatten(data: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", inner) for key, inner in value.items())
        else:
            yield name, value


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    by_variable = {variable_name(key): key for key in setting_keys()}
    for name, text in environment.items():
        if name.startswith(ENVIRONMENT_PREFIX) and name not in NOT_SETTINGS:
            if name not in by_variable:
                suggestion = _suggestion(name, map(variable_name, setting_keys()))
                raise InputError(f"The environment variable {name} is not a setting{suggestion}")
            yield by_variable[name], _parse_value(text)


def _parse_value(text: str) -> object:
    """Return a value written as in TOML, otherwise the text itself, so that names need no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _suggestion(name: str, known: Iterable[str]) -> str:
    names = list(known)
    ending = re.sub(r"^DOWNFIELD_|.*\.", "", name)  # of a name without its section, or with another
    same = [one for one in names if re.search(rf"[._]{re.escape(ending)}$", one)]
    close = same[:1] or difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _validate(values: Mapping[str, object], origins: Mapping[str, Origin], file: Path | None) -> RigSettings:
    nested: dict[str, Any] = {}
    for key, value in values.items():
        section, _, name = key.rpartition(".")
        (nested.setdefault(section, {}) if section else nested)[name] = value
    try:
        return RigSettings.model_validate(nested)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        path = [str(part) for part in errors[0]["loc"]]
        # Of a setting that takes several kinds of values there is an error for each.
        problems = [plain_problem(one) for one in errors if [str(part) for part in one["loc"]][:2] == path[:2]]
        key = next((key for key in setting_keys() if key in (".".join(path[:2]), path[0])), ".".join(path))
        origin = origins.get(key, "default")
        place = str(file) if origin == "file" else f"the {origin}"
        raise FormatError(place, ", or ".join(dict.fromkeys(problems)), field=key) from None
