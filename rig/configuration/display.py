"""The settings as people see them: as TOML, as the documentation page, and without passwords and keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from downfield.core.addresses import host_only, split_address, without_password
from downfield.rig.configuration.loading import Configuration, variable_name
from downfield.rig.configuration.settings import RigSettings

HIDDEN: Final = "(set)"
"""Shown in place of a secret."""


def shown_values(settings: BaseModel) -> dict[str, Any]:
    """Return all settings as JSON values, by section and key, without what is secret in them."""
    values: dict[str, Any] = settings.model_dump(mode="json")
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        values[name] = shown_values(value) if isinstance(value, BaseModel) else shown_value(field, values[name])
    return values


def secret_texts(settings: BaseModel) -> Iterator[str]:
    """Yield every text of the settings that must not be shown, and the passwords in addresses by themselves."""
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from secret_texts(value)
            continue
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and shown_value(field, text) != text:
                yield text
                with suppress(ValueError):
                    yield split_address(text).password


def shown_value(field: FieldInfo, value: Any) -> Any:
    """Return a setting's JSON value without what is secret in it: a password, a key, the path of a webhook."""
    if isinstance(value, list):
        return [shown_value(field, one) for one in value]
    if not isinstance(value, str) or not value:
        return value
    extra = field.json_schema_extra
    hidden_part = extra.get("secret") if isinstance(extra, dict) else None
    if hidden_part == "value":
        return HIDDEN
    return host_only(value) if hidden_part == "path" else without_password(value)


_INTRODUCTION = """# Configuration

The configuration is one file: `downfield.toml` in the current folder, or the one named by `--config`. Every setting has
a default, so an empty file is valid. Environment variables (`DOWNFIELD_` and the setting's name) override the file, and
the command line overrides both: the options of `downfield run`, and `--set section.key=value` for everything else. An
unknown setting or an invalid value is refused by name. `downfield config` prints the configuration in effect and where
each value comes from.

This page is generated from `rig/configuration/settings.py` by `make docs`; a test keeps it up to date."""


def as_toml(configuration: Configuration) -> Iterator[str]:
    """Yield the lines of a file with the same settings; a comment names the origin of values that are not defaults.

    Settings with a password or another secret in them are comments, without it: read again, they would be wrong.
    """
    for section, model in _sections(configuration.settings):
        if section:
            yield f"\n[{section}]"
        for key in _own_keys(type(model)):
            origin = configuration.origins.get(f"{section}.{key}" if section else key)
            value = model.model_dump(mode="json", include={key})[key]
            shown = shown_value(type(model).model_fields[key], value)
            if shown == value:
                yield f"{key} = {_toml_value(value)}" + (f"  # {origin}" if origin else "")
            else:
                yield f"# {key} = {_toml_value(shown)}  # {origin}; what is secret in it is not shown"


def page() -> Iterator[str]:
    """Yield the lines of ``docs/configuration.md``."""
    yield _INTRODUCTION
    for section, model in _sections(RigSettings()):
        yield ""
        yield f"## `[{section}]`: {_heading(type(model).__doc__ or '')}" if section else "## Outside any section"
        yield ""
        yield "| key | default | environment | meaning |"
        yield "|---|---|---|---|"
        for key in _own_keys(type(model)):
            field = type(model).model_fields[key]
            variable = variable_name(f"{section}.{key}" if section else key)
            yield f"| `{key}` | `{_toml_value(getattr(model, key))}` | `{variable}` | {field.description} |"


def _sections(settings: RigSettings) -> Iterator[tuple[str, BaseModel]]:
    """Yield the settings outside any section, with an empty name, then every section."""
    yield "", settings
    for name in RigSettings.model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield name, value


def _own_keys(model: type[BaseModel]) -> Iterator[str]:
    """Yield the keys of a section that are not sections themselves."""
    for name, field in model.model_fields.items():
        if not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            yield name


def _toml_value(value: object) -> str:
    """Return a value as TOML; JSON writes all types of settings in the same way."""
    return json.dumps(value)


def _heading(text: str) -> str:
    first = text.split(" ", 1)[0]
    return (text if first.isupper() and len(first) > 1 else text[:1].lower() + text[1:]).rstrip(".")
