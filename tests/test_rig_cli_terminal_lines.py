"""What the terminal tells: in place where it can be drawn on, else line by line."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console
from rig_fakes import EVENTS, FakeReferee, FakeSource, FakeVision

from downfield.game.published.board_topics import HealthReason, HealthStatus, RecordingStatus
from downfield.rig.cli.terminal_lines import TerminalLog
from downfield.rig.cli.terminal_view import TerminalView
from downfield.rig.live.loop import Loop
from downfield.rig.live.referee import EventPlayback
from downfield.rig.live.troubles import ActiveProblems

HEALTH = HealthStatus(
    level="alarm",
    text="Recording has stopped: the disk is full",
    reasons=(HealthReason(code="disk_full", level="alarm", text="Recording has stopped: the disk is full"),),
    fps=59.9,
    latency_ms=21.4,
    latency_p99_ms=38.0,
    frames=997,
    dropped=3,
    camera="Table Cam",
    size=(1920, 1080),
    recording=RecordingStatus(on=True, file="20261122-120000/0001.mkv", seconds=12.0),
)


def shown(view: TerminalView) -> str:
    console = Console(file=io.StringIO(), width=110, force_terminal=False)
    console.print(view.render())
    out = console.file
    assert isinstance(out, io.StringIO)
    return out.getvalue()


def played(*onlookers: Any) -> FakeReferee:
    judge = FakeReferee()
    Loop(FakeSource(), FakeVision(), judge, ActiveProblems(), prompter=EventPlayback(EVENTS), onlookers=onlookers).run()
    return judge


def test_the_view_shows_calls_health_and_what_befell_the_rig() -> None:
    topics = {"health": HEALTH}
    view = TerminalView(Console(file=io.StringIO()), topics.get, "table under TAP", "http://127.0.0.1:8317/")
    assert "no calls yet" in shown(view)
    played(view)
    view.noticed("alarm", "No picture: the camera was unplugged.")
    text = shown(view)
    assert "dark-1 tackled by light-9" in text
    assert "TAP-022" in text
    assert "Table Cam 1920x1080   60 frames/s, 21 ms (p99 38 ms) from capture to call, 3 of 1000 dropped" in text
    assert "recording 20261122-120000/0001.mkv (12 s)" in text
    assert "No picture: the camera was unplugged." in text
    assert "http://127.0.0.1:8317/" in text


def test_the_lines_tell_calls_situations_and_refusals_with_their_times() -> None:
    console = Console(file=io.StringIO(), highlight=False, soft_wrap=True)
    judge_text = {"now": ""}
    lines = TerminalLog(console, lambda: judge_text["now"], live=False)
    judge_text["now"] = "1st & 10"
    played(lines)
    lines.refused(EVENTS[0], "not now [so]")
    out = console.file
    assert isinstance(out, io.StringIO)
    told = out.getvalue()
    assert told.count("1st & 10") == 1
    assert "   1.00 s  dark-1 tackled by light-9" in told
    assert "refused: not now [so]" in told
