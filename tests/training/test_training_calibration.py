"""Calibrating a network: its certainty of fronts and its errors are what validation pictures show them to be."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from network_measures import front_certainty, fronts_right
from typer.testing import CliRunner

from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.card import BUNDLED, find_network, read_card, write_card
from downfield.models.loading import open_detector
from downfield.models.refiner import OUTPUTS, TURN, decode_refinement, patch_transform
from downfield.models.runtime import sigmoid
from downfield.training.command import app
from downfield.training.evaluation import tuning
from downfield.training.evaluation.scoring import pictures_of, score_frame
from downfield.training.evaluation.tuning import fit_front_odds
from downfield.twin.sets.dataset import make_dataset
from downfield.twin.sets.table_frames import Recipe

SQUARE_PX = ((60.0, 40.0), (60.0, 60.0), (26.0, 60.0), (26.0, 40.0))


@settings(max_examples=20)
@given(factor=st.floats(0.2, 2.0), seed=st.integers(0, 1000))
def test_the_factor_by_which_fronts_are_too_sure_is_found(factor: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.uniform(0.1, 4.0, 4000)
    right = rng.random(len(logits)) < sigmoid(factor * logits)
    assert fit_front_odds(logits, right) == pytest.approx(factor, rel=0.2)


def test_few_fronts_hardly_change_the_factor() -> None:
    nothing = np.zeros(0, dtype=np.bool_)
    assert fit_front_odds(np.zeros(0), nothing) == pytest.approx(1.0, abs=1e-3)
    assert fit_front_odds(np.full(3, 2.0), np.ones(3, dtype=np.bool_)) == pytest.approx(1.0, abs=0.5)


@pytest.mark.parametrize("turn", [-2.0, 2.0])
def test_a_smaller_factor_makes_a_front_less_sure_and_turns_nobody(turn: float) -> None:
    figure = Detection("upright", 0.9, (0.0, 0.0, 1.0, 1.0), SQUARE_PX)
    outputs = np.zeros((1, OUTPUTS))
    outputs[0, TURN] = turn
    transforms = patch_transform([SQUARE_PX])
    (plain,), (held,) = (decode_refinement([figure], outputs, transforms, front_odds=odds) for odds in (1.0, 0.25))
    assert plain.front_score == pytest.approx(float(sigmoid(np.array(2.0))))
    assert held.front_score == pytest.approx(float(sigmoid(np.array(0.5))))
    assert dataclasses.replace(held, front_score=plain.front_score) == plain


def test_a_card_with_a_factor_that_is_none_is_refused() -> None:
    card = read_card(find_network(BUNDLED))
    for odds in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="front_odds must be above 0"):
            dataclasses.replace(card, front_odds=odds)


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("frames")
    make_dataset(out, Recipe(split="val", seed=11, per_table=1, size_px=(1280, 720)), 2)
    return out


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A copy of the bundled network, with wrong constants in its card."""
    folder = Path(shutil.copytree(find_network(BUNDLED), tmp_path / "network"))
    card = read_card(folder)
    assert card.refiner is not None
    wrong = dataclasses.replace(card.refiner, sigma_scale=5.0)
    write_card(folder, dataclasses.replace(card, refiner=wrong, front_odds=0.05))
    return folder


def test_a_calibrated_network_is_as_sure_as_it_is_right(
    frames: Path, network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "CALIBRATION_LIMITS", dataclasses.replace(tuning.CALIBRATION_LIMITS, min_fronts=10))
    result = CliRunner().invoke(app, ["calibrate", str(network), "--val", str(frames)])
    assert result.exit_code == 0, result.output
    card = read_card(network)
    assert card.refiner is not None
    assert 0.2 < card.refiner.sigma_scale < 3
    assert card.front_odds > 0.1
    detector = open_detector(network)
    scores = [score_frame(sample, detector.detect(image)) for sample, image in pictures_of(frames, "val")]
    # So few figures hold the factor of the fronts near 1: that much too unsure they stay.
    assert front_certainty(scores) == pytest.approx(fronts_right(scores), abs=0.1)


def test_too_few_figures_calibrate_nothing(frames: Path, network: Path) -> None:
    before = (network / "network.json").read_bytes()
    result = CliRunner().invoke(app, ["calibrate", str(network), "--val", str(frames)])
    assert isinstance(result.exception, InputError)
    assert "100 are needed" in str(result.exception)
    assert (network / "network.json").read_bytes() == before


def test_without_pictures_the_command_says_what_to_give(network: Path) -> None:
    result = CliRunner().invoke(app, ["calibrate", str(network)])
    assert isinstance(result.exception, InputError)
    assert "--val" in str(result.exception)


def test_a_bundled_network_stays_as_it_is_and_the_command_says_whose_folder_to_give() -> None:
    result = CliRunner().invoke(app, ["calibrate", BUNDLED, "--val", "anywhere"])
    assert isinstance(result.exception, InputError)
    assert "is a bundled network" in str(result.exception)


def test_a_calibration_that_is_interrupted_leaves_the_card_as_it_was(
    network: Path, frames: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "CALIBRATION_LIMITS", dataclasses.replace(tuning.CALIBRATION_LIMITS, min_fronts=1))
    monkeypatch.setattr(tuning, "score_frame", interrupted)
    before = read_card(network)
    with pytest.raises(KeyboardInterrupt):
        tuning.calibrate_network(network, [frames])
    assert read_card(network) == before
