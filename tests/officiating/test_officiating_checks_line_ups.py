"""Formation checks at, just inside and just outside their limits, on formations built by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from lineups import LENGTH_YD, WIDTH_YD, At, build, figure, front_seven, line, pro_set

from downfield.officiating.checks.alignment import (
    center_between_hashes,
    defense_off,
    gap_filling,
    head_up,
    line_base_widths,
    line_gaps,
    men_on_field,
    men_on_line,
    second_level,
    separation,
    stack_length,
    stacking,
)
from downfield.officiating.checks.backs import (
    backs_depth,
    behind_center,
    carrier_depth,
    carrier_inside_guards,
    direct_snap,
    gunner_corridor,
    gunners_wide,
    passer_depth,
    punt_spot,
    punter_depth,
    under_center,
    wide_men,
)
from downfield.officiating.checks.check import Check
from downfield.officiating.checks.formation import Formation
from downfield.officiating.checks.jerseys import jerseys, kick_jerseys, numbers_by_role, numbers_distinct, numbers_worn
from downfield.officiating.params import Params


def gravest_outcome(check: Check[Formation], formation: Formation, *players: str, **values: object) -> str:
    """The gravest outcome, about these players when named."""
    params = Params(check.params, {name.replace("__", "."): value for name, value in values.items()})
    found = [result for result in check(formation, params) if not players or set(players) <= set(result.players)]
    assert found, f"{check.name} says nothing"
    severity = ("kept", "unknown", "too_close", "broken")
    return max((result.outcome for result in found), key=severity.index)


def with_player(men: list[At], place: int, **changes: Any) -> list[At]:
    return [*men[:place], replace(men[place], **changes), *men[place + 1 :]]


# the line


@pytest.mark.parametrize(("men", "outcome"), [(10, "kept"), (11, "kept"), (12, "broken")])
def test_men_on_the_field(men: int, outcome: str) -> None:
    formation = build([At(1.0 + i, -20.0 + 4 * i) for i in range(men)], front_seven())
    assert gravest_outcome(men_on_field, formation) == outcome
    assert men_on_field.on_claim


def test_a_twelfth_player_half_over_the_sideline_is_too_close_and_one_beside_it_does_not_count() -> None:
    far = figure("x", "dark", 300.0, -60.0)
    astride = figure("x", "dark", 300.0, -8.0, sigma_mm=1.0)
    assert gravest_outcome(men_on_field, build(pro_set(), extra=[far])) == "kept"
    assert gravest_outcome(men_on_field, build(pro_set(), extra=[astride])) == "too_close"


@pytest.mark.parametrize(
    ("depth", "outcome"), [(0.0, "kept"), (0.49, "kept"), (0.5, "kept"), (0.51, "broken"), (-0.6, "broken")]
)
def test_seven_on_the_line(depth: float, outcome: str) -> None:
    assert gravest_outcome(men_on_line, build(with_player(pro_set(), 6, depth_yd=depth))) == outcome


def test_six_players_on_the_line_are_too_few_and_error_makes_it_too_close() -> None:
    assert gravest_outcome(men_on_line, build(line(count=6))) == "broken"
    assert gravest_outcome(men_on_line, replace(build(line(count=6)), unseen=("dark-7",))) == "unknown"
    assert gravest_outcome(men_on_line, build(with_player(pro_set(), 6, depth_yd=0.55), sigma_mm=0.5)) == "too_close"


def test_a_league_may_widen_the_line_or_require_fewer_players() -> None:
    formation = build(with_player(pro_set(), 6, depth_yd=1.0))
    assert gravest_outcome(men_on_line, formation, formation__line_tolerance_yd=1.5) == "kept"
    assert gravest_outcome(men_on_line, formation, formation__men_on_line=6) == "kept"


@pytest.mark.parametrize(
    ("gap", "outcome"), [(1.0, "kept"), (0.76, "kept"), (0.75, "kept"), (0.74, "broken"), (2.0, "kept")]
)
def test_gap_between_linemen(gap: float, outcome: str) -> None:
    assert gravest_outcome(line_gaps, build(pro_set(gap))) == outcome


def test_gap_between_linemen_when_a_league_requires_it_exactly() -> None:
    assert gravest_outcome(line_gaps, build(pro_set(1.25)), formation__line_gap_exact=True) == "kept"
    assert gravest_outcome(line_gaps, build(pro_set(1.26)), formation__line_gap_exact=True) == "broken"


@pytest.mark.parametrize(("widths", "outcome"), [(1.0, "kept"), (0.94, "kept"), (0.93, "broken")])
def test_a_base_width_between_players_at_the_line(widths: float, outcome: str) -> None:
    assert gravest_outcome(line_base_widths, build(pro_set(widths * WIDTH_YD))) == outcome


def test_a_base_width_between_defenders_at_the_line() -> None:
    formation = build(pro_set(WIDTH_YD), front_seven(0.5))
    assert gravest_outcome(line_base_widths, formation, "d0", "d1") == "broken"
    assert gravest_outcome(line_base_widths, formation, "o0", "o1") == "kept"


@pytest.mark.parametrize(("off", "outcome"), [(0.0, "kept"), (3.08, "kept"), (3.09, "broken"), (-3.09, "broken")])
def test_the_center_is_between_the_hash_rows(off: float, outcome: str) -> None:
    men = [At(at.depth_yd, at.off_yd + off, at.role) for at in pro_set()]
    assert gravest_outcome(center_between_hashes, build(men)) == outcome


# spacing


@pytest.mark.parametrize(
    ("behind", "outcome"), [(LENGTH_YD, "kept"), (1.01 * LENGTH_YD, "kept"), (0.99 * LENGTH_YD, "broken")]
)
def test_one_back_behind_another(behind: float, outcome: str) -> None:
    men = [*line(), At(9.0, 8.0), At(9.0 + LENGTH_YD + behind, 8.0)]
    found = stacking(build(men))
    assert ("broken" if any(result.outcome == "broken" for result in found) else "kept") == outcome


@pytest.mark.parametrize(("off", "stacks"), [(0.99, True), (1.01, False)])
def test_a_back_beside_is_not_behind(off: float, stacks: bool) -> None:
    men = [*line(), At(9.0, 8.0), At(9.5 + LENGTH_YD, 8.0 + off * WIDTH_YD)]
    assert any(result.outcome == "broken" for result in stacking(build(men))) == stacks


@pytest.mark.parametrize(("quarterback", "allowed"), [(LENGTH_YD - 0.1, True), (LENGTH_YD + 0.1, False)])
def test_a_linebacker_stacks_only_behind_the_nose_and_only_with_the_quarterback_under_center(
    quarterback: float, allowed: bool
) -> None:
    men = with_player(pro_set(), 7, depth_yd=quarterback + LENGTH_YD)
    nose, other = [At(2.0, 0.0), At(8.0, 0.0)], [At(2.0, 0.0), At(2.0, 6.0), At(8.0, 6.0)]
    in_rear = build(men, nose)
    assert any(result.outcome == "broken" for result in stacking(in_rear)) == (not allowed)
    assert gravest_outcome(stacking, build(men, other), "d2", "d1") == "broken"


def test_only_one_linebacker_stacks() -> None:
    men = with_player(pro_set(), 7, depth_yd=LENGTH_YD)
    three = [At(2.0, 0.0, role="NT"), At(2.0 + LENGTH_YD, 0.0, "LB"), At(2.0 + 2 * LENGTH_YD, 0.0, "LB")]
    assert gravest_outcome(stacking, build(men, three), "d2", "d1") == "broken"


@pytest.mark.parametrize(("apart", "outcome"), [(27.1, "kept"), (28.0, "kept"), (26.9, "broken")])
def test_backs_are_a_base_length_apart(apart: float, outcome: str) -> None:
    off = (16.0 + apart) / 9.3
    assert gravest_outcome(separation, build([*line(), At(10.0, 0.0, "QB"), At(10.0, off, "RB")])) == outcome


@pytest.mark.parametrize(("men", "outcome"), [(3, "kept"), (4, "kept"), (5, "broken")])
def test_length_of_a_stack(men: int, outcome: str) -> None:
    stack = [At(i * (LENGTH_YD + 0.5), 0.0) for i in range(1, men)]
    assert gravest_outcome(stack_length, build([*line(), *stack])) == outcome


# backs


@pytest.mark.parametrize(
    ("depth", "outcome"),
    [(0.0, "kept"), (0.5, "kept"), (0.6, "broken"), (4.4, "broken"), (4.5, "kept"), (5.0, "kept"), (9.0, "kept")],
)
def test_wide_players_are_on_the_line_or_five_yards_off(depth: float, outcome: str) -> None:
    assert gravest_outcome(wide_men, build(with_player(pro_set(), 10, depth_yd=depth)), "o10") == outcome


def test_wide_players_are_exactly_five_yards_off_when_a_league_requires_it() -> None:
    formation = build(with_player(pro_set(), 10, depth_yd=9.0))
    assert gravest_outcome(wide_men, formation, "o10", formation__wide_off_line_exact=True) == "broken"


@pytest.mark.parametrize(
    ("place", "depth", "outcome"), [(8, 19.99, "kept"), (8, 20.0, "broken"), (7, 20.0, "kept"), (7, 20.01, "broken")]
)
def test_backs_less_than_twenty_back_and_the_quarterback_at_most(place: int, depth: float, outcome: str) -> None:
    assert gravest_outcome(backs_depth, build(with_player(pro_set(), place, depth_yd=depth)), f"o{place}") == outcome


@pytest.mark.parametrize(("off", "outcome"), [(0.0, "kept"), (0.49, "kept"), (0.51, "broken"), (-0.51, "broken")])
def test_the_quarterback_is_behind_the_center(off: float, outcome: str) -> None:
    formation = build(with_player(pro_set(), 7, off_yd=off * WIDTH_YD, role="QB"))
    assert gravest_outcome(behind_center, formation, "o7") == outcome


def test_without_a_quarterback_the_result_is_unknown() -> None:
    assert gravest_outcome(behind_center, build(line())) == "unknown"


@pytest.mark.parametrize(("gap", "outcome"), [(0.99, "kept"), (1.01, "broken")])
def test_directly_behind_the_center(gap: float, outcome: str) -> None:
    formation = build(with_player(pro_set(), 7, depth_yd=LENGTH_YD + gap * LENGTH_YD))
    assert gravest_outcome(under_center, formation) == outcome


def test_a_direct_snap_goes_to_a_back_behind_the_quarterback() -> None:
    straight = with_player(pro_set(), 8, off_yd=0.4 * WIDTH_YD)
    assert gravest_outcome(direct_snap, build(straight, carrier="o8")) == "kept"
    assert gravest_outcome(direct_snap, build(pro_set(), carrier="o8")) == "broken"
    assert direct_snap(build(pro_set(), carrier="o7")) == ()
    in_front = with_player(pro_set(), 8, off_yd=0.0, depth_yd=1.5)
    assert gravest_outcome(direct_snap, build(with_player(in_front, 7, role="QB"), carrier="o8")) == "broken"


@pytest.mark.parametrize(("depth", "outcome"), [(20.0, "kept"), (20.01, "broken")])
def test_the_rear_of_the_runners_base_counts(depth: float, outcome: str) -> None:
    formation = build(with_player(pro_set(), 8, depth_yd=depth - LENGTH_YD), carrier="o8")
    assert gravest_outcome(carrier_depth, formation) == outcome


def test_the_runner_is_inside_the_guards() -> None:
    edge = 1.0 + 1.5 * WIDTH_YD
    for off, outcome in ((edge - 0.01, "kept"), (edge + 0.01, "broken"), (-edge - 0.01, "broken")):
        assert (
            gravest_outcome(
                carrier_inside_guards, build(with_player(pro_set(), 8, off_yd=off, role="RB"), carrier="o8")
            )
            == outcome
        )
    assert gravest_outcome(carrier_inside_guards, build(pro_set())) == "unknown"
    assert gravest_outcome(carrier_depth, build(pro_set())) == "unknown"


@pytest.mark.parametrize(("depth", "outcome"), [(20.0, "kept"), (20.1, "broken")])
def test_the_passer_is_within_twenty(depth: float, outcome: str) -> None:
    assert gravest_outcome(passer_depth, build(with_player(pro_set(), 7, depth_yd=depth))) == outcome


@pytest.mark.parametrize(
    ("depth", "tap", "lions_den"),
    [(20.0, "kept", "broken"), (19.4, "broken", "broken"), (7.5, "broken", "kept"), (7.6, "broken", "broken")],
)
def test_where_the_punter_stands(depth: float, tap: str, lions_den: str) -> None:
    formation = build(with_player(pro_set(), 7, depth_yd=depth, role="P"))
    assert (gravest_outcome(punter_depth, formation), gravest_outcome(punt_spot, formation)) == (tap, lions_den)


def test_gunners() -> None:
    wide = build(pro_set(), [At(10.0, 18.0), At(10.0, -18.0), At(25.0, 18.0)], gunners=("o10",))
    assert gravest_outcome(gunners_wide, wide) == "kept"
    assert gravest_outcome(gunner_corridor, wide, "d0", "o10") == "broken"
    assert not any({"d1", "d2"} & set(result.players) for result in gunner_corridor(wide))
    inside = build(pro_set(), gunners=("o7", "o8", "o9"))
    assert gravest_outcome(gunners_wide, inside, "o7") == "broken"


@pytest.mark.parametrize(("off", "clear"), [(0.99, False), (1.01, True)])
def test_a_gunners_lane_is_as_wide_as_his_base(off: float, clear: bool) -> None:
    formation = build(pro_set(), [At(10.0, 18.0 + off * WIDTH_YD)], gunners=("o10",))
    assert any(result.outcome == "broken" for result in gunner_corridor(formation)) == (not clear)


# defense


@pytest.mark.parametrize(("off", "outcome"), [(0.0, "kept"), (0.5, "kept"), (0.51, "broken")])
def test_linemen_are_head_up(off: float, outcome: str) -> None:
    formation = build(pro_set(WIDTH_YD), with_player(front_seven(WIDTH_YD), 1, off_yd=-2 * WIDTH_YD + off))
    assert gravest_outcome(head_up, formation, "d1", "o2") == outcome
    assert gravest_outcome(gap_filling, formation, "d1") == outcome


@pytest.mark.parametrize(
    ("gap", "outcome"), [(2.0, "kept"), (2.5, "kept"), (2.51, "broken"), (1.5, "kept"), (1.49, "broken")]
)
def test_lines_are_two_yards_apart(gap: float, outcome: str) -> None:
    formation = build(pro_set(WIDTH_YD), with_player(front_seven(WIDTH_YD), 1, depth_yd=gap))
    assert gravest_outcome(head_up, formation, "d1", "o2") == outcome


def test_every_lineman_needs_a_defender_head_up() -> None:
    formation = build(pro_set(WIDTH_YD), front_seven(WIDTH_YD)[1:])
    assert gravest_outcome(head_up, formation, "o1") == "broken"
    assert gravest_outcome(head_up, build(pro_set())) == "broken"


@pytest.mark.parametrize(("depth", "outcome"), [(20.0, "kept"), (20.1, "broken")])
def test_the_second_level_is_within_twenty(depth: float, outcome: str) -> None:
    formation = build(pro_set(WIDTH_YD), with_player(front_seven(WIDTH_YD), 8, depth_yd=depth))
    assert gravest_outcome(second_level, formation, "d8") == outcome


def test_a_defender_right_behind_a_gap_is_left_to_the_coaches() -> None:
    gap = WIDTH_YD
    near = with_player(front_seven(gap), 5, off_yd=gap, depth_yd=2.5 + LENGTH_YD)
    deep = with_player(front_seven(gap), 5, off_yd=gap, depth_yd=3.0 + 2 * LENGTH_YD)
    assert gravest_outcome(second_level, build(pro_set(gap), near), "d5") == "too_close"
    assert gravest_outcome(second_level, build(pro_set(gap), deep), "d5") == "kept"


@pytest.mark.parametrize(("depth", "outcome"), [(5.0, "kept"), (4.5, "kept"), (4.49, "broken"), (12.0, "kept")])
def test_the_defense_is_five_yards_off(depth: float, outcome: str) -> None:
    formation = build(pro_set(), [At(depth, 0.0)])
    assert gravest_outcome(defense_off, formation) == outcome
    exact = "kept" if 4.5 <= depth <= 5.5 else "broken"
    assert gravest_outcome(defense_off, formation, formation__defense_off_exact=True) == exact


# jerseys and numbers


def test_jerseys_follow_the_role() -> None:
    assert (gravest_outcome(jerseys, build(pro_set())), gravest_outcome(kick_jerseys, build(pro_set()))) == (
        "kept",
        "broken",
    )
    light = build(pro_set(), jersey="light")
    assert (gravest_outcome(jerseys, light), gravest_outcome(kick_jerseys, light)) == ("broken", "kept")


@pytest.mark.parametrize(
    ("place", "number", "outcome"),
    [(2, "50", "kept"), (2, "79", "kept"), (2, "49", "broken"), (2, "80", "broken"), (3, "00", "kept"),
     (2, "00", "broken"), (7, "0", "kept"), (7, "49", "kept"), (7, "50", "broken"), (10, "80", "kept"),
     (10, "89", "kept"), (10, "90", "broken"), (7, "00", "broken"), (7, "x", "broken")],
)  # fmt: skip
def test_numbers_by_role(place: int, number: str, outcome: str) -> None:
    assert gravest_outcome(numbers_by_role, build(with_player(pro_set(), place, number=number)), f"o{place}") == outcome


def test_the_defense_wears_any_number_and_unknown_numbers_stay_open() -> None:
    formation = build(with_player(pro_set(), 0, number="7"), [At(2.0, 0.0, number="99"), At(9.0, 4.0, number="99x")])
    assert all(result.players == ("o0",) for result in numbers_by_role(formation))
    assert gravest_outcome(numbers_worn, formation, "o1") == "unknown"
    assert not any("d0" in result.players for result in numbers_worn(formation))


def test_numbers_are_distinct_within_a_team() -> None:
    men = with_player(with_player(pro_set(), 0, number="55"), 1, number="55")
    assert gravest_outcome(numbers_distinct, build(men), "o0", "o1") == "broken"
    assert numbers_distinct(build(with_player(pro_set(), 0, number="55"), [At(2.0, 0.0, number="55")])) == ()
