"""`downfield twin`: pictures, films and data sets of the digital twin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from downfield.calibration.errors import InputError
from downfield.twin.dataset import Recipe, make_dataset
from downfield.twin.deck import split_named
from downfield.twin.renderers import renderer_named

app = typer.Typer(no_args_is_help=True, help="The digital twin of a table.")


@app.callback()
def _root() -> None:
    """The digital twin of a table."""


@app.command()
def dataset(
    out: Annotated[Path, typer.Argument(help="The data set's folder; several splits share one.")],
    count: Annotated[int, typer.Option(help="Pictures the split shall have.")],
    split: Annotated[str, typer.Option(help="train, val or test; they share no seed and no setting.")] = "train",
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = 0,
    renderer: Annotated[str, typer.Option(help="compositor, mujoco or blender.")] = "compositor",
    size: Annotated[str, typer.Option(help="Width x height of the camera's picture, px.")] = "1920x1080",
    scale: Annotated[float, typer.Option(help="Draw at this share of that size.")] = 1.0,
    crop: Annotated[int, typer.Option(help="Cut square parts of this side around figures; 0: whole pictures.")] = 0,
    per_table: Annotated[int, typer.Option(help="Pictures of each drawn table.")] = 4,
    workers: Annotated[int, typer.Option(help="Processes that draw.")] = 1,
    image_format: Annotated[str, typer.Option("--format", help="jpg or png.")] = "jpg",
) -> None:
    """Make pictures with exact labels, for training or evaluation. Interrupted, it goes on where it was."""
    if image_format not in ("jpg", "png"):
        raise InputError(f"pictures can't be written as '{image_format}'; there are: jpg, png")
    recipe = Recipe(
        split=split_named(split),
        seed=seed,
        renderer=renderer_named(renderer),
        size_px=_size(size),
        scale=scale,
        crop_px=crop,
        per_table=per_table,
        image_format="png" if image_format == "png" else "jpg",
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars = Progress(*columns, console=Console(stderr=True), transient=True)
    bar = bars.add_task(f"{split} pictures")

    def show(done: int, of: int) -> None:
        bars.start()
        bars.update(bar, completed=done, total=of)

    try:
        make_dataset(out, recipe, count, workers=workers, progress=show)
    finally:
        if bars.live.is_started:
            bars.stop()
    typer.echo(f"{out}: {count} {split} pictures")


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise InputError(f"a size is given as width x height, such as 1920x1080, not '{text}'")
    return int(width), int(height)
