"""The configuration as text: the effective one as TOML, and the page about every setting."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import BaseModel

from downfield.rig.configuration.loading import Configuration, variable
from downfield.rig.configuration.settings import RigSettings

_INTRODUCTION = """# Configuration

One file, `downfield.toml`, where the command is given, or the one named by `--config`. Every key has a default, so an
empty file is a valid one. Over the file goes the environment (`DOWNFIELD_` and the key's name), over that the command
line: the options of `downfield run`, and `--set table.key=value` for everything else. A key that is unknown or
impossible is refused by name. `downfield config` prints what is in force and where it comes from.

Made from `rig/configuration/settings.py` by `make docs`; a test holds this page so."""


def as_toml(configuration: Configuration) -> Iterator[str]:
    """The lines of a file that says the same; what is no default says where it comes from."""
    for table, model in _tables(configuration.settings):
        if table:
            yield f"\n[{table}]"
        for key in _own(type(model)):
            dotted = f"{table}.{key}" if table else key
            origin = configuration.origins.get(dotted)
            yield f"{key} = {_toml(getattr(model, key))}" + (f"  # {origin}" if origin else "")


def page() -> Iterator[str]:
    """The lines of ``docs/configuration.md``."""
    yield _INTRODUCTION
    for table, model in _tables(RigSettings()):
        yield ""
        yield f"## `[{table}]`: {_lower(type(model).__doc__ or '')}" if table else "## Outside any table"
        yield ""
        yield "| key | default | environment | meaning |"
        yield "|---|---|---|---|"
        for key in _own(type(model)):
            field = type(model).model_fields[key]
            dotted = f"{table}.{key}" if table else key
            yield f"| `{key}` | `{_toml(getattr(model, key))}` | `{variable(dotted)}` | {field.description} |"


def _tables(settings: RigSettings) -> Iterator[tuple[str, BaseModel]]:
    yield "", settings
    for name in RigSettings.model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield name, value


def _own(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            yield name


def _toml(value: object) -> str:
    """A value as TOML writes it; JSON does, for all that settings hold."""
    return json.dumps(value)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")
