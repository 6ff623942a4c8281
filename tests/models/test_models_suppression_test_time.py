"""Test-time augmentation: detections and outputs of mirrored pictures and patches map back."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from refined_figures import FRAME, FixedDetector, base, figure

from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection
from downfield.models.refiner import (
    LOGITS,
    MIRRORED_CORNERS,
    OUTPUTS,
    PATCH_PX,
    average_all_views,
    mirror_back,
    patch_transform,
    rotate_back,
    to_patch,
    to_units,
)
from downfield.models.suppression import merge_mirrored, mirror_detections, mirror_image
from downfield.models.two_stage_detector import TwoStageDetector

WIDTH = 600
HAND = Detection("hand", 0.6, (10.0, 20.0, 30.0, 40.0), helmet_px=(12.0, 22.0), helmet_score=0.9)


def flipped(corners: Array) -> Array:
    """The corners of a base in a mirror, in the order they have there."""
    return np.asarray((corners * (-1, 1) + (WIDTH - 1, 0))[list(MIRRORED_CORNERS)])


def detailed(corners: Array, score: float = 0.4) -> Detection:
    return dataclasses.replace(
        figure(corners, score), corner_scores=(0.1, 0.2, 0.3, 0.4), corner_sigma_px=(1.0, 2.0, 3.0, 4.0)
    )


@given(st.floats(100, 500), st.floats(100, 300), st.floats(-np.pi, np.pi))
def test_mirrored_detections_map_back_with_left_and_right_exchanged(x: float, y: float, turn: float) -> None:
    corners = base(x, y, turn)
    shown = detailed(flipped(corners))
    (back,) = mirror_detections([shown], WIDTH)
    np.testing.assert_allclose(back.corners_px, corners, atol=1e-9)
    assert [*back.corner_scores, *back.corner_sigma_px] == [0.2, 0.1, 0.4, 0.3, 2.0, 1.0, 4.0, 3.0]
    np.testing.assert_allclose(back.helmet_px or (), (WIDTH - 1, 0))
    (there,) = mirror_detections([back], WIDTH)
    np.testing.assert_allclose(there.corners_px, shown.corners_px, atol=1e-9)
    np.testing.assert_allclose(there.box_px, shown.box_px, atol=1e-9)


def test_boxes_and_pictures_are_mirrored_about_the_center_pixel() -> None:
    image = np.arange(2 * 5 * 3, dtype=np.uint8).reshape(2, 5, 3)
    np.testing.assert_array_equal(mirror_image(image)[:, 0], image[:, 4])
    (hand,) = mirror_detections([HAND], WIDTH)
    assert hand.box_px == (569.0, 20.0, 589.0, 40.0)
    assert hand.helmet_px == (587.0, 22.0)


def test_scores_of_both_pictures_are_averaged_and_one_missed_lowers_them() -> None:
    here, there, new = base(100, 100, 0.3), base(300, 200, 1.0), base(500, 300, 2.0)
    again = [figure(here + 2, 0.2), figure(new, 0.9), HAND]
    found = [figure(here, 0.8), HAND, figure(there, 0.9)]
    first, second, late, hand = merge_mirrored(found, again)
    assert first.corners_px == found[0].corners_px  # positions come from the picture itself
    assert first.score == pytest.approx(1 / (1 + np.sqrt(0.2 / 0.8 * 0.8 / 0.2)))
    assert second.score == late.score == pytest.approx(1 / (1 + np.sqrt(0.1 / 0.9 * 0.95 / 0.05)))
    assert late.corners_px == again[1].corners_px
    assert hand is HAND
    assert merge_mirrored([], []) == []


@given(st.floats(-np.pi, np.pi), st.floats(-0.2, 0.2), st.floats(-5, 5))
def test_the_output_of_a_mirrored_patch_maps_back(turn: float, off: float, aside: float) -> None:
    truth, guess = base(300, 200, turn), base(300 + aside, 199, turn + off)
    straight, other = (
        to_units(to_patch(points[None], patch_transform(cut[None])))
        for points, cut in ((truth, guess), (flipped(truth), flipped(guess)))
    )
    output = np.arange(OUTPUTS, dtype=np.float64)[None].repeat(2, axis=0)
    output[0, :8], output[1, :8] = straight.ravel(), other.ravel()
    back = mirror_back(output[1:])[0]
    np.testing.assert_allclose(back[:8], output[0, :8], atol=1e-6)
    assert back[8:].tolist() == [8.0, -9.0, 11.0, 10.0, 13.0, 12.0, 14.0, 16.0, 15.0, 18.0, 17.0, 19.0, 20, 21, 22]


class Marked:
    """A network with the same output for every view of a patch, plus an error by view; a corner is marked."""

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
        output = self.truth + self.errors[way]
        if way in (1, 3):
            output = rotate_back(output)
        if way in (1, 2):
            output = mirror_back(output)
        return np.asarray(output, dtype=np.float32)


def test_four_views_are_averaged_but_mirrored_ones_have_no_vote_on_the_logits() -> None:
    truth = np.random.default_rng(5).normal(0, 1, (6, OUTPUTS))
    patches: Image = np.zeros((6, PATCH_PX, PATCH_PX, 3), np.uint8)
    patches[:, 0, 0] = 255
    network = Marked(truth)
    output = network.run(patches).astype(np.float64)
    average_all_views(network, output, patches)
    assert sorted(network.ways) == [0, 1, 2, 3]
    np.testing.assert_allclose(output[:, :20], truth[:, :20], atol=1e-5)
    two = network.errors[[0, 3], LOGITS].mean(axis=0)
    np.testing.assert_allclose(output[:, LOGITS], truth[:, LOGITS] + two, atol=1e-5)
    nothing = np.zeros((0, OUTPUTS))
    average_all_views(network, nothing, patches[:0])
    assert len(network.ways) == 4


class Sided(FixedDetector):
    """A detector that finds one figure in a picture and another in its mirror, which is bright at its left."""

    def __init__(self, here: Detection, in_the_mirror: Detection) -> None:
        super().__init__(here)
        self.other = in_the_mirror

    def detect(self, image: Image) -> tuple[Detection, ...]:
        return (self.other,) if image[0, 0, 0] else self.detections


class Sure:
    """A refiner that sees a figure in the center of any patch."""

    name = "sure"
    size_px = (PATCH_PX, PATCH_PX)

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        row = np.zeros(OUTPUTS, np.float32)
        row[:8] = (0.5, 0.3, 0.5, -0.3, -0.5, -0.3, -0.5, 0.3)
        row[10:15], row[15:20], row[20:] = -5.0, 8.0, (-8.0, -8.0, 8.0)
        return row[None].repeat(len(pictures), axis=0)


@pytest.mark.parametrize("augmented", [True, False])
def test_figures_found_only_in_the_mirror_are_reported_for_single_augmented_pictures(augmented: bool) -> None:
    image = FRAME.copy()
    image[:, -1] = 255
    here, there = base(100, 100, 0.3), base(400, 300, 2.0)
    first = Sided(figure(here, 0.9), figure(flipped(there), 0.9))
    detector = TwoStageDetector(first, Sure(), augmented=augmented)

    def middles(seen: tuple[Detection, ...]) -> list[tuple[int, int]]:
        return sorted((round(x), round(y)) for x, y in (np.mean(figure.corners_px, axis=0) for figure in seen))

    assert middles(detector.detect(image)) == ([(100, 100), (400, 300)] if augmented else [(100, 100)])
    assert middles(detector.track(image, (), detector.find_candidates(image))) == [(100, 100)]
