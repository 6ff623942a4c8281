"""Shows what a trainer has done: a few lines, and the table of figures over its core-hours as a picture."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import OutputError
from downfield.training.data.sample_files import sample_files
from downfield.training.keep.folder import TrainerFolder
from downfield.training.keep.rows import ROWS, TableRow

_RECENT_S: Final = 900.0


def status_lines(folder: TrainerFolder) -> list[str]:
    """Return what has been traced and learned, how fast, and the first, best and last row of the table."""
    now = time.time()
    files = sample_files(folder.crops)
    recent = sum(now - each.stat().st_mtime < _RECENT_S for each in files)
    bytes_ = sum(each.stat().st_size for where in (folder.crops, folder.patches) for each in sample_files(where))
    learner = folder.account("learner").contents
    speed, kept = f"{60 * recent / _RECENT_S:.1f} a minute of late", f"{len(files)} kept, {bytes_ / 1e9:.1f} GB"
    lines = [
        f"{'running' if folder.is_held else 'not running'}, {folder.core_hours():.1f} core-hours so far",
        f"traced: {folder.next_table()} tables, {speed}; {kept}",
    ]
    for name, steps in learner.get("steps", {}).items():
        losses = "  ".join(f"{part} {value:.3g}" for part, value in learner.get("losses", {}).get(name, {}).items())
        rate = learner.get("per_s", {}).get(name)
        per_s = f", {rate:.0f} samples a core-second" if rate else ""
        lines.append(f"learned: {name} {steps} steps{per_s}; {losses}")
    rows = folder.rows()
    if not rows:
        return [*lines, f"measured: not yet; {folder.validation_pictures} pictures to measure on are there"]
    best = max(index for index, row in enumerate(rows) if row.get("best"))
    shown = {"begun from": rows[0], f"best ({rows[best]['core_h']:.1f} h)": rows[best], "last": rows[-1]}
    lines.append("")
    lines.append(f"{'':50}" + "".join(f"{title:>16}" for title in shown))
    for each in ROWS:
        values = (row["row"].get(each.name) for row in shown.values())
        lines.append(f"{each.title:50}" + "".join(f"{_shown(each, value):>16}" for value in values))
    return lines


def row_line(row: Mapping[str, Any]) -> str:
    """Return a row of the history as one line."""
    figures = "  ".join(f"{each.name} {_shown(each, row['row'].get(each.name))}" for each in ROWS)
    return f"{row['core_h']:.1f} core-hours{', the best so far' if row.get('best') else ''}: {figures}"


def _shown(row: TableRow, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.1f} %" if row.unit == "%" else f"{value:.2f} {row.unit}"


_CELL_PX: Final = (420, 210)
_MARGIN_PX: Final = 34
_COLUMNS: Final = 3
_INK, _LINE, _BEST = (40, 40, 40), (180, 90, 20), (40, 140, 40)  # green are the best so far


def write_curves(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the table over core-hours as a picture, a curve for each row. Raises OutputError: it can't be written."""
    width, height = _CELL_PX
    down = -(-len(ROWS) // _COLUMNS)
    sheet = np.full((down * height, _COLUMNS * width, 3), 255, dtype=np.uint8)
    for index, each in enumerate(ROWS):
        top, left = height * (index // _COLUMNS), width * (index % _COLUMNS)
        _draw_curve(sheet[top : top + height, left : left + width], each, rows)
    try:
        packed = cv2.imencode(".png", sheet)[1]
        path.write_bytes(packed.tobytes())
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None


def _draw_curve(cell: Image, row: TableRow, rows: Sequence[Mapping[str, Any]]) -> None:
    known = [
        (float(each["core_h"]), float(each["row"][row.name]), bool(each["best"]))
        for each in rows
        if row.name in each["row"]
    ]
    _write(cell, row.title, (8, 18))
    if not known:
        return
    hours, values = np.array([each[0] for each in known]), np.array([each[1] for each in known])
    low, high = float(values.min()), float(values.max())
    room = max(0.1 * (high - low), 1e-3)
    low, high, last = low - room, high + room, max(float(hours.max()), 1e-3)
    height, width = cell.shape[:2]
    left, top, right, bottom = 2 * _MARGIN_PX, _MARGIN_PX, width - 12, height - _MARGIN_PX

    def place(hour: float, value: float) -> tuple[int, int]:
        return (
            round(left + (right - left) * hour / last),
            round(bottom - (bottom - top) * (value - low) / (high - low)),
        )

    cv2.rectangle(cell, (left, top), (right, bottom), (210, 210, 210), 1)
    for value in (low + room, high - room):
        _write(cell, _shown(row, value), (4, place(0, value)[1] + 4))
    _write(cell, f"{last:.1f} core-hours", (right - 110, height - 12))
    line = np.array([place(hour, value) for hour, value in zip(hours, values, strict=True)], dtype=np.int32)
    cv2.polylines(cell, [line.reshape(-1, 1, 2)], False, _LINE, 2, cv2.LINE_AA)
    for hour, value, best in known:
        cv2.circle(cell, place(hour, value), 3, _BEST if best else _LINE, -1, cv2.LINE_AA)


def _write(cell: Image, text: str, at: tuple[int, int]) -> None:
    cv2.putText(cell, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.42, _INK, 1, cv2.LINE_AA)
