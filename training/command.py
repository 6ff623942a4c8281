"""The command `downfield train`: data sets, training of the bundled network's parts, export and calibration.

Torch and the twin are imported inside the functions, so that the command's help needs neither.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from downfield.cli.console.output import print_stdout
from downfield.cli.console.progress import progress_bar
from downfield.core.errors import InputError
from downfield.core.texts import counted
from downfield.models.card import BUNDLED, bundled_networks
from downfield.training.command_options import Data, RecipeFile, Runs, TrainSets, ValSets, check_extra, stop_at_signals
from downfield.training.networks_command import add_commands
from downfield.training.recipe import CONTRIBUTED, Schedule, read_recipe

if TYPE_CHECKING:
    from downfield.training.data.labeled_frames import Sources

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Train the networks.")

MIN_GUESS_SCORE = 0.02
"""Least score of a detection that refiners are trained to correct: unlikely ones are the instructive ones."""

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
    check_extra("twin", "making data sets", "mujoco")
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
        print_stdout(f"{folder / each.name}: {each.count} pictures")


@app.command()
def guesses(
    folder: Data,
    network: Annotated[
        Path, typer.Argument(help="Folder of an exported network; its figure and ball detectors are used.")
    ],
    recipe: RecipeFile = None,
) -> None:
    """Run the detectors on all training pictures, so that the refiners train from their real errors."""
    check_extra("twin", "reading data sets", "mujoco")
    from downfield.models.loading import open_detector
    from downfield.training.data.labeled_frames import make_guesses

    detector = open_detector(network, min_score=MIN_GUESS_SCORE)
    for source, _ in read_recipe(recipe).sources(folder, practice=True):
        with progress_bar(f"{source.name} pictures") as tell:
            make_guesses(detector, source, tell)


@app.command()
def contributed(
    folder: Data,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Contributions from 'downfield contribute'.")],
    detector: Annotated[
        str, typer.Option(help="Network whose detections tell which corners are visible: a bundled one or a folder.")
    ] = BUNDLED,
) -> None:
    """Add contributed pictures of real tables as a data set of their own, split by table; each is added once."""
    check_extra("twin", "reading data sets", "mujoco")
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


def _add_trainer(name: str, about: str, *, practice: bool = False, contributed: bool = False) -> None:
    """Add the command that trains one of the networks.

    Args:
        name: name of the command, the checkpoints, the task and, with an underscore, the recipe's schedule.
        practice: also train on the sets where many figures have a ball of their own.
        contributed: also train on contributed pictures, in which not every figure is labeled.
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
        check_extra("train", "training", "torch")
        plan = read_recipe(recipe)
        schedule: Schedule = getattr(plan, name.replace("-", "_"))
        run = _TrainingRun(name, runs / name, schedule, until, finish, start, threads)
        run.execute(plan.sources(folder, practice=practice, contributed=contributed))

    app.command(name, help=f"{about} An interrupted run is resumed from its checkpoint.")(train)


_add_trainer("figure-detector", "Train the figure detector, which finds figures, balls and hands in frames.")
_add_trainer(
    "figure-refiner",
    "Train the figure refiner, which measures each figure in a patch; contributed pictures count where there are any.",
    contributed=True,
)
_add_trainer("ball-detector", "Train the ball detector, which finds ball candidates in frames.", practice=True)
_add_trainer("ball-refiner", "Train the ball refiner, which confirms the ball in a patch.", practice=True)


@app.command()
def export(
    detector: Annotated[Path, typer.Argument(help="Checkpoint of the figure detector (.pt).")],
    out: Annotated[Path, typer.Argument(help="Folder of the network to write.")],
    refiner: Annotated[Path | None, typer.Option(help="Checkpoint of the figure refiner (.pt).")] = None,
    ball_detector: Annotated[Path | None, typer.Option(help="Checkpoint of the ball detector (.pt).")] = None,
    ball_refiner: Annotated[Path | None, typer.Option(help="Checkpoint of the ball refiner (.pt).")] = None,
    train: TrainSets = None,
    val: ValSets = None,
    name: Annotated[str, typer.Option(help="Name of the network.")] = "downfield",
) -> None:
    """Export the networks that the rig runs: ONNX, full and int8, with thresholds set on validation pictures."""
    check_extra("train", "exporting", "torch", "nncf")
    from downfield.training.evaluation.tuning import tune
    from downfield.training.export.networks import export_network

    if refiner is None and (ball_detector is not None or ball_refiner is not None):
        raise InputError("--ball-detector and --ball-refiner need --refiner, whose patches they share")
    if not train or not val:
        raise InputError("give at least one data set with --train and one with --val")
    export_network(detector, refiner, ball_detector, ball_refiner, out, train, name=name, progress=print_stdout)
    tune(out, val, print_stdout)
    print_stdout(f"exported: {out}")


@app.command()
def calibrate(
    network: Annotated[Path, typer.Argument(help="Folder of an exported network; its card is rewritten.")],
    val: Annotated[
        list[Path] | None, typer.Option(help="Data sets whose validation pictures are measured; may be repeated.")
    ] = None,
) -> None:
    """Fit on validation pictures how much each detector and refiner counts, the errors, and the certainty of fronts."""
    check_extra("twin", "reading data sets", "mujoco")
    from downfield.training.evaluation.calibration import calibrate_network

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
    print_stdout(f"{report.pictures} pictures, {report.figures} upright figures")
    card, weights = report.card, report.card.opinions
    if card.second_opinion is not None and weights.detectors is not None:
        shares = [100 * share for share in (weights.front[1], weights.fallen[1])]
        print_stdout(f"second refiner: counts {shares[0]:.0f} % for fronts and {shares[1]:.0f} % for falls")
        print_stdout(f"turned from a logit of {card.turn_logit:g}, fallen from {card.fallen_logit:g}")
        print_stdout(f"figures from a score of {card.figure_threshold:g}")
        if weights.ball is not None:
            own, other, constant = weights.ball
            print_stdout(f"ball: {own:g} x the logit of its networks + {other:g} x the second refiner's {constant:+g}")
    print_stdout(f"corner errors x {sigma:g} (before: {sigma_then:g}), so that 68 % are within one sigma")
    print_stdout(
        f"fronts: log-odds x {odds:g} (before: {odds_then:g}); {100 * sure:.1f} % sure in the mean (before:"
        f" {100 * sure_then:.1f} %), {100 * report.fronts_right:.1f} % right"
    )


@dataclass(frozen=True, slots=True)
class _TrainingRun:
    """One run of training, from a checkpoint if there is one. A finish has its own and leaves the level one.

    Attributes:
        name: key of the task in `TASKS`.
        where: folder of the checkpoints; the finished one is written beside it.
        schedule: samples of the level part and of the finish.
        until: samples seen after which to stop; None for the schedule's.
        finish: bring the learning rate down to zero.
        start: checkpoint to begin from where the folder has none.
        threads: CPU cores to use.
    """

    name: str
    where: Path
    schedule: Schedule
    until: int | None
    finish: bool
    start: Path | None
    threads: int

    def execute(self, sources: Sources) -> None:
        """Train, and write the network after a finish."""
        import torch

        from downfield.training.runs.trainer import TASKS, load_state, save_state, train

        stop_at_signals()
        torch.set_num_threads(self.threads)
        self.where.mkdir(parents=True, exist_ok=True)
        level, descent = self.where / "level.pt", self.where / "finish.pt"
        task = TASKS[self.name]
        state = task.new_state()
        begin = next((each for each in self._checkpoints(level, descent) if each.exists()), None)
        if begin is not None:
            load_state(state, begin)
        elif self.finish:
            raise InputError(f"{level}: no such file. Train without --finish first.")
        if state.descent is not None:
            goal = state.descent[1]
        else:
            goal = self.until or (state.seen + self.schedule.finish if self.finish else self.schedule.level)
        if goal <= state.seen:
            print_stdout(f"already trained on {state.seen} of {goal} samples")
            return
        begun, before = time.monotonic(), state.seen

        def report(seen: int, losses: dict[str, float]) -> None:
            each_ms = (time.monotonic() - begun) / max(seen - before, 1) * 1e3
            parts = "  ".join(f"{name} {value:.3f}" for name, value in losses.items())
            print_stdout(f"{seen:>9} of {goal} samples  {each_ms:.2f} ms each  {parts}")

        kept = descent if self.finish else level
        train(task, state, sources, goal, finish=self.finish, checkpoint=kept, report=report)
        if self.finish:
            save_state(state, self.where.with_suffix(".pt"))
            descent.unlink()
            print_stdout(f"finished: {self.where.with_suffix('.pt')}")

    def _checkpoints(self, level: Path, descent: Path) -> list[Path]:
        """Return the checkpoints to continue from, the preferred one first."""
        given = [] if self.start is None else [self.start]
        return [*([descent] if self.finish else []), level, *given]


add_commands(app)
