"""The second refiner's opinion about the ball: it confirms or denies places, and can make another one the ball."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from refined_figures import FRAME, FixedDetector, Still, base, figure

from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.ball_detection import (
    BALL_DETECTION_LIMITS,
    BALL_PATCH_ZOOM,
    CELLS,
    SHARED_OUTPUTS,
    BallRefiner,
    decode_ball_places,
    with_patch_corners,
)
from downfield.models.card import BUNDLED, find_network, read_card, write_card
from downfield.models.loading import open_detector
from downfield.models.refiner import OUTPUTS, PATCH_PX, magnified, patch_transform, to_patch, to_units
from downfield.models.second_opinion import BallOpinion, ball_votes
from downfield.models.two_stage_detector import TwoStageDetector

FIGURES = [figure(base(100, 100, 0.3)), figure(base(300, 200, 1.0))]
NOWHERE = np.full(CELLS**2, -40.0, np.float32)


class Opinion:
    """A second refiner that says of each patch in turn how sure it is of a ball, at a cell of the patch."""

    name = "opinion"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, *logits: float, cell: tuple[int, int] = (8, 8), outputs: int = SHARED_OUTPUTS) -> None:
        self.logits, self.cell, self.outputs = list(logits), cell, outputs
        self.runs = 0

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.runs += 1
        out = np.full((len(pictures), self.outputs), -40.0, np.float32)
        row, column = self.cell
        half = len(pictures) // 2
        if self.outputs == SHARED_OUTPUTS:
            for number in range(len(pictures)):
                at = row * CELLS + column
                out[number, OUTPUTS + (at if number < half else CELLS**2 - 1 - at)] = self.logits[number % half]
        return out


class Canned:
    """A ball refiner network with one output."""

    name = "canned"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, output: NDArray[np.float32]) -> None:
        self.output = output

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        return self.output[: len(pictures)]


def heat(guess: Array, ball: tuple[float, float], logit: float) -> NDArray[np.float32]:
    """The output of a perfect ball refiner for a patch cut by a guess."""
    place = to_units(to_patch(np.array([[ball]]), magnified(patch_transform(guess[None]), BALL_PATCH_ZOOM)))[0, 0]
    at = (place + 1) * CELLS / 2 - 0.5
    share = np.maximum(1 - np.abs(np.arange(CELLS)[:, None] - at), 1e-12)
    return np.asarray((np.log(share[:, 1][:, None] * share[:, 0][None]) + logit).ravel(), np.float32)


def ball_at(x: float, y: float, score: float) -> Detection:
    return Detection("ball", score, (x - 8, y - 8, x + 8, y + 8), helmet_px=(x, y))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-12, 12), min_size=1, max_size=4), st.floats(0.0, 2.0), st.floats(-3.0, 3.0))
def test_scores_are_the_weighted_log_odds_of_both_and_the_best_comes_first(
    said: list[float], weight: float, constant: float
) -> None:
    places = [ball_at(50 + 100 * number, 80, 0.5) for number in range(len(said))]
    network = Opinion(*said)
    weighed = BallOpinion(network, network, (1.0, weight, constant)).weigh(FRAME, places, FIGURES, 34.0)
    expected = weight * np.clip(said, -8, 8) + constant
    assert [ball.score for ball in weighed] == pytest.approx(
        sorted(1 / (1 + np.exp(-expected)), reverse=True), abs=1e-6
    )
    assert {ball.helmet_px for ball in weighed} == {place.helmet_px for place in places}


def test_only_cells_near_the_place_count() -> None:
    places = [ball_at(50, 80, 0.5)]
    middle, aside = (ball_votes(Opinion(5.0, cell=cell), FRAME, places, FIGURES, 34.0) for cell in ((7, 8), (2, 13)))
    assert middle[0] == pytest.approx(5.0, abs=0.01)
    assert aside[0] == -8.0


def test_without_places_the_network_is_not_run() -> None:
    network = Opinion()
    assert BallOpinion(network, network, (1.0, 1.0, 0.0)).weigh(FRAME, [], FIGURES, 34.0) == []
    assert network.runs == 0


def test_a_refiner_that_gives_no_cells_is_refused() -> None:
    with pytest.raises(InputError, match="opinion: its output has shape"):
        ball_votes(Opinion(1.0, outputs=OUTPUTS + 1), FRAME, [ball_at(50, 80, 0.5)], FIGURES, 34.0)


@pytest.mark.parametrize(("first", "second", "winner"), [(0.0, 0.0, (104.0, 103.0)), (-6.0, 6.0, (300.0, 205.0))])
def test_a_second_place_becomes_the_ball_where_the_opinion_prefers_it(
    first: float, second: float, winner: tuple[float, float]
) -> None:
    corners = [np.array(each.corners_px) for each in FIGURES]
    outputs = np.stack([heat(corners[0], (104.0, 103.0), 4.0), heat(corners[1], (300.0, 205.0), 3.5)])
    network = Opinion(first, second)
    detector = TwoStageDetector(
        FixedDetector(*FIGURES),
        Still(),
        BallRefiner(Canned(outputs), Canned(outputs)),
        ball_opinion=BallOpinion(network, network, (1.0, 1.0, 0.0)),
    )
    (ball,) = [found for found in detector.detect(FRAME) if found.kind == "ball"]
    assert ball.helmet_px == pytest.approx(winner, abs=1e-3)


def test_a_ball_that_is_denied_is_not_reported_though_its_own_networks_are_sure() -> None:
    corners = [np.array(each.corners_px) for each in FIGURES]
    outputs = np.stack([heat(corners[0], (104.0, 103.0), 4.0), NOWHERE])
    network = Opinion(-8.0)
    detector = TwoStageDetector(
        FixedDetector(*FIGURES),
        Still(),
        BallRefiner(Canned(outputs), Canned(outputs)),
        ball_opinion=BallOpinion(network, network, (1.0, 1.0, 0.0)),
    )
    assert [found for found in detector.detect(FRAME) if found.kind == "ball"] == []


def test_a_tracked_ball_keeps_its_score_as_long_as_both_see_it() -> None:
    """Weighed in every frame anew, not on top of the frame before: a score below 1 would fade within some frames."""
    carrier = FIGURES[0]
    (about,) = with_patch_corners([ball_at(104, 103, 0.9)], [carrier])
    outputs = heat(np.array(about.corners_px), (104.0, 103.0), 5.0)[None]
    network = Opinion(0.0)
    detector = TwoStageDetector(
        FixedDetector(carrier),
        Still(),
        BallRefiner(Canned(outputs), Canned(outputs)),
        ball_opinion=BallOpinion(network, network, (0.7, 0.7, -1.0)),
    )
    seen: tuple[Detection, ...] = (carrier, ball_at(104, 103, 0.9))
    scores = []
    for _ in range(20):
        seen = detector.track(FRAME, seen)
        (ball,) = [found for found in seen if found.kind == "ball"]
        scores.append(ball.score)
    assert scores == pytest.approx([1 / (1 + np.exp(1.0 - 0.7 * 5.0))] * 20, abs=0.01)


def test_one_ball_seen_in_two_patches_is_one_place_and_few_places_are_kept() -> None:
    near = [base(100, 100, 0.3), base(140, 110, 2.0)]
    far = [base(60 + 90 * number, 300, 0.0) for number in range(6)]
    guesses = np.stack([*near, *far])
    balls = [(120.0, 105.0)] * 2 + [(60.0 + 90 * number, 304.0) for number in range(6)]
    logits = [4.0, 4.0, *[3.0] * 6]
    outputs = np.stack([heat(*each) for each in zip(guesses, balls, logits, strict=True)]).astype(np.float64)
    transforms = magnified(patch_transform(guesses), BALL_PATCH_ZOOM)
    places = decode_ball_places([], outputs, transforms)
    assert len(places) == BALL_DETECTION_LIMITS.max_places
    assert sum(np.hypot(ball.helmet_px[0] - 120, ball.helmet_px[1] - 105) < 5 for ball in places if ball.helmet_px) == 1
    scores = [ball.score for ball in places]
    assert scores == sorted(scores, reverse=True)


def test_the_bundled_network_asks_the_second_refiner_about_the_ball() -> None:
    card = read_card(find_network(BUNDLED))
    assert card.opinions.ball is not None
    detector = open_detector(BUNDLED, threads=1)
    assert isinstance(detector, TwoStageDetector)
    assert detector._ball_opinion is not None


def test_a_card_without_its_weights_asks_nobody(tmp_path: Path) -> None:
    folder = find_network(BUNDLED)
    card = read_card(folder)
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "network.json").unlink()
    write_card(tmp_path, dataclasses.replace(card, opinions=dataclasses.replace(card.opinions, ball=None)))
    detector = open_detector(tmp_path, threads=1)
    assert isinstance(detector, TwoStageDetector)
    assert detector._ball_opinion is None
