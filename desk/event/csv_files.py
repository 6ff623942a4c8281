"""An event's lists as CSV, for spreadsheets: entrants in and out, schedule, results and standings out.

Text that a spreadsheet would take for a formula is written with an apostrophe before it, taken off when it is read.
"""

from __future__ import annotations

import csv
import io
import re
import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from downfield.core.errors import DownfieldError, InputError
from downfield.core.files.csv_text import as_typed, csv_text
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Entrant, RegisteredFigure
from downfield.desk.event.schedule import slot_times
from downfield.desk.event.standings import pool_standings
from downfield.desk.event.state import TournamentEvent

ENTRANT_COLUMNS: Final = ("coach", "team", "short", "color", "club", "seed")
FIGURE_COLUMNS: Final = ("coach", "number", "position", "grams", "note", "refused")
COLOR: Final = re.compile(r"#[0-9a-fA-F]{6}")
MAX_CSV_CHARACTERS: Final = 1_000_000

_YES: Final = {"yes", "y", "true", "1", "x"}
_NO: Final = {"", "no", "n", "false", "0"}


def read_entrants(text: str, known: Sequence[Entrant]) -> list[Entrant]:
    """Return entrants from CSV with a header; a coach who is registered already is changed, others are added.

    Args:
        text: separated by commas, semicolons or tabs; only the column ``coach`` is needed.
        known: who is registered already.

    Raises:
        InputError: names the line and what is wrong in it.
    """
    by_coach = {entrant.coach.casefold(): entrant for entrant in known}
    out: list[Entrant] = []
    lines: dict[str, int] = {}
    for line, row in _rows(text, ENTRANT_COLUMNS, needed=("coach",)):
        first = lines.setdefault(row["coach"].casefold(), line)
        if first != line:
            raise InputError(f"Line {line}: the coach '{row['coach']}' is in line {first} already.")
        before = by_coach.get(row["coach"].casefold())
        seed = row.get("seed", "")
        if seed and not seed.isdecimal():
            raise InputError(f"Line {line}: the seed '{seed}' is not a number.")
        if row.get("color") and not COLOR.fullmatch(row["color"]):
            raise InputError(f"Line {line}: the color '{row['color']}' is not written like #2f6fb0.")
        given: dict[str, Any] = {name: row[name] for name in ("team", "short", "color", "club") if name in row}
        old = before or Entrant(secrets.token_hex(4), row["coach"])
        try:
            seeded = (int(seed) if seed else None) if "seed" in row else old.seed
            out.append(replace(old, coach=row["coach"], seed=seeded, **given))
        except DownfieldError as error:
            raise InputError(f"Line {line}: {error}.") from None
    return out


def read_figures(text: str, known: Sequence[Entrant]) -> dict[str, tuple[RegisteredFigure, ...]]:
    """Return the rosters from CSV with a header, by entrants' ids. Raises InputError: what is wrong in which line."""
    by_coach = {entrant.coach.casefold(): entrant for entrant in known}
    figures: dict[str, list[RegisteredFigure]] = {}
    for line, row in _rows(text, FIGURE_COLUMNS, needed=("coach", "number")):
        entrant = by_coach.get(row["coach"].casefold())
        if entrant is None:
            raise InputError(f"Line {line}: no coach '{row['coach']}' is registered.")
        refused = row.get("refused", "").casefold()
        if refused not in _YES | _NO:
            raise InputError(f"Line {line}: refused is 'yes' or 'no', not '{refused}'.")
        grams = row.get("grams", "").replace(",", ".")
        try:
            weight, note = float(grams) if grams else None, row.get("note", "")
            found = RegisteredFigure(row["number"], row.get("position", ""), weight, note, refused in _YES)
        except DownfieldError as error:
            raise InputError(f"Line {line}: {error}.") from None
        except ValueError:
            raise InputError(f"Line {line}: '{grams}' is not a weight in grams.") from None
        roster = figures.setdefault(entrant.id, [])
        if any(other.number == found.number for other in roster):
            raise InputError(f"Line {line}: {entrant.coach} has a figure {found.number} already.")
        roster.append(found)
    return {identity: tuple(roster) for identity, roster in figures.items()}


def entrants_csv(event: TournamentEvent) -> str:
    """Return the entrants as CSV that `read_entrants` reads."""
    rows = [
        (entrant.coach, entrant.team, entrant.short, entrant.color, entrant.club, entrant.seed or "")
        for entrant in event.entrants
    ]
    return csv_text(ENTRANT_COLUMNS, rows)


def figures_csv(event: TournamentEvent) -> str:
    """Return the rosters as CSV that `read_figures` reads."""
    rows = [
        (entrant.coach, one.number, one.position, one.grams or "", one.note, "yes" if one.refused else "no")
        for entrant in event.entrants
        for one in entrant.figures
    ]
    return csv_text(FIGURE_COLUMNS, rows)


def games_csv(event: TournamentEvent) -> str:
    """Return every game with its time, table, sides and result as CSV."""
    progress = Progress(event)
    times: dict[int | None, datetime] = dict(enumerate(slot_times(event.clock)))
    rows = []
    for match in event.matches:
        begins = times[match.slot].isoformat(timespec="minutes") if match.slot in times else ""
        result = match.result
        signed_by = "" if result is None else " and ".join(filter(None, result.signed_by))
        points = ("", "", "") if result is None else (result.home, result.away, signed_by)
        sides = progress.text(match.home), progress.text(match.away)
        rows.append((match.id, match.stage.replace("_", " "), match.round, begins, match.table, *sides, *points))
    return csv_text(
        ("game", "stage", "round", "begins", "table", "home", "away", "home points", "away points", "signed by"), rows
    )


def standings_csv(event: TournamentEvent) -> str:
    """Return the standings of every pool as CSV."""
    names = {entrant.id: entrant.name for entrant in event.entrants}
    rows = [
        (
            *(pool, one.place, names[one.entrant], one.won, one.lost, one.tied),
            *(one.points_for, one.points_against, one.decided_by),
        )
        for pool in event.pools
        for one in pool_standings(event, pool)
    ]
    return csv_text(
        ("pool", "place", "team", "won", "lost", "tied", "points for", "points against", "decided by"), rows
    )


def _plain(text: str) -> tuple[str, str]:
    """Return a CSV text with letters composed, and what separates its values: a comma, a semicolon or a tab."""
    text = unicodedata.normalize("NFC", text.removeprefix("\ufeff"))
    head, _, rest = text.lstrip().partition("\n")
    named = head.strip("\r")
    if len(named) == 5 and named.casefold().startswith("sep="):  # as spreadsheets say what separates values
        return rest, named[-1]
    first = next((line for line in text.splitlines() if line.strip()), "")
    return text.lstrip("\r\n"), max(",;\t", key=first.count)


def _rows(text: str, columns: Sequence[str], needed: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV text with their line numbers, by lower-case column."""
    if len(text) > MAX_CSV_CHARACTERS:
        raise InputError("The file is longer than a list of an event can be.")
    if "\0" in text or "\ufffd" in text:
        raise InputError("The file is not text in UTF-8. Save it as 'CSV UTF-8', as spreadsheets call it.")
    text, delimiter = _plain(text)
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter, strict=True)
    try:
        header = [name.strip().casefold() for name in next(reader, [])]
        twice = [name for place, name in enumerate(header) if name and name in header[:place]]
        if twice:
            raise InputError(f"The column '{twice[0]}' occurs twice.")
        missing = [name for name in needed if name not in header]
        if missing:
            raise InputError(f"The first line needs the column '{missing[0]}'. It may have {', '.join(columns)}.")
        unknown = [name for name in header if name and name not in columns]
        if unknown:
            raise InputError(f"There is no column '{unknown[0]}'. The columns are {', '.join(columns)}.")
        out = []
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            while len(cells) > len(header) and not cells[-1].strip():
                cells.pop()  # spreadsheets write columns that once were used
            if len(cells) > len(header):
                raise InputError(f"Line {reader.line_num}: {len(cells)} values in {len(header)} columns.")
            row = {name: as_typed(" ".join(cell.split())) for name, cell in zip(header, cells, strict=False) if name}
            if any(not row.get(name) for name in needed):
                raise InputError(
                    f"Line {reader.line_num}: the {next(name for name in needed if not row.get(name))} is missing."
                )
            out.append((reader.line_num, row))
    except csv.Error as error:
        raise InputError(f"Line {reader.line_num}: the quotation marks do not fit ({error}).") from None
    return out
