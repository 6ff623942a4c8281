"""Waiting for what another thread, process or page does: tests wait for conditions, never for a time."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Final, TypeVar

WAIT_S: Final = 120.0
"""What takes a moment on an idle computer may take long on a busy one; only what never happens shall fail."""

_PAUSES_S: Final = (0.001, 0.05)
"""Between looks, at first and at last: what comes soon is seen soon, what comes late costs little."""

Value = TypeVar("Value")


def wait_until(condition: Callable[[], Value | None], what: str | Callable[[], object] = "") -> Value:
    """Return the first value of a condition that is true.

    Args:
        condition: is looked at again and again.
        what: is waited for, or returns what tells why it did not come; the condition's own text when empty.

    Raises:
        AssertionError: it was never true.
    """
    until_s, (pause_s, longest_s) = time.monotonic() + WAIT_S, _PAUSES_S
    while not (value := condition()):
        assert time.monotonic() < until_s, _in_vain(condition, what)
        time.sleep(pause_s)
        pause_s = min(1.2 * pause_s, longest_s)
    return value


async def wait_until_async(condition: Callable[[], Value | None], what: str | Callable[[], object] = "") -> Value:
    """Return the first value of a condition that is true, and let other tasks run meanwhile; see `wait_until`."""
    until_s, (pause_s, longest_s) = time.monotonic() + WAIT_S, _PAUSES_S
    while not (value := condition()):
        assert time.monotonic() < until_s, _in_vain(condition, what)
        await asyncio.sleep(pause_s)
        pause_s = min(1.2 * pause_s, longest_s)
    return value


def let_run(seconds: float) -> None:
    """Give other threads and processes time for what they must not do.

    Right behavior passes however long this takes; it makes wrong behavior likely to be seen.
    """
    time.sleep(seconds)


async def let_run_async(seconds: float) -> None:
    """Give other tasks time for what they must not do; see `let_run`."""
    await asyncio.sleep(seconds)


def _in_vain(condition: Callable[[], object], what: str | Callable[[], object]) -> str:
    described = what if isinstance(what, str) else what()
    return f"waited {WAIT_S:.0f} s in vain: {described or inspect.getsource(condition).strip()}"
