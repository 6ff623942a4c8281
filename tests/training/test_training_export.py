"""Exported networks: their files give what the networks give, and int8 is calibrated on a trainer's samples."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_sets import pair

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")
pytest.importorskip("nncf")

from downfield.models.card import NetworkFiles, read_card, write_card  # noqa: E402
from downfield.models.frame_detector import CHANNELS  # noqa: E402
from downfield.models.loading import open_detector  # noqa: E402
from downfield.models.runtime import open_network  # noqa: E402
from downfield.training.data.sample_files import write_samples  # noqa: E402
from downfield.training.data.samples import MOST_OBJECTS, FrameSamples, PatchSamples  # noqa: E402
from downfield.training.evaluation.measures import precision, recall  # noqa: E402
from downfield.training.evaluation.scoring import WELL_SEEN, score_frame  # noqa: E402
from downfield.training.evaluation.tuning import tune  # noqa: E402
from downfield.training.export.networks import export_networks  # noqa: E402
from downfield.training.export.onnx import RefinerGraph, YoloGraph, after_last_convolutions, export_onnx  # noqa: E402
from downfield.training.networks.refiner import RefinerNetwork  # noqa: E402
from downfield.training.networks.yolo_detector import new_yolo_detector  # noqa: E402

CHECKPOINTS = Path(__file__).parents[2] / "training" / "checkpoints"


def test_exported_graphs_give_what_the_networks_give(tmp_path: Path) -> None:
    import onnx

    torch.manual_seed(1)
    pictures = np.random.default_rng(0).integers(0, 256, (1, 64, 64, 3), dtype=np.uint8)
    shades = torch.from_numpy(pictures[..., ::-1].copy()).permute(0, 3, 1, 2).float() / 255
    for network, graph, name in (
        (RefinerNetwork(), RefinerGraph, "patches"),
        (new_yolo_detector(), YoloGraph, "frame"),
    ):
        network.eval()
        parts = None
        if name == "patches":
            with torch.no_grad():
                parts = network(shades)
        file = tmp_path / f"{name}.onnx"
        export_onnx(graph(network), (1, 64, 64, 3), file, names=(name, "output"), any_batch=name == "patches")
        output = open_network(file, "onnxruntime", size_px=(64, 64), threads=1, precision="fp32").run(pictures)
        if parts is None:
            assert output.shape == (1, CHANNELS, 64)
            continue
        np.testing.assert_allclose(output, torch.cat(parts, dim=1).numpy(), atol=2e-3)
        exact = after_last_convolutions(onnx.load(str(file)))
        kinds = {node.name: node.op_type for node in onnx.load(str(file)).graph.node}
        assert "Conv" not in {kinds[each] for each in exact}
        assert exact


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The networks of the repository's checkpoints, exported."""
    where = tmp_path_factory.mktemp("exported")
    rng = np.random.default_rng(0)

    def pictures(count: int, side: int) -> Any:
        return torch.from_numpy(rng.integers(0, 256, (count, side, side, 3), dtype=np.uint8))

    objects = (torch.zeros(4, MOST_OBJECTS, *rest) for rest in ((), (5, 3), (4,), ()))
    write_samples(FrameSamples(pictures(4, 320), *objects), where / "crops", 0)
    labels = (torch.zeros(60, *rest) for rest in ((5, 2), (5,), (), (), (), (3,)))
    write_samples(PatchSamples(pictures(60, 64), *labels), where / "patches", 0)
    export_networks(CHECKPOINTS, (where / "crops", where / "patches"), where / "network", name="mine")
    return where / "network"


def test_a_trainers_networks_become_one_that_the_rig_opens(exported: Path) -> None:
    card = read_card(exported)
    assert (card.name, card.refiner_sees_ball) == ("mine", True)
    assert (exported / "detector.int8.onnx").stat().st_size < (exported / "detector.onnx").stat().st_size
    opened = open_detector(exported)
    assert opened.detect(np.full((540, 960, 3), 60, np.uint8)) == ()


def test_thresholds_are_those_that_find_the_figures_of_validation_pictures(exported: Path, tmp_path: Path) -> None:
    network = tmp_path / "network"
    shutil.copytree(exported, network)
    write_card(
        network,
        dataclasses.replace(
            read_card(network), detector=NetworkFiles("detector.onnx"), refiner=NetworkFiles("refiner.onnx")
        ),
    )
    pictures = pair(tmp_path / "pictures")
    lines: list[str] = []
    card = tune(network, [tmp_path / "pictures"], lines.append)
    assert card == read_card(network)
    assert "figures refined from" in lines[-1]
    assert card.thresholds[0] == card.thresholds[2] <= card.figure_threshold
    assert card.refiner is not None
    assert card.refiner.sigma_scale > 0
    opened = open_detector(network)
    frames = [score_frame(sample, opened.detect(image)) for sample, image in pictures]
    assert recall(frames, WELL_SEEN) > 0.8
    assert precision(frames) > 0.8
