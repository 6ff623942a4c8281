"""Logos of teams and sponsors: uploaded pictures, checked, made small, and kept in the data folder under their digest.

What is kept is always a PNG that this module wrote, so nothing of an uploaded file but its pixels is ever served.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.capture.jpeg import MAX_UPLOAD_BYTES, decode_uploaded
from downfield.core.errors import InputError, OutputError
from downfield.core.files.private_files import create_private_file

MAX_LOGOS: Final = 400  # In one folder: two for each of two hundred games

SIDE_PX: Final = 256  # Longer side of a kept logo: a score bug shows it 60 pixels high, a card 120

LEAST_PX: Final = 16  # Shorter side of an uploaded picture

_NO_PICTURE: Final = (
    f"This is no picture that can be read. Give a PNG, JPEG or WebP file of at most {MAX_UPLOAD_BYTES >> 20} MiB."
)


class LogoFolder:
    """Logos by their digests, in a folder that is made when the first is kept; None for a service that keeps none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def keep(self, data: bytes) -> str:
        """Check an uploaded PNG, JPEG or WebP file, keep it and return its name, 32 hexadecimal digits.

        Raises InputError: it is not one, is too large or too small, or there are too many; OutputError: it can't be
        kept.
        """
        if self._folder is None:
            raise OutputError("Logos are not kept here: there is no data folder.")
        content = small_png(data)
        name = hashlib.sha256(content).hexdigest()[:32]
        path = self._folder / f"{name}.png"
        if path.is_file():
            return name
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if sum(1 for _ in self._folder.glob("*.png")) >= MAX_LOGOS:
                raise InputError(f"{MAX_LOGOS} logos are kept. Delete some in the folder {self._folder.name} first.")
            create_private_file(path, content)
        except OSError as error:
            raise OutputError(f"The logo can't be kept: {error.strerror or error}.") from None
        return name

    def read(self, name: str) -> bytes | None:
        """Return a logo, a PNG file; None where there is none of that name."""
        if self._folder is None:
            return None
        with suppress(OSError):
            return (self._folder / f"{name}.png").read_bytes()
        return None


def small_png(data: bytes) -> bytes:
    """Return a picture with its transparency as a PNG file whose longer side is `SIDE_PX` at most.

    Empty borders are cut off, so that logos of all makers fill the same space. Raises InputError: it is no picture, or
    is too large or too small.
    """
    image = decode_uploaded(data, cv2.IMREAD_UNCHANGED)
    if image is None or image.dtype not in (np.uint8, np.uint16):
        raise InputError(_NO_PICTURE)
    deep = image.dtype == np.uint16
    logo = _trimmed(_with_alpha(np.asarray(image // 256 if deep else image, dtype=np.uint8)))
    height, width = logo.shape[:2]
    if min(width, height) < LEAST_PX:
        raise InputError(f"The logo is too small: {width} x {height} pixels that are not transparent.")
    scale = SIDE_PX / max(width, height)
    if scale < 1:
        logo = _resized(logo, (max(1, round(width * scale)), max(1, round(height * scale))))
    _, packed = cv2.imencode(".png", logo)
    return packed.tobytes()


def _with_alpha(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a picture, gray, BGR or BGRA, as BGRA, shape (height, width, 4)."""
    channels = 1 if image.ndim == 2 else image.shape[2]
    if channels == 4:
        return image
    code = cv2.COLOR_GRAY2BGRA if channels == 1 else cv2.COLOR_BGR2BGRA
    return np.asarray(cv2.cvtColor(image, code), dtype=np.uint8)


def _trimmed(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a picture without its fully transparent borders."""
    rows, columns = (np.flatnonzero(image[..., 3].max(axis=axis)) for axis in (1, 0))
    if not rows.size:
        raise InputError("The logo is fully transparent.")
    return image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _resized(image: NDArray[np.uint8], size_px: tuple[int, int]) -> NDArray[np.uint8]:
    """Return a smaller picture; colors are weighted by their opacity, or transparent pixels would bleed into edges."""
    alpha = image[..., 3:].astype(np.float32)
    weighted = np.dstack([image[..., :3].astype(np.float32) * alpha, alpha])
    small = np.asarray(cv2.resize(weighted, size_px, interpolation=cv2.INTER_AREA))
    color = small[..., :3] / np.maximum(small[..., 3:], 1e-3)
    return np.clip(np.round(np.dstack([color, small[..., 3:]])), 0, 255).astype(np.uint8)
