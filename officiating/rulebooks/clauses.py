"""The catalog: every clause of the four rulebooks, how Downfield handles it, and the code that implements it.

The clauses are data in ``catalog/<book>.toml``, paraphrased; the numbers and facts are those of the rulebooks.
"""

from __future__ import annotations

import importlib
import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from downfield.core.errors import RulebookError
from downfield.core.records import from_data, record

Disposition = Literal["measured", "declared", "checked", "outside"]
DISPOSITIONS: dict[Disposition, str] = {
    "measured": "decided by measurement",
    "declared": "decided from a declaration, a roll, a coin or a clock",
    "checked": "checked and reported",
    "outside": "not refereed: equipment, weight, information",
}

_DATA = files("downfield.officiating.rulebooks") / "catalog"


@record
class Clause:
    """One clause of a rulebook.

    Attributes:
        topic: what it is about.
        lines: where it is in the rulebook's text.
        how: how Downfield deals with it.
        text: its content, in short.
        by: the code that implements it, below `downfield.officiating`; empty for clauses that are not refereed.
        reading: how it is interpreted where it is ambiguous or contradicts another clause; else empty.
        params: names of the parameters that change the reading or the number.

    """

    topic: str
    lines: str
    how: Disposition
    text: str
    by: str = ""
    reading: str = ""
    params: tuple[str, ...] = ()


@record
class Catalog:
    """The clauses of one rulebook.

    Attributes:
        book: name of the system.
        title: full name.
        prefix: of its clauses' ids.
        clauses: by id, in the order of the text.

    """

    book: str
    title: str
    prefix: str
    clauses: dict[str, Clause]

    def dealt_with(self, how: Disposition) -> tuple[str, ...]:
        """Return the ids of the clauses that are handled in one way."""
        return tuple(name for name, clause in self.clauses.items() if clause.how == how)


def catalogs() -> tuple[str, ...]:
    """Return the names of the systems in the catalog, sorted."""
    return tuple(sorted(file.name.removesuffix(".toml") for file in _DATA.iterdir() if file.name.endswith(".toml")))


@cache
def catalog(book: str) -> Catalog:
    """Load the clauses of one system.

    Raises:
        RulebookError: no such system.

    """
    if book not in catalogs():
        raise RulebookError(f"No rulebook is named {book!r}. Use one of {', '.join(catalogs())}.")
    name = f"{book}.toml"
    return from_data(Catalog, tomllib.loads((_DATA / name).read_text(encoding="utf-8")), path=name)


def implementation(clause: Clause) -> object:
    """Return the code that implements a clause.

    Raises:
        RulebookError: the clause names none, or one that does not exist.

    """
    module, _, name = clause.by.rpartition(".")
    if not module:
        raise RulebookError(f"Clause {clause.text!r} names no code.")
    try:
        return getattr(importlib.import_module(f"downfield.officiating.{module}"), name)
    except (ImportError, AttributeError):
        raise RulebookError(f"Clause {clause.text!r} names code that does not exist: {clause.by}.") from None
