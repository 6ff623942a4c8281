"""What each test takes of the processor, itself and the processes that it starts: also true on a busy computer.

Run: PYTHONPATH=benchmarks python -m pytest -p tests_cost -n 0 tests/rig

A browser that several tests share is not counted: it ends after the last one.
"""

from __future__ import annotations

import resource
from collections import defaultdict
from collections.abc import Generator
from typing import Final

import pytest

_SPENT_S: Final[defaultdict[str, float]] = defaultdict(float)
_SHOWN: Final = 25


def _cpu_s() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Add what a test and its fixtures take, to it and to its file."""
    before_s = _cpu_s()
    try:
        return (yield)
    finally:
        for name in (item.nodeid, item.nodeid.partition("::")[0]):
            _SPENT_S[name] += _cpu_s() - before_s


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what took most."""
    terminalreporter.section("processor time, s")
    for name, seconds in sorted(_SPENT_S.items(), key=lambda spent: -spent[1])[:_SHOWN]:
        terminalreporter.write_line(f"{seconds:8.2f}  {name}")
