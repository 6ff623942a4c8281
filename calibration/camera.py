"""The camera: a pinhole or a fisheye with Brown-Conrady distortion, a pose over the board, and the board's bow.

Camera coordinates are OpenCV's: x right, y down, z forward; a pixel's center has integer coordinates. A point X on or
above the board (board frame, mm, Z up) projects as ``distort(R X + t)``. Heights are measured from the printed surface:
where the board is bowed, the bow is added to them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import ArrayLike

from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel
from downfield.core.records import check, record

SHAPES: Final = ("along", "twist", "across", "both")  # the shapes of a board's bow

Projection = Literal["perspective", "equidistant"]
"""What a lens does before its distortion: straight lines stay straight, or, in a fisheye, the distance from the
principal point grows with the angle off the axis (J. Kannala, S. Brandt, IEEE TPAMI 28(8), 2006)."""


@dataclass(frozen=True, slots=True)
class ProjectionLimits:
    """When the iterations of inverting the projection stop."""

    max_newton_steps: int = 30  # largest number of steps of undistorting a pixel
    newton_done: float = 1e-8  # a smaller step is the last: it leaves about its square, far below 1e-6 px
    undistorted: float = 1e-9  # a pixel not reproduced to this is reached by no ray, normalized image units
    # largest number of steps of meeting a bowed surface: each gains a digit even where view and surface are steep
    max_bow_steps: int = 16
    bow_done_mm: float = 1e-7  # a smaller change of the surface's height is the last
    bow_reach: float = 1.2  # beyond this many half boards from the middle the bow stays as there: nothing is measured


_LIMITS: Final = ProjectionLimits()


@record
class Lens:
    """The intrinsic parameters, which stay the same when the camera is moved.

    Attributes:
        size_px: picture width and height.
        focal_px: focal length along image x and y, px.
        center_px: principal point, px.
        distortion: Brown-Conrady k1, k2, p1, p2, k3 (OpenCV's order); applied to normalized image coordinates, of a
            fisheye to those that its angles make.
        projection: what the lens does before that.
    """

    size_px: tuple[int, int]
    focal_px: tuple[float, float]
    center_px: tuple[float, float]
    distortion: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)
    projection: Projection = "perspective"

    def __post_init__(self) -> None:
        check(min(self.size_px) > 0, InputError, f"size_px must be above 0, not {self.size_px}")
        check(min(self.focal_px) > 0, InputError, f"focal_px must be above 0, not {self.focal_px}")

    def distort(self, points: Array) -> Array:
        """Distort normalized image points, shape (n, 2); returns the same shape."""
        points = self.projected(points)
        out = np.empty((len(points), 2))
        out[:, 0], out[:, 1], _, _ = self._distorted_xy(points[:, 0], points[:, 1])
        return out

    def projected(self, points: Array) -> Array:
        """Return what the lens's projection makes of normalized image points, shape (n, 2), without its distortion."""
        if self.projection == "perspective":
            return points
        radius = np.maximum(np.hypot(points[:, 0], points[:, 1]), 1e-9)[:, None]
        return points * (np.arctan(radius) / radius)

    def distort_with_jacobians(self, points: Array) -> tuple[Array, Array]:
        """Distort normalized image points, shape (n, 2); returns the same shape and Jacobians, shape (n, 2, 2)."""
        x, y = self.projected(points).T
        out, jacobian = np.empty((len(points), 2)), np.empty((len(points), 2, 2))
        out[:, 0], out[:, 1], r2, radial = self._distorted_xy(x, y)
        jacobian[:, 0, 0], jacobian[:, 0, 1], jacobian[:, 1, 1] = self._derivatives(x, y, r2, radial)
        jacobian[:, 1, 0] = jacobian[:, 0, 1]
        if self.projection == "equidistant":
            radius2 = np.maximum((points**2).sum(axis=1), 1e-12)[:, None, None]
            scale = np.arctan(np.sqrt(radius2)) / np.sqrt(radius2)
            along = points[:, :, None] * points[:, None, :]
            jacobian @= scale * np.eye(2) + (1 / (1 + radius2) - scale) / radius2 * along
        return out, jacobian

    def _distorted_xy(self, x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
        """Return distorted x and y, squared radii of the points and their radial factors; shape (n,) each."""
        k1, k2, p1, p2, k3 = self.distortion
        xx, yy = x * x, y * y
        r2 = xx + yy
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        out_x = x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * xx)
        out_y = y * radial + p1 * (r2 + 2 * yy) + 2 * p2 * x * y
        return out_x, out_y, r2, radial

    def _derivatives(self, x: Array, y: Array, r2: Array, radial: Array) -> tuple[Array, Array, Array]:
        """Return the derivatives of `_distorted_xy`: x by x, either by the other, y by y; shape (n,) each."""
        k1, k2, p1, p2, k3 = self.distortion
        slope = 2 * (k1 + r2 * (2 * k2 + r2 * 3 * k3))  # d radial / d r2, times 2
        by_x = radial + x * x * slope + 2 * p1 * y + 6 * p2 * x
        across = x * y * slope + 2 * p1 * x + 2 * p2 * y
        by_y = radial + y * y * slope + 6 * p1 * y + 2 * p2 * x
        return by_x, across, by_y

    def undistort(self, px: ArrayLike) -> Array:
        """Undistort pixels, shape (n, 2), to normalized points, same shape; NaN where no ray reaches."""
        pixels = np.asarray(px, dtype=np.float64).reshape(-1, 2)
        x, y = target_x, target_y = np.ascontiguousarray(((pixels - self.center_px) / self.focal_px).T)
        with np.errstate(divide="ignore", invalid="ignore"):
            for _ in range(_LIMITS.max_newton_steps):
                out_x, out_y, r2, radial = self._distorted_xy(x, y)
                a, b, d = self._derivatives(x, y, r2, radial)
                off_x, off_y, area = out_x - target_x, out_y - target_y, a * d - b * b
                step_x, step_y = (d * off_x - b * off_y) / area, (a * off_y - b * off_x) / area
                x, y = x - step_x, y - step_y
                if not (np.maximum(np.abs(step_x), np.abs(step_y)) > _LIMITS.newton_done).any():
                    return self._unprojected(np.stack([x, y], axis=1))
        points = np.stack([x, y], axis=1)
        reached = np.stack(self._distorted_xy(x, y)[:2], axis=1)
        missed = np.abs(reached - np.stack([target_x, target_y], axis=1)).max(axis=1) > _LIMITS.undistorted
        points[missed] = np.nan
        return self._unprojected(points)

    def _unprojected(self, points: Array) -> Array:
        """Invert `projected`; NaN for what is seen 90 degrees off the axis and more."""
        if self.projection == "perspective":
            return points
        angle = np.maximum(np.hypot(points[:, 0], points[:, 1]), 1e-9)
        return points * (np.where(angle < math.pi / 2, np.tan(angle), np.nan) / angle)[:, None]


@record
class Bow:
    """A smooth height map of a bowed board's printed surface over the plane of the pose.

    Pressed metal boards sag, and some are dished on purpose, by up to a few millimeters. What tilts or lifts the plane
    as a whole belongs to the pose, so the shapes are the four lowest that bend it: Legendre products over the board,
    along, twisted, across, and both. They span the paraboloid dish of a board held at its rim.

    Attributes:
        x_mm, y_mm: the stretch of the board it was fitted on, (low, high).
        along_mm, twist_mm, across_mm, both_mm: sizes of the four shapes; each shape is 1 at the board's corner.
    """

    x_mm: tuple[float, float]
    y_mm: tuple[float, float]
    along_mm: float = 0.0
    twist_mm: float = 0.0
    across_mm: float = 0.0
    both_mm: float = 0.0

    def __post_init__(self) -> None:
        check(self.x_mm[0] < self.x_mm[1], InputError, f"x_mm must rise, not {self.x_mm}")
        check(self.y_mm[0] < self.y_mm[1], InputError, f"y_mm must rise, not {self.y_mm}")

    @property
    def sizes_mm(self) -> Array:
        """The four sizes in the order of `SHAPES`, shape (4,)."""
        return np.array([self.along_mm, self.twist_mm, self.across_mm, self.both_mm])

    def shapes(self, points_mm: Array) -> Array:
        """Evaluate the four shapes at board points, shape (n, 2); returns (n, 4)."""
        u, v = self._within(points_mm)
        bend_u, bend_v = _legendre2(u), _legendre2(v)
        return np.stack([bend_u, u * v, bend_v, bend_u * bend_v], axis=1)

    def height_mm(self, points_mm: Array) -> Array:
        """Return the height of the printed surface over the plane at board points, shape (n, 2); returns (n,)."""
        u, v = at = self._within(points_mm)
        bend_u, bend_v = _legendre2(at)
        height: Array = bend_u * (self.along_mm + self.both_mm * bend_v)
        height += self.twist_mm * u * v + self.across_mm * bend_v
        return height

    def slopes(self, points_mm: Array) -> Array:
        """Return the derivatives of the height along x and y at board points, shape (n, 2), mm per mm, same shape."""
        u, v = at = self._within(points_mm)
        bend_u, bend_v = _legendre2(at)
        half_x, half_y = ((high - low) / 2 for low, high in (self.x_mm, self.y_mm))
        slopes = np.empty((len(u), 2))
        slopes[:, 0] = (3 * u * (self.along_mm + self.both_mm * bend_v) + self.twist_mm * v) / half_x
        slopes[:, 1] = (3 * v * (self.across_mm + self.both_mm * bend_u) + self.twist_mm * u) / half_y
        slopes[(np.abs(at) >= _LIMITS.bow_reach).T] = 0.0
        return slopes

    def _within(self, points_mm: Array) -> Array:
        """Return board points, shape (n, 2), in half boards from the middle, within `bow_reach`; shape (2, n)."""
        (x_low, x_high), (y_low, y_high) = self.x_mm, self.y_mm
        middle = np.array([[(x_low + x_high) / 2], [(y_low + y_high) / 2]])
        half = np.array([[(x_high - x_low) / 2], [(y_high - y_low) / 2]])
        within: Array = np.minimum(np.maximum((points_mm.T - middle) / half, -_LIMITS.bow_reach), _LIMITS.bow_reach)
        return within


def _legendre2(along: Array) -> Array:
    return 1.5 * along * along - 0.5


def flat_bow(field: FieldModel) -> Bow:
    """Return a bow of zero over the whole board of a field, from which a fit of the bow starts."""
    x_low, y_low, x_high, y_high = field.board_mm
    return Bow((x_low, x_high), (y_low, y_high))


@record
class Camera:
    """A lens at a pose over the board.

    Attributes:
        lens: intrinsics.
        rotation: Rodrigues vector of the board-to-camera rotation, radians.
        translation_mm: the board frame's origin in camera coordinates, mm.
        bow: how the printed surface departs from a plane; None for a flat board.
    """

    lens: Lens
    rotation: tuple[float, float, float]
    translation_mm: tuple[float, float, float]
    bow: Bow | None = None

    @property
    def board_to_camera(self) -> Array:
        """Rotation matrix, shape (3, 3); not to be written to."""
        return _rotation_matrix(self.rotation)

    @property
    def position_mm(self) -> Array:
        """The camera's center in the board frame, mm, shape (3,)."""
        position: Array = -self.board_to_camera.T @ np.array(self.translation_mm)
        return position

    @property
    def tilt_deg(self) -> float:
        """Angle between the optical axis and the board's normal."""
        return float(np.degrees(np.arccos(np.clip(-self.board_to_camera[2, 2], -1, 1))))

    def to_pixels(self, points_mm: ArrayLike) -> Array:
        """Project board-frame points.

        Args:
            points_mm: shape (..., 3), z being the height over the printed surface; or (..., 2) for points on it.

        Returns:
            Pixels, shape (..., 2). Points at or behind the camera are NaN.
        """
        points = np.asarray(points_mm, dtype=np.float64)
        if points.shape[-1] == 2:
            points = np.concatenate([points, np.zeros_like(points[..., :1])], axis=-1)
        flat = points.reshape(-1, 3)
        if self.bow is not None:
            flat = flat + self.bow.height_mm(flat[:, :2])[:, None] * (0.0, 0.0, 1.0)
        seen = flat @ self.board_to_camera.T + self.translation_mm
        depth = np.where(seen[:, 2] > 1e-6, seen[:, 2], np.nan)
        distorted = self.lens.distort(seen[:, :2] / depth[:, None])
        pixels: Array = distorted * self.lens.focal_px + self.lens.center_px
        return pixels.reshape(*points.shape[:-1], 2)

    def to_board(self, px: ArrayLike, height_mm: ArrayLike = 0.0) -> Array:
        """Return where the rays of pixels cross the surface at a height over the board.

        Args:
            px: shape (..., 2).
            height_mm: scalar, or shape (...); the height of what was seen over the printed surface.

        Returns:
            Board millimeters, shape (..., 2). NaN where the ray does not come down to that plane.
        """
        pixels = np.asarray(px, dtype=np.float64)
        flat = self.lens.undistort(pixels)
        rays = self.board_to_camera.T @ np.array([flat[:, 0], flat[:, 1], np.ones(len(flat))])
        heights = np.broadcast_to(np.asarray(height_mm, dtype=np.float64), pixels.shape[:-1]).reshape(-1)
        eye = self.position_mm
        with np.errstate(divide="ignore", invalid="ignore"):
            crossed = _cross(eye, rays, heights)
            if self.bow is not None:
                bowed = np.zeros_like(heights)
                for _ in range(_LIMITS.max_bow_steps):
                    before, bowed = bowed, self.bow.height_mm(crossed.T)
                    crossed = _cross(eye, rays, heights + bowed)
                    if not (np.abs(bowed - before) > _LIMITS.bow_done_mm).any():
                        break
        return np.ascontiguousarray(crossed.T).reshape(pixels.shape)


def _cross(eye: Array, rays: Array, z_mm: Array) -> Array:
    """Return where rays from a camera's center, (3, n), cross the planes z = z_mm, (n,): (2, n); NaN where not."""
    reach = (z_mm - eye[2]) / rays[2]
    return eye[:2, None] + np.where(reach > 0, reach, np.nan) * rays[:2]


@lru_cache(maxsize=64)
def _rotation_matrix(rotation: tuple[float, float, float]) -> Array:
    """Return the matrix of a Rodrigues vector; cached, since every frame needs it a dozen times."""
    matrix = np.asarray(cv2.Rodrigues(np.array(rotation))[0], dtype=np.float64)
    matrix.setflags(write=False)
    return matrix
