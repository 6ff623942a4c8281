"""Random events with cuts, corrections, withdrawals and restarts: what is wrong with any of them, and how fast they go.

``PYTHONPATH=tests python benchmarks/event_orders.py --events 1000 [--seed 0] [--steps 90] [--minutes 40]``
With ``TMPDIR=/dev/shm`` no disk is waited for.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
import time
from pathlib import Path

from simulated_event import SimulatedEvent, in_another_order

from downfield.desk.event.outcomes import outcomes


def faults_of(seed: int, steps: int, folder: Path) -> list[str]:
    """Return what is wrong with one event, after each step and in another order of arrival."""
    simulated = SimulatedEvent(folder, seed)
    for number in range(steps):
        simulated.step()
        if found := simulated.faults():
            return [f"seed {seed}, step {number}: {text}" for text in found]
    simulated.deliver_all()
    ends = outcomes(simulated.event)
    other = in_another_order(simulated, random.Random(seed))
    if (other.matches, outcomes(other).waiting) != (ends.event.matches, ends.waiting):
        return [f"seed {seed}: another order of arrival ends otherwise"]
    return [f"seed {seed}, at the end: {text}" for text in simulated.faults()]


def main() -> int:
    """Run the events and print what is wrong; return 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=90)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop then, however many events are done")
    given = parser.parse_args()
    began_s, wrong, done = time.monotonic(), 0, 0
    for seed in range(given.seed, given.seed + given.events):
        if time.monotonic() - began_s > 60 * given.minutes:
            break
        done += 1
        with tempfile.TemporaryDirectory() as folder:
            for fault in faults_of(seed, given.steps, Path(folder)):
                sys.stdout.write(f"{fault}\n")
                wrong += 1
    passed_s = time.monotonic() - began_s
    sys.stdout.write(f"{done} events of {given.steps} steps in {passed_s:.0f} s; {wrong} faults\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
