"""What `downfield run` prints: in place on a terminal, otherwise line by line."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console
from rig_fakes import EVENTS, FakeReferee, FakeSource, FakeVision

from downfield.capture.problems import ActiveProblems
from downfield.cli.console.terminal import TerminalLog, TerminalView
from downfield.core.scene import ASKED, Asked, Scene
from downfield.game.published.board_topics import HealthReason, HealthStatus, RecordingStatus
from downfield.rig.live.loop import Loop

HEALTH = HealthStatus(
    level="alarm",
    text="Recording stopped: the disk is full",
    reasons=(HealthReason(code="disk_full", level="alarm", text="Recording stopped: the disk is full"),),
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


def played(*observers: Any) -> FakeReferee:
    referee = FakeReferee()
    Loop(FakeSource(), FakeVision(), referee, ActiveProblems(), events=EVENTS, observers=observers).run()
    return referee


def test_the_view_shows_calls_health_and_notices() -> None:
    topics = {"health": HEALTH}
    view = TerminalView(Console(file=io.StringIO()), topics.get, "table under TAP", "http://127.0.0.1:8317/")
    assert "no calls yet" in shown(view)
    played(view)
    view.notice_given("alarm", "No picture: the camera was unplugged.")
    text = shown(view)
    assert "dark-1 tackled by light-9" in text
    assert "TAP-022" in text
    assert (
        "Table Cam 1920x1080   60 frames/s, 21 ms (99%: 38 ms) from capture to call, 3 of 1000 frames dropped" in text
    )
    assert "recording 20261122-120000/0001.mkv (12 s)" in text
    assert "No picture: the camera was unplugged." in text
    assert "http://127.0.0.1:8317/" in text


def test_the_log_prints_calls_situations_and_refusals_with_their_times() -> None:
    console = Console(file=io.StringIO(), highlight=False, soft_wrap=True)
    situation = {"now": ""}
    log = TerminalLog(console, lambda: situation["now"], live=False)
    situation["now"] = "1st & 10"
    played(log)
    log.event_refused(EVENTS[0], "not now [so]")
    out = console.file
    assert isinstance(out, io.StringIO)
    printed = out.getvalue()
    assert printed.count("1st & 10") == 1
    assert "   1.00 s  dark-1 tackled by light-9" in printed
    assert "refused: not now [so]" in printed


def waits(*scenes: tuple[float, tuple[str, ...], Asked], address: str = "http://127.0.0.1:8317/") -> list[str]:
    """What is printed of scenes: seconds, why they are unfit, what is asked."""
    console = Console(file=io.StringIO(), highlight=False, soft_wrap=True)
    log = TerminalLog(console, lambda: "", live=False, address=address)
    for frame, (t_s, unfit, asks) in enumerate(scenes):
        log.entry_judged(Scene(frame, round(t_s * 1e9), "off", (), unfit=unfit, asks=asks), ())
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_an_open_question_is_told_at_once_and_once_with_where_to_answer_it() -> None:
    unfit = ("A hand covers figures", ASKED["sides"])
    assert waits((1.0, unfit, "sides"), (1.1, unfit, "sides"), (9.0, unfit[1:], "sides"), (9.1, (), "")) == [
        f"   1.00 s  calls wait: {ASKED['sides']} (http://127.0.0.1:8317/)",
        "   9.10 s  calls go on",
    ]
    assert "start without --no-page" in waits((1.0, (ASKED["names"],), "names"), address="")[0]


def test_why_calls_wait_is_told_once_it_lasts_and_a_moment_is_not() -> None:
    assert waits((1.0, ("No frames came for 0.4 s: check it",), ""), (1.5, (), ""), (9.0, (), "")) == []
    texts = [f"{40 + k} % of the figures are not visible: clear the view" for k in range(12)]
    assert waits(*((k / 2, (text,), "") for k, text in enumerate(texts)), (8.0, (), "")) == [
        f"   2.00 s  calls wait: {texts[4]}",
        "   8.00 s  calls go on",
    ]


def test_the_times_of_a_recording_of_a_live_rig_count_from_its_first_scene() -> None:
    console = Console(file=io.StringIO(), highlight=False, soft_wrap=True)
    log = TerminalLog(console, lambda: "", live=False)
    began_ns = 1_795_000_000_000_000_000
    log.entry_judged(Scene(0, began_ns, "off", ()), ())
    log.entry_judged(Scene(1, began_ns + 2_500_000_000, "off", ()), ())
    log.notice_given("info", "the board is on")
    out = console.file
    assert isinstance(out, io.StringIO)
    assert out.getvalue() == "   2.50 s  the board is on\n"
