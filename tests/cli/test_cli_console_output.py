"""What commands print is never interpreted by the terminal, and losing the output ends no game."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.panel import Panel
from rich.table import Table
from rig_fakes import EVENTS, FakeReferee, tackle
from typer.testing import CliRunner

from downfield.calibration.calibration import read_calibration
from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli import main
from downfield.cli.commands import diagnosis as doctor
from downfield.cli.commands.judge import judge
from downfield.cli.commands.rules import show
from downfield.cli.console.output import PIPE_CLOSED, GuardedStream, PlainConsole, open_console, print_stdout, styled
from downfield.cli.console.progress import progress_bar
from downfield.cli.console.terminal import TerminalLog, TerminalView
from downfield.core.errors import OutputError
from downfield.core.field.model import preset
from downfield.core.scene import Player, Scene
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.officiating.events import Event, EventsHeader, write_events
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import tables_folder
from downfield.rig.tables.profile import TableFolder, new_profile
from downfield.rig.upkeep.computer_checks import CheckResult

HOSTILE = "[/x] [red]Эхо\x1b[2J\x9b1m\u202e\nforged :smiley:"
SHOWN = "[/x] [red]Эхо\\u001b[2J\\u009b1m\\u202e\\nforged :smiley:"
"""How it is printed: as it was written, control characters written out."""

ROOT = Path(__file__).parents[2]


class Screen:
    """A terminal of a width, whose text is compared without line breaks and frames."""

    def __init__(self) -> None:
        self.file = io.StringIO()
        self.console = PlainConsole(file=self.file, width=400, force_terminal=True, color_system="truecolor")

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.file.getvalue())


def show_log(screen: Screen) -> None:
    referee = FakeReferee()
    log = TerminalLog(screen.console, lambda: HOSTILE, live=False)
    entries: list[Scene | Event] = [*EVENTS, *map(tackle, range(60))]
    calls = [call for entry in entries for call in referee.take(entry)]
    log.entry_judged(tackle(1), tuple(calls))
    log.event_refused(EVENTS[0], HOSTILE)
    log.notice_given("alarm", HOSTILE)


def show_view(screen: Screen) -> None:
    reason = HealthReason(code="camera_lost", level="alarm", text=HOSTILE)
    topics = {"health": HealthStatus(level="alarm", text=HOSTILE, reasons=(reason,), camera=HOSTILE)}
    with TerminalView(screen.console, topics.get, HOSTILE, "") as view:
        view.event_refused(EVENTS[0], HOSTILE)


def show_rulebook(screen: Screen, folder: Path) -> None:
    house = folder / "house.toml"
    house.write_text('name = "house"\nbase = "tap"\ntitle = "' + SHOWN + '"\n')
    show(load_rulebook(str(house)), screen.console)


def show_progress(screen: Screen) -> None:
    with progress_bar(HOSTILE, console=screen.console) as advance:
        advance(1, 2, HOSTILE)


def show_check(screen: Screen) -> None:
    doctor._print(screen.console, CheckResult("camera", "fault", HOSTILE, remedy=HOSTILE))


def show_table(screen: Screen) -> None:
    table = Table(HOSTILE, title=HOSTILE)
    table.add_row(HOSTILE)
    screen.console.print(table, Panel(styled(HOSTILE), title=styled(HOSTILE)), HOSTILE)


@pytest.mark.parametrize("shown", [show_log, show_view, show_progress, show_check, show_table])
def test_what_people_write_is_no_command_to_the_terminal(shown: Callable[[Screen], None]) -> None:
    screen = Screen()
    shown(screen)
    assert SHOWN in screen.text
    assert not set(screen.text) & {"\x1b", "\x9b", "\u202e"}


def test_the_title_of_a_leagues_rulebook_is_no_command_to_the_terminal(tmp_path: Path) -> None:
    screen = Screen()
    show_rulebook(screen, tmp_path)
    assert SHOWN in screen.text


@pytest.fixture
def hostile_game(tmp_path: Path) -> tuple[Path, Path]:
    """Return tracks and declarations that are named so that a terminal would do things."""
    field = preset("ultimate")
    tracks, events = tmp_path / "[/x] Эхо.tracks.jsonl", tmp_path / "a.events.jsonl"
    players = (Player("dark-1", "dark", "1", "QB"), Player("light-9", "light", "9", "LB"))
    write_tracks(tracks, TracksHeader(field, players, 30.0, "test"), map(tackle, range(40)))
    write_events(events, EventsHeader("test"), (Event(HOSTILE, 0, "operator", EVENTS[2].body), *EVENTS))
    return tracks, events


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "pipe"])
def test_judge_prints_names_as_they_are(
    hostile_game: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    terminal: bool,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("COLUMNS", "300")
    judge([hostile_game[0]], hostile_game[1], against="efl")
    assert SHOWN in capsys.readouterr().out


def test_an_error_with_markup_and_control_characters_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["downfield", "judge", f"{HOSTILE}.tracks.jsonl"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert SHOWN in line


def test_a_saved_table_is_listed_as_it_was_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOWNFIELD_DATA", str(tmp_path))
    calibration = read_calibration(bundled_demo().with_suffix(".calibration.json"))
    TableFolder(tables_folder(load(None).settings)).save(new_profile("[/x] :smiley:", "http://phone/[b]", calibration))
    done = CliRunner().invoke(main.app, ["tables", "list"])
    assert "[/x] :smiley:" in done.output
    assert "camera http://phone/[b]" in done.output


def test_no_command_prints_another_way() -> None:
    found = []
    for folder in ("rig", "desk", "twin", "training", "review", "game", "api"):
        for path in (ROOT / folder).rglob("*.py"):
            # The second one runs on a computer that has neither typer nor rich.
            if path != ROOT / "cli/console/output.py":
                text = path.read_text(encoding="utf-8")
                words = re.findall(
                    r"typer\.(?:echo|secho)|stdout\.write|(?<!Plain)\bConsole\(|(?<![\w.])print\(|rich\.markup", text
                )
                found += [f"{path}: {word}" for word in words]
    assert not found


class LostStream(io.StringIO):
    """A stream that fails as a closed pipe, a terminal that is gone, a full disk or a closed file do."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def write(self, _: str, /) -> int:
        raise self.error

    def flush(self) -> None:
        raise self.error


LOSSES = [
    BrokenPipeError(errno.EPIPE, "Broken pipe"),
    OSError(errno.EIO, "Input/output error"),
    OSError(errno.ENOSPC, "No space left on device"),
    ValueError("I/O operation on closed file"),
]


@pytest.mark.parametrize("error", LOSSES, ids=repr)
def test_a_rig_plays_on_when_its_output_is_lost(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", LostStream(error))
    console = open_console(required=False)
    log = TerminalLog(console, lambda: "1st & 10", live=False)
    log.notice_given("info", "first")
    log.notice_given("info", "second")
    with TerminalView(console, lambda _: None, "table", ""):
        pass


@pytest.mark.parametrize("error", LOSSES, ids=repr)
def test_a_command_that_only_prints_ends_when_its_output_is_lost(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", LostStream(error))
    if isinstance(error, BrokenPipeError):
        with pytest.raises(SystemExit) as ended:
            print_stdout("calls")
        assert ended.value.code == PIPE_CLOSED
    else:
        with pytest.raises(OutputError, match="can't be written"):
            print_stdout("calls")


def test_a_process_without_standard_output_prints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    print_stdout("calls")
    open_console().print("calls")
    assert not GuardedStream(None, required=True).isatty()


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252"])
def test_letters_that_the_terminal_lacks_are_written_out(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    print_stdout("Динамо Zürich")
    open_console().print(styled("Динамо", "bold"))
    assert "\\u0414" in raw.getvalue().decode(encoding)


def downfield(*args: str, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "downfield", *args]
    return subprocess.Popen(command, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload,no-any-return]


def test_judge_ends_quietly_when_its_reader_has_gone() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    demo = bundled_demo().with_suffix("")
    process = downfield("judge", f"{demo}.tracks.jsonl", "--events", f"{demo}.events.jsonl", stdout=writing)
    os.close(writing)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == PIPE_CLOSED
    assert b"Traceback" not in errors
    assert b"BrokenPipe" not in errors


def test_judge_says_in_one_line_that_the_disk_is_full() -> None:
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("this system has no /dev/full")
    with device.open("wb") as full:
        process = downfield("rules", stdout=full)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert errors.decode().strip() == "downfield: The output can't be written (No space left on device)."


def test_a_reader_that_never_reads_and_a_frozen_terminal_hold_up_nothing_and_get_what_comes_later() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        console = GuardedStream(pipe, required=False)
        for _ in range(40):
            console.write("x" * 10_000)
            console.flush()
        assert len(os.read(reading, 1 << 20)) <= 1 << 16
        console.write("later")
        assert os.read(reading, 100).endswith(b"later")
    os.close(reading)
    controlling, terminal = os.openpty()
    termios.tcflow(terminal, termios.TCOOFF)
    with os.fdopen(terminal, "w") as frozen:
        console = GuardedStream(frozen, required=False)
        console.write("lost")
        console.flush()
        termios.tcflow(terminal, termios.TCOON)
        console.write("seen")
        assert os.read(controlling, 100) == b"seen"
    os.close(controlling)
