"""Measures a lens from views of a printed sheet, which it collects while a person shows it; its file, ``*.lens.json``.

The ChArUco sheet has a layout and a PDF at true scale, which is written without a library, since it holds only black
rectangles, in millimeters: the squares and the bits of the markers.
"""

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
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, InputError, OutputError
from downfield.core.records import check, read_record, record, to_json, write_text

PAPERS_MM: Final = {"a4": (297.0, 210.0), "a3": (420.0, 297.0), "letter": (279.4, 215.9)}  # paper sizes, on their side
DICTIONARY: Final = cv2.aruco.DICT_5X5_100
_POINTS_PER_MM: Final = 72 / 25.4
_MARGIN_MM: Final = 12.0
_RULER_MM: Final = 100.0
# drawn this large, a marker of three quarters of a square has whole pixels for its seven modules
_SQUARE_PX: Final = 504


@record
class Sheet:
    """A chessboard with markers in its white squares."""

    columns: int = 11  # columns, rows: squares along the longer and the shorter side
    rows: int = 7
    square_mm: float = 24.0  # side of a square as printed; measure it on the paper
    marker_mm: float = 18.0  # side of a marker

    def __post_init__(self) -> None:
        check(self.columns >= 4 and self.rows >= 4, InputError, "a sheet needs at least 4 x 4 squares")
        check(0 < self.marker_mm < self.square_mm, InputError, "a marker must be smaller than its square")

    def board(self) -> cv2.aruco.CharucoBoard:
        """Return the sheet as OpenCV's board."""
        dictionary = cv2.aruco.getPredefinedDictionary(DICTIONARY)
        return cv2.aruco.CharucoBoard((self.columns, self.rows), self.square_mm, self.marker_mm, dictionary)

    def rectangles_mm(self) -> list[tuple[float, float, float, float]]:
        """Return all black rectangles: x, y (downward), width, height, from the board's upper left corner."""
        picture = self.board().generateImage((self.columns * _SQUARE_PX, self.rows * _SQUARE_PX), marginSize=0)
        return _black_runs(np.asarray(picture) < 128, self.square_mm / _SQUARE_PX)


def write_sheet(path: Path, sheet: Sheet, paper: str) -> None:
    """Write the sheet as a PDF at true scale, with a 100 mm ruler. Raises InputError: by the paper; OutputError."""
    if paper not in PAPERS_MM:
        raise InputError(f"no paper size is named '{paper}'. Give one of {', '.join(PAPERS_MM)}.")
    width, height = PAPERS_MM[paper]
    wide, high = sheet.columns * sheet.square_mm, sheet.rows * sheet.square_mm
    if wide > width - 2 * _MARGIN_MM or high > height - 2 * _MARGIN_MM:
        raise InputError(f"the sheet of {wide:g} x {high:g} mm does not fit on {paper} ({width:g} x {height:g} mm)")
    left, top = (width - wide) / 2, (height - high) / 2 - 3
    black = [(left + x, height - top - y - h, w, h) for x, y, w, h in sheet.rectangles_mm()]
    black.append(((width - _RULER_MM) / 2, 7.0, _RULER_MM, 0.6))
    black += [((width - _RULER_MM) / 2 + tick, 7.0, 0.3, 2.5) for tick in np.arange(0, _RULER_MM + 1, 10)]
    label = f"{sheet.columns} x {sheet.rows} squares of {sheet.square_mm:g} mm; the ruler is 100 mm: print at 100%"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_pdf((width, height), black, label))
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None


def _black_runs(black: NDArray[np.bool_], mm_per_px: float) -> list[tuple[float, float, float, float]]:
    """Cover the black pixels with rectangles: runs along rows, joined when following rows have the same."""
    open_runs: dict[tuple[int, int], int] = {}
    out: list[tuple[float, float, float, float]] = []
    for y in range(len(black) + 1):
        runs: set[tuple[int, int]] = set()
        if y < len(black):
            steps = np.flatnonzero(np.diff(np.concatenate([[0], black[y].astype(np.int8), [0]])))
            runs = {(int(a), int(b)) for a, b in steps.reshape(-1, 2)}
        for run in [run for run in open_runs if run not in runs]:
            (left, right), top = run, open_runs.pop(run)
            out.append((left * mm_per_px, top * mm_per_px, (right - left) * mm_per_px, (y - top) * mm_per_px))
        for run in runs:
            open_runs.setdefault(run, y)
    return out


def _pdf(size_mm: tuple[float, float], black: list[tuple[float, float, float, float]], label: str) -> bytes:
    """Return a PDF page of black rectangles (x, y upward, width, height, mm) and one line of text."""
    k = _POINTS_PER_MM
    boxes = "\n".join(f"{x * k:.4f} {y * k:.4f} {w * k:.4f} {h * k:.4f} re" for x, y, w, h in black)
    text = f"BT /F 8 Tf {_MARGIN_MM * k:.2f} {3 * k:.2f} Td ({label}) Tj ET"
    content = f"0 g\n{boxes}\nf\n{text}\n".encode("ascii")
    width, height = (side * k for side in size_mm)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.3f} {height:.3f}] /Contents 4 0 R"
        " /Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>".encode("ascii"),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    tail = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % count + table + tail


@dataclass(frozen=True, slots=True)
class LensCalibrationLimits:
    """Thresholds of measuring a lens, and what views of the sheet are enough."""

    min_views: int = 8  # least number of views
    enough_views: int = 12  # number of views that are enough
    enough_tilted_views: int = 4  # number of tilted views that are enough
    enough_corners_per_part: int = 6  # corners in one ninth of the picture, over all views
    min_tilt: float = 0.10  # change of scale across a tilted sheet: without perspective no focal length is found
    max_movement: float = 0.0015  # movement between frames of a sheet held still, as a share of the picture's width
    min_corners: int = 12  # least number of corners of a view
    min_view_distance: float = 0.06  # a view nearer to a kept one adds nothing; as a share of the picture's width
    min_coverage: float = 0.6  # share of the picture's width and height that corners must reach across
    max_rms_px: float = 1.0  # largest rms residual of the corners


LENS_CALIBRATION_LIMITS: Final = LensCalibrationLimits()
_LIMITS: Final = LENS_CALIBRATION_LIMITS
_COLUMNS: Final = ("left", "middle", "right")
_ROWS: Final = ("upper", "center", "lower")


@dataclass(frozen=True, slots=True)
class LensView:
    """One view of a chessboard."""

    points_mm: NDArray[np.float32]  # inner corners on the board, shape (n, 3), float32
    px: NDArray[np.float32]  # where they are seen, shape (n, 2), float32


@record
class LensFile:
    """A measured lens: ``*.lens.json``."""

    lens: Lens  # intrinsics
    # standard deviations of focal_x_px, focal_y_px, center_x_px, center_y_px, k1, k2, p1, p2, k3
    sigma: tuple[float, ...]
    rms_px: float  # residual of the corners
    views: int  # how many views
    made_at: str = ""  # ISO 8601 UTC
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


def is_new_view(view: LensView, kept: Sequence[LensView], width_px: int) -> bool:
    """Return whether a view shows the board at another place or angle than all that are kept."""

    def difference_px(other: LensView) -> float:
        means = float(np.linalg.norm(view.px.mean(axis=0) - other.px.mean(axis=0)))
        return max(means, float(np.abs(np.ptp(view.px, axis=0) - np.ptp(other.px, axis=0)).max()))

    return all(difference_px(other) > _LIMITS.min_view_distance * width_px for other in kept)


class LensCollector:
    """The useful views among many pictures.

    Args:
        hold_still: whether a view counts only while the sheet is held still: movement smears the corners.
    """

    def __init__(self, sheet: Sheet, *, hold_still: bool = False) -> None:
        self._sheet, self._hold_still = sheet, hold_still
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
        if self._hold_still and not (before is not None and _moved_px(before, view) < _LIMITS.max_movement * size[0]):
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
            if self._corners[i, j] < _LIMITS.enough_corners_per_part
        ]
        missing = [f"the sheet in the picture's {', '.join(parts)}"] if parts else []
        if self._tilted < _LIMITS.enough_tilted_views:
            missing.append(f"the sheet tilted ({self._tilted} of {_LIMITS.enough_tilted_views})")
        if len(self.views) < _LIMITS.enough_views:
            missing.append(f"more views ({len(self.views)} of {_LIMITS.enough_views})")
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
    return bool(np.ptp(depth) / np.abs(depth.mean()) > _LIMITS.min_tilt)


def calibrate_lens(views: Sequence[LensView], size_px: tuple[int, int]) -> LensFile:
    """Measure the lens from views.

    Args:
        views: eight or more, the board tilted differently and reaching into every corner of the picture.

    Raises:
        CalibrationError: too few views, too little of the picture covered, or they don't fit one lens.
    """
    if len(views) < _LIMITS.min_views:
        raise CalibrationError(
            f"only {len(views)} useful views of the sheet; {_LIMITS.min_views} are needed. Show it near, tilted, and"
            " in every part of the picture."
        )
    wide, high = (np.ptp(np.concatenate([view.px for view in views]), axis=0) / size_px).tolist()
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
    """Read a ``*.lens.json`` file. Raises InputError: unreadable; FormatError: names what breaks the format."""
    return read_record(LensFile, path)


def write_lens(path: Path, lens: LensFile) -> None:
    """Write a ``*.lens.json`` file, whole or not at all. Raises OutputError: the file can't be written."""
    write_text(path, [to_json(LensFile, lens), "\n"])
