"""The ball refiner finds the ball in an arm or at a candidate, and only when it is searched."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray
from refined_figures import FRAME, FixedDetector, Still, base, figure

from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.ball_refiner import CELLS, BallRefiner, decode_ball, with_patch_corners
from downfield.models.refiner import OUTPUTS, PATCH_PX, patch_transform, to_patch, to_units
from downfield.models.two_stage_detector import TwoStageDetector

NOWHERE = np.full(CELLS**2, -40.0, np.float32)


def ball_at(x: float, y: float, score: float) -> Detection:
    return Detection("ball", score, (x - 8, y - 8, x + 8, y + 8), helmet_px=(x, y))


def heat(guess: Array, ball: tuple[float, float] | None, logit: float = 4.0) -> NDArray[np.float32]:
    """The output of a perfect network for a patch cut by a guess."""
    if ball is None:
        return NOWHERE
    place = to_units(to_patch(np.array([[ball]]), patch_transform(guess[None])))[0, 0]
    # Shared among the cells about it, so that their mean is the place.
    at = (place + 1) * CELLS / 2 - 0.5
    share = np.maximum(1 - np.abs(np.arange(CELLS)[:, None] - at), 1e-12)
    cells = np.log(share[:, 1][:, None] * share[:, 0][None]) + logit
    return np.asarray(cells.ravel(), np.float32)


class Canned:
    """A ball refiner network with given outputs, one after another, that counts its patches."""

    name = "canned"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, *outputs: NDArray[np.float32]) -> None:
        self.outputs = list(outputs)
        self.counts: list[int] = []

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.counts.append(len(pictures))
        return self.outputs.pop(0)


def balls_of(detections: tuple[Detection, ...]) -> list[Detection]:
    return [found for found in detections if found.kind == "ball"]


def test_a_ball_in_an_arm_is_found_without_a_candidate() -> None:
    first, second = base(100, 100, 0.3), base(140, 110, 2.0)  # the ball is in both their patches
    outputs = np.stack([heat(place, (120.0, 105.0)) for place in (first, second)])
    detector = TwoStageDetector(
        FixedDetector(figure(first), figure(second)), Still(), BallRefiner(Canned(outputs), Canned())
    )
    (ball,) = balls_of(detector.detect(FRAME))
    assert ball.helmet_px == pytest.approx((120.0, 105.0), abs=1e-3)
    left, top, right, bottom = ball.box_px
    assert ((left + right) / 2, (top + bottom) / 2) == pytest.approx((120.0, 105.0), abs=1e-3)


def test_a_ball_that_may_be_in_two_places_is_at_the_likelier_one_and_as_sure_as_it_is_there() -> None:
    """Not between them, where neither place has it."""
    guess = base(100, 100, 0.0)
    both = np.logaddexp(heat(guess, (90.0, 100.0), 3.0), heat(guess, (112.0, 100.0), 2.5)).astype(np.float32)
    found = decode_ball(np.zeros(0), both[None].astype(np.float64), patch_transform(guess[None]))
    assert found is not None
    place, _, logit = found
    np.testing.assert_allclose(place, (90.0, 100.0), atol=0.1)
    assert logit == pytest.approx(3.0 - np.log1p(np.exp(2.5)), abs=1e-3)


def test_of_two_balls_the_more_probable_one_wins() -> None:
    bases = [base(100, 100, 0.3), base(300, 200, 1.0)]
    outputs = np.stack([heat(bases[0], (100.0, 100.0), 3.5), heat(bases[1], (300.0, 200.0), 5.0)])
    detector = TwoStageDetector(FixedDetector(*map(figure, bases)), Still(), BallRefiner(Canned(outputs), Canned()))
    assert [ball.helmet_px for ball in balls_of(detector.detect(FRAME))] == [pytest.approx((300.0, 200.0), abs=1e-3)]


@pytest.mark.parametrize("there", [True, False])
def test_candidates_are_refined(there: bool) -> None:
    carrier, spot, found = base(100, 100, 0.3), (400.0, 300.0), ball_at(398.0, 299.0, 0.4)
    (about,) = with_patch_corners([found], [figure(carrier)])
    outputs = np.stack([NOWHERE, heat(np.array(about.corners_px), spot if there else None)])
    balls = balls_of(
        TwoStageDetector(FixedDetector(figure(carrier), found), Still(), BallRefiner(Canned(outputs), Canned())).detect(
            FRAME
        )
    )
    assert len(balls) == there
    if there:
        assert balls[0].helmet_px == pytest.approx(spot, abs=1e-3)
        assert balls[0].score == pytest.approx(1 / (1 + np.exp(-(4.0 + np.log(0.4 / 0.6)) / 2)))


def test_a_ball_that_two_patches_show_wins_over_one_that_another_patch_denies() -> None:
    near, beside, far = base(100, 100, 0.3), base(140, 110, 2.0), base(400, 300, 1.0)
    agreed, odd = (120.0, 105.0), (400.0, 308.0)
    alone = base(404, 305, 0.5)  # whose patch shows the odd one's place, and no ball there
    outputs = np.stack([heat(near, agreed), heat(beside, agreed), heat(far, odd, 4.5), heat(alone, None)])
    detector = TwoStageDetector(
        FixedDetector(*map(figure, (near, beside, far, alone))), Still(), BallRefiner(Canned(outputs), Canned())
    )
    (ball,) = balls_of(detector.detect(FRAME))
    assert ball.helmet_px == pytest.approx(agreed, abs=1e-3)


def test_a_patch_that_shows_the_place_at_its_edge_has_no_vote() -> None:
    first, second = base(100, 100, 0.0), base(137, 100, 0.0)  # the ball is at the edge of the second patch
    outputs = np.stack([heat(first, (101.0, 104.0)), heat(second, None)])
    detector = TwoStageDetector(
        FixedDetector(figure(first), figure(second)), Still(), BallRefiner(Canned(outputs), Canned())
    )
    (ball,) = balls_of(detector.detect(FRAME))
    assert ball.score > 0.97


def test_neither_ball_network_overrules_the_other_however_sure() -> None:
    carrier, found = base(100, 100, 0.3), ball_at(398.0, 299.0, 0.01)
    (about,) = with_patch_corners([found], [figure(carrier)])
    strange = heat(np.array(about.corners_px), (400.0, 300.0), 44.0)
    outputs = np.stack([heat(carrier, (104.0, 101.0)), strange])
    seen = TwoStageDetector(
        FixedDetector(figure(carrier), found), Still(), BallRefiner(Canned(outputs), Canned())
    ).detect(FRAME)
    assert [ball.helmet_px for ball in balls_of(seen)] == [pytest.approx((104.0, 101.0), abs=1e-3)]


def test_an_unclear_patch_is_run_again_rotated_by_half_a_turn() -> None:
    carrier, spot = base(100, 100, 0.0), (105.0, 103.0)
    unclear = heat(carrier, spot, 1.0)
    network = Canned(unclear[None], heat(carrier, spot, 3.0)[None, ::-1])
    (ball,) = balls_of(
        TwoStageDetector(FixedDetector(figure(carrier)), Still(), BallRefiner(network, Canned())).detect(FRAME)
    )
    assert network.counts == [1, 1]
    assert ball.helmet_px == pytest.approx(spot, abs=0.1)
    assert ball.score == pytest.approx(1 / (1 + np.exp(-2.0)), abs=0.01)


def test_a_ball_is_tracked_between_searches() -> None:
    here = base(300, 200, 0.7)
    known = [dataclasses.replace(figure(here, 0.9), corner_sigma_px=(0.3,) * 4)]
    searching, following = Canned(heat(here, (310.0, 205.0))[None]), Canned()
    detector = TwoStageDetector(FixedDetector(*known), Still(), BallRefiner(searching, following))
    assert balls_of(detector.track(FRAME, known)) == []
    assert balls_of(detector.find_candidates(FRAME, ball=False)) == []
    assert searching.counts == following.counts == []
    (found,) = balls_of(detector.find_candidates(FRAME))
    assert found.helmet_px == pytest.approx((310.0, 205.0), abs=1e-3)
    (about,) = with_patch_corners([found], known)
    following.outputs = [heat(np.array(about.corners_px), (313.0, 206.0))[None]] * 2
    for seen, fresh in (((*known, found), None), (known, (found,))):
        (ball,) = balls_of(detector.track(FRAME, seen, fresh))
        assert ball.helmet_px == pytest.approx((313.0, 206.0), abs=1e-3)
    following.outputs = [NOWHERE[None]]
    assert balls_of(detector.track(FRAME, [*known, found])) == []
    assert (searching.counts, following.counts) == ([1], [1, 1, 1])


def test_the_ball_is_searched_in_the_arms_of_no_more_figures_than_play() -> None:
    table = [figure(base(20 + 20 * k, 200, 0.7), 0.9 - 0.02 * k) for k in range(28)]
    searching = Canned(np.stack([NOWHERE] * 22))
    assert (
        balls_of(
            TwoStageDetector(FixedDetector(*table), Still(), BallRefiner(searching, Canned())).find_candidates(FRAME)
        )
        == []
    )
    assert searching.counts == [22]


def test_without_a_ball_refiner_the_best_candidate_is_the_ball() -> None:
    carrier = figure(base(100, 100, 0.3))
    found = [ball_at(400.0, 300.0, 0.6), ball_at(200.0, 300.0, 0.9), ball_at(500.0, 300.0, 0.7)]
    detector = TwoStageDetector(FixedDetector(carrier, *found), Still())
    assert [ball.helmet_px for ball in balls_of(detector.detect(FRAME))] == [(200.0, 300.0)]
    assert balls_of(TwoStageDetector(FixedDetector(carrier, ball_at(400.0, 300.0, 0.3)), Still()).detect(FRAME)) == []


def test_a_frame_without_figures_is_not_refined() -> None:
    ball = ball_at(20.0, 30.0, 0.6)
    assert TwoStageDetector(FixedDetector(ball), Canned(), BallRefiner(Canned(), Canned())).detect(FRAME) == (ball,)


def test_a_network_with_another_output_is_refused() -> None:
    detector = TwoStageDetector(
        FixedDetector(figure(base(100, 100, 0))),
        Still(),
        BallRefiner(Canned(np.zeros((1, OUTPUTS), np.float32)), Canned()),
    )
    with pytest.raises(InputError, match=r"a ball refiner's is \(n, 256\)"):
        detector.detect(FRAME)


def test_without_patches_there_is_no_ball() -> None:
    assert decode_ball(np.zeros(0), np.zeros((0, CELLS**2)), np.zeros((0, 2, 3))) is None


def test_scores_are_calibrated_and_a_tracked_ball_keeps_its_own() -> None:
    here, slope, intercept = base(300, 200, 0.7), 1.5, -2.0
    known = [dataclasses.replace(figure(here, 0.9), corner_sigma_px=(0.3,) * 4)]
    following = Canned()
    refiner = BallRefiner(Canned(heat(here, (310.0, 205.0), 4.0)[None]), following, (slope, intercept))
    detector = TwoStageDetector(FixedDetector(*known), Still(), refiner)
    (found,) = balls_of(detector.find_candidates(FRAME))
    assert found.score == pytest.approx(1 / (1 + np.exp(-(4 * slope + intercept))))
    (about,) = with_patch_corners([found], known)
    following.outputs = [heat(np.array(about.corners_px), (310.0, 205.0), 4.0)[None]]
    (again,) = balls_of(detector.track(FRAME, (*known, found)))
    assert again.score == pytest.approx(found.score), "what both say again is no surer and no less sure"
