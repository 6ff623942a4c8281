"""The catalog: every clause of the four rulebooks, how Downfield deals with it, and which unit does.

The clauses are data, ``catalog/<book>.toml``, in words of this project; numbers and facts are the sources'.
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
    "outside": "outside any system: equipment, weight, information",
}

_DATA = files("downfield.officiating.rulebooks") / "catalog"


@record
class Clause:
    """One clause.

    Attributes:
        topic: what it is about.
        lines: where it stands in the rulebook's text.
        how: how it is dealt with.
        text: what it says, in short.
        by: the unit that does, below `downfield.officiating`; empty for what is outside.
        reading: how it is read where it is open or contradicts another; empty where it is plain.
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
        title: in full.
        prefix: of its clauses' ids.
        clauses: by id, in the order of the text.

    """

    book: str
    title: str
    prefix: str
    clauses: dict[str, Clause]

    def dealt_with(self, how: Disposition) -> tuple[str, ...]:
        """Ids of the clauses dealt with in one way."""
        return tuple(name for name, clause in self.clauses.items() if clause.how == how)


def catalogs() -> tuple[str, ...]:
    """Names of the catalogd systems, sorted."""
    return tuple(sorted(one.name.removesuffix(".toml") for one in _DATA.iterdir() if one.name.endswith(".toml")))


@cache
def catalog(book: str) -> Catalog:
    """The clauses of one system.

    Raises:
        RulebookError: no such system.

    """
    if book not in catalogs():
        raise RulebookError(f"no rulebook is called '{book}'; there are: {', '.join(catalogs())}")
    name = f"{book}.toml"
    return from_data(Catalog, tomllib.loads((_DATA / name).read_text(encoding="utf-8")), path=name)


def unit(clause: Clause) -> object:
    """The code that deals with a clause.

    Raises:
        RulebookError: the clause names none, or one that does not exist.

    """
    module, _, name = clause.by.rpartition(".")
    if not module:
        raise RulebookError(f"{clause.text!r} names no unit")
    try:
        return getattr(importlib.import_module(f"downfield.officiating.{module}"), name)
    except (ImportError, AttributeError):
        raise RulebookError(f"{clause.text!r} names a unit that does not exist: {clause.by}") from None
