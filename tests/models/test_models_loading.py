"""The bundled network: it opens, it sees, all runtimes agree; what can't be opened is refused in words."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from made_sets import pair

from downfield.core.arrays import Image
from downfield.core.errors import FormatError, InputError, MissingExtraError
from downfield.models.card import BUNDLED, CARD, bundled_networks, find_network, read_card
from downfield.models.detector import Detector
from downfield.models.loading import open_detector
from downfield.models.refiner import PATCH_PX
from downfield.models.runtime import BACKENDS, Backend, Precision, open_network, split_batch
from downfield.models.two_stage_detector import BATCHES
from downfield.training.evaluation.scoring import WELL_SEEN, score_frame
from downfield.twin.sets.labels import Sample

SAME_PERCENTILE: Mapping[Precision, float] = MappingProxyType({"fp32": 95, "int8": 50})
"""Percentile of the corners that runtimes put within 0.3 px of each other: in int8 they round differently."""


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(0, []), (1, [1]), (2, [3]), (3, [3]), (4, [11]), (11, [11]), (12, [11, 1]), (26, [11, 11, 11])],
)
def test_pictures_are_run_in_large_passes_and_the_rest_in_the_smallest_that_holds_it(
    count: int, sizes: list[int]
) -> None:
    parts = split_batch(count, (1, 3, 11))
    assert [size for _, size in parts] == sizes
    assert [row for part, _ in parts for row in range(count)[part]] == list(range(count))
    assert all(len(range(count)[part]) <= size for part, size in parts)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_output_for_a_picture_does_not_depend_on_how_many_there_are(backend: Backend) -> None:
    """Of 60 patches some go through passes of one size, one after another."""
    folder = find_network(BUNDLED)
    path = folder / str((read_card(folder).refiner or read_card(folder).detector).int8)
    network = open_network(path, backend, size_px=(PATCH_PX, PATCH_PX), threads=1, precision="int8", batches=BATCHES)
    patches = np.random.default_rng(5).integers(0, 256, (60, PATCH_PX, PATCH_PX, 3), dtype=np.uint8)
    together = network.run(patches).copy()
    each = np.concatenate([network.run(patch[None]).copy() for patch in patches])
    assert together.shape == each.shape
    np.testing.assert_allclose(together, each, atol=1e-3)
    assert network.run(patches[:0]).shape == (0, each.shape[1])


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Sample, Image]]:
    """A table nobody trained on, at two instants."""
    return pair(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(scope="module")
def detectors() -> dict[tuple[str, Precision], Detector]:
    precisions: tuple[Precision, ...] = ("int8", "fp32")
    return {
        (backend, precision): open_detector(backend=backend, precision=precision)
        for backend in BACKENDS
        for precision in precisions
    }


def test_the_bundled_network_finds_the_figures_of_a_rendered_table(
    pictures: list[tuple[Sample, Image]], detectors: dict[tuple[str, Precision], Detector]
) -> None:
    scores = [score_frame(sample, detectors["openvino", "int8"].detect(image)) for sample, image in pictures]
    found = np.concatenate([score.found[score.visible >= WELL_SEEN] for score in scores])
    assert found.mean() > 0.93
    assert sum(len(score.false_scores) for score in scores) < 0.15 * len(found)
    assert np.nanmedian(np.concatenate([score.corners_mm for score in scores])) < 1.0


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_runtimes_agree(
    pictures: list[tuple[Sample, Image]], detectors: dict[tuple[str, Precision], Detector], precision: Precision
) -> None:
    for _, image in pictures:
        first, second = (
            [seen for seen in detectors[backend, precision].detect(image) if seen.score > 0.9] for backend in BACKENDS
        )
        distances = []
        for seen in first:
            if seen.corners_px:
                shifts = [
                    np.abs(np.subtract(seen.corners_px, match.corners_px)).max() for match in second if match.corners_px
                ]
                distances.append(min(shifts))
        assert len(distances) > 5
        assert np.percentile(distances, SAME_PERCENTILE[precision]) < 0.3


def test_nothing_is_detected_in_an_empty_picture(detectors: dict[tuple[str, Precision], Detector]) -> None:
    assert detectors["openvino", "int8"].detect(np.full((720, 1280, 3), 90, np.uint8)) == ()


def test_detections_are_best_first_and_whole(
    pictures: list[tuple[Sample, Image]], detectors: dict[tuple[str, Precision], Detector]
) -> None:
    seen = detectors["openvino", "int8"].detect(pictures[0][1])
    assert [found.score for found in seen] == sorted((found.score for found in seen), reverse=True)
    for found in seen:
        corners = 4 if found.kind in ("upright", "fallen") else 0
        assert len(found.corners_px) == len(found.corner_scores) == len(found.corner_sigma_px) == corners
        assert found.helmet_px is not None
        assert all(0 < sigma < 50 for sigma in found.corner_sigma_px)


def test_the_detector_stage_can_be_opened_alone(detectors: dict[tuple[str, Precision], Detector]) -> None:
    alone = open_detector(refine=False)
    assert alone.name + ", refined" == detectors["openvino", "int8"].name
    assert alone.name + ", refined and mirrored" == open_detector(augmented=True).name


def test_the_bundled_networks_are_named() -> None:
    assert BUNDLED in bundled_networks()
    assert read_card(find_network(BUNDLED)).name == BUNDLED


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the bundled network to spoil."""
    return Path(shutil.copytree(find_network(BUNDLED), tmp_path / "network"))


def test_a_folder_of_one_s_own_opens_by_folder_or_card(folder: Path) -> None:
    assert open_detector(folder, refine=False).name == open_detector(folder / CARD, refine=False).name


def test_a_missing_network_is_named_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"dowfield: no network there\. .* a bundled network .*downfield"):
        open_detector("dowfield")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_file_that_is_no_network_is_named(folder: Path, backend: str) -> None:
    (folder / "detector.int8.onnx").write_bytes(b"no network at all")
    with pytest.raises(InputError, match=r"detector\.int8\.onnx: .* can't open it as a network"):
        open_detector(folder, backend=backend)
    (folder / "detector.int8.onnx").unlink()
    with pytest.raises(InputError, match=r"detector\.int8\.onnx: there is no such file"):
        open_detector(folder, backend=backend)


def test_a_network_of_another_stage_is_refused(folder: Path) -> None:
    shutil.copy(folder / "refiner.int8.onnx", folder / "detector.int8.onnx")
    with pytest.raises(InputError, match="takes pictures of 64x64, not 960x544"):
        open_detector(folder)


def test_a_card_with_impossible_values_is_refused_by_field(folder: Path) -> None:
    text = (folder / CARD).read_text()
    (folder / CARD).write_text(text.replace('"thresholds":[', '"thresholds":[0.5,'))
    with pytest.raises(FormatError, match=r"network\.json.*5 thresholds; 4 are needed: upright, fallen, ball, hand"):
        open_detector(folder)


def test_unavailable_runtimes_and_precisions_are_named() -> None:
    with pytest.raises(
        InputError, match=r"There is no runtime 'tensorrt'\. Choose one of: auto, openvino, onnxruntime"
    ):
        open_detector(backend="tensorrt")
    with pytest.raises(InputError, match="no bf16"):
        open_detector(backend="onnxruntime", precision="bf16")
    with pytest.raises(InputError, match="at least 1 thread, not 0"):
        open_detector(threads=0)
    with pytest.raises(InputError, match="at least 1 thread, not 0"):
        open_detector(refine_threads=0)


def test_a_model_of_ultralytics_needs_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("downfield.models.ultralytics_detector.find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"extra 'train'.*\[train\]"):
        open_detector(tmp_path / "mine.pt")
