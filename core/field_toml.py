"""Writes a field model as a TOML file, and says in one line how its lines are painted."""

from __future__ import annotations

import dataclasses
import json
from typing import Final

from downfield.core.field import FieldModel
from downfield.core.painted_lines import LineKind, LineStyle

_TITLES: Final[dict[LineKind, str]] = {
    "sideline": "border",
    "goal_line": "goal lines",
    "end_line": "end lines",
    "yard_line": "yard lines",
    "hash_mark": "hash marks",
}

_PLACED: Final = {"inner": "begin on the goal", "center": "centered", "outer": "end on the goal"}


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


def describe_lines(field: FieldModel) -> str:
    """Return how the lines are painted, as ``"goal lines 3.1 mm, centered; border 4.6 mm"``, as far as it is known."""
    parts = []
    for kind, title in _TITLES.items():
        style: LineStyle = getattr(field, kind)
        if style.width_mm is None:
            continue
        placed = f", {_PLACED[style.zero]}" if kind == "goal_line" and style.zero else ""
        parts.append(f"{title} {style.width_mm:.1f} mm{placed}")
    return "; ".join(parts)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(_value(part) for part in value)}]"
    if isinstance(value, float):
        return repr(round(value, 6))
    # A basic string of TOML takes the escapes of JSON.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
