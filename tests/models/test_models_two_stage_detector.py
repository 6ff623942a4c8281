"""Two stages: refined figures are mapped back to the frame with corners in each figure's own order."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from refined_figures import FRAME, FixedDetector, Still, base, figure

from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.refiner import (
    OUTPUTS,
    PATCH_PX,
    TURN,
    is_unclear,
    patch_transform,
    rotate_back,
    scale_of,
    to_patch,
    to_units,
)
from downfield.models.suppression import merge_refined, select_new_views
from downfield.models.two_stage_detector import TwoStageDetector


class Canned:
    """A refiner with a given output for patches, and the matching output for unclear ones rotated."""

    name = "canned"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, output: NDArray[np.float32], known: int = 0) -> None:
        self.output, self.known = output, known  # the first so many are run in one direction only
        self.first: NDArray[np.uint8] | None = None

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        if self.first is None:
            self.first = pictures
            assert pictures.shape == (len(self.output), PATCH_PX, PATCH_PX, 3)
            return self.output
        rows = np.flatnonzero(is_unclear(self.output.astype(np.float64)))
        rows = rows[rows >= self.known]
        np.testing.assert_array_equal(pictures, self.first[rows, ::-1, ::-1])
        return self.rotated()[rows]

    def rotated(self) -> NDArray[np.float32]:
        return rotate_back(self.output.astype(np.float64)).astype(np.float32)


def output_for(
    guess: Array, truth: Array, *, flip: bool, fallen: bool = False, there: float = 3.0
) -> NDArray[np.float32]:
    """The output of a perfect network for a patch cut by a guess; the corners in the patch's order."""
    order = (2, 3, 0, 1) if flip else (0, 1, 2, 3)
    points = np.concatenate([truth[list(order)], truth.mean(axis=0, keepdims=True) + 3.0])
    units = to_units(to_patch(points[None], patch_transform(guess[None])))[0]
    # The first corner of the figure is hidden and inexact: it must keep its place in the order.
    seen = [-20.0 if k == order.index(0) else 20.0 for k in range(4)] + [20.0]
    errors = np.log([0.2 if k == order.index(0) else 0.01 for k in range(4)] + [0.01])
    row = [*units.ravel(), *errors, *seen, 5.0 if flip else -5.0, 5.0 if fallen else -5.0, there]
    return np.array(row, np.float32)


@given(st.floats(-np.pi, np.pi), st.floats(-0.03, 0.03), st.booleans(), st.booleans())
def test_corners_are_in_the_figure_s_own_order_whatever_the_detector_took_for_front(
    turn: float, off: float, rotated: bool, fallen: bool
) -> None:
    truth = base(300, 200, turn)
    guess = base(300.8, 199.4, turn + off + (np.pi if rotated else 0), 46)
    network = Canned(output_for(guess, truth, flip=rotated, fallen=fallen)[None])
    (seen,) = TwoStageDetector(FixedDetector(figure(guess)), network).detect(FRAME)
    np.testing.assert_allclose(seen.corners_px, truth, atol=1e-3)
    np.testing.assert_allclose(seen.helmet_px or (), truth.mean(axis=0) + 3, atol=1e-3)
    np.testing.assert_allclose(seen.corner_scores, [0, 1, 1, 1], atol=1e-6)
    scale = float(scale_of(patch_transform(guess)))
    sigma_px = np.sqrt(2) * np.array([0.2, 0.01, 0.01, 0.01]) * PATCH_PX / 2 / scale
    np.testing.assert_allclose(seen.corner_sigma_px, sigma_px, rtol=1e-4)
    assert seen.kind == ("fallen" if fallen else "upright")


@pytest.mark.parametrize("again", [3.0, -9.0])
def test_a_patch_that_was_cut_askew_is_cut_again_and_both_vote_on_presence(again: float) -> None:
    truth, guess = base(300, 200, 0.3), base(306, 197, 0.1 + np.pi, 52)
    nearly = base(300.5, 199.8, 0.28)
    network = InTurn(
        output_for(guess, nearly, flip=True)[None], output_for(nearly, truth, flip=False, there=again)[None]
    )
    seen = TwoStageDetector(FixedDetector(figure(guess, 0.5)), network).detect(FRAME)
    assert not network.output
    assert len(seen) == (again > 0)
    for found in seen:
        np.testing.assert_allclose(found.corners_px, truth, atol=1e-3)
        assert found.score == pytest.approx(1 / (1 + np.exp(-(0 + 3.0) / 2)), abs=1e-3)


@pytest.mark.parametrize("column", [TURN, 21, 22])
def test_only_unclear_patches_are_run_rotated(column: int) -> None:
    bases = [base(150, 150, 0), base(300, 150, 0), base(450, 150, 0)]
    output = np.stack([output_for(corners, corners, flip=False) for corners in bases])
    output[:, 22] = 8.0
    assert not is_unclear(output.astype(np.float64)).any()
    output[1, column] = -0.5
    counts: list[int] = []

    class Counting(Canned):
        def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
            counts.append(len(pictures))
            return super().run(pictures)

    TwoStageDetector(FixedDetector(*map(figure, bases)), Counting(output)).detect(FRAME)
    assert counts == [3, 1]


def test_the_output_of_a_rotated_patch_maps_back() -> None:
    """Cut by corners in the other order, a patch is the same, rotated; `rotate_back` converts between the outputs."""
    truth = base(300, 200, 0.7)
    guess = base(302, 199, 0.8)
    straight = output_for(guess, truth, flip=False)[None].astype(np.float64)
    rotated = output_for(guess[[2, 3, 0, 1]], truth, flip=True)[None].astype(np.float64)
    np.testing.assert_allclose(rotate_back(rotated), straight, atol=1e-6)


def test_the_detector_s_front_is_overruled_only_above_the_turn_logit() -> None:
    truth = base(300, 200, 0.7)
    output = output_for(truth[[2, 3, 0, 1]], truth, flip=True)[None]
    first = FixedDetector(figure(truth[[2, 3, 0, 1]]))
    (believed,) = TwoStageDetector(first, Canned(output), turn_logit=4.0).detect(FRAME)
    np.testing.assert_allclose(believed.corners_px, truth, atol=1e-3)
    assert believed.front_score == pytest.approx(1 / (1 + np.exp(-1.0)))
    (doubted,) = TwoStageDetector(first, Canned(output), turn_logit=7.0).detect(FRAME)
    np.testing.assert_allclose(doubted.corners_px, truth[[2, 3, 0, 1]], atol=1e-3)


@pytest.mark.parametrize(("limit", "kind"), [(4.0, "fallen"), (6.0, "upright")])
def test_a_fall_is_reported_only_above_the_fallen_logit(limit: float, kind: str) -> None:
    truth = base(300, 200, 0.7)
    network = Canned(output_for(truth, truth, flip=False, fallen=True)[None])
    (seen,) = TwoStageDetector(FixedDetector(figure(truth)), network, fallen_logit=limit).detect(FRAME)
    assert seen.kind == kind


def test_false_figures_are_dropped_and_a_hand_stays() -> None:
    real, unreal = base(100, 100, 0.3), base(400, 300, 2.0)
    hand = Detection("hand", 0.6, (1.0, 2.0, 3.0, 4.0))
    network = Canned(
        np.stack([output_for(unreal, unreal, flip=False, there=-5.0), output_for(real, real, flip=False, there=3.0)])
    )
    seen = TwoStageDetector(FixedDetector(figure(unreal, 0.9), hand, figure(real, 0.4)), network).detect(FRAME)
    assert [found.kind for found in seen] == ["upright", "hand"]
    # Both stages count equally: the mean of their logits.
    assert seen[0].score == pytest.approx(1 / (1 + np.exp(-(3.0 + np.log(0.4 / 0.6)) / 2)))
    assert seen[1] is hand


def test_either_stage_alone_may_be_wrong_about_a_figure() -> None:
    place = base(100, 100, 0.3)
    for first, second, there in ((0.3, 4.0, True), (0.95, -1.5, True), (0.1, 1.0, False), (0.6, -2.0, False)):
        network = Canned(output_for(place, place, flip=False, there=second)[None])
        assert bool(TwoStageDetector(FixedDetector(figure(place, first)), network).detect(FRAME)) == there


def test_a_network_with_another_output_is_refused() -> None:
    detector = TwoStageDetector(
        FixedDetector(figure(base(100, 100, 0))), Canned(np.zeros((1, OUTPUTS - 1), np.float32))
    )
    with pytest.raises(InputError, match=rf"a refiner's is \(n, {OUTPUTS}\)"):
        detector.detect(FRAME)


def test_a_tracked_figure_is_refined_where_it_was() -> None:
    before, now = base(300, 200, 0.7), base(304, 203, 0.75)
    hand = Detection("hand", 0.8, (1.0, 2.0, 3.0, 4.0))
    detector = TwoStageDetector(FixedDetector(), InTurn(output_for(before, now, flip=False)[None]))
    seen = detector.track(FRAME, [figure(before, 0.9), hand])
    assert [found.kind for found in seen] == ["upright", "hand"]
    np.testing.assert_allclose(seen[0].corners_px, now, atol=1e-3)


def test_a_figure_that_was_lifted_away_is_no_longer_tracked() -> None:
    at = base(300, 200, 0.7)
    detector = TwoStageDetector(FixedDetector(), Canned(output_for(at, at, flip=False, there=-6.0)[None], known=1))
    assert detector.track(FRAME, [figure(at, 0.9)]) == ()


def test_only_new_figures_and_other_views_of_inexact_ones_are_selected() -> None:
    here, aside = base(300, 200, 0.7), base(305, 203, 0.7)
    hand = Detection("hand", 0.8, (1.0, 2.0, 3.0, 4.0))
    vague, exact = (dataclasses.replace(figure(here, 0.9), corner_sigma_px=(sigma,) * 4) for sigma in (2.0, 0.3))
    assert select_new_views([figure(here)], [vague]) == []
    assert select_new_views([figure(aside)], [exact]) == []
    for found in (figure(aside), figure(base(100, 100, 0.0)), hand):
        assert select_new_views([figure(here), found], [vague]) == [found]
    assert select_new_views([figure(here)], [hand]) == [figure(here)]


def with_errors(figure: Detection, sigma_px: float) -> Detection:
    return dataclasses.replace(figure, corner_sigma_px=(sigma_px,) * 4)


def test_only_new_and_vague_figures_are_refined_beside_the_frames() -> None:
    exact, vague, new, junk = (base(x, 200, 0.0) for x in (100, 200, 300, 400))
    output = np.stack(
        [
            output_for(new, new, flip=False),
            output_for(junk, junk, flip=False, there=-6.0),
            output_for(vague, vague, flip=False),
        ]
    )
    beside = TwoStageDetector(FixedDetector(), Canned(output))
    detector = TwoStageDetector(FixedDetector(), Canned(np.zeros((9, 9), np.float32)), candidate_refiner=beside)
    found = [figure(exact), figure(new, 0.9), figure(junk), Detection("hand", 0.8, (1.0, 2.0, 3.0, 4.0))]
    seen = [with_errors(figure(exact, 0.9), 0.3), with_errors(figure(vague, 0.9), 5.0)]
    assert centers(detector.refine_candidates(FRAME, found, seen)) == [(200, 200), (300, 200)]
    assert detector.refine_candidates(FRAME, (), ()) == ()


@given(st.floats(-9, 9), st.floats(-9, 9), st.floats(-0.3, 0.3), st.booleans())
def test_a_better_view_of_an_earlier_picture_moves_with_its_figure(
    right: float, down: float, turn: float, better: bool
) -> None:
    others = [with_errors(figure(base(100 * k, 350, 0.1), 0.9), 1.0) for k in (1, 2, 3)]
    before, now = (with_errors(figure(base(300 + x, 200 + y, 0.7), 0.9), 2.0) for x, y in ((0, 0), (right, down)))
    view = with_errors(figure(base(301, 198, 0.7 + turn), 0.9), 1.5 if better else 1.8)
    hand = Detection("hand", 0.8, (1.0, 2.0, 3.0, 4.0))
    seen = merge_refined([*others, now, hand], [before, *others], [view])
    assert [*seen[:3], seen[4]] == [*others, hand]
    expected = base(301 + right, 198 + down, 0.7 + turn) if better else base(300 + right, 200 + down, 0.7)
    np.testing.assert_allclose(seen[3].corners_px, expected, atol=1e-6)


def test_a_figure_found_in_an_earlier_picture_is_new_unless_one_is_tracked_there_by_now() -> None:
    first, second = figure(base(100, 100, 0.7)), figure(base(300, 200, 0.7))
    assert merge_refined([first], [first], [second]) == (first, second)
    assert merge_refined([first, second], [first], [figure(base(301, 201, 0.6))]) == (first, second)
    assert merge_refined([second], [first, second], [with_errors(first, 0.1)]) == (
        second,
    )  # a figure that left stays away


def test_two_views_of_one_tracked_figure_stay_one() -> None:
    here, beside, now = (with_errors(figure(base(x, 200, 0.7), 0.9), 2.0) for x in (300, 312, 306))
    views = [with_errors(figure, 1.0) for figure in (here, beside)]
    (seen,) = merge_refined([now], [here, beside], views)
    assert seen.corner_sigma_px == (1.0,) * 4
    assert centers([seen]) == centers([now])


@pytest.mark.parametrize(("better", "kept"), [(True, 1), (False, 0)])
def test_a_figure_tracked_astray_is_replaced_by_the_detector_s_view_if_that_is_better(better: bool, kept: int) -> None:
    """A patch cut by a wrong output gives the next wrong output; the detector depends on none."""
    truth, astray = base(300, 200, 0.7), base(305, 204, 0.7, 36.0)
    views = np.stack([output_for(astray, astray, flip=False), output_for(truth, truth, flip=False)])
    views[1 if better else 0, 10:15] -= 1.0  # its errors, logarithms
    detector = TwoStageDetector(FixedDetector(figure(truth, 0.6)), Canned(views, known=1))
    (seen,) = detector.track(FRAME, [figure(astray, 0.6)], detector.find_candidates(FRAME))
    np.testing.assert_allclose(seen.corners_px, (astray, truth)[kept], atol=1e-3)


def test_a_figure_tracked_exactly_is_not_refined_again() -> None:
    truth, astray = base(300, 200, 0.7), base(305, 204, 0.7, 36.0)
    exact = dataclasses.replace(figure(truth, 0.6), corner_sigma_px=(0.3,) * 4)
    network = Canned(output_for(truth, truth, flip=False)[None], known=1)
    detector = TwoStageDetector(FixedDetector(figure(astray, 0.6)), network)
    (seen,) = detector.track(FRAME, [exact], detector.find_candidates(FRAME))
    np.testing.assert_allclose(seen.corners_px, truth, atol=1e-3)


class InTurn:
    """A network with given outputs, one after another."""

    name = "in turn"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, *output: NDArray[np.float32]) -> None:
        self.output = list(output)

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        output = self.output.pop(0)
        assert len(output) == len(pictures)
        return output


@pytest.mark.parametrize("exact_across", [True, False])
def test_a_vague_base_is_refined_across_as_well(exact_across: bool) -> None:
    """A clear base over a number may look like one that lies across it, and so does its patch."""
    truth = base(300, 200, 0.3)
    guess = base(300, 200, 0.3 + np.pi / 2)
    vague, across = output_for(guess, guess, flip=False)[None], output_for(truth, truth, flip=False)[None]
    vague[0, 10:15] = np.log(0.3)
    across[0, 10:15] = np.log(0.02 if exact_across else 0.29)
    network = InTurn(vague, across)
    (seen,) = TwoStageDetector(FixedDetector(figure(guess)), network).detect(FRAME)
    assert not network.output
    length = np.linalg.norm(truth[0] - truth[3])
    ahead = np.array(seen.corners_px)[:2].mean(axis=0) - np.array(seen.corners_px)[2:].mean(axis=0)
    along = abs(ahead @ (truth[0] - truth[3])) / length**2
    assert along == pytest.approx(1.0 if exact_across else 0.0, abs=0.05)


def test_two_figures_refined_to_one_place_are_one() -> None:
    first, second, there = base(300, 200, 0.7), base(310, 205, 0.7), base(302, 201, 0.7)
    output = np.stack(
        [output_for(first, there, flip=False, there=1.0), output_for(second, there, flip=False, there=3.0)]
    )
    detector = TwoStageDetector(FixedDetector(), Canned(output, known=2))
    seen = detector.track(FRAME, [figure(first), figure(second)])
    assert len(seen) == 1
    assert seen[0].score == pytest.approx(1 / (1 + np.exp(-(3.0 + np.log(0.4 / 0.6)) / 2)))


@pytest.mark.parametrize("larger", [1, 4])
def test_bases_of_the_other_team_s_make_are_tracked_whatever_their_size(larger: int) -> None:
    bases = [base(60 * k + 40, 80, 0.0, 34.0) for k in range(7)]
    bases += [base(100 * k + 80, 300, 0.2, 60.0) for k in range(larger)]
    seen = TwoStageDetector(FixedDetector(), Still()).track(FRAME, [figure(at, 0.9) for at in bases])
    lengths = sorted(float(np.linalg.norm(np.subtract(one.corners_px[0], one.corners_px[3]))) for one in seen)
    largest = 60.0 if larger == 4 else 34.0 * 1.25  # a single one is a base that was measured badly
    np.testing.assert_allclose(lengths, [34.0] * 7 + [largest] * larger, rtol=1e-3)


def test_tracking_nothing_runs_no_network() -> None:
    assert TwoStageDetector(FixedDetector(), Canned(np.zeros((9, 9), np.float32))).track(FRAME, []) == ()


def centers(seen: Sequence[Detection]) -> list[tuple[int, int]]:
    """Where figures are, in order, to the pixel."""
    return sorted(
        (round(float(x)), round(float(y))) for x, y in (np.mean(figure.corners_px, axis=0) for figure in seen)
    )


def test_a_tracked_figure_needs_a_lower_score_than_a_new_one() -> None:
    at, beside = base(300, 200, 0.7), base(300, 300, 0.7)
    unclear = np.stack([output_for(place, place, flip=False, there=-1.0) for place in (at, beside)])
    detector = TwoStageDetector(FixedDetector(figure(beside, 0.5)), Canned(unclear, known=1))
    seen = detector.track(FRAME, [figure(at, 0.5)], detector.find_candidates(FRAME))
    assert centers(seen) == [(300, 200)]


def test_detection_adds_new_figures_and_no_duplicates() -> None:
    known, again, new = base(300, 200, 0.7), base(301, 199, 0.72), base(400, 300, 0.2)
    output = np.stack([output_for(known, known, flip=False), output_for(new, new, flip=False)])
    detector = TwoStageDetector(FixedDetector(figure(again, 0.6), figure(new, 0.6)), Canned(output, known=1))
    seen = detector.track(FRAME, [figure(known, 0.6)], detector.find_candidates(FRAME))
    assert centers(seen) == [(300, 200), (400, 300)]


def test_a_false_base_between_two_that_touch_is_dropped_though_its_score_is_highest() -> None:
    left, right, between = base(300, 200, 0.0), base(345, 200, 0.0), base(322, 200, 0.0)
    output = np.stack(
        [
            output_for(place, place, flip=False, there=there)
            for place, there in ((left, 2.0), (between, 3.0), (right, 2.0))
        ]
    )
    seen = TwoStageDetector(FixedDetector(figure(left), figure(between), figure(right)), Canned(output)).detect(FRAME)
    assert centers(seen) == [(300, 200), (345, 200)]


@given(st.floats(0, 2 * np.pi), st.floats(0, 2 * np.pi), st.floats(0.0, 0.97))
def test_bases_that_touch_both_stay(turn: float, way: float, nearer: float) -> None:
    """Head to head, side by side, at any angle: as near as their outlines let them come, and a little nearer."""
    first = base(300, 200, turn)
    direction = np.array([np.cos(way), np.sin(way)])
    reach = 2 * np.abs((first - first.mean(axis=0)) @ direction).max()
    touching = base(0, 0, turn) + first.mean(axis=0) + direction * reach * (1 - 0.03 * nearer)
    output = np.stack([output_for(place, place, flip=False) for place in (first, touching)])
    assert len(TwoStageDetector(FixedDetector(figure(first), figure(touching)), Canned(output)).detect(FRAME)) == 2
