"""Calls that rest on several things measured tell each of them apart, in every rulebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from scripted_plays import FIELD, HALF_YD, Film, ScriptedFigure, film, judge_play, only_call, runs, stands

from downfield.core.scene import Ball, Contact, Figure
from downfield.officiating.belief import Measure
from downfield.officiating.calls import Call, Finding
from downfield.officiating.conditions import Condition, is_story_of, joint_probability, worth_telling
from downfield.officiating.declarations import PassDeclared
from downfield.officiating.engine.calling import merge_findings
from downfield.officiating.rulebooks.lions_den.system import LIONS_DEN
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.rulebooks.tap.system import TAP
from downfield.officiating.state.play_state import PlayState

RUNNER, PASSER, HITTER, END, CORNER = "dark-22", "dark-10", "light-50", "dark-80", "light-21"
STOP_S = 0.5 + (9 - 2 * HALF_YD) / 10 + 0.02
STRICT = Rulebook("strict", "Strict", TAP, {"tackle.faces": ["front", "corner"]})


def hit(*, turned: float = 0.0, hitter_front: float = 1.0, sigma_deg: float = 0.0, close: float = 0.0) -> Film:
    """A runner into a standing defender who is turned off square; the touch is as doubtful as given, 0 for sure."""
    runner = ScriptedFigure(RUNNER, runs(41, stop_s=STOP_S), "RB", sigma_deg=sigma_deg)
    hitter = ScriptedFigure(HITTER, stands(50, heading=180.0 + turned), "LB", front=hitter_front, sigma_deg=sigma_deg)
    return touching(film([runner, hitter], 2.0), 1.0 - close)


def touching(play: Film, probability: float) -> Film:
    """Return a play in which no touch is surer than this; its history says so, no frame's gap."""

    def doubtful(contact: Contact) -> Contact:
        return replace(contact, probability=min(contact.probability, probability), sigma_mm=0.2)

    scenes = (replace(one, contacts=tuple(map(doubtful, one.contacts))) for one in play.scenes)
    return replace(play, scenes=tuple(scenes)) if probability < 1.0 else play


def with_figures(play: Film, change: Callable[[Figure], Figure]) -> Film:
    scenes = (replace(one, figures=tuple(change(figure) for figure in one.figures)) for one in play.scenes)
    return replace(play, scenes=tuple(scenes))


def story(call: Call) -> dict[Measure, float]:
    """Return what a call tells apart; it must come to the call's probability."""
    assert is_story_of(call.told_apart, call.together, call.probability)
    assert call.belief.basis == "joint"
    return {one.measure: round(one.probability, 3) for one in call.told_apart}


def test_a_square_tackle_by_its_gap_tells_the_touch_and_the_squareness_apart() -> None:
    call = only_call(judge_play(hit(turned=11.0, close=0.2), RUNNER, book="efl"), "tackle")
    assert story(call) == {"touch": 0.8, "square": 0.82}
    assert call.probability == pytest.approx(0.8 * 0.82)
    touch, square = call.told_apart
    assert touch.belief.basis == "history"
    assert touch.belief.measured == "+0.17 ± 0.20 mm"
    assert square.belief.measured == "+4.00°"
    assert call.words.endswith("(11.0° off square, sure to 82 %); both together: sure to 66 %")
    assert "sure to 80 %)" in call.words


def test_a_square_tackle_by_its_angle_keeps_the_gap_that_was_measured() -> None:
    call = only_call(judge_play(hit(turned=18.0, close=0.01), RUNNER, book="efl"), "tackle")
    assert story(call) == {"touch": 0.99, "square": 0.42}
    assert "gap may have closed at" in call.words
    assert "may have met squarely (18.0° off square, 42 % likely)" in call.words


def test_what_is_certain_is_told_without_a_percentage() -> None:
    call = only_call(judge_play(hit(turned=5.0), RUNNER, book="efl"), "tackle")
    assert story(call) == {"touch": 1.0, "square": 1.0}
    assert "%" not in call.words
    assert call.words.endswith("met squarely (5.0° off square)")


def test_a_slipped_tackle_says_which_of_its_reasons_is_enough() -> None:
    def comes_and_goes(t_s: float) -> tuple[float, float, float]:
        return 50.3 + 4 * abs(t_s - 1.5), FIELD.width_yd / 2, 202.0

    pair = [
        ScriptedFigure(RUNNER, stands(48, heading=0.0), "RB", sigma_deg=6.0),
        ScriptedFigure(HITTER, comes_and_goes, "LB", sigma_deg=6.0),
    ]
    call = only_call(judge_play(film(pair, 2.5), RUNNER, book="efl"), "slipped_tackle")
    assert set(story(call)) == {"off_square"}
    assert "off square, sure to" in call.words
    assert call.told_apart[0].belief.basis == "frame"


def test_a_tackle_that_only_some_faces_make_tells_the_touch_and_the_front_apart() -> None:
    call = only_call(judge_play(hit(hitter_front=0.7, close=0.1), RUNNER, book=STRICT), "tackle")
    assert story(call) == {"touch": 0.9, "front": 0.7}
    assert "not sure which end is the front (70 %)" in call.words
    assert call.words.endswith("both together: sure to 63 %")


def test_a_tackle_of_a_carrier_who_may_be_another_keeps_how_sure_the_touch_was() -> None:
    play = with_figures(hit(close=0.02), lambda one: replace(one, sure=one.id != RUNNER))
    for book in ("tap", "efl"):
        call = only_call(judge_play(play, RUNNER, book=book), "tackle")
        told = story(call)
        assert told["touch"] == 0.98
        assert "identity" in told
        assert call.probability == 0.5
        assert "not sure which figure this is: no better than even" in call.words


def test_a_goal_line_reached_by_a_hand_tells_the_line_and_the_front_apart() -> None:
    ahead_mm = 12.0
    stop_s = 0.5 + (5 - (ahead_mm - 0.3) / FIELD.mm_per_yd_x) / 8
    league = Rulebook("hand", "", LIONS_DEN, {"touchdown.reference": "hand"})
    filmed = film([ScriptedFigure(RUNNER, runs(95, speed=8.0, stop_s=stop_s), "RB", front=0.9, sigma_mm=0.3)], 2.0)
    filmed = replace(filmed, players=tuple(replace(one, hand_mm=(ahead_mm, 0.0)) for one in filmed.players))
    call = only_call(judge_play(filmed, RUNNER, book=league, line_yd=90.0), "touchdown")
    told = story(call)
    assert told["front"] == 0.9
    assert call.probability == pytest.approx(told["line"] * 0.9, abs=0.002)


def test_a_catch_before_a_rival_tells_the_touch_of_the_ball_and_the_times_apart() -> None:
    ball_mm = (55.0 * FIELD.mm_per_yd_x, 40.0 * FIELD.mm_per_yd_y)
    ball = Ball("magnetic", *ball_mm, sigma_mm=0.5)
    stops_s = 2.0 + (7 * FIELD.mm_per_yd_x - 15.0 - 5.0 + 0.5) / (5 * FIELD.mm_per_yd_x)  # half a millimeter over it
    men = [
        ScriptedFigure(PASSER, stands(34.0, heading=0.0), "QB"),
        ScriptedFigure(END, runs(48, 40.0, 5.0, start_s=2.0, stop_s=stops_s), "WR"),
        ScriptedFigure(CORNER, runs(62.0, 40.0, 5.0, 180.0, start_s=2.0), "DB"),
    ]
    thrown = film(men, 4.0, on=((0.5, 1.0), (2.0, 99.0)), ball=lambda t_s: ball if t_s >= 1.5 else None)
    call = only_call(judge_play(thrown, PASSER, (1.2, PassDeclared(END))), "reception")
    assert set(story(call)) == {"ball", "first"}
    assert {one.unit for one in call.told_apart} == {"mm", "s"}
    assert "was there first" in call.words or "may have been there first" in call.words


def test_a_margin_kept_from_an_earlier_frame_is_kept_in_what_is_told_apart() -> None:
    def found(margin: float, sigma: float, probability: float) -> Finding:
        conditions = (Condition("touch", probability, margin, sigma, "mm"), Condition("front", 0.9))
        return Finding(
            "tackle", "tackle", 1, "", (), "a", margin=margin, sigma=sigma, unit="mm", probability=0.9 * probability,
            conditions=conditions,
        )  # fmt: skip

    play = merge_findings(PlayState(), [found(0.2, 0.2, 0.8)], {}, 0.95)
    (merged,) = merge_findings(play, [found(-3.0, 2.0, 0.9)], {}, 0.95).pending
    assert (merged.margin, merged.sigma) == (0.2, 0.2)
    assert (merged.conditions[0].margin, merged.conditions[0].sigma) == (0.2, 0.2)
    assert merged.conditions[0].probability == 0.9


@pytest.mark.parametrize(
    ("shares", "together", "expected"),
    [((0.8, 0.9), "all", 0.72), ((0.8, 0.9), "any", 0.98), ((1.0, 1.0), "all", 1.0), ((0.0, 0.3), "any", 0.3)],
)
def test_the_joint_probability(shares: tuple[float, float], together: str, expected: float) -> None:
    conditions = [Condition("", share) for share in shares]
    assert joint_probability(conditions, together) == pytest.approx(expected)  # type: ignore[arg-type]
    capped = joint_probability([*conditions, Condition("identity", 0.5)], together)  # type: ignore[arg-type]
    assert capped == pytest.approx(min(expected, 0.5))


def test_a_front_that_is_certain_is_not_worth_telling() -> None:
    touch = Condition("touch", 0.9, 0.2, 0.15, "mm")
    assert worth_telling((touch, Condition("front", 1.0))) == ()
    assert len(worth_telling((touch, Condition("front", 0.98)))) == 2


def test_conditions_of_a_file_that_do_not_come_to_its_percentage_are_not_shown() -> None:
    call = Call(
        "c", "tackle", 0, "efl", (), "called", "", unit="mm", probability=0.99, frame_margin=0.3, frame_sigma=0.13
    )
    wrong = replace(call, conditions=(Condition("touch", 0.99), Condition("square", 0.5)))
    assert wrong.told_apart == ()
    assert wrong.words == call.words
    right = replace(wrong, probability=0.495)
    assert len(right.told_apart) == 2
