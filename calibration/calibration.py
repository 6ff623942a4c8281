"""A calibration: printed field, camera, accuracy and origin; and its file, ``*.calibration.json``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from downfield.calibration.camera import Camera
from downfield.calibration.jacobians import PARAMETERS, PLACE_PARAMETERS, SCALE, STRETCH, locate
from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel
from downfield.core.records import read_record, record, to_json, write_text

Method = Literal["truth", "field", "fiducials", "landmarks"]

KNOWN_SCALE: Final = 0.05
"""Largest relative standard deviation of a print's size with which lengths in millimeters mean something: a base of
30 mm is then known to 1.5 mm, about as well as its own size is."""


@record
class QualityCell:
    """How well a calibration fits in one part of the field.

    Attributes:
        x_yd, y_yd: the part's middle, field yards.
        points: image measurements in it.
        rms_px: their residuals in the image.
        rms_mm: the same on the board.
        rms_yd: in field yards, along and across.
        sigma_mm: standard deviation of a base top's position there by the calibration alone, along and across.
    """

    x_yd: float
    y_yd: float
    points: int
    rms_px: float
    rms_mm: float
    rms_yd: tuple[float, float]
    sigma_mm: tuple[float, float]


@record
class Quality:
    """How well a calibration fits the measurements it was made from.

    Attributes:
        points: how many image measurements it was made from.
        rms_px, p95_px, max_px: residuals in the image.
        rms_mm: residuals on the board.
        rms_yd: residuals in field yards, along and across.
        cells: the same for every part of the field.
    """

    points: int
    rms_px: float
    p95_px: float
    max_px: float
    rms_mm: float
    rms_yd: tuple[float, float]
    cells: tuple[QualityCell, ...] = ()


@record
class Certificate:
    """The measured accuracy of a table, against marks that the calibration was not made from.

    Attributes:
        certified_at: ISO 8601 UTC.
        against: ``"hash marks"``, ``"known spots"`` or ``"ruler"``.
        points: how many were measured.
        median_mm, p95_mm, max_mm: distances between where the calibration puts them and where they are.
        p95_yd: the 95th percentile in field yards, along and across; calls with a smaller margin are too close.
    """

    certified_at: str
    against: str
    points: int
    median_mm: float
    p95_mm: float
    max_mm: float
    p95_yd: tuple[float, float]


@record
class Calibration:
    """Everything needed to convert pixels to yards.

    Attributes:
        field: the printed field.
        camera: lens, pose and bow of the board.
        method: how it was made; ``"truth"`` by the digital twin.
        made_at: ISO 8601 UTC, or empty.
        made_from: names of the pictures it was made from.
        quality: its residuals; None for the digital twin's truth.
        covariance: of the camera's parameters, in the order of `jacobians.PARAMETERS` (focal_x_px, focal_y_px,
            center_x_px, center_y_px, k1, k2, p1, p2, k3, rotation x y z, translation x y z mm, bow along twist across
            both mm), row by row; then of the log ratio by which the print is longer across than `field` says, where
            that was measured with the camera; and last of that by which all of it is larger, where its size in
            millimeters is not exact. Empty when it is exact.
        unmodeled_px: standard deviation of the errors that lens model and print leave unexplained; 0 when it is exact.
        certificate: its measured accuracy; None before `downfield certify`.
    """

    field: FieldModel
    camera: Camera
    method: Method
    made_at: str = ""
    made_from: tuple[str, ...] = ()
    quality: Quality | None = None
    covariance: tuple[tuple[float, ...], ...] = ()
    unmodeled_px: float = 0.0
    certificate: Certificate | None = None
    format: Literal["downfield.calibration"] = "downfield.calibration"
    version: Literal[2] = 2

    def __post_init__(self) -> None:
        size = len(self.covariance)
        known = {0, len(PARAMETERS), STRETCH + 1, len(PLACE_PARAMETERS)}
        if size not in known or any(len(row) != size for row in self.covariance):
            sizes = " or ".join(f"{count} rows of {count} numbers" for count in sorted(known - {0}))
            raise InputError(f"covariance must be {sizes}, or empty")

    @property
    def scale_spread(self) -> float:
        """Standard deviation of the logarithm of the print's size in millimeters; 0 when it is exact."""
        return math.sqrt(self.covariance[SCALE][SCALE]) if len(self.covariance) > SCALE else 0.0

    @property
    def lengths_known(self) -> bool:
        """Whether lengths in millimeters are known; yards are, in any case."""
        return self.scale_spread <= KNOWN_SCALE

    def to_board_with_cov(
        self, px: ArrayLike, height_mm: ArrayLike = 0.0, *, sigma_px: ArrayLike = 0.0, sigma_height_mm: ArrayLike = 0.0
    ) -> tuple[Array, Array]:
        """Return where pixels are on the board, with covariances of detection noise and calibration error together.

        Args:
            px: shape (n, 2).
            height_mm: of what was seen over the printed surface; scalar or shape (n,).
            sigma_px: standard deviation of the pixels in each direction; scalar, shape (n,), or covariances (n, 2, 2).
            sigma_height_mm: standard deviation of the heights; scalar or shape (n,).

        Returns:
            Board mm, shape (n, 2), and their covariances, mm^2, shape (n, 2, 2); NaN where a pixel sees no board.
        """
        board, by_pixel, by_height, by_parameters = locate(self.camera, px, height_mm)
        n = len(board)
        noise = np.asarray(sigma_px, dtype=np.float64)
        if noise.ndim < 3:
            noise = np.broadcast_to(noise, (n,))[:, None, None] ** 2 * np.eye(2)
        covariance = by_pixel @ noise @ by_pixel.transpose(0, 2, 1) + self.error_of(by_pixel, by_parameters)
        heights = np.broadcast_to(np.asarray(sigma_height_mm, dtype=np.float64), (n,)) ** 2
        covariance += heights[:, None, None] * by_height[:, :, None] * by_height[:, None, :]
        return board, covariance

    def error_of(self, by_pixel: Array, by_parameters: Array) -> Array:
        """Return the covariance of places by the calibration's own error, mm^2, shape (n, 2, 2).

        Args:
            by_pixel: Jacobians of the places by their pixels, from `locate`, shape (n, 2, 2).
            by_parameters: Jacobians by `PLACE_PARAMETERS`, shape (n, 2, 21).
        """
        covariance: Array = self.unmodeled_px**2 * (by_pixel @ by_pixel.transpose(0, 2, 1))
        if self.covariance:
            known = by_parameters[:, :, : len(self.covariance)]
            covariance += known @ np.array(self.covariance) @ known.transpose(0, 2, 1)
        return covariance


def read_calibration(path: Path | str) -> Calibration:
    """Read a ``*.calibration.json`` file.

    Raises:
        InputError: it can't be read.
        FormatError: its content breaks the format; names the field.
    """
    return read_record(Calibration, path)


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write a ``*.calibration.json`` file, whole or not at all. Raises OutputError: the file can't be written."""
    write_text(path, [to_json(Calibration, calibration), "\n"])
