"""``downfield shadow``: what the machine called in the shadow of a game, against what people declared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from downfield.cli.console.options import ConfigOption, SetOption, check_outputs
from downfield.cli.console.output import open_console, say, say_aside, styled
from downfield.cli.disputes.export import find_game, write_chunks
from downfield.core.errors import InputError
from downfield.review.reports.shadow import CALLS_HEAD, ShadowReport
from downfield.rig.configuration.loading import load, parse_assignments
from downfield.rig.configuration.settings import store_file
from downfield.store.database.opening import open_for_reading


def shadow(
    game: Annotated[str, typer.Argument(help="The game's id, as the list of games shows it; 'last' for the last.")],
    report: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write the report, for print.")] = None,
    config: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Compare the calls made in shadow mode with what people declared: agreements, differences, what was missed."""
    configuration = load(config, command_line=parse_assignments(settings or ())).settings
    with open_for_reading(configuration.store.url or str(store_file(configuration))) as opened:
        if opened.note:
            say_aside(f"downfield: {opened.note}")
        check_outputs(report, inputs=(store_file(configuration),))
        row = find_game(opened.store, game)
        found = ShadowReport(opened.store, row)
    if not found.starts:
        raise InputError(f"{row.id}: was not played in shadow mode. Start the rig with 'downfield run --shadow'.")
    if report is not None:
        write_chunks(report, [found.html().encode()])
        say(f"{report}: {found.summary}")
        return
    console = open_console(wrap=True)
    console.print(styled(f"{row.id}: {found.summary}"))
    lines = Table(*CALLS_HEAD)
    for line in found.calls:
        lines.add_row(*(styled(str(cell)) for cell in line))
    console.print(lines)
