"""Arguments and options that the commands of an archive share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from downfield.core.errors import InputError
from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.index import open_index
from downfield.desk.archive.items import ArchivedItem
from downfield.desk.archive.selection import parse_selection

ArchiveArgument = Annotated[
    str, typer.Argument(metavar="ARCHIVE", help="The archive: a folder, or an address such as s3://BUCKET/PATH.")
]
SelectionArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SELECTION...",
        help="all; ids of items or games; or conditions: team=, event=, table=, rulebook=, title=, game=, kind=, date=,"
        " since=, until=. Values of one key are alternatives, all keys must hold.",
    ),
]
IndexOption = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="URL",
        help="Keep the index in a database: postgresql://..., or sqlite:///FILE. Default: in memory, made anew.",
    ),
]


def select_items(files: ArchiveFiles, words: Sequence[str], index: str | None) -> tuple[ArchivedItem, ...]:
    """Return the items of an archive that words select, by their beginning.

    Raises:
        InputError: a word is unknown, or nothing is selected.
        StorageError, FormatError, OutputError, MissingExtraError: the archive or its index can't be used.

    """
    selection = parse_selection(words)
    with open_index(files, index) as opened:
        found = tuple(opened.find(selection))
    if not found and selection == parse_selection(()):
        raise InputError(f"{files.shown}: there is no archive here, or it is empty. 'downfield archive add' fills one.")
    if not found:
        raise InputError(f"{files.shown}: holds nothing with {' '.join(words)}")
    return found
