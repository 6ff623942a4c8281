"""What is not as it should be, at any moment, and who is told when that changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Literal

from downfield.game.published.board_topics import HealthReason, Level

NoticeLevel = Literal["info", "warning", "alarm"]


class ActiveProblems:
    """The troubles of the rig, by code. Callable from any thread.

    Args:
        changed: told whenever a trouble comes, goes or is worded anew.
        noticed: told of what is worth one line and no more.

    """

    def __init__(
        self,
        changed: Callable[[], None] | None = None,
        noticed: Callable[[NoticeLevel, str], None] | None = None,
    ) -> None:
        self._lock = threading.Lock()
        self._now: dict[str, HealthReason] = {}
        self._changed = changed or _nobody
        self._noticed = noticed or _nobody

    def add(self, reason: HealthReason) -> None:
        """Something is wrong; replaces what was said under the same code."""
        with self._lock:
            before = self._now.get(reason.code)
            self._now[reason.code] = reason
        if before != reason:
            self._changed()
        if before is None or before.level != reason.level:
            self._noticed(reason.level, f"{reason.text}. {reason.remedy}".rstrip(". ") + ".")

    def clear(self, code: str, text: str = "") -> None:
        """It is well again.

        Args:
            code: of the trouble.
            text: what to tell about its end.

        """
        with self._lock:
            gone = self._now.pop(code, None)
        if gone is not None:
            self._changed()
            if text:
                self._noticed("info", text)

    def note(self, level: NoticeLevel, text: str) -> None:
        """Tell of something that is over already."""
        self._noticed(level, text)

    def now(self) -> tuple[HealthReason, ...]:
        """Everything that is wrong now, alarms first."""
        with self._lock:
            reasons = tuple(self._now.values())
        return tuple(sorted(reasons, key=lambda reason: reason.level != "alarm"))

    def level(self) -> Level:
        """The worst of them."""
        levels = {reason.level for reason in self.now()}
        return "alarm" if "alarm" in levels else "warning" if levels else "ok"


def _nobody(*_: object) -> None:
    """Tells nobody."""
