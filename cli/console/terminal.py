"""What `downfield run` shows: how to reach its pages, then the game, line by line or in place."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from downfield.api.http.network_addresses import qr_text
from downfield.capture.source import LoopObserver, NoticeLevel
from downfield.cli.console.output import styled
from downfield.core.scene import ASKED, Scene
from downfield.game.published.board_topics import HealthStatus
from downfield.officiating.calls import Call, Verdict
from downfield.officiating.events import Event
from downfield.rig.service.web_service import Service

_VERDICT_STYLES: Final[Mapping[Verdict, str]] = {
    "called": "bold yellow",
    "too_close": "bold dark_orange",
    "proposed": "bold cyan",
    "reported": "dim",
}
_NOTICE_STYLES: Final[Mapping[NoticeLevel, str]] = {"info": "dim", "warning": "yellow", "alarm": "bold red"}
_HEALTH_STYLES: Final = {"ok": "green", "warning": "yellow", "alarm": "bold red"}
_CALLS_SHOWN: Final = 8
_NOTICES_SHOWN: Final = 3
_NUMBERS: Final = re.compile(r"[0-9.]+")
_REFRESH_PER_S: Final = 4  # fast enough for people, and cheap beside the work of a frame


_WAITS_NS: Final = 2_000_000_000  # calls that wait for longer do so for a reason that people should read

_TIME_OF_DAY_NS: Final = 10**17  # below it times count from the start of a recording, above it from 1970


class TerminalLog(LoopObserver):
    """Prints the game line by line; observes the loop.

    Args:
        situation: returns the state of the game on one line.
        live: whether times count from the first scene instead of the recording's beginning; those of a recording that a
            live rig made do anyway, as it has the times of the day.
        address: of the pages, where questions are answered; empty for none.
    """

    def __init__(self, console: Console, situation: Callable[[], str], *, live: bool, address: str = "") -> None:
        self._console = console
        self._situation, self._address = situation, address
        self._waits: tuple[str, int] | None = None  # why calls wait, and since when
        self._told = ""  # why, as printed
        self._last_situation = ""
        self._began_ns = None if live else 0
        self._t_ns = 0

    def entry_judged(self, entry: Scene | Event, calls: tuple[Call, ...]) -> None:
        """Print a line for every call, with its measurement, and for every change of the situation."""
        if isinstance(entry, Scene) and (self._began_ns is None or entry.t_ns - self._began_ns > _TIME_OF_DAY_NS):
            self._began_ns = entry.t_ns
        self._t_ns = entry.t_ns
        if isinstance(entry, Scene):
            self._tell_wait(entry)
        for call in calls:
            text = styled(_prefix(call) + call.text, _VERDICT_STYLES[call.verdict])
            self._print(call.t_ns, text, styled(f"  {call.words}  {', '.join(call.clauses)}", "dim"))
        situation = self._situation()
        if situation and situation != self._last_situation:
            self._last_situation = situation
            self._print(self._t_ns, styled(situation))

    def event_refused(self, event: Event, reason: str) -> None:
        """Print a line for a recorded declaration that the game refused."""
        self._print(event.t_ns, styled(f"refused: {reason}", "red"))

    def notice_given(self, level: NoticeLevel, text: str) -> None:
        """Print a line for a notice."""
        self._print(self._t_ns, styled(text, _NOTICE_STYLES[level]))

    def _tell_wait(self, scene: Scene) -> None:
        """Print why calls wait, a question at once and all else once it lasts, and that they go on."""
        reason = ASKED[scene.asks] if scene.asks else scene.unfit[0] if scene.unfit else ""
        kind = _NUMBERS.sub("", reason)
        if not reason:
            if self._told:
                self._print(scene.t_ns, styled("calls go on", "green"))
            self._waits, self._told = None, ""
            return
        if self._waits is None or self._waits[0] != kind:
            self._waits = kind, scene.t_ns
        if kind == self._told or not (scene.asks or scene.t_ns - self._waits[1] >= _WAITS_NS):
            return
        self._told = kind
        where = f" ({self._address or 'start without --no-page'})" if scene.asks else ""
        self._print(scene.t_ns, styled(f"calls wait: {reason}{where}", "yellow"))

    def _print(self, t_ns: int, *texts: Text) -> None:
        """Print a line that begins with the time in the recording, or since the first scene of a live source, s."""
        began_ns = t_ns if self._began_ns is None else self._began_ns
        time = styled(f"{(t_ns - began_ns) / 1e9:7.2f} s", "dim")
        self._console.print(Text.assemble(time, "  ", *texts))


class TerminalView(LoopObserver):
    """Shows the game, the latest calls and the rig's health in place, by the service's topics; observes the loop."""

    def __init__(self, console: Console, topic: Callable[[str], Any], title: str, address: str) -> None:
        self._topic = topic
        self._title, self._address = title, address
        self._calls: deque[Call] = deque(maxlen=_CALLS_SHOWN)
        self._notices: deque[tuple[NoticeLevel, str]] = deque(maxlen=_NOTICES_SHOWN)
        self._live = Live(
            console=console, get_renderable=self.render, refresh_per_second=_REFRESH_PER_S, redirect_stdout=False
        )

    def __enter__(self) -> TerminalView:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def entry_judged(self, _: Scene | Event, calls: tuple[Call, ...]) -> None:
        """Keep the latest calls; a changed call replaces its earlier version."""
        for call in calls:
            others = [other for other in self._calls if other.id != call.id]
            self._calls = deque([*others, call], maxlen=_CALLS_SHOWN)

    def event_refused(self, _: Event, reason: str) -> None:
        """Show that the game refused a recorded declaration."""
        self.notice_given("warning", f"refused: {reason}")

    def notice_given(self, level: NoticeLevel, text: str) -> None:
        """Show a notice."""
        self._notices.append((level, text))

    def render(self) -> RenderableType:
        """Return the present view."""
        notices = [styled(text, _NOTICE_STYLES[level]) for level, text in self._notices]
        return Panel(
            Group(self._game(), Text(), self._call_table(), Text(), *self._health(), *notices),
            title=Text.assemble(styled("Downfield", "bold"), styled(f"  {self._title}")),
            title_align="left",
            subtitle=styled(f"{self._address}   stop with Ctrl-C" if self._address else "stop with Ctrl-C"),
            subtitle_align="right",
        )

    def _game(self) -> RenderableType:
        game = self._topic("game")
        if game is None:
            return Text("no game yet", style="dim")
        home, away = game.home, game.away
        clock = f"   {game.clock.text}" if game.clock.text else ""
        score = f"{home.name} {home.points}   {away.name} {away.points}{clock}"
        return Group(styled(game.situation, "bold"), styled(f"{score}   {game.phase_text}"))

    def _call_table(self) -> RenderableType:
        if not self._calls:
            return Text("no calls yet", style="dim")
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for call in reversed(self._calls):
            text = styled(_prefix(call) + call.text, _VERDICT_STYLES[call.verdict])
            table.add_row(text, call.words, styled(", ".join(call.clauses), "dim"))
        return table

    def _health(self) -> Iterator[RenderableType]:
        health = self._topic("health")
        if not isinstance(health, HealthStatus):
            return
        size = "" if health.size is None else f" {health.size[0]}x{health.size[1]}"
        yield styled(f"{health.camera}{size}   {' '.join(_frame_rates(health))}", "dim")
        if health.recording.on:
            yield styled(f"recording {health.recording.file} ({health.recording.seconds:.0f} s)", "dim")
        yield styled(health.text, _HEALTH_STYLES[health.level])


def _prefix(call: Call) -> str:
    return "proposed: " if call.verdict == "proposed" else ""


def _frame_rates(health: HealthStatus) -> Iterator[str]:
    if health.fps is not None:
        yield f"{health.fps:.0f} frames/s,"
    if health.latency_ms is not None and health.latency_p99_ms is not None:
        yield f"{health.latency_ms:.0f} ms (99%: {health.latency_p99_ms:.0f} ms) from capture to call,"
    damaged = f", {health.damaged} damaged" if health.damaged else ""
    yield f"{health.dropped} of {health.frames + health.dropped + health.damaged} frames dropped{damaged}"


QR_COLORS: Final = "#ffffff on #000000"


def print_access(console: Console, service: Service, *, waits_for_phone: bool = False) -> None:
    """Print the link for this computer and, when other devices can reach the service, their addresses and a QR code.

    The code is for the phone that is to be the camera where the rig waits for one, in place of the operator's.
    """
    console.print(f"Open  {service.admin_link}  in a browser on this computer.")
    addresses = service.network_addresses()
    if not addresses:
        return
    for address in addresses:
        console.print(f"On other devices:  {address}")
    if service.certificate is not None:
        console.print("The certificate is the rig's own; a browser warns once. Its SHA-256 fingerprint:")
        console.print(f"  {service.certificate.fingerprint}")
    link = service.pairing_link("camera" if waits_for_phone else "operator")
    camera, operator = ("the phone that is to be the camera", "/setup"), ("the operator's phone", "the start page")
    whose, page = camera if waits_for_phone else operator
    console.print(f"Scan this with {whose} (one phone, within 10 minutes; more codes on {page}):")
    print_qr(console, link)
    console.print(f"  or open  {link}")
    if waits_for_phone:
        console.print("It warns once. iPhone: Show Details, then visit this website. Android: Advanced, then Proceed.")


def print_qr(console: Console, text: str) -> None:
    """Print a QR code, if the terminal's encoding has the characters for it.

    Its colors are given, or a terminal that writes dark on light would show it inverted, which not every phone reads.
    """
    code = qr_text(text)
    try:
        code.encode(console.encoding)
    except UnicodeEncodeError:
        return
    for line in code.splitlines():
        console.print(line, style=QR_COLORS)
