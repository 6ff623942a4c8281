"""Long commands say what they do: a bar on a terminal, else a line for each step."""

from __future__ import annotations

import io

from rich.console import Console

from downfield.cli.console.progress import duration_text, progress_bar


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_without_a_terminal_each_step_is_one_line_and_a_long_one_says_how_much_is_left() -> None:
    out, clock = io.StringIO(), Clock()
    with progress_bar("Tracking game.mp4", console=Console(file=out), clock=clock) as advance:
        for frame in range(1, 101):
            clock.now_s = frame
            advance(frame, 300)
    assert out.getvalue().splitlines() == [
        "Tracking game.mp4...",
        "Tracking game.mp4: 30 of 300, about 4 min 30 s left",
        "Tracking game.mp4: 60 of 300, about 4 min 0 s left",
        "Tracking game.mp4: 90 of 300, about 3 min 30 s left",
    ]


def test_a_new_step_is_told_at_once_and_only_once() -> None:
    out = io.StringIO()
    with progress_bar("Calibrating", console=Console(file=out), clock=Clock()) as advance:
        for text in ("reading [1]", "reading [1]", "solving"):
            advance(0, text=text)
    assert out.getvalue().splitlines() == ["Calibrating...", "Calibrating: reading [1]", "Calibrating: solving"]


def test_on_a_terminal_there_is_a_bar_that_is_gone_when_the_step_is_done() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    with progress_bar("Judging", console=console) as advance:
        advance(7, 10, "the [fourth] quarter")
    assert "7/10" in out.getvalue()
    assert "the [fourth] quarter" in out.getvalue()
    assert out.getvalue().endswith("\x1b[2K")  # the line is erased


def test_durations_are_written_for_people() -> None:
    assert [duration_text(s) for s in (0.4, 59, 61, 3720)] == ["0 s", "59 s", "1 min 1 s", "1 h 2 min"]
