"""Measures by how much a running `downfield train keep` slows other programs.

Run: python benchmarks/idle_trainer.py PROCESS [--pairs 12] [--rounds 400]

A fixed piece of work, one process for each core, is done again and again, with the trainer's workers stopped (SIGSTOP)
and running in turn. Printed are the medians of the ratios of neighboring runs, with 95 % intervals by bootstrap: of
wall time, and of processor time, which shared caches lengthen. Linux only. On a computer that does other things as well
the intervals say how little is known.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from downfield.core.arrays import Array

WORK = (
    "import sys, numpy as np; rng = np.random.default_rng(0); a = rng.random((300, 300))\n"
    "for _ in range(int(sys.argv[1])):\n"
    "    a = np.tanh(a @ a.T / 300); sum(i * i for i in range(4000))\n"
)


def run_once(rounds: int) -> tuple[float, float]:
    """Return the wall time of the work on all cores and its processor time, s."""
    begun, before = time.perf_counter(), os.times()
    command = [sys.executable, "-c", WORK, str(rounds)]
    running = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    for process in running:
        process.wait()
    after = os.times()
    return time.perf_counter() - begun, sum(after[2:4]) - sum(before[2:4])


def workers_of(keeper: int) -> list[int]:
    """Return the processes that a keeper has started."""
    children = Path(f"/proc/{keeper}/task/{keeper}/children").read_text(encoding="ascii").split()
    return [int(child) for child in children]


def interval(ratios: Array) -> tuple[float, float, float]:
    """Return the median of ratios and its 95 % interval."""
    rng = np.random.default_rng(0)
    drawn = np.median(rng.choice(ratios, (2000, len(ratios))), axis=1)
    low, high = np.percentile(drawn, (2.5, 97.5))
    return float(np.median(ratios)), float(low), float(high)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Slow-down of other programs by a trainer on idle time.")
    parser.add_argument("keeper", type=int, help="process of a running 'downfield train keep'")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=400, help="size of the work")
    given = parser.parse_args()
    workers = workers_of(given.keeper)
    taken: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    try:
        for pair in range(given.pairs):
            for stopped in (True, False) if pair % 2 else (False, True):
                for worker in workers:
                    os.kill(worker, signal.SIGSTOP if stopped else signal.SIGCONT)
                taken[stopped].append(run_once(given.rounds))
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
    ratios = np.array(taken[False]) / np.array(taken[True])
    for column, name in enumerate(("wall time", "processor time")):
        middle, low, high = interval(ratios[:, column])
        sys.stdout.write(f"{name}: {100 * (middle - 1):+.1f} % [{100 * (low - 1):+.1f}, {100 * (high - 1):+.1f}]\n")


if __name__ == "__main__":
    main()
