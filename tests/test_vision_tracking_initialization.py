"""The search for the line-up: on slow computers, among figures that walk, under hands, and of men known before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from simulated_detector import PERFECT, Network, calibration_of
from tracked_tables import FIELD, LINE_UP_S, Table, filmed, look_of, roster_of, standing, walking

from downfield.core.roster import Roster, RosterSpot
from downfield.vision.tracking.initialization import LineUpPoses, LineUpSearch
from downfield.vision.tracking.measurement import Measurements, measure
from downfield.vision.tracking.tracker import Tracker

EIGHT = {f"dark-{i}": standing(300, 60 + 60 * i, 0) for i in range(4)} | {
    f"light-{i}": standing(360, 60 + 60 * i, 180) for i in range(4)
}
WALKERS = {f"dark-{i}": walking(300, 60 + 60 * i, 0) for i in range(4)} | {
    f"light-{i}": standing(600, 60 + 60 * i, 180) for i in range(4)
}
SLOW_NS = 400_000_000


def sightings(table: Table, count: int | None = None) -> list[Measurements]:
    """What a perfect network makes of every frame."""
    network, look = Network(PERFECT), look_of(table.players)
    frames = filmed(table)[:count]
    return [measure(network.see(one), calibration_of(one, look), 5.5) for one, _, _ in frames]


def spots(table: Table, *ids: str) -> tuple[RosterSpot, ...]:
    """Where these stand at the line-up."""
    return tuple(spot for spot in roster_of(table).spots if spot.id in ids)


def found(
    search: LineUpSearch, seen: Sequence[Measurements], step_ns: int = 33_333_333
) -> tuple[int, LineUpPoses | None]:
    """After how many frames there is a line-up, and which."""
    for number, one in enumerate(seen):
        line_up = search.see(one, number * step_ns)
        if line_up is not None:
            return number + 1, line_up
    return len(seen), None


def places(line_up: LineUpPoses) -> dict[str, tuple[float, float]]:
    return {player.id: (x, y) for player, (x, y) in zip(line_up.players, line_up.pose[:, :2].tolist(), strict=True)}


@pytest.mark.parametrize("step_ns", [33_333_333, SLOW_NS])
def test_who_stands_is_found_however_rare_looks_are(step_ns: int) -> None:
    table = Table(EIGHT, 0.0)
    frames, line_up = found(LineUpSearch(FIELD, roster_of(table)), sightings(table), step_ns)
    assert line_up is not None
    assert line_up.found.all()
    assert frames == (9 if step_ns < SLOW_NS else 2)


def test_a_figure_that_was_seen_once_does_not_stand() -> None:
    table = Table(EIGHT, 0.0)
    one = sightings(table, 1)[0]
    without = one.only(np.arange(len(one)) != 0)
    search = LineUpSearch(FIELD, roster_of(table))
    assert [search.see(seen, n * SLOW_NS) for n, seen in enumerate([one, without, without])] == [None] * 3


def test_among_figures_that_walk_those_of_a_roster_are_waited_for() -> None:
    table = Table(WALKERS, 4.0)
    frames, line_up = found(LineUpSearch(FIELD, roster_of(table)), sightings(table)[round(LINE_UP_S * 30) :])
    assert line_up is None
    assert frames > 2.5 * 30


def test_among_figures_that_walk_those_nobody_named_are_numbered_where_they_are() -> None:
    table = Table(WALKERS, 4.0)
    frames, line_up = found(LineUpSearch(FIELD), sightings(table)[round(LINE_UP_S * 30) :])
    assert line_up is not None
    assert len(line_up.players) == 8
    assert 1.9 * 30 < frames < 2.2 * 30


def test_who_is_missing_is_not_found_and_in_no_place() -> None:
    table = Table(EIGHT, 4.0)
    gone = replace(table, gone=lambda id_, _: id_ == "dark-2")
    _, line_up = found(LineUpSearch(FIELD, roster_of(table)), sightings(gone))
    assert line_up is not None
    assert [player.id for player, there in zip(line_up.players, line_up.found, strict=True) if not there] == ["dark-2"]
    (lost,) = (one for one in Tracker(line_up, 0).estimates() if one.posture == "unseen")
    assert lost.id == "dark-2"
    assert lost.covariance[0, 0] > 300**2
    assert lost.covariance[2, 2] <= np.pi**2 / 3 * 1.001  # that of any angle


def test_who_may_be_under_a_hand_is_waited_for() -> None:
    table = Table(EIGHT, 4.0)
    seen = sightings(replace(table, gone=lambda id_, _: id_ == "dark-2"))
    search = LineUpSearch(FIELD, roster_of(table))
    assert all(search.see(one, n * 33_333_333, hidden=True) is None for n, one in enumerate(seen))


def test_men_who_are_followed_are_who_they_are_believed_to_be_and_of_their_teams() -> None:
    """Dark 1 and 2 have changed places, nobody knows where light 0 is, and light 3 is believed where a dark man is."""
    table = Table(EIGHT, 0.0)
    x_yd, y_yd = 300 / FIELD.mm_per_yd_x, 60 / FIELD.mm_per_yd_y
    swapped = (RosterSpot("dark-1", x_yd, 3 * y_yd), RosterSpot("dark-2", x_yd, 2 * y_yd))
    wrong = RosterSpot("light-3", x_yd, 4.2 * y_yd)
    believed = (*spots(table, "dark-0", "dark-3", "light-1", "light-2"), *swapped, wrong)
    search = LineUpSearch(FIELD, Roster(table.players))
    looks = sightings(table)
    colored = [replace(one, light=np.where(one.pose[:, 0] > 330, 4.0, -4.0)) for one in looks]
    answers = [search.see(one, n * 33_333_333, believed=believed) for n, one in enumerate(colored[:9])]
    assert answers[-1] is not None
    named = {id_: (round(x / 60), round(y / 60)) for id_, (x, y) in places(answers[-1]).items()}
    assert named["dark-1"] == (5, 3)
    assert named["dark-2"] == (5, 2)
    assert named["dark-3"] == (5, 4)
    assert {named["light-0"], named["light-3"]} == {(6, 1), (6, 4)}


RANKS = {
    "dark-0": standing(300, 200, 0),
    "dark-1": standing(300, 60, 0),
    "dark-2": standing(250, 130, 0),
    "dark-3": standing(200, 130, 0),
    "light-0": standing(360, 90, 180),
    "light-1": standing(360, 180, 180),
    "light-2": standing(430, 230, 180),
    "light-3": standing(440, 40, 180),
}
UP_THE_FIELD = {
    id_: standing(one(0.0)[0] + 330, one(0.0)[1] + 12, np.degrees(one(0.0)[2])) for id_, one in RANKS.items()
}


def named_after_a_cut(now: Table, formations: Sequence[Sequence[RosterSpot]]) -> dict[str, tuple[float, float]]:
    """Who is who once everybody stands where nobody was followed to."""
    looks = [replace(one, light=np.where(np.cos(one.pose[:, 2]) > 0, -4.0, 4.0)) for one in sightings(now)]
    _, line_up = found(LineUpSearch(FIELD, Roster(now.players), formations), looks)
    assert line_up is not None
    return places(line_up)


def test_men_are_known_by_a_formation_they_have_stood_in_before() -> None:
    """Further up the field, in no order across it."""
    now = Table(UP_THE_FIELD, 0.0)
    named = named_after_a_cut(now, [roster_of(Table(EIGHT, 0.0)).spots, roster_of(Table(RANKS, 0.0)).spots])
    for id_, path in UP_THE_FIELD.items():
        assert named[id_] == pytest.approx(path(0.0)[:2], abs=1.0), id_


def test_men_in_no_formation_of_before_are_known_by_their_order_across_the_field() -> None:
    named = named_after_a_cut(Table(UP_THE_FIELD, 0.0), [roster_of(Table(EIGHT, 0.0)).spots])
    assert named["dark-0"] == pytest.approx((630, 72), abs=1.0)
    assert named["dark-3"] == pytest.approx((630, 212), abs=1.0)


def test_men_who_were_followed_are_not_who_stood_there_before() -> None:
    """Dark 1 and 2 have changed places since, and a third one is not known: no reason to exchange them."""
    table = Table(EIGHT, 0.0)
    x_yd, y_yd = 300 / FIELD.mm_per_yd_x, 60 / FIELD.mm_per_yd_y
    swapped = (RosterSpot("dark-1", x_yd, 3 * y_yd), RosterSpot("dark-2", x_yd, 2 * y_yd))
    believed = (*spots(table, "dark-0", "light-0", "light-1", "light-2", "light-3"), *swapped)
    search = LineUpSearch(FIELD, Roster(table.players), [roster_of(table).spots])
    answers = [search.see(one, n * 33_333_333, believed=believed) for n, one in enumerate(sightings(table)[:9])]
    assert answers[-1] is not None
    named = places(answers[-1])
    assert named["dark-1"] == pytest.approx((300, 180), abs=1.0)
    assert named["dark-2"] == pytest.approx((300, 120), abs=1.0)


@pytest.mark.parametrize(("width_mm", "lies"), [(4.0, True), (0.9, True), (0.9, False)])
def test_who_lies_or_is_seen_as_flat_as_nobody_is_has_a_base_like_the_others(width_mm: float, lies: bool) -> None:
    (seen,) = sightings(Table(EIGHT, 0.0), 1)
    pose, fallen = seen.pose.copy(), seen.fallen.copy()
    pose[2, 4], fallen[2] = width_mm, 5.0 if lies else -5.0
    line_up = LineUpSearch(FIELD).at_once(replace(seen, pose=pose, fallen=fallen), 0)
    assert line_up is not None
    usual = np.median(np.delete(seen.pose[:, 3:], 2, axis=0), axis=0)
    (i,) = np.flatnonzero(np.hypot(*(line_up.pose[:, :2] - pose[2, :2]).T) < 1)
    base = line_up.players[i].base
    np.testing.assert_allclose((base.length_mm, base.width_mm), usual, atol=0.01)
    np.testing.assert_allclose(line_up.pose[i, 3:], usual)
