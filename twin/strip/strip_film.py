"""Pictures of a strip as a camera delivers them: one state with a hand over it or none, or a whole move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.twin.appearance import Appearance
from downfield.twin.film.film import expose
from downfield.twin.film.sensor_effects import SensorEffects
from downfield.twin.render.renderer import RenderedFrame, Renderer
from downfield.twin.render.renderers import RendererName, open_renderer
from downfield.twin.snapshot import HandPose, Snapshot
from downfield.twin.strip.plastic_glare import PlasticGlare
from downfield.twin.strip.strip_look import StripLook
from downfield.twin.strip.strip_scene import appearance_of
from downfield.twin.strip.strip_state import StripState


@dataclass(frozen=True, slots=True)
class StripMoment:
    """One state of a strip, seen for a while.

    Attributes:
        t_ns: times of its pictures.
        state: how it stands.
        hands: over it, the same in every picture, or one set for each of them.

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
        state: how the strip stands.
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
        drawing = _Kept(drawing)
        hands = moment.hands or ((),) * len(moment.t_ns)
        snapshots = [Snapshot(t_ns, False, (), hands=over) for t_ns, over in zip(moment.t_ns, hands, strict=True)]
        try:
            for index, snapshot in enumerate(snapshots):
                frame = expose(drawing, self._effects, self._look.camera, snapshots, index)
                yield StripFrame(snapshot.t_ns, frame.image, moment.state, len(snapshot.hands))
        finally:
            drawing.close()


class _Kept:
    """A renderer that draws what stands still once: the same hands before the same camera are the same picture.

    Args:
        inner: draws.

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
