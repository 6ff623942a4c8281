"""A filmed game of cards as a clip: the video, its cards and dice as declarations, and a configuration to run it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image, Plane
from downfield.core.records import write_text
from downfield.core.strip import StripSet
from downfield.officiating.events import Event, EventsHeader, write_events
from downfield.twin.film.film import ClipWriter, beside, expose
from downfield.twin.film.sensor_effects import SensorEffects
from downfield.twin.render.board import mirror_angles
from downfield.twin.render.compositor import fill_hull, to_fixed
from downfield.twin.render.renderer import RenderedFrame, Renderer
from downfield.twin.render.renderers import RendererName, open_renderer
from downfield.twin.strip.game import StripMove
from downfield.twin.strip.look import StripLook, StripState, appearance_of, set_to, slide_solids
from downfield.twin.table.snapshot import HandPose, Snapshot
from downfield.twin.table.solids import cloud, loose_solids

SECOND_NS: Final = 1_000_000_000


_ROUGH = 0.018  # spread of a highlight beyond the lamp's own size, radians from the mirror direction
_STEP = 4  # px between the points at which highlights are computed; they are smooth


class _StripRenderer:
    """Draws one state of a strip, a still one once: the same hands before the same camera give the same picture.

    The path tracer shows the highlights of the clear plastic by itself; to the compositor's pictures they are added.
    """

    def __init__(self, name: RendererName, look: StripLook, state: StripState) -> None:
        self._inner: Renderer = open_renderer(name, appearance_of(look, state), ())
        self.appearance = self._inner.appearance
        self._look, self._state, self._adds_glare = look, state, name == "compositor" and look.shine > 0
        self._last: tuple[tuple[HandPose, ...], Camera, RenderedFrame] | None = None

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        """Return the ideal picture of one instant."""
        if self._last is not None and self._last[:2] == (snapshot.hands, camera):
            return replace(self._last[2], t_ns=t_ns)
        frame = self._inner.render(snapshot, camera, t_ns=t_ns)
        if self._adds_glare:
            height, width = frame.image.shape[:2]
            glare = self._highlights(camera, (width, height))
            glare *= self._plastic(snapshot, camera, (width, height))[:, :, None]
            frame = replace(frame, image=np.clip(frame.image + glare * 255, 0, 255).astype(np.uint8))
        self._last = (snapshot.hands, camera, frame)
        return frame

    def _highlights(self, camera: Camera, size: tuple[int, int]) -> Plane:
        """Return the lamps' mirror images over the whole picture, shape (height, width, 3)."""
        x, y = np.meshgrid(np.arange(0, size[0] + _STEP, _STEP), np.arange(0, size[1] + _STEP, _STEP))
        points = camera.to_board(np.stack([x.ravel(), y.ravel()], axis=1), self._look.strip.slide.height_mm)
        points = np.column_stack([np.nan_to_num(points[:, :2], nan=1e4), np.zeros(len(points))])
        total = np.zeros((*x.shape, 3), dtype=np.float32)
        for lamp in self._look.lamps:
            off, size_rad = mirror_angles(points, lamp, camera)
            mirrored = np.exp(-0.5 * (off / (_ROUGH + size_rad)) ** 4).reshape(x.shape)
            strength = mirrored * 2.5 * lamp.strength * self._look.shine
            total += strength[:, :, None] * np.array(lamp.color[::-1], dtype=np.float32)
        full = cv2.resize(total, (x.shape[1] * _STEP, x.shape[0] * _STEP), interpolation=cv2.INTER_LINEAR)
        return np.asarray(full[: size[1], : size[0]], dtype=np.float32)

    def _plastic(self, snapshot: Snapshot, camera: Camera, size: tuple[int, int]) -> Plane:
        """Return where the picture shows clear plastic, 0 or 1, shape (height, width)."""
        mask = np.zeros((size[1], size[0]), dtype=np.uint8)
        plate = slide_solids(self._look, self._state)[:1]
        dials = self._look.strip.dials
        covers = (np.array([(x, y, 0.5) for x in dial.x_mm for y in dial.y_mm]) for dial in dials)
        for outline in (cloud(plate)[0], *covers):
            _fill(mask, camera.to_pixels(outline), 1)
        for hand in cloud(loose_solids(self.appearance, snapshot)):
            _fill(mask, camera.to_pixels(hand), 0)
        return mask.astype(np.float32)


def _fill(mask: Image, points_px: Array, value: int) -> None:
    if np.isfinite(points_px).all():
        fill_hull(mask, to_fixed(points_px), (value,), smooth=False)


@dataclass(frozen=True, slots=True)
class StripMoment:
    """One state of a strip, seen for a while."""

    t_ns: tuple[int, ...]  # times of its pictures
    state: StripState  # of the strip, which does not change
    hands: tuple[tuple[HandPose, ...], ...] = ()  # over it in each of the pictures; empty for none in any


@dataclass(frozen=True, slots=True)
class StripFrame:
    """One picture with its truth."""

    t_ns: int  # mid exposure
    image: Image  # uint8 blue green red, shape (height, width, 3)
    state: StripState
    hands: int  # number of hands in the picture


class StripFilm:
    """Films one strip. `renderer`: name of the one that draws it."""

    def __init__(self, look: StripLook, renderer: RendererName = "compositor", *, seed: int = 0) -> None:
        self._look, self._renderer = look, renderer
        self._effects = SensorEffects(look.sensor, look.camera.lens.size_px, seed)

    def film(self, moments: Sequence[StripMoment]) -> Iterator[StripFrame]:
        """Yield every picture of the moments, in order."""
        for moment in moments:
            drawing = _StripRenderer(self._renderer, self._look, moment.state)
            hands = moment.hands or ((),) * len(moment.t_ns)
            snapshots = [Snapshot(t_ns, False, (), hands=over) for t_ns, over in zip(moment.t_ns, hands, strict=True)]
            for index, snapshot in enumerate(snapshots):
                frame = expose(drawing, self._effects, self._look.camera, snapshots, index)
                yield StripFrame(snapshot.t_ns, frame.image, moment.state, len(snapshot.hands))


BEFORE_S: Final = 3.0  # duration of the strip as it stands before the first play
DECLARED_S: Final = 0.8  # from the cards to the hand
HAND_S: Final = 1.0  # of a hand over the strip
STANDS_S: Final = 4.0  # of the strip as it was set
SLIPPED_S: Final = 7.0  # of the strip as it was set wrongly, until its coach mends it
SLIP_YD: Final = 2.0  # error of a slide that is set wrongly at first


@dataclass(frozen=True, slots=True)
class StripScript:
    """What a clip shows."""

    moments: tuple[StripMoment, ...]
    events: tuple[Event, ...]  # the cards, dice and choices, each at the time when it is declared


def script_of(moves: Sequence[StripMove], strip: StripSet, *, fps: float, slip: int = 0, seed: int = 0) -> StripScript:
    """Return the clip of a game: for each move its cards, a hand, and the strip as it was set.

    Args:
        slip: the move (1-based) after which the slide is set two yards off at first; 0 for none.
    """
    rng = np.random.default_rng([seed, 0x5C21])
    first = _before(strip)
    clock = _FilmClock(round(SECOND_NS / fps))
    moments = [StripMoment(clock.times(BEFORE_S), first)]
    events: list[Event] = []
    shown = first
    for number, move in enumerate(moves, start=1):
        events += [replace(event, t_ns=clock.now_ns + place * 1000) for place, event in enumerate(move.events)]
        moments.append(StripMoment(clock.times(DECLARED_S), shown))
        if number == slip:
            slip_yd = -SLIP_YD if move.strip.slide_yd > strip.field.length_yd / 2 else SLIP_YD
            shown = replace(move.strip, slide_yd=move.strip.slide_yd + slip_yd)
            moments += [_set(clock, shown, strip, rng), StripMoment(clock.times(SLIPPED_S), shown)]
        shown = move.strip
        moments += [_set(clock, shown, strip, rng), StripMoment(clock.times(STANDS_S), shown)]
    return StripScript(tuple(moments), tuple(events))


def write_clip(
    script: StripScript,
    look: StripLook,
    name: Path,
    *,
    renderer: RendererName = "compositor",
    fps: float = 5.0,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Film a script: NAME.mp4, NAME.events.jsonl, and NAME.toml with the configuration that plays it.

    Returns:
        Number of frames.

    Raises:
        OutputError: a file can't be written.
    """
    total = sum(len(moment.t_ns) for moment in script.moments)
    done = 0
    with ClipWriter(beside(name, ".mp4"), look.camera.lens.size_px, fps) as clip:
        for frame in StripFilm(look, renderer, seed=seed).film(script.moments):
            clip.add(frame.image, frame.t_ns)
            done += 1
            if progress is not None:
                progress(done, total)
    write_events(beside(name, ".events.jsonl"), EventsHeader(game=name.name), script.events)
    _write_configuration(name)
    return done


class _FilmClock:
    def __init__(self, step_ns: int) -> None:
        self.now_ns, self._step_ns = 0, step_ns

    def times(self, seconds: float) -> tuple[int, ...]:
        """Return the times of the frames in the next seconds, ns; at least one."""
        count = max(round(seconds * SECOND_NS / self._step_ns), 1)
        start, self.now_ns = self.now_ns, self.now_ns + count * self._step_ns
        return tuple(start + place * self._step_ns for place in range(count))


def _before(strip: StripSet) -> StripState:
    shown = {"minutes": 15, "quarter": 1, "down": 1}
    return set_to(strip, 35, "center", {counts: shown.get(counts, 0) for counts in strip.counts})


def _set(clock: _FilmClock, state: StripState, strip: StripSet, rng: np.random.Generator) -> StripMoment:
    """Return a hand at the slide, moving a little."""
    times, hands, side = clock.times(HAND_S), [], float(rng.uniform(-60, 60))
    for place in range(len(times)):
        tip = (state.slide_yd * strip.field.mm_per_yd_x + 4.0 * place, float(rng.uniform(25, 45)), 4.0)
        hands.append((HandPose(tip, (tip[0] + side, -330.0, 90.0)),))
    return StripMoment(times, state, tuple(hands))


def _write_configuration(name: Path) -> None:
    """Write the configuration that plays the clip; TOML's basic strings are JSON's."""
    path = beside(name, ".toml")
    lines = (
        "[source]",
        f"name = {json.dumps(str(beside(name, '.mp4')))}",
        "",
        "[calibration]",
        'strip = "nfl-strategy"',
        "",
        "[game]",
        'rulebook = "nfl-strategy"',
        "",
    )
    write_text(path, ["\n".join(lines)])
