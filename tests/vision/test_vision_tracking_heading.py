"""The tracker finds the front of a base again after the network was wrong about it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from made_measurements import EXACT, VAGUE, measurements
from tracked_tables import LINE_UP_S, Table, standing, tracked_with

from downfield.core.arrays import Array
from downfield.core.mathematics import wrap_deg
from downfield.vision.measuring.measurement import Measurements
from downfield.vision.tracking.tracker import Tracker

PLACES = {"dark-1": (300.0, 200.0), "dark-2": (300.0, 260.0), "light-1": (360.0, 200.0), "light-2": (360.0, 260.0)}
STEP_NS = 1_000_000_000 // 60


def tracking() -> tuple[Tracker, int]:
    """A tracker after a second of four figures that face along the field, and the time, ns."""
    frames, tracker = tracked_with(Table({id_: standing(x, y) for id_, (x, y) in PLACES.items()}, 1.0))
    return tracker, round((frames[-1].t_s + LINE_UP_S) * 1e9)


def detected(heading_deg: float, *, visible: float = 1.0, vague: bool = False) -> Measurements:
    """All four figures where they stand, the first as if it faced another way."""
    all_four = measurements(*((x, y, EXACT, 0.95, 0.0) for x, y in PLACES.values()))
    pose, shares, covariance = all_four.pose.copy(), all_four.visible.copy(), all_four.covariance.copy()
    pose[0, 2], shares[0] = np.radians(heading_deg), visible
    if vague:
        covariance[0] = VAGUE
    return dataclasses.replace(all_four, pose=pose, visible=shares, covariance=covariance)


def unseen(frames: int) -> list[Measurements]:
    """The same without the first."""
    return [detected(0.0).select(np.array([False, True, True, True]))] * frames


def heading_after(tracker: Tracker, t_ns: int, frames: list[Measurements], hands_mm: tuple[Array, ...] = ()) -> float:
    """The first figure's estimated heading after these frames, degrees, -180..180."""
    for number, frame in enumerate(frames):
        estimates = tracker.update(frame, t_ns + (number + 1) * STEP_NS, power="on", hands_mm=hands_mm)
    return wrap_deg(estimates[0].footprint.heading_deg)


@pytest.mark.parametrize("across_deg", [60.0, -60.0, 75.0, -75.0, 105.0, -105.0])
def test_a_base_once_detected_across_does_not_face_the_other_way_afterwards(across_deg: float) -> None:
    tracker, t_ns = tracking()
    mistaken = [*unseen(12), detected(across_deg, vague=True), *unseen(8)]
    assert abs(heading_after(tracker, t_ns, [*mistaken, detected(0.0), detected(0.0), detected(0.0)])) < 10


@pytest.mark.parametrize("turned_deg", [80.0, -80.0, 100.0, -100.0])
def test_a_figure_that_made_a_quarter_turn_unseen_faces_as_detected_at_once(turned_deg: float) -> None:
    tracker, t_ns = tracking()
    off_deg = heading_after(tracker, t_ns, [*unseen(40), *[detected(turned_deg)] * 12]) - turned_deg
    assert abs(wrap_deg(off_deg)) < 10


def test_a_base_partly_hidden_by_a_hand_is_not_turned_around() -> None:
    x, y = PLACES["dark-1"]
    hand = np.array([(x - 40, y - 5), (x - 12, y - 5), (x - 12, y - 90), (x - 40, y - 90)])
    tracker, t_ns = tracking()
    assert abs(heading_after(tracker, t_ns, [detected(180.0, visible=0.75)] * 180, (hand,))) < 10


def test_a_fully_visible_base_beside_a_hand_may_be_turned_around() -> None:
    x, y = PLACES["dark-1"]
    hand = np.array([(x - 40, y - 5), (x - 18, y - 5), (x - 18, y - 90), (x - 40, y - 90)])
    tracker, t_ns = tracking()
    assert abs(heading_after(tracker, t_ns, [detected(180.0)] * 180, (hand,))) > 170
