"""TAP's clocks, at, just inside and just outside their limits; and kickoff formations."""

from __future__ import annotations

import pytest
from lineups import LENGTH_YD, At, build

from downfield.officiating.checks.check import Check
from downfield.officiating.checks.formation import Formation
from downfield.officiating.checks.kicks import (
    efl_onside_receivers,
    efl_receivers,
    kick_inbounds,
    kickers,
    lions_den_receivers,
    onside_men,
    punt_returner_place,
    returner_off,
    returner_place,
    tap_receivers,
)
from downfield.officiating.checks.pivots import StoppageKind
from downfield.officiating.checks.timing import (
    Timeline,
    defense_set_time,
    field_goal_time,
    first_pivot_time,
    kick_ready_time,
    kickoff_run,
    line_up_time,
    pass_time,
    second_pivot_time,
    stop_time,
)


def s(seconds: float) -> int:
    return round(seconds * 1e9)


def outcomes_of(check: Check[Timeline], times: Timeline) -> list[str]:
    return [result.outcome for result in check(times)]


@pytest.mark.parametrize(("seconds", "outcome"), [(39.9, "kept"), (40.0, "kept"), (40.1, "broken")])
def test_forty_seconds_to_line_up(seconds: float, outcome: str) -> None:
    assert outcomes_of(line_up_time, Timeline(separated_ns=s(5), set_ns=s(5 + seconds))) == [outcome]
    assert outcomes_of(field_goal_time, Timeline(separated_ns=s(5), rolled_ns=s(5 + seconds))) == [outcome]


@pytest.mark.parametrize(("seconds", "outcome"), [(99.9, "kept"), (100.1, "broken")])
def test_after_a_change_of_possession_the_forty_follow_the_sixty(seconds: float, outcome: str) -> None:
    assert outcomes_of(line_up_time, Timeline(separated_ns=s(10), changed_ns=s(0), set_ns=s(seconds))) == [outcome]


def test_separating_after_the_sixty_starts_the_forty_then() -> None:
    assert outcomes_of(line_up_time, Timeline(separated_ns=s(80), changed_ns=s(0), set_ns=s(119))) == ["kept"]


@pytest.mark.parametrize(("seconds", "outcome"), [(10.0, "kept"), (10.1, "broken")])
def test_ten_seconds_after_set_and_in_a_stop(seconds: float, outcome: str) -> None:
    assert outcomes_of(defense_set_time, Timeline(set_ns=0, defense_ready_ns=s(seconds))) == [outcome]
    assert outcomes_of(first_pivot_time, Timeline(stopped_ns=0, offense_done_ns=s(seconds))) == [outcome]


def test_the_clocks_run_one_after_the_other() -> None:
    slow_but_right = Timeline(stopped_ns=0, offense_done_ns=s(9), defense_done_ns=s(18))
    quick_but_late = Timeline(stopped_ns=0, offense_done_ns=s(1), defense_done_ns=s(12))
    assert outcomes_of(second_pivot_time, slow_but_right) == ["kept"]
    assert outcomes_of(second_pivot_time, quick_but_late) == ["broken"]
    assert outcomes_of(stop_time, slow_but_right) == []


@pytest.mark.parametrize(("seconds", "outcome"), [(20.0, "kept"), (20.1, "broken")])
def test_a_stop_without_declared_times_has_both_clocks(seconds: float, outcome: str) -> None:
    assert outcomes_of(stop_time, Timeline(stopped_ns=0, defense_done_ns=s(seconds))) == [outcome]


@pytest.mark.parametrize(("seconds", "outcome"), [(20.0, "kept"), (20.1, "broken")])
def test_a_pass_has_twenty_seconds_and_its_own_clock(seconds: float, outcome: str) -> None:
    end = s(2 + seconds)
    times = Timeline(stop="pass", stopped_ns=0, offense_done_ns=end, pass_ns=s(2), stick_gone_ns=end)
    assert outcomes_of(pass_time, times) == [outcome]
    assert outcomes_of(first_pivot_time, times) == []


def test_the_defense_has_ten_seconds_from_the_removal_of_the_stick() -> None:
    times = Timeline(stop="pass", stopped_ns=0, pass_ns=s(2), stick_gone_ns=s(20), defense_done_ns=s(29))
    assert outcomes_of(second_pivot_time, times) == ["kept"]


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("coach", ("TAP-092", "TAP-141"), ("TAP-092", "TAP-141")),
        ("kickoff", ("TAP-054",), ("TAP-055",)),
        ("interception", ("TAP-106",), ("TAP-106",)),
        ("line", None, None),
        ("fumble", None, None),
    ],
)
def test_a_clock_cites_its_clauses(
    kind: StoppageKind, first: tuple[str, ...] | None, second: tuple[str, ...] | None
) -> None:
    times = Timeline(stop=kind, stopped_ns=0, offense_done_ns=s(5), defense_done_ns=s(9))
    assert [result.clauses for result in first_pivot_time(times)] == ([first] if first else [])
    assert [result.clauses for result in second_pivot_time(times)] == ([second] if second else [])
    untimed = Timeline(stop=kind, stopped_ns=0, defense_done_ns=s(90))
    assert [result.outcome for result in stop_time(untimed)] == (["broken"] if first else [])


@pytest.mark.parametrize(
    ("ran", "outcome"), [(3.0, "kept"), (2.75, "kept"), (3.25, "kept"), (2.7, "broken"), (3.3, "broken")]
)
def test_a_kickoff_runs_three_seconds(ran: float, outcome: str) -> None:
    assert outcomes_of(kickoff_run, Timeline(kick_on_ns=s(1), kick_off_ns=s(1 + ran))) == [outcome]


def test_a_measured_time_near_its_limit_is_too_close() -> None:
    assert outcomes_of(kickoff_run, Timeline(kick_on_ns=0, kick_off_ns=s(3.26), sigma_s=0.02)) == ["too_close"]


def test_the_kicking_coach_has_sixty_seconds() -> None:
    assert outcomes_of(kick_ready_time, Timeline(changed_ns=0, kick_ready_ns=s(60))) == ["kept"]
    assert outcomes_of(kick_ready_time, Timeline(changed_ns=0, kick_ready_ns=s(60.5))) == ["broken"]


def test_delay_is_reported_only_when_claimed_and_unknown_times_give_no_result() -> None:
    assert all(check.on_claim for check in (line_up_time, defense_set_time, kick_ready_time, field_goal_time))
    assert not any(check.on_claim for check in (first_pivot_time, second_pivot_time, pass_time, kickoff_run))
    for check in (line_up_time, defense_set_time, first_pivot_time, second_pivot_time, pass_time, kickoff_run):
        assert check(Timeline()) == ()


# kickoffs: the formation's offense kicks; "depth" is behind the spot of the kick on its side, beyond it on the other's

KICKERS = [At(0.0, -22.0 + 4.4 * i) for i in range(11)]


def receivers(yards: list[tuple[float, int]], kick_yd: float) -> list[At]:
    """Men with their fronts on lines of their own, counted from their goal line."""
    return [At(100.0 - own - kick_yd, -20.0 + 40.0 * (i + 0.5) / count) for own, count in yards for i in range(count)]


def outcomes(check: Check[Formation], formation: Formation) -> set[str]:
    return {result.outcome for result in check(formation)}


@pytest.mark.parametrize(("over", "outcome"), [(0.0, "kept"), (0.5, "kept"), (0.51, "broken"), (-5.0, "kept")])
def test_kickers_stay_behind_the_ball(over: float, outcome: str) -> None:
    formation = build([At(-over, 0.0)], line_yd=30.0, jersey="light")
    assert outcomes(kickers, formation) == {outcome}


@pytest.mark.parametrize(("off", "outcome"), [(0.0, "kept"), (0.5, "kept"), (0.6, "broken"), (-0.6, "broken")])
def test_tap_receivers_stand_at_midfield(off: float, outcome: str) -> None:
    formation = build(KICKERS, receivers([(50.0 + off, 10)], 30.0), line_yd=30.0, jersey="light")
    assert outcomes(tap_receivers, formation) == {outcome}


def test_everyone_is_inbounds_for_a_kick() -> None:
    assert outcomes(kick_inbounds, build(KICKERS, line_yd=30.0)) == {"kept"}
    edge = FIELD_HALF - BASE_HALF
    assert outcomes(kick_inbounds, build([At(0.0, edge - 0.01)], line_yd=30.0)) == {"kept"}
    assert outcomes(kick_inbounds, build([At(0.0, edge + 0.01)], line_yd=30.0)) == {"broken"}
    assert outcomes(kick_inbounds, build([At(0.0, edge + 2.5)], line_yd=30.0)) == {"broken"}


FIELD_HALF = 53.333333 / 2
BASE_HALF = 8.0 / 9.3


def test_the_returner_is_off_then_on_his_goal_line() -> None:
    men = [*receivers([(50.0, 10)], 30.0), At(70.0 - LENGTH_YD / 2, 0.0)]
    formation = build(KICKERS, men, line_yd=30.0, returner="d10")
    assert outcomes(returner_off, formation) == {"broken"}
    assert outcomes(returner_off, build(KICKERS, men[:10], line_yd=30.0, returner="d10")) == {"kept"}
    assert outcomes(returner_place, formation) == {"kept"}
    ahead = [*men[:10], At(70.0 - LENGTH_YD - 0.1, 0.0)]
    assert outcomes(returner_place, build(KICKERS, ahead, line_yd=30.0, returner="d10")) == {"kept", "broken"}
    aside = [*men[:10], At(70.0 - LENGTH_YD / 2, 1.1)]
    assert outcomes(returner_place, build(KICKERS, aside, line_yd=30.0, returner="d10")) == {"kept", "broken"}
    assert outcomes(returner_place, build(KICKERS, line_yd=30.0)) == {"unknown"}


def test_a_punts_returner_waits_in_the_end_zone_by_a_sideline() -> None:
    at_side = [At(66.0, FIELD_HALF - BASE_HALF - 0.5)]
    formation = build([At(0.0, 0.0)], at_side, line_yd=35.0, returner="d0")
    assert outcomes(punt_returner_place, formation) == {"kept"}
    assert outcomes(punt_returner_place, build([At(0.0, 0.0)], [At(66.0, 0.0)], line_yd=35.0, returner="d0")) == {
        "kept",
        "broken",
    }
    assert outcomes(punt_returner_place, build([At(0.0, 0.0)], line_yd=35.0)) == {"unknown"}


def test_an_onside_kick_has_eleven_players_of_both_teams() -> None:
    men = receivers([(50.0, 11)], 30.0)
    assert outcomes(onside_men, build(KICKERS, men, line_yd=30.0)) == {"kept"}
    assert outcomes(onside_men, build(KICKERS, men[1:], line_yd=30.0)) == {"kept", "broken"}


def test_efl_receivers() -> None:
    right: list[tuple[float, int]] = [(50.0, 5), (30.0, 2), (20.0, 2), (5.0, 2)]
    assert outcomes(efl_receivers, build([], receivers(right, 35.0), line_yd=35.0)) == {"kept"}
    wrong: list[tuple[float, int]] = [(50.0, 4), (31.0, 2), (20.0, 3), (5.0, 2)]
    assert [result.outcome for result in efl_receivers(build([], receivers(wrong, 35.0), line_yd=35.0))] == [
        "broken",
        "broken",
        "broken",
        "kept",
    ]


@pytest.mark.parametrize(("last", "outcome"), [(12.0, "kept"), (39.0, "kept"), (41.0, "broken")])
def test_efl_receivers_of_an_onside_kick(last: float, outcome: str) -> None:
    men = receivers([(50.0, 5), (40.0, 5), (last, 1)], 35.0)
    found = [result.outcome for result in efl_onside_receivers(build([], men, line_yd=35.0))]
    assert found == ["kept", "kept", outcome]


@pytest.mark.parametrize(("front", "outcome"), [(5, "kept"), (6, "broken"), (0, "kept")])
def test_lions_den_receivers(front: int, outcome: str) -> None:
    men = receivers([(40.0, front), (20.0, 11 - front)], 35.0)
    assert outcomes(lions_den_receivers, build([], men, line_yd=35.0)) == {outcome}
