"""Clauses: what a rulebook says, paraphrased, and how Downfield deals with each of its sentences.

Those of an installed rulebook are data in its package's ``clauses.toml``; a league's file has its house rules in a
table of the same form, ``[clauses]``. Calls cite clauses by id.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, Literal

from downfield.core.errors import FormatError, RulebookError
from downfield.core.files.input_files import parse_toml
from downfield.core.records import from_data, record

Disposition = Literal["measured", "declared", "checked", "outside"]
DISPOSITIONS: Final[dict[Disposition, str]] = {
    "measured": "decided by measurement",
    "declared": "decided from a declaration, a roll, a coin or a clock",
    "checked": "checked and reported",
    "outside": "not refereed: equipment, weight, information",
}


@record
class Clause:
    """One clause of a rulebook, or one house rule."""

    how: Disposition  # how Downfield deals with it
    text: str  # its content, in short
    topic: str = "house rules"  # what it is about
    lines: str = ""  # where it is in the rulebook's text; empty for a house rule
    # full name of the code that implements it, such as `downfield.officiating.rules.tackles.Tackle`; empty for clauses
    # that are not refereed, and for house rules, which change what the code of other clauses does
    by: str = ""
    reading: str = ""  # how it is interpreted where it is ambiguous or contradicts another clause; else empty
    params: tuple[str, ...] = ()  # names of the parameters that change the reading or the number
    # ids of the clauses that a house rule changes; a call that cites one of them cites the house rule, too
    amends: tuple[str, ...] = ()


def read_clauses(package: str) -> Mapping[str, Clause]:
    """Return the clauses in a package's ``clauses.toml`` in order, by id. Raises RulebookError: as `clauses_of`."""
    file = files(package) / "clauses.toml"
    try:
        return clauses_of(parse_toml(file.read_text(encoding="utf-8"), str(file)).get("clauses", {}))
    except FormatError as error:
        raise RulebookError(str(error)) from None


def clauses_of(table: Any) -> dict[str, Clause]:
    """Return the clauses of a TOML table by id. Raises RulebookError: names the field that breaks the format."""
    if not isinstance(table, dict):
        raise RulebookError("clauses must be a table with an id for each clause, such as [clauses.RC-1].")
    try:
        return {name: from_data(Clause, data, path=f"clauses.{name}") for name, data in table.items()}
    except FormatError as error:
        raise RulebookError(str(error)) from None


def clauses_dealt_with(clauses: Mapping[str, Clause], how: Disposition) -> tuple[str, ...]:
    """Return the ids of the clauses that are handled in one way."""
    return tuple(name for name, clause in clauses.items() if clause.how == how)
