"""Passes of several numbers of pictures share one graph, with the outputs of a graph for each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from downfield.models.card import find_network
from downfield.models.runtime import Network, open_network

NETWORK = find_network("downfield") / "refiner.int8.onnx"

MEMORY = """
import sys
from pathlib import Path
from downfield.models.card import find_network
from downfield.models.runtime import open_network

def private_mb():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty")) / 1e3

def opened(batches):
    folder = find_network("downfield")
    return open_network(
        folder / "refiner.int8.onnx", "openvino", size_px=(64, 64), threads=1, precision="int8", batches=batches
    )

first = opened((1,))  # loads what all networks share
before = private_mb()
opened_now = [opened(eval(batches)) for batches in sys.argv[1:]]
print(private_mb() - before)
"""


def opened(batches: tuple[int, ...], frequent: int | None = None) -> Network:
    return open_network(
        NETWORK, "openvino", size_px=(64, 64), threads=1, precision="int8", batches=batches, frequent=frequent
    )


def test_a_shared_graph_gives_what_a_graph_for_each_number_gives() -> None:
    patches = np.random.default_rng(7).integers(0, 256, (9, 64, 64, 3), dtype=np.uint8)
    each = {size: opened((size,)) for size in (2, 4, 6)}
    for network in (opened((2, 4, 6)), opened((2, 4, 6), frequent=6), opened((2, 4, 6), frequent=4)):
        for count in (6, 1, 4, 3, 5, 2, 6):
            alone = each[next(size for size in each if size >= count)]
            np.testing.assert_array_equal(network.run(patches[:count]), alone.run(patches[:count]))
        together = network.run(patches)
        np.testing.assert_array_equal(together[:6], each[6].run(patches[:6]))
        np.testing.assert_array_equal(together[6:], each[4].run(patches[6:]))


def test_an_output_of_a_shared_graph_outlives_the_next_and_larger_run() -> None:
    network = opened((1, 12))
    first = network.run(np.zeros((1, 64, 64, 3), np.uint8))
    kept = first.copy()
    network.run(np.full((12, 64, 64, 3), 200, np.uint8))
    np.testing.assert_array_equal(first, kept)


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="Linux says how much memory is private")
def test_more_numbers_of_pictures_take_little_more_memory() -> None:
    def grown_mb(*batches: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, *batches], capture_output=True, text=True, check=True, timeout=300
        )
        return float(done.stdout)

    shared, apart = grown_mb("(1, 3, 6, 11, 17, 22)"), grown_mb("(1,)", "(3,)", "(6,)", "(11,)", "(17,)", "(22,)")
    assert shared < 0.6 * apart, f"{shared:.0f} MB for six numbers, {apart:.0f} MB for a graph each"
