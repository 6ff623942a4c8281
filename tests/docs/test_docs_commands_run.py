"""The documents' commands, run as they stand there: in one folder with the files that the documents speak of.

What can't be run in a test is parsed with its options and their values, and listed with the reason.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from bundled_games import CALIBRATION, played_game
from documented_commands import PAGES, ROOT, command_tree, find, shown_commands, typed_lines
from scripted_plays import FIELD, ScriptedFigure, film, number_events, opening, runs, stands
from typer.testing import CliRunner

from downfield.calibration.calibration import write_calibration
from downfield.cli.console.output import SHARED
from downfield.cli.main import app
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.officiating.events import EventsHeader, write_events
from downfield.rig.upkeep.log_file import LogObserver, log_file

HOUSE_RULES = 'name = "river-city"\nbase = "tap"\n[formation]\nline_gap_yd = 1.5\n'
SESSIONS: dict[str, tuple[str, ...]] = {
    "what it is": ("downfield", "downfield --version", "downfield config"),
    "rules": ("downfield rules tap", "downfield rules --house river-city.toml"),
    "judging": (
        "downfield judge game.tracks.jsonl --events game.events.jsonl --rulebook tap -o game.calls.jsonl",
        "downfield judge game.tracks.jsonl --events game.events.jsonl --rulebook river-city.toml --against tap",
    ),
    "a dispute": (
        "downfield export last -o final.zip",
        "downfield verify final.zip",
        "downfield judge final.zip --rulebook river-city.toml --against tap",
        "downfield export last --report final.html",
        "downfield export last --tracks final.csv",
    ),
    "the record": (
        "downfield verify ~/.local/share/downfield/downfield.db",
        "downfield verify ~/.local/share/downfield/downfield.db --recordings ~/.local/share/downfield/recordings",
    ),
    "keeping": (
        "downfield logs",
        "downfield logs --level warning",
        "downfield backup attic.zip",
        "downfield backup before.zip",
        "downfield restore before.zip --replace",
        "downfield verify ~/.local/share/downfield/downfield.db",
    ),
    "tables": ("downfield tables list", "downfield calibrate sheet -o sheet.pdf", "downfield admin"),
    "a tournament": ("downfield desk broker --files-only",),
    "a season": (
        'downfield archive add games/ --to league/ --event "Spring Open 2027"',
        "downfield archive list league/ event=spring",
        "downfield archive verify league/ all",
    ),
}
MAKES = {
    "-o game.calls.jsonl": "game.calls.jsonl",
    "-o final.zip": "final.zip",
    "--report final.html": "final.html",
    "--tracks final.csv": "final.csv",
    "backup attic.zip": "attic.zip",
    "-o sheet.pdf": "sheet.pdf",
}
"""Files that commands leave behind, by the end of the command."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a rig's data, and in its current folder the files that the documents name."""
    home = tmp_path_factory.mktemp("home")
    data = home / ".local" / "share" / "downfield"
    (data / "recordings").mkdir(parents=True)
    played_game(data).store.rename(data / "downfield.db")
    with log_file(data / "logs", "info", 1.0):
        LogObserver().notice_given("warning", "usb:Attic: no picture for 3 s.")
    play = film([ScriptedFigure("dark-22", runs(41), "RB"), ScriptedFigure("light-50", stands(50), "LB")])
    write_tracks(home / "game.tracks.jsonl", TracksHeader(FIELD, play.players, 60.0), play.scenes)
    write_events(home / "game.events.jsonl", EventsHeader("game"), number_events(*opening(play, "dark-22")))
    write_calibration(home / "table.calibration.json", CALIBRATION)
    (home / "river-city.toml").write_text(HOUSE_RULES)
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("DOWNFIELD_", "XDG_")):
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("NO_COLOR", "1")
        patch.setenv("COLUMNS", "200")
        patch.chdir(home)
        (home / "games").mkdir()
        bundle = CliRunner().invoke(app, ["export", "last", "-o", "games/final.zip"])
        assert bundle.exit_code == 0, bundle.output
        yield home


def words_of(line: str) -> list[str]:
    """Return a command's words as a shell passes them, without `downfield`."""
    return [str(Path(word).expanduser()) if word.startswith("~") else word for word in shlex.split(line)][1:]


def all_shown() -> dict[str, str]:
    """Return every `downfield` command that the documents show, and where."""
    found = {}
    for page in PAGES:
        if page.name != "CHANGELOG.md":
            for line in shown_commands(page):
                line = " ".join(line.split(" # ")[0].replace("…", "").split())
                if line == "downfield" or re.match(r"downfield (-|[a-z])", line):
                    found[re.split(r" [|;<>] | && ", line)[0]] = page.relative_to(ROOT).as_posix()
    return found


@pytest.mark.parametrize("session", SESSIONS)
def test_shown_commands_do_what_the_documents_say(session: str, folder: Path) -> None:
    shown = all_shown()
    for line in SESSIONS[session]:
        assert line in shown, f"no document shows `{line}` any more"
        done = CliRunner().invoke(app, words_of(line))
        assert done.exit_code == 0, f"{shown[line]}: `{line}`: {done.output} {done.exception}"
        assert done.output.strip(), f"`{line}` prints nothing"
        for end, name in MAKES.items():
            if line.endswith(end):
                assert (folder / name).stat().st_size > 0


def test_a_backup_goes_on_in_another_data_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert CliRunner().invoke(app, words_of("downfield backup attic.zip --recordings")).exit_code == 0
    monkeypatch.setenv("DOWNFIELD_DATA", str(folder / "other"))
    restored = CliRunner().invoke(app, words_of("downfield restore attic.zip"))
    assert restored.exit_code == 0, restored.output
    verified = CliRunner().invoke(app, ["verify", str(folder / "other" / "downfield.db")])
    assert verified.exit_code == 0, verified.output
    shutil.rmtree(folder / "other")


USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
FRAGMENT = re.compile(r"requires an argument|Missing (argument|option|parameter|command)", re.IGNORECASE)
"""Text may name a command or an option without what follows it; a line to be typed may not."""


@pytest.mark.parametrize(("line", "page"), sorted(all_shown().items()))
def test_every_shown_command_is_read_with_its_options_and_their_values(line: str, page: str) -> None:
    words = words_of(line)
    if words and words[0] in {"--version", "--install-completion"}:  # done at once: tests/cli/test_cli_start.py
        return
    command, rest = find(words)
    fault = usage_fault(command, filled_in(rest))
    missing = FRAGMENT.search(fault)
    assert not fault or missing or "does not exist" in fault, f"{page}: `{line}`: {fault}"
    assert not (missing and line in typed_lines(ROOT / page)), f"{page}: `{line}` can't be typed so: {fault}"


def usage_fault(command: Any, words: list[str]) -> str:
    """Return what is wrong with a command's options, empty when it would start."""
    told = vars(SHARED).copy()  # which reading the options sets, though no command begins
    try:
        command.make_context(command.name, words, parent=typer.Context(command_tree()))
    except USAGE_ERROR as error:
        return str(error)
    finally:
        vars(SHARED).update(told)
    return ""


def filled_in(words: list[str]) -> list[str]:
    """Return a command's words with what its dots stand for: a file after an option, nothing elsewhere."""
    return [
        "file" if word == "..." else word
        for word, last in zip(words, ["", *words], strict=False)
        if word != "..." or last.startswith("-")
    ]
