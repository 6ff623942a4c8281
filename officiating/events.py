"""Events: every input of the engine but scenes, and their file, ``*.events.jsonl``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from downfield.core.json_lines import JsonLinesFile, write_json_lines
from downfield.core.records import record
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Declaration


@record
class Tick:
    """Time has passed without anything else to say so."""

    type: Literal["tick"] = "tick"


@record
class Ruling:
    """A person's decision about a call.

    Attributes:
        call: id of the call; empty for a call made by hand.
        decision: ``"confirm"`` it, ``"overturn"`` it for what `replacement` says (or for no call), ``"strike"`` it
            as if never made, or ``"manual"`` for a call the system did not make.
        replacement: the call that stands instead.
        note: why.

    """

    call: str
    decision: Literal["confirm", "overturn", "strike", "manual"]
    replacement: Call | None = None
    note: str = ""
    type: Literal["ruling"] = "ruling"


@record
class Undo:
    """A person takes back an event: all since is as if it had never come in.

    Attributes:
        event: its id; a declaration's or a ruling's.
        note: why.

    """

    event: str
    note: str = ""
    type: Literal["undo"] = "undo"


Body = Annotated[Declaration | Ruling | Undo | Tick, Field(discriminator="type")]


@record
class Event:
    """One input.

    Attributes:
        id: unique in its game.
        t_ns: when it holds, on the game's injected clock (the capture clock of the tracks).
        origin: who says so.
        body: what.

    """

    id: str
    t_ns: int
    origin: Literal["operator", "referee", "league", "clock", "vision", "twin"]
    body: Body


@record
class EventsHeader:
    """First line of an event file.

    Attributes:
        game: what the events belong to.

    """

    game: str = ""
    format: Literal["downfield.events"] = "downfield.events"
    version: Literal[2] = 2


def read_events(path: Path) -> tuple[EventsHeader, tuple[Event, ...]]:
    """Read an event file.

    Raises:
        InputError: it can't be read.
        FormatError: its content breaks the format; names the line and the field.

    """
    lines = JsonLinesFile(path, EventsHeader, Event)
    return lines.header, tuple(lines)


def write_events(path: Path, header: EventsHeader, events: Iterable[Event]) -> None:
    """Write an event file, whole or not at all.

    Raises:
        OutputError: the place can't be written.

    """
    write_json_lines(path, (EventsHeader, header), Event, events)
