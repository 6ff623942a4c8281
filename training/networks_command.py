"""Commands of `downfield train` for the two networks, and for refiners that are taught further.

Torch is imported inside the functions, so that the command's help does without it.
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from downfield.cli.console.output import say
from downfield.cli.console.progress import progress_bar
from downfield.core.errors import InputError
from downfield.core.text.counted_nouns import counted
from downfield.models.card import find_network
from downfield.training.command_options import RecipeFile, Runs, TrainSets, ValSets, check_extra
from downfield.training.recipe import read_recipe


def add_commands(app: typer.Typer) -> None:
    """Add the commands of the two networks and of the refiners."""
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
            help="Folder of data sets: the recipe's, and contributed pictures, from which the refiner learns as well."
            " Without the recipe's, tables are drawn and traced endlessly."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Time of the run, s.")] = 570.0,
    resume: Annotated[Path | None, typer.Option(help="Folder of checkpoints to continue from.")] = None,
    level: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the time after which the learning rate comes down; 1: never.")
    ] = 1.0,
    rate: Annotated[float, typer.Option(help="Learning rate while it is level.")] = 2e-3,
    seed: Annotated[int, typer.Option(help="Of all chance; take a new one for every run.")] = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto for cuda where there is one.")] = "auto",
    recipe: RecipeFile = None,
) -> None:
    """Train the two networks, detector and refiner with ball, for a given time; resumable over any number of runs."""
    check_extra("train", "training", "torch")
    from downfield.training.networks.pair_run import PairRun

    for stop in (signal.SIGINT, signal.SIGTERM):  # both keep what was learned
        signal.signal(stop, signal.default_int_handler)
    run = PairRun(runs, resume or (runs if (runs / "detector.pt").exists() else None), device, seed)
    plan = read_recipe(recipe)
    real = [] if folder is None else plan.contributed_sources(folder)
    sources = None
    if folder is not None and (not real or plan.drawn_sources(folder, practice=True)):
        sources = plan.sources(folder, practice=True)
    run.execute(sources, seconds, rate=rate, level=level, report=say, real=real)


def patches(
    out: Annotated[Path, typer.Argument(help="Folder of patches; more are added to those it holds.")],
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Folder of data sets to cut them from, contributed ones too; without it tables are traced."
        ),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Tables to trace, or batches of four pictures to cut.")] = 500,
    seed: Annotated[int, typer.Option(help="Of all chance; take a new one for every folder.")] = 1,
    recipe: RecipeFile = None,
) -> None:
    """Trace or cut patches into files, from which `refiners` learns many times. An interrupted run is resumed."""
    check_extra("train", "training", "torch")
    from downfield.training.networks.patch_blocks import count_blocks, write_blocks

    first = count_blocks(out)
    if folder is None:
        from downfield.training.networks.pair_run import traced_patches

        samples = traced_patches(seed, first)
    else:
        from downfield.training.networks.set_samples import refiner_samples

        samples = refiner_samples(read_recipe(recipe).sources(folder, contributed=True), seed, first=first)
    with progress_bar("Files") as advance:
        for number in range(first, count):
            write_blocks(samples, out, 1, first=number)
            advance(number + 1, count)
    say(f"{out}: {counted(count_blocks(out), 'file')} of patches")


def refiners(
    network: Annotated[str, typer.Argument(help="The network to begin from: a bundled one or a folder.")],
    out: Annotated[Path, typer.Argument(help="Folder of the network to write.")],
    runs: Runs,
    patches: Annotated[list[Path] | None, typer.Option(help="Folders of patches; each counts the same.")] = None,
    opinion: Annotated[Path | None, typer.Option(help="Checkpoint of the second refiner (.pt), to teach that.")] = None,
    first: Annotated[bool, typer.Option(help="Teach the first refiner.")] = False,
    seconds: Annotated[float, typer.Option(min=1, help="Time of the training, s.")] = 3600.0,
    level: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the time after which the rate comes down.")
    ] = 0.6,
    rate: Annotated[float, typer.Option(help="Learning rate while it is level.")] = 5e-4,
    seed: Annotated[int, typer.Option(help="Of all chance.")] = 1,
    name: Annotated[str, typer.Option(help="Name of the network.")] = "downfield",
) -> None:
    """Teach a network's refiners further from patches in files; 'calibrate' then weighs them anew."""
    check_extra("train", "training", "torch", "nncf")
    from downfield.training.networks.refiner_run import RefinerRun
    from downfield.training.networks.time_budget import RateSchedule

    if not patches:
        raise InputError("give at least one folder of patches with --patches")
    for stop in (signal.SIGINT, signal.SIGTERM):  # both keep what was learned
        signal.signal(stop, signal.default_int_handler)
    run = RefinerRun(find_network(network), runs, patches, opinion, first, seed)
    run.execute(seconds, out, schedule=RateSchedule(rate, level), name=name, report=say)
    say(f"exported: {out}")


def pack_training(
    out: Annotated[Path, typer.Argument(help="A new folder.")],
    checkpoints: Annotated[Path | None, typer.Option(help="Folder of detector.pt and refiner.pt.")] = None,
    python: Annotated[str | None, typer.Option(help="Python there, such as 3.12, to fetch small wheels for.")] = None,
    network: Annotated[
        str | None, typer.Option(help="A network, bundled or a folder, whose figure refiner is to learn as well.")
    ] = None,
) -> None:
    """Pack what a computer with a GPU, torch, numba and OpenCV needs to run `pair` without a network."""
    check_extra("train", "training", "torch")
    from downfield.training.pack import pack

    pack(out, checkpoints, python, say, network=None if network is None else find_network(network))


def assemble(
    network: Annotated[str, typer.Argument(help="The network to begin from: a bundled one or a folder.")],
    runs: Annotated[Path, typer.Argument(help="Folder of detector.pt, refiner.pt and second-look.pt, any of them.")],
    out: Annotated[Path, typer.Argument(help="Folder of the network to write.")],
    patches: Annotated[
        list[Path] | None, typer.Option(help="Folders of patches, on which the refiners' int8 is calibrated.")
    ] = None,
    train: Annotated[
        list[Path] | None, typer.Option(help="Data sets for the detector's int8; without any it stays as it is.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the network.")] = "downfield",
) -> None:
    """Write a network with those refiners and that second detector that were taught, on a GPU for instance."""
    check_extra("train", "exporting", "torch", "nncf")
    from downfield.training.networks.taught_network import calibration_blocks, write_taught

    if not patches:
        raise InputError("give at least one folder of patches with --patches")
    write_taught(find_network(network), runs, out, name=name, patches=calibration_blocks(patches, 1), sets=train or ())
    say(f"exported: {out}. 'downfield train calibrate {out}' weighs its opinions anew.")


def export_both(
    detector: Annotated[Path, typer.Argument(help="Checkpoint of the detector (.pt).")],
    refiner: Annotated[Path, typer.Argument(help="Checkpoint of the refiner (.pt).")],
    out: Annotated[Path, typer.Argument(help="Folder of the network to write.")],
    train: TrainSets = None,
    val: ValSets = None,
    name: Annotated[str, typer.Option(help="Name of the network.")] = "two-networks",
) -> None:
    """Export the two networks, detector and refiner with ball: ONNX, full and int8, with thresholds tuned together."""
    check_extra("train", "exporting", "torch", "nncf")
    from downfield.training.networks.graphs import export_pair
    from downfield.training.networks.tuning import tune_pair

    if not train or not val:
        raise InputError("give at least one data set with --train and one with --val")
    export_pair(detector, refiner, out, train, name=name, progress=say)
    tune_pair(out, val, say)
    say(f"exported: {out}")
