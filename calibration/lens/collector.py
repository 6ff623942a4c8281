"""Collects views of the sheet while a person shows it, and lists what is still missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.lens.lens_calibration import LensView, Sheet, detect_sheet, is_new_view
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class CollectorLimits:
    """What views of the sheet are enough."""

    min_views: int = 12  # number of views that are enough
    min_tilted_views: int = 4  # number of tilted views that are enough
    min_corners_per_part: int = 6  # corners in one ninth of the picture, over all views
    min_tilt: float = 0.10  # change of scale across a tilted sheet: without perspective no focal length is found
    max_movement: float = 0.0015  # movement between frames of a sheet held still, as a share of the picture's width


COLLECTOR_LIMITS: Final = CollectorLimits()


_COLUMNS: Final = ("left", "middle", "right")
_ROWS: Final = ("upper", "center", "lower")


class LensCollector:
    """The useful views among many pictures.

    Args:
        hold_still: whether a view counts only while the sheet is held still: movement smears the corners.
    """

    def __init__(self, sheet: Sheet, *, hold_still: bool = False) -> None:
        self._sheet = sheet
        self._hold_still = hold_still
        self._before: LensView | None = None
        self._tilted = 0
        self._corners = np.zeros((len(_ROWS), len(_COLUMNS)), dtype=np.intp)
        self.views: list[LensView] = []
        self.size_px = (0, 0)

    def add(self, image: Image) -> bool:
        """Return whether a picture gave a new view. Raises CalibrationError: its size is another."""
        size = (image.shape[1], image.shape[0])
        if self.views and size != self.size_px:
            raise CalibrationError(
                f"a picture of {size[0]}x{size[1]} px among ones of {self.size_px[0]}x{self.size_px[1]} px. Give"
                " pictures of one size."
            )
        self.size_px = size
        before, self._before = self._before, detect_sheet(image, self._sheet)
        view = self._before
        if view is None or not is_new_view(view, self.views, size[0]):
            return False
        if self._hold_still and not (
            before is not None and _moved_px(before, view) < COLLECTOR_LIMITS.max_movement * size[0]
        ):
            return False
        self.views.append(view)
        self._tilted += _is_tilted(view)
        cell = np.clip(view.px / size * (len(_COLUMNS), len(_ROWS)), 0, (len(_COLUMNS) - 1, len(_ROWS) - 1)).astype(int)
        np.add.at(self._corners, (cell[:, 1], cell[:, 0]), 1)
        return True

    @property
    def sees_sheet(self) -> bool:
        """Whether the latest picture shows the sheet."""
        return self._before is not None

    @property
    def missing(self) -> tuple[str, ...]:
        """What is still to be shown, phrases."""
        parts = [
            f"{row} {column}"
            for i, row in enumerate(_ROWS)
            for j, column in enumerate(_COLUMNS)
            if self._corners[i, j] < COLLECTOR_LIMITS.min_corners_per_part
        ]
        missing = [f"the sheet in the picture's {', '.join(parts)}"] if parts else []
        if self._tilted < COLLECTOR_LIMITS.min_tilted_views:
            missing.append(f"the sheet tilted ({self._tilted} of {COLLECTOR_LIMITS.min_tilted_views})")
        if len(self.views) < COLLECTOR_LIMITS.min_views:
            missing.append(f"more views ({len(self.views)} of {COLLECTOR_LIMITS.min_views})")
        return tuple(missing)

    @property
    def is_complete(self) -> bool:
        """Whether the views are enough to measure the lens."""
        return not self.missing


def _moved_px(before: LensView, now: LensView) -> float:
    """Return how far the sheet moved between two pictures, px; infinite when they share too few corners."""
    there = {tuple(point): px for point, px in zip(before.points_mm.tolist(), before.px, strict=True)}
    moves = [
        np.linalg.norm(px - there[tuple(point)])
        for point, px in zip(now.points_mm.tolist(), now.px, strict=True)
        if tuple(point) in there
    ]
    return float(np.median(moves)) if len(moves) >= len(now.px) / 2 else float("inf")


def _is_tilted(view: LensView) -> bool:
    plane = np.asarray(cv2.findHomography(view.points_mm[:, :2], view.px)[0], dtype=np.float64)
    if plane.shape != (3, 3):
        return False
    depth = np.column_stack([view.points_mm[:, :2], np.ones(len(view.px))]) @ plane[2]
    return bool(np.ptp(depth) / np.abs(depth.mean()) > COLLECTOR_LIMITS.min_tilt)
