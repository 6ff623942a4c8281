"""Fixtures of the tests that need a tournament's broker; `conftest` makes them known.

What they import is loaded by the first test that uses them, not by every test that runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from broker_server import BrokerServer


@pytest.fixture
def brokering(tmp_path: Path) -> Iterator[BrokerServer]:
    """A broker of the test's own; the test is skipped where there is none."""
    from broker_server import broker_server, skip_without_broker

    skip_without_broker()
    with broker_server(tmp_path / "broker") as server:
        yield server


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rigs and desks try a broker again at once, and look for pushes ten times a second."""
    from downfield.rig.tournament import broker, broker_thread, push_receiver

    limits = replace(broker.BROKER_LIMITS, retry_s=0.05, longest_retry_s=0.2)
    for module in (broker, broker_thread):
        monkeypatch.setattr(module, "BROKER_LIMITS", limits)
    monkeypatch.setattr(push_receiver, "LOOK_S", 0.1)
