"""``downfield archive``: a league's games and recordings in one place, found, checked and judged again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from downfield.cli.console.options import ConfigOption, SetOption
from downfield.cli.console.output import open_console, say, say_aside
from downfield.cli.console.progress import with_progress
from downfield.cli.desk.archive_job import judge, track
from downfield.cli.desk.archive_options import ArchiveArgument, IndexOption, SelectionArgument, select_items
from downfield.core.records import to_json
from downfield.desk.archive.adding import ItemLabels, add_files, addable_files
from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.items import ArchivedItem, item_ids
from downfield.desk.archive.verification import check_item
from downfield.rig.configuration.loading import load, parse_assignments
from downfield.rig.configuration.settings import data_folder
from downfield.rig.trusted_keys import TrustedKeys

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A league's archive: bundles and recordings in a folder or an object store, judged again on many machines.",
)
app.command("judge")(judge)
app.command("track")(track)

_FAULT = 1
"""Exit status where something was refused, altered or failed."""


@app.command()
def add(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILES...", help="Bundles, videos with a calibration beside them, or folders of both."),
    ],
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The archive: a folder, or s3://BUCKET/PATH.")],
    event: Annotated[str, typer.Option(help="The event or season that they belong to.")] = "",
    table: Annotated[str, typer.Option(help="Of recordings: the table they are of.")] = "",
    rulebook: Annotated[str, typer.Option(help="Of recordings: the rulebook they were played under.")] = "",
) -> None:
    """Check bundles and recordings, and add them to an archive. What is there already is left as it is."""
    files = ArchiveFiles.at(to)
    named = [file for path in paths for file in addable_files(path)]
    known = set(item_ids(files))
    refused = 0
    labels = ItemLabels(event, table, rulebook)
    for added in add_files(files, named, labels, known):
        refused += added.state == "refused"
        if added.state == "refused":
            say_aside(f"refused: {added.text}")
        else:
            say(f"{added.path}: {added.text}")
    if refused:
        say_aside(f"{refused} of {len(named)} were refused.")
        raise typer.Exit(_FAULT)


@app.command("list")
def list_items(
    archive: ArchiveArgument,
    selection: SelectionArgument = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each item as a line of JSON.")] = False,
    index: IndexOption = None,
) -> None:
    """List what an archive holds, by its beginning."""
    files = ArchiveFiles.at(archive)
    items = select_items(files, selection or ["all"], index)
    if as_json:
        say(*(to_json(ArchivedItem, item) for item in items))
    elif sys.stdout.isatty():
        table = Table(*_HEADINGS, box=None, padding=(0, 1))
        for item in items:
            table.add_row(*_columns(item))
        open_console(wrap=True).print(table)
    else:
        say(*("  ".join(filter(None, _columns(item))) for item in items))


@app.command()
def verify(
    archive: ArchiveArgument,
    selection: SelectionArgument = None,
    index: IndexOption = None,
    config: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Check every byte and every signature. Exits with status 1 if anything was altered or bears a foreign key."""
    trusted = TrustedKeys.load(data_folder(load(config, command_line=parse_assignments(settings or ())).settings))
    files = ArchiveFiles.at(archive)
    items = select_items(files, selection or ["all"], index)
    bad = 0
    for item in with_progress(items, "Checking", len(items)):
        checked = check_item(files, item, trusted)
        bad += not checked.good
        say(f"{item.short}  {item.game}: {checked.text}")
    say(f"{len(items)} checked, {bad} not in order" if bad else f"{len(items)} checked, all in order")
    if bad:
        raise typer.Exit(_FAULT)


_HEADINGS = ("id", "began (UTC)", "table", "game", "teams", "rulebook", "event", "kind")


def _columns(item: ArchivedItem) -> tuple[str, ...]:
    teams = f"{item.away} at {item.home}" if item.home or item.away else ""
    kind = f"{item.kind}, video" if item.kind == "bundle" and item.video else item.kind
    return item.short, item.began_text, item.table, item.game, teams, item.rulebook, item.event, kind
