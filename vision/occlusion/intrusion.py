"""What reaches in over the board, found by what it hides: the print, which doesn't move.

A network knows the hands it was shown. Whatever else comes in over the rim, a sleeve, a glove, a sheet of paper, hides
figures just as well. A coarse picture is compared with the same table as it was: what differs, is larger than a figure,
is no shadow, covers some of the board and goes on beyond its rim has been reached in. Nothing here is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.field import FieldModel

Mask = NDArray[np.uint8]
Planes = NDArray[np.float32]  # colors, shape (3, height, width)

_WIDE_PX: Final = 160  # of the coarse picture, about
_LEAST_MM: Final = 42.0  # a disc so wide fits into an arm, and into no figure
_OVER_BOARD_MM: Final = 40.0  # how far what reaches in comes at least
_DIFFERS: Final = 26.0  # gray levels, the most of three colors
_SHADE, _SHADE_TINT = 0.3, 0.16  # a shadow leaves so much light at least, and its colors as alike as this
_TOO_MUCH: Final = 0.5  # share of the picture that differs: the lamp or the camera was changed, not reached in
_FORGETS_NS: Final = 8_000_000_000  # what lies there for so long belongs to the table
_LEARNS_NS: Final = 700_000_000  # and so fast the rest of it is followed
_EVERY_NS: Final = 45_000_000
_SETTLES: Final = 8  # pictures until the table is known
_HAND_MM: Final = 30.0  # height over the board, about
_HIDES: Final = 0.3  # share of the table behind it that a hand hides at least; figures that walk there, less


@dataclass(frozen=True, slots=True)
class Intrusion:
    """Something over the board.

    Attributes:
        outline_mm: on the board, shape (n, 2).
        tip_mm: its point furthest in.

    """

    outline_mm: Array
    tip_mm: tuple[float, float]


class IntrusionDetector:
    """Finds what reaches in; call `see` for every frame, in order of time.

    Args:
        field: the board.

    """

    def __init__(self, field: FieldModel) -> None:
        self._field = field
        self._table: Planes | None = None
        self._pictures = 0
        self._t_ns = 0
        self._reaches: tuple[Intrusion, ...] = ()
        self._hidden: Mask | None = None
        self._step = 1

    def may_cover(self, box_px: Sequence[float]) -> bool:
        """Whether what is in a box of the frame may be over the table: no part of the print, which was there before.

        Args:
            box_px: left, top, right and bottom.

        Returns:
            True as well where that can't be told: the table is not known yet, or the light has changed.

        """
        if self._hidden is None:
            return True
        behind = self._hidden[self._rows(box_px)]
        return not behind.size or float(behind.mean()) >= _HIDES

    def _rows(self, box_px: Sequence[float]) -> tuple[slice, slice]:
        """A box of the frame in the coarse picture."""
        left, top, right, bottom = (max(round(value / self._step), 0) for value in box_px)
        return slice(top, bottom + 1), slice(left, right + 1)

    def update(
        self, image: Image, camera: Camera, t_ns: int, hands_px: Sequence[Sequence[float]] = ()
    ) -> tuple[Intrusion, ...]:
        """What is over the board and goes on beyond its rim, as of a frame; looked for about 20 times a second.

        Args:
            image: the frame.
            camera: as it stands.
            t_ns: capture time.
            hands_px: boxes of what the network takes for hands; one that rests there never belongs to the table.

        """
        if self._table is not None and t_ns - self._t_ns < _EVERY_NS:
            return self._reaches
        step = max(image.shape[1] // _WIDE_PX, 1)
        coarse = np.array(cv2.split(cv2.blur(image[step // 2 :: step, step // 2 :: step], (3, 3))), np.float32)
        if self._table is None or self._table.shape != coarse.shape:
            self._table, self._pictures, self._t_ns = coarse, 1, t_ns
            return ()
        differs, shadow = _differs(coarse, self._table)
        known = self._pictures >= _SETTLES
        self._reaches = self._found(differs & (1 - shadow), camera, step) if known else ()
        self._hidden, self._step = differs if known and differs.mean() <= _TOO_MUCH else None, step
        self._learn(coarse, differs, t_ns, [self._rows(box) for box in hands_px if known and self.may_cover(box)])
        return self._reaches

    def _learn(self, coarse: Planes, differs: Mask, t_ns: int, hands: Sequence[tuple[slice, slice]]) -> None:
        """Follow the table as the light changes, and what lies on it for long."""
        if self._table is None:
            return
        passed = t_ns - self._t_ns
        fast, slow = (float(-np.expm1(-passed / span)) for span in (_LEARNS_NS, _FORGETS_NS))
        fast = max(fast, 1 / (self._pictures + 1))
        changed = differs.mean() > _TOO_MUCH
        share = np.where(differs > 0, fast if changed else slow, fast).astype(np.float32)
        for rows in hands:
            share[rows] = 0.0
        self._table += share * (coarse - self._table)
        self._pictures, self._t_ns = self._pictures + 1, t_ns

    def _found(self, differs: Mask, camera: Camera, step: int) -> tuple[Intrusion, ...]:
        if differs.mean() > _TOO_MUCH:
            return ()
        board, px_per_mm = self._board(camera, differs.shape, step)
        disc = max(round(_LEAST_MM * px_per_mm), 3)
        thick = cv2.morphologyEx(
            cv2.copyMakeBorder(differs, disc, disc, disc, disc, cv2.BORDER_REPLICATE),
            cv2.MORPH_OPEN,
            cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (disc, disc)),
        )[disc:-disc, disc:-disc]
        if not thick.any():
            return ()
        out = []
        _, parts = cv2.connectedComponents(differs)
        beyond = cv2.erode(board, np.ones((3, 3), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0) == 0
        # Thick ones over the board that go on beyond it; the part 0 is all that doesn't differ.
        for part in np.intersect1d(parts[thick.astype(bool) & (board > 0)], parts[beyond & (parts > 0)]).tolist():
            reach = self._reach(parts == part, beyond, board, camera, step, px_per_mm)
            if reach is not None:
                out.append(reach)
        return tuple(out)

    def _reach(
        self, here: NDArray[np.bool_], beyond: NDArray[np.bool_], board: Mask, camera: Camera, step: int, scale: float
    ) -> Intrusion | None:
        inside = (here & (board > 0)).astype(np.uint8)
        entry = np.argwhere(here & beyond).mean(axis=0)
        rows = np.argwhere(inside > 0)
        away = np.linalg.norm(rows - entry, axis=1)
        if not len(rows) or np.ptp(away) < _OVER_BOARD_MM * scale:
            return None
        tip = rows[away.argmax()][::-1]
        contours, _ = cv2.findContours(inside, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        largest = cv2.approxPolyDP(max(contours, key=cv2.contourArea), 1.0, closed=True).reshape(-1, 2)
        px = np.vstack([tip[None], largest]) * step + step // 2
        places = camera.to_board(px.astype(np.float64), _HAND_MM)
        if not np.isfinite(places).all() or len(largest) < 3:
            return None
        return Intrusion(places[1:], (float(places[0, 0]), float(places[0, 1])))

    def _board(self, camera: Camera, shape: tuple[int, ...], step: int) -> tuple[Mask, float]:
        """Where the board is in the coarse picture, and its pixels per mm."""
        x_low, y_low, x_high, y_high = self._field.board_mm
        corners = camera.to_pixels(np.array([(x_low, y_low), (x_high, y_low), (x_high, y_high), (x_low, y_high)]))
        mask = np.zeros(shape[:2], np.uint8)
        cv2.fillPoly(mask, [np.round((corners - step // 2) / step).astype(np.int32)], 1)
        scale = float(np.linalg.norm(corners[1] - corners[0])) / (x_high - x_low) / step
        return mask, scale


def _differs(coarse: Planes, table: Planes) -> tuple[Mask, Mask]:
    """Where a picture is not the table's, and where it may be that in a shadow, shape (height, width): 0 or 1."""
    some = slice(None), slice(None, None, 4), slice(None, None, 4)
    gain = np.median((coarse[some] + 1) / (table[some] + 1), axis=(1, 2))
    usual = table * gain[:, None, None]
    off, share = np.abs(coarse - usual), (coarse + 4) / (usual + 4)
    most, least = reduce(np.maximum, share), reduce(np.minimum, share)
    shadow = (most < 1) & (least > _SHADE) & (most - least < _SHADE_TINT)
    return (reduce(np.maximum, off) > _DIFFERS).astype(np.uint8), shadow.astype(np.uint8)
