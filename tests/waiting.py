"""Waiting for what another thread, process or page does: tests wait for conditions, never for a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, TypeVar

WAIT_S: Final = 120.0
"""What takes a moment on an idle computer may take long on a busy one; only what never happens shall fail."""

_PAUSES_S: Final = (0.001, 0.05)
"""Between looks, at first and at last: what comes soon is seen soon, what comes late costs little."""

Value = TypeVar("Value")


def wait_until(condition: Callable[[], Value], what: str | Callable[[], object]) -> Value:
    """Return the first value of a condition that is true.

    Args:
        condition: is looked at again and again.
        what: is waited for, such as "the broker answers"; or returns what tells why it did not come.

    Raises:
        AssertionError: it was never true.

    """
    until_s, (pause_s, longest_s) = time.monotonic() + WAIT_S, _PAUSES_S
    while not (value := condition()):
        assert time.monotonic() < until_s, _never(what)
        time.sleep(pause_s)
        pause_s = min(1.2 * pause_s, longest_s)
    return value


async def wait_for_async(condition: Callable[[], Value], what: str | Callable[[], object]) -> Value:
    """Return the first value of a condition that is true, and let other tasks run meanwhile; see `wait_until`."""
    until_s, (pause_s, longest_s) = time.monotonic() + WAIT_S, _PAUSES_S
    while not (value := condition()):
        assert time.monotonic() < until_s, _never(what)
        await asyncio.sleep(pause_s)
        pause_s = min(1.2 * pause_s, longest_s)
    return value


def _never(what: str | Callable[[], object]) -> str:
    return f"did not happen within {WAIT_S:.0f} s: {what if isinstance(what, str) else what()}"
