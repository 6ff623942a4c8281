"""``downfield score``: keep a game by declarations alone, without a camera; ``card``: read play cards from a photo."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated

import typer

from downfield.calibration.pictures import read_picture
from downfield.cli.console.options import (
    BOOK,
    FIELD,
    ConfigOption,
    JsonOption,
    LanOption,
    PortOption,
    SetOption,
    TlsOption,
)
from downfield.cli.console.output import open_console, print_result, print_stderr
from downfield.cli.console.process_end import end_with_starter, ended_in_order
from downfield.cli.console.terminal import print_access
from downfield.core.errors import InputError
from downfield.core.field.model import load_field
from downfield.game.records.commands import AWAY_SHEET, HOME_SHEET, NewGame, TeamSheet
from downfield.game.strip.card_lines import unread_text, window_lines
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper
from downfield.vision.card_photo import read_card


def score(
    rulebook: Annotated[str | None, BOOK] = None,
    home: Annotated[str | None, typer.Option(help="The home team of a new game.")] = None,
    away: Annotated[str | None, typer.Option(help="The visiting team of a new game.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Start a new game instead of going on with the last one.")] = False,
    field: Annotated[str, FIELD] = "ultimate",
    config: ConfigOption = None,
    settings: SetOption = None,
    port: PortOption = None,
    lan: LanOption = None,
    tls: TlsOption = None,
    until_stdin_closes: Annotated[bool, typer.Option("--until-stdin-closes", hidden=True)] = False,
) -> None:
    """Keep a game's score without a camera, by what is declared on the panel; the last game goes on unless --new."""
    options = {"game.rulebook": rulebook, "service.port": port, "service.lan": lan, "service.tls": tls}
    configuration = load(config, settings, command_line=options)
    sheets = _team(home, HOME_SHEET, "--home"), _team(away, AWAY_SHEET, "--away")
    game = NewGame(home=sheets[0], away=sheets[1]) if new or home or away or rulebook else None
    console = open_console(required=False)
    try:
        with ended_in_order():
            if until_stdin_closes:  # a desk's table: it ends with the desk
                end_with_starter()
            keeper = Scorekeeper(configuration, load_field(field), game)
            try:
                print_access(console, keeper.service)
                began = "goes on" if keeper.resumed else "begins"
                console.print(f"The game {began}: {keeper.game_service.text}")
                console.print("Everything is declared on the panel. Stop with Ctrl-C; the game can go on later.")
                threading.Event().wait()
            finally:
                keeper.close()
    except KeyboardInterrupt:
        console.print("stopped")


def _team(name: str | None, sheet: TeamSheet, option: str) -> TeamSheet:
    """Return a team's sheet with its name, shown by its first letters on a score bug."""
    if name is None:
        return sheet
    try:
        short = "".join(name.split())[:3].upper()
        return TeamSheet(name=name, short=short, color=sheet.color, ink=sheet.ink)
    except ValueError:
        raise InputError(f"{option}: a team's name has 1 to 60 printable characters, not {name!r}.") from None


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
    unread = unread_text(reading)
    print_result(as_json, (f"{end}: {line}" for end, line in windows), windows=windows, unread=unread)
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
