"""The table of figures by which two networks in training are judged, and which of two rows of it is better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of the table of figures."""

    name: str
    title: str
    unit: str = "%"  # of its values; shares are shown in percent
    is_error: bool = False  # whether less is better


SETS: Final = ("traced", "drawn")
"""Kinds of pictures that are measured: path-traced, and drawn by the compositor."""

_FIGURES: Final = (
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
ROWS: Final = tuple(
    replace(row, name=f"{kind}_{row.name}", title=f"{kind}: {row.title}") for kind in SETS for row in _FIGURES
)
"""The table, of each kind of pictures."""
_CALIBRATED: Final = "sigma"  # rows that calibration sets right, which don't count in `progress_of`

_ROUNDING: Final = {"%": 0.002, "mm": 0.02}
"""Added to errors before they are compared: about one figure in the pictures."""


def progress_of(row: Mapping[str, float], first: Mapping[str, float]) -> float:
    """Return the mean factor by which errors have grown since the first row, as a logarithm: below 0 is better."""
    logs = []
    for each in ROWS:
        if each.name in row and each.name in first and not each.name.endswith(_CALIBRATED):
            now, then = (values[each.name] if each.is_error else 1 - values[each.name] for values in (row, first))
            logs.append(math.log((now + _ROUNDING[each.unit]) / (then + _ROUNDING[each.unit])))
    return sum(logs) / len(logs) if logs else 0.0
