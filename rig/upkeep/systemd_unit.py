"""The rig as a service of systemd: the unit's text, and where it goes."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError, OutputError
from downfield.core.platform.system import SYSTEM, System

UNIT: Final = "downfield.service"

_SYSTEM_FOLDER: Final = Path("/etc/systemd/system")


@dataclass(frozen=True, slots=True)
class ServiceUnit:
    """A unit that starts the rig at boot, restarts it when it fails, and watches that it is alive.

    Attributes:
        command: the command and its arguments.
        folder: the folder it runs in.
        system: whether it is one of the system's units, which start without anybody logging in; otherwise the user's.
        user: who it runs as, for a unit of the system.

    """

    command: tuple[str, ...]
    folder: Path
    system: bool
    user: str = ""

    @property
    def path(self) -> Path:
        """The unit's file."""
        if self.system:
            return _SYSTEM_FOLDER / UNIT
        xdg = os.environ.get("XDG_CONFIG_HOME")
        return (Path(xdg) if xdg else Path("~/.config").expanduser()) / "systemd" / "user" / UNIT

    @property
    def text(self) -> str:
        """The unit as `systemd.service(5)` wants it."""
        account = f"User={self.user}\nSupplementaryGroups=video audio\n" if self.system else ""
        return f"""[Unit]
Description=Downfield, the referee of this table
# A camera may be plugged in hours after boot: never give up.
StartLimitIntervalSec=0
{"After=network-online.target" + chr(10) + "Wants=network-online.target" + chr(10) if self.system else ""}
[Service]
Type=notify
NotifyAccess=main
# By `env`, as systemd allows fewer characters in the name of a program than in its arguments.
ExecStart=/usr/bin/env {" ".join(_quoted(word) for word in self.command)}
WorkingDirectory={_escaped(str(self.folder))}
{account}Environment=PYTHONUNBUFFERED=1
Restart=always
RestartSec=5
# The first calibration from the printed field may take a minute on a slow computer.
TimeoutStartSec=300
TimeoutStopSec=30
WatchdogSec=60
# The networks' second process gives way to everything; to end soon it may take part as usual again.
LimitNICE=+0
NoNewPrivileges=yes

[Install]
WantedBy={"multi-user.target" if self.system else "default.target"}
"""


def run_unit(python: str, config: Path | None, folder: Path, *, system: bool) -> ServiceUnit:
    """Return the unit that runs the rig.

    Args:
        python: the interpreter that has Downfield.
        config: the configuration file; None for none.
        folder: the folder it runs in.
        system: whether it is the system's unit.

    """
    given = () if config is None else ("--config", str(config.absolute()))
    return ServiceUnit((python, "-m", "downfield", "run", *given), folder, system, getpass.getuser() if system else "")


def install(unit: ServiceUnit) -> list[str]:
    """Write the unit, enable and start it.

    Returns:
        What was done and what is left to do, one sentence each.

    Raises:
        OutputError: the unit can't be written, or systemd refuses it.

    """
    require_systemd()
    _write(unit)
    done = [f"{unit.path} is written."]
    _systemctl(unit.system, "daemon-reload")
    _systemctl(unit.system, "enable", UNIT)
    _systemctl(unit.system, "restart", UNIT)
    done.append("The rig runs now, and starts by itself from now on.")
    # Without lingering a user's services end with the last session and don't start at boot.
    if not (unit.system or _lingers(getpass.getuser())):
        done.append("To start it at boot without anybody logged in:  sudo loginctl enable-linger " + getpass.getuser())
    return done


def _lingers(user: str) -> bool:
    """Let a user's services start at boot; return whether they do."""
    if shutil.which("loginctl") is None:
        return False
    return (
        _run("loginctl", "enable-linger", user).returncode == 0
        or "yes" in _run("loginctl", "show-user", user, "--property=Linger").stdout
    )


def require_systemd(system: System = SYSTEM) -> None:
    """Make sure that systemd runs the services of this computer.

    Raises:
        OutputError: it does not; says what does.

    """
    if system == "linux" and shutil.which("systemctl") is not None:
        return
    starter = {
        "windows": "Make a task in Task Scheduler that starts `downfield run` when you sign in",
        "macos": "Make a launch agent for launchd that starts `downfield run` when you log in",
    }.get(system, "Start `downfield run` by whatever starts programs here")
    raise OutputError(
        f"This computer has no systemd, which runs Downfield as a service. {starter}; `downfield logs` shows its log."
    )


def uninstall(unit: ServiceUnit) -> list[str]:
    """Stop the service and remove its unit; games and recordings stay.

    Returns:
        What was done, one sentence each.

    Raises:
        InputError: there is no such unit.
        OutputError: it can't be removed, or systemd refuses.

    """
    require_systemd()
    if not unit.path.is_file():
        raise InputError(f"{unit.path}: there is no such service. `downfield service install` makes it.")
    _systemctl(unit.system, "disable", "--now", UNIT)
    try:
        unit.path.unlink()
    except OSError as error:
        raise OutputError(f"{unit.path}: can't be removed ({error.strerror})") from None
    _systemctl(unit.system, "daemon-reload")
    return [f"The rig is stopped and {unit.path} is removed. Games and recordings stay where they are."]


def status_text(unit: ServiceUnit) -> str:
    """Return what systemd says of the service.

    Raises:
        InputError: there is no such unit.
        OutputError: there is no systemd here, or it can't be reached.

    """
    require_systemd()
    done = _run(*_command(unit.system), "status", "--no-pager", UNIT)
    if not done.stdout.strip():
        if not unit.path.is_file():
            raise InputError("There is no service yet. `downfield service install` makes it.")
        raise OutputError(_failure((*_command(unit.system), "status", UNIT), done))
    return done.stdout.rstrip()


def _write(unit: ServiceUnit) -> None:
    try:
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        unit.path.write_text(unit.text, encoding="utf-8")
    except OSError as error:
        hint = " Run the command with sudo." if unit.system and isinstance(error, PermissionError) else ""
        raise OutputError(f"{unit.path}: can't be written ({error.strerror}).{hint}") from None


def _command(system: bool) -> tuple[str, ...]:
    return ("systemctl",) if system else ("systemctl", "--user")


def _systemctl(system: bool, *arguments: str) -> None:
    done = _run(*_command(system), *arguments)
    if done.returncode != 0:
        raise OutputError(_failure((*_command(system), *arguments), done))


def _failure(command: tuple[str, ...], done: subprocess.CompletedProcess[str]) -> str:
    """Return that a command failed, why, and what helps."""
    reason = " ".join((done.stderr or done.stdout).split()) or f"exit status {done.returncode}"
    help_ = "Once it works, run this command again."
    if "connect to bus" in reason or "booted with systemd" in reason:
        help_ = (
            "Run this command in a session of your own, not under su or sudo, or for the whole computer with --system;"
            " in a container start `downfield run` itself."
        )
    return f"`{' '.join(command)}` failed: {reason}. {help_}"


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603  (fixed names)
    except subprocess.TimeoutExpired:
        raise OutputError(f"`{' '.join(command)}` did not end within two minutes.") from None


def _quoted(word: str) -> str:
    """Return a word of a command line as systemd reads it back."""
    inner = word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$").replace("%", "%%")
    return f'"{inner}"'


def _escaped(path: str) -> str:
    return path.replace("%", "%%")
