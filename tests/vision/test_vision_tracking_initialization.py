"""The search for the line-up: on slow computers, among moving figures, under hands, and with known players."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from simulated_detector import PERFECT, SimulatedDetector, calibration_of
from tracked_tables import FIELD, LINE_UP_S, Place, Table, filmed, look_of, roster_of, standing, walking

from downfield.core.track_files import Roster, RosterSpot
from downfield.vision.measuring.measurement import Measurements, measure
from downfield.vision.tracking.initialization import LineUpPoses, LineUpSearch
from downfield.vision.tracking.tracker import Tracker

EIGHT = {f"dark-{i}": standing(300, 60 + 60 * i, 0) for i in range(4)} | {
    f"light-{i}": standing(360, 60 + 60 * i, 180) for i in range(4)
}
WALKERS = {f"dark-{i}": walking(300, 60 + 60 * i, 0) for i in range(4)} | {
    f"light-{i}": standing(600, 60 + 60 * i, 180) for i in range(4)
}
SLOW_NS = 400_000_000


def measured(table: Table, count: int | None = None) -> list[Measurements]:
    """The measurements of a perfect detector in every frame."""
    detector, look = SimulatedDetector(PERFECT), look_of(table.players)
    frames = filmed(table)[:count]
    return [measure(detector.detect(view), calibration_of(view, look), 5.5) for view, _, _ in frames]


def spots(table: Table, *ids: str) -> tuple[RosterSpot, ...]:
    """Where these players stand at the line-up."""
    return tuple(spot for spot in roster_of(table).spots if spot.id in ids)


def found(
    search: LineUpSearch, frames: Sequence[Measurements], step_ns: int = 33_333_333
) -> tuple[int, LineUpPoses | None]:
    """The number of frames until there is a line-up, and the line-up."""
    for number, frame in enumerate(frames):
        line_up = search.update(frame, number * step_ns)
        if line_up is not None:
            return number + 1, line_up
    return len(frames), None


def places(line_up: LineUpPoses) -> dict[str, tuple[float, float]]:
    return {player.id: (x, y) for player, (x, y) in zip(line_up.players, line_up.pose[:, :2].tolist(), strict=True)}


@pytest.mark.parametrize("step_ns", [33_333_333, SLOW_NS])
def test_standing_figures_are_found_however_rare_detections_are(step_ns: int) -> None:
    table = Table(EIGHT, 0.0)
    frames, line_up = found(LineUpSearch(FIELD, roster_of(table)), measured(table), step_ns)
    assert line_up is not None
    assert line_up.found.all()
    assert frames == (9 if step_ns < SLOW_NS else 2)


def test_a_figure_detected_once_does_not_stand() -> None:
    table = Table(EIGHT, 0.0)
    first = measured(table, 1)[0]
    without = first.select(np.arange(len(first)) != 0)
    search = LineUpSearch(FIELD, roster_of(table))
    assert [search.update(frame, n * SLOW_NS) for n, frame in enumerate([first, without, without])] == [None] * 3


def test_the_search_waits_for_moving_figures_of_a_roster() -> None:
    table = Table(WALKERS, 4.0)
    frames, line_up = found(LineUpSearch(FIELD, roster_of(table)), measured(table)[round(LINE_UP_S * 30) :])
    assert line_up is None
    assert frames > 2.5 * 30


ALL_WALK = {f"dark-{i}": walking(300, 60 + 60 * i, 0, 90) for i in range(5)} | {
    f"light-{i}": walking(600, 60 + 60 * i, 180, 90) for i in range(5)
}


def test_figures_that_are_never_detected_do_not_keep_the_search_waiting_once_the_others_walk() -> None:
    table = Table(ALL_WALK, 1.0, gone=lambda id_, _: id_ in {"dark-2", "light-0"})
    frames, line_up = found(LineUpSearch(FIELD, roster_of(table)), measured(table))
    assert line_up is not None
    assert LINE_UP_S * 30 < frames <= LINE_UP_S * 30 + 5
    assert {player.id for player, there in zip(line_up.players, line_up.found, strict=True) if not there} == {
        "dark-2",
        "light-0",
    }
    for id_, place in places(line_up).items():  # the missing ones, too, are expected where the roster has them
        assert place == pytest.approx(ALL_WALK[id_](-1.0)[:2], abs=4.0), id_


def test_who_begins_to_walk_before_the_others_is_followed_from_where_it_stood() -> None:
    """The carrier sets off alone, and turns; two that are never detected have kept the line-up waiting."""

    def turning(t_s: float) -> Place:
        return (300, 120 + 130 * max(t_s + 0.2, 0), 240 * max(t_s + 0.2, 0))

    paths = {**ALL_WALK, "dark-1": turning}
    table = Table(paths, 1.0, gone=lambda id_, _: id_ in {"dark-2", "light-0"})
    frames, line_up = found(LineUpSearch(FIELD, roster_of(table)), measured(table))
    assert line_up is not None
    tracker = Tracker(line_up, line_up.stood_ns)
    for frame, t_ns in line_up.since:
        tracker.update(frame, t_ns)
    carrier = next(figure for figure in tracker.estimates() if figure.id == "dark-1")
    x_mm, y_mm, heading_deg = turning((frames - 1) / 30 - LINE_UP_S)
    assert heading_deg > 40
    assert (carrier.seen, carrier.sure) == (True, True)
    assert (carrier.footprint.x_mm, carrier.footprint.y_mm) == pytest.approx((x_mm, y_mm), abs=2.0)
    assert carrier.footprint.heading_deg == pytest.approx(heading_deg, abs=5.0)


def test_the_search_waits_for_a_missing_figure_while_the_others_stand() -> None:
    table = Table(
        {id_: standing(*path(-1.0)) for id_, path in ALL_WALK.items()}, 4.0, gone=lambda id_, _: id_ == "dark-2"
    )
    frames, line_up = found(LineUpSearch(FIELD, roster_of(table)), measured(table))
    assert line_up is not None
    assert frames > 1.9 * 30


def test_too_few_standing_figures_are_no_line_up_when_they_walk() -> None:
    table = Table(ALL_WALK, 1.0, gone=lambda id_, _: id_ in {"dark-1", "dark-2", "light-0"})
    assert found(LineUpSearch(FIELD, roster_of(table)), measured(table))[1] is None


def test_a_few_standing_figures_of_a_roster_are_no_line_up_however_long_the_others_are_not_seen() -> None:
    table = Table(EIGHT, 4.0, gone=lambda id_, _: id_ not in {"dark-1", "dark-2", "light-0"})
    assert found(LineUpSearch(FIELD, roster_of(table)), measured(table))[1] is None
    half = replace(table, gone=lambda id_, _: id_ not in {"dark-1", "dark-2", "light-0", "light-1"})
    assert found(LineUpSearch(FIELD, roster_of(half)), measured(half))[1] is not None


def test_something_beside_a_missing_figures_place_is_not_that_figure_where_the_others_stand_in_theirs() -> None:
    paths = {**EIGHT, "thing": standing(300, 206, 0)}
    table = Table(paths, 4.0, gone=lambda id_, _: id_ == "dark-2", unlisted=["thing"])
    _, line_up = found(LineUpSearch(FIELD, roster_of(table)), measured(table))
    assert line_up is not None
    assert [player.id for player, there in zip(line_up.players, line_up.found, strict=True) if not there] == ["dark-2"]


def test_moving_figures_without_a_roster_are_numbered_where_they_are() -> None:
    table = Table(WALKERS, 4.0)
    frames, line_up = found(LineUpSearch(FIELD), measured(table)[round(LINE_UP_S * 30) :])
    assert line_up is not None
    assert len(line_up.players) == 8
    assert 1.9 * 30 < frames < 2.2 * 30


def test_a_missing_figure_is_not_found_and_may_be_anywhere() -> None:
    table = Table(EIGHT, 4.0)
    gone = replace(table, gone=lambda id_, _: id_ == "dark-2")
    _, line_up = found(LineUpSearch(FIELD, roster_of(table)), measured(gone))
    assert line_up is not None
    assert [player.id for player, there in zip(line_up.players, line_up.found, strict=True) if not there] == ["dark-2"]
    (lost,) = (figure for figure in Tracker(line_up, 0).estimates() if figure.posture == "unseen")
    assert lost.id == "dark-2"
    assert lost.covariance[0, 0] > 300**2
    assert lost.covariance[2, 2] <= np.pi**2 / 3 * 1.001  # that of any angle


def test_the_search_waits_for_a_figure_that_may_be_under_a_hand() -> None:
    table = Table(EIGHT, 4.0)
    frames = measured(replace(table, gone=lambda id_, _: id_ == "dark-2"))
    search = LineUpSearch(FIELD, roster_of(table))
    assert all(search.update(frame, n * 33_333_333, hidden=True) is None for n, frame in enumerate(frames))


def test_tracked_figures_keep_their_ids_and_teams() -> None:
    """Dark 1 and 2 have changed places, light 0 is unknown, and light 3 is tracked where a dark figure is."""
    table = Table(EIGHT, 0.0)
    x_yd, y_yd = 300 / FIELD.mm_per_yd_x, 60 / FIELD.mm_per_yd_y
    swapped = (RosterSpot("dark-1", x_yd, 3 * y_yd), RosterSpot("dark-2", x_yd, 2 * y_yd))
    wrong = RosterSpot("light-3", x_yd, 4.2 * y_yd)
    tracked = (*spots(table, "dark-0", "dark-3", "light-1", "light-2"), *swapped, wrong)
    search = LineUpSearch(FIELD, Roster(table.players))
    frames = measured(table)
    colored = [replace(frame, light=np.where(frame.pose[:, 0] > 330, 4.0, -4.0)) for frame in frames]
    answers = [search.update(frame, n * 33_333_333, tracked=tracked) for n, frame in enumerate(colored[:9])]
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
    id_: standing(path(0.0)[0] + 330, path(0.0)[1] + 12, np.degrees(path(0.0)[2])) for id_, path in RANKS.items()
}


def identified(now: Table, formations: Sequence[Sequence[RosterSpot]]) -> dict[str, tuple[float, float]]:
    """The places of all figures by id, found without having been tracked there."""
    frames = [replace(frame, light=np.where(np.cos(frame.pose[:, 2]) > 0, -4.0, 4.0)) for frame in measured(now)]
    _, line_up = found(LineUpSearch(FIELD, Roster(now.players), formations), frames)
    assert line_up is not None
    return places(line_up)


def test_figures_are_identified_by_a_past_formation() -> None:
    """Further up the field, in no order across it."""
    now = Table(UP_THE_FIELD, 0.0)
    named = identified(now, [roster_of(Table(EIGHT, 0.0)).spots, roster_of(Table(RANKS, 0.0)).spots])
    for id_, path in UP_THE_FIELD.items():
        assert named[id_] == pytest.approx(path(0.0)[:2], abs=1.0), id_


def test_figures_in_no_past_formation_are_identified_by_their_order_across_the_field() -> None:
    named = identified(Table(UP_THE_FIELD, 0.0), [roster_of(Table(EIGHT, 0.0)).spots])
    assert named["dark-0"] == pytest.approx((630, 72), abs=1.0)
    assert named["dark-3"] == pytest.approx((630, 212), abs=1.0)


def test_tracked_figures_are_not_exchanged_to_match_a_past_formation() -> None:
    """Dark 1 and 2 have changed places since, and a third one is unknown: no reason to exchange them."""
    table = Table(EIGHT, 0.0)
    x_yd, y_yd = 300 / FIELD.mm_per_yd_x, 60 / FIELD.mm_per_yd_y
    swapped = (RosterSpot("dark-1", x_yd, 3 * y_yd), RosterSpot("dark-2", x_yd, 2 * y_yd))
    tracked = (*spots(table, "dark-0", "light-0", "light-1", "light-2", "light-3"), *swapped)
    search = LineUpSearch(FIELD, Roster(table.players), [roster_of(table).spots])
    answers = [search.update(frame, n * 33_333_333, tracked=tracked) for n, frame in enumerate(measured(table)[:9])]
    assert answers[-1] is not None
    named = places(answers[-1])
    assert named["dark-1"] == pytest.approx((300, 180), abs=1.0)
    assert named["dark-2"] == pytest.approx((300, 120), abs=1.0)


@pytest.mark.parametrize(("width_mm", "lies"), [(4.0, True), (0.9, True), (0.9, False)])
def test_a_fallen_or_impossibly_flat_base_gets_the_size_of_the_others(width_mm: float, lies: bool) -> None:
    (frame,) = measured(Table(EIGHT, 0.0), 1)
    pose, fallen = frame.pose.copy(), frame.fallen.copy()
    pose[2, 4], fallen[2] = width_mm, 5.0 if lies else -5.0
    line_up = LineUpSearch(FIELD).from_single_frame(replace(frame, pose=pose, fallen=fallen), 0)
    assert line_up is not None
    usual = np.median(np.delete(frame.pose[:, 3:], 2, axis=0), axis=0)
    (i,) = np.flatnonzero(np.hypot(*(line_up.pose[:, :2] - pose[2, :2]).T) < 1)
    base = line_up.players[i].base
    np.testing.assert_allclose((base.length_mm, base.width_mm), usual, atol=0.01)
    np.testing.assert_allclose(line_up.pose[i, 3:], usual)
