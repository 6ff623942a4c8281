"""Notices: what people read once, such as that a recording went on."""

from __future__ import annotations

import logging

from downfield.capture.observer import LoopObserver, NoticeLevel
from downfield.game.published.game_topics import Notice
from downfield.game.published.hub import Hub

_log = logging.getLogger(__name__)


class Notices:
    """Publishes notices, and passes them to observers; each first gets those given before there were any.

    Args:
        hub: publishes them.

    """

    def __init__(self, hub: Hub) -> None:
        self.observers: list[LoopObserver] = []
        self._hub = hub
        self._early: list[tuple[NoticeLevel, str]] = []

    def give(self, level: NoticeLevel, text: str) -> None:
        """Publish a notice, and pass it on; an observer that fails keeps it from nobody else."""
        self._hub.publish("notice", Notice(level=level, text=text))
        if not self.observers:
            self._early.append((level, text))
        for observer in self.observers:
            try:
                observer.notice_given(level, text)
            except Exception:  # a notice that can't be shown is no failure of what it is about
                _log.exception("A notice could not be passed on")

    def add_observer(self, observer: LoopObserver) -> None:
        """Pass notices to an observer from now on, and those given before."""
        for level, text in self._early:
            observer.notice_given(level, text)
        self.observers.append(observer)
