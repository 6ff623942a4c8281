"""What the entries of a journal say. Each is a record whose canonical JSON is the entry's content.

A game is `Began`, then any number of `Said` (an event, and what followed from it) and `Seen` (scenes that matter, in an
attachment, and the calls made from them), and perhaps `Ended`. Taking the events and scenes once more in this order
leads to the same game; the calls stand there too, so that a game can be read without judging it again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

from downfield.core.errors import FormatError, RulebookError
from downfield.core.field import FieldModel
from downfield.core.records import adapter, from_json, record, to_json
from downfield.core.scene import Scene
from downfield.game.commands import AWAY_SHEET, HOME_SHEET, TeamSheet
from downfield.game.hash_chain import canonical
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Side
from downfield.officiating.engine.play_state import PlayKind
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.rulebooks.systems import SYSTEMS

MOST_SCENES_BYTES: Final = 64 << 20
"""Of one attachment unpacked; a batch is a second or so of scenes, about 300 kB."""


@record
class RulebookData:
    """A rulebook as data, house rules included.

    Attributes:
        name: short name, as calls carry it.
        title: in full.
        system: name of the code it runs on.
        values: parameters by full name, where not as the system has them.
        policies: by call kind, where not ``"auto"``.

    """

    name: str
    title: str
    system: str
    values: dict[str, Any]
    policies: dict[str, str]


@record
class Began:
    """A game began, or goes on under another rulebook.

    Attributes:
        rulebook: in force from here.
        field: the printed field.
        home, away: the teams.
        title: of the game.
        version: of the program.
        certified_yd: the error the table was certified to then, along and across; None when it was not.

    """

    rulebook: RulebookData
    field: FieldModel
    home: TeamSheet = HOME_SHEET
    away: TeamSheet = AWAY_SHEET
    title: str = ""
    version: str = ""
    certified_yd: tuple[float, float] | None = None


@record
class Snap:
    """A play began.

    Attributes:
        kind: of play.
        t_ns: when.
        offense: whose down it is.
        direction: which way along x of the board it goes.
        down, distance_yd, spot_yd: as in football.
        period: 1-based.
        situation: down, distance and spot in words.
        carrier: roster id, None while not known.

    """

    kind: PlayKind
    t_ns: int
    offense: Side
    direction: int
    down: int
    distance_yd: float
    spot_yd: float
    period: int
    situation: str
    carrier: str | None = None


@record
class Followed:
    """What an entry changed.

    Attributes:
        calls: made or changed, in order.
        withdrawn: ids of calls that no longer stand.
        moved: ids of calls that stand behind all others, in order, where a ruling brought back one from before them.
        set_aside: ids of events that no longer make sense.
        score: home, away after it.
        text: the game after it, on one line.
        snap: a play that began with it.

    """

    calls: tuple[Call, ...] = ()
    withdrawn: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    score: tuple[int, int] = (0, 0)
    text: str = ""
    snap: Snap | None = None
    moved: tuple[str, ...] = ()


@record
class Said:
    """Somebody said something.

    Attributes:
        event: what.
        by: who.
        followed: what it changed.

    """

    event: Event
    by: str
    followed: Followed


@record
class Seen:
    """Scenes that matter were seen; they are in the attachment, zlib over one scene a line.

    Attributes:
        count: how many.
        first_ns, last_ns: times of the first and the last.
        followed: what they changed.
        frame: index of the frame the calls were made at.

    """

    count: int
    first_ns: int
    last_ns: int
    followed: Followed
    frame: int | None = None


@record
class Ended:
    """The game is over, or was ended for another.

    Attributes:
        text: the game at the end, on one line.
        score: home, away.

    """

    text: str
    score: tuple[int, int]


Content = Began | Said | Seen | Ended
KINDS: Final[dict[str, type[Content]]] = {"began": Began, "said": Said, "seen": Seen, "ended": Ended}
_NAMES: Final = {kind: name for name, kind in KINDS.items()}


def packed(content: Content) -> tuple[str, str]:
    """An entry's kind and its content as canonical JSON."""
    kind = type(content)
    return _NAMES[kind], canonical(json.loads(to_json(kind, content)))


def unpacked(kind: str, content: str, *, where: str) -> Content:
    """An entry's content.

    Raises:
        FormatError: it can't be read; an entry of a later version, or altered.

    """
    if kind not in KINDS:
        raise FormatError(where, f"no entry is of kind {kind!r}")
    return from_json(KINDS[kind], content, path=where)


def packed_scenes(scenes: Sequence[Scene]) -> bytes:
    """Scenes as an attachment."""
    lines = "\n".join(to_json(Scene, scene, defaults=False) for scene in scenes)
    return zlib.compress(lines.encode(), level=1)


def unpacked_scenes(attachment: bytes, *, where: str) -> Iterator[Scene]:
    """The scenes of an attachment.

    Raises:
        FormatError: it can't be read.

    """
    unpacker = zlib.decompressobj()
    try:
        lines = unpacker.decompress(attachment, MOST_SCENES_BYTES)
    except zlib.error as error:
        raise FormatError(where, f"the scenes can't be unpacked: {error}") from None
    if unpacker.unconsumed_tail:
        raise FormatError(where, f"the scenes unpack to more than {MOST_SCENES_BYTES >> 20} MB")
    for line in lines.splitlines():
        yield from_json(Scene, line, path=where)


def rulebook_data(book: Rulebook) -> RulebookData:
    """A rulebook as data."""
    values = json.loads(adapter(dict[str, Any]).dump_json(book.values))
    return RulebookData(book.name, book.title, book.system.name, values, dict(book.policies))


def rulebook_of(data: RulebookData) -> Rulebook:
    """The rulebook that data describes.

    Raises:
        RulebookError: this program does not know its system or a parameter.

    """
    if data.system not in SYSTEMS:
        raise RulebookError(f"{data.name}: no system is called {data.system!r}; there are {', '.join(sorted(SYSTEMS))}")
    return Rulebook(data.name, data.title, SYSTEMS[data.system], data.values, data.policies)
