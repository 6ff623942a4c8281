"""Commands of `downfield train` that train by the clock: a pair of networks, and refiners that are trained further.

Torch is imported inside the functions, so that the command's help does not need it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.cli.console.output import print_stdout
from downfield.cli.console.progress import progress_bar
from downfield.core.errors import InputError
from downfield.core.texts import counted
from downfield.models.card import find_network
from downfield.training.command_options import RecipeFile, Runs, TrainSets, ValSets, check_extra, stop_at_signals
from downfield.training.recipe import read_recipe


def add_commands(app: typer.Typer) -> None:
    """Add the commands of a pair and of the refiners."""
    app.command()(pair)
    app.command()(patches)
    app.command()(refiners)
    app.command("pack")(pack_training)
    app.command()(assemble)
    app.command("export-pair")(export_both)


def pair(
    runs: Runs,
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Folder of data sets: the recipe's, and contributed pictures, on which the refiner is trained as well."
            " Without the recipe's, tables are drawn and traced endlessly."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Time of the run, s.")] = 570.0,
    resume: Annotated[Path | None, typer.Option(help="Folder of checkpoints to continue from.")] = None,
    level: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of the time, 0 to 1, after which the learning rate falls; 1: never."),
    ] = 1.0,
    rate: Annotated[float, typer.Option(help="Learning rate before it falls.")] = 2e-3,
    seed: Annotated[int, typer.Option(help="Seed of all random draws; take a new one for every run.")] = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto for cuda where there is one.")] = "auto",
    recipe: RecipeFile = None,
) -> None:
    """Train a pair, detector and refiner with ball, for a given time; resumable over any number of runs."""
    check_extra("train", "training", "torch")
    from downfield.training.runs.pair_run import PairRun

    stop_at_signals()
    run = PairRun(runs, resume or (runs if (runs / "detector.pt").exists() else None), device, seed)
    plan = read_recipe(recipe)
    real = [] if folder is None else plan.contributed_sources(folder)
    sources = None
    if folder is not None and (not real or plan.drawn_sources(folder, practice=True)):
        sources = plan.sources(folder, practice=True)
    run.execute(sources, seconds, rate=rate, level=level, report=print_stdout, real=real)


def patches(
    out: Annotated[Path, typer.Argument(help="Folder of patches; more are added to those it holds.")],
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Folder of data sets to cut them from, contributed ones too; without it tables are traced."
        ),
    ] = None,
    count: Annotated[
        int, typer.Option(min=1, help="Files: one for each table traced, or for four pictures cut.")
    ] = 500,
    seed: Annotated[int, typer.Option(help="Seed of all random draws; take a new one for every folder.")] = 1,
    recipe: RecipeFile = None,
) -> None:
    """Trace or cut patches into files, on which `refiners` trains many times. An interrupted run is resumed."""
    check_extra("train", "training", "torch")
    from downfield.training.data.patch_files import count_blocks, write_blocks

    first = count_blocks(out)
    if folder is None:
        from downfield.training.runs.pair_run import traced_patches

        samples = traced_patches(seed, first)
    else:
        from downfield.training.data.set_samples import refiner_samples

        samples = refiner_samples(read_recipe(recipe).sources(folder, contributed=True), seed, first=first)
    with progress_bar("Files") as advance:
        for number in range(first, count):
            write_blocks(samples, out, 1, first=number)
            advance(number + 1, count)
    print_stdout(f"{out}: {counted(count_blocks(out), 'file')} of patches")


def refiners(
    network: Annotated[str, typer.Argument(help="The network to begin from: a bundled one or a folder.")],
    out: Annotated[Path, typer.Argument(help="Folder of the network to write.")],
    runs: Runs,
    patches: Annotated[list[Path] | None, typer.Option(help="Folders of patches; each counts the same.")] = None,
    second: Annotated[
        Path | None, typer.Option(help="Train the second refiner, at first from this checkpoint (.pt).")
    ] = None,
    first: Annotated[bool, typer.Option("--first", help="Train the first refiner.")] = False,
    seconds: Annotated[float, typer.Option(min=1, help="Time of the training, s.")] = 3600.0,
    level: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the time, 0 to 1, after which the learning rate falls.")
    ] = 0.6,
    rate: Annotated[float, typer.Option(help="Learning rate before it falls.")] = 5e-4,
    seed: Annotated[int, typer.Option(help="Seed of all random draws.")] = 1,
    name: Annotated[str, typer.Option(help="Name of the network.")] = "downfield",
) -> None:
    """Train a network's refiners further on patches in files; 'calibrate' then fits how much each counts."""
    check_extra("train", "training", "torch", "nncf")
    from downfield.training.runs.refiner_run import RefinerRun
    from downfield.training.runs.turns import RateSchedule

    if not patches:
        raise InputError("give at least one folder of patches with --patches")
    stop_at_signals()
    run = RefinerRun(find_network(network), runs, patches, second, first, seed)
    run.execute(seconds, out, schedule=RateSchedule(rate, level), name=name, report=print_stdout)
    print_stdout(f"exported: {out}")


def pack_training(
    out: Annotated[Path, typer.Argument(help="A new folder.")],
    checkpoints: Annotated[Path | None, typer.Option(help="Folder of detector.pt and refiner.pt.")] = None,
    python: Annotated[str | None, typer.Option(help="Python there, such as 3.12, to fetch small wheels for.")] = None,
    network: Annotated[
        str | None, typer.Option(help="A network, bundled or a folder, whose first refiner is trained as well.")
    ] = None,
) -> None:
    """Pack what a computer with a GPU, torch, numba and OpenCV needs to run `pair` offline."""
    check_extra("train", "training", "torch")
    from downfield.training.runs.pack import pack

    pack(out, checkpoints, python, print_stdout, network=None if network is None else find_network(network))


def assemble(
    network: Annotated[str, typer.Argument(help="The network to begin from: a bundled one or a folder.")],
    runs: Annotated[Path, typer.Argument(help="Folder of detector.pt, refiner.pt and first-refiner.pt, any of them.")],
    out: Annotated[Path, typer.Argument(help="Folder of the network to write.")],
    patches: Annotated[
        list[Path] | None, typer.Option(help="Folders of patches that calibrate the refiners' int8.")
    ] = None,
    train: Annotated[
        list[Path] | None,
        typer.Option(help="Data sets that calibrate the hand detector's int8; without any it is not replaced."),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the network.")] = "downfield",
) -> None:
    """Write a network with the refiners and the hand detector that were trained elsewhere, as with `pack`."""
    check_extra("train", "exporting", "torch", "nncf")
    from downfield.training.export.networks import calibration_blocks, write_retrained

    if not patches:
        raise InputError("give at least one folder of patches with --patches")
    write_retrained(
        find_network(network), runs, out, name=name, patches=calibration_blocks(patches, 1), sets=train or ()
    )
    print_stdout(f"exported: {out}. 'downfield train calibrate {out}' fits how much each part counts.")


def export_both(
    detector: Annotated[Path, typer.Argument(help="Checkpoint of the detector (.pt).")],
    refiner: Annotated[Path, typer.Argument(help="Checkpoint of the refiner (.pt).")],
    out: Annotated[Path, typer.Argument(help="Folder of the network to write.")],
    train: TrainSets = None,
    val: ValSets = None,
    name: Annotated[str, typer.Option(help="Name of the network.")] = "two-networks",
) -> None:
    """Export a pair, detector and refiner with ball: ONNX, full and int8, with thresholds tuned together."""
    check_extra("train", "exporting", "torch", "nncf")
    from downfield.training.evaluation.tuning import tune_pair
    from downfield.training.export.networks import export_pair

    if not train or not val:
        raise InputError("give at least one data set with --train and one with --val")
    export_pair(detector, refiner, out, train, name=name, progress=print_stdout)
    tune_pair(out, val, print_stdout)
    print_stdout(f"exported: {out}")
