"""Named plays of tackles: hits from every side, near misses, and where the ball is spotted."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from twin_recordings import FIELD, contacts, figure, happened, recorded, touched_by_opponent

from downfield.core.arrays import Array
from downfield.core.footprint import BaseSize, Footprint, signed_gap
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.twin.plays.formations import RB, RCB
from downfield.twin.plays.playbook.index import named
from downfield.twin.plays.playbook.tackles import corner_hit, near_miss
from downfield.twin.plays.recording import play
from downfield.vision.contacts.contact_tracker import ContactTracker
from downfield.vision.measuring.estimate import Estimate


@pytest.mark.parametrize(
    ("name", "runner", "defender", "angle_deg"),
    [
        ("clean-tackle", "front", "front", 0.0),
        ("side-hit", "left", "front", 0.0),
        ("into-side", "front", "left", 0.0),
        ("from-behind", "rear", "front", 0.0),
        ("into-back", "front", "rear", 0.0),
        ("side-rub", "left", "left", 0.0),
        ("corner-hit", "front", "corner", 40.0),
        ("nearly-square-hit", "front", "front", 5.0),
    ],
)
def test_the_runner_is_hit_as_the_name_says(name: str, runner: str, defender: str, angle_deg: float) -> None:
    recording = recorded(name)
    first = next(one for one in contacts(recording, RB, RCB) if one.since_ns is not None)
    assert (first.face_a, first.face_b) == (runner, defender)
    assert first.angle_deg == pytest.approx(angle_deg, abs=0.01)
    if angle_deg == 0.0 and name != "side-rub":
        assert first.overlap_mm == pytest.approx(18.0, abs=0.5)
    assert not happened(recording, "fell", RB)
    assert not happened(recording, "fell", RCB)


def test_only_square_hits_are_tackles_under_the_efl() -> None:
    by_efl = {
        name: bool(recorded(name).expected["efl"])
        for name in ("clean-tackle", "side-hit", "into-side", "from-behind", "into-back", "side-rub", "corner-hit")
    }
    assert by_efl == {
        "clean-tackle": True,
        "side-hit": True,
        "into-side": True,
        "from-behind": True,
        "into-back": False,
        "side-rub": False,
        "corner-hit": False,
    }


@pytest.mark.parametrize("miss_mm", [0.1, 0.2, 0.5, 1.0])
def test_a_near_miss_misses_by_its_distance(miss_mm: float) -> None:
    recording = recorded(f"near-miss-{miss_mm:g}")
    gaps = [one.gap_mm for one in contacts(recording, RB, RCB)]
    assert min(gaps) == pytest.approx(miss_mm, abs=0.02)
    assert not touched_by_opponent(recording, RB)
    assert recording.expected["tap"] == recording.expected["lions-den"] == ()
    assert "tackle" in recording.absent["tap"]


def test_a_near_miss_by_zero_touches() -> None:
    assert touched_by_opponent(near_miss(0.0).record(), RB)


@pytest.mark.parametrize("short_mm", [0.1, 0.5])
def test_a_runner_stopped_short_stands_that_far_away(short_mm: float) -> None:
    recording = recorded(f"stopped-short-{short_mm:g}")
    last = recording.scenes[-1]
    assert last.board == "off"
    gap = signed_gap(figure(last, RB).footprint, figure(last, RCB).footprint).gap_mm
    assert gap == pytest.approx(short_mm, abs=0.02)
    assert not touched_by_opponent(recording, RB)


@pytest.mark.parametrize("angle_deg", [3.0, 31.0, 44.0])
def test_a_corner_hit_has_the_given_angle(angle_deg: float) -> None:
    recording = corner_hit(angle_deg).record()
    first = next(one for one in contacts(recording, RB, RCB) if one.since_ns is not None)
    assert first.angle_deg == pytest.approx(angle_deg, abs=0.01)


def test_the_spot_of_a_tackle_is_where_the_base_was_at_the_touch() -> None:
    recording = recorded("clean-tackle")
    (call,) = recording.expected["tap"]
    (hand,) = recording.expected["lions-den"]
    runner = figure(recording.scenes[-1], RB)  # who has stood since the touch
    assert call.spot_yd is not None
    assert hand.spot_yd is not None
    assert call.spot_yd[0] * FIELD.mm_per_yd_x == pytest.approx(runner.x_mm + 15.0, abs=0.05)
    assert hand.spot_yd[0] * FIELD.mm_per_yd_x == pytest.approx(runner.x_mm + 11.0, abs=0.05)
    assert hand.spot_yd[1] * FIELD.mm_per_yd_y == pytest.approx(runner.y_mm - 4.0, abs=0.05)


@pytest.mark.parametrize("seed", [1, 4, 8, 9, 10])
def test_a_tackle_in_noise_of_half_a_millimeter_is_at_least_too_close_to_call(seed: int) -> None:
    """In the tracks of seed 9 it touches with a probability of a third, and noise goes on at rest."""
    one, fps = named("clean-tackle"), 30.0
    recording = play(replace(one.script, fps=fps), one.seed)
    noise, noise_mm, noise_rad = np.random.default_rng(seed), 0.5, math.radians(0.3)
    tracker, covariance = ContactTracker(), np.diag([noise_mm**2, noise_mm**2, noise_rad**2])
    last: dict[str, Array] = {}
    rates: dict[str, Array] = {}
    scenes = []
    for scene in recording.scenes:
        figures, estimates = [], []
        for truth in scene.figures:
            _, drawn = noise.standard_normal((2, 3))  # the first would be of a drift
            place = np.array([truth.x_mm, truth.y_mm, math.radians(truth.heading_deg)])
            place += drawn * (noise_mm, noise_mm, noise_rad)
            step = place - last.get(truth.id, place)
            step[2] = math.remainder(step[2], math.tau)
            rate = rates.get(truth.id, np.zeros(3))
            last[truth.id], rates[truth.id] = place, rate + 0.35 * (step * fps - rate)
            x_mm, y_mm, heading_deg = float(place[0]), float(place[1]), math.degrees(place[2])
            base = Footprint(x_mm, y_mm, heading_deg, BaseSize(truth.length_mm, truth.width_mm, 5.5, truth.corner_mm))
            estimates.append(Estimate(truth.id, truth.jersey, base, covariance, rates[truth.id], posture=truth.posture))
            sigma_mm = (noise_mm, noise_mm)
            seen = replace(truth, x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg, sigma_mm=sigma_mm, sigma_deg=0.3)
            figures.append(seen)
        contacts = tuple(tracker.step(estimates, scene.t_ns, power=scene.board))
        scenes.append(replace(scene, figures=tuple(figures), contacts=contacts))
    for book in ("efl", "lions-den"):
        calls = judge_recording(scenes, recording.events, load_rulebook(book), recording.field).calls
        verdicts = [call.verdict for call in calls if call.kind == "tackle"]
        assert len(verdicts) == 1, book
        assert verdicts[0] in {"called", "too_close"}
