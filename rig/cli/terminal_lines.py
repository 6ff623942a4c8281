"""What the terminal tells, line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rich.console import Console
from rich.markup import escape

from downfield.core.scene import Scene
from downfield.officiating.calls import Call, Verdict
from downfield.officiating.events import Event
from downfield.rig.live.observer import LoopObserver
from downfield.rig.live.troubles import NoticeLevel

VERDICTS: Final[Mapping[Verdict, str]] = {
    "called": "bold yellow",
    "too_close": "bold dark_orange",
    "proposed": "bold cyan",
    "reported": "dim",
}

LEVELS: Final[Mapping[NoticeLevel, str]] = {"info": "dim", "warning": "yellow", "alarm": "bold red"}


class TerminalLog(LoopObserver):
    """Tells of the game line by line; an onlooker of the loop.

    Args:
        console: where.
        situation: the game now, on one line.
        live: whether times count from the first picture, not from the recording's own beginning.

    """

    def __init__(self, console: Console, situation: Callable[[], str], *, live: bool) -> None:
        self._console = console
        self._situation = situation
        self._last = ""
        self._began_ns = None if live else 0
        self._t_ns = 0

    def judged(self, entry: Scene | Event, calls: tuple[Call, ...]) -> None:
        """A line for every call, with what was measured, and for every change of the situation."""
        if self._began_ns is None and isinstance(entry, Scene):
            self._began_ns = entry.t_ns
        self._t_ns = entry.t_ns
        for call in calls:
            asked = "proposed: " if call.verdict == "proposed" else ""
            self._console.print(
                f"{self._time(call.t_ns)}  [{VERDICTS[call.verdict]}]{asked}{escape(call.text)}[/]"
                f"[dim]  {call.measured}  {', '.join(call.clauses)}[/dim]"
            )
        text = self._situation()
        if text and text != self._last:
            self._last = text
            self._console.print(f"{self._time(self._t_ns)}  {escape(text)}")

    def refused(self, event: Event, reason: str) -> None:
        """A line for every recorded declaration that was refused."""
        self._console.print(f"{self._time(event.t_ns)}  [red]refused: {escape(reason)}[/red]")

    def noticed(self, level: NoticeLevel, text: str) -> None:
        """A line for what befell the rig."""
        self._console.print(f"{self._time(self._t_ns)}  [{LEVELS[level]}]{escape(text)}[/]")

    def _time(self, t_ns: int) -> str:
        """Seconds of the recording, or since the first picture of what is live."""
        began_ns = t_ns if self._began_ns is None else self._began_ns
        return f"[dim]{(t_ns - began_ns) / 1e9:7.2f} s[/dim]"
