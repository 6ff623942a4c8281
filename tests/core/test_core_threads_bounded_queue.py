"""The queue between the threads of the loop keeps bursts, drops the oldest items, and ends when it is closed."""

from __future__ import annotations

import threading

import pytest

from downfield.core.threads import BoundedQueue


def test_closing_a_queue_releases_both_sides() -> None:
    items: BoundedQueue[int] = BoundedQueue(1)
    items.put(1)
    threading.Timer(0.05, items.close).start()
    items.put(2)
    assert list(items) == [1]
    assert items.put_or_drop(3)


def test_a_burst_of_frames_after_a_stall_is_kept() -> None:
    items: BoundedQueue[int] = BoundedQueue(2, burst_capacity=3)
    assert all(items.put_or_drop(i) for i in range(5))
    items.close()
    assert list(items) == [0, 1, 2, 3, 4]


def test_under_constant_overload_no_item_waits_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("downfield.core.threads.time.monotonic", lambda: now)
    items: BoundedQueue[int] = BoundedQueue(2, burst_capacity=3)
    for i in range(6):
        items.put_or_drop(i)
    assert (len(items), items.dropped) == (5, 1)
    items.put_or_drop(6)  # overload again: only the usual capacity is left
    assert (len(items), items.dropped) == (2, 5)
    now += 1.0
    items.put_or_drop(7)
    assert (len(items), items.dropped) == (2, 6)
    now += 2.5  # nothing was dropped for long enough
    assert all(items.put_or_drop(i) for i in (8, 9, 10))
    items.close()
    assert list(items) == [6, 7, 8, 9, 10]
