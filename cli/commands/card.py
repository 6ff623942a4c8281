"""``downfield card``: read the result windows of play cards from a photo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.calibration.pictures import read_picture
from downfield.cli.console.options import JsonOption
from downfield.cli.console.output import print_result, print_stderr
from downfield.core.errors import InputError
from downfield.game.strip.card_lines import unread_text, window_lines
from downfield.vision.card_photo import read_card


def card(
    photo: Annotated[Path, typer.Argument(help="A photo of two play cards over one another, taken from above.")],
    rolls: Annotated[
        str | None, typer.Option(help="The highest roll of each window, such as 20,40,60,80,100.", metavar="R,R,R,R,R")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read the windows of NFL Strategy's play cards from a photo, as lines that the panel takes."""
    ends = _ends(rolls)
    reading = read_card(read_picture(photo))
    if reading.problem:
        raise InputError(f"{photo}: {reading.problem}.")
    windows = list(zip(ends, window_lines(reading), strict=True))
    print_result(as_json, (f"{end}: {line}" for end, line in windows), windows=windows, unread=unread_text(reading))
    unread = unread_text(reading)
    if unread:
        print_stderr(f"{unread}.")


def _ends(rolls: str | None) -> tuple[str, ...]:
    """Return the highest roll of each of the five windows; a question mark each when they are not given."""
    if rolls is None:
        return ("?",) * 5
    ends = [word.strip() for word in rolls.split(",")]
    numbers = [int(end) if end.isdecimal() and len(end) < 4 else 0 for end in ends]
    if len(numbers) != 5 or sorted(set(numbers)) != numbers or not 0 < numbers[0] <= numbers[-1] <= 100:
        raise InputError(f"--rolls: five rising numbers from 1 to 100 are needed, not {rolls!r}.")
    return tuple(ends)
