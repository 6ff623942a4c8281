"""The ball: carried, lying, hidden, and which figure touches it first and when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.calibration.camera import Camera, Lens
from downfield.core.footprint import BaseSize, Footprint
from downfield.core.frame import Detection
from downfield.core.scene import Ball
from downfield.vision.ball_tracker import BallTracker
from downfield.vision.measuring.estimate import Estimate

CAMERA = Camera(Lens((1920, 1080), (1600.0, 1600.0), (960.0, 540.0)), (np.pi - 0.3, 0.0, 0.0), (-300.0, 160.0, 900.0))
FRAME_NS = 16_666_667
LYING_MM, CARRIED_MM, RADIUS_MM = 3.0, 18.0, 4.5


def figure(id_: str, x: float, y: float, heading: float = 0.0) -> Estimate:
    """A figure somewhere."""
    at = Footprint(x, y, heading, BaseSize(30.0, 18.0, 5.5, 1.0))
    return Estimate(id_, "dark", at, np.eye(3) * 0.01, np.zeros(3))


def ball_at(x: float, y: float, z: float = LYING_MM) -> Detection:
    """The ball as the network sees it."""
    u, v = CAMERA.to_pixels(np.array([(x, y, z)]))[0].tolist()
    return Detection("ball", 0.995, (u - 6, v - 6, u + 6, v + 6), helmet_px=(u, v), helmet_score=0.8)


def settled(tracker: BallTracker, x: float, y: float, others: list[Estimate] | None = None) -> int:
    """Shows a lying ball until it is known; the time then, ns."""
    for i in range(6):
        tracker.step([ball_at(x, y)], others or [], CAMERA, i * FRAME_NS)
    return 5 * FRAME_NS


def test_a_declared_carrier_has_the_ball_seen_or_not() -> None:
    tracker, runner = BallTracker(), figure("dark-1", 200.0, 100.0)
    seen = tracker.step([ball_at(204.0, 106.0, CARRIED_MM)], [runner], CAMERA, 0, carrier="dark-1")
    assert seen is not None
    assert (seen.state, seen.carrier) == ("carried", "dark-1")
    assert (seen.x_mm, seen.y_mm) == pytest.approx((204.0, 106.0), abs=0.1)
    hidden = tracker.step([], [figure("dark-1", 230.0, 100.0)], CAMERA, FRAME_NS, carrier="dark-1")
    assert hidden is not None
    assert (hidden.x_mm, hidden.y_mm) == (230.0, 100.0)
    assert hidden.sigma_mm > seen.sigma_mm


def test_a_detection_of_low_score_makes_no_carrier() -> None:
    tracker, bystander = BallTracker(), figure("dark-1", 200.0, 100.0)
    unsure = replace(ball_at(203.0, 106.0, CARRIED_MM), score=0.85)
    assert all(tracker.step([unsure], [bystander], CAMERA, i * FRAME_NS) is None for i in range(20))


def test_a_sure_ball_clear_of_all_figures_lies_there() -> None:
    tracker, bystander = BallTracker(), figure("dark-1", 200.0, 100.0)
    sure, unsure = (replace(ball_at(300.0, 150.0), score=score) for score in (0.91, 0.85))
    assert all(tracker.step([unsure], [bystander], CAMERA, i * FRAME_NS) is None for i in range(20))
    balls = [tracker.step([sure], [bystander], CAMERA, (20 + i) * FRAME_NS) for i in range(10)]
    assert balls[-1] is not None
    assert (balls[-1].state, balls[-1].carrier) == ("magnetic", None)


def test_a_ball_in_an_arm_is_carried_without_being_declared() -> None:
    tracker = BallTracker()
    for i in range(8):
        x = 200.0 + i
        ball = tracker.step([ball_at(x + 3, 106.0, CARRIED_MM)], [figure("dark-1", x, 100.0)], CAMERA, i * FRAME_NS)
    assert ball is not None
    assert ball.carrier == "dark-1"
    away = tracker.step([], [figure("dark-1", 250.0, 100.0)], CAMERA, 8 * FRAME_NS)
    assert away is not None
    assert (away.carrier, away.x_mm) == ("dark-1", 250.0)


def test_a_ball_on_the_board_stays_known_while_it_is_hidden() -> None:
    tracker = BallTracker()
    t_ns = settled(tracker, 300.0, 150.0)
    ball = tracker.step([], [], CAMERA, t_ns + FRAME_NS)
    assert ball is not None
    assert ball.state == "magnetic"
    assert (ball.x_mm, ball.y_mm) == pytest.approx((300.0, 150.0), abs=0.1)


def test_a_ball_that_left_its_carrier_is_loose() -> None:
    tracker, runner = BallTracker(), figure("dark-1", 200.0, 100.0)
    tracker.step([], [runner], CAMERA, 0, carrier="dark-1")
    for i in range(1, 6):
        ball = tracker.step([ball_at(260.0, 100.0)], [runner], CAMERA, i * FRAME_NS)
    assert ball is not None
    assert (ball.state, ball.carrier) == ("loose", None)


def test_one_false_detection_does_not_move_it() -> None:
    tracker = BallTracker()
    t_ns = settled(tracker, 300.0, 150.0)
    ball = tracker.step([ball_at(500.0, 50.0)], [], CAMERA, t_ns + FRAME_NS)
    assert ball is not None
    assert ball.x_mm == pytest.approx(300.0, abs=0.1)


def walk_up(ways: dict[str, tuple[float, float]], frames: int = 60) -> Ball:
    """Figures walk along x up to a ball at (300, 150) and through it: by id, where they start and how fast."""
    tracker = BallTracker()
    t_ns = settled(tracker, 300.0, 150.0)
    last: Ball | None = None
    for i in range(frames):
        t_ns += FRAME_NS
        at = {id_: x + speed * i * FRAME_NS / 1e9 for id_, (x, speed) in ways.items()}
        moving = [figure(id_, x, 150.0, 0.0 if ways[id_][1] > 0 else 180.0) for id_, x in at.items()]
        last = tracker.step([ball_at(300.0, 150.0)], moving, CAMERA, t_ns)
    assert last is not None
    return last


@settings(max_examples=15)
@given(speed=st.floats(30.0, 150.0), lead_mm=st.floats(5.0, 25.0))
def test_the_first_touch_is_timed_between_frames(speed: float, lead_mm: float) -> None:
    reach = 15.0 + RADIUS_MM
    ball = walk_up({"dark-1": (300.0 - reach - lead_mm, speed), "light-1": (300.0 + reach + 2 * lead_mm, -speed)}, 90)
    assert ball.touched_by == "dark-1"
    assert ball.touched_ns is not None
    since_s = (ball.touched_ns - 6 * FRAME_NS) / 1e9
    assert since_s == pytest.approx(lead_mm / speed, abs=0.004)


def test_a_figure_that_passes_by_does_not_touch_the_ball() -> None:
    tracker = BallTracker()
    t_ns = settled(tracker, 300.0, 150.0)
    for i in range(60):
        t_ns += FRAME_NS
        ball = tracker.step([], [figure("dark-1", 240.0 + 2 * i, 150.0 + 9.0 + RADIUS_MM + 1.0)], CAMERA, t_ns)
    assert ball is not None
    assert ball.touched_by is None


def test_unfit_frames_change_nothing() -> None:
    tracker = BallTracker()
    t_ns = settled(tracker, 300.0, 150.0)
    on_it = [figure("dark-1", 300.0, 150.0)]
    ball = tracker.step([ball_at(100.0, 50.0)], on_it, CAMERA, t_ns + FRAME_NS, fit=False)
    assert ball is not None
    assert ball.touched_by is None
    assert ball.x_mm == pytest.approx(300.0, abs=0.1)
