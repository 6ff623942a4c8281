"""The configuration: what goes over what, and what is refused by name."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from downfield.core.errors import FormatError, InputError
from downfield.rig.configuration.display import as_toml
from downfield.rig.configuration.loading import assignments, keys, load, variable
from downfield.rig.configuration.settings import RigSettings

ROOT = Path(__file__).parents[1]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text('[source]\nname = "rtsp://table"\nfps = 30\nsize = [1280, 720]\n[game]\nrulebook = "efl"\n')
    return path


def test_the_command_line_goes_over_the_environment_over_the_file_over_the_defaults(file: Path) -> None:
    loaded = load(
        file,
        environment={"DOWNFIELD_SOURCE_FPS": "50", "DOWNFIELD_GAME_RULEBOOK": "lions-den", "HOME": "/root"},
        command_line={"source.fps": 60, "service.port": None},
    )
    assert loaded.settings.source.fps == 60
    assert loaded.settings.source.size == (1280, 720)
    assert loaded.settings.game.rulebook == "lions-den"
    assert loaded.settings.service.port == 8317
    assert loaded.origins == {
        "source.name": "file",
        "source.fps": "command line",
        "source.size": "file",
        "game.rulebook": "environment",
    }


def test_a_file_here_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(environment={}).file is None
    (tmp_path / "downfield.toml").write_text("[service]\nport = 9000\n")
    assert load(environment={}).settings.service.port == 9000


def test_words_need_no_quotes_outside_the_file() -> None:
    given = assignments(["source.name=0", "source.exposure=auto", "recording.on=false", "game.roster=a = b.json"])
    settings = load(environment={}, command_line=given).settings
    assert settings.source.name == "0"
    assert settings.source.exposure == "auto"
    assert settings.recording.on is False
    assert settings.game.roster == "a = b.json"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[sorce]\nname = 'x'\n", r"table.toml: sorce.name: no such setting; did you mean source.name\?"),
        ("[source]\nrate = 3\n", "table.toml: source.rate: no such setting"),
        ("[source]\nfps = -1\n", "table.toml: source.fps: Input should be greater than 0"),
        ("[source]\nsize = [1920]\n", "table.toml: source.size: Field required"),
        ("source = 3\n", "table.toml: source: no such setting"),
        ("[source\n", "table.toml: broken TOML"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(text)
    with pytest.raises(FormatError, match=says):
        load(path, environment={})


def test_a_variable_that_sets_nothing_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(InputError, match="DOWNFIELD_SOURCE_NAM, which is no setting; did you mean DOWNFIELD_SOURCE_NA"):
        load(environment={"DOWNFIELD_SOURCE_NAM": "0"})


@pytest.mark.parametrize("text", ["recording", "recording.onn=true", "source.fps=often"])
def test_what_is_wrong_on_the_command_line_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        load(environment={}, command_line=assignments([text]))


def test_every_variable_is_of_one_setting_only() -> None:
    names = [variable(key) for key in keys()]
    assert len(set(names)) == len(names)


def test_what_is_printed_says_the_same_when_it_is_read(file: Path) -> None:
    loaded = load(file, environment={}, command_line={"source.focus": 30})
    text = "\n".join(as_toml(loaded))
    assert RigSettings.model_validate(tomllib.loads(text)) == loaded.settings
    assert "fps = 30.0  # file" in text
    assert "focus = 30  # command line" in text


def test_the_command_prints_it(file: Path) -> None:
    command = [sys.executable, "-m", "downfield.rig", "config", "--config", str(file), "--set", "game.rulebook=tap"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert 'rulebook = "tap"  # command line' in told.stdout


def test_the_page_is_what_the_code_says(tmp_path: Path) -> None:
    made = tmp_path / "configuration.md"
    subprocess.run([sys.executable, ROOT / "docs" / "configuration_page.py", made], check=True)
    assert (ROOT / "docs" / "configuration.md").read_text() == made.read_text(), "run `make docs`"
