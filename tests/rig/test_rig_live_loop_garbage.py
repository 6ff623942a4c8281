"""A signal that arrives while garbage is collected is not lost."""

from __future__ import annotations

import os
import signal

import pytest

from downfield.rig.live.loop import set_aside_loaded_objects


class Signaling:
    """Garbage at whose end a signal arrives."""

    def __init__(self) -> None:
        self.self = self

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))


def test_an_interrupt_during_the_collection_is_raised() -> None:
    Signaling()
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - it is raised at any moment after the signal
        set_aside_loaded_objects()
        sum(range(1000))
