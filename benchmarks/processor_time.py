"""What a rig takes of this computer: processor time by thread and process, memory; and processes that leave it room."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def thread_cpu_s() -> dict[str, float]:
    """Return the CPU time of each thread of this process, by its name, and of those of libraries together; Linux."""
    spent: dict[str, float] = {}
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    for thread in Path("/proc/self/task").glob("*"):
        with contextlib.suppress(OSError):
            fields = (thread / "stat").read_text().rpartition(")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            name = names.get(int(thread.name), "threads of libraries")
            spent[name] = spent.get(name, 0.0) + seconds
    return spent


def processes() -> dict[int, str]:
    """Return the rig's processes, by number: this one, the detector's and the feed relay's; Linux."""
    found = {os.getpid(): "rig"}
    for thread in Path("/proc/self/task").glob("*/children"):
        for number in thread.read_text().split():
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{number}/cmdline").read_text().split("\0")
                name = next((word.rpartition(".")[2] for word in command if word.startswith("downfield.")), None)
                if name is not None:
                    found[int(number)] = f"process {name}"
    return found


def process_cpu_s() -> dict[str, float]:
    """Return the CPU time of the rig's other processes, by their names; Linux."""
    spent: dict[str, float] = {}
    others = processes()
    del others[os.getpid()]
    for number, name in others.items():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            spent[name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def tree_cpu_s() -> float:
    """Return the CPU time of this process and of all that it and they started and that still run; Linux."""
    spent_s, waiting = 0.0, [os.getpid()]
    while waiting:
        number = waiting.pop()
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            spent_s += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            for thread in Path(f"/proc/{number}/task").glob("*/children"):
                waiting += [int(child) for child in thread.read_text().split()]
    return spent_s


def computer_cpu_s() -> float:
    """Return how long the cores of this computer were busy since it was started, all together; Linux."""
    with contextlib.suppress(OSError):
        user, nice, system, _, _, *interrupts = Path("/proc/stat").read_text().splitlines()[0].split()[1:8]
        return sum(map(int, (user, nice, system, *interrupts))) / os.sysconf("SC_CLK_TCK")
    return float("nan")


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of some processes, MB (10^6 bytes).

    Attributes:
        proportional: their proportional set sizes summed: what a computer needs for them, since a page that several
            processes share counts once.
        resident: their resident set sizes summed, as `top` shows them: shared pages count for each process.
    """

    proportional: float
    resident: float

    def __str__(self) -> str:
        """Return both for people."""
        return f"{self.proportional:.0f} MB (shared pages counted for each process: {self.resident:.0f} MB)"


def memory_mb() -> Memory:
    """Return the memory of the rig's processes now, Linux (``smaps_rollup``, proc(5)); elsewhere not a number."""
    sizes = [_sizes_mb(number) for number in processes()]
    if not any(sizes):
        return Memory(float("nan"), float("nan"))
    return Memory(*(sum(size.get(name, 0.0) for size in sizes) for name in ("Pss", "Rss")))


def _sizes_mb(number: int) -> dict[str, float]:
    """Return the sizes of a process by their names in ``smaps_rollup``; empty if it has ended."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
        return {name: int(size.split()[0]) * 1024 / 1e6 for name, size in (line.split(":") for line in lines)}
    return {}


def stolen_s() -> float:
    """Return how long cores of this virtual computer went to others while they were needed here; Linux."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/stat").read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")
    return 0.0


def run_idle() -> None:
    """Run only when the rig needs no CPU: clients stand for other computers."""
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)


@contextlib.contextmanager
def killed_at_the_end(process: subprocess.Popen[Any]) -> Iterator[None]:
    """Let a process of the benchmark run meanwhile."""
    try:
        yield
    finally:
        process.kill()
        process.wait()
