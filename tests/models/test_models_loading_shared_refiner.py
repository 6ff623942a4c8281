"""A refiner that also sees the ball: one network for figures and ball, each part read by the stage that needs it."""

from __future__ import annotations

import dataclasses
import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from refined_figures import FRAME, FixedDetector, base, figure

from downfield.core.errors import FormatError, InputError
from downfield.core.frame import Detection
from downfield.models.ball_refiner import BALL_COLUMNS, CELLS, FIGURE_COLUMNS, SHARED_OUTPUTS, NetworkColumns
from downfield.models.card import BUNDLED, CARD, NetworkFiles, find_network, named_files, read_card, write_card
from downfield.models.loading import open_detector, shared_refiner, with_refiners
from downfield.models.refiner import OUTPUTS, PATCH_PX, to_units
from downfield.models.two_stage_detector import TwoStageDetector
from downfield.rig.games.table_seals import _network


class SharedNetwork:
    """Sees every figure where its patch was cut, and the ball in one cell of the patches that are dark there."""

    name = "shared"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, outputs: int = SHARED_OUTPUTS) -> None:
        self.outputs = outputs
        self.patches = 0

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.patches += len(pictures)
        units = to_units(base((PATCH_PX - 1) / 2, (PATCH_PX - 1) / 2, 0.0, 34.0))
        row = [*units.ravel(), 0.0, 0.0, *[-4.0] * 5, *[20.0] * 5, -5.0, -5.0, 6.0]
        out = np.full((len(pictures), SHARED_OUTPUTS), -40.0, np.float32)
        out[:, FIGURE_COLUMNS] = row
        side = PATCH_PX // CELLS
        cells = pictures[..., 0].reshape(len(pictures), CELLS, side, CELLS, side).mean(axis=(2, 4))
        out[:, BALL_COLUMNS] = np.where(cells > 180, 5.0, -40.0).reshape(len(pictures), -1)
        return out[:, : self.outputs]


def opened(*found: Detection) -> tuple[TwoStageDetector, SharedNetwork, SharedNetwork]:
    tracking, searching = SharedNetwork(), SharedNetwork()
    two_stage = partial(TwoStageDetector, FixedDetector(*found))
    return with_refiners(two_stage, shared_refiner(tracking), shared_refiner(searching)), tracking, searching


def test_the_ball_is_found_in_a_figures_patch_and_the_figure_in_the_same_output() -> None:
    image = FRAME.copy()
    image[:] = 20
    image[115:127, 125:137] = 255
    detector, _, _ = opened(figure(base(120, 120, 0.4)))
    seen = {one.kind: one for one in detector.detect(image)}
    assert set(seen) == {"upright", "ball"}
    np.testing.assert_allclose(seen["ball"].helmet_px or (), (130.5, 120.5), atol=3.0)
    np.testing.assert_allclose(np.mean(seen["upright"].corners_px, axis=0), (120, 120), atol=0.5)


def test_each_thread_runs_its_own_graph() -> None:
    """One thread searches in a picture while another tracks in the next."""
    known = figure(base(120, 120, 0.4))
    detector, tracking, searching = opened(known)
    detector.find_candidates(FRAME)
    assert (tracking.patches, searching.patches > 0) == (0, True)
    before = searching.patches
    detector.track(FRAME, [dataclasses.replace(known, score=0.9)])
    assert (tracking.patches > 0, searching.patches) == (True, before)


def test_a_network_with_other_numbers_is_refused() -> None:
    with pytest.raises(InputError, match=r"its output has shape \(2, 23\)"):
        NetworkColumns(SharedNetwork(OUTPUTS), FIGURE_COLUMNS).run(np.zeros((2, 64, 64, 3), np.uint8))


def test_the_bundled_refiner_sees_the_ball() -> None:
    card = read_card(find_network(BUNDLED))
    assert card.refiner_sees_ball
    detector = open_detector(BUNDLED, threads=1)
    assert isinstance(detector, TwoStageDetector)
    searched = detector._ball_refiner
    assert searched is not None
    assert searched._search(FRAME[None, :PATCH_PX, :PATCH_PX]).shape == (1, CELLS**2)


def test_a_card_whose_ball_is_seen_by_no_refiner_is_refused(tmp_path: Path) -> None:
    card = json.loads((find_network(BUNDLED) / CARD).read_text())
    (tmp_path / CARD).write_text(json.dumps(card | {"refiner": None}))
    with pytest.raises(FormatError, match="needs a refiner"):
        read_card(tmp_path)


def test_a_network_may_use_files_of_another_folder(tmp_path: Path) -> None:
    shutil.copytree(find_network(BUNDLED), tmp_path / BUNDLED)
    card = dataclasses.replace(read_card(find_network(BUNDLED)), name="elsewhere")

    def elsewhere(files: NetworkFiles | None) -> NetworkFiles:
        assert files is not None
        return dataclasses.replace(files, fp32=f"../{BUNDLED}/{files.fp32}", int8=f"../{BUNDLED}/{files.int8}")

    card = dataclasses.replace(card, detector=elsewhere(card.detector), refiner=elsewhere(card.refiner))
    network = tmp_path / "one"
    network.mkdir()
    write_card(network, card)
    assert all((network / file).is_file() for file in named_files(card))
    assert open_detector(network, threads=1).name.startswith("elsewhere")
    (before,) = _network(str(network))
    (tmp_path / BUNDLED / "refiner.int8.onnx").write_bytes(b"another")
    (after,) = _network(str(network))
    assert before != after, "the journal's digest covers files of the other folder"


def test_without_a_refiner_that_sees_it_the_detector_finds_the_ball(tmp_path: Path) -> None:
    folder = find_network(BUNDLED)
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / CARD).unlink()
    write_card(tmp_path, dataclasses.replace(read_card(folder), refiner_sees_ball=False))
    detector = open_detector(tmp_path, threads=1)
    assert isinstance(detector, TwoStageDetector)
    assert detector._ball_refiner is None
