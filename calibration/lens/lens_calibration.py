"""Measures a lens from views of a chessboard, and its file, ``*.lens.json``."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Lens
from downfield.calibration.lens.prior import MeasuredLens
from downfield.calibration.lens.sheet import Sheet
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError
from downfield.core.records import read_record, record, to_json, write_text


@dataclass(frozen=True, slots=True)
class LensCalibrationLimits:
    """Thresholds of measuring a lens."""

    min_views: int = 8
    """Least number of views."""
    min_corners: int = 12
    """Least number of corners of a view."""
    window_share: float = 0.4
    """Half width of the window a corner is refined in, as a share of the distance of neighboring corners."""
    window_px: tuple[int, int] = (3, 7)
    """Least and largest half width of that window."""
    min_view_distance: float = 0.06
    """A view nearer than this to a kept one adds nothing; as a share of the picture's width."""
    min_coverage: float = 0.6
    """Share of the picture's width and height that corners must reach across."""
    max_rms_px: float = 1.0
    """Largest rms residual of the corners."""


_LIMITS: Final = LensCalibrationLimits()


@dataclass(frozen=True, slots=True)
class LensView:
    """One view of a chessboard.

    Attributes:
        points_mm: inner corners on the board, shape (n, 3), float32.
        px: where they are seen, shape (n, 2), float32.
    """

    points_mm: NDArray[np.float32]
    px: NDArray[np.float32]


@record
class LensFile:
    """A measured lens: ``*.lens.json``.

    Attributes:
        lens: intrinsics.
        sigma: standard deviations of focal_x_px, focal_y_px, center_x_px, center_y_px, k1, k2, p1, p2, k3.
        rms_px: residual of the corners.
        views: how many views.
        made_at: ISO 8601 UTC.
    """

    lens: Lens
    sigma: tuple[float, ...]
    rms_px: float
    views: int
    made_at: str = ""
    format: Literal["downfield.lens"] = "downfield.lens"
    version: Literal[2] = 2

    def prior(self) -> MeasuredLens:
        """Return the lens as the prior of a fit of the pose."""
        return MeasuredLens.of(self.lens, np.diag(np.square(self.sigma)))


def detect_sheet(image: Image, sheet: Sheet) -> LensView | None:
    """Detect the sheet's corners in a picture; None when too few are seen."""
    board = sheet.board()
    corners, ids, _, _ = cv2.aruco.CharucoDetector(board).detectBoard(image)
    if ids is None or len(ids) < _LIMITS.min_corners:
        return None
    points = np.asarray(board.getChessboardCorners(), dtype=np.float32)[np.asarray(ids).ravel()]
    return LensView(points, np.asarray(corners, dtype=np.float32).reshape(-1, 2))


def detect_chessboard(image: Image, columns: int, rows: int, square_mm: float) -> LensView | None:
    """Detect the inner corners of a plain chessboard in a gray picture: all of them, or None.

    Args:
        image: gray, shape (height, width).
        columns: inner corners along its longer side.
        rows: inner corners along its shorter side.
        square_mm: side of a square.
    """
    seen, found = cv2.findChessboardCorners(image, (columns, rows))
    if not seen:
        return None
    rough = np.asarray(found, dtype=np.float32).reshape(rows, columns, 2)
    nearest = min(np.linalg.norm(np.diff(rough, axis=axis), axis=2).min() for axis in (0, 1))
    # As much of the four edges that make a corner as there is, without reaching the next corner.
    window = int(np.clip(_LIMITS.window_share * nearest, *_LIMITS.window_px))
    steps = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 60, 1e-4)
    exact = cv2.cornerSubPix(image, rough.reshape(-1, 1, 2), (window, window), (-1, -1), steps)
    points = np.zeros((rows * columns, 3), dtype=np.float32)
    points[:, :2] = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2) * square_mm
    return LensView(points, np.asarray(exact, dtype=np.float32).reshape(-1, 2))


def is_new_view(view: LensView, kept: Sequence[LensView], width_px: int) -> bool:
    """Return whether a view shows the board at another place or angle than all that are kept."""
    return all(_difference_px(view, other) > _LIMITS.min_view_distance * width_px for other in kept)


def coverage(views: Sequence[LensView], size_px: tuple[int, int]) -> tuple[float, float]:
    """Return the shares of the picture's width and height that the corners of all views reach across."""
    if not views:
        return 0.0, 0.0
    span = np.ptp(np.concatenate([view.px for view in views]), axis=0) / size_px
    return float(span[0]), float(span[1])


def calibrate_lens(views: Sequence[LensView], size_px: tuple[int, int]) -> LensFile:
    """Measure the lens from views.

    Args:
        views: eight or more, the board tilted differently and reaching into every corner of the picture.
        size_px: the pictures' width and height.

    Raises:
        CalibrationError: too few views, too little of the picture covered, or they don't fit one lens.
    """
    if len(views) < _LIMITS.min_views:
        raise CalibrationError(
            f"only {len(views)} useful views of the sheet; {_LIMITS.min_views} are needed. Show it near, tilted, and"
            " in every part of the picture."
        )
    wide, high = coverage(views, size_px)
    if min(wide, high) < _LIMITS.min_coverage:
        raise CalibrationError(
            f"the sheet was shown across {wide:.0%} of the picture's width and {high:.0%} of its height. Show it"
            " in every corner."
        )
    points, px = [view.points_mm for view in views], [view.px for view in views]
    guess = np.array([[0.8 * size_px[0], 0, size_px[0] / 2], [0, 0.8 * size_px[0], size_px[1] / 2], [0, 0, 1.0]])
    rms, matrix, distortion, _, _, deviation, _, _ = cv2.calibrateCameraExtended(
        points, px, size_px, guess, np.zeros(5), flags=cv2.CALIB_USE_INTRINSIC_GUESS
    )
    if rms > _LIMITS.max_rms_px:
        raise CalibrationError(
            f"the views don't fit one lens ({rms:.2f} px rms). Keep the sheet flat, the focus fixed and the hand still."
        )
    k1, k2, p1, p2, k3 = np.asarray(distortion, dtype=np.float64).ravel()[:5].tolist()
    lens = Lens(
        size_px,
        (float(matrix[0, 0]), float(matrix[1, 1])),
        (float(matrix[0, 2]), float(matrix[1, 2])),
        (k1, k2, p1, p2, k3),
    )
    sigma = np.asarray(deviation, dtype=np.float64).ravel()[:9].tolist()  # in the order of `jacobians.PARAMETERS`
    made_at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return LensFile(lens, tuple(sigma), float(rms), len(views), made_at)


def read_lens(path: Path) -> LensFile:
    """Read a ``*.lens.json`` file.

    Raises:
        InputError: it can't be read.
        FormatError: its content breaks the format; names the field.
    """
    return read_record(LensFile, path)


def write_lens(path: Path, lens: LensFile) -> None:
    """Write a ``*.lens.json`` file, whole or not at all.

    Raises:
        OutputError: the file can't be written.
    """
    write_text(path, [to_json(LensFile, lens), "\n"])


def _difference_px(a: LensView, b: LensView) -> float:
    """Return how much two views differ: in the mean or in the extent of their corners, px."""
    means = float(np.linalg.norm(a.px.mean(axis=0) - b.px.mean(axis=0)))
    return max(means, float(np.abs(np.ptp(a.px, axis=0) - np.ptp(b.px, axis=0)).max()))
