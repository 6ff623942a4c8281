"""Scenes by hand: figures on a few key frames become scenes, with contacts, faces and instants worked out.

Anybody can write a case of a rulebook this way: where each figure is at which time, when it falls, when the board runs.
`film` samples the paths like a camera, and works out what a camera would measure: the gap of every near pair, the faces
that meet, the instant a contact began between two frames. Everything is exact unless an error is asked for.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel, preset
from downfield.core.footprint import BaseSize, signed_gap
from downfield.core.mathematics import wrap_deg
from downfield.core.scene import Ball, Contact, Figure, Jersey, Player, Power, Scene

FPS: Final = 60
FIELD: Final = preset("ultimate")
BASE: Final = BaseSize()


@dataclass(frozen=True, slots=True)
class FilmLimits:
    """Which pairs of figures a film measures."""

    listed_mm: float = 5.0  # scenes list pairs with a gap below this, as those of a camera do
    # gaps of pairs nearer than this are measured, for the instant they close: no figure goes so far in a frame
    followed_mm: float = 10.0


_LIMITS: Final = FilmLimits()

Path = Callable[[float], tuple[float, float, float]]
"""From seconds to a place in field yards, along x and across, and a heading in degrees."""


@dataclass(frozen=True)
class ScriptedFigure:
    """A figure on a path.

    Attributes:
        id: roster id; it begins with its jersey, ``"dark"`` or ``"light"``.
        path: from seconds to field yards and heading in degrees.
        role: as the coach names it.
        falls_s: when the figure falls.
        sigma_mm, sigma_deg: error reported with the figure.
        sure: whether vision is sure which figure it is.
        late_s: how much later than it happens the fall is reported, then with its time.
        front: probability reported that the heading points to the front.
        field: the printed field.
        base: the size of its base.
    """

    id: str
    path: Path
    role: str = ""
    falls_s: float | None = None
    sigma_mm: float = 0.0
    sigma_deg: float = 0.0
    sure: bool = True
    late_s: float = 0.0
    front: float = 1.0
    field: FieldModel = FIELD
    base: BaseSize = BASE

    @property
    def jersey(self) -> Jersey:
        """The first part of the id."""
        return "dark" if self.id.startswith("dark") else "light"

    @property
    def player(self) -> Player:
        """Its roster entry."""
        return Player(self.id, self.jersey, role=self.role)

    def figure(self, t_s: float) -> Figure:
        """Return the figure at an instant; after a fall it lies where it fell."""
        x_yd, y_yd, heading = self.path(t_s if self.falls_s is None else min(t_s, self.falls_s))
        reported = self.falls_s is not None and t_s >= self.falls_s + self.late_s
        x_mm, y_mm = x_yd * self.field.mm_per_yd_x, y_yd * self.field.mm_per_yd_y
        return Figure(
            self.id,
            self.jersey,
            x_mm,
            y_mm,
            heading,
            self.base.length_mm,
            self.base.width_mm,
            self.base.corner_mm,
            "fallen" if reported else "upright",
            (self.sigma_mm, self.sigma_mm),
            self.sigma_deg,
            1.0,
            (x_mm, y_mm),
            self.sure,
            round(1e9 * self.falls_s) if reported and self.falls_s is not None and self.late_s else None,
            self.front,
        )


def stands(x_yd: float, y_yd: float | None = None, heading: float = 180.0, *, field: FieldModel = FIELD) -> Path:
    """Return the path of a figure that stays where it is, by default in the middle across the field."""
    across = field.width_yd / 2 if y_yd is None else y_yd
    return lambda _t: (x_yd, across, heading)


@dataclass(frozen=True, slots=True)
class KeyFrame:
    """Where a figure is at one instant.

    Attributes:
        t_s: when, seconds.
        x_yd, y_yd: where, field yards along x of the board and across.
        heading_deg: where it faces; None for the way it goes from here to the next key frame.
    """

    t_s: float
    x_yd: float
    y_yd: float
    heading_deg: float | None = None


def along(*frames: KeyFrame, field: FieldModel = FIELD) -> Path:
    """Return the path through key frames, straight and evenly from each to the next; still before and after them.

    Raises:
        InputError: there is no key frame, or their times do not increase.
    """
    times = [frame.t_s for frame in frames]
    if not frames or any(later <= earlier for earlier, later in itertools.pairwise(times)):
        raise InputError("A path needs key frames, each later than the one before it.")
    headings = _headings(frames, field)

    def path(t_s: float) -> tuple[float, float, float]:
        place = bisect.bisect_right(times, t_s) - 1
        if place < 0 or place == len(frames) - 1:
            frame = frames[max(place, 0)]
            return frame.x_yd, frame.y_yd, headings[max(place, 0)]
        a, b = frames[place], frames[place + 1]
        share = (t_s - a.t_s) / (b.t_s - a.t_s)
        turn = wrap_deg(headings[place + 1] - headings[place]) if b.heading_deg is not None else 0.0
        heading = wrap_deg(headings[place] + share * turn)
        return a.x_yd + share * (b.x_yd - a.x_yd), a.y_yd + share * (b.y_yd - a.y_yd), heading

    return path


def _headings(frames: Sequence[KeyFrame], field: FieldModel) -> list[float]:
    """Return the heading at each key frame: given, else of the way to the next one, else as before."""
    headings: list[float] = []
    for place, frame in enumerate(frames):
        following = frames[place + 1] if place + 1 < len(frames) else frame
        x_mm = (following.x_yd - frame.x_yd) * field.mm_per_yd_x
        y_mm = (following.y_yd - frame.y_yd) * field.mm_per_yd_y
        if frame.heading_deg is not None:
            headings.append(frame.heading_deg)
        elif x_mm or y_mm:
            headings.append(math.degrees(math.atan2(y_mm, x_mm)))
        else:
            headings.append(headings[-1] if headings else 0.0)
    return headings


def runs(
    x_yd: float,
    y_yd: float | None = None,
    speed: float = 10.0,
    heading: float = 0.0,
    *,
    start_s: float = 0.5,
    stop_s: float = math.inf,
    facing: float | None = None,
    field: FieldModel = FIELD,
) -> Path:
    """Return the path of a figure that runs straight, at a speed in yards per second along x."""
    start_yd = field.width_yd / 2 if y_yd is None else y_yd

    def path(t_s: float) -> tuple[float, float, float]:
        gone = max(0.0, min(t_s, stop_s) - start_s) * speed
        turn = math.radians(heading)
        across = gone * math.sin(turn) * field.mm_per_yd_x / field.mm_per_yd_y
        return x_yd + gone * math.cos(turn), start_yd + across, heading if facing is None else facing

    return path


@dataclass(frozen=True, repr=False)
class Film:
    """A filmed play.

    Attributes:
        scenes: its frames.
        players: one for each scripted figure.
    """

    scenes: tuple[Scene, ...]
    players: tuple[Player, ...]

    def __repr__(self) -> str:
        first, last = self.scenes[0].figures, self.scenes[-1].figures
        paths = (
            f"{a.id} {a.x_mm:.1f},{a.y_mm:.1f} to {b.x_mm:.1f},{b.y_mm:.1f}" for a, b in zip(first, last, strict=True)
        )
        return f"Film({'; '.join(paths)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        printer.text(repr(self))


def film(
    scripted: Sequence[ScriptedFigure],
    seconds: float = 3.0,
    on: Sequence[tuple[float, float]] = ((0.5, 99.0),),
    ball: Callable[[float], Ball | None] = lambda _t: None,
    *,
    sigma_gap_mm: float = 0.0,
    fps: int = FPS,
    phase: float = 0.0,
) -> Film:
    """Return scenes of figures on their paths, with contacts, the faces that meet, and the instants they began.

    Args:
        scripted: the figures, each on a path of its own.
        seconds: length of the film, from time 0.
        on: when the board runs: pairs of times in seconds.
        ball: the magnetic ball at a time in seconds; None for none.
        sigma_gap_mm: the error that gaps are reported with; 0 for exact ones.
        fps: scenes a second.
        phase: by what part of a frame the first scene comes after time 0.
    """
    scenes: list[Scene] = []
    since: dict[tuple[str, str], int] = {}
    before: dict[tuple[str, str], tuple[int, float]] = {}
    for frame in range(round(seconds * fps)):
        t_ns = round((frame + phase) / fps * 1e9)
        t_s = t_ns / 1e9
        figures = tuple(figure.figure(t_s) for figure in scripted)
        contacts = _contacts(figures, t_ns, since, before, sigma_gap_mm)
        power: Power = "on" if any(low <= t_s < high for low, high in on) else "off"
        scenes.append(Scene(frame, t_ns, power, figures, contacts, ball(t_s)))
    return Film(tuple(scenes), tuple(figure.player for figure in scripted))


def _contacts(
    figures: Sequence[Figure],
    t_ns: int,
    since: dict[tuple[str, str], int],
    before: dict[tuple[str, str], tuple[int, float]],
    sigma_mm: float,
) -> tuple[Contact, ...]:
    out = []
    for i, first in enumerate(figures):
        for second in figures[i + 1 :]:
            pair = (first.id, second.id)
            reach_mm = (_diagonal_mm(first) + _diagonal_mm(second)) / 2 + _LIMITS.followed_mm
            if math.hypot(first.x_mm - second.x_mm, first.y_mm - second.y_mm) > reach_mm:
                since.pop(pair, None)
                before.pop(pair, None)
                continue
            a, b = sorted((first, second), key=lambda figure: figure.id)
            gap = signed_gap(a.footprint, b.footprint)
            if gap.gap_mm <= 1e-9 and pair not in since:
                then_ns, then_mm = before.get(pair, (t_ns, 0.0))
                share = then_mm / (then_mm - gap.gap_mm) if then_mm > gap.gap_mm else 1.0
                since[pair] = then_ns + round((t_ns - then_ns) * share)
            elif gap.gap_mm > 1e-9:
                since.pop(pair, None)
            before[pair] = (t_ns, gap.gap_mm)
            if gap.gap_mm < _LIMITS.listed_mm:
                probability = (
                    0.5 * math.erfc(gap.gap_mm / sigma_mm / math.sqrt(2)) if sigma_mm else float(gap.gap_mm <= 1e-9)
                )
                out.append(
                    Contact(
                        a.id,
                        b.id,
                        gap.gap_mm,
                        sigma_mm,
                        probability,
                        gap.face_a,
                        gap.face_b,
                        gap.angle_deg,
                        gap.overlap_mm,
                        since.get(pair),
                    )
                )
    return tuple(out)


def _diagonal_mm(figure: Figure) -> float:
    return math.hypot(figure.length_mm, figure.width_mm)
