"""The printed ChArUco sheet for measuring a lens: its layout, and a PDF at true scale.

The PDF is written without a library, since it holds only black rectangles, in millimeters: the squares and the bits of
the markers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.errors import InputError, OutputError
from downfield.core.records import check, record

PAPERS_MM: Final = {"a4": (297.0, 210.0), "a3": (420.0, 297.0), "letter": (279.4, 215.9)}
"""Paper sizes, on their side."""

DICTIONARY: Final = cv2.aruco.DICT_5X5_100

_POINTS_PER_MM: Final = 72 / 25.4
_MARGIN_MM: Final = 12.0
_RULER_MM: Final = 100.0
_SQUARE_PX: Final = (
    504  # drawn this large, a marker of three quarters of a square has whole pixels for its seven modules
)


@record
class Sheet:
    """A chessboard with markers in its white squares.

    Attributes:
        columns, rows: squares along the longer and the shorter side.
        square_mm: side of a square as printed; measure it on the paper.
        marker_mm: side of a marker.
    """

    columns: int = 11
    rows: int = 7
    square_mm: float = 24.0
    marker_mm: float = 18.0

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
    """Write the sheet as a PDF page at true scale, with a 100 mm ruler to check the printer by.

    Raises:
        InputError: the paper is unknown or too small.
        OutputError: the file can't be written.
    """
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
            first = open_runs.pop(run)
            box = (run[0], first, run[1] - run[0], y - first)
            out.append((box[0] * mm_per_px, box[1] * mm_per_px, box[2] * mm_per_px, box[3] * mm_per_px))
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
