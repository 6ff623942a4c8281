"""Writes what happens at a table into the log."""

from __future__ import annotations

import logging
from typing import Final

from downfield.capture.observer import LoopObserver, NoticeLevel
from downfield.core.scene import Scene
from downfield.officiating.calls import Call
from downfield.officiating.events import Event

_log = logging.getLogger(__name__)

_LEVELS: Final[dict[NoticeLevel, int]] = {"info": logging.INFO, "warning": logging.WARNING, "alarm": logging.ERROR}


class LogObserver(LoopObserver):
    """Logs calls, refused declarations and notices."""

    def entry_judged(self, _: Scene | Event, calls: tuple[Call, ...], /) -> None:
        """Log every call that was made or changed."""
        for call in calls:
            _log.info("%s: %s; %s [%s]", call.verdict, call.text, call.words, ", ".join(call.clauses))

    def event_refused(self, _: Event, reason: str, /) -> None:
        """Log a recorded declaration that the game refused."""
        _log.warning("refused: %s", reason)

    def notice_given(self, level: NoticeLevel, text: str, /) -> None:
        """Log a notice."""
        _log.log(_LEVELS[level], "%s", text)
