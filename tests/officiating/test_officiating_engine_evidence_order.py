"""Nothing is evidence of what came before it: possession, contacts, ties and hands, wherever the frames fall."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from phase_situations import (
    CORNER,
    END,
    HITTER,
    RATES,
    RUNNER,
    SITUATIONS,
    Situation,
    answer,
    at_a_loose_ball,
    at_a_pass,
    at_an_onside_kick,
    carried_by_a_hand,
    interceptor_beside_receiver,
    met_at_the_goal_line,
    met_at_the_sideline,
)
from scripted_plays import HALF_YD, ScriptedFigure, film, judge_play, kinds, only_call, runs, stands

from downfield.officiating.calls import Call, Finding
from downfield.officiating.declarations import Pitch, Roll
from downfield.officiating.events import Ruling
from downfield.officiating.params import Param, Params
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.rulebooks.tap.system import TAP
from downfield.officiating.state.facts import Facts
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import ImmediateRule

CLOSE = "too close"


@pytest.mark.parametrize("fps", RATES)
@pytest.mark.parametrize(
    ("situation", "expected"),
    [
        pytest.param(met_at_the_goal_line("tap", 0.03), CLOSE, id="slid over the goal line after the contact"),
        pytest.param(met_at_the_goal_line("efl", 0.03), CLOSE, id="the same under the EFL"),
        pytest.param(met_at_the_goal_line("tap", 0.4), f"tackle {HITTER}", id="surely short of it"),
        pytest.param(met_at_the_goal_line("tap", -0.4), f"touchdown {RUNNER}", id="surely over it"),
        pytest.param(met_at_the_sideline("tap", 0.2, 0.5), CLOSE, id="slid over the sideline after the contact"),
        pytest.param(at_a_pass(0.008, CORNER), f"reception {END}", id="together at a pass"),
        pytest.param(at_a_pass(0.04, CORNER), f"interception {CORNER}", id="a defender first at a pass"),
        pytest.param(at_an_onside_kick(0.008), CLOSE, id="together at an onside kick"),
        pytest.param(at_a_loose_ball(0.008), CLOSE, id="together at a loose ball"),
        pytest.param(at_a_loose_ball(0.06), "fumble_recovery dark-1", id="first at a loose ball"),
        pytest.param(carried_by_a_hand("tap"), "nothing", id="a hand carries the runner over the line"),
        pytest.param(carried_by_a_hand("tap", HITTER), "nothing", id="a hand puts a defender to the runner"),
    ],
)
def test_one_answer_wherever_the_frames_fall(situation: Situation, expected: str, fps: int) -> None:
    assert {answer(situation, fps, phase) for phase in (0.0, 0.4, 0.7)} == {expected}


def test_every_situation_of_the_benchmark_has_one_answer_or_is_too_close() -> None:
    for name, situation in SITUATIONS.items():
        given = {answer(situation, fps, phase) for fps, phase in ((20, 0.3), (60, 0.5))}
        assert len(given - {CLOSE}) <= 1, (name, given)


def test_a_contact_from_before_the_catch_is_a_tackle_at_the_catch_where_he_is_then() -> None:
    made = interceptor_beside_receiver().judge(60, 0.25)
    caught, tackle = only_call(made, "interception"), only_call(made, "tackle")
    assert tackle.t_ns == caught.t_ns == pytest.approx(2.4e9, abs=2e6)
    assert tackle.spot_yd == pytest.approx(caught.spot_yd, abs=0.05)
    assert tackle.t_sigma_s == caught.t_sigma_s > 0.0
    assert (made.state.offense, made.state.down) == ("away", 1)


@pytest.mark.parametrize("fps", [60, 120])
def test_a_contact_that_lasts_a_moment_after_the_catch_is_a_tackle(fps: int) -> None:
    """Who has the ball is known only once a rival would have been seen; the frames until then are looked at again."""
    assert "tackle" in kinds(interceptor_beside_receiver(2.42).judge(fps, 0.25))


def test_a_contact_that_ended_before_the_catch_is_no_tackle() -> None:
    assert "tackle" not in kinds(interceptor_beside_receiver(2.2).judge(60, 0.25))


@dataclass(frozen=True, slots=True)
class EarlyTackle(ImmediateRule):
    """A rule of another author that dates a tackle by the contact alone."""

    clauses: tuple[str, ...] = ()
    id: str = "early_tackle"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:  # noqa: ARG002
        """Find a tackle a second before this frame."""
        if facts.carrier is None or facts.carrier.id != CORNER:
            return ()
        spot = (1.0, 1.0)
        return (Finding(self.id, "tackle", facts.t_ns - 1_000_000_000, "early", (), "k", (CORNER, END), spot_yd=spot),)


def test_the_engine_dates_what_an_installed_rule_finds_by_possession() -> None:
    others = tuple(rule for rule in TAP.rules if rule.id not in {"tackle", "down_by_fall"})
    book = Rulebook("theirs", "", replace(TAP, rules=(*others, EarlyTackle())), policies={})
    made = interceptor_beside_receiver(book=book).judge(60, 0.25)
    assert only_call(made, "tackle").t_ns == only_call(made, "interception").t_ns
    assert only_call(made, "tackle").spot_yd == pytest.approx(only_call(made, "interception").spot_yd, abs=0.05)


def test_a_crossing_after_a_tackle_that_is_broken_counts() -> None:
    met = 100 - HALF_YD - 0.05
    men = [
        ScriptedFigure(RUNNER, runs(95, stop_s=1.5), "RB", sigma_mm=0.5),
        ScriptedFigure(HITTER, stands(met + 2 * HALF_YD, heading=180), "LB", falls_s=0.5 + (met - 95) / 10 + 0.1),
    ]
    made = judge_play(film(men, 4.0), RUNNER, line_yd=94.0)
    assert "broken_tackle" in kinds(made)
    assert made.state.score == (6, 0)


@pytest.mark.parametrize("book", ["efl", "lions-den"])
def test_a_contact_from_before_an_interception_that_is_told_is_a_tackle_at_the_interception(book: str) -> None:
    """The camera sees two men together from 1.0 s on; a person tells at 2.4 s that the defender has the ball."""
    apart = HALF_YD * 2

    def corner(t_s: float) -> tuple[float, float, float]:
        return 60.0 - 5.0 * max(0.0, t_s - 1.0), 30.0, 180.0

    def end(t_s: float) -> tuple[float, float, float]:
        return corner(t_s)[0] - apart - max(0.0, 1.0 - t_s) * 5.0, 30.0, 0.0

    men = [
        ScriptedFigure("dark-10", stands(34.0, heading=0.0), "QB"),
        ScriptedFigure(END, end, "WR"),
        ScriptedFigure(CORNER, corner, "DB"),
    ]
    caught = Call("", "interception", 2_400_000_000, "", (), "called", "", (CORNER,), (53.0, 30.0), side="away")
    made = judge_play(film(men, 4.0), "dark-10", (2.4, Ruling("", "manual", caught)), book=book)
    tackle = only_call(made, "tackle")
    assert tackle.t_ns == 2_400_000_000
    assert tackle.spot_yd is not None
    assert tackle.spot_yd[0] == pytest.approx(60.0 - 5.0 * 1.4 - HALF_YD, abs=0.1)
    assert (made.state.offense, made.state.down) == ("away", 1)


def test_a_contact_from_before_a_pitch_is_a_tackle_at_the_pitch() -> None:
    men = [
        ScriptedFigure("dark-10", stands(34.0, heading=0.0), "QB"),
        ScriptedFigure(RUNNER, runs(30.0, 30.0, 2.0, start_s=0.0), "RB"),
        ScriptedFigure(HITTER, runs(30.0 + 2 * HALF_YD, 30.0, 2.0, start_s=0.0, facing=180.0), "LB"),
    ]
    rated = tuple((0.05, Roll((4, 5), f"quarterback_{n}", "home")) for n in (1, 2, 3))
    made = judge_play(film(men, 3.0), "dark-10", *rated, (1.2, Pitch(RUNNER)), (1.3, Roll((1,))), book="lions-den")
    assert made.refused == ()
    assert only_call(made, "tackle").t_ns == 1_300_000_000
