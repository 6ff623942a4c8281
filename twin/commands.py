"""`downfield twin`: pictures, films and data sets of the digital twin.

What needs MuJoCo is imported inside: the command's help must not need it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.cli.console.output import say
from downfield.cli.console.progress import progress_bar
from downfield.core.errors import InputError
from downfield.twin.render.renderers import renderer_named
from downfield.twin.render_command import RANDOM, demo, needs_twin, parse_size, render
from downfield.twin.strip_command import strip

app = typer.Typer(no_args_is_help=True, add_completion=False, help="The digital twin of a table.")


@app.callback()
def _root() -> None:
    """The digital twin of a table."""


@app.command()
def dataset(
    out: Annotated[Path, typer.Argument(help="The data set's folder; several splits share one.")],
    count: Annotated[int, typer.Option(help="Pictures in the split.")],
    split: Annotated[str, typer.Option(help="train, val or test; the splits share no seed and no setting.")] = "train",
    seed: Annotated[int, typer.Option(help="Seed of everything drawn.")] = 0,
    renderer: Annotated[str, typer.Option(help="compositor, mujoco or traced.")] = "compositor",
    size: Annotated[str, typer.Option(help="Width x height of the camera's picture, px.")] = "1920x1080",
    scale: Annotated[float, typer.Option(help="Scale at which pictures are drawn, as a share of --size.")] = 1.0,
    crop: Annotated[int, typer.Option(help="Side of square parts cut out around figures, px; 0: whole.")] = 0,
    per_table: Annotated[int, typer.Option(help="Pictures of each drawn table.")] = 4,
    carriers: Annotated[float, typer.Option(help="Share of figures that carry a ball, for training.")] = 0.0,
    strewn: Annotated[float, typer.Option(help="Share of figures with a ball lying near them, for training.")] = 0.0,
    fallers: Annotated[float, typer.Option(help="Share of figures that lie, also near others, for training.")] = 0.0,
    workers: Annotated[int, typer.Option(help="Processes that draw.")] = 1,
    image_format: Annotated[str, typer.Option("--format", help="jpg or png.")] = "jpg",
) -> None:
    """Make pictures with exact labels, for training or evaluation. Run it again after an interruption to continue."""
    if image_format not in ("jpg", "png"):
        raise InputError(f"pictures can't be written as '{image_format}'; there are: jpg, png")
    with needs_twin("making a data set"):
        from downfield.twin.randomization.deck import split_named
        from downfield.twin.sets.dataset import Recipe, make_dataset

        recipe = Recipe(
            split=split_named(split),
            seed=seed,
            renderer=renderer_named(renderer),
            size_px=parse_size(size),
            scale=scale,
            crop_px=crop,
            per_table=per_table,
            carriers=carriers,
            strewn=strewn,
            fallers=fallers,
            image_format="png" if image_format == "png" else "jpg",
        )
        with progress_bar(f"{split} pictures") as tell:
            make_dataset(out, recipe, count, workers=workers, progress=tell)
    say(f"{out}: {count} {split} pictures")


@app.command()
def plays() -> None:
    """List the named plays, each with a summary."""
    with needs_twin("listing the plays"):
        from downfield.twin.plays.library import PLAYS

        for name, make in sorted(PLAYS.items()):
            say(f"{name:24} {make().script.about}")
        say(f"{RANDOM:24} Drawn at random from --seed.")


app.command()(render)
app.command()(demo)
app.command()(strip)
