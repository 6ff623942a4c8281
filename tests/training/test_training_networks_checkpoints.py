"""A checkpoint holds numbers only: code in it is never run, and a file that is none is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")

from downfield.core.errors import InputError  # noqa: E402
from downfield.models.ultralytics_detector import UltralyticsDetector  # noqa: E402
from downfield.training.keep.network_training import DETECTOR, REFINER, NetworkKind, NetworkTraining, ReplayPool  # noqa: E402
from downfield.training.networks.checkpoints import load_file, open_average, read_checkpoint  # noqa: E402
from downfield.training.networks.refiner import RefinerNetwork  # noqa: E402

ROOT = Path(__file__).parents[2]


class Planted:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Path]]:
        return Path.touch, (self.path,)


def test_code_in_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    planted, file = tmp_path / "planted", tmp_path / "mine.pt"
    torch.save({"average": {"weight": torch.zeros(2)}, "steps": 1, "more": Planted(planted)}, file)
    readers: list[Callable[[Path], object]] = [
        load_file,
        read_checkpoint,
        lambda path: open_average(RefinerNetwork(), path),
        lambda path: NetworkTraining(REFINER, ReplayPool(1), 1).begin(path),
    ]
    for read in readers:
        with pytest.raises(InputError, match=r"mine\.pt: not a checkpoint"):
            read(file)
    assert not planted.exists()


def test_code_in_a_model_of_ultralytics_is_not_run(tmp_path: Path) -> None:
    planted, file = tmp_path / "planted", tmp_path / "mine.pt"
    torch.save({"model": Planted(planted)}, file)
    with pytest.raises(InputError, match=r"mine\.pt: ultralytics can't open it"):
        UltralyticsDetector(file)
    assert not planted.exists()


def test_a_model_of_ultralytics_is_opened_from_its_weights(tmp_path: Path) -> None:
    from ultralytics import YOLO

    model = YOLO("yolo26n.yaml").model
    model.names = {0: "upright", 1: "fallen", **{number: str(number) for number in range(2, 80)}}
    torch.save({"model": model, "train_args": {}}, tmp_path / "mine.pt")
    assert UltralyticsDetector(tmp_path / "mine.pt").detect(np.zeros((96, 128, 3), np.uint8)) == ()


def test_no_module_of_training_reads_a_checkpoint_another_way() -> None:
    readers = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "training").rglob("*.py")
        if "torch.load(" in path.read_text(encoding="utf-8")
    ]
    assert readers == ["training/networks/checkpoints.py"]


@pytest.mark.parametrize("kind", [DETECTOR, REFINER])
def test_training_goes_on_from_the_checkpoints_of_the_repository(kind: NetworkKind) -> None:
    path = ROOT / "training" / "checkpoints" / f"{kind.name}.pt"
    training = NetworkTraining(kind, ReplayPool(1), 1)
    training.begin(path)
    known = load_file(path)["average"]
    for name, weights in training.average.state_dict().items():
        torch.testing.assert_close(weights, known[name].to(weights.dtype))
