"""The Gunderson EFL on the board: hand-built plays."""

from __future__ import annotations

import math

import pytest
from scripted_plays import (
    BASE,
    FIELD,
    HALF_YD,
    MIDDLE_YD,
    Film,
    Path,
    ScriptedFigure,
    film,
    judge_play,
    kinds,
    only_call,
    runs,
    stands,
)

from downfield.officiating.calls import Call
from downfield.officiating.engine.recording import Judgment
from downfield.officiating.rulebooks.efl.system import EFL
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.state.game_state import Phase

RUNNER, PASSER, HITTER = "dark-22", "dark-7", "light-50"


def meets(path: Path, *, hitter_from: Path | None = None, role: str = "RB", seconds: float = 2.0) -> Film:
    """A runner on a path, and a hitter at midfield or on a path of his own."""
    return film([ScriptedFigure(RUNNER, path, role), ScriptedFigure(HITTER, hitter_from or stands(50), "LB")], seconds)


def decisive_kinds(judgment: Judgment) -> list[str]:
    """What was called, the line of scrimmage left out: past it only a passer is concerned."""
    return [kind for kind in kinds(judgment) if kind != "line_of_scrimmage"]


# Tackles by face and angle


@pytest.mark.parametrize(
    ("heading", "expected"), [(180.0, ["tackle"]), (90.0, ["tackle"]), (-90.0, ["tackle"]), (0.0, [])]
)
def test_running_into_a_standing_defender(heading: float, expected: list[str]) -> None:
    judgment = judge_play(meets(runs(41, stop_s=1.35), hitter_from=stands(50, heading=heading)), RUNNER, book="efl")
    assert decisive_kinds(judgment) == expected


def test_a_hit_from_behind_is_a_tackle_and_one_from_beside_is_not() -> None:
    chase = meets(runs(45, speed=4), hitter_from=runs(41, speed=12, stop_s=1.0))
    tackle = only_call(judge_play(chase, RUNNER, book="efl"), "tackle")
    assert "EFL-080" in tackle.clauses
    beside = MIDDLE_YD + BASE.width_mm / FIELD.mm_per_yd_y
    rub = meets(runs(45, speed=4), hitter_from=runs(43, beside - 0.01, speed=6))
    assert decisive_kinds(judge_play(rub, RUNNER, book="efl")) == []


def test_a_hit_on_the_side_at_ninety_degrees_is_a_tackle() -> None:
    low = MIDDLE_YD - 8

    def up(t_s: float) -> tuple[float, float, float]:
        reach = (BASE.length_mm + BASE.width_mm) / 2 / FIELD.mm_per_yd_y
        return 46.0, min(low + max(0.0, t_s - 0.5) * 8, MIDDLE_YD - reach + 0.02), 90.0

    judgment = judge_play(meets(stands(46, heading=0.0), hitter_from=up), RUNNER, book="efl")
    assert "EFL-078" in only_call(judgment, "tackle").clauses


@pytest.mark.parametrize(("turn", "expected"), [(5.0, "called"), (20.0, "too_close"), (40.0, None)])
def test_the_angle_of_a_head_on_hit(turn: float, expected: str | None) -> None:
    judgment = judge_play(
        meets(runs(41, stop_s=1.36), hitter_from=stands(50, heading=180.0 + turn)), RUNNER, book="efl"
    )
    tackles = [call for call in judgment.calls if call.kind == "tackle"]
    assert [call.verdict for call in tackles] == ([] if expected is None else [expected])
    if expected == "too_close":
        assert {reading.kind for reading in tackles[0].readings} == {"tackle", "slipped_tackle"}
        assert tackles[0].unit == "deg"


def test_a_corner_that_turns_square_is_a_tackle_from_then_on() -> None:
    def off_square(t_s: float) -> float:
        return min(40.0, max(0.0, 40.0 - (t_s - 1.5) * 200.0))

    def turning(t_s: float) -> tuple[float, float, float]:
        return 50.0, MIDDLE_YD, 180.0 + off_square(t_s)

    def pressing(t_s: float) -> tuple[float, float, float]:
        turn, inset = math.radians(off_square(t_s)), BASE.corner_mm
        reach = (BASE.length_mm / 2 - inset) * math.cos(turn) + (BASE.width_mm / 2 - inset) * math.sin(turn) + inset
        nearest = 50 - HALF_YD - (reach - 0.2) / FIELD.mm_per_yd_x
        return min(41 + max(0.0, t_s - 0.5) * 12, nearest), MIDDLE_YD, 0.0

    judgment = judge_play(meets(pressing, hitter_from=turning, seconds=3.0), RUNNER, book="efl")
    tackles = [call for call in judgment.calls if call.kind == "tackle"]
    assert [call.verdict for call in tackles] == ["called"]
    assert 1.5e9 < tackles[0].t_ns < 1.7e9


def test_a_slipped_tackle_is_reported_once_the_runner_is_past() -> None:
    reach = (BASE.width_mm / FIELD.mm_per_yd_y) * 0.97
    judgment = judge_play(
        meets(runs(41), hitter_from=stands(48, MIDDLE_YD + reach, 0.0), seconds=2.5), RUNNER, book="efl"
    )
    assert decisive_kinds(judgment) == []
    assert len([call for call in judgment.calls if call.kind == "slipped_tackle"]) >= 1


def slips(runner: Path, hitter: Path) -> list[Call]:
    pair = [ScriptedFigure(RUNNER, runner, "RB", sigma_deg=6.0), ScriptedFigure(HITTER, hitter, "LB", sigma_deg=6.0)]
    judgment = judge_play(film(pair, 2.5), RUNNER, book="efl")
    return [call for call in judgment.calls if call.kind == "slipped_tackle"]


def test_a_slipped_tackle_is_as_sure_as_its_angle() -> None:
    def comes_and_goes(t_s: float) -> tuple[float, float, float]:
        return 50.3 + 4 * abs(t_s - 1.5), MIDDLE_YD, 202.0

    (slip,) = slips(stands(48, heading=0.0), comes_and_goes)
    assert slip.frame_margin == pytest.approx(7.0)
    assert 0.5 < slip.probability < 0.8  # with an error of 8.5 degrees


def test_a_tackle_slipped_by_its_faces_measures_no_angle() -> None:
    beside = stands(48, MIDDLE_YD + (BASE.width_mm / FIELD.mm_per_yd_y) * 0.97, 0.0)
    (slip,) = slips(runs(41), beside)
    assert "side-side" in slip.text
    assert (slip.margin, slip.sigma, slip.probability) == (None, None, 1.0)


def test_a_fallen_defender_does_not_tackle_unless_the_league_allows_it() -> None:
    lying = film(
        [ScriptedFigure(RUNNER, runs(41, stop_s=1.35), "RB"), ScriptedFigure(HITTER, stands(50), "LB", falls_s=0.6)],
        2.0,
    )
    assert "tackle" not in kinds(judge_play(lying, RUNNER, book="efl"))
    ours = Rulebook("ours", "Ours", EFL, {"tackle.fallen_tackles": True})
    assert "tackle" in kinds(judge_play(lying, RUNNER, book=ours))


# The passer


def pocket(hitter: Path, seconds: float = 1.6) -> Film:
    return film([ScriptedFigure(PASSER, stands(33, heading=0.0), "QB"), ScriptedFigure(HITTER, hitter, "DL")], seconds)


def test_any_touch_ends_the_right_to_pass_without_being_a_tackle() -> None:
    beside = MIDDLE_YD + BASE.width_mm / FIELD.mm_per_yd_y
    judgment = judge_play(pocket(runs(38, beside - 0.01, 8.0, 180.0, stop_s=1.1)), PASSER, book="efl")
    assert [call.detail for call in judgment.calls if call.kind == "info"].count("pass_over") == 1
    assert kinds(judgment) == ["info"]
    assert judgment.state.play.note("pass_over") == 1.0


def test_a_touch_on_the_handle_from_behind_is_proposed_as_a_sack() -> None:
    stop = 0.5 + (5 - 2 * HALF_YD - 6 / FIELD.mm_per_yd_x) / 8
    judgment = judge_play(pocket(runs(28, speed=8.0, stop_s=stop)), PASSER, book="efl")
    sack = only_call(judgment, "sack")
    assert sack.verdict == "proposed"
    assert sack.clauses == ("EFL-043",)
    ahead = judge_play(pocket(runs(38, speed=8.0, heading=180.0, stop_s=stop)), PASSER, book="efl")
    assert "sack" not in kinds(ahead)


def test_past_the_line_the_passer_must_run() -> None:
    judgment = judge_play(film([ScriptedFigure(PASSER, runs(36, speed=8.0), "QB")], 2.0), PASSER, book="efl")
    assert "line_of_scrimmage" in kinds(judgment)
    assert judgment.state.phase is Phase.LIVE


def test_the_carrier_falling_alone_and_the_sideline() -> None:
    fallen = film([ScriptedFigure(RUNNER, runs(41), "RB", falls_s=1.0)], 2.0)
    assert "down_by_fall" in kinds(judge_play(fallen, RUNNER, book="efl"))
    out = film([ScriptedFigure(RUNNER, runs(41, 3.0, 10.0, -30.0), "RB")], 2.0)
    assert "out_of_bounds" in kinds(judge_play(out, RUNNER, book="efl"))
    goal = film([ScriptedFigure(RUNNER, runs(95, speed=20.0), "RB")], 2.0)
    judgment = judge_play(goal, RUNNER, book="efl", line_yd=94.0)
    assert "touchdown" in kinds(judgment)
    assert judgment.state.wait is not None
    assert judgment.state.wait.purpose == "extra_point"
