"""The command `downfield train`: keeping two networks in training, contributed pictures, export and calibration.

Torch and the twin are imported inside the functions, so that the command's help needs neither.
"""

from __future__ import annotations

import signal
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from downfield.cli.console.output import print_stdout
from downfield.cli.console.progress import progress_bar
from downfield.core.errors import InputError, MissingExtraError
from downfield.core.texts import counted
from downfield.models.card import BUNDLED, bundled_networks

if TYPE_CHECKING:
    from downfield.training.keep.folder import TrainerFolder

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Train the networks.")

CONTRIBUTED: Final = "contributed"  # folder of the set of contributed pictures

CURVES: Final = "curves.png"  # name of the picture of the table of figures in a trainer's folder


@app.callback()
def _root() -> None:
    """Train the networks."""


def _check_extra(extra: str, purpose: str, *modules: str) -> None:
    if any(find_spec(module) is None for module in modules):
        raise MissingExtraError(extra, purpose)


@app.command()
def keep(
    folder: Annotated[Path, typer.Argument(help="Folder of the trainer; one that was stopped goes on where it was.")],
    status: Annotated[
        bool, typer.Option("--status", help="Show what it has traced and learned, and draw its curves, and end.")
    ] = False,
    disk: Annotated[float, typer.Option(min=1, help="Most disk space to use, GB; the oldest tables give way.")] = 10.0,
    cores: Annotated[int | None, typer.Option(min=1, help="Processor cores to use; all of them by default.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the tables; one of your own for each folder.")] = 62,
    detector: Annotated[
        Path | None, typer.Option(help="Checkpoint that a new folder's detector begins from; the bundled one's.")
    ] = None,
    refiner: Annotated[Path | None, typer.Option(help="The same for the refiner.")] = None,
    pictures: Annotated[
        list[Path] | None,
        typer.Option(help="Sets of real tables' pictures, as 'train contributed' makes them, for the refiner."),
    ] = None,
) -> None:
    """Trace varied tables and train detector and refiner on them, whenever the computer has nothing else to do.

    It runs until it is stopped, at the lowest priority, and goes on where it was when it is started again.
    """
    _check_extra("train", "training", "torch")
    _check_extra("traced", "tracing tables", "numba")
    from downfield.training.keep.folder import TrainerFolder
    from downfield.training.keep.keeper import Keeper
    from downfield.training.keep.plans import KeepPlan, LearningPlan, TracingPlan

    if status:
        _show_status(TrainerFolder(folder))
        return
    begin = LearningPlan()
    begin = replace(begin, detector=detector or begin.detector, refiner=refiner or begin.refiner)
    for path in (begin.detector, begin.refiner):
        if not path.is_file():
            raise InputError(f"{path}: no such file")
    for each in pictures or ():
        if not (each / "images" / "train").is_dir():
            raise InputError(f"{each}: no set of pictures to train on. 'downfield train contributed' makes one.")
    plan = KeepPlan(TracingPlan(disk * 1e9, seed, pictures=tuple(pictures or ())), begin)
    keeper = Keeper(folder, plan if cores is None else replace(plan, cores=cores), print_stdout)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: keeper.stop())
    print_stdout(
        f"Training in {folder}; stop with Ctrl-C. 'downfield train keep {folder} --status' shows what it does."
    )
    keeper.run()


def _show_status(folder: TrainerFolder) -> None:
    from downfield.training.keep.progress import status_lines, write_curves

    if not folder.spent.is_dir():
        raise InputError(
            f"{folder.path}: no trainer has worked here. Start one with 'downfield train keep {folder.path}'."
        )
    for line in status_lines(folder):
        print_stdout(line)
    rows = folder.rows()
    if rows:
        write_curves(rows, folder.path / CURVES)
        print_stdout(f"Curves: {folder.path / CURVES}")


@app.command()
def contributed(
    folder: Annotated[Path, typer.Argument(help=f"Folder in which the set '{CONTRIBUTED}' is made or added to.")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Contributions from 'downfield contribute'.")],
    detector: Annotated[
        str, typer.Option(help="Network whose detections tell which corners are visible: a bundled one or a folder.")
    ] = BUNDLED,
) -> None:
    """Add contributed pictures of real tables as a data set of their own, split by table; each is added once."""
    _check_extra("twin", "reading data sets", "mujoco")
    from downfield.models.loading import open_detector
    from downfield.training.data.real_tables import add_contributions

    opened = open_detector(detector)
    with progress_bar("Adding pictures") as advance:
        added = add_contributions(files, folder / CONTRIBUTED, opened, advance)
    for split in ("train", "val", "test"):
        tables = len(added.tables.get(split, ()))
        print_stdout(f"{split}: {counted(added.pictures[split], 'new picture')}, of {counted(tables, 'table')}")
    print_stdout(f"{folder / CONTRIBUTED}: {counted(added.figures, 'figure')} labeled.")
    if added.known:
        print_stdout(f"{added.known} pictures were there already.")
    if added.unlabeled:
        print_stdout(f"{added.unlabeled} pictures were left out: no figure in them is sure.")


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Folder of a trainer; its best networks are exported.")],
    out: Annotated[Path, typer.Argument(help="Folder of the network to write.")],
    val: Annotated[
        list[Path] | None,
        typer.Option(help="Data sets whose validation pictures set the thresholds besides the trainer's own."),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the network.")] = "mine",
) -> None:
    """Export a trainer's detector and refiner for the rig: ONNX, full and int8, with thresholds tuned together."""
    _check_extra("train", "exporting", "torch", "nncf")
    from downfield.training.evaluation.tuning import tune
    from downfield.training.export.networks import export_networks
    from downfield.training.keep.folder import TrainerFolder

    trainer = TrainerFolder(folder)
    samples = trainer.crops, trainer.patches
    export_networks(trainer.best, samples, out, name=name, progress=print_stdout)
    tune(out, [*trainer.validation.values(), *(val or ())], print_stdout)
    print_stdout(f"exported: {out}")


@app.command()
def calibrate(
    network: Annotated[Path, typer.Argument(help="Folder of an exported network; its card is rewritten.")],
    val: Annotated[
        list[Path] | None, typer.Option(help="Data sets whose validation pictures are measured; may be repeated.")
    ] = None,
) -> None:
    """Fit on validation pictures the corner errors and the certainty of fronts."""
    _check_extra("twin", "reading data sets", "mujoco")
    from downfield.training.evaluation.tuning import calibrate_network

    if not val:
        raise InputError("give at least one data set with --val")
    if not network.is_dir() and str(network) in bundled_networks():
        raise InputError(
            f"{network} is a bundled network, and its card stays as it is. Give the folder of one of your own, as"
            " 'downfield train export' writes it."
        )
    with progress_bar("Measuring pictures") as advance:
        report = calibrate_network(network, val, advance)
    (sigma_then, sigma), (odds_then, odds), (sure_then, sure) = (
        report.sigma_scale,
        report.front_odds,
        report.front_certainty,
    )
    print_stdout(f"{report.pictures} pictures, {report.figures} upright figures")
    print_stdout(f"corner errors x {sigma:g} (before: {sigma_then:g}), so that 68 % are within one sigma")
    print_stdout(
        f"fronts: log-odds x {odds:g} (before: {odds_then:g}); {100 * sure:.1f} % sure in the mean (before:"
        f" {100 * sure_then:.1f} %), {100 * report.fronts_right:.1f} % right"
    )
