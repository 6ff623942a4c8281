"""What each test takes of the processor, itself and the processes that it starts: also true on a busy computer.

Run: PYTHONPATH=benchmarks python -m pytest -p tests_cost -n 0 tests/rig

A browser that several tests share counts for each by what it takes meanwhile (Linux only). What a test takes of the
clock beyond its processor time it has waited for: a page, a timer, the disk, or for the processor on a busy computer.
"""

from __future__ import annotations

import os
import resource
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

_SPENT_S: Final[defaultdict[str, float]] = defaultdict(float)
_WAITED_S: Final[defaultdict[str, float]] = defaultdict(float)
_SHOWN: Final = 25


def _cpu_s() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) + _running_children_s()


def _running_children_s() -> float:
    """Return what processes below this one that run have taken (proc(5), stat, fields 4 and 14 to 17)."""
    below: defaultdict[int, list[int]] = defaultdict(list)
    taken_s: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        process = int(stat.parent.name)
        below[int(fields[1])].append(process)
        taken_s[process] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    found = below[os.getpid()]
    for process in found:
        found += below[process]
    return sum(taken_s[process] for process in found)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Add what a test and its fixtures take, to it and to its file."""
    before_s, began_s = _cpu_s(), time.monotonic()
    try:
        return (yield)
    finally:
        spent_s, took_s = _cpu_s() - before_s, time.monotonic() - began_s
        for name in (item.nodeid, item.nodeid.partition("::")[0]):
            _SPENT_S[name] += spent_s
            _WAITED_S[name] += max(took_s - spent_s, 0.0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what took most, and what waited longest."""
    for title, all_s in (("processor time, s", _SPENT_S), ("waited, s", _WAITED_S)):
        terminalreporter.section(title)
        for name, seconds in sorted(all_s.items(), key=lambda spent: -spent[1])[:_SHOWN]:
            terminalreporter.write_line(f"{seconds:8.2f}  {name}")
