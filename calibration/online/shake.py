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

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.calibration.jacobians import POSE, project
from downfield.core.arrays import Array, Image
from downfield.core.errors import CalibrationError
from downfield.core.field import FieldModel

_POINTS = 80
_FEWEST_POINTS = 24
_APART_PX = 22
_COARSE = 4  # the picture for the first step is so many times smaller
_COARSE_POINTS = 40  # the most distinct ones
_COARSE_WINDOW_PX, _COARSE_LEVELS = (13, 13), 2
_HALF_PATCH_PX = 6
_FINE_STEPS = 4
_NEAR_PX = 0.6  # a corner this near to the common movement moves with the camera
_LIKE = 0.45  # least correlation of a patch with what it was
_SETTLED_PX = 0.1  # a last step that moved the field's corners less went the right way from the start
SEEN_SHARE = 0.25
"""Of the print's corners: with fewer nothing is known of the shake."""

_SURE_SHARE, _AS_BEFORE = 0.5, 0.8  # of the corners, or of those a moment ago: fewer, and it is looked for from afar
_ROBUST_PX = np.geomspace(2.0, _NEAR_PX / 2, 3)  # how far off a point is half believed, step by step
_RIDGE = np.eye(4) * 1e-9
_POSE_STEPS = 8
_POSE_GAIN = 0.9  # a step that leaves more of the misfit is the last


@dataclass(frozen=True, slots=True)
class Shake:
    """How a picture is displaced from the reference.

    Attributes:
        move: takes reference pixels to pixels of this picture: ``move @ (x, y, 1)``, shape (2, 3).
        middle_px: displacement of the field's middle, shape (2,).
        share: of the followed corners that move with it, 0..1; near 0 the field is not seen.
        largest_px: the largest displacement over the field's corners.

    """

    move: Array
    middle_px: Array
    share: float
    largest_px: float

    def to_reference(self, px: Array) -> Array:
        """Pixels of this picture, shape (..., 2), to the reference's, same shape."""
        back: Array = (np.asarray(px, dtype=np.float64) - self.move[:, 2]) @ np.linalg.inv(self.move[:, :2]).T
        return back


class ShakeTracker:
    """Follows the print from a reference picture.

    Args:
        reference: the picture that the camera was calibrated in, blue green red or gray.
        camera: that calibration's camera.
        field: the printed field.

    Raises:
        CalibrationError: the picture shows too little of the print to follow.

    """

    def __init__(self, reference: Image, camera: Camera, field: FieldModel) -> None:
        gray = _gray(reference)
        ends = np.array([(x, y) for x in (0.0, field.length_mm) for y in (0.0, field.width_mm)])
        self._ends_px = camera.to_pixels(ends)
        self._middle_px = self._ends_px.mean(axis=0)
        found = cv2.goodFeaturesToTrack(gray, _POINTS, 0.02, _APART_PX, mask=_field_mask(gray, camera, field))
        if found is None or len(found) < _FEWEST_POINTS:
            raise CalibrationError("too little of the print is seen to follow it: light the field evenly and clear it")
        self._corners = np.asarray(found, dtype=np.float64).reshape(-1, 2)
        self._small = _reduced(gray)
        side = np.arange(-_HALF_PATCH_PX, _HALF_PATCH_PX + 1, dtype=np.float64)
        x, y = np.meshgrid(side, side)
        self._terms = _similarity_terms(self._corners, self._middle_px)
        self._places = self._corners.T[:, :, None] + np.stack([x.ravel(), y.ravel()])[:, None]
        self._patches = _centerd(_sampled(gray, self._places))
        self._energy = (self._patches * self._patches).sum(axis=1)
        smooth = np.asarray(cv2.GaussianBlur(gray, (0, 0), 0.8), dtype=np.float32)
        slopes = [
            _sampled(
                np.asarray(cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3, scale=1 / 8), dtype=np.float32), self._places
            )
            for order in ((1, 0), (0, 1))
        ]
        self._slopes = np.stack(slopes, axis=1)
        self._curves = np.linalg.inv(self._slopes @ self._slopes.transpose(0, 2, 1) + np.eye(2))
        self._last: Array = np.eye(2, 3)
        self._usual_share = 1.0

    def track(self, image: Image) -> Shake:
        """How the camera stands in a picture compared with the reference.

        Pictures of a camera in use come in the order of time: where it stood a moment ago is tried first. Hash marks
        look like their neighbors, a yard on: what is found from afar must fit better than what is near.
        """
        shake, settled = self._fine(image, self._last)
        if not settled or shake.share < max(min(_SURE_SHARE, _AS_BEFORE * self._usual_share), SEEN_SHARE):
            far, _ = self._fine(image, self._coarse(_gray(image)))
            shake = far if far.share > shake.share else shake
        if shake.share >= SEEN_SHARE:
            self._last, self._usual_share = shake.move, shake.share
        return shake

    def _fine(self, image: Image, move: Array) -> tuple[Shake, bool]:
        """The shake from about where it is; and whether the last step hardly moved anything."""
        near = np.zeros(len(self._corners), dtype=bool)
        step_px = np.inf
        for _ in range(_FINE_STEPS):
            places = move[:, :2] @ self._places.reshape(2, -1)
            places += move[:, 2:]
            seen = _centerd(_sampled(image, places.reshape(self._places.shape)))
            pull = np.einsum("nsp,np->ns", self._slopes, self._patches - seen)
            step = np.einsum("nij,nj->ni", self._curves, pull)
            usable = self._correlation(seen) > _LIKE
            if usable.sum() < 4:
                return Shake(move, np.zeros(2), 0.0, 0.0), False
            flow = self._corners @ move[:, :2].T + move[:, 2] + step.clip(-1.5, 1.5) - self._corners
            before = self._ends_px @ move[:, :2].T + move[:, 2]
            move, follows = _similarity(self._terms[usable], flow[usable], self._middle_px)
            near[:] = False
            near[usable] = follows
            now = self._ends_px @ move[:, :2].T + move[:, 2]
            step_px = float(np.abs(now - before).max())
            if step_px < _SETTLED_PX:
                break
        displaced = now - self._ends_px
        largest = math.sqrt(_squared(displaced).max())
        return Shake(move, displaced.mean(axis=0), float(near.mean()), largest), step_px < _SETTLED_PX

    def _coarse(self, gray: Image) -> Array:
        corners = self._corners[:_COARSE_POINTS]
        start = ((corners + 0.5) / _COARSE - 0.5).astype(np.float32)
        found, status, _ = cv2.calcOpticalFlowPyrLK(
            self._small,
            _reduced(gray),
            start.reshape(-1, 1, 2),
            start.reshape(-1, 1, 2).copy(),
            winSize=_COARSE_WINDOW_PX,
            maxLevel=_COARSE_LEVELS,
        )
        ok = status.ravel() == 1
        if ok.sum() < 4:
            return np.eye(2, 3)
        flow = (found.reshape(-1, 2) - start)[ok].astype(np.float64) * _COARSE
        return _similarity(self._terms[:_COARSE_POINTS][ok], flow, self._middle_px)[0]

    def _correlation(self, seen: Array) -> Array:
        """Of each patch with what it was, shape (n,)."""
        product, energy = np.einsum("np,np->n", seen, self._patches), np.einsum("np,np->n", seen, seen)
        alike: Array = product / np.sqrt(np.maximum(energy * self._energy, 1e-9))
        return alike


class MovingCamera:
    """A camera whose pose is fitted to shakes, its lens unchanged.

    Args:
        camera: as it stands in the reference picture.
        field: the printed field.

    """

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
        """The camera where the field is now."""
        target = self._px @ shake.move[:, :2].T + shake.move[:, 2]
        camera, px, left = self._flat, self._px, np.inf
        for _ in range(_POSE_STEPS):
            pose = (*camera.rotation, *camera.translation_mm) + self._steps @ (target - px).ravel()
            rx, ry, rz, tx, ty, tz = pose.tolist()
            stepped = Camera(camera.lens, rotation=(rx, ry, rz), translation_mm=(tx, ty, tz))
            px = stepped.to_pixels(self._points)
            before, left = left, float(np.abs(target - px).max())
            if left < before:
                camera = stepped
            if left > _POSE_GAIN * before:  # what is left is no pose
                break
        return dataclasses.replace(camera, bow=self._camera.bow)


def moved_camera(camera: Camera, shake: Shake, field: FieldModel) -> Camera:
    """The camera after a shake: its pose fitted to where the field now is, its lens unchanged."""
    return MovingCamera(camera, field).at(shake)


def _gray(image: Image) -> Image:
    if image.ndim == 2:
        return image
    # Green alone is a third of the work of a true gray, and the print shows in it.
    return np.asarray(cv2.extractChannel(image, 1), dtype=np.uint8)


def _reduced(gray: Image) -> Image:
    height, width = gray.shape
    size = (width // _COARSE, height // _COARSE)
    return np.asarray(cv2.resize(gray, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _sampled(plane: NDArray[np.uint8] | NDArray[np.float32], places: Array) -> Array:
    """Values of a plane, or of a picture's green, at places, x and y, shape (2, n, p), as (n, p)."""
    x, y = places.astype(np.float32)
    found = cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found if plane.ndim == 2 else found[..., 1], dtype=np.float64)


def _centerd(patches: Array) -> Array:
    """Patches less their means, in place."""
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
    """Squared lengths, shape (n,), of vectors, shape (n, 2)."""
    x, y = vectors.T
    squared: Array = x * x + y * y
    return squared


def _similarity_terms(points: Array, middle: Array) -> Array:
    """How points, shape (n, 2), move with a similarity's shift, and its turn and zoom in thousandths; (n, 2, 4)."""
    off = (points - middle) / 1000
    terms = np.zeros((len(points), 2, 4))
    terms[:, 0, 0] = terms[:, 1, 1] = 1.0
    terms[:, :, 2] = off[:, ::-1] * np.array([-1.0, 1.0])
    terms[:, :, 3] = off
    return terms


def _similarity(terms: Array, flow: Array, middle: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The similarity that most points follow, by reweighting from the median movement; and which follow it.

    Args:
        terms: of the points, as of `_similarity_terms` about the same middle, shape (n, 2, 4).
        flow: how they moved, shape (n, 2).
        middle: shape (2,).

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
    return np.column_stack([linear, shift]), left < _NEAR_PX**2
