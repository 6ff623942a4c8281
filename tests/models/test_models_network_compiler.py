"""Compiled networks are kept, read back, and made again whenever what was kept is not right."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from downfield.models import runtime
from downfield.models.card import find_network
from downfield.models.runtime import NetworkCompiler

OPTIONS = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
NETWORK = find_network("downfield") / "refiner.int8.onnx"


class CountingCore:
    """OpenVINO's core, which counts how often it compiled and read back."""

    def __init__(self) -> None:
        self._core = runtime._openvino_core()
        self.compiled = self.imported = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def compile_model(self, *arguments: Any) -> Any:
        self.compiled += 1
        return self._core.compile_model(*arguments)

    def import_model(self, *arguments: Any) -> Any:
        self.imported += 1
        return self._core.import_model(*arguments)


def output(network: Any) -> np.ndarray:
    pictures = np.random.default_rng(3).integers(
        0, 255, (2, *list(network.input(0).get_partial_shape().get_max_shape())[1:]), dtype=np.uint8
    )
    request = network.create_infer_request()
    request.infer({0: pictures})
    return np.array(request.get_output_tensor(0).data)


def opened(folder: Path, network: Path = NETWORK, options: dict[str, Any] = OPTIONS) -> tuple[np.ndarray, int, int]:
    """The output of a network for two pictures; how often a network was compiled and read back for it."""
    core = CountingCore()
    found = output(NetworkCompiler(core, network, options, folder).compiled(2))
    return found, core.compiled, core.imported


def test_a_network_for_any_number_is_kept_apart_from_one_for_a_single_number(tmp_path: Path) -> None:
    single, *_ = opened(tmp_path)
    for counts in ([1, 0], [0, 1]):
        core = CountingCore()
        several = NetworkCompiler(core, NETWORK, OPTIONS, tmp_path).compiled(2, up_to=True)
        assert several.input(0).get_partial_shape().is_dynamic
        assert [core.compiled, core.imported] == counts
        np.testing.assert_array_equal(output(several), single)


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*"))


def test_a_later_start_reads_what_an_earlier_one_compiled_and_gives_the_same_output(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "networks"
    first, *counts = opened(folder)
    assert counts == [1, 0]
    again, *counts = opened(folder)
    assert counts == [0, 1]
    np.testing.assert_array_equal(again, first)
    if os.name == "posix":
        assert [file.stat().st_mode & 0o077 for file in (folder, *kept(folder))] == [0, 0]


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", [cut, flipped, lambda _: b""])
def test_what_is_damaged_is_compiled_again_and_replaced(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    first, *_ = opened(tmp_path)
    (file,) = kept(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    again, *counts = opened(tmp_path)
    assert counts == [1, 0]
    np.testing.assert_array_equal(again, first)
    assert opened(tmp_path)[1:] == (0, 1)


def test_what_openvino_does_not_take_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *_ = opened(tmp_path)

    def refuse(*_: Any) -> Any:
        raise RuntimeError("made by another version")

    monkeypatch.setattr(CountingCore, "import_model", refuse)
    again, compiled, _ = opened(tmp_path)
    assert compiled == 1
    np.testing.assert_array_equal(again, first)


def test_another_network_or_option_is_compiled_for_itself(tmp_path: Path) -> None:
    opened(tmp_path)
    changed = tmp_path.parent / "changed.onnx"
    changed.write_bytes(NETWORK.with_name("refiner.onnx").read_bytes())
    assert opened(tmp_path, changed)[1:] == (1, 0)
    assert opened(tmp_path, options=OPTIONS | {"INFERENCE_NUM_THREADS": 2})[1:] == (1, 0)
    assert len(kept(tmp_path)) == 3


def test_a_folder_that_can_not_be_written_costs_only_time(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    assert opened(file / "networks")[1:] == opened(file / "networks")[1:] == (1, 0)


def test_what_nobody_opens_for_long_is_deleted_when_something_else_is_kept(tmp_path: Path) -> None:
    opened(tmp_path)
    (used,) = kept(tmp_path)
    unused = tmp_path / "older-1.network"
    for file, days in ((used, 59), (unused, 61)):
        file.touch()
        old = file.stat().st_mtime - days * 86_400
        os.utime(file, (old, old))
    opened(tmp_path)  # opened today
    opened(tmp_path, options=OPTIONS | {"INFERENCE_NUM_THREADS": 2})
    assert used in kept(tmp_path)
    assert unused not in kept(tmp_path)
