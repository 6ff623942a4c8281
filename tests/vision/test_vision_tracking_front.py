"""Fronts that the network takes wrong come right by line-up and walk, and nothing but these turns a figure around."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_detector import Faults
from tracked_tables import Path, Place, Table, Tracked, hand_at, standing, tracked, tracked_with, walking

from downfield.vision.tracking.front import FRONT_LIMITS, FrontFilter, facing_odds

TURNED = Faults(turned=1.0, flip=0.0)
"""The network takes the front of every figure wrong, throughout."""
STEP_S = 1 / 60
ONE = np.array([0])
NO_HAND = np.array([False])


def front_of_one(network: float, facing: float = 0.0) -> FrontFilter:
    """The filter of one figure."""
    return FrontFilter(np.array([network]), np.array([facing]))


def detect(front: FrontFilter, score: float, seconds: float) -> None:
    """The network sees the first figure's front with this score for a while."""
    for _ in range(round(seconds / STEP_S)):
        front.update_from_network(ONE, np.array([score]), np.array([1.0]), NO_HAND, STEP_S)


def turned(frames: list[Tracked], id_: str, since_s: float = 0.0) -> list[bool]:
    """Whether a figure is believed to face the other way, frame by frame."""
    return [frame.turn_deg(id_) > 90 for frame in frames if frame.t_s >= since_s]


def moving(x_mm: float, y_mm: float, heading_deg: float, rate: Place, until_s: float = math.inf) -> Path:
    """A path that drifts and turns at constant rates, mm/s and degrees/s, once the board is on."""

    def path(t_s: float) -> Place:
        time_s = min(max(t_s, 0.0), until_s)
        return (x_mm + rate[0] * time_s, y_mm + rate[1] * time_s, heading_deg + rate[2] * time_s)

    return path


@pytest.mark.parametrize("speed_mm_s", [20.0, 60.0])
def test_a_figure_that_the_network_takes_wrong_comes_right_within_40_mm_walked(speed_mm_s: float) -> None:
    paths = {"dark-1": walking(300, 150, 20, speed_mm_s), "light-1": walking(600, 300, 180, speed_mm_s)}
    frames = tracked(Table(paths, 50.0 / speed_mm_s), TURNED)
    for id_ in paths:
        assert turned(frames, id_)[0]
        assert frames[0].seen[id_].to_figure().front < 0.95  # by the network alone: not enough to make a call by
        assert not any(turned(frames, id_, since_s=40.0 / speed_mm_s))
        assert frames[-1].seen[id_].to_figure().front > 0.9


def test_a_figure_pushed_back_by_an_opponent_keeps_its_front() -> None:
    paths = {"dark-1": moving(400, 200, 0, (-40, 0, 0)), "light-1": moving(430.3, 200, 180, (-40, 0, 0))}
    frames = tracked(Table(paths, 2.0), Faults(flip=0.0))
    assert not any(turned(frames, "dark-1") + turned(frames, "light-1"))


@pytest.mark.parametrize("rate", [(0.0, 40.0, 0.0), (0.0, 0.0, 150.0), (0.0, 20.0, -150.0)])
def test_a_figure_that_drifts_aside_or_turns_on_the_spot_keeps_its_front(rate: Place) -> None:
    paths = {"dark-1": moving(300, 200, 0, rate), "light-1": standing(600, 200, 180)}
    assert not any(turned(tracked(Table(paths, 2.0), Faults(flip=0.0)), "dark-1"))


def test_teams_lined_up_against_each_other_face_each_other_whatever_the_network_takes_them_for() -> None:
    paths = {f"dark-{i}": standing(400, 120 + 60 * i, 8 * i - 8) for i in range(3)}
    paths |= {f"light-{i}": standing(450, 120 + 60 * i, 180 - 8 * i) for i in range(3)}
    frames = tracked(Table(paths, 0.3), TURNED)
    assert not any(turned(frames, id_)[-1] for id_ in paths)


def test_a_line_up_put_together_by_hand_after_the_search_counts_when_the_board_starts() -> None:
    place = np.array([[400.0, 100 + 60 * (i % 3), np.pi if i < 3 else 0.0] for i in range(6)])
    place[3:, 0] = 450
    light = np.arange(6) > 2
    front = FrontFilter(np.full(6, 2.0), np.zeros(6))
    front.line_up(facing_odds(place, front.log_odds, light, np.ones(6, dtype=bool)))
    assert front.resolve_flips().all()


def test_a_hand_passing_beside_a_figure_that_walked_against_the_network_does_not_turn_it_around() -> None:
    paths = {"dark-1": moving(300, 250, 0, (75, 0, 0), 1.0), "light-1": standing(700, 250, 180)}
    table = Table(
        paths, 2.8, power=lambda t_s: 0 < t_s < 1.1, hands=lambda t_s: (hand_at(375, 215),) if 1.3 < t_s < 1.9 else ()
    )
    frames = tracked(table, TURNED)
    assert not any(turned(frames, "dark-1", since_s=1.0))


def test_the_network_counts_for_no_more_however_long_it_says_the_same() -> None:
    front = front_of_one(0.0)
    detect(front, 1.0, 60.0)
    assert front.log_odds[0] == pytest.approx(math.log(FRONT_LIMITS.prior_right / FRONT_LIMITS.prior_wrong))
    front.update_from_walking(ONE, np.array([-25.0]))
    assert front.resolve_flips()[0]


def test_the_network_is_believed_more_about_a_body_that_walked_as_it_said_and_not_at_all_otherwise() -> None:
    right, wrong = front_of_one(4.0), front_of_one(4.0)
    right.update_from_walking(ONE, np.array([60.0]))
    wrong.update_from_walking(ONE, np.array([-60.0]))
    assert wrong.resolve_flips()[0]
    for front, turned_by_hand in ((right, True), (wrong, False)):
        front.limit_handled(ONE)
        detect(front, -1.0, 3.0)
        assert front.resolve_flips()[0] == turned_by_hand


def test_the_network_earns_its_weight_by_the_figures_that_walked() -> None:
    weights = []
    for ahead_mm in (60.0, -60.0):
        front = FrontFilter(np.full(12, 4.0), np.zeros(12))
        front.update_from_walking(np.arange(11), np.full(11, ahead_mm))
        weights.append(front.log_odds[11])
    assert weights[0] > math.log(9) + 0.4
    assert weights[1] < 0.5


def test_a_figure_alone_on_its_side_is_no_evidence_for_its_own_front() -> None:
    odds = facing_odds(np.zeros((1, 3)), np.array([2.0]), np.array([False]), np.array([True]))
    assert odds.tolist() == [0.0]


def test_mixed_teams_face_as_their_own_team_mostly_does() -> None:
    random = np.random.default_rng(4)
    pose = np.column_stack([random.uniform(300, 600, 22), random.uniform(100, 400, 22), np.zeros(22)])
    light = np.arange(22) % 2 == 0
    pose[light, 2] = np.pi
    network = np.full(22, 2.0)
    network[[0, 1]] = -2.0  # it takes one figure of each team wrong
    odds = facing_odds(pose, network, light, np.ones(22, dtype=bool))
    assert (odds > 1.0).all()


@given(st.lists(st.tuples(st.sampled_from(["walk", "see", "hide", "jump"]), st.floats(-80, 80)), max_size=30))
def test_headings_point_to_the_more_likely_end_after_any_evidence(events: list[tuple[str, float]]) -> None:
    front = front_of_one(1.0)
    for t_ns, (kind, amount) in zip(itertools.count(0, 300_000_000), events, strict=False):
        if kind == "walk":
            front.update_from_walking(ONE, np.array([amount]))
        elif kind == "see":
            detect(front, amount / 80, 0.5)
        elif kind == "hide":
            front.limit_hidden(np.array([True]))
            assert front.log_odds[0] <= FRONT_LIMITS.max_hidden + 1e-9
        else:
            front.reset_jumped(ONE, np.array([amount / 20]), np.array([amount / 40]), t_ns)
        front.resolve_flips()
        assert 0.5 <= front.probability[0] <= 1.0


def jump(front: FrontFilter, before_deg: float, after_deg: float, t_s: float) -> None:
    """The first figure is measured at another heading than a moment ago, degrees; flips are resolved."""
    headings = np.radians([[before_deg], [after_deg]])
    front.reset_jumped(ONE, headings[1], headings[1] - headings[0], round(t_s * 1e9))


def front_that_walked() -> FrontFilter:
    """The filter of a figure that has walked far ahead."""
    front = front_of_one(1.0, 2.0)
    front.update_from_walking(ONE, np.array([50.0]))
    return front


@pytest.mark.parametrize(("again_deg", "flips"), [(20.0, False), (200.0, True)])
def test_a_base_measured_across_for_a_moment_faces_as_before_whichever_way_it_seems_to_turn_back(
    again_deg: float, flips: bool
) -> None:
    front = front_that_walked()
    known = front.probability[0]
    jump(front, 10.0, 105.0, 2.0)
    assert front.probability[0] == 0.5, "measured across, either end may be the front"
    front.update_from_walking(ONE, np.array([4.0]))
    jump(front, 105.0, again_deg, 2.4)
    assert front.resolve_flips()[0] == flips
    assert front.probability[0] == known


def test_a_base_measured_across_for_long_or_beside_a_hand_may_have_turned_around() -> None:
    for_long, beside_hand = front_that_walked(), front_that_walked()
    jump(for_long, 10.0, 105.0, 2.0)
    jump(for_long, 105.0, 20.0, 3.5)
    assert for_long.probability[0] == 0.5
    jump(beside_hand, 10.0, 105.0, 2.0)
    beside_hand.limit_handled(ONE)
    jump(beside_hand, 105.0, 20.0, 2.4)
    assert beside_hand.probability[0] == 0.5


def test_a_persons_word_turns_a_figure_around_at_once_and_only_a_long_walk_overrules_it() -> None:
    table = Table({"dark-1": standing(300, 150, 20), "light-1": standing(600, 300, 180)}, 0.4)
    frames, tracker = tracked_with(table, TURNED)
    assert turned(frames, "dark-1")[-1]
    tracker.settle_front("dark-1", 40.0)
    tracker.settle_front("dark-1", 10.0)  # a second tap on the same picture
    tracker.settle_front("light-9", 0.0)  # not on the board
    told, other = tracker.estimates()
    assert abs(told.footprint.heading_deg - 20) < 10
    assert told.front > 0.99
    assert abs(other.footprint.heading_deg) < 10  # the other figure is still taken wrong


def test_the_network_does_not_outlast_a_persons_word_but_a_long_walk_the_other_way_does() -> None:
    front = front_of_one(4.0)
    front.settle(0, ahead=False)
    assert front.resolve_flips()[0]
    detect(front, -1.0, 60.0)
    assert not front.resolve_flips()[0]
    front.update_from_walking(ONE, np.array([-30.0]))
    assert not front.resolve_flips()[0]
    front.update_from_walking(ONE, np.array([-10.0]))
    assert front.resolve_flips()[0]


def test_a_persons_word_taken_back_leaves_the_network_to_decide_again() -> None:
    front = front_of_one(4.0)
    front.settle(0, ahead=False)
    front.resolve_flips()
    front.withdraw(0)
    assert front.resolve_flips()[0]


def test_a_figure_that_a_hand_turns_after_a_persons_word_is_believed_as_the_network_sees_it() -> None:
    front = front_of_one(4.0)
    front.settle(0, ahead=True)
    front.limit_handled(ONE)
    detect(front, -1.0, 3.0)
    assert front.resolve_flips()[0]
