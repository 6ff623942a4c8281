"""The table of figures by which two networks in training are judged, and which of two rows of it is better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of the table of figures."""

    name: str
    title: str
    unit: str = "%"  # of its values; shares are shown in percent
    is_error: bool = False  # whether less is better


ROWS: Final = (
    TableRow("recall", "figures found, 30 % of the base's top seen"),
    TableRow("precision", "figures found that are some"),
    TableRow("turned", "heading wrong by over 90 deg", is_error=True),
    TableRow("fallen", "fallen against upright, F1"),
    TableRow("corner_mm", "corners, median", "mm", is_error=True),
    TableRow("corner_p95_mm", "corners, 95 %", "mm", is_error=True),
    TableRow("ball_recall", "ball found, 70 % of it seen"),
    TableRow("ball_precision", "balls found that are one"),
    TableRow("hand_recall", "hands found"),
    TableRow("hand_precision", "hands found that are some"),
    TableRow("sigma", "true errors in stated ones, 68 %", "x"),
)
"""The table; all but the last, which calibration sets right, count in `progress_of`."""

SETS: Final = ("traced", "drawn")
"""Kinds of pictures that are measured, each with a table of its own: path-traced, and drawn by the compositor."""

Tables = Mapping[str, Mapping[str, float]]  # of each kind, values by the names of rows

_ROUNDING: Final = {"%": 0.002, "mm": 0.02}
"""Added to errors before they are compared: about one figure in the pictures."""


def progress_of(now: Tables, first: Tables) -> float:
    """Return the mean factor by which errors have grown since the first tables, as a logarithm: below 0 is better."""
    logs = []
    for kind, row in ((kind, row) for kind in SETS for row in ROWS[:-1]):
        values = [tables.get(kind, {}).get(row.name) for tables in (now, first)]
        if None not in values:
            errors = [float(value or 0) if row.is_error else 1 - float(value or 0) for value in values]
            logs.append(math.log((errors[0] + _ROUNDING[row.unit]) / (errors[1] + _ROUNDING[row.unit])))
    return sum(logs) / len(logs) if logs else 0.0
