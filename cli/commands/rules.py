"""``downfield rules``: print a rulebook with its clauses by topic and every parameter in force."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from downfield.cli.console.options import JsonOption, completing
from downfield.cli.console.output import open_console, print_error, print_stdout, styled
from downfield.core.errors import RulebookError
from downfield.officiating.clauses import DISPOSITIONS, Clause, clauses_dealt_with
from downfield.officiating.params import Param, Value
from downfield.officiating.rulebooks.installed import installed_rulebooks, load_systems
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.officiating.state.interfaces import RuleSystem


def rules(
    book: Annotated[
        str,
        typer.Argument(
            help="An installed rulebook. Default: list all.",
            show_default=False,
            autocompletion=completing(installed_rulebooks),
        ),
    ] = "",
    house: Annotated[
        Path | None, typer.Option("--house", metavar="FILE", help="A league's .toml file with house rules for it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print a rulebook: every clause with how it is decided, and every parameter with its value and reason."""
    if not book and house is None:
        systems, problems = load_systems()
        named = [{"name": system.name, "title": system.title} for system in systems]
        print_stdout(*(json.dumps(named, indent=2).split("\n") if as_json else _list_rulebooks(systems)))
        print_error(*problems)
        return
    rulebook = _load(book, house)
    if as_json:
        print_stdout(*json.dumps(as_data(rulebook), indent=2, ensure_ascii=False).split("\n"))
    elif sys.stdout.isatty():
        show(rulebook, open_console(wrap=True))
    else:
        print_stdout(*"\n".join(as_text(rulebook)).split("\n"))


_SHOWN: Final = ("default", "unit", "reason", "low", "high", "choices")  # of a parameter, for programs


def as_data(rulebook: Rulebook) -> dict[str, Any]:
    """Return a rulebook as plain data: name, title, clauses and parameters."""
    return {
        "name": rulebook.name,
        "title": rulebook.title,
        "system": rulebook.system.name,
        "clauses": [{"id": name, **dataclasses.asdict(clause)} for name, clause in rulebook.clauses.items()],
        "parameters": [
            {"name": param.name, "value": value, **{name: getattr(param, name) for name in _SHOWN}}
            for param, value in _parameters(rulebook)
        ],
        "policies": rulebook.policies,
    }


def as_text(rulebook: Rulebook) -> Iterator[str]:
    """Yield a rulebook as lines of plain text."""
    yield f"{rulebook.name}: {rulebook.title}"
    yield _summary(rulebook.clauses)
    for topic, in_topic in _by_topic(rulebook.clauses).items():
        yield from ("", topic)
        for name, clause in in_topic:
            yield f"  {name}  [{clause.how}]  {clause.text}"
            if clause.reading:
                yield f"      interpretation: {clause.reading}"
            if clause.amends:
                yield f"      amends: {', '.join(clause.amends)}"
            if clause.params:
                yield f"      parameters: {', '.join(clause.params)}"
            if clause.by:
                yield f"      code: {clause.by}"
    yield from ("", "parameters")
    for param, value in _parameters(rulebook):
        yield f"  {param.name} = {format_value(param, value)}{_default_note(param, value)}"
        yield f"      {param.reason}"


def show(rulebook: Rulebook, console: Console) -> None:
    """Print a rulebook as tables on a terminal."""
    console.print(Text.assemble(styled(rulebook.title, "bold"), styled(f" ({rulebook.name})")))
    console.print(_summary(rulebook.clauses))
    console.print()
    table = Table("clause", "how", "text and interpretation", "lines", box=None, padding=(0, 1), expand=True)
    for topic, in_topic in _by_topic(rulebook.clauses).items():
        table.add_row("", "", styled(topic, "bold"), "")
        for name, clause in in_topic:
            text = [styled(clause.text)]
            if clause.reading:
                text.append(styled(f"interpretation: {clause.reading}", "dim"))
            if clause.amends:
                text.append(styled(f"amends: {', '.join(clause.amends)}", "dim"))
            if clause.params:
                text.append(styled(", ".join(clause.params), "cyan"))
            table.add_row(name, clause.how, Text("\n").join(text), clause.lines)
    console.print(table)
    values = Table("parameter", "value", "reason", box=None, padding=(0, 1), expand=True, title=Text("\nParameters"))
    for param, value in _parameters(rulebook):
        note = _default_note(param, value)
        shown = styled(f"{format_value(param, value)}{note}", "bold" if note else "")
        values.add_row(param.name, shown, param.reason)
    console.print(values)


def _load(book: str, house: Path | None) -> Rulebook:
    if house is None:
        return load_rulebook(book)
    path = str(house) if house.suffix == ".toml" else f"{house.parent}/{house.name}"
    rulebook = load_rulebook(path)
    if book and load_rulebook(book).system.name != rulebook.system.name:
        raise RulebookError(f"{house}: has house rules for {rulebook.system.name}, not for {book}")
    return rulebook


def _list_rulebooks(systems: Iterable[RuleSystem]) -> Iterator[str]:
    for system in systems:
        yield f"{system.name}: {system.title}"
        yield f"    {_summary(system.catalog)}"


def _summary(clauses: Mapping[str, Clause]) -> str:
    counts = {words: len(clauses_dealt_with(clauses, how)) for how, words in DISPOSITIONS.items()}
    return f"{len(clauses)} clauses: {'; '.join(f'{count} {words}' for words, count in counts.items() if count)}"


def _by_topic(clauses: Mapping[str, Clause]) -> dict[str, list[tuple[str, Clause]]]:
    topics: dict[str, list[tuple[str, Clause]]] = defaultdict(list)
    for name, clause in clauses.items():
        topics[clause.topic].append((name, clause))
    return topics


def _parameters(rulebook: Rulebook) -> Iterator[tuple[Param, Value]]:
    for name in sorted(rulebook.params.definitions):
        yield rulebook.params.definitions[name], rulebook.params[name]


def format_value(param: Param, value: Value) -> str:
    """Return a value as people read it, with its unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    unit = f" {param.unit}" if param.unit not in {"", "count"} else ""
    if isinstance(value, int | float):
        return f"{value:g}{unit}"
    if isinstance(value, str):
        return value
    rows = ["/".join(f"{number:g}" for number in row) if isinstance(row, tuple) else row for row in value]
    return (", ".join(rows) or "none") + (unit if rows else "")


def _default_note(param: Param, value: Value) -> str:
    return "" if value == param.default else f" (default {format_value(param, param.default)})"
