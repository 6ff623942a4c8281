"""The command `downfield train`: data sets, training of the four networks, and export.

Torch and the twin are imported inside the functions, so that the command's help needs neither.
"""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from downfield.core.counted_nouns import counted
from downfield.core.errors import InputError, MissingExtraError
from downfield.models.card import BUNDLED, bundled_networks, find_network
from downfield.rig.cli.output import say
from downfield.rig.cli.progress import progress_bar
from downfield.training.recipe import CONTRIBUTED, Schedule, read_recipe

if TYPE_CHECKING:
    from downfield.training.labeled_frames import Sources
    from downfield.training.trainer import Lesson

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Train the networks.")

LEAST_GUESS = 0.02
"""Least score of a figure detection that a refiner is trained on."""

Data = Annotated[Path, typer.Argument(help="Folder of the recipe's data sets.")]
Runs = Annotated[Path, typer.Option("--runs", help="Folder of checkpoints and finished networks.")]
RecipeFile = Annotated[Path | None, typer.Option("--recipe", help="A recipe of your own (.toml).")]
UntilOption = Annotated[
    int | None, typer.Option(help="Stop after so many samples in all; by default as in the recipe.")
]
Finish = Annotated[
    bool, typer.Option("--finish", help="Bring the learning rate down to zero from the current checkpoint.")
]
Start = Annotated[Path | None, typer.Option("--from", help="Checkpoint to start from if the runs folder has none.")]
Threads = Annotated[int, typer.Option(min=1, help="CPU cores to use.")]


@app.callback()
def _root() -> None:
    """Train the networks."""


@app.command()
def data(
    folder: Data,
    recipe: RecipeFile = None,
    workers: Annotated[int, typer.Option(help="Processes that render.")] = 1,
) -> None:
    """Render the recipe's data sets. An interrupted run is resumed."""
    _check_extra("twin", "making data sets", "mujoco")
    from downfield.twin.sets.dataset import Recipe, make_dataset

    for each in read_recipe(recipe).sets:
        plan = Recipe(
            split="train",
            seed=each.seed,
            renderer=each.renderer,
            per_table=each.per_table,
            carriers=each.carriers,
            strewn=each.strewn,
            fallers=each.fallers,
        )
        with progress_bar(f"{each.name} pictures") as tell:
            make_dataset(folder / each.name, plan, each.count, workers=workers, progress=tell)
        say(f"{folder / each.name}: {each.count} pictures")


@app.command()
def guesses(
    folder: Data,
    network: Annotated[
        Path, typer.Argument(help="Folder of an exported network; its figure and ball detectors are used.")
    ],
    recipe: RecipeFile = None,
) -> None:
    """Run the detectors on all training pictures, so that the refiners train from their real errors."""
    _check_extra("twin", "reading data sets", "mujoco")
    from downfield.models.loading import open_detector
    from downfield.training.guesses import make_guesses

    detector = open_detector(network, min_score=LEAST_GUESS)
    for source, _ in read_recipe(recipe).sources(folder, practice=True):
        with progress_bar(f"{source.name} pictures") as tell:
            make_guesses(detector, source, tell)


@app.command()
def contributed(
    folder: Data,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Contributions from 'downfield contribute'.")],
    detector: Annotated[
        str, typer.Option(help="Network that says which corners are seen: a bundled one or a folder.")
    ] = BUNDLED,
) -> None:
    """Add contributed pictures of real tables as a data set of their own, split by table; each is added once."""
    _check_extra("twin", "reading data sets", "mujoco")
    from downfield.models.loading import open_detector
    from downfield.training.contributed_set import add_contributions

    opened = open_detector(detector)
    with progress_bar("Adding pictures") as advance:
        added = add_contributions(files, folder / CONTRIBUTED, opened, advance)
    for split in ("train", "val", "test"):
        tables = len(added.tables.get(split, ()))
        say(f"{split}: {counted(added.pictures[split], 'new picture')}, of {counted(tables, 'table')}")
    say(f"{folder / CONTRIBUTED}: {counted(added.figures, 'figure')} labeled.")
    if added.known:
        say(f"{added.known} pictures were there already.")
    if added.unlabeled:
        say(f"{added.unlabeled} pictures were left out: no figure in them is sure.")


def _trains(look: str, module: str, about: str, *, practice: bool = False, contributed: bool = False) -> None:
    """Add the command that trains one of the networks.

    Args:
        look: its name, also that of the command, the runs' folder, the recipe's schedule and the lesson.
        module: holds the lesson; it needs torch, so it is imported when the command runs.
        about: the command's help.
        practice: whether it also learns from the sets where many figures have a ball of their own.
        contributed: whether it also learns from contributed pictures, in which not every figure is labeled.

    """

    def train(
        folder: Data,
        runs: Runs,
        recipe: RecipeFile = None,
        until: UntilOption = None,
        finish: Finish = False,
        start: Start = None,
        threads: Threads = 2,
    ) -> None:
        _check_extra("train", "training", "torch")
        name, plan = look.replace("-", "_"), read_recipe(recipe)
        lesson: Lesson = getattr(import_module(f"downfield.training.{module}"), name.upper())
        run = _TrainingRun(runs / look, getattr(plan, name), until, finish, start, threads)
        run.execute(lesson, plan.sources(folder, practice=practice, contributed=contributed))

    app.command(look, help=f"{about} An interrupted run is resumed from its checkpoint.")(train)


_trains("first-look", "first_look", "Train the figure detector, which finds figures, balls and hands in frames.")
_trains(
    "second-look",
    "second_look_run",
    "Train the figure refiner, which measures each figure in a patch; contributed pictures count where there are any.",
    contributed=True,
)
_trains("ball-look", "ball_look_run", "Train the ball detector, which finds ball candidates in frames.", practice=True)
_trains("close-look", "close_look_run", "Train the ball refiner, which confirms the ball in a patch.", practice=True)


@app.command()
def export(
    first: Annotated[Path, typer.Argument(help="Checkpoint of the figure detector (.pt).")],
    out: Annotated[Path, typer.Argument(help="Folder of the network to write.")],
    second: Annotated[Path | None, typer.Option(help="Checkpoint of the figure refiner (.pt).")] = None,
    ball: Annotated[Path | None, typer.Option(help="Checkpoint of the ball detector (.pt).")] = None,
    close: Annotated[Path | None, typer.Option(help="Checkpoint of the ball refiner (.pt).")] = None,
    train: Annotated[
        list[Path] | None, typer.Option(help="Data sets whose training pictures calibrate the int8 networks.")
    ] = None,
    val: Annotated[
        list[Path] | None, typer.Option(help="Data sets whose validation pictures set the thresholds.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the network.")] = "downfield",
) -> None:
    """Export the networks that the rig runs: ONNX, full and int8, with thresholds set on validation pictures."""
    _check_extra("train", "exporting", "torch", "nncf")
    from downfield.training.export import export_network
    from downfield.training.tuning import tune

    if second is None and (ball is not None or close is not None):
        raise InputError("--ball and --close need --second, whose patches they share")
    if not train or not val:
        raise InputError("give at least one data set with --train and one with --val")
    export_network(first, second, ball, close, out, train, name=name, progress=say)
    tune(out, val, say)
    say(f"exported: {out}")


@app.command()
def calibrate(
    network: Annotated[Path, typer.Argument(help="Folder of an exported network; its card is rewritten.")],
    val: Annotated[
        list[Path] | None, typer.Option(help="Data sets whose validation pictures are measured; may be repeated.")
    ] = None,
) -> None:
    """Fit how much a network's opinions count, its errors and its certainty of fronts, on validation pictures."""
    _check_extra("twin", "reading data sets", "mujoco")
    from downfield.training.calibration import calibrate_network

    if not val:
        raise InputError("give at least one data set with --val")
    if not network.is_dir() and str(network) in bundled_networks():
        raise InputError(
            f"{network} is a bundled network, and its card stays as it is. Give the folder of one of your own, as"
            " 'downfield train export-pair' writes it."
        )
    with progress_bar("Measuring pictures") as advance:
        report = calibrate_network(network, val, advance)
    (sigma_then, sigma), (odds_then, odds), (sure_then, sure) = (
        report.sigma_scale,
        report.front_odds,
        report.front_certainty,
    )
    say(f"{report.pictures} pictures, {report.figures} upright figures")
    card, weights = report.card, report.card.opinions
    if card.second_opinion is not None and weights.detectors is not None:
        shares = [100 * share for share in (weights.front[1], weights.fallen[1])]
        say(f"second refiner: counts {shares[0]:.0f} % for fronts and {shares[1]:.0f} % for falls")
        say(f"turned from a logit of {card.turn_logit:g}, fallen from {card.fallen_logit:g}")
        say(f"figures from a score of {card.figure_threshold:g}")
        if weights.ball is not None:
            own, other, constant = weights.ball
            say(f"ball: {own:g} x the logit of its networks + {other:g} x the second refiner's {constant:+g}")
    say(f"corner errors x {sigma:g} (before: {sigma_then:g}), so that 68 % are within one sigma")
    say(
        f"fronts: log-odds x {odds:g} (before: {odds_then:g}); {100 * sure:.1f} % sure in the mean (before:"
        f" {100 * sure_then:.1f} %), {100 * report.fronts_right:.1f} % right"
    )


@app.command()
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
    _check_extra("train", "training", "torch")
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


@app.command()
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
    _check_extra("train", "training", "torch")
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


@app.command()
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
    _check_extra("train", "training", "torch", "nncf")
    from downfield.training.networks.refiner_run import RefinerRun
    from downfield.training.networks.time_budget import RateSchedule

    if not patches:
        raise InputError("give at least one folder of patches with --patches")
    for stop in (signal.SIGINT, signal.SIGTERM):  # both keep what was learned
        signal.signal(stop, signal.default_int_handler)
    run = RefinerRun(find_network(network), runs, patches, opinion, first, seed)
    run.execute(seconds, out, schedule=RateSchedule(rate, level), name=name, report=say)
    say(f"exported: {out}")


@app.command("pack")
def pack_training(
    out: Annotated[Path, typer.Argument(help="A new folder.")],
    checkpoints: Annotated[Path | None, typer.Option(help="Folder of detector.pt and refiner.pt.")] = None,
    python: Annotated[str | None, typer.Option(help="Python there, such as 3.12, to fetch small wheels for.")] = None,
    network: Annotated[
        str | None, typer.Option(help="A network, bundled or a folder, whose figure refiner is to learn as well.")
    ] = None,
) -> None:
    """Pack what a computer with a GPU, torch, numba and OpenCV needs to run `pair` without a network."""
    _check_extra("train", "training", "torch")
    from downfield.training.pack import pack

    pack(out, checkpoints, python, say, network=None if network is None else find_network(network))


@app.command()
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
    _check_extra("train", "exporting", "torch", "nncf")
    from downfield.training.networks.taught_network import calibration_blocks, write_taught

    if not patches:
        raise InputError("give at least one folder of patches with --patches")
    write_taught(find_network(network), runs, out, name=name, patches=calibration_blocks(patches, 1), sets=train or ())
    say(f"exported: {out}. 'downfield train calibrate {out}' weighs its opinions anew.")


@app.command("export-pair")
def export_both(
    detector: Annotated[Path, typer.Argument(help="Checkpoint of the detector (.pt).")],
    refiner: Annotated[Path, typer.Argument(help="Checkpoint of the refiner (.pt).")],
    out: Annotated[Path, typer.Argument(help="Folder of the network to write.")],
    train: Annotated[
        list[Path] | None, typer.Option(help="Data sets whose training pictures calibrate the int8 networks.")
    ] = None,
    val: Annotated[
        list[Path] | None, typer.Option(help="Data sets whose validation pictures set the thresholds.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the network.")] = "two-networks",
) -> None:
    """Export the two networks, detector and refiner with ball: ONNX, full and int8, with thresholds tuned together."""
    _check_extra("train", "exporting", "torch", "nncf")
    from downfield.training.networks.graphs import export_pair
    from downfield.training.networks.tuning import tune_pair

    if not train or not val:
        raise InputError("give at least one data set with --train and one with --val")
    export_pair(detector, refiner, out, train, name=name, progress=say)
    tune_pair(out, val, say)
    say(f"exported: {out}")


def _check_extra(extra: str, purpose: str, *modules: str) -> None:
    """Raise `MissingExtraError` unless the modules of an extra are installed."""
    if any(find_spec(module) is None for module in modules):
        raise MissingExtraError(extra, purpose)


@dataclass(frozen=True, slots=True)
class _TrainingRun:
    """One run of training, from a checkpoint if there is one. A finish has its own and leaves the level one."""

    where: Path
    schedule: Schedule
    until: int | None
    finish: bool
    start: Path | None
    threads: int

    def execute(self, lesson: Lesson, sources: Sources) -> None:
        """Train, and write the network after a finish."""
        import torch

        from downfield.training.trainer import load_learner, train

        for stop in (signal.SIGINT, signal.SIGTERM):  # both keep what was learned, in the background too
            signal.signal(stop, signal.default_int_handler)
        torch.set_num_threads(self.threads)
        self.where.mkdir(parents=True, exist_ok=True)
        level, descent = self.where / "level.pt", self.where / "finish.pt"
        learner = lesson.new()
        begin = next((each for each in self._checkpoints(level, descent) if each.exists()), None)
        if begin is not None:
            load_learner(learner, begin)
        elif self.finish:
            raise InputError(f"{level}: no such file. Train without --finish first.")
        if learner.descent is not None:
            goal = learner.descent[1]
        else:
            goal = self.until or (learner.seen + self.schedule.finish if self.finish else self.schedule.level)
        if goal <= learner.seen:
            say(f"already trained on {learner.seen} of {goal} samples")
            return
        begun, before = time.monotonic(), learner.seen

        def report(seen: int, losses: dict[str, float]) -> None:
            each_ms = (time.monotonic() - begun) / max(seen - before, 1) * 1e3
            parts = "  ".join(f"{name} {value:.3f}" for name, value in losses.items())
            say(f"{seen:>9} of {goal} samples  {each_ms:.2f} ms each  {parts}")

        kept = descent if self.finish else level
        train(lesson, learner, sources, goal, finish=self.finish, checkpoint=kept, report=report)
        if self.finish:
            lesson.finished(learner, self.where.with_suffix(".pt"))
            descent.unlink()
            say(f"finished: {self.where.with_suffix('.pt')}")

    def _checkpoints(self, level: Path, descent: Path) -> list[Path]:
        """Return the checkpoints to continue from, the preferred one first."""
        given = [] if self.start is None else [self.start]
        return [*([descent] if self.finish else []), level, *given]
