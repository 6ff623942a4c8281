"""A call that rests on which end of a base is the front is no surer than the front; other calls do not mind."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lineups import BASE as LINE_UP_BASE
from lineups import FIELD as LINE_UP_FIELD
from lineups import figure as base_at
from scripted_plays import FIELD, HALF_YD, Film, ScriptedFigure, film, judge_play, kinds, only_call, runs, stands

from downfield.core.footprint import signed_gap
from downfield.core.scene import OPPOSITE_FACE, Figure, Player, Scene
from downfield.officiating.belief import believe
from downfield.officiating.checks.movement import find_pose_changes
from downfield.officiating.checks.pivots import StoppageChanges, engaged_pivots, pivots_toward
from downfield.officiating.engine.recording import Judgment
from downfield.officiating.params import Params
from downfield.officiating.rulebooks.lions_den.system import LIONS_DEN
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.rulebooks.tap.system import TAP
from downfield.officiating.state.facts import Facts
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.over_fronts import facts_as_of, over_fronts
from downfield.officiating.state.play_state import poses_of

RUNNER, PASSER, HITTER = "dark-22", "dark-7", "light-50"
UNCERTAIN = 0.7
STRICT = Rulebook("strict", "Strict", TAP, {"tackle.faces": ["front", "corner"]})
STOP_S = 0.5 + (9 - 2 * HALF_YD) / 10 + 0.02


def head_on(hitter_front: float, runner_front: float = 1.0, heading: float = 180.0) -> Film:
    """A runner into a standing defender who faces him, or not, as surely as given."""
    runner = ScriptedFigure(RUNNER, runs(41, stop_s=STOP_S), "RB", front=runner_front)
    return film([runner, ScriptedFigure(HITTER, stands(50, heading=heading), "LB", front=hitter_front)], 2.0)


def tackles(judgment: Judgment) -> list[tuple[str, float]]:
    """Verdicts and probabilities of the tackles, proposed or called."""
    return [(call.verdict, round(call.probability, 3)) for call in judgment.calls if call.kind == "tackle"]


@pytest.mark.parametrize(
    ("hitter_front", "runner_front", "heading", "expected"),
    [
        (1.0, 1.0, 180.0, [("called", 1.0)]),
        (0.7, 1.0, 180.0, [("too_close", 0.7)]),
        (0.99, 0.99, 180.0, [("called", 0.99)]),  # from the front or from behind: the runner's end does not matter
        (1.0, 1.0, 0.0, []),
        (0.7, 1.0, 0.0, [("too_close", 0.3)]),
        (0.98, 1.0, 0.0, []),
    ],
)
def test_a_square_hit_is_as_sure_as_the_fronts_that_make_it_one(
    hitter_front: float, runner_front: float, heading: float, expected: list[tuple[str, float]]
) -> None:
    assert tackles(judge_play(head_on(hitter_front, runner_front, heading), RUNNER, book="efl")) == expected


def test_a_hit_too_close_for_its_front_says_so_and_is_no_slipped_tackle() -> None:
    judgment = judge_play(head_on(UNCERTAIN, heading=0.0), RUNNER, book="efl")
    call = only_call(judgment, "tackle")
    assert "not sure which end is the front (30 %)" in call.words
    assert {reading.kind for reading in call.readings} == {"tackle", "slipped_tackle"}
    assert "front to front" in call.text
    assert "slipped_tackle" not in kinds(judgment)


def test_any_touch_that_tackles_by_whatever_face_is_as_sure_with_an_uncertain_front() -> None:
    for book in ("tap", "lions-den"):
        assert tackles(judge_play(head_on(0.5, 0.5), RUNNER, book=book))[0] == ("called", 1.0)


@pytest.mark.parametrize(
    ("front", "heading", "expected"),
    [
        (1.0, 180.0, [("called", 1.0)]),
        (UNCERTAIN, 180.0, [("too_close", 0.7)]),
        (UNCERTAIN, 0.0, [("too_close", 0.3)]),
        (1.0, 0.0, []),
    ],
)
def test_a_league_where_only_fronts_tackle_calls_no_tackle_by_an_uncertain_front(
    front: float, heading: float, expected: list[tuple[str, float]]
) -> None:
    assert tackles(judge_play(head_on(front, heading=heading), RUNNER, book=STRICT)) == expected


def backward(front: float, facing: float) -> Film:
    """A runner that moves toward its own goal line from the start, facing as given."""
    return film([ScriptedFigure(RUNNER, runs(50, heading=180.0, speed=8.0, facing=facing), "RB", front=front)], 2.0)


@pytest.mark.parametrize(
    ("front", "facing", "expected"),
    [
        (1.0, 180.0, ["called"]),
        (UNCERTAIN, 180.0, ["too_close"]),
        (1.0, 0.0, []),
        (UNCERTAIN, 0.0, ["too_close"]),
        (0.98, 0.0, []),
    ],
)
def test_a_carrier_turned_back_is_called_by_a_certain_front_alone(
    front: float, facing: float, expected: list[str]
) -> None:
    judgment = judge_play(backward(front, facing), RUNNER, book="lions-den")
    assert [call.verdict for call in judgment.calls if call.kind == "turned_back"] == expected


def test_a_report_of_a_carrier_going_back_does_not_guess_whether_it_turned() -> None:
    for front, hedged in ((1.0, False), (UNCERTAIN, True)):
        call = only_call(judge_play(backward(front, 180.0), RUNNER), "turned_back")
        assert call.verdict == "reported"
        assert ("not sure which end" in call.text) == hedged


@pytest.mark.parametrize(("front", "verdict"), [(1.0, "proposed"), (UNCERTAIN, "too_close")])
def test_a_handle_behind_an_uncertain_front_makes_no_sack(front: float, verdict: str) -> None:
    stop_s = 0.5 + (5 - 2 * HALF_YD - 6 / FIELD.mm_per_yd_x) / 8
    passer = ScriptedFigure(PASSER, stands(33, heading=0.0), "QB", front=front)
    behind = ScriptedFigure(HITTER, runs(28, speed=8.0, stop_s=stop_s), "DL")
    ahead = ScriptedFigure(HITTER, runs(38, speed=8.0, heading=180.0, stop_s=stop_s), "DL")
    assert only_call(judge_play(film([passer, behind], 1.6), PASSER, book="efl"), "sack").verdict == verdict
    sacks = [call for call in judge_play(film([passer, ahead], 1.6), PASSER, book="efl").calls if call.kind == "sack"]
    assert [call.verdict for call in sacks] == ([] if front == 1.0 else ["too_close"])


def test_a_hand_scores_only_as_surely_as_the_front_it_is_ahead_of() -> None:
    ahead_mm = 12.0
    stop_s = 0.5 + (5 - (ahead_mm - 2.0) / FIELD.mm_per_yd_x) / 8
    league = Rulebook("hand", "", LIONS_DEN, {"touchdown.reference": "hand"})
    for front, verdict in ((1.0, "called"), (UNCERTAIN, "too_close")):
        filmed = film([ScriptedFigure(RUNNER, runs(95, speed=8.0, stop_s=stop_s), "RB", front=front)], 2.0)
        filmed = replace(filmed, players=tuple(replace(one, hand_mm=(ahead_mm, 0.0)) for one in filmed.players))
        call = only_call(judge_play(filmed, RUNNER, book=league, line_yd=90.0), "touchdown")
        assert call.verdict == verdict
        assert ("front" in call.words) == (front < 1.0)


def pivot(turned_deg: float, front: float, touching: float = 1.0) -> StoppageChanges:
    """One figure of the offense, engaged, before and after a stoppage, its front as sure as given at both."""
    scenes = [
        Scene(0, 0, "off", (Figure("o0", "dark", 300.0, 150.0, heading, 30.0, 18.0, front=front),))
        for heading in (0.0, turned_deg)
    ]
    poses = tuple(replace(pose, touching=touching) for pose in poses_of(scenes[0]))
    roster = (Player("o0", "dark", base=LINE_UP_BASE),)
    return StoppageChanges(LINE_UP_FIELD, "coach", find_pose_changes(poses, scenes[1], roster, offense="dark"), None)


@pytest.mark.parametrize(
    ("turned_deg", "front", "pivoted"),
    [(180.0, 1.0, 1.0), (180.0, UNCERTAIN, 0.7), (178.0, 0.5, 0.5), (20.0, 0.5, 1.0), (0.0, 0.5, 0.0)],
)
def test_a_front_that_changed_ends_is_a_pivot_only_as_surely_as_both_are_known(
    turned_deg: float, front: float, pivoted: float
) -> None:
    stoppage = pivot(turned_deg, front)
    assert stoppage.changes[0].pivoted_probability(Params(engaged_pivots.params)) == pytest.approx(pivoted)
    outcomes = [result.outcome for result in engaged_pivots(stoppage)]
    expected = {1.0: ["broken"], 0.7: ["too_close"], 0.5: [], 0.0: []}[pivoted]
    assert outcomes == expected


@pytest.mark.parametrize(("front", "outcome"), [(1.0, "broken"), (UNCERTAIN, "too_close"), (0.99, "broken")])
def test_a_turn_away_from_the_ball_is_one_only_for_a_certain_front(front: float, outcome: str) -> None:
    stoppage = replace(pivot(40.0, front, 0.0), kind="fumble", target_mm=(500.0, 150.0))
    assert [result.outcome for result in pivots_toward(stoppage)] == [outcome]


def test_a_belief_that_rests_on_a_front_shows_no_margin_for_it() -> None:
    belief = believe(0.8, 0.3, "mm", 0.69, UNCERTAIN)
    assert (belief.basis, belief.margin, belief.frame_margin) == ("more", None, 0.8)
    assert belief.words() == "not sure which end is the front (70 %), sure to 69 %"
    assert believe(0.8, 0.3, "mm", 0.9962, 1.0).basis == "frame"


@given(st.floats(0.0, 1.0), st.floats(-180.0, 180.0))
def test_turning_a_figure_around_exchanges_its_faces_and_keeps_what_is_believed(front: float, heading: float) -> None:
    figure = Figure("dark-1", "dark", 10.0, 20.0, heading, 30.0, 18.0, front=front)
    turned = figure.turned_around()
    seen = over_fronts(figure, lambda one: (math.cos(math.radians(one.heading_deg - heading)), 0.0))
    assert seen.probability == pytest.approx(front)
    again = over_fronts(turned, lambda one: (math.cos(math.radians(one.heading_deg - heading)), 0.0))
    assert again.probability == pytest.approx(front)
    if 0.01 < front < 0.99:
        assert again.margin == pytest.approx(seen.margin)
    other = Figure("light-1", "light", 10.0 + 40.0, 20.0, 0.0, 30.0, 18.0).footprint
    gap, gap_turned = signed_gap(figure.footprint, other), signed_gap(turned.footprint, other)
    assert gap_turned.gap_mm == pytest.approx(gap.gap_mm)
    assert OPPOSITE_FACE[OPPOSITE_FACE[gap.face_a]] == gap.face_a


@pytest.mark.parametrize("moved_mm", [1.0, -40.0])
def test_a_figure_is_not_taken_to_go_faster_than_a_base_can(moved_mm: float) -> None:
    before, now = (
        Scene(number, number * 1_000_000, "on", (base_at(RUNNER, "dark", 400.0 + number * moved_mm, 300.0),))
        for number in range(2)
    )
    facts = facts_as_of(Facts(now, (before,), cast("GameState", None), FIELD), now.t_ns, RUNNER, sigma_s=0.5)
    along_mm, across_mm = facts.figures[RUNNER].sigma_mm
    assert 0.0 == across_mm < along_mm < 200.0, "more than 400 mm/s over one millisecond"
