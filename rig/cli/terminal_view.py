"""What a terminal shows that can be drawn on: the game, the last calls, the camera's health, all in place."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from downfield.core.scene import Scene
from downfield.game.published.board_topics import HealthStatus
from downfield.officiating.calls import Call
from downfield.officiating.events import Event
from downfield.rig.cli.terminal_lines import LEVELS, VERDICTS
from downfield.rig.live.observer import LoopObserver
from downfield.rig.live.troubles import NoticeLevel

_CALLS: Final = 8
_NOTICES: Final = 3
_PER_S: Final = 4
"""Enough for people, and nothing beside the work of a frame."""

_STATE: Final = {"ok": "green", "warning": "yellow", "alarm": "bold red"}


class TerminalView(LoopObserver):
    """Shows the rig in place; an onlooker of the loop.

    Args:
        console: where.
        topic: a topic's value now, of those the service publishes.
        title: what is watched, and under which rulebook.
        address: of the service; empty for none.

    """

    def __init__(self, console: Console, topic: Callable[[str], Any], title: str, address: str) -> None:
        self._topic = topic
        self._title, self._address = title, address
        self._calls: deque[Call] = deque(maxlen=_CALLS)
        self._notices: deque[tuple[NoticeLevel, str]] = deque(maxlen=_NOTICES)
        self._live = Live(console=console, get_renderable=self.render, refresh_per_second=_PER_S, redirect_stdout=False)

    def __enter__(self) -> TerminalView:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def judged(self, _: Scene | Event, calls: tuple[Call, ...]) -> None:
        """Keep the last calls; one that is made anew takes the place of its former self."""
        for call in calls:
            kept = [one for one in self._calls if one.id != call.id]
            self._calls = deque([*kept, call], maxlen=_CALLS)

    def refused(self, _: Event, reason: str) -> None:
        """A recorded declaration was refused."""
        self.noticed("warning", f"refused: {reason}")

    def noticed(self, level: NoticeLevel, text: str) -> None:
        """Something befell the rig."""
        self._notices.append((level, text))

    def render(self) -> RenderableType:
        """Everything as it is now."""
        return Panel(
            Group(self._game(), Text(), self._table(), Text(), *self._health(), *self._noted()),
            title=f"[bold]Downfield[/]  {escape(self._title)}",
            title_align="left",
            subtitle=f"{self._address}   end with Ctrl-C" if self._address else "end with Ctrl-C",
            subtitle_align="right",
        )

    def _game(self) -> RenderableType:
        game = self._topic("game")
        if game is None:
            return Text("no game yet", style="dim")
        home, away = game.home, game.away
        clock = f"   {game.clock.text}" if game.clock.text else ""
        score = f"{home.name} {home.points}   {away.name} {away.points}{clock}"
        return Group(Text(game.situation, style="bold"), Text(f"{score}   {game.phase_text}"))

    def _table(self) -> RenderableType:
        if not self._calls:
            return Text("no calls yet", style="dim")
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for call in reversed(self._calls):
            asked = "proposed: " if call.verdict == "proposed" else ""
            style = VERDICTS[call.verdict]
            table.add_row(
                Text(asked + call.text, style=style), call.measured, Text(", ".join(call.clauses), style="dim")
            )
        return table

    def _health(self) -> Iterator[RenderableType]:
        health = self._topic("health")
        if not isinstance(health, HealthStatus):
            return
        size = "" if health.size is None else f" {health.size[0]}x{health.size[1]}"
        yield Text(f"{health.camera}{size}   {' '.join(_figures(health))}", style="dim")
        if health.recording.on:
            yield Text(f"recording {health.recording.file} ({health.recording.seconds:.0f} s)", style="dim")
        yield Text(health.text, style=_STATE[health.level])

    def _noted(self) -> Iterator[RenderableType]:
        for level, text in self._notices:
            yield Text(text, style=LEVELS[level])


def _figures(health: HealthStatus) -> Iterator[str]:
    if health.fps is not None:
        yield f"{health.fps:.0f} frames/s,"
    if health.latency_ms is not None and health.latency_p99_ms is not None:
        yield f"{health.latency_ms:.0f} ms (p99 {health.latency_p99_ms:.0f} ms) from capture to call,"
    yield f"{health.dropped} of {health.frames + health.dropped} dropped"
