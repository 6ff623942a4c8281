"""Camera shake, tracked every frame on the printed field.

Corners of the print are followed from a reference picture by the method of Lucas and Kanade, first in a picture a
quarter as large, which forgives big movements, then in patches of the full one (the inverse compositional form: S.
Baker and I. Matthews, IJCV 56(3), 2004). One similarity of the picture (shift, turn, zoom) is fitted to them robustly:
figures and hands that cover some don't matter.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.jacobians import POSE, project
from downfield.core.arrays import Array, Bools, Image, Plane
from downfield.core.errors import CalibrationError
from downfield.core.field.model import FieldModel


@dataclass(frozen=True, slots=True)
class ShakeLimits:
    """Thresholds and sizes of following the print."""

    max_points: int = 80  # largest number of corners that are followed
    min_points: int = 24  # with fewer in the reference picture nothing is followed
    min_distance_px: int = 22  # least distance between corners, so that they spread over the field
    coarse_factor: int = 4  # the picture of the first step is so many times smaller
    coarse_points: int = 40  # the most distinct corners are enough in it
    coarse_window_px: tuple[int, int] = (13, 13)  # window of the optical flow in the small picture
    coarse_levels: int = 2  # pyramid levels of the optical flow in the small picture
    half_patch_px: int = 6  # half the side of a patch in the full picture
    max_fine_steps: int = 4  # largest number of steps of the fit in the full picture
    near_px: float = 0.6  # a corner this near to the common movement moves with the camera
    min_correlation: float = 0.45  # least correlation of a patch with its reference
    settled_px: float = 0.1  # a last step that moved the field's corners less went the right way from the start
    min_share: float = 0.25  # with a smaller share of the print's corners nothing is known of the shake
    # with less than this share of all corners, and `sure_as_before`, the shake is searched for over a wider range
    sure_share: float = 0.5
    sure_as_before: float = 0.8  # the same as a share of the corners that were followed in the previous picture
    ridge: float = 1e-9  # added to the diagonal, so that the fit of the similarity stays solvable
    max_pose_steps: int = 8  # largest number of steps of fitting the pose
    pose_gain: float = 0.9  # a step that leaves more of the misfit than this share is the last


SHAKE_LIMITS: Final = ShakeLimits()
NOT_ENOUGH_PRINT: Final = "too little of the print is in view to follow the camera: clear the field and light it evenly"
_RIDGE: Final = np.eye(4) * SHAKE_LIMITS.ridge
_ROBUST_PX: Final = np.geomspace(2.0, SHAKE_LIMITS.near_px / 2, 3)  # how far off a point is half believed, step by step


@dataclass(frozen=True, slots=True)
class Shake:
    """How a picture is displaced from the reference."""

    move: Array  # takes reference pixels to pixels of this picture: `move @ (x, y, 1)`, shape (2, 3)
    middle_px: Array  # displacement of the field's middle, shape (2,)
    share: float  # of the followed corners that move with it, 0..1; near 0 the field is not seen
    largest_px: float  # the largest displacement over the field's corners


class ShakeTracker:
    """Follows the print from a reference picture, and so measures how the camera shakes.

    Args:
        reference: the picture that the camera was calibrated in, blue green red or gray.

    Raises:
        CalibrationError: the picture shows too little of the print to follow.
    """

    def __init__(self, reference: Image, camera: Camera, field: FieldModel) -> None:
        gray = _gray(reference)
        ends = np.array([(x, y) for x in (0.0, field.length_mm) for y in (0.0, field.width_mm)])
        self._ends_px = camera.to_pixels(ends)
        self._middle_px = self._ends_px.mean(axis=0)
        found = cv2.goodFeaturesToTrack(
            gray, SHAKE_LIMITS.max_points, 0.02, SHAKE_LIMITS.min_distance_px, mask=_field_mask(gray, camera, field)
        )
        if found is None or len(found) < SHAKE_LIMITS.min_points:
            raise CalibrationError(NOT_ENOUGH_PRINT)
        self._corners = np.asarray(found, dtype=np.float64).reshape(-1, 2)
        self._small = _reduced(gray)
        side = np.arange(-SHAKE_LIMITS.half_patch_px, SHAKE_LIMITS.half_patch_px + 1, dtype=np.float64)
        x, y = np.meshgrid(side, side)
        self._terms = _similarity_terms(self._corners, self._middle_px)
        self._places = self._corners.T[:, :, None] + np.stack([x.ravel(), y.ravel()])[:, None]
        self._patches = _centered(_sampled(gray, self._places))
        self._energy = (self._patches * self._patches).sum(axis=1)
        smooth = np.asarray(cv2.GaussianBlur(gray, (0, 0), 0.8), dtype=np.float32)
        steep = [cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3, scale=1 / 8) for order in ((1, 0), (0, 1))]
        slopes = [_sampled(np.asarray(slope, dtype=np.float32), self._places) for slope in steep]
        self._slopes = np.stack(slopes, axis=1)
        self._curves = np.linalg.inv(self._slopes @ self._slopes.transpose(0, 2, 1) + np.eye(2))
        self._last: Array = np.eye(2, 3)
        self._usual_share = 1.0

    def track(self, image: Image) -> Shake:
        """Return how a picture is displaced from the reference.

        Pictures come in the order of time: where the camera stood a moment ago is tried first. Hash marks look like
        their neighbors, a yard on, so a displacement found from afar must fit better than one nearby.
        """
        shake, settled = self._fine(image, self._last)
        if not settled or shake.share < max(
            min(SHAKE_LIMITS.sure_share, SHAKE_LIMITS.sure_as_before * self._usual_share), SHAKE_LIMITS.min_share
        ):
            far, _ = self._fine(image, self._coarse(_gray(image)))
            shake = far if far.share > shake.share else shake
        if shake.share >= SHAKE_LIMITS.min_share:
            self._last, self._usual_share = shake.move, shake.share
        return shake

    def _fine(self, image: Image, move: Array) -> tuple[Shake, bool]:
        """Return the shake, refined from about where it is, and whether the last step hardly moved anything."""
        near = np.zeros(len(self._corners), dtype=bool)
        step_px = np.inf
        for _ in range(SHAKE_LIMITS.max_fine_steps):
            places = move[:, :2] @ self._places.reshape(2, -1)
            places += move[:, 2:]
            seen = _centered(_sampled(image, places.reshape(self._places.shape)))
            pull = np.einsum("nsp,np->ns", self._slopes, self._patches - seen)
            step = np.einsum("nij,nj->ni", self._curves, pull)
            usable = self._correlation(seen) > SHAKE_LIMITS.min_correlation
            if usable.sum() < 4:
                return Shake(move, np.zeros(2), 0.0, 0.0), False
            flow = self._corners @ move[:, :2].T + move[:, 2] + step.clip(-1.5, 1.5) - self._corners
            before = self._ends_px @ move[:, :2].T + move[:, 2]
            move, follows = _similarity(self._terms[usable], flow[usable], self._middle_px)
            near[:] = False
            near[usable] = follows
            now = self._ends_px @ move[:, :2].T + move[:, 2]
            step_px = float(np.abs(now - before).max())
            if step_px < SHAKE_LIMITS.settled_px:
                break
        displaced = now - self._ends_px
        largest = math.sqrt(_squared(displaced).max())
        return Shake(move, displaced.mean(axis=0), float(near.mean()), largest), step_px < SHAKE_LIMITS.settled_px

    def _coarse(self, gray: Image) -> Array:
        corners = self._corners[: SHAKE_LIMITS.coarse_points]
        start = ((corners + 0.5) / SHAKE_LIMITS.coarse_factor - 0.5).astype(np.float32)
        found, status, _ = cv2.calcOpticalFlowPyrLK(
            self._small,
            _reduced(gray),
            start.reshape(-1, 1, 2),
            start.reshape(-1, 1, 2).copy(),
            winSize=SHAKE_LIMITS.coarse_window_px,
            maxLevel=SHAKE_LIMITS.coarse_levels,
        )
        ok = status.ravel() == 1
        if ok.sum() < 4:
            return np.eye(2, 3)
        flow = (found.reshape(-1, 2) - start)[ok].astype(np.float64) * SHAKE_LIMITS.coarse_factor
        return _similarity(self._terms[: SHAKE_LIMITS.coarse_points][ok], flow, self._middle_px)[0]

    def _correlation(self, seen: Array) -> Array:
        """Return the correlation of each patch with what it was, shape (n,)."""
        product, energy = np.einsum("np,np->n", seen, self._patches), np.einsum("np,np->n", seen, seen)
        alike: Array = product / np.sqrt(np.maximum(energy * self._energy, 1e-9))
        return alike


class MovingCamera:
    """A camera whose pose is fitted to shakes, its lens unchanged. `camera`: as it stands in the reference picture."""

    def __init__(self, camera: Camera, field: FieldModel) -> None:
        x, y = np.meshgrid(np.linspace(0, field.length_mm, 6), np.linspace(0, field.width_mm, 4))
        points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
        self._px, _, by_parameters = project(camera, points)
        if camera.bow is not None:
            points[:, 2] = camera.bow.height_mm(points[:, :2])
        # Their heights are found once: steps go over a flat board with the points where they really are.
        self._points, self._camera = points, camera
        self._flat = dataclasses.replace(camera, bow=None)
        # Shakes are small: the slopes at the reference serve for every step, and only steps are solved for.
        self._steps = np.linalg.pinv(by_parameters[:, :, POSE].reshape(-1, 6))

    def at(self, shake: Shake) -> Camera:
        """Return the camera where the field is now."""
        target = self._px @ shake.move[:, :2].T + shake.move[:, 2]
        camera, px, left = self._flat, self._px, np.inf
        for _ in range(SHAKE_LIMITS.max_pose_steps):
            pose = (*camera.rotation, *camera.translation_mm) + self._steps @ (target - px).ravel()
            rx, ry, rz, tx, ty, tz = pose.tolist()
            stepped = Camera(camera.lens, rotation=(rx, ry, rz), translation_mm=(tx, ty, tz))
            px = stepped.to_pixels(self._points)
            before, left = left, float(np.abs(target - px).max())
            if left < before:
                camera = stepped
            if left > SHAKE_LIMITS.pose_gain * before:  # what is left is no pose
                break
        return dataclasses.replace(camera, bow=self._camera.bow)


def _gray(image: Image) -> Image:
    if image.ndim == 2:
        return image
    # Green alone is a third of the work of a true gray, and the print shows in it.
    return np.asarray(cv2.extractChannel(image, 1), dtype=np.uint8)


def _reduced(gray: Image) -> Image:
    height, width = gray.shape
    size = (width // SHAKE_LIMITS.coarse_factor, height // SHAKE_LIMITS.coarse_factor)
    return np.asarray(cv2.resize(gray, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _sampled(plane: Image | Plane, places: Array) -> Array:
    """Sample a plane, or a picture's green, at places, x and y, shape (2, n, p); returns (n, p)."""
    x, y = places.astype(np.float32)
    found = cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found if plane.ndim == 2 else found[..., 1], dtype=np.float64)


def _centered(patches: Array) -> Array:
    """Subtract their means from patches, in place."""
    patches -= patches.mean(axis=1, keepdims=True)
    return patches


def _field_mask(gray: Image, camera: Camera, field: FieldModel) -> Image:
    zone = field.end_zone_mm
    along = np.linspace(-zone, field.length_mm + zone, 24)
    rim = np.array([*((x, 0.0) for x in along), *((x, field.width_mm) for x in along[::-1])])
    mask = np.zeros(gray.shape, dtype=np.uint8)
    cv2.fillPoly(mask, [np.round(camera.to_pixels(rim)).astype(np.int32)], (255,))
    return mask


def _squared(vectors: Array) -> Array:
    """Return the squared lengths, shape (n,), of vectors, shape (n, 2)."""
    x, y = vectors.T
    squared: Array = x * x + y * y
    return squared


def _similarity_terms(points: Array, middle: Array) -> Array:
    """Return how points, shape (n, 2), move with a similarity's shift, turn and zoom (in thousandths), (n, 2, 4)."""
    off = (points - middle) / 1000
    terms = np.zeros((len(points), 2, 4))
    terms[:, 0, 0] = terms[:, 1, 1] = 1.0
    terms[:, :, 2] = off[:, ::-1] * np.array([-1.0, 1.0])
    terms[:, :, 3] = off
    return terms


def _similarity(terms: Array, flow: Array, middle: Array) -> tuple[Array, Bools]:
    """Fit the similarity, (2, 3), that most points follow, by reweighting from the median movement, and which do, (n,).

    Args:
        terms: of the points, as of `_similarity_terms` about the same middle, shape (n, 2, 4).
        flow: how they moved, shape (n, 2).
    """
    rows, moved = terms.reshape(-1, 4), flow.ravel()
    ordered = np.sort(flow, axis=0)
    usual = (ordered[(len(flow) - 1) // 2] + ordered[len(flow) // 2]) / 2
    left = _squared(flow - usual)
    for scale in _ROBUST_PX:
        weight = 1 / (1 + (left / scale**2) ** 2)
        weighed = rows.T * weight.repeat(2)
        answer = np.linalg.solve(weighed @ rows + _RIDGE, weighed @ moved)
        left = _squared((moved - rows @ answer).reshape(-1, 2))
    dx, dy, turn, zoom = answer.tolist()
    linear = np.array([[1 + zoom / 1000, -turn / 1000], [turn / 1000, 1 + zoom / 1000]])
    shift = middle + np.array([dx, dy]) - linear @ middle
    return np.column_stack([linear, shift]), left < SHAKE_LIMITS.near_px**2
