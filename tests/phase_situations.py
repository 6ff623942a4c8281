"""Situations at an instant between frames, filmed at any rate and from any part of a frame on, and what is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from scripted_plays import FIELD, HALF_YD, MIDDLE_YD, Path, ScriptedFigure, film, judge_play, number_events, stands

from downfield.core.scene import Ball
from downfield.officiating.declarations import Declaration, KickDeclared, LineUpDeclared, PassDeclared, Roll, SetUp
from downfield.officiating.engine.recording import Judgment, judge_recording
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook

RUNNER, HITTER, QB, END, CORNER = "dark-22", "light-50", "dark-10", "dark-80", "light-21"
RATES: Final = (20, 30, 60, 120)
PHASES: Final = 12
SNAP, STOP, THROW = 0.5, 1.0, 2.0
DECISIVE: Final = frozenset(
    {
        "tackle",
        "touchdown",
        "out_of_bounds",
        "interception",
        "reception",
        "kick",
        "fumble_recovery",
        "safety",
        "touchback",
    }
)

Judge = Callable[[int, float], Judgment]


@dataclass(frozen=True)
class Situation:
    """A situation.

    Attributes:
        judge: judges it at a rate and from a part of a frame on.
        kinds: of the calls that decide it.
    """

    judge: Judge
    kinds: frozenset[str] = DECISIVE


def answer(situation: Situation, fps: int, phase: float) -> str:
    """Return what is called of a situation: who or what, or that it is too close."""
    made = situation.judge(fps, phase)
    decided = [call for call in made.calls if call.kind in situation.kinds and call.verdict in {"called", "too_close"}]
    if any(call.verdict == "too_close" for call in decided):
        return "too close"
    return ", ".join(f"{call.kind} {call.players[-1] if call.players else ''}".strip() for call in decided) or "nothing"


def answers(situation: Situation) -> dict[str, int]:
    """Return how often each answer is given over all rates and parts of a frame."""
    counted: dict[str, int] = {}
    for fps in RATES:
        for phase in range(PHASES):
            given = answer(situation, fps, phase / PHASES)
            counted[given] = counted.get(given, 0) + 1
    return counted


def pushed_on(front_yd: float, speed: float = 10.0, push: float = 2.0) -> tuple[Path, Path]:
    """Return a runner whose front is at a place as a defender meets him, and the defender; both slide on over it."""
    met_s = 1.0
    center = front_yd - HALF_YD

    def runner(t_s: float) -> tuple[float, float, float]:
        gone = min(t_s, met_s) - met_s
        return center + gone * speed + max(0.0, min(t_s, 1.4) - met_s) * push, MIDDLE_YD, 0.0

    def hitter(t_s: float) -> tuple[float, float, float]:
        x_yd, y_yd, _ = runner(max(t_s, met_s))
        return x_yd + 2 * HALF_YD + max(0.0, met_s - t_s) * 4.0, y_yd, 180.0

    return runner, hitter


def met_at_the_goal_line(book: str, short_yd: float, sigma_yd: float = 0.1, off_yd: float = 0.0) -> Situation:
    """A runner met so far short of the goal line, before both slide over it, seen off by an error."""

    def judge(fps: int, phase: float) -> Judgment:
        runner, hitter = pushed_on(100.0 - short_yd + off_yd)
        sigma_mm = sigma_yd * FIELD.mm_per_yd_x
        men = [
            ScriptedFigure(RUNNER, runner, "RB", sigma_mm=sigma_mm),
            ScriptedFigure(HITTER, hitter, "LB", sigma_mm=sigma_mm),
        ]
        play = film(men, 3.0, fps=fps, phase=phase, ball=_carried(runner, sigma_mm))
        return judge_play(play, RUNNER, book=book, line_yd=95.0, down=1, distance_yd=5)

    return Situation(judge, frozenset({"tackle", "touchdown"}))


def _carried(path: Path, sigma_mm: float) -> Callable[[float], Ball]:
    def ball(t_s: float) -> Ball:
        x_yd, y_yd, _ = path(t_s)
        return Ball("carried", (x_yd + HALF_YD) * FIELD.mm_per_yd_x, y_yd * FIELD.mm_per_yd_y, RUNNER, sigma_mm)

    return ball


def met_at_the_sideline(book: str, short_mm: float, sigma_mm: float) -> Situation:
    """A runner met so far inside the sideline, before both slide over it."""

    def judge(fps: int, phase: float) -> Judgment:
        side_yd = (9.0 + short_mm) / FIELD.mm_per_yd_y
        met_s = 1.0

        def runner(t_s: float) -> tuple[float, float, float]:
            y_yd = side_yd + max(0.0, met_s - t_s) * 3.0 - max(0.0, min(t_s, 1.4) - met_s) * 2.0
            return 45.0 + min(t_s, met_s) * 5.0, y_yd, 0.0

        def hitter(t_s: float) -> tuple[float, float, float]:
            x_yd, y_yd, _ = runner(max(t_s, met_s))
            return x_yd + 2 * HALF_YD + max(0.0, met_s - t_s) * 8.0, y_yd, 180.0

        men = [
            ScriptedFigure(RUNNER, runner, "RB", sigma_mm=sigma_mm),
            ScriptedFigure(HITTER, hitter, "LB", sigma_mm=sigma_mm),
        ]
        return judge_play(film(men, 3.0, fps=fps, phase=phase), RUNNER, book=book, line_yd=40.0)

    return Situation(judge, frozenset({"tackle", "out_of_bounds"}))


def at_a_pass(later_s: float, first: str = CORNER) -> Situation:
    """A receiver and a defender who reach the ball so shortly after one another."""

    def judge(fps: int, phase: float) -> Judgment:
        reach = (HALF_YD * FIELD.mm_per_yd_x + 5.0) / FIELD.mm_per_yd_x
        touch_s = 3.0

        def reaching(side: int, at_s: float) -> Path:
            return lambda t_s: (
                55.0 - side * (reach + (at_s - max(t_s, THROW)) * 5.0),
                40.0,
                0.0 if side > 0 else 180.0,
            )

        late = touch_s + later_s
        men = [
            ScriptedFigure(QB, stands(34.0, heading=0.0), "QB"),
            ScriptedFigure(END, reaching(1, touch_s if first == END else late), "WR"),
            ScriptedFigure(CORNER, reaching(-1, touch_s if first == CORNER else late), "DB"),
        ]
        ball = Ball("magnetic", 55.0 * FIELD.mm_per_yd_x, 40.0 * FIELD.mm_per_yd_y)
        play = film(
            men,
            3.4,
            on=((SNAP, STOP), (THROW, 99.0)),
            ball=lambda t_s: ball if t_s >= 1.5 else None,
            fps=fps,
            phase=phase,
        )
        return judge_play(play, QB, (1.2, PassDeclared(END)))

    return Situation(judge, frozenset({"reception", "interception"}))


def at_an_onside_kick(later_s: float) -> Situation:
    """One of each side who reach an onside kick so shortly after one another, the receivers first."""

    def judge(fps: int, phase: float) -> Judgment:
        reach = (HALF_YD * FIELD.mm_per_yd_x + 5.0) / FIELD.mm_per_yd_x
        spot = 58.0  # away kicks from its 30, which is at 70, and rolls a twelve: its 42

        def reaching(side: int, at_s: float) -> Path:
            return lambda t_s: (
                spot - side * (reach + max(0.0, at_s - t_s) * 5.0),
                MIDDLE_YD,
                0.0 if side > 0 else 180.0,
            )

        men = [
            ScriptedFigure("dark-1", reaching(1, 1.5), "WR"),
            ScriptedFigure("light-1", reaching(-1, 1.5 + later_s), "K"),
        ]
        ball = Ball("magnetic", spot * FIELD.mm_per_yd_x, MIDDLE_YD * FIELD.mm_per_yd_y)
        play = film(men, 2.5, on=((0.9, 99.0),), ball=lambda _t: ball, fps=fps, phase=phase)
        events: tuple[tuple[float, Declaration], ...] = (
            (0.0, SetUp("home", 1, score=(7, 0), due="kickoff")),
            (0.0, LineUpDeclared(play.players, "dark")),
            (0.2, KickDeclared("onside")),
            (0.3, Roll((6, 6), "onside_length")),
            (0.4, Roll((3, 4), "onside_place")),
        )
        return judge_recording(play.scenes, number_events(*events), load_rulebook("tap"), FIELD)

    return Situation(judge, frozenset({"kick"}))


def at_a_loose_ball(later_s: float) -> Situation:
    """One of each side who reach a fumble so shortly after one another (Lion's Den)."""

    def judge(fps: int, phase: float) -> Judgment:
        reach = (HALF_YD * FIELD.mm_per_yd_x + 5.0) / FIELD.mm_per_yd_x

        def reaching(side: int, at_s: float) -> Path:
            return lambda t_s: (
                50.0 - side * (reach + max(0.0, at_s - max(t_s, THROW)) * 5.0),
                30.0,
                0.0 if side > 0 else 180.0,
            )

        men = [
            ScriptedFigure(RUNNER, stands(45.0, 10.0, heading=0.0), "RB"),
            ScriptedFigure("dark-1", reaching(1, 3.0), "WR"),
            ScriptedFigure("light-1", reaching(-1, 3.0 + later_s), "LB"),
        ]
        held = Ball("carried", 45.5 * FIELD.mm_per_yd_x, 10.0 * FIELD.mm_per_yd_y, RUNNER)
        loose = Ball("loose", 50.0 * FIELD.mm_per_yd_x, 30.0 * FIELD.mm_per_yd_y)
        play = film(
            men,
            3.5,
            on=((SNAP, 1.0), (THROW, 99.0)),
            ball=lambda t_s: loose if t_s >= 0.8 else held,
            fps=fps,
            phase=phase,
        )
        return judge_play(play, RUNNER, book="lions-den")

    return Situation(judge, frozenset({"fumble_recovery"}))


def interceptor_beside_receiver(gap_ended_s: float | None = None, *, book: str | Rulebook = "tap") -> Situation:
    """A defender runs in contact with the receiver from 1.99 s on and touches the ball at 2.40 s."""

    def judge(fps: int, phase: float) -> Judgment:
        reach = (HALF_YD * FIELD.mm_per_yd_x + 5.0) / FIELD.mm_per_yd_x
        speed, touch_s, beside = 14.0, 2.4, 18.0 / FIELD.mm_per_yd_y

        def corner(t_s: float) -> tuple[float, float, float]:
            return 55.0 + reach + speed * (touch_s - min(max(t_s, 1.7), 2.6)), 40.0, 180.0

        def end(t_s: float) -> tuple[float, float, float]:
            x_yd, y_yd, _ = corner(t_s)
            apart = max(0.0, 1.99 - t_s) * 10.0
            if gap_ended_s is not None:
                apart += max(0.0, t_s - gap_ended_s) * 10.0
            return x_yd + 0.2, y_yd + beside + apart, 180.0

        men = [
            ScriptedFigure(QB, stands(34.0, heading=0.0), "QB"),
            ScriptedFigure(END, end, "WR"),
            ScriptedFigure(CORNER, corner, "DB"),
        ]
        ball = Ball("magnetic", 55.0 * FIELD.mm_per_yd_x, 40.0 * FIELD.mm_per_yd_y)
        play = film(
            men,
            3.6,
            on=((SNAP, STOP), (1.7, 99.0)),
            ball=lambda t_s: ball if t_s >= 1.5 else None,
            fps=fps,
            phase=phase,
        )
        return judge_play(play, QB, (1.2, PassDeclared(END)), book=book)

    return Situation(judge, frozenset({"tackle", "interception"}))


def carried_by_a_hand(book: str, mover: str = RUNNER) -> Situation:
    """A hand lifts a runner over the goal line, or a defender into him."""

    def judge(fps: int, phase: float) -> Judgment:
        def runner(t_s: float) -> tuple[float, float, float]:
            x_yd = 90.0 + (0.0 if t_s < 1.5 or mover != RUNNER else min(t_s - 1.5, 1.0) * 12.0)
            return x_yd, MIDDLE_YD, 0.0

        def hitter(t_s: float) -> tuple[float, float, float]:
            far = 6.0 if t_s < 1.5 else max(0.0, 2.5 - t_s) * 6.0
            return 90.0 + 2 * HALF_YD + (6.0 if mover == RUNNER else far), MIDDLE_YD, 180.0

        men = [ScriptedFigure(RUNNER, runner, "RB"), ScriptedFigure(HITTER, hitter, "LB")]
        play = film(men, 4.0, fps=fps, phase=phase)
        scenes = tuple(
            replace(
                scene,
                figures=tuple(
                    replace(one, posture="lifted") if one.id == mover and 1.5e9 <= scene.t_ns < 2.5e9 else one
                    for one in scene.figures
                ),
            )
            for scene in play.scenes
        )
        return judge_play(replace(play, scenes=scenes), RUNNER, book=book, line_yd=88.0)

    return Situation(judge, frozenset({"tackle", "touchdown"}))


SITUATIONS: Final[Mapping[str, Situation]] = {
    **{f"{book}: met {short:+.2f} yd short of the goal line": met_at_the_goal_line(book, short)
       for book in ("tap", "efl", "lions-den") for short in (0.4, 0.03, -0.4)},
    **{f"{book}: met {short:+.1f} mm inside the sideline": met_at_the_sideline(book, short, 0.5)
       for book in ("tap", "efl") for short in (2.0, 0.2, -2.0)},
    **{f"pass: {first} first by {late * 1e3:g} ms": at_a_pass(late, first)
       for first in (CORNER, END) for late in (0.0, 0.008, 0.04)},
    **{f"onside kick: by {late * 1e3:g} ms": at_an_onside_kick(late) for late in (0.0, 0.008, 0.06)},
    **{f"loose ball: by {late * 1e3:g} ms": at_a_loose_ball(late) for late in (0.0, 0.008, 0.06)},
    "an interceptor beside the receiver": interceptor_beside_receiver(),
    "an interceptor who was beside the receiver": interceptor_beside_receiver(2.2),
    **{f"{book}: a hand moves {mover}": carried_by_a_hand(book, mover)
       for book in ("tap", "efl", "lions-den") for mover in (RUNNER, HITTER)},
}  # fmt: skip
"""Situations by name."""
