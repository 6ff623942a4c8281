"""The configuration: which source overrides which, and what is refused by name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import configuration_page
import pytest

from downfield.cli.main import run_command
from downfield.core.errors import FormatError, InputError
from downfield.rig.configuration.display import as_toml
from downfield.rig.configuration.loading import NOT_SETTINGS, load, parse_assignments, setting_keys, variable_name
from downfield.rig.configuration.settings import RigSettings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text('[source]\nname = "rtsp://table"\nfps = 30\nsize = [1280, 720]\n[game]\nrulebook = "efl"\n')
    return path


def test_the_command_line_overrides_the_environment_the_file_and_the_defaults(file: Path) -> None:
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


def test_the_file_in_the_current_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(environment={}).file is None
    (tmp_path / "downfield.toml").write_text("[service]\nport = 9000\n")
    assert load(environment={}).settings.service.port == 9000


def test_outside_the_file_text_needs_no_quotes() -> None:
    given = parse_assignments(["source.name=0", "source.exposure=auto", "recording.on=false", "game.roster=a = b.json"])
    settings = load(environment={}, command_line=given).settings
    assert settings.source.name == "0"
    assert settings.source.exposure == "auto"
    assert settings.recording.on is False
    assert settings.game.roster == "a = b.json"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[sorce]\nname = 'x'\n", r"table.toml: sorce.name: no such setting; did you mean source.name\?"),
        ("[source]\nrate = 3\n", "table.toml: source.rate: no such setting"),
        ("[source]\nfps = -1\n", "table.toml: source.fps: must be more than 0"),
        ("[source]\nsize = [1920]\n", "table.toml: source.size: missing"),
        ("source = 3\n", "table.toml: source: no such setting"),
        ("[source\n", "table.toml: broken TOML"),
    ],
)
def test_an_error_in_the_file_names_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        load(path, environment={})


def test_an_unknown_variable_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="DOWNFIELD_SOURCE_NAM is not a setting; did you mean DOWNFIELD_SOURCE_NA"):
        load(environment={"DOWNFIELD_SOURCE_NAM": "0"})


def test_variables_that_are_read_elsewhere_are_no_settings_and_not_refused() -> None:
    sources = [path for package in ROOT.glob("*/__init__.py") for path in package.parent.rglob("*.py")]
    read = {"DOWNFIELD_CACHE"}  # whose name is put together
    for path in sources:
        read |= set(re.findall(r'VARIABLE\b.*"(DOWNFIELD_\w+)"', path.read_text(encoding="utf-8")))
    assert read == NOT_SETTINGS
    assert not NOT_SETTINGS & {variable_name(key) for key in setting_keys()}
    assert load(environment=dict.fromkeys(NOT_SETTINGS, "/elsewhere")).origins == {}


@pytest.mark.parametrize("text", ["recording", "recording.onn=true", "source.fps=often"])
def test_an_error_on_the_command_line_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        load(environment={}, command_line=parse_assignments([text]))


def test_every_setting_has_its_own_variable() -> None:
    names = [variable_name(key) for key in setting_keys()]
    assert len(set(names)) == len(names)


def test_the_printed_configuration_reads_back_the_same(file: Path) -> None:
    loaded = load(file, environment={}, command_line={"source.focus": 30})
    text = "\n".join(as_toml(loaded))
    assert RigSettings.model_validate(tomllib.loads(text)) == loaded.settings
    assert "fps = 30.0  # file" in text
    assert "focus = 30  # command line" in text


def test_the_command_prints_the_configuration_and_its_origins(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--config", str(file), "--set", "game.rulebook=tap", "--set", "network.refine=false"]
    assert run_command(["config", *options]) == 0
    assert 'rulebook = "tap"  # command line' in capsys.readouterr().out


def test_the_documentation_page_matches_the_code() -> None:
    made = "".join(f"{line}\n" for line in configuration_page.page())
    assert (ROOT / "docs" / "configuration.md").read_text() == made, "run `make docs`"
