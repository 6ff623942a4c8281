"""Plays written by hand for the officiating tests, and helpers to judge them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from downfield.core.scene import Scene
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Carrier, Declaration, LineUpDeclared, OffenseSet, SetUp
from downfield.officiating.engine.recording import Judgment, judge_recording
from downfield.officiating.events import Event, Ruling, Tick
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.officiating.scenes import BASE as BASE
from downfield.officiating.scenes import FIELD as FIELD
from downfield.officiating.scenes import FPS as FPS
from downfield.officiating.scenes import Film as Film
from downfield.officiating.scenes import Path as Path
from downfield.officiating.scenes import ScriptedFigure as ScriptedFigure
from downfield.officiating.scenes import film as film
from downfield.officiating.scenes import runs as runs
from downfield.officiating.scenes import stands as stands

MIDDLE_YD = FIELD.width_yd / 2
HALF_YD = BASE.length_mm / 2 / FIELD.mm_per_yd_x
"""From a base's center to its front, in yards along the field."""

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
