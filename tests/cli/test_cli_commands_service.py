"""`downfield service`: the unit, as systemd reads it, and what is done with it."""

from __future__ import annotations

import getpass
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result
from waiting import WAIT_S

from downfield.cli.main import app
from downfield.core.errors import DownfieldError
from downfield.core.platform.system import System
from downfield.rig.upkeep.systemd import ServiceUnit, require_systemd, run_unit


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with a configured camera; `systemctl` and `loginctl` note what they are asked to do."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name in ("systemctl", "loginctl"):
        script = bin_folder / name
        script.write_text(f'#!/bin/sh\necho {name} "$@" >> {tmp_path}/asked\nexit $(cat {tmp_path}/status)\n')
        script.chmod(stat.S_IRWXU)
    (tmp_path / "status").write_text("0")
    (tmp_path / "downfield.toml").write_text('[source]\nname = "0"\n')
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def service(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["service", *arguments])


def asked(home: Path) -> list[str]:
    return (home / "asked").read_text().splitlines()


def test_installing_writes_the_unit_and_starts_it_at_every_boot(home: Path) -> None:
    done = service("install")
    assert done.exit_code == 0, done.output
    unit = (home / "config" / "systemd" / "user" / "downfield.service").read_text()
    assert f'"--config" "{home / "downfield.toml"}"' in unit
    assert f"WorkingDirectory={home}" in unit
    assert "\nLimitNICE=+0\n" in unit  # else a process of idle priority can't be given more to end
    assert asked(home) == [
        "systemctl --user daemon-reload",
        "systemctl --user enable downfield.service",
        "systemctl --user restart downfield.service",
        f"loginctl enable-linger {getpass.getuser()}",
    ]
    assert "starts by itself" in done.output


@pytest.mark.parametrize(("lingers", "told"), [("yes", False), ("no", True)])
def test_a_user_whose_services_start_at_boot_already_is_told_nothing(home: Path, lingers: str, *, told: bool) -> None:
    (home / "bin" / "loginctl").write_text(f'#!/bin/sh\n[ "$1" = show-user ] && echo Linger={lingers} || exit 1\n')
    done = service("install")
    assert done.exit_code == 0, done.output
    assert ("sudo loginctl enable-linger" in done.output) == told


def test_removing_leaves_everything_else(home: Path) -> None:
    service("install")
    assert service("uninstall").exit_code == 0
    assert not (home / "config" / "systemd" / "user" / "downfield.service").exists()
    assert (home / "downfield.toml").exists()
    assert isinstance(service("uninstall").exception, DownfieldError)


def test_what_systemd_refuses_is_told_with_its_reason(home: Path) -> None:
    (home / "status").write_text("1")
    refused = service("install").exception
    assert isinstance(refused, DownfieldError)
    assert "systemctl --user daemon-reload" in str(refused)


@pytest.mark.parametrize("command", ["install", "status", "uninstall"])
def test_a_computer_without_systemd_is_told_so_and_nothing_is_written(
    home: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("PATH", str(home / "nothing"))
    refused = service(command).exception
    assert isinstance(refused, DownfieldError)
    assert "no systemd" in str(refused)
    assert not (home / "config").exists()


@pytest.mark.parametrize(
    ("system", "starter"), [("windows", "Task Scheduler"), ("macos", "launchd"), ("other", "whatever")]
)
def test_other_systems_are_told_what_starts_programs_there(system: System, starter: str) -> None:
    with pytest.raises(DownfieldError, match=starter):
        require_systemd(system)


def test_a_service_without_a_table_is_refused(home: Path) -> None:
    (home / "downfield.toml").write_text("")
    refused = service("install").exception
    assert isinstance(refused, DownfieldError)
    assert "No table is set up yet" in str(refused)


def test_a_unit_is_only_printed_when_asked(home: Path) -> None:
    done = service("install", "--print")
    assert done.output.startswith("[Unit]")
    assert not (home / "config").exists()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("system", [False, True])
@pytest.mark.parametrize("name", ["plain", "with space", "a%b$c", 'quote"d', "back\\slash", "Стол"])
def test_systemd_accepts_the_unit_and_reads_paths_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, system: bool
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    python = folder / "python"
    python.write_text("#!/bin/sh\n")
    python.chmod(stat.S_IRWXU)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.chdir(folder)
    made = run_unit(folder / "downfield.toml", system=system)
    unit = ServiceUnit(made.command, made.folder, system, "daemon" if system else "")
    path = tmp_path / "downfield.service"
    path.write_text(unit.text)
    given = ["systemd-analyze", "verify", *([] if system else ["--user"]), str(path)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(given, env=environment, capture_output=True, text=True, timeout=WAIT_S, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if "downfield.service" in line]
    assert said == []
    assert done.returncode == 0, done.stderr


def test_the_status_of_no_service_says_how_to_make_one(home: Path) -> None:
    (home / "status").write_text("4")
    assert "`downfield service install` makes it" in str(service("status").exception)


@pytest.mark.parametrize("command", ["install", "status"])
def test_a_session_without_systemd_is_told_what_to_do(home: Path, command: str) -> None:
    unit = home / "config" / "systemd" / "user" / "downfield.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\n")
    (home / "bin" / "systemctl").write_text("#!/bin/sh\necho Failed to connect to bus: No medium found >&2\nexit 1\n")
    refused = service(command).exception
    assert isinstance(refused, DownfieldError)
    assert "Failed to connect to bus" in str(refused)
    assert "in a container start `downfield run` itself" in str(refused)


def test_the_status_of_a_stopped_service_is_shown(home: Path) -> None:
    (home / "bin" / "systemctl").write_text("#!/bin/sh\necho inactive, dead\nexit 3\n")
    done = service("status")
    assert (done.exit_code, done.output.strip()) == (0, "inactive, dead")
