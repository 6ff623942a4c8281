"""A filmed game of cards as a clip: the video, its cards and dice as declarations, and a configuration to run it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from downfield.core.errors import OutputError
from downfield.core.strip import StripSet
from downfield.officiating.events import Event, EventsHeader, write_events
from downfield.twin.film.clip import ClipWriter
from downfield.twin.render.renderers import RendererName
from downfield.twin.strip.film import StripFilm, StripMoment
from downfield.twin.strip.game import StripMove
from downfield.twin.strip.look import StripLook
from downfield.twin.strip.state import StripState, set_to
from downfield.twin.table.snapshot import HandPose

SECOND_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ClipTimes:
    """Duration of each part of a move, s."""

    before_s: float = 3.0
    """The strip as it stands before the first play."""
    declared_s: float = 0.8
    """From the cards to the hand."""
    hand_s: float = 1.0
    """A hand over the strip."""
    stands_s: float = 4.0
    """The strip as it was set."""
    slipped_s: float = 7.0
    """The strip as it was set wrongly, until its coach mends it."""


TIMES: Final = ClipTimes()
SLIP_YD: Final = 2.0
"""Error of a slide that is set wrongly at first."""


@dataclass(frozen=True, slots=True)
class StripScript:
    """What a clip shows.

    Attributes:
        moments: its pictures.
        events: the cards, dice and choices, each at the time when it is declared.
    """

    moments: tuple[StripMoment, ...]
    events: tuple[Event, ...]


def script_of(moves: Sequence[StripMove], strip: StripSet, *, fps: float, slip: int = 0, seed: int = 0) -> StripScript:
    """Return the clip of a game: for each move its cards, a hand, and the strip as it was set.

    Args:
        moves: of the game.
        fps: frames per second.
        slip: the move (1-based) after which the slide is set two yards off at first; 0 for none.
        seed: of the hands.
    """
    rng = np.random.default_rng([seed, 0x5C21])
    first = _before(strip)
    clock = _FilmClock(round(SECOND_NS / fps))
    moments = [StripMoment(clock.times(TIMES.before_s), first)]
    events: list[Event] = []
    shown = first
    for number, move in enumerate(moves, start=1):
        events += [
            dataclasses.replace(event, t_ns=clock.now_ns + place * 1000) for place, event in enumerate(move.events)
        ]
        moments.append(StripMoment(clock.times(TIMES.declared_s), shown))
        if number == slip:
            shown = dataclasses.replace(move.strip, slide_yd=_slipped(move.strip.slide_yd, strip))
            moments += [_set(clock, shown, strip, rng), StripMoment(clock.times(TIMES.slipped_s), shown)]
        shown = move.strip
        moments += [_set(clock, shown, strip, rng), StripMoment(clock.times(TIMES.stands_s), shown)]
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

    Args:
        script: what to film.
        look: of the strip, its light and its camera.
        name: the files' common name.
        renderer: that draws it.
        fps: of the clip, as the script's.
        seed: of noise, shake and flicker.
        progress: called with the number of frames done, and the total.

    Returns:
        Number of frames.

    Raises:
        OutputError: a file can't be written.
    """
    total = sum(len(moment.t_ns) for moment in script.moments)
    done = 0
    with ClipWriter(_beside(name, ".mp4"), look.camera.lens.size_px, fps) as clip:
        for frame in StripFilm(look, renderer, seed=seed).film(script.moments):
            clip.add(frame.image, frame.t_ns)
            done += 1
            if progress is not None:
                progress(done, total)
    write_events(_beside(name, ".events.jsonl"), EventsHeader(game=name.name), script.events)
    _write_configuration(name)
    return done


class _FilmClock:
    """The times of a clip's frames, in order."""

    def __init__(self, step_ns: int) -> None:
        self.now_ns, self._step_ns = 0, step_ns

    def times(self, seconds: float) -> tuple[int, ...]:
        """Return the times of the frames in the next seconds, ns; at least one."""
        count = max(round(seconds * SECOND_NS / self._step_ns), 1)
        start, self.now_ns = self.now_ns, self.now_ns + count * self._step_ns
        return tuple(start + place * self._step_ns for place in range(count))


def _before(strip: StripSet) -> StripState:
    """Return the strip before the kickoff."""
    shown = {"minutes": 15, "quarter": 1, "down": 1}
    return set_to(strip, 35, "center", {counts: shown.get(counts, 0) for counts in strip.counts})


def _slipped(slide_yd: float, strip: StripSet) -> float:
    return slide_yd - SLIP_YD if slide_yd > strip.field.length_yd / 2 else slide_yd + SLIP_YD


def _set(clock: _FilmClock, state: StripState, strip: StripSet, rng: np.random.Generator) -> StripMoment:
    """Return a hand at the slide, moving a little."""
    times = clock.times(TIMES.hand_s)
    x_mm = state.slide_yd * strip.field.mm_per_yd_x
    return StripMoment(times, state, tuple(_hands(x_mm, len(times), rng)))


def _hands(x_mm: float, count: int, rng: np.random.Generator) -> Iterator[tuple[HandPose, ...]]:
    side = float(rng.uniform(-60, 60))
    for place in range(count):
        tip = (x_mm + 4.0 * place, float(rng.uniform(25, 45)), 4.0)
        yield (HandPose(tip, (tip[0] + side, -330.0, 90.0)),)


def _beside(name: Path, suffix: str) -> Path:
    return name.with_name(name.name + suffix)


def _write_configuration(name: Path) -> None:
    """Write the configuration that plays the clip; TOML's basic strings are JSON's."""
    path = _beside(name, ".toml")

    lines = (
        "[source]",
        f"name = {json.dumps(str(_beside(name, '.mp4')))}",
        "",
        "[calibration]",
        'strip = "nfl-strategy"',
        "",
        "[game]",
        'rulebook = "nfl-strategy"',
        "",
    )
    try:
        path.write_text("\n".join(lines), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None
