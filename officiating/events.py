"""Events: every input of the rules engine except scenes, and event files (``*.events.jsonl``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from downfield.core.json_lines import JsonLinesFile, write_json_lines
from downfield.core.records import record
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Declaration


@record
class Tick:
    """Time has passed and nothing else has happened."""

    type: Literal["tick"] = "tick"


@record
class Ruling:
    """A person's decision about a call.

    It counts from the instant of the call, not from its own: everything after the call is judged again. Of several
    rulings about one call the latest counts.
    """

    call: str  # id of the call; empty for a call made by hand
    # `"confirm"` the call; `"overturn"` it in favor of `replacement` (or of no call); `"strike"` it as if never made;
    # `"manual"` for a call that the rulebook's code did not make
    decision: Literal["confirm", "overturn", "strike", "manual"]
    replacement: Call | None = None  # the call that stands instead
    note: str = ""  # the reason
    type: Literal["ruling"] = "ruling"


@record
class Undo:
    """A person takes back an event: everything since is judged again without it."""

    event: str  # id of the event: a declaration, a ruling, or an undo, which then never was
    note: str = ""  # the reason
    type: Literal["undo"] = "undo"


Body = Annotated[Declaration | Ruling | Undo | Tick, Field(discriminator="type")]


@record
class Event:
    """One input of the rules engine.

    Events are applied in the order in which they are entered. One that is about an earlier instant than the event
    before it is refused, and so is one that comes more than the rulebook's ``calls.late_s`` after its instant.
    """

    id: str  # unique in its game; an id that was entered before is refused, so sending an event again is safe
    t_ns: int  # the instant it is about, on the game's clock (the capture clock of the tracks)
    origin: Literal["operator", "referee", "league", "clock", "vision", "twin"]  # who or what entered it
    body: Body  # the declaration, ruling, undo or tick


@record
class EventsHeader:
    """First line of an event file."""

    game: str = ""  # name of the game the events belong to
    format: Literal["downfield.events"] = "downfield.events"
    version: Literal[2] = 2


def undone_events(events: Sequence[Event]) -> frozenset[str]:
    """Return the ids of the events that do not count: undone, and not by an undo that was undone itself."""
    undone: set[str] = set()
    for event in reversed(events):  # whatever undoes an undo comes after it
        if isinstance(event.body, Undo) and event.id not in undone:
            undone.add(event.body.event)
    return frozenset(undone)


def read_events(path: Path) -> tuple[EventsHeader, tuple[Event, ...]]:
    """Read an event file.

    Raises:
        InputError: the file can't be read.
        FormatError: its content breaks the format; the message names the line and the field.
    """
    lines = JsonLinesFile(path, EventsHeader, Event)
    return lines.header, tuple(lines)


def write_events(path: Path, header: EventsHeader, events: Iterable[Event]) -> None:
    """Write an event file, whole or not at all. Raises OutputError: the file can't be written."""
    write_json_lines(path, (EventsHeader, header), Event, events)
