"""The `downfield` command itself: what it says without a sub-command, its version, completion in a shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from documented_commands import PAGES, command_tree
from typer.testing import CliRunner
from waiting import WAIT_S

from downfield.cli.console.output import SHARED
from downfield.cli.main import COMMANDS, app, load_command, run_command
from downfield.models.card import bundled_networks


def test_the_command_alone_says_what_it_is_and_what_to_do_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [])
    assert done.exit_code == 0
    assert "automatic referee for tabletop electric football" in done.output
    for command in re.findall(r"^  downfield (\w+)", done.output, flags=re.MULTILINE):
        assert command in COMMANDS, f"names a command that does not exist: {command}"
    assert "downfield.toml" not in done.output


def test_the_list_of_commands_says_of_each_what_its_own_help_says() -> None:
    listed = {name: command_tree().get_command(None, name).help for name in COMMANDS}
    assert listed == {name: load_command(name).help for name in COMMANDS}


def test_the_list_of_commands_is_printed_without_importing_them() -> None:
    shown = "from downfield.cli.main import run_command; run_command(['--help']); import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, timeout=WAIT_S, check=True)
    printed, _, loaded = done.stdout.strip().rpartition("\n")
    assert [command for command in COMMANDS if f"{command} " not in printed] == []
    assert not {"cv2", "fastapi", "sqlalchemy", "av"} & set(loaded.split())


def test_a_mistyped_command_is_refused_with_the_nearest() -> None:
    assert "Did you mean 'doctor'?" in CliRunner().invoke(app, ["docter"]).output


def test_every_command_is_shown_in_a_document() -> None:
    pages = "\n".join(page.read_text() for page in PAGES)
    assert [command for command in COMMANDS if not re.search(rf"downfield {command}\b", pages)] == []


def test_the_command_alone_names_a_configuration_file_that_is_in_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "downfield.toml").write_text("")
    assert "downfield.toml" in CliRunner().invoke(app, []).output


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_that_of_the_package(option: str) -> None:
    done = CliRunner().invoke(app, [option])
    assert (done.exit_code, done.output) == (0, f"downfield {version('downfield')}\n")


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "downfield", "--version"], capture_output=True, text=True, timeout=WAIT_S, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"downfield {version('downfield')}\n"), done.stderr


def asked(words: str) -> dict[str, str]:
    """What a shell sets to ask for the completions of the last word."""
    return {"_DOWNFIELD_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}


def test_a_shell_that_runs_the_command_is_told_how_a_word_goes_on() -> None:
    code = "import sys; from downfield.cli.main import main; sys.argv[0] = 'downfield'; main()"
    command, environment = [sys.executable, "-c", code], {**os.environ, **asked("downfield dem")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.stdout.split() == ["demo"], done.stderr


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("downfield tables s", {"show"}),
        ("downfield run --cal", {"--calibration"}),
        ("downfield judge --rulebook l", {"lions-den"}),
        ("downfield rules t", {"tap"}),
        ("downfield calibrate field --field ult", {"ultimate"}),
        ("downfield run --field ult", {"ultimate"}),
        ("downfield export la", {"last"}),
        ("downfield verify --game la", {"last"}),
        ("downfield track --detector two-n", {name for name in bundled_networks() if name.startswith("two-n")}),
        ("downfield run --source pyproject.to", {"pyproject.toml"}),
    ],
)
def test_a_shell_completes_commands_their_sub_commands_options_and_values(words: str, completed: set[str]) -> None:
    told = vars(SHARED).copy()
    done = CliRunner().invoke(app, [], prog_name="downfield", env=asked(words))
    assert set(done.output.split()) == completed
    assert vars(SHARED) == told, "what holds for the command that runs was set by one that doesn't"


OUTPUTS = {"out", "output", "report", "picture", "sheet", "clip", "highlights", "write_field", "calibration_out"}


def leaves(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command with its words."""
    inner = getattr(command, "commands", None)
    for name, one in ({} if inner is None else inner).items():
        yield from leaves(load_command(name) if not words else one, (*words, name))
    if inner is None:
        yield words, command


def read_only(**_: object) -> None:
    raise PermissionError(13, "Permission denied")


LEAVES = dict(leaves(command_tree()))
WRITING = [(words, param) for words, one in LEAVES.items() for param in one.params if param.name in OUTPUTS]


def arguments(words: tuple[str, ...], output: Any, value: Path) -> list[str]:
    """Return a command line that names an output, and gives all that is required besides something."""
    line = list(words)
    for param in LEAVES[words].params:
        given = str(value) if param is output else "1" if param.required else None
        if given is not None:
            line += [given] if param.param_type_name == "argument" else [param.opts[0], given]
    return line


@pytest.mark.parametrize(
    ("words", "output"), WRITING, ids=lambda one: " ".join(one) if type(one) is tuple else one.name
)
def test_an_output_that_can_not_be_written_is_refused_before_anything_is_read(
    words: tuple[str, ...], output: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "gone" / "further")
    for value, why in (("file/a.zip", "is a file, not a folder"), ("link/a.zip", "is a link that leads nowhere")):
        assert run_command(arguments(words, output, Path(value))) == 2
        shown = capsys.readouterr().err
        assert shown.startswith(f"downfield: {value}: can't be written"), shown
        assert why in shown
    monkeypatch.setattr(tempfile, "TemporaryFile", read_only)
    assert run_command(arguments(words, output, Path("new/a.zip"))) == 2
    assert "you may not write in" in capsys.readouterr().err


LIVE = {"demo", "run", "score", "review", "desk", "logs", "learn", "train", "twin"}
"""Commands that run until they are stopped, or that only make what they are told to."""

SILENT = {
    ("calibrate", "sheet"),
    ("tables", "use"),
    ("tables", "remove"),
    ("service", "install"),
    ("service", "uninstall"),
}


def test_every_command_that_reports_does_so_as_json_too() -> None:
    asked = {words for words in LEAVES if words[0] not in LIVE} - SILENT
    assert {words for words in asked if "as_json" not in {param.name for param in LEAVES[words].params}} == set()
