"""Pivots between the board's going off and on: who, how many, whereto, and who not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lineups import BASE, FIELD, contact

from downfield.core.footprint import BaseSize
from downfield.core.mathematics import wrap_deg
from downfield.core.scene import Contact, Figure, Player, Scene
from downfield.officiating.checks.check import Check
from downfield.officiating.checks.movement import (
    PreSnapChanges,
    defense_motion,
    find_pose_changes,
    offense_motion,
    repositioned,
)
from downfield.officiating.checks.pivots import (
    StoppageChanges,
    StoppageKind,
    base_swaps,
    dead_pivots,
    defense_pivots,
    engaged_pivots,
    interception_pivots,
    line_stop_pivots,
    loose_ball_pivots,
    one_defender,
    pass_pivots,
    pivots_in_place,
    pivots_toward,
)
from downfield.officiating.state.play_state import poses_of

PLAYERS_PER_TEAM = 5
ROSTER = tuple(
    Player(f"{letter}{i}", "dark" if letter == "o" else "light", role=role, base=BASE)
    for letter, roles in (("o", ("QB", "WR", "RB", "C", "")), ("d", ("DL", "LB", "DB", "DB", "DB")))
    for i, role in enumerate(roles)
)
ALL_STOP_CHECKS: tuple[Check[StoppageChanges], ...] = (
    base_swaps, dead_pivots, defense_pivots, engaged_pivots, interception_pivots, line_stop_pivots, loose_ball_pivots,
    one_defender, pass_pivots, pivots_in_place, pivots_toward,
)  # fmt: skip


def scene(
    turned: dict[str, float] | None = None,
    moved: dict[str, tuple[float, float]] | None = None,
    contacts: Sequence[Contact] = (),
    *,
    sigma_mm: float = 0.0,
    sigma_deg: float = 0.0,
    at: tuple[float, float] = (300.0, 150.0),
    way: int = 1,
) -> Scene:
    """Five a side in two rows, the offense facing downfield, the defense upfield, some turned, some moved."""
    figures = []
    for player in ROSTER:
        row, place = (-30.0, 0.0) if player.jersey == "dark" else (30.0, 180.0)
        dx, dy = (moved or {}).get(player.id, (0.0, 0.0))
        figures.append(
            Figure(
                player.id,
                player.jersey,
                at[0] + way * (row + dx),
                at[1] + way * (40.0 * int(player.id[1]) + dy),
                wrap_deg(place + (turned or {}).get(player.id, 0.0) + (0 if way == 1 else 180)),
                BASE.length_mm,
                BASE.width_mm,
                sigma_mm=(sigma_mm, sigma_mm),
                sigma_deg=sigma_deg,
            )
        )
    return Scene(0, 0, "off", tuple(figures), tuple(contacts))


def stop(
    kind: StoppageKind = "coach",
    turned: dict[str, float] | None = None,
    moved: dict[str, tuple[float, float]] | None = None,
    contacts: Sequence[Contact] = (),
    *,
    fallen: Sequence[str] = (),
    swapped: Sequence[str] = (),
    exempt: tuple[str, ...] = (),
    target_mm: tuple[float, float] | None = None,
    sigma_deg: float = 0.0,
) -> StoppageChanges:
    before, after = scene(contacts=contacts, sigma_deg=sigma_deg), scene(turned, moved, contacts, sigma_deg=sigma_deg)
    changed = find_pose_changes(poses_of(before), after, ROSTER, offense="dark", fallen=fallen, swapped=swapped)
    return StoppageChanges(FIELD, kind, changed, target_mm, exempt)


def outcomes(check: Check[StoppageChanges], stoppage: StoppageChanges) -> list[str]:
    return [result.outcome for result in check(stoppage)]


def turning(offense: int, defense: int, deg: float = 20.0) -> dict[str, float]:
    return {f"o{i}": deg for i in range(offense)} | {f"d{i}": deg for i in range(defense)}


@pytest.mark.parametrize(
    ("offense", "defense", "outcome"),
    [
        (0, 0, "kept"),
        (0, 1, "broken"),
        (1, 2, "kept"),
        (1, 3, "broken"),
        (3, 4, "kept"),
        (3, 5, "broken"),
        (2, 0, "kept"),
    ],
)
def test_the_defense_gets_one_pivot_more_but_none_for_none(offense: int, defense: int, outcome: str) -> None:
    assert outcomes(defense_pivots, stop(turned=turning(offense, defense))) == [outcome]


@pytest.mark.parametrize(("deg", "outcome"), [(2.9, "kept"), (3.0, "broken"), (-3.1, "broken"), (-2.9, "kept")])
def test_a_turn_of_three_degrees_is_a_pivot(deg: float, outcome: str) -> None:
    assert outcomes(defense_pivots, stop(turned={"d0": deg})) == [outcome]


def test_a_turn_near_the_limit_is_too_close() -> None:
    assert outcomes(defense_pivots, stop(turned={"d0": 3.2}, sigma_deg=0.7)) == ["too_close"]
    assert outcomes(defense_pivots, stop(turned={"d0": 3.2, "o0": 40.0}, sigma_deg=0.7)) == ["kept"]


def test_a_base_swap_with_or_without_a_turn_is_one_pivot() -> None:
    assert outcomes(defense_pivots, stop(turned=turning(0, 2), swapped=["o0"])) == ["kept"]
    assert outcomes(defense_pivots, stop(turned=turning(1, 3), swapped=["o0"])) == ["broken"]


def test_on_a_pass_the_defense_is_not_limited_in_number() -> None:
    assert outcomes(defense_pivots, stop("pass", turning(0, 5))) == []


def test_no_player_is_pivoted_in_the_stop_at_the_line() -> None:
    assert outcomes(line_stop_pivots, stop("line", turning(1, 0))) == ["broken"]
    assert outcomes(line_stop_pivots, stop("line")) == ["kept"]
    assert outcomes(line_stop_pivots, stop("coach", turning(1, 0))) == []


def test_engaged_players_are_not_pivoted_except_the_first_to_touch() -> None:
    touching = [contact("o1", "d1")]
    assert outcomes(engaged_pivots, stop(turned={"o1": 20.0}, contacts=touching)) == ["broken"]
    assert outcomes(engaged_pivots, stop(turned={"o2": 20.0}, contacts=touching)) == []
    assert outcomes(engaged_pivots, stop("first_touch", {"o1": 20.0}, contacts=touching, exempt=("o1",))) == []
    assert outcomes(engaged_pivots, stop(turned={"o1": 20.0}, contacts=[contact("o1", "d1", 0.6)])) == ["too_close"]
    assert outcomes(engaged_pivots, stop(turned={"o1": 20.0}, contacts=[contact("o1", "o2")])) == []


def test_fallen_players_are_not_pivoted_or_moved() -> None:
    assert outcomes(dead_pivots, stop(turned={"d2": 20.0}, fallen=["d2"])) == ["broken"]
    assert outcomes(dead_pivots, stop(moved={"d2": (6.0, 0.0)}, fallen=["d2"])) == ["broken"]
    assert outcomes(dead_pivots, stop(turned={"d1": 20.0}, fallen=["d2"])) == []


def test_on_a_pass_the_defense_turns_toward_the_ball_and_the_receiver_in_any_direction() -> None:
    ball = (230.0, 110.0)  # behind and to the side of the offense; d0 faces -x from (330, 150)
    assert outcomes(pivots_toward, stop("pass", {"d0": 20.0}, target_mm=ball)) == ["kept"]
    assert outcomes(pivots_toward, stop("pass", {"d0": -20.0}, target_mm=ball)) == ["broken"]
    assert outcomes(pivots_toward, stop("pass", {"o1": 90.0}, target_mm=ball)) == []
    assert outcomes(pivots_toward, stop("coach", {"d0": -20.0}, target_mm=ball)) == []
    assert outcomes(pivots_toward, stop("interception", {"d0": -20.0}, target_mm=ball)) == []
    assert outcomes(pivots_toward, stop("fumble", {"d0": -20.0}, target_mm=ball)) == ["broken"]


@pytest.mark.parametrize(("shift_yd", "outcome"), [(0.0, "kept"), (0.09, "kept"), (0.11, "broken")])
def test_a_pivot_leaves_the_figure_in_place(shift_yd: float, outcome: str) -> None:
    moved = {"d0": (shift_yd * FIELD.mm_per_yd_x, 0.0)}
    assert outcomes(pivots_in_place, stop(turned={"d0": 30.0}, moved=moved)) == [outcome]
    moved = {"d0": (0.0, shift_yd * FIELD.mm_per_yd_y)}
    assert outcomes(pivots_in_place, stop(turned={"d0": 30.0}, moved=moved)) == [outcome]


def test_moving_away_from_the_target_is_allowed_and_closer_is_not() -> None:
    ball = (100.0, 150.0)
    assert outcomes(pivots_in_place, stop("pass", {"d0": 30.0}, {"d0": (3.0, 0.0)}, target_mm=ball)) == ["kept"]
    assert outcomes(pivots_in_place, stop("pass", {"d0": 30.0}, {"d0": (-3.0, 0.0)}, target_mm=ball)) == ["broken"]
    assert outcomes(pivots_in_place, stop(moved={"d0": (6.0, 0.0)})) == ["broken"], "moved without being turned"
    assert outcomes(pivots_in_place, stop(moved={"d0": (1.0, 0.0)})) == [], "no figure was handled"


@pytest.mark.parametrize(("turned", "outcome"), [(0, "kept"), (1, "kept"), (2, "broken")])
def test_lions_den_turns_one_defender_a_stop(turned: int, outcome: str) -> None:
    assert outcomes(one_defender, stop("coach", turning(3, turned))) == [outcome]
    assert outcomes(one_defender, stop("pass", turning(3, turned))) == [outcome]
    assert outcomes(one_defender, stop("fumble", turning(3, turned))) == []


@pytest.mark.parametrize(("turned", "outcome"), [(3, "kept"), (4, "broken")])
def test_three_a_team_at_a_loose_ball(turned: int, outcome: str) -> None:
    assert outcomes(loose_ball_pivots, stop("fumble", turning(turned, 1))) == [outcome, "kept"]
    assert outcomes(loose_ball_pivots, stop("onside", turning(1, turned))) == ["kept", outcome]
    assert {result.clauses for result in loose_ball_pivots(stop("fumble", turning(turned, 1)))} == {("LD-018",)}
    assert loose_ball_pivots(stop("fumble", turning(turned, 1)), book="TAP-") == ()


@pytest.mark.parametrize(("turned", "outcome"), [(2, "kept"), (3, "broken")])
def test_efl_turns_two(turned: int, outcome: str) -> None:
    assert outcomes(pass_pivots, stop("pass", turning(5, turned))) == [outcome]
    assert outcomes(interception_pivots, stop("interception", turning(turned, 5))) == [outcome]


def test_only_the_quarterback_changes_bases() -> None:
    assert outcomes(base_swaps, stop(swapped=["o0"])) == ["kept"]
    assert outcomes(base_swaps, stop(swapped=["o1"])) == ["broken"]
    assert outcomes(base_swaps, stop(swapped=["o4"])) == ["unknown"]


# before the snap


def adjusted(turned: dict[str, float], moved: dict[str, tuple[float, float]]) -> PreSnapChanges:
    return PreSnapChanges(find_pose_changes(poses_of(scene()), scene(turned, moved), ROSTER, offense="dark"))


def test_one_eligible_player_in_motion_and_one_pivoted() -> None:
    legal = adjusted({"o2": 30.0}, {"o1": (0.0, 60.0)})
    assert {result.outcome for result in offense_motion(legal)} == {"kept"}
    two = adjusted({}, {"o1": (0.0, 60.0), "o2": (0.0, 60.0)})
    assert [result.outcome for result in offense_motion(two)] == ["broken", "kept"]
    turned_and_moved = adjusted({"o1": 30.0}, {"o1": (0.0, 60.0)})
    assert {result.outcome for result in offense_motion(turned_and_moved)} == {"kept"}
    center = adjusted({"o3": 30.0}, {})
    assert [result.outcome for result in offense_motion(center)] == ["kept", "kept", "broken"]
    unknown_role = adjusted({"o4": 30.0}, {})
    assert [result.outcome for result in offense_motion(unknown_role)] == ["kept", "kept", "unknown"]


def test_the_defense_matches_motions_with_motions_and_pivots_with_pivots() -> None:
    def outcomes_of(turned: dict[str, float], moved: dict[str, tuple[float, float]]) -> list[str]:
        return [result.outcome for result in defense_motion(adjusted(turned, moved))]

    assert outcomes_of({}, {"o1": (0.0, 60.0), "d1": (0.0, 60.0)}) == ["kept", "kept"]
    assert outcomes_of({}, {"d1": (0.0, 60.0)}) == ["broken", "kept"]
    assert outcomes_of({"d1": 30.0}, {"o1": (0.0, 60.0)}) == ["kept", "broken"]


def test_lions_den_re_positions_four() -> None:
    assert [result.outcome for result in repositioned(adjusted({}, {f"d{i}": (0.0, 60.0) for i in range(4)}))] == [
        "kept"
    ]
    assert [result.outcome for result in repositioned(adjusted({}, {f"d{i}": (0.0, 60.0) for i in range(5)}))] == [
        "broken"
    ]


# symmetry


turns = st.dictionaries(st.sampled_from([p.id for p in ROSTER]), st.floats(-90, 90), max_size=6)
shifts = st.dictionaries(
    st.sampled_from([p.id for p in ROSTER]), st.tuples(st.floats(-8, 8), st.floats(-8, 8)), max_size=4
)


@given(
    turned=turns, moved=shifts, kind=st.sampled_from(["coach", "pass", "line", "fumble", "interception", "first_touch"])
)
def test_a_stoppage_rotated_by_180_degrees_gives_the_same_results(
    turned: dict[str, float], moved: dict[str, tuple[float, float]], kind: StoppageKind
) -> None:
    def stoppage(way: int) -> StoppageChanges:
        at = (300.0, 150.0)
        before = scene(at=at, way=way, contacts=[contact("o2", "d2", 0.7)], sigma_mm=0.3, sigma_deg=1.0)
        after = scene(turned, moved, at=at, way=way, sigma_mm=0.3, sigma_deg=1.0)
        ball = (at[0] + way * 50.0, at[1] + way * 20.0)
        return StoppageChanges(FIELD, kind, find_pose_changes(poses_of(before), after, ROSTER, offense="dark"), ball)

    for check in ALL_STOP_CHECKS:
        original, rotated = check(stoppage(1)), check(stoppage(-1))
        assert [(a.outcome, a.players) for a in original] == [(b.outcome, b.players) for b in rotated], check.name
        for a, b in zip(original, rotated, strict=True):
            assert (a.margin, a.probability) == pytest.approx((b.margin, b.probability), abs=1e-6)


def test_figures_in_a_hand_or_not_in_the_roster_are_left_out() -> None:
    before = scene()
    held = replace(before.figures[0], posture="lifted", heading_deg=90.0)
    stranger = Figure("x9", "light", 0.0, 0.0, 0.0, 28.0, 16.0)
    after = replace(before, figures=(held, *before.figures[1:], stranger))
    assert [result.id for result in find_pose_changes(poses_of(before), after, ROSTER, offense="dark")] == [
        p.id for p in ROSTER[1:]
    ]
    assert BaseSize() != BASE
