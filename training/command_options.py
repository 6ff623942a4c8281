"""Options and checks that the commands of `downfield train` share."""

from __future__ import annotations

import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from downfield.core.errors import MissingExtraError

Data = Annotated[Path, typer.Argument(help="Folder of the recipe's data sets.")]
Runs = Annotated[Path, typer.Option("--runs", help="Folder of checkpoints and finished networks.")]
RecipeFile = Annotated[Path | None, typer.Option("--recipe", help="A recipe of your own (.toml).")]
TrainSets = Annotated[
    list[Path] | None, typer.Option("--train", help="Data sets whose training pictures calibrate the int8 networks.")
]
ValSets = Annotated[
    list[Path] | None, typer.Option("--val", help="Data sets whose validation pictures set the thresholds.")
]


def stop_at_signals() -> None:
    """Let SIGTERM interrupt this process as Ctrl-C does, in the background too: training then saves its checkpoint."""
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)


def check_extra(extra: str, purpose: str, *modules: str) -> None:
    """Raise `MissingExtraError` unless the modules of an extra are installed."""
    if any(find_spec(module) is None for module in modules):
        raise MissingExtraError(extra, purpose)
