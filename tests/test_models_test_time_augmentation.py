"""A picture and its patches seen in a mirror as well: every word comes back to where and whose it is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from seen_figures import FRAME, First, base, figure

from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection
from downfield.models.patch_views import all_ways
from downfield.models.patches import PATCH_PX, patch_transform, to_patch, to_units
from downfield.models.second_look import TwoStageDetector
from downfield.models.second_look_output import OUTPUTS, WORDS, mirrored_back, turned_round
from downfield.models.test_time_augmentation import MIRRORED_CORNERS, merge_mirrored, mirror_detections, mirror_image

WIDTH = 600
HAND = Detection("hand", 0.6, (10.0, 20.0, 30.0, 40.0), helmet_px=(12.0, 22.0), helmet_score=0.9)


def flipped(corners: Array) -> Array:
    """Where the corners of a base are in a mirror, each under the name it has there."""
    return np.asarray((corners * (-1, 1) + (WIDTH - 1, 0))[list(MIRRORED_CORNERS)])


def detailed(corners: Array, score: float = 0.4) -> Detection:
    return dataclasses.replace(
        figure(corners, score), corner_scores=(0.1, 0.2, 0.3, 0.4), corner_sigma_px=(1.0, 2.0, 3.0, 4.0)
    )


@given(st.floats(100, 500), st.floats(100, 300), st.floats(-np.pi, np.pi))
def test_what_a_mirror_shows_comes_back_with_left_and_right_where_they_are(x: float, y: float, turn: float) -> None:
    corners = base(x, y, turn)
    shown = detailed(flipped(corners))
    (back,) = mirror_detections([shown], WIDTH)
    np.testing.assert_allclose(back.corners_px, corners, atol=1e-9)
    assert [*back.corner_scores, *back.corner_sigma_px] == [0.2, 0.1, 0.4, 0.3, 2.0, 1.0, 4.0, 3.0]
    np.testing.assert_allclose(back.helmet_px or (), (WIDTH - 1, 0))
    (there,) = mirror_detections([back], WIDTH)
    np.testing.assert_allclose(there.corners_px, shown.corners_px, atol=1e-9)
    np.testing.assert_allclose(there.box_px, shown.box_px, atol=1e-9)


def test_boxes_and_pictures_are_mirrored_about_the_middle_pixel() -> None:
    image = np.arange(2 * 5 * 3, dtype=np.uint8).reshape(2, 5, 3)
    np.testing.assert_array_equal(mirror_image(image)[:, 0], image[:, 4])
    (hand,) = mirror_detections([HAND], WIDTH)
    assert hand.box_px == (569.0, 20.0, 589.0, 40.0)
    assert hand.helmet_px == (587.0, 22.0)


def test_both_words_count_alike_and_who_is_in_one_only_is_doubted() -> None:
    here, there, new = base(100, 100, 0.3), base(300, 200, 1.0), base(500, 300, 2.0)
    again = [figure(here + 2, 0.2), figure(new, 0.9), HAND]
    found = [figure(here, 0.8), HAND, figure(there, 0.9)]
    one, other, late, hand = merge_mirrored(found, again)
    assert one.corners_px == found[0].corners_px  # where he is the picture itself says
    assert one.score == pytest.approx(1 / (1 + np.sqrt(0.2 / 0.8 * 0.8 / 0.2)))
    assert other.score == late.score == pytest.approx(1 / (1 + np.sqrt(0.1 / 0.9 * 0.95 / 0.05)))
    assert late.corners_px == again[1].corners_px
    assert hand is HAND
    assert merge_mirrored([], []) == []


@given(st.floats(-np.pi, np.pi), st.floats(-0.2, 0.2), st.floats(-5, 5))
def test_a_mirrored_patch_says_the_same_of_the_figure(turn: float, off: float, aside: float) -> None:
    truth, guess = base(300, 200, turn), base(300 + aside, 199, turn + off)
    straight, other = (
        to_units(to_patch(points[None], patch_transform(cut[None])))
        for points, cut in ((truth, guess), (flipped(truth), flipped(guess)))
    )
    said = np.arange(OUTPUTS, dtype=np.float64)[None].repeat(2, axis=0)
    said[0, :8], said[1, :8] = straight.ravel(), other.ravel()
    back = mirrored_back(said[1:])[0]
    np.testing.assert_allclose(back[:8], said[0, :8], atol=1e-6)
    assert back[8:].tolist() == [8.0, -9.0, 11.0, 10.0, 13.0, 12.0, 14.0, 16.0, 15.0, 18.0, 17.0, 19.0, 20, 21, 22]


class Marked:
    """A network that says the same of a patch whichever way it is shown, but errs by that; a corner is marked."""

    name = "marked"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, truth: Array) -> None:
        self.truth = truth
        self.errors = np.random.default_rng(3).normal(0, 1, (4, OUTPUTS))
        self.errors[3] = -self.errors[:3].sum(axis=0)  # of all four together none
        self.ways: list[int] = []

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        corners = pictures[:, [0, 0, -1, -1], [0, -1, 0, -1], 0].astype(int)
        way = int(corners[0].argmax())  # as it is, mirrored across, mirrored top to bottom, turned
        self.ways.append(way)
        said = self.truth + self.errors[way]
        if way in (1, 3):
            said = turned_round(said)
        if way in (1, 2):
            said = mirrored_back(said)
        return np.asarray(said, dtype=np.float32)


def test_a_patch_is_looked_at_all_four_ways_and_the_mean_taken_but_words_of_the_mirrored() -> None:
    truth = np.random.default_rng(5).normal(0, 1, (6, OUTPUTS))
    patches: Image = np.zeros((6, PATCH_PX, PATCH_PX, 3), np.uint8)
    patches[:, 0, 0] = 255
    network = Marked(truth)
    said = network.run(patches).astype(np.float64)
    all_ways(network, said, patches)
    assert sorted(network.ways) == [0, 1, 2, 3]
    np.testing.assert_allclose(said[:, :20], truth[:, :20], atol=1e-5)
    two = network.errors[[0, 3], WORDS].mean(axis=0)
    np.testing.assert_allclose(said[:, WORDS], truth[:, WORDS] + two, atol=1e-5)
    nobody = np.zeros((0, OUTPUTS))
    all_ways(network, nobody, patches[:0])
    assert len(network.ways) == 4


class Sided(First):
    """A first look that sees one figure in a picture and another in its mirror, which shows bright at its left."""

    def __init__(self, here: Detection, in_the_mirror: Detection) -> None:
        super().__init__(here)
        self.other = in_the_mirror

    def detect(self, image: Image) -> tuple[Detection, ...]:
        return (self.other,) if image[0, 0, 0] else self.detections


class Sure:
    """A network that sees a figure in any patch, in the middle."""

    name = "sure"
    size_px = (PATCH_PX, PATCH_PX)

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        row = np.zeros(OUTPUTS, np.float32)
        row[:8] = (0.5, 0.3, 0.5, -0.3, -0.5, -0.3, -0.5, 0.3)
        row[10:15], row[15:20], row[20:] = -5.0, 8.0, (-8.0, -8.0, 8.0)
        return row[None].repeat(len(pictures), axis=0)


@pytest.mark.parametrize("augmented", [True, False])
def test_only_of_a_picture_by_itself_and_if_asked_for_who_is_seen_in_the_mirror_alone_is_seen(augmented: bool) -> None:
    image = FRAME.copy()
    image[:, -1] = 255
    here, there = base(100, 100, 0.3), base(400, 300, 2.0)
    first = Sided(figure(here, 0.9), figure(flipped(there), 0.9))
    looks = TwoStageDetector(first, Sure(), augmented=augmented)

    def middles(seen: tuple[Detection, ...]) -> list[tuple[int, int]]:
        return sorted((round(x), round(y)) for x, y in (np.mean(one.corners_px, axis=0) for one in seen))

    assert middles(looks.detect(image)) == ([(100, 100), (400, 300)] if augmented else [(100, 100)])
    assert middles(looks.track(image, (), looks.find_candidates(image))) == [(100, 100)]
