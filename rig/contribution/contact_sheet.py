"""A contact sheet of the frames of a contribution, so that their owner sees all that would be in the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.rig.contribution.contribution_file import ContributedFrame, Reason

WORDS: Final[dict[Reason, str]] = {
    "uncertain": "not sure",
    "front_turned": "front turned by hand",
    "identities_confirmed": "identities confirmed by hand",
    "call_overturned": "call overturned",
    "call_added": "call made by hand",
}

_COLUMNS: Final = 3
_WIDTH_PX: Final = 640  # of a picture on the sheet
_CAPTION_PX: Final = 30
_GAP_PX: Final = 8
_BACKGROUND: Final = 32  # gray level
_BASE: Final = (80, 255, 80)
_UNSURE: Final = (0, 200, 255)
_FRONT: Final = (255, 255, 255)
_SUBPIXEL_BITS: Final = 4


def contact_sheet(frames: Sequence[tuple[ContributedFrame, Image]], numbers: Sequence[int]) -> Image:
    """Return all pictures on one sheet, uint8 blue green red, each with its number and why it was chosen.

    Bases are outlined, those that the tracker was unsure of in orange; the white edge is the front.

    Args:
        frames: what would be written, at least one.
        numbers: of the frames.

    """
    cells = [_cell(frame, image, number) for (frame, image), number in zip(frames, numbers, strict=True)]
    rows = [cells[start : start + _COLUMNS] for start in range(0, len(cells), _COLUMNS)]
    columns = min(_COLUMNS, len(cells))
    heights = [max(cell.shape[0] for cell in row) for row in rows]
    size = (sum(heights) + _GAP_PX * (len(rows) + 1), columns * _WIDTH_PX + _GAP_PX * (columns + 1), 3)
    sheet = np.full(size, _BACKGROUND, np.uint8)
    top = _GAP_PX
    for row, height in zip(rows, heights, strict=True):
        for column, cell in enumerate(row):
            left = _GAP_PX + column * (_WIDTH_PX + _GAP_PX)
            sheet[top : top + cell.shape[0], left : left + _WIDTH_PX] = cell
        top += height + _GAP_PX
    return sheet


def _cell(frame: ContributedFrame, image: Image, number: int) -> Image:
    scale = _WIDTH_PX / image.shape[1]
    small = cv2.resize(image, (_WIDTH_PX, max(round(image.shape[0] * scale), 1)), interpolation=cv2.INTER_AREA)
    heights_mm = {player.id: player.base.height_mm for player in frame.players}
    for figure in frame.scene.figures:
        if figure.lost or figure.posture == "unseen":
            continue
        corners = np.column_stack([figure.footprint.corners_mm(), np.full(4, heights_mm[figure.id])])
        pixels = (frame.calibration.camera.to_pixels(corners) + 0.5) * scale - 0.5
        if not np.isfinite(pixels).all():
            continue
        fixed = np.rint(pixels * (1 << _SUBPIXEL_BITS)).astype(np.int32)
        color = _BASE if figure.sure else _UNSURE
        cv2.polylines(small, [fixed], True, color, 1, cv2.LINE_AA, _SUBPIXEL_BITS)
        cv2.line(small, fixed[0].tolist(), fixed[1].tolist(), _FRONT, 2, cv2.LINE_AA, _SUBPIXEL_BITS)
    cell = np.full((small.shape[0] + _CAPTION_PX, _WIDTH_PX, 3), _BACKGROUND, np.uint8)
    cell[_CAPTION_PX:] = small
    text = f"{number}: {', '.join(WORDS[reason] for reason in frame.reasons)}"
    cv2.putText(cell, text, (4, _CAPTION_PX - 9), cv2.FONT_HERSHEY_SIMPLEX, 0.6, _FRONT, 1, cv2.LINE_AA)
    return cell
