"""The kinds of entries of a game's journal: records whose canonical JSON is an entry's content, and how they are read.

A game is a `GameStarted`, then any number of `EventRecorded` and `ScenesRecorded`, and perhaps a `GameEnded`. Judging
the events and scenes once more, in this order, leads to the same game. What else happens at the table, such as commands
and finished files of the recording, is in between. The calls are recorded too, so that a game can
be read without judging it again. A finished game may be reopened: a `GameReopened`, rulings, and a `GameEnded` again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Final, Literal

from downfield.core.errors import FormatError
from downfield.core.field.model import FieldModel
from downfield.core.records import adapter, from_json, record, to_json
from downfield.core.scene import Scene
from downfield.game.records.challenges import (
    ChallengeAppealed,
    ChallengeEntry,
    ChallengeOpinion,
    ChallengeRaised,
    ChallengeRuled,
)
from downfield.game.records.commands import AWAY_SHEET, HOME_SHEET, MatchTicket, TeamSheet
from downfield.game.records.final_score import ScoreSigned
from downfield.officiating.calls import Call
from downfield.officiating.clauses import Clause
from downfield.officiating.engine.engine_state import Snap as Snap
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.installed import load_system
from downfield.officiating.rulebooks.rulebook import Rulebook

MAX_SCENES_BYTES: Final = 64 << 20
"""Limit of one attachment, unpacked; a batch is about a second of scenes, some 300 kB."""


Material = Literal["calibration", "configuration", "network", "rulebook"]
"""What a game is judged with besides its pictures."""


@record
class CommandCarriedOut:
    """A command was carried out."""

    command: str  # its name
    text: str  # what was done
    by: str  # the person or device it came from
    role: str = ""  # of the device


@record
class DeviceChanged:
    """A device was paired, revoked, was paired for too long, or its grant was refused."""

    change: Literal["paired", "revoked", "expired", "refused"]  # what happened to it
    device: str  # its id
    name: str  # as people call it
    role: str  # of the device
    by: str = ""  # who did it; empty where nobody did
    text: str = ""  # why its grant was refused; empty otherwise


@record
class MaterialUsed:
    """The game is judged with something from now on."""

    material: Material  # what it is
    name: str  # for people
    sha256: str  # of its content, hexadecimal


@record
class SegmentSealed:
    """A file of the recording was finished."""

    segment: str  # its folder and name
    files: dict[str, str]  # SHA-256 of the video and of what lies beside it, by name, hexadecimal


TableRecord = CommandCarriedOut | DeviceChanged | MaterialUsed | SegmentSealed


@record
class RulebookRecord:
    """A rulebook as data, house rules included."""

    name: str  # short name, as calls carry it
    title: str  # in full
    system: str  # name of the code it runs on
    values: dict[str, Any]  # parameters by full name, where they differ from the system's
    policies: dict[str, str]  # by call kind, where not `"auto"`
    house_clauses: dict[str, Clause] = field(default_factory=dict)  # a league's own clauses by id


@record
class GameStarted:
    """A game was started, or continues under another rulebook."""

    rulebook: RulebookRecord  # in force from this entry on
    field: FieldModel  # the printed field
    home: TeamSheet = HOME_SHEET  # home, away: the teams
    away: TeamSheet = AWAY_SHEET
    title: str = ""  # of the game
    version: str = ""  # of the program
    certified_yd: tuple[float, float] | None = None  # the error the table was certified to, along, across; or None
    match: MatchTicket | None = None  # of an event, that the game is played for; None for none
    lengths_known: bool = True  # whether lengths in mm were known, not yards alone


@record
class Effects:
    """What an entry changed."""

    calls: tuple[Call, ...] = ()  # made or changed, in order
    withdrawn: tuple[str, ...] = ()  # ids of calls that no longer stand
    set_aside: tuple[str, ...] = ()  # ids of events that no longer apply
    score: tuple[int, int] = (0, 0)  # home, away after it
    text: str = ""  # the state of the game after it, on one line
    snap: Snap | None = None  # a play that began with it
    # ids of calls that now come after all others, in order: a ruling can restore one that was made earlier
    moved: tuple[str, ...] = ()
    plays: tuple[Snap, ...] | None = None  # how all plays began, in order, where a ruling or undo changed that


@record
class EventRecorded:
    """A declaration, a ruling, an undo or a clock tick."""

    event: Event  # the event
    by: str  # the person or device it came from
    effects: Effects  # what it changed


@record
class ScenesRecorded:
    """A batch of scenes, stored in the entry's attachment."""

    count: int  # how many
    first_ns: int  # first_ns, last_ns: times of the first and the last
    last_ns: int
    effects: Effects  # what they changed
    frame: int | None = None  # index of the frame the calls were made at


@record
class GameEnded:
    """The game is over, or was ended to start another, or was closed again after it had been reopened."""

    text: str  # the final state of the game, on one line
    score: tuple[int, int]  # home, away
    by: str = ""  # who closed it; empty where the game ended by itself


@record
class GameReopened:
    """A finished game was reopened for rulings."""

    by: str  # the person or device
    reason: str  # why


Content = (
    GameStarted | EventRecorded | ScenesRecorded | GameEnded | GameReopened | ChallengeEntry | ScoreSigned | TableRecord
)

KINDS: Final[dict[str, type[Content]]] = {
    "game_started": GameStarted,
    "event_recorded": EventRecorded,
    "scenes_recorded": ScenesRecorded,
    "game_ended": GameEnded,
    "game_reopened": GameReopened,
    "challenge_raised": ChallengeRaised,
    "challenge_ruled": ChallengeRuled,
    "challenge_opinion": ChallengeOpinion,
    "challenge_appealed": ChallengeAppealed,
    "score_signed": ScoreSigned,
    "command_carried_out": CommandCarriedOut,
    "device_changed": DeviceChanged,
    "material_used": MaterialUsed,
    "segment_sealed": SegmentSealed,
}

END_KINDS: Final = frozenset(name for name, kind in KINDS.items() if kind is GameEnded)
"""Kinds of entries that end a game: one that has one is never in play again, whatever is added later."""

START_KINDS: Final = frozenset(name for name, kind in KINDS.items() if kind is GameStarted)
"""Kinds of entries that name the rulebook in force from then on."""

SEAL_KIND: Final = next(name for name, kind in KINDS.items() if kind is SegmentSealed)
"""Kind of the entries that seal a file of the recording."""


def unpack_entry(kind: str, content: str, *, where: str) -> Content:
    """Return an entry's content. Raises FormatError: it can't be read: a newer version wrote it, or it was altered."""
    if kind not in KINDS:
        raise FormatError(where, f"unknown kind of entry {kind!r}; a newer version of Downfield may have written it")
    return from_json(KINDS[kind], content, path=where)


def pack_scenes(scenes: Sequence[Scene]) -> bytes:
    """Return scenes as an attachment: zlib over one scene a line."""
    lines = "\n".join(to_json(Scene, scene, defaults=False) for scene in scenes)
    return zlib.compress(lines.encode(), level=1)


def unpack_scenes(attachment: bytes, *, where: str) -> Iterator[Scene]:
    """Yield the scenes of an attachment: zlib over one scene a line. Raises FormatError: it can't be read."""
    unpacker = zlib.decompressobj()
    try:
        lines = unpacker.decompress(attachment, MAX_SCENES_BYTES)
    except zlib.error as error:
        raise FormatError(where, f"the scenes can't be unpacked: {error}") from None
    if unpacker.unconsumed_tail:
        raise FormatError(where, f"the scenes unpack to more than {MAX_SCENES_BYTES >> 20} MB")
    for line in lines.splitlines():
        yield from_json(Scene, line, path=where)


def record_of(rulebook: Rulebook) -> RulebookRecord:
    """Return a rulebook as data."""
    values = json.loads(adapter(dict[str, Any]).dump_json(rulebook.values))
    policies: dict[str, str] = {**rulebook.policies}
    return RulebookRecord(rulebook.name, rulebook.title, rulebook.system.name, values, policies, rulebook.house_clauses)


def rulebook_of(data: RulebookRecord) -> Rulebook:
    """Return the rulebook that data describes. Raises RulebookError: its system, a parameter or clause is unknown."""
    system = load_system(data.system)
    return Rulebook(data.name, data.title, system, data.values, data.policies, data.house_clauses)
