"""The ball detector: its network's cells are mapped back to the frame."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.ball_detection import BALL_DETECTION_LIMITS, CELL_PX, BallDetector
from downfield.models.refiner import OUTPUTS
from downfield.models.two_stage_detector import TwoStageDetector

WHOLE_PX = (1280, 720)
FRAME = np.zeros((1080, 1920, 3), np.uint8)
TO_INPUT = 2 / 3


class Spots:
    """A network that detects balls at places of the input, counted from its outer edge, each with a logit."""

    name = "spots"
    size_px = WHOLE_PX

    def __init__(self, *spots: tuple[float, float, float]) -> None:
        self.spots = spots
        self.pictures = 0

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.pictures += len(pictures)
        output = np.full((1, 3, WHOLE_PX[1] // CELL_PX, WHOLE_PX[0] // CELL_PX), -9.0, np.float32)
        for x, y, score in self.spots:
            column, row = int(x // CELL_PX), int(y // CELL_PX)
            output[0, :, row, column] = score, x / CELL_PX - column - 0.5, y / CELL_PX - row - 0.5
        return output


@given(st.floats(0, 1279.9), st.floats(0, 719.9))
def test_a_ball_is_mapped_back_to_the_frame(x: float, y: float) -> None:
    (ball,) = BallDetector(Spots((x, y, 2.0))).find_candidates(FRAME)
    assert ball.helmet_px == pytest.approx((x / TO_INPUT - 0.5, y / TO_INPUT - 0.5), abs=1e-3)
    assert ball.score == pytest.approx(1 / (1 + np.exp(-2.0)), abs=1e-6)
    left, top, right, bottom = ball.box_px
    assert ((left + right) / 2, (top + bottom) / 2) == pytest.approx(ball.helmet_px, abs=1e-6)


def test_a_picture_of_another_shape_has_its_own_scale() -> None:
    (ball,) = BallDetector(Spots((480.0, 360.0, 2.0))).find_candidates(np.zeros((1200, 1600, 3), np.uint8))
    assert ball.helmet_px == pytest.approx((799.5, 599.5), abs=1e-3)


def test_places_side_by_side_are_one_ball_and_the_best_few_are_reported() -> None:
    spots = [(100.0 + 40 * i, 50.0, float(i)) for i in range(BALL_DETECTION_LIMITS.max_candidates + 2)]
    beside = [(x + 8.0, y, score - 0.1) for x, y, score in spots]
    balls = BallDetector(Spots(*spots, *beside)).find_candidates(FRAME)
    expected = [
        (x / TO_INPUT - 0.5, y / TO_INPUT - 0.5) for x, y, _ in spots[::-1][: BALL_DETECTION_LIMITS.max_candidates]
    ]
    assert [ball.helmet_px for ball in balls] == [pytest.approx(place, abs=1e-3) for place in expected]


@pytest.mark.parametrize(("threshold", "there"), [(0.84, True), (0.85, False)])
def test_the_threshold_applies_to_the_calibrated_score(threshold: float, there: bool) -> None:
    balls = BallDetector(Spots((100.0, 50.0, 1.0)), threshold=threshold, odds=(2.0, -0.3)).find_candidates(FRAME)
    assert [ball.score for ball in balls] == [pytest.approx(1 / (1 + np.exp(-1.7)), abs=1e-6)] * there


def test_a_network_with_another_output_is_refused() -> None:
    class Other(Spots):
        def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
            return super().run(pictures)[:, :2]

    with pytest.raises(InputError, match=r"a ball detector's is \(1, 3, 90, 160\)"):
        BallDetector(Other()).find_candidates(FRAME)


class First:
    """A detector that takes something for the ball."""

    name = "first"

    def detect(self, image: Image) -> tuple[Detection, ...]:
        del image
        return (Detection("ball", 0.9, (0.0, 0.0, 9.0, 9.0)), Detection("hand", 0.9, (0.0, 0.0, 9.0, 9.0)))


class Silent:
    """A refiner whose output is all zeros."""

    name = "silent"
    size_px = (64, 64)

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        return np.zeros((len(pictures), OUTPUTS), np.float32)


def test_the_ball_detector_replaces_the_detector_s_balls_and_runs_only_when_wanted() -> None:
    network = Spots((900.0, 600.0, 1.5))
    detector = TwoStageDetector(First(), Silent(), ball_detector=BallDetector(network))
    found = detector.find_candidates(FRAME)
    assert [candidate.kind for candidate in found] == ["hand", "ball"]
    assert found[1].helmet_px == pytest.approx((1349.5, 899.5), abs=1e-3)
    assert [candidate.kind for candidate in detector.find_candidates(FRAME, ball=False)] == ["hand"]
    assert network.pictures == 1
