"""Plays built by hand for the tests of the referee: men on paths, filmed into scenes with exact contacts."""

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
        path: seconds to field yards and degrees.
        role: as the coach names it.
        falls_s: when he falls.
        sigma_mm, sigma_deg: error reported with him.
        sure: whether vision is sure who he is.
        late_s: how much later than he falls he is told to lie, then with the instant at which he fell.

    """

    id: str
    path: Path
    role: str = ""
    falls_s: float | None = None
    sigma_mm: float = 0.0
    sigma_deg: float = 0.0
    sure: bool = True
    late_s: float = 0.0

    @property
    def jersey(self) -> Jersey:
        """The first part of the id."""
        return "dark" if self.id.startswith("dark") else "light"

    @property
    def player(self) -> Player:
        """His roster entry."""
        return Player(self.id, self.jersey, role=self.role)

    def figure(self, t_s: float) -> Figure:
        """Where he is at an instant; after a fall he lies where he fell."""
        x_yd, y_yd, heading = self.path(t_s if self.falls_s is None else min(t_s, self.falls_s))
        told = self.falls_s is not None and t_s >= self.falls_s + self.late_s
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
            "fallen" if told else "upright",
            (self.sigma_mm, self.sigma_mm),
            self.sigma_deg,
            1.0,
            (x_mm, y_mm),
            self.sure,
            round(1e9 * self.falls_s) if told and self.falls_s is not None and self.late_s else None,
        )


def stands(x_yd: float, y_yd: float = MIDDLE_YD, heading: float = 180.0) -> Path:
    """A man who stays where he is."""
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
    """A man who runs straight, at a speed in yards along x per second."""

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
    men: Sequence[ScriptedFigure],
    seconds: float = 3.0,
    on: Sequence[tuple[float, float]] = ((0.5, 99.0),),
    ball: Callable[[float], Ball | None] = lambda _t: None,
    *,
    sigma_gap_mm: float = 0.0,
    fps: int = FPS,
) -> Film:
    """Film men on their paths; contacts, with their beginnings, are worked out exactly."""
    scenes: list[Scene] = []
    since: dict[tuple[str, str], int] = {}
    before: dict[tuple[str, str], tuple[int, float]] = {}
    for frame in range(round(seconds * fps)):
        t_ns = round(frame / fps * 1e9)
        t_s = t_ns / 1e9
        figures = tuple(man.figure(t_s) for man in men)
        contacts = _contacts(figures, t_ns, since, before, sigma_gap_mm)
        power = "on" if any(low <= t_s < high for low, high in on) else "off"
        scenes.append(Scene(frame, t_ns, "on" if power == "on" else "off", figures, contacts, ball(t_s)))
    return Film(tuple(scenes), tuple(man.player for man in men))


def _contacts(
    figures: Sequence[Figure],
    t_ns: int,
    since: dict[tuple[str, str], int],
    before: dict[tuple[str, str], tuple[int, float]],
    sigma_mm: float,
) -> tuple[Contact, ...]:
    out = []
    for i, one in enumerate(figures):
        for two in figures[i + 1 :]:
            if math.hypot(one.x_mm - two.x_mm, one.y_mm - two.y_mm) > 45.0:
                since.pop((one.id, two.id), None)
                continue
            a, b = sorted((one, two), key=lambda figure: figure.id)
            gap = signed_gap(a.footprint, b.footprint)
            pair = (one.id, two.id)
            if gap.gap_mm <= 1e-9 and pair not in since:
                then_ns, then_mm = before.get(pair, (t_ns, 0.0))
                share = then_mm / (then_mm - gap.gap_mm) if then_mm > gap.gap_mm else 1.0
                since[pair] = then_ns + round((t_ns - then_ns) * share)
            elif gap.gap_mm > 1e-9:
                since.pop(pair, None)
            before[pair] = (t_ns, gap.gap_mm)
            if gap.gap_mm < 5.0:
                likely = (
                    0.5 * math.erfc(gap.gap_mm / sigma_mm / math.sqrt(2)) if sigma_mm else float(gap.gap_mm <= 1e-9)
                )
                out.append(
                    Contact(
                        a.id,
                        b.id,
                        gap.gap_mm,
                        sigma_mm,
                        likely,
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
    """An event by the operator."""
    return Event(name, round(t_s * 1e9), "operator", body)


def number_events(*spoken: TimedEntry) -> tuple[Event, ...]:
    """Events in order, numbered."""
    return tuple(event(f"e{n}", t_s, body) for n, (t_s, body) in enumerate(spoken))


def in_order(film: Film, events: Sequence[Event]) -> list[Scene | Event]:
    """Events and scenes by time, an event before the scene of its instant."""
    both: list[Scene | Event] = [*events, *film.scenes]
    return sorted(both, key=lambda entry: entry.t_ns)


def opening(
    film: Film, carrier: str, *, line_yd: float = 40.0, down: int = 1, distance_yd: float = 10.0, direction: int = 1
) -> tuple[tuple[float, Declaration], ...]:
    """Everything declared before a snap at half a second."""
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
    """What a rulebook makes of a film, its carrier declared."""
    rulebook = load_rulebook(book) if isinstance(book, str) else book
    return judge_recording(film.scenes, number_events(*opening(film, carrier, **line), *more), rulebook, FIELD)  # type: ignore[arg-type]


def kinds(judgment: Judgment, *verdicts: str) -> list[str]:
    """The kinds of the calls made, those only reported left out unless asked for."""
    wanted = verdicts or ("called", "too_close", "proposed")
    return [call.kind for call in judgment.calls if call.verdict in wanted]


def only_call(judgment: Judgment, kind: str) -> Call:
    """The one call of a kind."""
    found = [call for call in judgment.calls if call.kind == kind]
    assert len(found) == 1, [call.text for call in judgment.calls]
    return found[0]


def shifted(film: Film, t_ns: int) -> Film:
    """A film at another time."""
    return replace(film, scenes=tuple(_shifted(scene, t_ns) for scene in film.scenes))


def _shifted(scene: Scene, t_ns: int) -> Scene:
    contacts = tuple(
        replace(one, since_ns=None if one.since_ns is None else one.since_ns + t_ns) for one in scene.contacts
    )
    figures = tuple(replace(one, fell_ns=None if one.fell_ns is None else one.fell_ns + t_ns) for one in scene.figures)
    return replace(scene, t_ns=scene.t_ns + t_ns, figures=figures, contacts=contacts)
