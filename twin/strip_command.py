"""`downfield twin strip`: a filmed game on the strip of NFL Strategy, with its cards and dice."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.cli.console.output import say
from downfield.cli.console.progress import progress_bar
from downfield.core.strip import BUNDLED_STRIP, load_strip
from downfield.twin.render.renderers import renderer_named
from downfield.twin.render_command import needs_twin, parse_size, writable


def strip(
    out: Annotated[Path, typer.Option("--out", "-o", help="Common name of the files: NAME.mp4 and so on.")],
    moves: Annotated[int, typer.Option(min=1, max=200, help="Plays of the game.")] = 6,
    seed: Annotated[int, typer.Option(help="Seed of the strip's look, the game and the noise.")] = 3,
    slip: Annotated[
        int, typer.Option(min=0, help="The play after which the slide is set two yards off at first; 0 for none.")
    ] = 3,
    renderer: Annotated[str, typer.Option(help="compositor, mujoco or traced.")] = "compositor",
    size: Annotated[str, typer.Option(help="Width x height of the picture, px.")] = "1920x1080",
    fps: Annotated[float, typer.Option(min=2, max=60, help="Frames per second.")] = 5.0,
    edition: Annotated[str, typer.Option(help="The strip: a bundled one's name, or a .toml file.")] = BUNDLED_STRIP,
) -> None:
    """Film a game on the strip of NFL Strategy, and write the configuration with which `downfield run` follows it."""
    name = writable(out)
    size_px, drawn_by = parse_size(size), renderer_named(renderer)
    with needs_twin("filming a strip"):
        from downfield.twin.strip.strip_clip import script_of, write_clip
        from downfield.twin.strip.strip_game import play_moves
        from downfield.twin.strip.strip_look import draw_look

        look = draw_look(load_strip(edition), seed, split="test", size=size_px, fps=fps)
        script = script_of(list(play_moves(look.strip, seed, moves)), look.strip, fps=fps, slip=slip, seed=seed)
        with progress_bar("strip") as tell:
            count = write_clip(script, look, name, renderer=drawn_by, fps=fps, seed=seed, progress=tell)
    say(f"{name}.mp4: {count} frames, {count / fps:.1f} s. Follow it with: downfield run --config {name}.toml --once")
