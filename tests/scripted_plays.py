"""Plays written by hand for the officiating tests: figures on paths, filmed into scenes with exact contacts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from downfield.core.field import preset
from downfield.core.footprint import BaseSize, signed_gap
from downfield.core.scene import Ball, Contact, Figure, Jersey, Player, Scene
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Carrier, Declaration, LineUpDeclared, OffenseSet, SetUp
from downfield.officiating.engine.replay import Judgment, judge_recording
from downfield.officiating.events import Event, Ruling, Tick
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook

FIELD = preset("ultimate")
FPS = 60
BASE = BaseSize()
MIDDLE_YD = FIELD.width_yd / 2
HALF_YD = BASE.length_mm / 2 / FIELD.mm_per_yd_x
"""From a base's center to its front, in yards along the field."""

Path = Callable[[float], tuple[float, float, float]]


@dataclass(frozen=True)
class ScriptedFigure:
    """A figure on a path.

    Attributes:
        id: roster id.
        path: from seconds to field yards and heading in degrees.
        role: as the coach names it.
        falls_s: when the figure falls.
        sigma_mm, sigma_deg: error reported with the figure.
        sure: whether vision is sure which figure it is.
        late_s: how much later than it happens the fall is reported, then with its time.
        front: probability reported that the heading points to the front.

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
        x_mm, y_mm = x_yd * FIELD.mm_per_yd_x, y_yd * FIELD.mm_per_yd_y
        return Figure(
            self.id,
            self.jersey,
            x_mm,
            y_mm,
            heading,
            BASE.length_mm,
            BASE.width_mm,
            BASE.corner_mm,
            "fallen" if reported else "upright",
            (self.sigma_mm, self.sigma_mm),
            self.sigma_deg,
            1.0,
            (x_mm, y_mm),
            self.sure,
            round(1e9 * self.falls_s) if reported and self.falls_s is not None and self.late_s else None,
            self.front,
        )


def stands(x_yd: float, y_yd: float = MIDDLE_YD, heading: float = 180.0) -> Path:
    """Return the path of a figure that stays where it is."""
    return lambda _t: (x_yd, y_yd, heading)


def runs(
    x_yd: float,
    y_yd: float = MIDDLE_YD,
    speed: float = 10.0,
    heading: float = 0.0,
    *,
    start_s: float = 0.5,
    stop_s: float = math.inf,
    facing: float | None = None,
) -> Path:
    """Return the path of a figure that runs straight, at a speed in yards per second along x."""

    def path(t_s: float) -> tuple[float, float, float]:
        gone = max(0.0, min(t_s, stop_s) - start_s) * speed
        turn = math.radians(heading)
        across = gone * math.sin(turn) * FIELD.mm_per_yd_x / FIELD.mm_per_yd_y
        return x_yd + gone * math.cos(turn), y_yd + across, heading if facing is None else facing

    return path


@dataclass(frozen=True, repr=False)
class Film:
    """A filmed play.

    Attributes:
        scenes: its frames.
        players: the roster.

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
) -> Film:
    """Film figures on their paths; contacts and the times they began are exact."""
    scenes: list[Scene] = []
    since: dict[tuple[str, str], int] = {}
    before: dict[tuple[str, str], tuple[int, float]] = {}
    for frame in range(round(seconds * fps)):
        t_ns = round(frame / fps * 1e9)
        t_s = t_ns / 1e9
        figures = tuple(figure.figure(t_s) for figure in scripted)
        contacts = _contacts(figures, t_ns, since, before, sigma_gap_mm)
        power = "on" if any(low <= t_s < high for low, high in on) else "off"
        scenes.append(Scene(frame, t_ns, "on" if power == "on" else "off", figures, contacts, ball(t_s)))
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
            if math.hypot(first.x_mm - second.x_mm, first.y_mm - second.y_mm) > 45.0:
                since.pop((first.id, second.id), None)
                continue
            a, b = sorted((first, second), key=lambda figure: figure.id)
            gap = signed_gap(a.footprint, b.footprint)
            pair = (first.id, second.id)
            if gap.gap_mm <= 1e-9 and pair not in since:
                then_ns, then_mm = before.get(pair, (t_ns, 0.0))
                share = then_mm / (then_mm - gap.gap_mm) if then_mm > gap.gap_mm else 1.0
                since[pair] = then_ns + round((t_ns - then_ns) * share)
            elif gap.gap_mm > 1e-9:
                since.pop(pair, None)
            before[pair] = (t_ns, gap.gap_mm)
            if gap.gap_mm < 5.0:
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


TimedEntry = tuple[float, Declaration | Ruling | Tick]


def event(name: str, t_s: float, body: Declaration | Ruling | Tick) -> Event:
    """Return an event entered by the operator."""
    return Event(name, round(t_s * 1e9), "operator", body)


def number_events(*entries: TimedEntry) -> tuple[Event, ...]:
    """Return events numbered in their order."""
    return tuple(event(f"e{n}", t_s, body) for n, (t_s, body) in enumerate(entries))


def in_order(film: Film, events: Sequence[Event]) -> list[Scene | Event]:
    """Return events and scenes in order of time, an event before the scene of its instant."""
    both: list[Scene | Event] = [*events, *film.scenes]
    return sorted(both, key=lambda entry: entry.t_ns)


def opening(
    film: Film, carrier: str, *, line_yd: float = 40.0, down: int = 1, distance_yd: float = 10.0, direction: int = 1
) -> tuple[tuple[float, Declaration], ...]:
    """Return the declarations before a snap at half a second."""
    return (
        (0.0, SetUp("home", 1 if direction > 0 else -1, line_yd, down, distance_yd)),
        (0.0, LineUpDeclared(film.players, "dark")),
        (0.1, OffenseSet()),
        (0.2, Carrier(carrier)),
    )


def judge_play(
    film: Film,
    carrier: str,
    *more: tuple[float, Declaration | Ruling | Tick],
    book: str | Rulebook = "tap",
    **line: float,
) -> Judgment:
    """Judge a film under a rulebook, its carrier declared."""
    rulebook = load_rulebook(book) if isinstance(book, str) else book
    return judge_recording(film.scenes, number_events(*opening(film, carrier, **line), *more), rulebook, FIELD)  # type: ignore[arg-type]


def kinds(judgment: Judgment, *verdicts: str) -> list[str]:
    """Return the kinds of the calls, by default without those that are only reported."""
    wanted = verdicts or ("called", "too_close", "proposed")
    return [call.kind for call in judgment.calls if call.verdict in wanted]


def only_call(judgment: Judgment, kind: str) -> Call:
    """Return the only call of a kind."""
    found = [call for call in judgment.calls if call.kind == kind]
    assert len(found) == 1, [call.text for call in judgment.calls]
    return found[0]


def shifted(film: Film, t_ns: int) -> Film:
    """Return a film moved in time."""
    return replace(film, scenes=tuple(_shifted(scene, t_ns) for scene in film.scenes))


def _shifted(scene: Scene, t_ns: int) -> Scene:
    contacts = tuple(
        replace(contact, since_ns=None if contact.since_ns is None else contact.since_ns + t_ns)
        for contact in scene.contacts
    )
    figures = tuple(
        replace(figure, fell_ns=None if figure.fell_ns is None else figure.fell_ns + t_ns) for figure in scene.figures
    )
    return replace(scene, t_ns=scene.t_ns + t_ns, figures=figures, contacts=contacts)
