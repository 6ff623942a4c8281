"""Tells systemd that the rig is ready, what it does, and that it is alive.

The protocol is `sd_notify(3)`: lines in one datagram to the socket that the environment names.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from downfield.capture.observer import LoopObserver
from downfield.capture.sources.source import CapturedFrame
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.core.supervision import supervised_thread
from downfield.game.published.board_topics import HealthStatus


@dataclass(frozen=True, slots=True)
class WatchdogLimits:
    """Limits of the watchdog."""

    stuck_after_s: float = 20.0
    """The rig is stuck when frames have come in for this long and no scene has come out."""

    interval_s: float = 5.0
    """Longest pause between two reports to systemd."""


_LIMITS: Final = WatchdogLimits()


def status_text(situation: str, health: HealthStatus) -> str:
    """Return what `systemctl status` shows: the game, and the first problem with the number of further ones."""
    if not health.reasons:
        return f"{situation} | {health.text}"
    first = min(health.reasons, key=lambda reason: reason.level)  # an alarm before a warning
    more = len(health.reasons) - 1
    return f"{situation} | {first.text}{f'; {more} more: see `downfield logs`' if more else ''}"


class Watchdog(LoopObserver):
    """Reports to systemd, as long as frames that come in also come out; does nothing without systemd.

    A camera that is unplugged delivers no frames, so it does not count as stuck: the rig waits for it.

    Args:
        status: returns what `systemctl status` shows, one line.
        environment: with ``NOTIFY_SOCKET`` and ``WATCHDOG_USEC`` as systemd sets them.
        now_ns: the monotonic clock, ns.

    """

    def __init__(
        self,
        status: Callable[[], str],
        environment: dict[str, str] | None = None,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        given = dict(os.environ) if environment is None else environment
        self._address = given.get("NOTIFY_SOCKET", "")
        limit_us = given.get("WATCHDOG_USEC", "")
        interval_s = int(limit_us) / 3e6 if limit_us.isdigit() else _LIMITS.interval_s
        self._interval_s = min(interval_s, _LIMITS.interval_s)
        self._status, self._now_ns = status, now_ns
        self._waiting_since_ns: int | None = None
        self._end = threading.Event()
        self._thread = supervised_thread(
            self._run, "watchdog", self._report_failure, restarts=True, closed=self._end.is_set
        )

    def start(self) -> None:
        """Say that the rig is ready, and report from now on."""
        if self._address:
            self._send("READY=1")
            self._thread.start()

    def close(self) -> None:
        """Say that the rig is stopping."""
        if self._address:
            self._send("STOPPING=1")
            self._end.set()
            if self._thread.is_alive():
                self._thread.join()

    def frame_captured(self, _: CapturedFrame, /) -> None:
        """Note that a frame came in."""
        if self._waiting_since_ns is None:
            self._waiting_since_ns = self._now_ns()

    def scene_ready(self, _frame: Frame, _scene: Scene, /) -> None:
        """Note that a scene came out."""
        self._waiting_since_ns = None

    def is_stuck(self) -> bool:
        """Return whether frames have come in for a while and no scene has come out."""
        since_ns = self._waiting_since_ns
        return since_ns is not None and self._now_ns() - since_ns > _LIMITS.stuck_after_s * 1e9

    def _run(self) -> None:
        while not self._end.is_set():
            alive = [] if self.is_stuck() else ["WATCHDOG=1"]
            status = "frames come in and nothing comes out" if self.is_stuck() else self._status()
            self._send("\n".join([*alive, f"STATUS={' '.join(status.split())}"]))
            self._end.wait(self._interval_s)

    def _report_failure(self, cause: str) -> None:
        """Say that the status is not known; that alone is no reason to restart the rig in the middle of a game."""
        self._send("\n".join([*([] if self.is_stuck() else ["WATCHDOG=1"]), f"STATUS=not known: {cause}"]))

    def _send(self, text: str) -> None:
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        # Whoever listened may be gone; the game does not depend on it.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(text.encode(), address)
