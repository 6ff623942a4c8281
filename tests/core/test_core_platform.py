"""What differs between operating systems, with the calls of Windows replaced by such as behave like them here."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from waiting import WAIT_S, wait_until

from downfield.core.platform import clock, processes
from downfield.core.platform import system as system_module
from downfield.core.platform.clock import has_coarse_clock
from downfield.core.platform.file_locks import FileLocks, PosixLocks, WindowsLocks
from downfield.core.platform.processes import end_process, restore_process_priority
from downfield.core.platform.system import (
    CAN_PASS_DESCRIPTORS,
    System,
    lasting_temporary_folder,
    system_of,
    usable_cores,
    user_cache_folder,
    user_data_folder,
)


class Msvcrt:
    """Locks bytes as `msvcrt.locking` does: at the file's position, for the program that asks, refused by OSError."""

    LK_UNLCK, LK_NBLCK = 0, 2

    def __init__(self) -> None:
        self.locked: dict[tuple[int, int], int] = {}

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        assert count == 1
        byte = (os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR))
        if mode == self.LK_UNLCK:
            assert self.locked.pop(byte, None) == descriptor, "not locked by this one"
        elif byte in self.locked:
            raise PermissionError(13, "Permission denied")
        else:
            self.locked[byte] = descriptor


@pytest.fixture(params=["posix", "windows"])
def locks(request: pytest.FixtureRequest) -> FileLocks:
    return WindowsLocks(Msvcrt()) if request.param == "windows" else PosixLocks(fcntl)


def test_one_program_at_a_time_has_a_file(locks: FileLocks, tmp_path: Path) -> None:
    path = tmp_path / "lease"
    first, second = (os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2))
    assert locks.lock(first)
    assert not locks.lock(second)
    os.close(first)
    os.close(second)


def test_the_name_in_a_locked_file_can_be_read_on_windows(tmp_path: Path) -> None:
    """Windows lets nobody read bytes that are locked: what is locked lies behind what is written."""
    msvcrt, path = Msvcrt(), tmp_path / "lease"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    assert WindowsLocks(msvcrt).lock(descriptor)
    ((_, byte),) = msvcrt.locked
    assert byte > 1_000_000
    os.close(descriptor)


def test_a_byte_that_another_program_locked_is_told_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "store-shm"
    path.write_bytes(bytes(200))
    msvcrt = Msvcrt()
    locks = WindowsLocks(msvcrt)
    assert not locks.is_byte_locked(path, 128)
    assert not msvcrt.locked
    with path.open("rb") as other:
        other.seek(128)
        msvcrt.locking(other.fileno(), msvcrt.LK_NBLCK, 1)
        before = dict(msvcrt.locked)
        assert locks.is_byte_locked(path, 128)
        assert not locks.is_byte_locked(path, 127)
        assert msvcrt.locked == before


def test_a_byte_locked_by_another_process_is_told_on_posix(tmp_path: Path) -> None:
    path = tmp_path / "store-shm"
    path.write_bytes(bytes(200))
    held = (
        f"import fcntl, sys; file = open({str(path)!r}, 'r+b'); fcntl.lockf(file, fcntl.LOCK_EX, 1, 128);"
        "print('held', flush=True); sys.stdin.read()"
    )
    locks = PosixLocks(fcntl)
    with subprocess.Popen([sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert locks.is_byte_locked(path, 128)
        assert not locks.is_byte_locked(path, 0)
        other.communicate()
    assert not locks.is_byte_locked(path, 128)


@pytest.mark.parametrize("missing", ["nothing.db-shm", "."])
def test_a_file_that_is_not_there_is_locked_by_nobody(locks: FileLocks, tmp_path: Path, missing: str) -> None:
    assert not locks.is_byte_locked(tmp_path / missing, 128)


@pytest.mark.parametrize(
    ("system", "environment", "folder"),
    [
        ("linux", {}, ".local/share/downfield"),
        ("linux", {"XDG_DATA_HOME": "/srv/data"}, "/srv/data/downfield"),
        ("macos", {"XDG_DATA_HOME": "/srv/data"}, "Library/Application Support/downfield"),
        ("windows", {"LOCALAPPDATA": "/users/pat/local"}, "/users/pat/local/downfield"),
        ("windows", {}, "AppData/Local/downfield"),
        ("other", {}, ".local/share/downfield"),
    ],
)
def test_data_lies_where_the_system_wants_it(system: System, environment: dict[str, str], folder: str) -> None:
    assert user_data_folder("downfield", system, environment) == Path.home() / folder


@pytest.mark.parametrize(
    ("system", "environment", "folder"),
    [
        ("linux", {}, ".cache/downfield"),
        ("linux", {"XDG_CACHE_HOME": "/srv/cache"}, "/srv/cache/downfield"),
        ("macos", {"XDG_CACHE_HOME": "/srv/cache"}, "Library/Caches/downfield"),
        ("windows", {"LOCALAPPDATA": "/users/pat/local"}, "/users/pat/local/downfield/cache"),
        ("other", {"DOWNFIELD_CACHE": "/srv/elsewhere", "XDG_CACHE_HOME": "/srv/cache"}, "/srv/elsewhere"),
    ],
)
def test_what_can_be_made_again_lies_where_the_system_wants_it(
    system: System, environment: dict[str, str], folder: str
) -> None:
    assert user_cache_folder("downfield", system, environment) == Path.home() / folder


def test_no_folder_outlives_a_restart_beside_the_data_on_windows() -> None:
    assert lasting_temporary_folder("unsaved", "windows") is None
    elsewhere = lasting_temporary_folder("unsaved", "macos")
    assert elsewhere is not None
    assert elsewhere.name == f"unsaved-{os.geteuid()}"


def test_systems_are_told_apart() -> None:
    assert [system_of(name) for name in ("linux", "darwin", "win32", "freebsd14")] == [
        "linux",
        "macos",
        "windows",
        "other",
    ]


def test_on_windows_no_second_program_may_listen_at_one_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """There `SO_REUSEADDR` would let it, and connections would go to either."""
    options: list[tuple[int, ...]] = []

    class Listener(socket.socket):
        def setsockopt(self, *option: int) -> None:  # type: ignore[override]
            options.append(option)

    monkeypatch.setattr(system_module, "SYSTEM", "windows")
    with Listener() as listener:
        system_module.reclaim_address(listener)
    assert options == [(socket.SOL_SOCKET, ~socket.SO_REUSEADDR, 1)]


@pytest.mark.parametrize(
    ("system", "python", "coarse"),
    [
        ("windows", (3, 11, 9), True),
        ("windows", (3, 12, 0), True),
        ("windows", (3, 13, 0), False),
        ("linux", (3, 11, 9), False),
        ("macos", (3, 11, 9), False),
    ],
)
def test_the_clock_that_steps_by_half_a_frame_is_not_used(
    system: System, python: tuple[int, ...], coarse: bool
) -> None:
    assert has_coarse_clock(system, python) == coarse


def test_where_the_usual_clock_is_coarse_frames_are_dated_by_the_fine_one() -> None:
    program = (
        "import sys, time; sys.platform, sys.version_info = 'win32', (3, 12, 0);"
        "import downfield.core.platform.clock as c;"
        "assert c.monotonic_ns is time.perf_counter_ns; assert len({c.monotonic_ns() for _ in range(1000)}) > 100"
    )
    assert clock.monotonic_ns is time.monotonic_ns
    subprocess.run([sys.executable, "-c", program], check=True)


def test_cores_are_counted_where_only_linux_tells_which_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert usable_cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert usable_cores() == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1


def test_a_killed_process_that_gets_no_processor_to_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of idle priority on a busy computer; here a process that does not hear of it."""
    with subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]) as process:
        with monkeypatch.context() as patched:
            patched.setattr(processes, "_WAIT_S", 0.1)
            patched.setattr(process, "kill", lambda: None)
            end_process(process)
        assert process.poll() is None
        end_process(process)
        assert process.poll() is not None


@pytest.mark.skipif(sys.platform != "linux", reason="processes are scheduled otherwise here")
def test_an_idle_process_is_scheduled_as_usual_to_end() -> None:
    with subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]) as process:
        os.setpriority(os.PRIO_PROCESS, process.pid, 19)
        os.sched_setscheduler(process.pid, os.SCHED_IDLE, os.sched_param(0))
        restore_process_priority(process.pid)
        scheduled = os.sched_getscheduler(process.pid), os.getpriority(os.PRIO_PROCESS, process.pid)
        try:
            os.setpriority(os.PRIO_PROCESS, process.pid, 0)
        except PermissionError:
            assert scheduled == (os.SCHED_IDLE, 19)  # left as it is, without an error
        else:
            assert scheduled == (os.SCHED_OTHER, 0)
        end_process(process)
    restore_process_priority(process.pid)  # one that has ended is no error


@pytest.mark.skipif(sys.platform != "linux", reason="processes are scheduled otherwise here")
def test_a_process_that_runs_when_idle_gives_way_and_so_does_its_session() -> None:
    program = "import signal; from downfield.core.platform import processes as p; p.run_when_idle(); signal.pause()"
    with subprocess.Popen([sys.executable, "-c", program], start_new_session=True) as process:
        wait_until(lambda: os.sched_getscheduler(process.pid) == os.SCHED_IDLE)
        group = Path(f"/proc/{process.pid}/autogroup")
        nice = os.getpriority(os.PRIO_PROCESS, process.pid), group.read_text().split()[-1] if group.exists() else "19"
        end_process(process)
    assert nice == (19, "19")


@pytest.mark.skipif(not CAN_PASS_DESCRIPTORS, reason="no process is handed a connection here")
def test_a_process_ends_with_its_client_whatever_it_does_then() -> None:
    """It may be in the middle of a computation, and reads nothing: it does not learn of the end by itself."""
    ours, theirs = socket.socketpair()
    program = (
        "import sys, threading; from downfield.core.platform.processes import end_with_client\n"
        "end_with_client(int(sys.argv[1])); print('begins', flush=True); threading.Event().wait()"
    )
    command = [sys.executable, "-c", program, str(theirs.fileno())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        assert process.stdout is not None
        assert process.stdout.readline() == b"begins\n"
        ours.sendall(b"a request that nobody reads")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        ours.close()
        assert process.wait(WAIT_S) == 0
