"""The file of a contribution, and the contact sheet on which its owner sees every frame that would be in it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import cv2
import numpy as np
from pydantic import Field

from downfield.calibration.calibration import Calibration
from downfield.capture.jpeg import jpeg_size_px
from downfield.core.arrays import Image
from downfield.core.errors import FormatError, InputError, OutputError
from downfield.core.files.private_files import replace_private_file
from downfield.core.media.video_streams import MAX_PIXELS
from downfield.core.records import check, from_json, record, to_json
from downfield.core.scene import Player, Scene
from downfield.review.zip_container import ZIP_FAULTS, ZipPart, zip_chunks

Reason = Literal["uncertain", "front_turned", "identities_confirmed", "call_overturned", "call_added"]
"""Why a frame was chosen: the tracker was unsure, or what a person corrected."""

LISTING: Final = "contribution.json"
MOST_FRAMES: Final = 500
JPEG_QUALITY: Final = 92

_LARGEST_LISTING: Final = 32 << 20  # bytes; a frame's entry is some 6 KB
_LARGEST_PICTURE: Final = 32 << 20
_TABLE: Final = re.compile(r"[0-9a-f]{16}")


@record
class ContributedFrame:
    """One picture of a board, without the time, the names and the surroundings."""

    # 16 hexadecimal digits, the same for all pictures of a table and a rig; the name can't be found from them
    table: str
    reasons: tuple[Reason, ...]  # why it was chosen
    calibration: Calibration  # of the picture as it is cut out
    scene: Scene  # what the tracker knew, with what people corrected; figures are only numbered
    players: tuple[Player, ...]  # their bases

    def __post_init__(self) -> None:
        check(_TABLE.fullmatch(self.table) is not None, InputError, "table must be 16 hexadecimal digits")
        known = {player.id for player in self.players}
        unknown = [figure.id for figure in self.scene.figures if figure.id not in known]
        check(not unknown, InputError, f"scene: {', '.join(unknown)} are not among the players")


@record
class Contribution:
    """The listing of a contribution."""

    # its pictures, in the order of their files
    frames: Annotated[tuple[ContributedFrame, ...], Field(max_length=MOST_FRAMES)]
    made_by: str = ""  # version of the program that wrote it
    format: Literal["downfield.contribution"] = "downfield.contribution"
    version: Literal[1] = 1


def write_contribution(output: Path, contribution: Contribution, images: Sequence[Image]) -> int:
    """Write a contribution, whole or not at all, for its owner only; return its size in bytes.

    The pictures, uint8 blue green red, are encoded anew, so nothing that the camera wrote beside them stays.

    Raises:
        OutputError: it can't be written.
    """
    content = b"".join(zip_chunks(_parts(contribution, images)))
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        replace_private_file(output, content)
    except OSError as error:
        raise OutputError(f"{output}: can't be written: {error.strerror}") from None
    return len(content)


def _parts(contribution: Contribution, images: Iterable[Image]) -> Iterator[ZipPart]:
    yield ZipPart(LISTING, [to_json(Contribution, contribution, defaults=False).encode()])
    for number, image in enumerate(images, start=1):
        jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1].tobytes()
        yield ZipPart(picture_name(number), [jpeg], compressed=False)


def picture_name(number: int) -> str:
    """Return the name of a picture in the file, by its number from 1."""
    return f"frames/{number:04d}.jpg"


def read_contribution(path: Path) -> Iterator[tuple[ContributedFrame, bytes, Image]]:
    """Yield the frames of a contribution: its entry in the listing, its JPEG, and its picture.

    Raises:
        InputError: the file can't be read, or a picture can't be decoded or has another size than its calibration.
        FormatError: its listing breaks the format; names the field.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            listing = from_json(Contribution, _part(archive, LISTING, _LARGEST_LISTING), path=f"{path}: {LISTING}")
            for number, frame in enumerate(listing.frames, start=1):
                name = picture_name(number)
                jpeg = _part(archive, name, _LARGEST_PICTURE)
                yield frame, jpeg, _decoded(jpeg, frame, f"{path}: {name}")
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from None
    except KeyError as error:
        raise FormatError(str(path), f"no contribution: {error.args[0]}") from None
    except ZIP_FAULTS as error:
        raise FormatError(str(path), f"no contribution, or a damaged one: {error}") from None


def _part(archive: zipfile.ZipFile, name: str, most_bytes: int) -> bytes:
    with archive.open(name) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise InputError(f"{archive.filename or 'the file'}: {name} is larger than {most_bytes >> 20} MB.")
    return content


def _decoded(jpeg: bytes, frame: ContributedFrame, where: str) -> Image:
    size_px = frame.calibration.camera.lens.size_px
    if size_px[0] * size_px[1] > MAX_PIXELS:
        raise InputError(f"{where}: {size_px[0]}x{size_px[1]} is larger than any camera's picture.")
    declared_px = jpeg_size_px(jpeg) or (0, 0)  # checked before all of it is decoded
    if declared_px != size_px and 0 not in declared_px:
        raise _other_size(where, declared_px, size_px)
    try:
        image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR) if declared_px == size_px else None
    except cv2.error:
        image = None
    if image is None:
        raise InputError(f"{where}: can't be decoded.")
    if (image.shape[1], image.shape[0]) != size_px:  # turned by an EXIF note
        raise _other_size(where, (image.shape[1], image.shape[0]), size_px)
    return np.asarray(image, dtype=np.uint8)


def _other_size(where: str, found_px: tuple[int, int], size_px: tuple[int, int]) -> InputError:
    return InputError(f"{where}: is {found_px[0]}x{found_px[1]}, but its calibration is for {size_px[0]}x{size_px[1]}.")


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
    """Return the pictures of some numbers, at least one, on a sheet, uint8 blue green red: why each was chosen.

    Bases are outlined, those that the tracker was unsure of in orange; the white edge is the front.
    """
    cells = [_cell(*frames[number - 1], number) for number in numbers]
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
