"""``downfield score``: keep a game's score by declarations alone, without a camera."""

from __future__ import annotations

import threading
from typing import Annotated

import typer

from downfield.cli.console.options import ConfigOption, LanOption, PortOption, SetOption, TlsOption
from downfield.cli.console.output import open_console
from downfield.cli.console.process_end import end_with_starter, ended_in_order
from downfield.cli.console.terminal import print_access
from downfield.core.errors import InputError
from downfield.core.field.model import load_field
from downfield.game.records.commands import AWAY_SHEET, HOME_SHEET, NewGame, TeamSheet
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper


def score(
    rulebook: Annotated[str | None, typer.Option(help="An installed rulebook, or a league's .toml file.")] = None,
    home: Annotated[str | None, typer.Option(help="The home team of a new game.")] = None,
    away: Annotated[str | None, typer.Option(help="The visiting team of a new game.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Start a new game instead of going on with the last one.")] = False,
    field: Annotated[str, typer.Option(help="The field of a new game: a preset's name, or a .toml file.")] = "ultimate",
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
    game = _new_game(home, away) if new or home or away or rulebook else None
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


def _new_game(home: str | None, away: str | None) -> NewGame:
    return NewGame(home=_team(home, HOME_SHEET, "--home"), away=_team(away, AWAY_SHEET, "--away"))


def _team(name: str | None, sheet: TeamSheet, option: str) -> TeamSheet:
    """Return a team's sheet with its name, shown by its first letters on a score bug."""
    if name is None:
        return sheet
    try:
        short = "".join(name.split())[:3].upper()
        return TeamSheet(name=name, short=short, color=sheet.color, ink=sheet.ink)
    except ValueError:
        raise InputError(f"{option}: a team's name has 1 to 60 printable characters, not {name!r}.") from None
