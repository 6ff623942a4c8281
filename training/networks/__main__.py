"""`python -m downfield.training.networks OUT SECONDS`: trains the two networks with little but torch and numba."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from downfield.core.errors import DownfieldError
from downfield.training.networks.pair_run import PairRun


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and return the exit status: 2 after an error that a user can fix."""
    parser = argparse.ArgumentParser(prog="downfield.training.networks", description="Train detector and refiner.")
    parser.add_argument("out", type=Path, help="folder of the checkpoints; a run in it is continued")
    parser.add_argument("seconds", type=float, help="time of the run, start-up included")
    parser.add_argument("--resume", type=Path, help="folder of checkpoints to continue from")
    parser.add_argument("--level", type=float, default=1.0, help="share of the time after which the rate comes down")
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate while it is level")
    parser.add_argument("--seed", type=int, default=1, help="of all chance; take a new one for every run")
    parser.add_argument("--device", default="auto", help="cpu, cuda, or auto for cuda where there is one")
    given = parser.parse_args(arguments)
    for stop in (signal.SIGINT, signal.SIGTERM):  # both keep what was learned
        signal.signal(stop, signal.default_int_handler)
    begun = given.out if (given.out / "detector.pt").exists() else None
    run = PairRun(given.out, given.resume or begun, given.device, given.seed)
    try:
        run.execute(None, given.seconds, rate=given.rate, level=given.level, report=_say)
    except DownfieldError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
