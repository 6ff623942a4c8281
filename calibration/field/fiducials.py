"""Calibrates the pose by square markers (ArUco or AprilTag) stuck beside the field at known places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import cv2
import numpy as np

from downfield.calibration.camera import Camera, Lens
from downfield.calibration.camera_fit import CameraFit, Observations, fit_camera
from downfield.calibration.field.marks.mirroring import UNMIRROR
from downfield.calibration.lens.prior import LensPrior
from downfield.core.arrays import Array, Image
from downfield.core.errors import CalibrationError, InputError
from downfield.core.files.input_files import read_toml
from downfield.core.records import check, from_data, record

Family = Literal["aruco", "apriltag"]
_DICTIONARIES: Final = {"aruco": cv2.aruco.DICT_4X4_50, "apriltag": cv2.aruco.DICT_APRILTAG_36h11}


_MIN_MARKERS: Final = 3  # least number of visible markers
_CORNER_SIGMA_PX: Final = 0.3  # standard deviation of a marker's corner
_MAX_RMS_PX: Final = 1.5  # largest rms of the corners about the solution


@record
class Fiducial:
    """A marker and its place."""

    id: int  # its number
    x_mm: float  # x_mm, y_mm: its center, board frame
    y_mm: float
    side_mm: float  # of its black square
    turn_deg: float = 0.0  # turn of its top from +y, counter-clockwise
    z_mm: float = 0.0  # height of its face over the printed surface

    def __post_init__(self) -> None:
        check(self.side_mm > 0, InputError, f"side_mm must be above 0, not {self.side_mm:g}")

    def corners_mm(self) -> Array:
        """Return the upper left, upper right, lower right and lower left corner of the marker, shape (4, 3)."""
        half, turn = self.side_mm / 2, np.radians(self.turn_deg)
        square = np.array([(-half, half), (half, half), (half, -half), (-half, -half)])
        spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        return np.column_stack([square @ spin + (self.x_mm, self.y_mm), np.full(4, self.z_mm)])


@record
class FiducialPlan:
    """Markers around a table: a TOML file with a ``[[markers]]`` table each."""

    markers: tuple[Fiducial, ...]  # their places
    family: Family = "aruco"  # their kind


def read_fiducials(path: Path) -> FiducialPlan:
    """Read a plan of markers. Raises InputError: unreadable; FormatError: names what is broken, unknown or missing."""
    return from_data(FiducialPlan, read_toml(path), path=str(path))


def solve_fiducials(
    image: Image, lens: Lens, prior: LensPrior, fiducials: Sequence[Fiducial], family: Family = "aruco"
) -> tuple[CameraFit, Observations]:
    """Solve the pose, and refine the lens, from the markers in one picture.

    Returns:
        The fit and the corners it was made from.

    Raises:
        CalibrationError: fewer than three known markers are seen, they are not at their given places, or the picture
            is mirrored.
    """
    known = {fiducial.id: fiducial for fiducial in fiducials}
    used = _detect(image, known, family)
    if len(used) < _MIN_MARKERS:
        if len(_detect(np.ascontiguousarray(image[:, ::-1]), known, family)) > len(used):
            raise CalibrationError(f"the picture is mirrored, since its markers read only in a mirror: {UNMIRROR}")
        raise CalibrationError(
            f"{len(used)} of {len(known)} markers are seen and {_MIN_MARKERS} are needed. Uncover them, add"
            " light, or print them larger."
        )
    points = np.concatenate([fiducial.corners_mm() for fiducial, _ in used])
    px = np.concatenate([corner for _, corner in used])
    done, turn, shift = cv2.solvePnP(points, lens.undistort(px), np.eye(3), None, flags=cv2.SOLVEPNP_SQPNP)
    if not done:
        raise CalibrationError("no camera fits these markers. Check the places given for them.")
    rx, ry, rz = np.asarray(turn, dtype=np.float64).ravel().tolist()
    tx, ty, tz = np.asarray(shift, dtype=np.float64).ravel().tolist()
    start = Camera(lens, (rx, ry, rz), (tx, ty, tz))
    observations = Observations.of_points(points, px, _CORNER_SIGMA_PX)
    fit = fit_camera(start, observations, prior=prior)
    rms = float(np.sqrt(np.mean(fit.residual_px**2)))
    if rms > _MAX_RMS_PX:
        raise CalibrationError(
            f"the markers are {rms:.1f} px (rms) off their given places. Measure their places again."
        )
    return fit, observations


def _detect(image: Image, known: Mapping[int, Fiducial], family: Family) -> list[tuple[Fiducial, Array]]:
    settings = cv2.aruco.DetectorParameters()
    settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    dictionary = cv2.aruco.getPredefinedDictionary(_DICTIONARIES[family])
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary, settings).detectMarkers(image)
    found = [] if ids is None else [(int(i), corner) for i, corner in zip(np.ravel(ids), corners, strict=True)]
    return [(known[i], np.asarray(corner, dtype=np.float64).reshape(4, 2)) for i, corner in found if i in known]
