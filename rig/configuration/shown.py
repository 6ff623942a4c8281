"""The settings as they may be shown, on the terminal, on pages and in reports: without passwords and keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from downfield.core.addresses import host_only, split_address, without_password

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
