"""Pictures of a strip as a camera delivers them: one state with a hand over it or none, or a whole move.

The lamps mirror in the clear plastic over the slide and over the dials' windows. Plastic is smoother than print, so its
highlights are smaller and brighter than the board's (`twin.render.board`), and they hide the line, the ball and the
numbers under them. Hands are over the plastic and keep their own color.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image, Plane
from downfield.twin.film.film import expose
from downfield.twin.film.sensor_effects import SensorEffects
from downfield.twin.render.board import mirror_angles
from downfield.twin.render.renderer import RenderedFrame, Renderer
from downfield.twin.render.renderers import RendererName, open_renderer
from downfield.twin.strip.look import StripLook, appearance_of, slide_solids
from downfield.twin.strip.state import StripState
from downfield.twin.table.appearance import Appearance, Lamp
from downfield.twin.table.snapshot import HandPose, Snapshot
from downfield.twin.table.solids import cloud, loose_solids

_ROUGH = 0.018  # spread of a highlight beyond the lamp's own size, radians from the mirror direction
_STEP = 4  # px between the points at which highlights are computed; they are smooth
_SHIFT = 4  # fractional bits of cv2's polygon corners


class PlasticGlare:
    """A renderer that adds the highlights of the clear plastic to another renderer's pictures.

    Args:
        inner: draws everything else.
        look: the strip's look.
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


@dataclass(frozen=True, slots=True)
class StripMoment:
    """One state of a strip, seen for a while.

    Attributes:
        t_ns: times of its pictures.
        state: of the strip, which does not change.
        hands: over it in each of the pictures; empty for none in any.
    """

    t_ns: tuple[int, ...]
    state: StripState
    hands: tuple[tuple[HandPose, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class StripFrame:
    """One picture with its truth.

    Attributes:
        t_ns: mid exposure.
        image: uint8 blue green red, shape (height, width, 3).
        state: of the strip.
        hands: number of hands in the picture.
    """

    t_ns: int
    image: Image
    state: StripState
    hands: int


class StripFilm:
    """Films one strip.

    Args:
        look: of the strip, its light and its camera.
        renderer: that draws it; `traced` shows the plastic's glare by itself, to the others' pictures it is added.
        seed: of noise, shake and flicker.
    """

    def __init__(self, look: StripLook, renderer: RendererName = "compositor", *, seed: int = 0) -> None:
        self._look, self._renderer = look, renderer
        self._effects = SensorEffects(look.sensor, look.camera.lens.size_px, seed)

    def film(self, moments: Sequence[StripMoment]) -> Iterator[StripFrame]:
        """Yield every picture of the moments, in order."""
        for moment in moments:
            yield from self._moment(moment)

    def _moment(self, moment: StripMoment) -> Iterator[StripFrame]:
        drawing: Renderer = open_renderer(self._renderer, appearance_of(self._look, moment.state), ())
        if self._renderer in ("compositor", "mujoco"):
            drawing = PlasticGlare(drawing, self._look, moment.state)
        drawing = _CachingRenderer(drawing)
        hands = moment.hands or ((),) * len(moment.t_ns)
        snapshots = [Snapshot(t_ns, False, (), hands=over) for t_ns, over in zip(moment.t_ns, hands, strict=True)]
        try:
            for index, snapshot in enumerate(snapshots):
                frame = expose(drawing, self._effects, self._look.camera, snapshots, index)
                yield StripFrame(snapshot.t_ns, frame.image, moment.state, len(snapshot.hands))
        finally:
            drawing.close()


class _CachingRenderer:
    """A renderer that draws a still strip once: the same hands before the same camera give the same picture.

    Args:
        inner: draws the pictures.
    """

    def __init__(self, inner: Renderer) -> None:
        self._inner = inner
        self._last: tuple[tuple[HandPose, ...], Camera, RenderedFrame] | None = None

    @property
    def appearance(self) -> Appearance:
        """The appearance that it draws."""
        return self._inner.appearance

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        """Return the ideal picture of one instant."""
        if self._last is not None and self._last[:2] == (snapshot.hands, camera):
            return replace(self._last[2], t_ns=t_ns)
        frame = self._inner.render(snapshot, camera, t_ns=t_ns)
        self._last = (snapshot.hands, camera, frame)
        return frame

    def close(self) -> None:
        """Release the inner renderer's resources."""
        self._inner.close()
