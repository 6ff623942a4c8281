"""The contribution file: a zip of board pictures, each with what was measured on it and what people corrected."""

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
from downfield.capture.sources.jpeg import jpeg_size_px
from downfield.core.arrays import Image
from downfield.core.errors import FormatError, InputError, OutputError
from downfield.core.files.private_files import replace_private_file
from downfield.core.media.limits import MAX_PIXELS
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
    """One picture of a board, without the time, the names and the surroundings.

    Attributes:
        table: 16 hexadecimal digits, the same for all pictures of a table and a rig; the name can't be found from them.
        reasons: why it was chosen.
        calibration: of the picture as it is cut out.
        scene: what the tracker knew, with what people corrected; figures are only numbered.
        players: their bases.

    """

    table: str
    reasons: tuple[Reason, ...]
    calibration: Calibration
    scene: Scene
    players: tuple[Player, ...]

    def __post_init__(self) -> None:
        check(_TABLE.fullmatch(self.table) is not None, InputError, "table must be 16 hexadecimal digits")
        known = {player.id for player in self.players}
        unknown = [figure.id for figure in self.scene.figures if figure.id not in known]
        check(not unknown, InputError, f"scene: {', '.join(unknown)} are not among the players")


@record
class Contribution:
    """The listing of a contribution.

    Attributes:
        frames: its pictures, in the order of their files.
        made_by: version of the program that wrote it.

    """

    frames: Annotated[tuple[ContributedFrame, ...], Field(max_length=MOST_FRAMES)]
    made_by: str = ""
    format: Literal["downfield.contribution"] = "downfield.contribution"
    version: Literal[1] = 1


def write_contribution(output: Path, contribution: Contribution, images: Sequence[Image]) -> int:
    """Write a contribution, whole or not at all, for its owner only; return its size in bytes.

    Args:
        output: the file.
        contribution: its listing.
        images: the pictures, uint8 blue green red, one for each frame. They are encoded anew, so nothing that the
            camera wrote beside them stays.

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
    """Yield the frames of a contribution: what is said of each, its JPEG, and its picture.

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
    declared_px = jpeg_size_px(jpeg) or (0, 0)  # looked at before all of it is decoded
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
