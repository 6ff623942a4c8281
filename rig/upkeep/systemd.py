"""The rig as a service of systemd: the unit's text and where it goes, and what tells systemd that the rig is alive.

The protocol is `sd_notify(3)`: lines in one datagram to the socket that the environment names. python-systemd was not
taken: it binds libsystemd and is compiled where it is installed, for one datagram.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.capture.source import CapturedFrame, LoopObserver
from downfield.core.errors import InputError, OutputError
from downfield.core.frame import Frame
from downfield.core.platform.system import SYSTEM, System
from downfield.core.scene import Scene
from downfield.core.threads import supervised_thread
from downfield.game.published.board_topics import HealthStatus

UNIT: Final = "downfield.service"

_SYSTEM_FOLDER: Final = Path("/etc/systemd/system")


@dataclass(frozen=True, slots=True)
class ServiceUnit:
    """A unit that starts the rig at boot, restarts it when it fails, and watches that it is alive."""

    command: tuple[str, ...]
    folder: Path
    # whether it is one of the system's units, which start without anybody logging in; otherwise the user's
    system: bool
    user: str = ""  # who it runs as, for a unit of the system

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
WorkingDirectory={str(self.folder).replace("%", "%%")}
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


def run_unit(config: Path | None, *, system: bool) -> ServiceUnit:
    """Return the system's or the user's unit that runs the rig from this folder, by a configuration file or none."""
    given = () if config is None else ("--config", str(config.absolute()))
    command = (sys.executable, "-m", "downfield", "run", *given)
    return ServiceUnit(command, Path.cwd(), system, getpass.getuser() if system else "")


def install(unit: ServiceUnit) -> list[str]:
    """Write the unit, enable and start it; return what was done and what is left to do, one sentence each.

    Raises:
        OutputError: the unit can't be written, or systemd refuses it.
    """
    require_systemd()
    try:
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        unit.path.write_text(unit.text, encoding="utf-8")
    except OSError as error:
        hint = " Run the command with sudo." if unit.system and isinstance(error, PermissionError) else ""
        raise OutputError(f"{unit.path}: can't be written ({error.strerror}).{hint}") from None
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
    """Make sure that systemd runs the services of this computer. Raises OutputError: it does not; says what does."""
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
    """Stop the service and remove its unit; games and recordings stay. Returns what was done, one sentence each.

    Raises:
        InputError, OutputError: there is no such unit; or it can't be removed, or systemd refuses.
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


def unit_status(unit: ServiceUnit) -> str:
    """Return what systemd says of the service. Raises InputError: there is no unit; OutputError: no systemd."""
    require_systemd()
    done = _run(*_command(unit.system), "status", "--no-pager", UNIT)
    if not done.stdout.strip():
        if not unit.path.is_file():
            raise InputError("There is no service yet. `downfield service install` makes it.")
        raise OutputError(_failure((*_command(unit.system), "status", UNIT), done))
    return done.stdout.rstrip()


def _command(system: bool) -> tuple[str, ...]:
    return ("systemctl",) if system else ("systemctl", "--user")


def _systemctl(system: bool, *arguments: str) -> None:
    done = _run(*_command(system), *arguments)
    if done.returncode != 0:
        raise OutputError(_failure((*_command(system), *arguments), done))


def _failure(command: tuple[str, ...], done: subprocess.CompletedProcess[str]) -> str:
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


_STUCK_AFTER_S: Final = 20.0  # The rig is stuck when frames have come in for this long and no scene has come out
_INTERVAL_S: Final = 5.0  # Longest pause between two reports to systemd


def status_text(situation: str, health: HealthStatus) -> str:
    """Return what `systemctl status` shows: the game, and the first problem with the number of further ones."""
    if not health.reasons:
        return f"{situation} | {health.text}"
    first = min(health.reasons, key=lambda reason: reason.level)  # an alarm before a warning
    more = len(health.reasons) - 1
    return f"{situation} | {first.text}{f'; {more} more: see `downfield logs`' if more else ''}"


class Watchdog(LoopObserver):
    """Reports to systemd, as long as frames that come in also come out; does nothing without systemd.

    A camera that is unplugged delivers no frames, so it does not count as stuck: the rig waits for it.

    Args:
        status: returns what `systemctl status` shows, one line.
        environment: with ``NOTIFY_SOCKET`` and ``WATCHDOG_USEC`` as systemd sets them.
        now_ns: the monotonic clock, ns.
    """

    def __init__(
        self,
        status: Callable[[], str],
        environment: dict[str, str] | None = None,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        given = dict(os.environ) if environment is None else environment
        self._address = given.get("NOTIFY_SOCKET", "")
        limit_us = given.get("WATCHDOG_USEC", "")
        interval_s = int(limit_us) / 3e6 if limit_us.isdecimal() else _INTERVAL_S
        self._interval_s = min(interval_s, _INTERVAL_S)
        self._status, self._now_ns = status, now_ns
        self._waiting_since_ns: int | None = None
        self._end = threading.Event()
        self._thread = supervised_thread(
            self._run, "watchdog", self._report_failure, restarts=True, closed=self._end.is_set
        )

    def start(self) -> None:
        """Say that the rig is ready, and report from now on."""
        if self._address:
            self._send("READY=1")
            self._thread.start()

    def close(self) -> None:
        """Say that the rig is stopping."""
        if self._address:
            self._send("STOPPING=1")
            self._end.set()
            if self._thread.is_alive():
                self._thread.join()

    def frame_captured(self, _: CapturedFrame, /) -> None:
        """Note that a frame came in."""
        if self._waiting_since_ns is None:
            self._waiting_since_ns = self._now_ns()

    def scene_ready(self, _frame: Frame, _scene: Scene, /) -> None:
        """Note that a scene came out."""
        self._waiting_since_ns = None

    def is_stuck(self) -> bool:
        """Return whether frames have come in for a while and no scene has come out."""
        since_ns = self._waiting_since_ns
        return since_ns is not None and self._now_ns() - since_ns > _STUCK_AFTER_S * 1e9

    def _run(self) -> None:
        while not self._end.is_set():
            alive = [] if self.is_stuck() else ["WATCHDOG=1"]
            status = "frames come in and nothing comes out" if self.is_stuck() else self._status()
            self._send("\n".join([*alive, f"STATUS={' '.join(status.split())}"]))
            self._end.wait(self._interval_s)

    def _report_failure(self, cause: str) -> None:
        """Say that the status is not known; that alone is no reason to restart the rig in the middle of a game."""
        self._send("\n".join([*([] if self.is_stuck() else ["WATCHDOG=1"]), f"STATUS=not known: {cause}"]))

    def _send(self, text: str) -> None:
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        # Whoever listened may be gone; the game does not depend on it.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(text.encode(), address)
