"""Mirror images of the lamps in the clear plastic of a strip: over the slide and over the dials' windows.

Plastic is smoother than print, so its highlights are smaller and brighter than the board's (`twin.render.board_light`),
and they hide the line, the ball and the numbers under them. Hands are over the plastic and keep their own color.
"""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image, Plane
from downfield.twin.appearance import Appearance, Lamp
from downfield.twin.render.board_light import mirror_angles
from downfield.twin.render.renderer import RenderedFrame, Renderer
from downfield.twin.render.solids import cloud, loose_solids
from downfield.twin.snapshot import Snapshot
from downfield.twin.strip.strip_look import StripLook
from downfield.twin.strip.strip_scene import slide_solids
from downfield.twin.strip.strip_state import StripState

_ROUGH = 0.018
"""Spread of a highlight beyond the lamp's own size, radians from the mirror direction."""
_STEP = 4  # the highlight is computed at this share of the picture's size
_SHIFT = 4


class PlasticGlare:
    """A renderer that adds the highlights of the clear plastic to another renderer's pictures.

    Args:
        inner: draws everything else.
        look: the strip's look.
        state: how it stands.

    """

    def __init__(self, inner: Renderer, look: StripLook, state: StripState) -> None:
        self._inner, self._look, self._state = inner, look, state

    @property
    def appearance(self) -> Appearance:
        """The appearance that it draws."""
        return self._inner.appearance

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        """Return the ideal picture of one instant."""
        frame = self._inner.render(snapshot, camera, t_ns=t_ns)
        if self._look.shine <= 0:
            return frame
        height, width = frame.image.shape[:2]
        glare = self._highlights(camera, (width, height))
        glare *= self._plastic(snapshot, camera, (width, height))[:, :, None]
        image = np.clip(frame.image + glare * 255, 0, 255).astype(np.uint8)
        return dataclasses.replace(frame, image=image)

    def close(self) -> None:
        """Release the inner renderer's resources."""
        self._inner.close()

    def _highlights(self, camera: Camera, size: tuple[int, int]) -> Plane:
        """Return the lamps' mirror images over the whole picture, shape (height, width, 3)."""
        x, y = np.meshgrid(np.arange(0, size[0] + _STEP, _STEP), np.arange(0, size[1] + _STEP, _STEP))
        points = camera.to_board(np.stack([x.ravel(), y.ravel()], axis=1), self._look.strip.slide.height_mm)
        points = np.column_stack([np.nan_to_num(points[:, :2], nan=1e4), np.zeros(len(points))])
        total = np.zeros((*x.shape, 3), dtype=np.float32)
        for lamp in self._look.lamps:
            strength = _mirrored(points, lamp, camera).reshape(x.shape) * 2.5 * lamp.strength * self._look.shine
            total += strength[:, :, None] * np.array(lamp.color[::-1], dtype=np.float32)
        full = cv2.resize(total, (x.shape[1] * _STEP, x.shape[0] * _STEP), interpolation=cv2.INTER_LINEAR)
        return np.asarray(full[: size[1], : size[0]], dtype=np.float32)

    def _plastic(self, snapshot: Snapshot, camera: Camera, size: tuple[int, int]) -> Plane:
        """Return where the picture shows clear plastic, 0 or 1, shape (height, width)."""
        mask = np.zeros((size[1], size[0]), dtype=np.uint8)
        plate = slide_solids(self._look, self._state)[:1]
        dials = self._look.strip.dials
        covers = (np.array([(x, y, 0.5) for x in dial.x_mm for y in dial.y_mm]) for dial in dials)
        outlines = [cloud(plate)[0], *covers]
        for outline in outlines:
            _fill(mask, camera.to_pixels(outline), 1)
        for hand in cloud(loose_solids(self.appearance, snapshot)):
            _fill(mask, camera.to_pixels(hand), 0)
        return mask.astype(np.float32)


def _fill(mask: Image, points_px: Array, value: int) -> None:
    if np.isfinite(points_px).all():
        hull = cv2.convexHull(np.round(points_px * (1 << _SHIFT)).astype(np.int32))
        cv2.fillConvexPoly(mask, hull, (value,), cv2.LINE_8, _SHIFT)


def _mirrored(points: Array, lamp: Lamp, camera: Camera) -> Array:
    """Return the strength of a lamp's mirror image in level plastic, 0..1. Shape (n, 3) to (n,)."""
    off, size = mirror_angles(points, lamp, camera)
    strength: Array = np.exp(-0.5 * (off / (_ROUGH + size)) ** 4)
    return strength
