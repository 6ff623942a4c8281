"""Contacts over time: touches are found and timed, near misses and uncertain ones are not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.arrays import Array
from downfield.core.footprint import BaseSize, Footprint
from downfield.core.scene import Contact, Jersey, Power
from downfield.vision.contacts.contact_tracker import ContactTracker
from downfield.vision.contacts.limits import CONTACT_LIMITS
from downfield.vision.measuring.estimate import Estimate

SURE = 0.95
FRAME_S = 1 / 60
BASE = BaseSize(30.0, 18.0, 5.5, 1.0)
CLOSING_MM_S = 90.0

Pose = tuple[float, float, float]
"""x mm, y mm, heading in degrees."""


@dataclass(frozen=True)
class Report:
    """What was reported of the pair in a frame."""

    t_s: float
    probability: float
    since_s: float | None


def estimate(
    id_: str, pose: Pose, velocity: Array, sigma_mm: float, *, seen: bool = True, fresh: bool = True, sure: bool = True
) -> Estimate:
    """A figure as a tracker would give it."""
    covariance = np.diag([sigma_mm**2, sigma_mm**2, math.radians(0.4) ** 2])
    jersey: Jersey = "dark" if id_.startswith("dark") else "light"
    base, identity = Footprint(*pose, BASE), 1.0 if sure else 0.5
    return Estimate(id_, jersey, base, covariance, velocity, seen=seen, fresh=fresh, identity=identity)


def watch(
    way_a: Callable[[float], Pose],
    way_b: Callable[[float], Pose],
    *,
    seconds: float = 1.0,
    error_mm: tuple[float, float] = (0.0, 0.0),
    sigma_mm: float = 0.15,
    noise_mm: float = 0.05,
    power: Callable[[float], Power] = lambda _: "on",
    fit: Callable[[float], bool] = lambda _: True,
    seen: Callable[[float], bool] = lambda _: True,
    fresh: Callable[[float], bool] = lambda _: True,
    sure: Callable[[float], bool] = lambda _: True,
    times: Iterable[float] | None = None,
    start_ns: int = 0,
) -> list[Report]:
    """Two figures on their ways, filmed with a lasting error of their relative place and some noise."""
    tracker, rng, out = ContactTracker(), np.random.default_rng(1), []
    for t_s in np.arange(0, seconds, FRAME_S) if times is None else times:
        figures = []
        for id_, way, off in (("dark-1", way_a, (0.0, 0.0)), ("light-1", way_b, error_mm)):
            x, y, heading = way(t_s)
            then = way(t_s - FRAME_S)
            turned = math.radians((heading - then[2] + 180) % 360 - 180)
            velocity = np.array([x - then[0], y - then[1], turned]) / FRAME_S
            jitter = rng.normal(0, noise_mm, 2)
            at = x + off[0] + jitter[0], y + off[1] + jitter[1], heading
            known = {"seen": seen(t_s), "fresh": fresh(t_s), "sure": sure(t_s)}
            figures.append(estimate(id_, at, velocity, sigma_mm, **known))
        contacts = tracker.step(figures, start_ns + round(t_s * 1e9), power=power(t_s), fit=fit(t_s))
        out.append(report(contacts, t_s, start_ns))
    return out


def report(contacts: tuple[Contact, ...], t_s: float, start_ns: int = 0) -> Report:
    """The only pair, if it is listed."""
    if not contacts:
        return Report(t_s, 0.0, None)
    (contact,) = contacts
    since_s = None if contact.since_ns is None else (contact.since_ns - start_ns) / 1e9
    return Report(t_s, contact.probability, since_s)


def standing(_: float) -> Pose:
    """Stands at the origin, facing along x."""
    return 0.0, 0.0, 0.0


def runs_into(t_s: float, *, at_s: float = 0.5, y: float = 0.0) -> Pose:
    """Comes head-on and stops when the gap is 0."""
    return 30.0 + CLOSING_MM_S * max(at_s - t_s, 0.0), y, 180.0


def passes(t_s: float, *, miss_mm: float) -> Pose:
    """Passes side by side at a distance."""
    return CLOSING_MM_S * (0.5 - t_s), 18.0 + miss_mm, 180.0


def highest(run: list[Report]) -> float:
    """The highest probability reported."""
    return max(report.probability for report in run)


@pytest.mark.parametrize("bias_mm", [-0.25, 0.0, 0.25])
def test_a_head_on_touch_is_found_and_timed_between_frames_whatever_the_bias(bias_mm: float) -> None:
    run = watch(standing, runs_into, error_mm=(bias_mm, 0.0))
    assert highest([report for report in run if report.t_s < 0.5 - FRAME_S]) < 0.5
    late = run[-1]
    assert late.probability > SURE
    assert late.since_s == pytest.approx(0.5, abs=FRAME_S / 2)


@pytest.mark.parametrize("error_mm", [-0.2, 0.0, 0.2])
def test_passing_half_a_millimeter_clear_is_no_touch(error_mm: float) -> None:
    run = watch(standing, lambda t_s: passes(t_s, miss_mm=0.5), error_mm=(0.0, error_mm))
    assert highest(run) < SURE


@pytest.mark.parametrize("miss_mm", [0.5, 1.0])
@pytest.mark.parametrize("hz", [2.0, 4.0])
def test_passing_clear_is_no_touch_though_measured_headings_swing(miss_mm: float, hz: float) -> None:
    def swings(t_s: float) -> Pose:
        x, y, heading = passes(t_s, miss_mm=miss_mm)
        return x, y, heading + 2.0 * math.sin(2 * math.pi * hz * t_s)

    assert highest(watch(standing, swings, sigma_mm=0.3)) < SURE


def test_passing_two_millimeters_clear_is_clear() -> None:
    run = watch(standing, lambda t_s: passes(t_s, miss_mm=2.0))
    assert highest(run) < 1 - SURE


def test_a_bounce_shorter_than_a_frame_is_reported() -> None:
    def bounces(t_s: float) -> Pose:
        return 30.0 + CLOSING_MM_S * (0.5 - t_s if t_s < 0.5 else 0.6 * (t_s - 0.5)), 0.0, 180.0

    run = watch(standing, bounces)
    sure = [report for report in run if report.probability > SURE]
    assert len(sure) >= 3
    assert sure[-1].since_s == pytest.approx(0.5, abs=FRAME_S)
    assert run[-1].probability < 1 - SURE


def test_stopping_short_as_the_board_goes_off_is_no_touch() -> None:
    def stopped(t_s: float) -> Pose:
        return 30.4 + CLOSING_MM_S * max(0.5 - t_s, 0.0), 0.0, 180.0

    run = watch(standing, stopped, seconds=2.0, power=lambda t_s: "on" if t_s < 0.52 else "off")
    assert run[-1].probability < SURE


def test_stopping_far_outside_the_error_is_no_touch() -> None:
    def stopped(t_s: float) -> Pose:
        return 31.2 + 130.0 * max(0.5 - t_s, 0.0), 0.0, 180.0

    run = watch(standing, stopped)
    assert highest(run) < SURE
    assert run[-1].probability < 1 - SURE


@pytest.mark.parametrize("closing_mm_s", [12.0, 40.0, 130.0])
def test_slow_and_fast_approaches_are_timed_within_a_frame(closing_mm_s: float) -> None:
    def comes(t_s: float) -> Pose:
        return 30.0 + closing_mm_s * max(0.6 - t_s, 0.0), 0.0, 180.0

    run = watch(standing, comes, seconds=1.2)
    assert run[-1].probability > SURE
    assert run[-1].since_s == pytest.approx(0.6, abs=FRAME_S)


def test_a_long_contact_stays_one_while_its_error_drifts() -> None:
    def drifts(t_s: float) -> Pose:
        x, y, heading = runs_into(t_s)
        return x + 0.25 * math.sin(0.8 * (t_s - 0.5)), y, heading

    run = [report for report in watch(standing, drifts, seconds=5.0, sigma_mm=0.25) if report.t_s > 0.6]
    assert min(report.probability for report in run) > CONTACT_LIMITS.touch_probability
    assert run[-1].since_s == pytest.approx(0.5, abs=FRAME_S)
    assert {report.since_s for report in run if report.t_s > 0.8} == {run[-1].since_s}


@pytest.mark.parametrize("off_s", [1.0, 9.0])
def test_who_stays_where_it_met_another_touches_it_ever_since_in_play_and_as_the_board_stops(off_s: float) -> None:
    run = watch(
        standing,
        runs_into,
        sigma_mm=0.5,
        noise_mm=0.1,
        power=lambda t_s: "off" if t_s >= off_s else "on",
        times=np.arange(0, 3.0, 1 / 15),
    )
    assert min(one.probability for one in run if one.t_s > 0.8) > highest([one for one in run if one.t_s < 0.8]) - 0.02


def test_noise_at_rest_does_not_restart_a_pair() -> None:
    run = watch(standing, lambda _: (30.8, 0.0, 180.0), seconds=3.0, power=lambda _: "off", sigma_mm=0.5, noise_mm=0.25)
    assert highest(run) < SURE


def test_nothing_is_learned_from_a_pair_at_rest() -> None:
    run = watch(standing, lambda _: (30.3, 0.0, 180.0), seconds=3.0, power=lambda _: "off", noise_mm=0.02)
    settled = [report.probability for report in run if report.t_s > 0.6]
    assert max(settled) - min(settled) < 0.02
    assert max(settled) < SURE


def test_a_frozen_stream_makes_no_contact() -> None:
    def frozen(t_s: float) -> Pose:
        return runs_into(min(t_s, 0.48))  # 1.8 mm before the touch

    run = watch(standing, frozen, fit=lambda t_s: t_s < 0.5)
    assert highest(run) <= CONTACT_LIMITS.unseen_probability


@pytest.mark.parametrize("left_s", [0.15, 0.25])
def test_a_touch_soon_after_a_hand_has_left_is_found(left_s: float) -> None:
    run = watch(standing, runs_into, error_mm=(0.2, 0.0), fit=lambda t_s: t_s > 0.5 - left_s)
    assert run[-1].probability > SURE
    assert run[-1].since_s == pytest.approx(0.5, abs=FRAME_S)


def test_dropped_frames_make_no_contact_of_a_pass() -> None:
    times = [t for t in np.arange(0, 1.0, FRAME_S) if not 0.3 < t < 0.5]
    assert highest(watch(standing, lambda t_s: passes(t_s, miss_mm=1.5), times=times)) < SURE


@pytest.mark.parametrize("frozen", [False, True], ids=["no pictures", "frozen"])
@pytest.mark.parametrize(("missing_s", "miss_mm"), [(0.1, 0.5), (0.2, 0.5), (0.2, 1.0), (0.4, 1.0)])
def test_who_passes_near_while_no_picture_comes_touches_nobody(missing_s: float, miss_mm: float, frozen: bool) -> None:
    def gone(t_s: float) -> bool:
        return abs(t_s - 0.5) < missing_s / 2

    times = [t_s for t_s in np.arange(0, 1.0, FRAME_S).tolist() if frozen or not gone(t_s)]
    run = watch(standing, lambda t_s: passes(t_s, miss_mm=miss_mm), times=times, fresh=lambda t_s: not gone(t_s))
    assert highest(run) < SURE


def test_no_touch_of_an_unseen_figure_is_sure() -> None:
    run = watch(standing, runs_into, seen=lambda t_s: t_s < 0.45)
    assert highest(run) <= CONTACT_LIMITS.unseen_probability


def test_no_touch_with_a_vague_gap_is_sure() -> None:
    assert highest(watch(standing, runs_into, seconds=1.5)) > SURE
    assert highest(watch(standing, runs_into, seconds=1.5, sigma_mm=2.5)) <= CONTACT_LIMITS.vague_probability < SURE


def test_no_touch_of_a_figure_with_uncertain_identity_is_sure() -> None:
    assert (
        CONTACT_LIMITS.unseen_probability
        < highest(watch(standing, runs_into, seconds=1.5, sure=lambda t_s: t_s < 0.3))
        <= CONTACT_LIMITS.vague_probability
        < SURE
    )


def every_other(t_s: float) -> bool:
    return round(t_s / FRAME_S) % 2 == 0


def test_a_touch_between_detected_frames_is_found_and_timed() -> None:
    run = watch(runs_into, standing, fresh=every_other)
    assert highest(run) > SURE
    since_s = run[-1].since_s
    assert since_s is not None
    assert abs(since_s - 0.5) < FRAME_S
    assert all(report.probability > SURE for report in run if report.t_s > 0.7)


def test_frames_without_detection_are_no_evidence() -> None:
    def strays(t_s: float) -> Pose:
        x, y, heading = passes(t_s, miss_mm=1.0)
        return x, y - (0.0 if every_other(t_s) else 1.5), heading

    assert highest(watch(strays, standing)) > SURE
    assert highest(watch(strays, standing, fresh=every_other)) < SURE


def test_a_lifted_figure_touches_nobody() -> None:
    still = estimate("dark-1", (0.0, 0.0, 0.0), np.zeros(3), 0.1)
    held = replace(estimate("light-1", (29.0, 0.0, 180.0), np.zeros(3), 0.1), posture="lifted")
    assert ContactTracker().step([still, held], 0) == ()


def test_contacts_have_their_ids_in_order_and_far_pairs_are_not_listed() -> None:
    figures = [estimate(f"light-{i}", (i * 33.0, 0.0, 0.0), np.zeros(3), 0.1) for i in (3, 1, 2)]
    contacts = ContactTracker().step(figures, 0)
    assert [(c.a, c.b) for c in contacts] == [("light-1", "light-2"), ("light-2", "light-3")]


def test_an_error_that_both_share_does_not_blur_their_gap() -> None:
    pair = [
        estimate("dark-1", (0.0, 0.0, 0.0), np.zeros(3), 0.5),
        estimate("light-1", (32, 0.0, 180.0), np.zeros(3), 0.5),
    ]
    (alone,) = ContactTracker().step(pair, 0)
    (shared,) = ContactTracker().step(pair, 0, shared=np.eye(2) * 0.45**2)
    assert shared.sigma_mm < 0.6 * alone.sigma_mm


def _frozen(t_s: float) -> bool:
    return 0.42 < t_s < 0.6


def test_a_meeting_that_is_only_predicted_is_no_contact() -> None:
    """It stops 2 mm short while the picture is frozen, and is predicted to walk on meanwhile."""

    def predicted(t_s: float) -> Pose:
        return 30.0 + max(2.0 + CLOSING_MM_S * (0.45 - t_s), -0.4 if _frozen(t_s) else 2.0), 0.0, 180.0

    run = watch(standing, predicted, times=np.arange(0, 0.8, 1 / 30), fresh=lambda t_s: not _frozen(t_s))
    assert highest([one for one in run if _frozen(one.t_s)]) <= CONTACT_LIMITS.unseen_probability
    assert run[-1].probability < 0.01


@pytest.mark.parametrize("absent", [False, True], ids=["frozen", "no pictures"])
def test_a_meeting_in_a_moment_without_pictures_is_found_and_dated(absent: bool) -> None:
    times = [t_s for t_s in np.arange(0, 0.8, 1 / 30).tolist() if not (absent and _frozen(t_s))]
    last = watch(standing, runs_into, times=times, fresh=lambda t_s: not _frozen(t_s))[-1]
    assert last.probability > 0.9
    assert last.since_s == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(("gap_mm", "least", "most"), [(0.0, 0.5, 1.0), (3.0, 0.0, 0.01)])
def test_who_is_found_again_beside_another_may_have_touched_it(gap_mm: float, least: float, most: float) -> None:
    """In the first picture its place is that of who may be anywhere; from the next one on it is known."""
    tracker, other = ContactTracker(), estimate("light-1", (0.0, 0.0, 180.0), np.zeros(3), 0.15)
    for frame in range(12):
        back = estimate("dark-1", (-BASE.length_mm - gap_mm, 0.0, 0.0), np.zeros(3), 0.15 if frame else 200.0)
        (contact,) = tracker.step([back, other], frame * 33_333_333)
    assert least <= contact.probability <= most


@settings(max_examples=5)
@given(turn_deg=st.floats(-180, 180), shift=st.integers(-500, 500), start_ns=st.integers(0, 2**60))
def test_turning_the_table_and_shifting_place_and_time_change_nothing(
    turn_deg: float, shift: int, start_ns: int
) -> None:
    turn = math.radians(turn_deg)

    def moved(way: Callable[[float], Pose]) -> Callable[[float], Pose]:
        def there(t_s: float) -> Pose:
            x, y, heading = way(t_s)
            return (
                shift + x * math.cos(turn) - y * math.sin(turn),
                x * math.sin(turn) + y * math.cos(turn) - shift,
                heading + turn_deg,
            )

        return there

    def run(way_a: Callable[[float], Pose], way_b: Callable[[float], Pose], start_ns: int) -> list[Report]:
        return watch(way_a, way_b, noise_mm=0.0, seconds=0.7, start_ns=start_ns)

    here = run(standing, runs_into, 0)
    there = run(moved(standing), moved(runs_into), start_ns)
    for first, second in zip(here, there, strict=True):
        assert second.probability == pytest.approx(first.probability, abs=0.02)
        if first.since_s is not None and first.probability > SURE:
            assert second.since_s == pytest.approx(first.since_s, abs=5e-4)


@pytest.mark.parametrize(
    ("missing_s", "error_ms"), [(0.0, (0.0, 0.0)), (0.05, (0.0, 12.0)), (0.1, (15.0, 50.0)), (0.2, (70.0, 120.0))]
)
def test_the_error_of_an_instant_holds_the_frames_that_did_not_come(
    missing_s: float, error_ms: tuple[float, float]
) -> None:
    tracker, last = ContactTracker(), 0.0
    for t_s in np.arange(0, 1.0, FRAME_S):
        if abs(t_s - 0.5) < missing_s / 2:
            continue
        figures = []
        for id_, (x, y, heading) in (("dark-1", standing(t_s)), ("light-1", runs_into(t_s))):
            speed = -CLOSING_MM_S if id_ == "light-1" and t_s < 0.5 else 0.0
            figures.append(estimate(id_, (x, y, heading), np.array([speed, 0.0, 0.0]), 0.15))
        contacts = tracker.step(figures, round(t_s * 1e9), t_sigma_ns=0)
        last = contacts[0].since_sigma_s if contacts else 0.0
    low, high = error_ms
    assert low <= 1000 * last <= high


@pytest.mark.parametrize("frozen", [False, True])
def test_who_touch_when_pictures_come_again_may_have_touched_ever_since_the_last_one(frozen: bool) -> None:
    """They were too far apart to be followed; in a frozen picture they are predicted to walk through each other."""
    tracker, errors_s = ContactTracker(), list[float]()
    for t_s in np.arange(0, 1.0, FRAME_S):
        missed = 0.15 < t_s < 0.55
        if missed and not frozen:
            continue
        figures = []
        for id_, (x, y, heading) in (("dark-1", standing(t_s)), ("light-1", runs_into(0.15 if missed else t_s))):
            speed = -CLOSING_MM_S if id_ == "light-1" and t_s < 0.5 else 0.0
            x += speed * (t_s - 0.15) if missed else 0.0
            one = estimate(id_, (x, y, heading), np.array([speed, 0.0, 0.0]), 8.0 if missed else 0.15)
            figures.append(replace(one, fresh=not missed))
        contacts = tracker.step(figures, round(t_s * 1e9))
        errors_s += [one.since_sigma_s for one in contacts if one.since_ns is not None]
    assert errors_s, "the touch is found"
    assert min(errors_s) == pytest.approx(0.2, abs=0.03), "the whole time without pictures, evenly spread"


def test_the_error_of_a_frames_time_is_that_of_an_instant() -> None:
    tracker, last = ContactTracker(), 0.0
    for t_s in np.arange(0, 1.0, FRAME_S):
        speed = np.array([-CLOSING_MM_S if t_s < 0.5 else 0.0, 0.0, 0.0])
        figures = [
            estimate("dark-1", standing(t_s), np.zeros(3), 0.15),
            estimate("light-1", runs_into(t_s), speed, 0.15),
        ]
        contacts = tracker.step(figures, round(t_s * 1e9), t_sigma_ns=20_000_000)
        last = contacts[0].since_sigma_s if contacts else 0.0
    assert last == pytest.approx(0.028, abs=0.004)  # of the frames on both sides
