"""Writes a field model as a TOML file, and says for people what a picture showed of it."""

from __future__ import annotations

import dataclasses
import json
from typing import Final

from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import LineStyle


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


def describe_measured(described: FieldModel | None, found: FieldModel) -> str:
    """Return what a solution found of a print beyond what was known of it, if anything, in one line for people."""
    if found == described:
        return ""
    parts = []
    if described is not None:
        ratio, before = (field.mm_per_yd_y / field.mm_per_yd_x for field in (found, described))
        parts.append(f"a yard across is {ratio:.3f} yards along (described: {before:.3f})")
    parts += [
        f"yard lines {found.line_width_mm('yard_line'):.1f} mm",
        f"goal lines {found.line_width_mm('goal_line'):.1f} mm, {_PLACES[found.goal_line.zero or 'inner']}",
        f"border {found.line_width_mm('sideline'):.1f} mm",
    ]
    for rows, what in ((found.hash_rows_y_yd, "hash marks"), (found.number_rows_y_yd, "numbers")):
        if rows:
            near = sorted({round(min(y_yd, found.width_yd - y_yd), 1) for y_yd in rows})
            parts.append(f"{what} {' and '.join(f'{y_yd:g}' for y_yd in near)} yd from the sidelines")
    return "; ".join(parts)


_PLACES: Final = {"inner": "outside the goal", "center": "centered on the goal", "outer": "inside the goal"}


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(_value(part) for part in value)}]"
    if isinstance(value, float):
        return repr(round(value, 6))
    # A basic string of TOML takes the escapes of JSON.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
