"""A calibration: which printed field, which camera, how good, made from what; and its file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from downfield.calibration.camera import Camera
from downfield.calibration.field import FieldModel
from downfield.calibration.records import from_json, read_text, record, to_json, write_text

Method = Literal["truth", "field", "fiducials", "landmarks"]


@record
class Quality:
    """How well a calibration fits what it was made from.

    Attributes:
        points: how many image measurements it was made from.
        rms_px, p95_px, max_px: residuals in the image.
        rms_mm: residuals on the board.
        rms_yd: residuals in field yards, along and across.

    """

    points: int
    rms_px: float
    p95_px: float
    max_px: float
    rms_mm: float
    rms_yd: tuple[float, float]


@record
class Calibration:
    """Everything needed to go from pixels to yards.

    Attributes:
        field: the printed field.
        camera: lens and pose.
        method: how it was made; ``"truth"`` is the twin's.
        made_at: ISO 8601 UTC, or empty.
        made_from: names of the pictures it was made from.
        quality: its residuals; None for the twin's truth.

    """

    field: FieldModel
    camera: Camera
    method: Method
    made_at: str = ""
    made_from: tuple[str, ...] = ()
    quality: Quality | None = None
    format: Literal["downfield.calibration"] = "downfield.calibration"
    version: Literal[1] = 1


def read_calibration(path: Path) -> Calibration:
    """Read a ``*.calibration.json`` file.

    Raises:
        InputError: it can't be read.
        FormatError: its content breaks the format; names the field.

    """
    return from_json(Calibration, read_text(path), path=str(path))


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write a ``*.calibration.json`` file, whole or not at all.

    Raises:
        OutputError: the place can't be written.

    """
    write_text(path, [to_json(Calibration, calibration), "\n"])
