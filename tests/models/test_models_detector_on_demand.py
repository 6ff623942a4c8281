"""Networks that are seldom needed take no memory until then, and none afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.models.detector import OnDemandNetworks
from downfield.models.runtime import Outputs

PICTURES = np.zeros((2, 64, 64, 3), np.uint8)


class Counted:
    """A network that counts how often it was opened."""

    name, size_px = "counted", (64, 64)
    opened = 0

    def __init__(self) -> None:
        Counted.opened += 1

    def run(self, pictures: Image) -> Outputs:
        return np.full((len(pictures), 1), Counted.opened, np.float32)


@pytest.fixture(autouse=True)
def none_opened() -> None:
    Counted.opened = 0


def test_a_network_is_opened_by_its_first_run_and_once() -> None:
    networks = OnDemandNetworks()
    network = networks.add("a.onnx", (64, 64), Counted)
    assert (network.name, network.size_px) == ("a.onnx", (64, 64))
    assert Counted.opened == networks.opened == 0
    assert network.run(PICTURES).tolist() == [[1], [1]]
    assert network.run(PICTURES).tolist() == [[1], [1]]
    assert networks.opened == 1


def test_closed_ones_are_opened_again_by_the_next_run_and_others_stay_closed() -> None:
    networks = OnDemandNetworks()
    used, unused = (networks.add(name, (64, 64), Counted) for name in ("used", "unused"))
    used.run(PICTURES)
    networks.close()
    networks.close()
    assert networks.opened == 0
    assert used.run(PICTURES).tolist() == [[2], [2]]
    assert networks.opened == 1
    assert unused.size_px == (64, 64)


def test_a_network_that_can_not_be_opened_is_tried_again_by_each_run() -> None:
    def refuse() -> Counted:
        if Counted.opened:
            return Counted()
        Counted.opened += 1
        raise InputError("broken.onnx: OpenVINO can't open it as a network")

    networks = OnDemandNetworks()
    network = networks.add("broken.onnx", (64, 64), refuse)
    with pytest.raises(InputError, match="broken"):
        network.run(PICTURES)
    assert networks.opened == 0
    assert len(network.run(PICTURES)) == 2
