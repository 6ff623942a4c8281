"""The accounting: every row of the rulebooks is there once, dealt with in one way, by code that names it."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from types import ModuleType

import pytest
from bundled import bundled_rulebooks

from downfield.core.errors import RulebookError
from downfield.officiating.checks.check import Check
from downfield.officiating.clauses import DISPOSITIONS, clauses_dealt_with, clauses_of
from downfield.officiating.rulebooks.installed import load_system
from downfield.officiating.rulebooks.rulebook import load_rulebook

ROWS = {"tap": ("TAP-", 143, 5), "nfl-strategy": ("NFLS-", 91, 0), "efl": ("EFL-", 83, 2), "lions-den": ("LD-", 71, 1)}
"""Per book: prefix, numbered rows, rows about what the text leaves out (G1, G2, ...)."""

OUTSIDE = {
    "tap": {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 19, 76, 143},
    "nfl-strategy": {1},
    "efl": {1, 2},
    "lions-den": {1, 7, 8, 9, 28},
}
"""The only rows no system decides or checks: equipment, weight, information; and Lion's Den's G1, which lists gaps."""

ROW = re.compile(r"\b(TAP|NFLS|EFL|LD)-(G?\d+)((?:(?:\.\.|, )\d{3}\b)*)")
EVERY = [(book, name, clause) for book in bundled_rulebooks() for name, clause in load_system(book).catalog.items()]
DEALT_WITH = [row for row in EVERY if row[2].how != "outside"]


def named(text: str) -> set[str]:
    """Ids a text names: ``TAP-031``, ``TAP-060..062``, ``NFLS-070, 071``."""
    out = set()
    for prefix, first, more in ROW.findall(text):
        out.add(f"{prefix}-{first}")
        last = int(first) if first.isdigit() else 0
        for sign, number in re.findall(r"(\.\.|, )(\d{3})", more):
            numbers = range(last, int(number) + 1) if sign == ".." else [int(number)]
            out |= {f"{prefix}-{n:03}" for n in numbers}
            last = int(number)
    return out


def test_clause_ids_are_parsed_from_docstrings() -> None:
    assert named("TAP-031, and TAP-060..062") == {"TAP-031", "TAP-060", "TAP-061", "TAP-062"}
    assert named("NFLS-070, 071, 077; LD-G1") == {"NFLS-070", "NFLS-071", "NFLS-077", "LD-G1"}


def test_the_catalog_has_every_clause_once() -> None:
    assert tuple(sorted(ROWS)) == bundled_rulebooks()
    for book, (prefix, numbered, gaps) in ROWS.items():
        wanted = [f"{prefix}{n:03}" for n in range(1, numbered + 1)] + [f"{prefix}G{n}" for n in range(1, gaps + 1)]
        assert sorted(load_system(book).catalog) == sorted(wanted)


def test_only_equipment_and_information_are_not_refereed() -> None:
    for book, (prefix, _, _) in ROWS.items():
        wanted = {f"{prefix}{n:03}" for n in OUTSIDE[book]} | ({"LD-G1"} if book == "lions-den" else set())
        assert set(clauses_dealt_with(load_system(book).catalog, "outside")) == wanted


def test_a_clause_has_topic_text_and_place() -> None:
    for book, name, clause in EVERY:
        told = f"{name} of {book}"
        assert clause.text.endswith((".", ")")), told
        assert clause.topic, told
        assert clause.how in DISPOSITIONS, told
        assert bool(clause.by) == (clause.how != "outside"), told
        assert clause.lines or "-G" in name, f"{told} says nowhere where it stands"


@cache
def named_in(module: ModuleType) -> set[str]:
    return named(inspect.getsource(module))


def test_the_code_of_a_clause_cites_it() -> None:
    for book, name, clause in DEALT_WITH:
        module_name, _, attribute = clause.by.rpartition(".")
        by = getattr(importlib.import_module(module_name), attribute)
        if isinstance(by, Check):
            assert name in by.clauses, f"{clause.by} does not name {name}"
            continue
        module = inspect.getmodule(by)
        assert module is not None, clause.by
        system = importlib.import_module(f"downfield.officiating.rulebooks.{book.replace('-', '_')}.system")
        reasons = " ".join(param.reason for param in load_rulebook(book).params.definitions.values())
        assert name in named_in(module) | named_in(system) | named(reasons), f"{clause.by} does not name {name}"


@pytest.mark.parametrize("book", sorted(ROWS))
def test_a_rulebook_has_every_parameter_its_clauses_name(book: str) -> None:
    declared = load_rulebook(book).params.definitions
    for name, clause in load_system(book).catalog.items():
        assert set(clause.params) <= set(declared), f"{name} names parameters that {book} does not have"


def test_checks_cite_only_existing_clauses() -> None:
    rows = {name for _, name, _ in EVERY}
    for module in ("alignment", "backs", "kicks", "jerseys", "movement", "pivots", "timing"):
        for check in vars(importlib.import_module(f"downfield.officiating.checks.{module}")).values():
            if isinstance(check, Check):
                assert set(check.clauses) <= rows, check.name


@pytest.mark.parametrize(
    ("table", "named"),
    [
        (3, "clauses must be a table"),
        ({"RC-1": {"how": "guessed", "text": "Any touch."}}, "clauses.RC-1: how"),
        ({"RC-1": {"how": "measured"}}, "clauses.RC-1: text"),
        ({"RC-1": {"how": "measured", "text": "Any touch.", "txt": ""}}, "clauses.RC-1: txt"),
    ],
)
def test_a_broken_clause_is_refused_by_name(table: object, named: str) -> None:
    with pytest.raises(RulebookError) as raised:
        clauses_of(table)
    assert named in str(raised.value)
