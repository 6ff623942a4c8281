"""Reading, writing and checking the pictures that a calibration is made from."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import av
import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, InputError, OutputError
from downfield.core.files.input_files import open_input
from downfield.core.media.video_file import VideoReader, count_packets
from downfield.core.media.video_streams import FILE_OPTIONS, MAX_PIXELS

_SUFFIXES: Final = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp"})
_PHONE_SUFFIXES: Final = frozenset({".heic", ".heif"})


@dataclass(frozen=True, slots=True)
class PictureCheckLimits:
    """What a picture must be like to calibrate from it."""

    frames: int = 5  # frames taken of a video
    min_width_px: int = 480  # least width
    dark: float = 28.0  # gray level that 90 % of a picture without light stays below
    bright: float = 250.0  # gray level that 60 % of an overexposed picture is above
    empty: float = 20.0  # range of gray levels of a picture with nothing in it
    sharp: float = 0.055  # steepest slopes over the picture's range of gray levels: out of focus below
    sampled_every_px: int = (
        3  # the set-up page asks every second: a ninth of the pixels tells the same in a quarter of the time
    )


_LIMITS: Final = PictureCheckLimits()

BLURRED: Final = "the picture is blurred. Focus the camera and keep it still."
"""What to say of a picture in which nothing is found because it is out of focus."""


def read_pictures(path: Path, count: int = _LIMITS.frames) -> list[Image]:
    """Read the picture in a file, or frames spread evenly over a video.

    Args:
        path: a picture, or any video that PyAV decodes.

    Raises:
        InputError: it is missing, or no picture can be read from it.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder. Give a photo or a video of the table.")
    open_input(path).close()  # says what it is in place of a file
    if path.suffix.lower() in _PHONE_SUFFIXES:
        raise InputError(f"{path}: HEIC can't be read. Save or send the photo as JPEG.")
    if path.suffix.lower() in _SUFFIXES:
        return [read_picture(path)]
    try:
        return _video_frames(path, count)
    except InputError:
        raise InputError(
            f"{path}: neither a picture nor a video that can be read. Give a photo or a video of the table."
        ) from None


def _video_frames(path: Path, count: int) -> list[Image]:
    """Return frames spread over a video, upright, none damaged. Raises InputError: no video, or none decodes."""
    total = count_packets(path)
    due = [round(i) for i in np.linspace(0, max(total - 1, 0), min(count, max(total, 1)))]
    images: list[Image] = []
    with closing(VideoReader(path)) as reader, suppress(InputError):  # what comes before an unreadable rest is enough
        for picture in reader.pictures():
            if due and picture.position >= due[0] and (image := picture.to_bgr()) is not None:
                images.append(image)
                due = [position for position in due if position > picture.position]
    return images


def read_picture(path: Path) -> Image:
    """Return a file's picture, uint8 BGR, (height, width, 3). Raises InputError: unreadable, or over `MAX_PIXELS`."""
    image = None
    if path.is_file() and _is_bounded(path):
        with suppress(cv2.error, OSError):  # read here: a name that is no UTF-8 ends `cv2.imread` with the process
            image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise InputError(
            f"{path}: not a readable picture. Give a PNG, JPEG, BMP, TIFF or WebP file of at most"
            f" {MAX_PIXELS // 1_000_000} million pixels."
        )
    return np.asarray(image, dtype=np.uint8)


def _is_bounded(path: Path) -> bool:
    """Return whether a picture's header declares a size, and none that is too large."""
    try:
        with av.open(str(path), options=FILE_OPTIONS) as picture:
            stream = picture.streams.video[0]
            return 0 < stream.width * stream.height <= MAX_PIXELS
    except (av.FFmpegError, IndexError, ValueError):
        return False


def write_picture(path: Path, image: Image) -> None:
    """Write a picture in its name's format. Raises OutputError: it can't be written, or the format is unknown."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _, packed = cv2.imencode(path.suffix or ".png", image)
        path.write_bytes(packed.tobytes())
    except cv2.error:
        raise OutputError(f"{path}: unknown picture format. End the name in .png or .jpg.") from None
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None


def check_picture(image: Image) -> None:
    """Refuse a picture that is too small, dark or bright, by a CalibrationError that says what to change."""
    height, width = image.shape[:2]
    if width < _LIMITS.min_width_px:
        raise CalibrationError(f"the picture is only {width}x{height} px. Set the camera to 1920x1080.")
    some = image[:: _LIMITS.sampled_every_px, :: _LIMITS.sampled_every_px]
    gray = cv2.cvtColor(np.ascontiguousarray(some), cv2.COLOR_BGR2GRAY) if image.ndim == 3 else some
    if float(np.percentile(gray, 90)) < _LIMITS.dark:
        raise CalibrationError("the picture is too dark. Add light over the table or lengthen the exposure.")
    if float(np.percentile(gray, 40)) > _LIMITS.bright:
        raise CalibrationError("the picture is overexposed. Shorten the exposure.")


def is_blurred(image: Image) -> bool:
    """Return whether even the sharpest edges of a picture are soft."""
    gray = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) if image.ndim == 3 else image, dtype=np.float32)
    smooth = cv2.GaussianBlur(gray, (0, 0), 1.0)
    some = (slice(None, None, _LIMITS.sampled_every_px),) * 2
    slope = np.hypot(*(cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3)[some] / 8 for order in ((1, 0), (0, 1))))
    darkest, lightest = map(float, np.percentile(smooth[some], (0.5, 99.5)))
    span = lightest - darkest
    return span > _LIMITS.empty and float(np.percentile(slope, 99.5)) < _LIMITS.sharp * span
