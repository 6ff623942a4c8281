"""The second look: what it says of patches comes back to the frame, in each figure's own order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from downfield.calibration.errors import InputError
from downfield.models.detection import Detection
from downfield.models.detector import Image
from downfield.models.patch import PATCH_PX, patch_transform, scale_of, to_patch, to_units
from downfield.models.second_look import OUTPUTS, SecondLook, turned_round
from downfield.vision.footprint import Array

FRAME = np.zeros((400, 600, 3), np.uint8)


def base(x: float, y: float, turn: float, length_px: float = 45.0) -> Array:
    half = length_px / 2 * np.array([[1, -0.6], [1, 0.6], [-1, 0.6], [-1, -0.6]])
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return np.asarray(half @ rotation.T + (x, y))


def figure(corners: Array, score: float = 0.4) -> Detection:
    points = [(float(x), float(y)) for x, y in corners]
    return Detection("upright", score, (0.0, 0.0, 1.0, 1.0), tuple(points), (0.5,) * 4, (), (0.0, 0.0), 0.1)


class First:
    """A first look that always says the same."""

    name = "first"

    def __init__(self, *detections: Detection) -> None:
        self.detections = detections

    def detect(self, image: Image) -> tuple[Detection, ...]:
        del image
        return self.detections


class Canned:
    """A network that says what it is told of patches, and the same of them turned round."""

    name = "canned"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, said: NDArray[np.float32]) -> None:
        self.said = said

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        count = len(self.said)
        if len(pictures) == count:  # looked at one way round
            return self.said
        assert pictures.shape == (2 * count, PATCH_PX, PATCH_PX, 3)
        np.testing.assert_array_equal(pictures[count:], pictures[:count, ::-1, ::-1])
        return np.concatenate([self.said, self.turned()])

    def turned(self) -> NDArray[np.float32]:
        if self.said.shape[1] != OUTPUTS:
            return self.said
        return turned_round(self.said.astype(np.float64)).astype(np.float32)


def said_of(guess: Array, truth: Array, *, flip: bool, fallen: bool = False, there: float = 3.0) -> NDArray[np.float32]:
    """What a perfect network would say of a patch cut by a guess; the corners in the patch's order."""
    order = (2, 3, 0, 1) if flip else (0, 1, 2, 3)
    points = np.concatenate([truth[list(order)], truth.mean(axis=0, keepdims=True) + 3.0])
    units = to_units(to_patch(points[None], patch_transform(guess[None])))[0]
    # The first corner of the figure is hidden and said badly: it must stay with its name.
    seen = [-20.0 if k == order.index(0) else 20.0 for k in range(4)] + [20.0]
    errors = np.log([0.2 if k == order.index(0) else 0.01 for k in range(4)] + [0.01])
    row = [*units.ravel(), *errors, *seen, 5.0 if flip else -5.0, 5.0 if fallen else -5.0, there]
    return np.array(row, np.float32)


@given(st.floats(-np.pi, np.pi), st.floats(-0.4, 0.4), st.booleans(), st.booleans())
def test_corners_come_back_in_the_figure_s_own_order_whatever_the_first_look_took_for_front(
    turn: float, off: float, turned: bool, fallen: bool
) -> None:
    truth = base(300, 200, turn)
    guess = base(303, 198, turn + off + (np.pi if turned else 0), 48)
    network = Canned(said_of(guess, truth, flip=turned, fallen=fallen)[None])
    (seen,) = SecondLook(First(figure(guess)), network).detect(FRAME)
    np.testing.assert_allclose(seen.corners_px, truth, atol=1e-3)
    np.testing.assert_allclose(seen.helmet_px or (), truth.mean(axis=0) + 3, atol=1e-3)
    np.testing.assert_allclose(seen.corner_scores, [0, 1, 1, 1], atol=1e-6)
    scale = float(scale_of(patch_transform(guess)))
    sigma_px = np.sqrt(2) * np.array([0.2, 0.01, 0.01, 0.01]) * PATCH_PX / 2 / scale
    np.testing.assert_allclose(seen.corner_sigma_px, sigma_px, rtol=1e-4)
    assert seen.kind == ("fallen" if fallen else "upright")


def test_a_patch_turned_round_says_the_same_of_the_figure() -> None:
    """Cut by corners in the other order a patch is the same, turned; `turned_round` makes one answer of the other."""
    truth = base(300, 200, 0.7)
    guess = base(302, 199, 0.8)
    straight = said_of(guess, truth, flip=False)[None].astype(np.float64)
    other = said_of(guess[[2, 3, 0, 1]], truth, flip=True)[None].astype(np.float64)
    np.testing.assert_allclose(turned_round(other), straight, atol=1e-6)


def test_the_first_look_is_overruled_only_by_a_surer_second() -> None:
    truth = base(300, 200, 0.7)
    network = Canned(said_of(truth[[2, 3, 0, 1]], truth, flip=True)[None])
    first = First(figure(truth[[2, 3, 0, 1]]))
    (believed,) = SecondLook(first, network, turn_logit=4.0).detect(FRAME)
    np.testing.assert_allclose(believed.corners_px, truth, atol=1e-3)
    assert believed.front_score == pytest.approx(1 / (1 + np.exp(-1.0)))
    (doubted,) = SecondLook(first, network, turn_logit=7.0).detect(FRAME)
    np.testing.assert_allclose(doubted.corners_px, truth[[2, 3, 0, 1]], atol=1e-3)


def test_what_is_no_figure_goes_and_what_has_no_base_stays() -> None:
    real, unreal = base(100, 100, 0.3), base(400, 300, 2.0)
    ball = Detection("ball", 0.6, (1.0, 2.0, 3.0, 4.0))
    network = Canned(
        np.stack([said_of(unreal, unreal, flip=False, there=-5.0), said_of(real, real, flip=False, there=3.0)])
    )
    seen = SecondLook(First(figure(unreal, 0.9), ball, figure(real, 0.4)), network).detect(FRAME)
    assert [one.kind for one in seen] == ["upright", "ball"]
    # Both looks count alike: the mean of their log-odds.
    assert seen[0].score == pytest.approx(1 / (1 + np.exp(-(3.0 + np.log(0.4 / 0.6)) / 2)))
    assert seen[1] is ball


def test_either_look_alone_may_be_mistaken_of_a_figure() -> None:
    place = base(100, 100, 0.3)
    for first, second, there in ((0.3, 4.0, True), (0.95, -1.5, True), (0.1, 1.0, False), (0.6, -2.0, False)):
        network = Canned(said_of(place, place, flip=False, there=second)[None])
        assert bool(SecondLook(First(figure(place, first)), network).detect(FRAME)) == there


def test_a_frame_without_figures_costs_no_second_look() -> None:
    ball = Detection("ball", 0.6, (1.0, 2.0, 3.0, 4.0))
    assert SecondLook(First(ball), Canned(np.zeros((9, 9), np.float32))).detect(FRAME) == (ball,)


def test_a_network_that_says_something_else_is_refused() -> None:
    looks = SecondLook(First(figure(base(100, 100, 0))), Canned(np.zeros((1, OUTPUTS - 1), np.float32)))
    with pytest.raises(InputError, match=rf"a second look gives \(n, {OUTPUTS}\)"):
        looks.detect(FRAME)


def test_what_was_seen_a_moment_ago_is_looked_at_where_it_was() -> None:
    before, now = base(300, 200, 0.7), base(304, 203, 0.75)
    hand = Detection("hand", 0.8, (1.0, 2.0, 3.0, 4.0))
    ball = Detection("ball", 0.6, (1.0, 2.0, 3.0, 4.0))
    looks = SecondLook(First(), Canned(said_of(before, now, flip=False)[None]))
    seen = looks.look_again(FRAME, [figure(before, 0.9), hand, ball])
    assert [one.kind for one in seen] == ["upright", "hand"]
    np.testing.assert_allclose(seen[0].corners_px, now, atol=1e-3)


def test_who_was_lifted_away_is_not_seen_again() -> None:
    at = base(300, 200, 0.7)
    looks = SecondLook(First(), Canned(said_of(at, at, flip=False, there=-6.0)[None]))
    assert looks.look_again(FRAME, [figure(at, 0.9)]) == ()


def test_two_that_come_out_at_one_place_are_one() -> None:
    one, other, there = base(300, 200, 0.7), base(310, 205, 0.7), base(302, 201, 0.7)
    said = np.stack([said_of(one, there, flip=False, there=1.0), said_of(other, there, flip=False, there=3.0)])
    seen = SecondLook(First(), Canned(said)).look_again(FRAME, [figure(one), figure(other)])
    assert len(seen) == 1
    assert seen[0].score == pytest.approx(1 / (1 + np.exp(-(3.0 + np.log(0.4 / 0.6)) / 2)))


def test_nobody_seen_before_costs_no_look() -> None:
    assert SecondLook(First(), Canned(np.zeros((9, 9), np.float32))).look_again(FRAME, []) == ()
