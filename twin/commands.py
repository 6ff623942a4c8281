"""`downfield twin`: a play or a strip filmed, the demonstration made again, labeled data sets, the list of plays.

What needs MuJoCo or scipy is imported inside: the command's help must not need them, and one line says what is lacking.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from downfield.cli.console.output import print_stdout
from downfield.cli.console.progress import progress_bar
from downfield.core.errors import InputError, MissingExtraError, OutputError
from downfield.core.strip import BUNDLED_STRIP, load_strip
from downfield.twin.render.renderers import RendererName, open_renderer, renderer_named

app = typer.Typer(no_args_is_help=True, add_completion=False, help="The digital twin of a table.")

RANDOM = "random"  # name of a play that is drawn at random from its seed

_SMALLEST_PX, _LARGEST_PX = 64, 7680
_DEMO_APPEARANCE, _DEMO_VIEW, _DEMO_SEED = 4, 6, 2025  # the table of one appearance with the camera of another
_DEMO_SIZE = (1920, 1080)
_CRF, _DEMO_CRF = 20, 26  # the demonstration is part of the package


@app.callback()
def _root() -> None:
    """The digital twin of a table."""


@app.command()
def dataset(
    out: Annotated[Path, typer.Argument(help="The data set's folder; several splits share one.")],
    count: Annotated[int, typer.Option(help="Pictures in the split.")],
    split: Annotated[str, typer.Option(help="train, val or test; the splits share no seed and no setting.")] = "train",
    seed: Annotated[int, typer.Option(help="Seed of everything drawn.")] = 0,
    renderer: Annotated[str, typer.Option(help="compositor or traced.")] = "compositor",
    size: Annotated[str, typer.Option(help="Width x height of the camera's picture, px.")] = "1920x1080",
    scale: Annotated[float, typer.Option(help="Scale at which pictures are drawn, as a share of --size.")] = 1.0,
    crop: Annotated[int, typer.Option(help="Side of square parts cut out around figures, px; 0: whole.")] = 0,
    per_table: Annotated[int, typer.Option(help="Pictures of each drawn table.")] = 4,
    carriers: Annotated[float, typer.Option(help="Share of figures that hold a ball of their own, 0..1.")] = 0.0,
    strewn: Annotated[float, typer.Option(help="Share of figures with a ball on the board beside them, 0..1.")] = 0.0,
    fallers: Annotated[float, typer.Option(help="Share of figures that lie, also near others, 0..1.")] = 0.0,
    workers: Annotated[int, typer.Option(help="Processes that draw.")] = 1,
    image_format: Annotated[str, typer.Option("--format", help="jpg or png.")] = "jpg",
) -> None:
    """Make pictures with exact labels, for training or evaluation. Run it again after an interruption to continue."""
    if image_format not in ("jpg", "png"):
        raise InputError(f"pictures can't be written as '{image_format}'; there are: jpg, png")
    with needs_twin("making a data set"):
        from downfield.twin.randomization.deck import split_named
        from downfield.twin.sets.dataset import make_dataset
        from downfield.twin.sets.table_frames import Recipe

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
    print_stdout(f"{out}: {count} {split} pictures")


@app.command()
def plays() -> None:
    """List the named plays, each with a summary."""
    with needs_twin("listing the plays"):
        from downfield.twin.plays.playbook.index import PLAYS

        for name, make in sorted(PLAYS.items()):
            print_stdout(f"{name:24} {make().script.about}")
        print_stdout(f"{RANDOM:24} Drawn at random from --seed.")


if TYPE_CHECKING:
    from downfield.twin.plays.recording import PlayRecording
    from downfield.twin.plays.script import Script
    from downfield.twin.table.appearance import Appearance


@app.command()
def render(
    play: Annotated[str, typer.Argument(help="A named play (see `plays`), 'random', or a script's .toml file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Common name of the files: NAME.mp4 and so on.")],
    renderer: Annotated[str, typer.Option(help="compositor or traced.")] = "compositor",
    size: Annotated[str, typer.Option(help="Width x height of the picture, px.")] = "1280x720",
    fps: Annotated[float | None, typer.Option(help="Frames per second; by default the script's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the play; by default its own.")] = None,
    appearance_seed: Annotated[int, typer.Option(help="Seed of the table, its light, its camera and the noise.")] = 0,
) -> None:
    """Film a play: the clip with its truth files."""
    name = writable(out)
    size_px, drawn_by = parse_size(size), renderer_named(renderer)
    with needs_twin("filming a play"):
        recording = _recorded(play, fps, seed)
        appearance = _appearance(recording, appearance_seed, size_px)
        _film(recording, appearance, drawn_by, name, appearance_seed)


@app.command()
def demo(out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files: demo.mp4 and so on.")]) -> None:
    """Film the plays of the demonstration that `downfield run` shows until a camera is attached."""
    name = writable(out / "demo")
    with needs_twin("filming the demonstration"):
        from downfield.twin.plays.playbook.demo import demo as demo_play

        recording = demo_play().record()
        appearance = _appearance(recording, _DEMO_APPEARANCE, _DEMO_SIZE)
        seen = dataclasses.replace(appearance, camera=_appearance(recording, _DEMO_VIEW, _DEMO_SIZE).camera)
        _film(recording, _calmed(seen), "compositor", name, _DEMO_SEED, crf=_DEMO_CRF)


def parse_size(text: str) -> tuple[int, int]:
    """Parse a picture's size. Raises InputError: it is not width x height, or no picture has that size."""
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise InputError(f"a size is given as width x height, such as 1920x1080, not '{text}'")
    for side in (int(width), int(height)):
        if side % 2 or not _SMALLEST_PX <= side <= _LARGEST_PX:
            raise InputError(f"width and height must be even and {_SMALLEST_PX}..{_LARGEST_PX} px, not {text}")
    return int(width), int(height)


@contextmanager
def needs_twin(purpose: str) -> Iterator[None]:
    """Turn a missing MuJoCo or scipy into a MissingExtraError, which names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mujoco", "scipy"}:
            raise
        raise MissingExtraError("twin", purpose) from None


def _recorded(play: str, fps: float | None, seed: int | None) -> PlayRecording:
    from downfield.twin.plays.ground import load_script
    from downfield.twin.plays.playbook.index import named
    from downfield.twin.plays.playbook.random_play import random_play
    from downfield.twin.plays.recording import play as perform

    if play.endswith(".toml"):
        return perform(_at_rate(load_script(Path(play)), fps), seed or 0)
    if play == RANDOM:
        return perform(_at_rate(random_play(seed or 0), fps), seed or 0)
    known = named(play)
    script = _at_rate(known.script, fps)
    return dataclasses.replace(known, script=script, seed=known.seed if seed is None else seed).record()


def _at_rate(script: Script, fps: float | None) -> Script:
    return script if fps is None else dataclasses.replace(script, fps=fps)


def _appearance(recording: PlayRecording, seed: int, size_px: tuple[int, int]) -> Appearance:
    from downfield.twin.randomization.tables import draw_table

    script = recording.script
    # An appearance that no training picture has: clips are for testing and showing.
    return draw_table(seed, script.players, field=recording.field, split="test", size=size_px, fps=script.fps)


def _calmed(appearance: Appearance) -> Appearance:
    """Return the appearance with a good, well mounted camera."""
    still = dataclasses.replace(appearance.sensor, rolling_ms=8.0, shake_px=0.1, buzz_px=0.25, exposure_ms=4.0)
    even = dataclasses.replace(still, gain=1.0, white_balance=(1.0, 1.0, 1.0), flicker=0.0, vignette=0.12)
    return dataclasses.replace(appearance, sensor=dataclasses.replace(even, noise=1.0, blur_px=0.5, jpeg=95))


def _film(
    recording: PlayRecording, appearance: Appearance, renderer: RendererName, name: Path, seed: int, *, crf: int = _CRF
) -> None:
    from downfield.twin.film.film import film_recording

    drawing = open_renderer(renderer, appearance, recording.script.players)
    with progress_bar(recording.script.name) as tell:
        film_recording(recording, drawing, name, seed=seed, crf=crf, progress=tell)
    seconds = (recording.snapshots[-1].t_ns - recording.snapshots[0].t_ns) * 1e-9
    print_stdout(f"{name}.mp4: {len(recording.snapshots)} frames, {seconds:.1f} s, and its truth beside it")


def writable(out: Path) -> Path:
    """Return the files' common name without ``.mp4``, after a check that they can be written."""
    name = out.with_suffix("") if out.suffix == ".mp4" else out
    try:
        name.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{name}.mp4: can't be written: {error.strerror}") from None
    if not name.name or not os.access(name.parent, os.W_OK):
        raise OutputError(f"{name}.mp4: can't be written: no permission to write in {name.parent}")
    return name


@app.command()
def strip(
    out: Annotated[Path, typer.Option("--out", "-o", help="Common name of the files: NAME.mp4 and so on.")],
    moves: Annotated[int, typer.Option(min=1, max=200, help="Plays of the game.")] = 6,
    seed: Annotated[int, typer.Option(help="Seed of the strip's look, the game and the noise.")] = 3,
    slip: Annotated[
        int, typer.Option(min=0, help="The play after which the slide is set two yards off at first; 0 for none.")
    ] = 3,
    renderer: Annotated[str, typer.Option(help="compositor or traced.")] = "compositor",
    size: Annotated[str, typer.Option(help="Width x height of the picture, px.")] = "1920x1080",
    fps: Annotated[float, typer.Option(min=2, max=60, help="Frames per second.")] = 5.0,
    edition: Annotated[str, typer.Option(help="The strip: a bundled one's name, or a .toml file.")] = BUNDLED_STRIP,
) -> None:
    """Film a game on the strip of NFL Strategy, and write the configuration with which `downfield run` follows it."""
    name = writable(out)
    size_px, drawn_by = parse_size(size), renderer_named(renderer)
    with needs_twin("filming a strip"):
        from downfield.twin.strip.clip import script_of, write_clip
        from downfield.twin.strip.game import play_moves
        from downfield.twin.strip.look import draw_look

        look = draw_look(load_strip(edition), seed, split="test", size=size_px, fps=fps)
        script = script_of(list(play_moves(look.strip, seed, moves)), look.strip, fps=fps, slip=slip, seed=seed)
        with progress_bar("strip") as tell:
            count = write_clip(script, look, name, renderer=drawn_by, fps=fps, seed=seed, progress=tell)
    print_stdout(
        f"{name}.mp4: {count} frames, {count / fps:.1f} s. Follow it with: downfield run --config {name}.toml --once"
    )
