"""The command that adds an extra: that of whoever installed this copy, with the extras that were chosen before."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from downfield.core import installation
from downfield.core.errors import MissingExtraError
from downfield.core.installation import Installation, this_installation

WHEEL = '{"archive_info": {}, "url": "file:///home/pat/My%20Files/downfield-9.9.9-py3-none-any.whl"}'
FROM_WHEEL = "'/home/pat/My Files/downfield-9.9.9-py3-none-any.whl"


def environment(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        (folder / name.replace("__", "-").replace("_toml", ".toml").replace("_json", ".json")).write_text(content)
    return folder


def test_pip_installs_into_the_environment_that_runs(tmp_path: Path) -> None:
    installed = this_installation(tmp_path, WHEEL)
    assert installed.installer == "pip"
    command = installed.command_adding("postgres", "linux")
    assert command == f"{installed.python} -m pip install {FROM_WHEEL}[postgres]'"


def test_a_checkout_stays_a_checkout(tmp_path: Path) -> None:
    note = json.dumps({"dir_info": {"editable": True}, "url": "file:///home/pat/downfield"})
    command = this_installation(tmp_path, note).command_adding("twin", "linux")
    assert command.endswith(" -m pip install -e '/home/pat/downfield[twin]'")


def test_uv_keeps_the_extras_that_were_chosen_before(tmp_path: Path) -> None:
    receipt = (
        '[tool]\nrequirements = [{ name = "other" }, { name = "downfield", extras = ["twin", "scripts"], path = "/x" }]'
    )
    found = this_installation(environment(tmp_path, uv__receipt_toml=receipt), WHEEL)
    command = found.command_adding("postgres", "linux")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"  # uv would take the newest, which may lack packages
    assert command == f"uv tool install --force --python {python} {FROM_WHEEL}[postgres,scripts,twin]'"


@pytest.mark.parametrize(
    ("named", "extras"), [("/x.whl[postgres, twin]", "analysis,postgres,twin"), ("/x.whl", "analysis")]
)
def test_pipx_keeps_the_extras_that_were_chosen_before(tmp_path: Path, named: str, extras: str) -> None:
    metadata = json.dumps({"main_package": {"package": "downfield", "package_or_url": named}})
    found = this_installation(environment(tmp_path, pipx_metadata_json=metadata), WHEEL)
    assert found.command_adding("analysis", "linux") == f"pipx install --force {FROM_WHEEL}[{extras}]'"


@pytest.mark.parametrize("note", ["", "{", "[]", "null", '{"url": 7}', '{"url": "https://example.org/downfield.whl"}'])
def test_without_a_note_of_a_file_the_name_is_installed(tmp_path: Path, note: str) -> None:
    assert this_installation(tmp_path, note).command_adding("twin", "linux").endswith("pip install 'downfield[twin]'")


@pytest.mark.parametrize("receipt", ["", "tool = 3", "[tool]\nrequirements = []", "\x00", "[tool]\nrequirements = [7]"])
def test_a_note_that_cannot_be_read_is_none(tmp_path: Path, receipt: str) -> None:
    assert this_installation(environment(tmp_path, uv__receipt_toml=receipt), "").installer == "pip"


def test_an_environment_without_pip_is_one_of_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "find_spec", lambda _: None)
    found = this_installation(tmp_path, "")
    command = found.command_adding("twin", "linux")
    assert command == f"uv pip install --python {found.python} 'downfield[twin]'"


def test_windows_quotes_as_its_shells_do() -> None:
    installed = Installation("pip", r"C:\Program Files\rig\python.exe", Path("downfield.whl"))
    command = installed.command_adding("postgres", "windows")
    assert command == r'"C:\Program Files\rig\python.exe" -m pip install downfield.whl[postgres]'


def test_the_error_names_what_needs_which_extra_and_how_to_get_it() -> None:
    error = MissingExtraError("postgres", "a store on a server")
    assert error.lacking == "A store on a server needs the extra 'postgres'"
    assert str(error).startswith(f"{error.lacking}. Install it with: ")
    assert "[postgres]" in str(error)
