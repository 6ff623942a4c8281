"""Writes a field model as a TOML file."""

from __future__ import annotations

import dataclasses
import json

from downfield.core.field import FieldModel
from downfield.core.painted_lines import LineStyle


def measured_field_toml(field: FieldModel) -> str:
    """Return a field model as the text of a TOML file that `load_field` reads back to the same model."""
    plain, tables = [], []
    for entry in dataclasses.fields(field):
        value = getattr(field, entry.name)
        if isinstance(value, LineStyle):
            lines = [f"{key} = {_value(part)}" for key, part in dataclasses.asdict(value).items() if part is not None]
            if lines:
                tables.append("\n".join(["", f"[{entry.name}]", *lines]))
        else:
            plain.append(f"{entry.name} = {_value(value)}")
    return "\n".join([*plain, *tables]) + "\n"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(_value(part) for part in value)}]"
    if isinstance(value, float):
        return repr(round(value, 6))
    # A basic string of TOML takes the escapes of JSON.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
