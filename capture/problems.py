"""The active problems of the rig, by code: whoever finds one reports it here, and says when it is over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from downfield.capture.source import NoticeLevel
from downfield.game.published.board_topics import HealthReason, Level

CAMERA_LOST: Final = "camera_lost"
"""Code of the problem "no picture from the camera", which suspends calls until the camera is back."""

CALLS_SUSPENDED: Final = "calls_suspended"
"""Code of "a person has suspended the camera's calls, or is to say whether they may go on"."""


class ActiveProblems:
    """The active problems of the rig, by code. Callable from any thread.

    Args:
        changed: called whenever a problem begins, ends or gets another text.
        notify: receives notices, which are shown once.
    """

    def __init__(
        self, changed: Callable[[], None] | None = None, notify: Callable[[NoticeLevel, str], None] | None = None
    ) -> None:
        self._lock = threading.Lock()
        self._active: dict[str, HealthReason] = {}
        self._changed = changed or _ignore
        self.notify = notify or _ignore  # gives a notice of an event that needs no action later

    def report(self, problem: HealthReason) -> None:
        """Add a problem; it replaces the one with the same code. Texts lose their final period, to be joined."""
        problem = problem.model_copy(update={"text": problem.text.rstrip("."), "remedy": problem.remedy.rstrip(".")})
        with self._lock:
            before = self._active.get(problem.code)
            self._active[problem.code] = problem
        if before != problem:
            self._changed()
        if before is None or before.level != problem.level:
            self.notify(problem.level, sentences(problem.text, problem.remedy))

    def resolve(self, code: str, text: str = "") -> None:
        """Remove a problem, with a notice if it was active."""
        with self._lock:
            resolved = self._active.pop(code, None)
        if resolved is not None:
            self._changed()
            if text:
                self.notify("info", text)

    def active(self) -> tuple[HealthReason, ...]:
        """Return every problem now, alarms first."""
        with self._lock:
            problems = tuple(self._active.values())
        return tuple(sorted(problems, key=lambda problem: problem.level != "alarm"))

    def level(self) -> Level:
        """Return the level of the worst problem."""
        levels = {problem.level for problem in self.active()}
        return "alarm" if "alarm" in levels else "warning" if levels else "ok"


def camera_loss(problems: ActiveProblems) -> str:
    """Return that a camera sends no pictures, and what to do; empty while it does."""
    lost = [problem for problem in problems.active() if problem.code == CAMERA_LOST]
    return sentences(lost[0].text, lost[0].remedy) if lost else ""


def sentences(*parts: str) -> str:
    """Join texts as sentences, each with one period."""
    return " ".join(f"{part.rstrip('. ')}." for part in parts if part)


def _ignore(*_: object) -> None:
    """Do nothing."""
