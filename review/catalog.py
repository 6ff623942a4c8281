"""The list of all games with how each stands, without reading whole journals, and the search among a game's plays.

What a game's last entries say is enough for its line in the list, and is kept in memory by the digest of the last one:
a journal is only ever appended to, so a game whose head is the same has not changed.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from downfield.core.errors import FormatError
from downfield.core.records import made_of
from downfield.game.published.game_topics import CallView
from downfield.game.published.plays import Play, plain_players
from downfield.game.records.challenges import ChallengeBook, ChallengeCounts, ChallengeEntry, ChallengeView, counts_of
from downfield.game.records.entries import (
    END_KINDS,
    START_KINDS,
    EventRecorded,
    GameEnded,
    GameStarted,
    ScenesRecorded,
    unpack_entry,
)
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.models import TopicModel
from downfield.officiating.call_kinds import CallKind
from downfield.store.database.reader import StoreReader

GameStanding = Literal["in_play", "unfinished", "ended", "reopened"]


@dataclass(frozen=True, slots=True)
class CatalogLimits:
    """Limits of the list."""

    remembered: int = 5_000  # Games whose line is kept in memory, about 1 kB each
    challenges: int = 1_000  # Challenges of one game that are counted
    page: int = 200  # Games read from the store at once while searching


CATALOG_LIMITS: Final = CatalogLimits()

CHALLENGE_KINDS: Final = ("challenge_raised", "challenge_ruled", "challenge_appealed", "challenge_opinion")
REOPENED: Final = "game_reopened"
_STANDS: Final = frozenset({"event_recorded", "scenes_recorded", "game_ended"})
"""Kinds of entries that say how the game stands after them."""


@dataclass(frozen=True, slots=True)
class GameLine:
    """One line of the list."""

    row: GameRow
    rulebook_title: str  # of the rulebook in force; empty where the journal has no start
    ended: bool
    reopened: bool  # whether it is open for rulings again
    score: tuple[int, int]  # home, away
    text: str  # the game on one line, as it stands
    under_review: int  # challenges that are not decided
    entries: int

    def standing(self, in_play: str) -> GameStanding:
        """Return whether it is in play, as the game of that id, open for rulings, over, or none of these."""
        if self.row.id == in_play:
            return "in_play"
        if self.reopened:
            return "reopened"
        return "ended" if self.ended else "unfinished"


@dataclass(frozen=True, slots=True)
class GameSearch:
    """What games are looked for."""

    text: str = ""  # every word of it is in the title, a team's, the rulebook's or the table's name, or the date
    standing: GameStanding | None = None  # only games that stand so; None for all
    under_review: bool = False  # whether only games with an open challenge

    def finds(self, line: GameLine, in_play: str) -> bool:
        """Return whether a game is one of those looked for; `in_play` is the id of the game in play."""
        row = line.row
        date = f"{row.id[:4]}-{row.id[4:6]}-{row.id[6:8]}"
        where = f"{row.id} {date} {row.title} {row.home} {row.away} {row.rulebook} {line.rulebook_title} {row.table}"
        if not all(word in where.casefold() for word in self.text.casefold().split()):
            return False
        if self.under_review and not line.under_review:
            return False
        return self.standing is None or self.standing == line.standing(in_play)


class GameCatalog:
    """Lists the games of a store. Callable from any thread."""

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._lines: OrderedDict[str, tuple[str, GameLine]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, search: GameSearch, *, limit: int, before: str | None = None, in_play: str = "") -> list[GameLine]:
        """Return games, the latest first, that began before one if it is given; `in_play` is the game in play."""
        found: list[GameLine] = []
        for row in self._rows(before, limit if search == GameSearch() else CATALOG_LIMITS.page):
            line = self.line(row)
            if search.finds(line, in_play):
                found.append(line)
                if len(found) == limit:
                    break
        return found

    def line(self, row: GameRow) -> GameLine:
        """Return a game's line; it is read only where its journal has grown."""
        last = next(iter(self._store.latest(row.id)), None)
        head = "" if last is None else last.digest
        with self._lock:
            known, line = self._lines.get(row.id, ("", None))
            if line is not None and known == head:
                self._lines.move_to_end(row.id)
                return line
        line = self._read(row, last)
        with self._lock:
            self._lines[row.id] = (head, line)
            self._lines.move_to_end(row.id)
            while len(self._lines) > CATALOG_LIMITS.remembered:
                self._lines.popitem(last=False)
        return line

    def _rows(self, before: str | None, page: int) -> Iterator[GameRow]:
        while rows := self._store.games(page, before):
            yield from rows
            before = rows[-1].id

    def _read(self, row: GameRow, last: EntryRow | None) -> GameLine:
        turn = next(iter(self._store.latest(row.id, {*END_KINDS, REOPENED})), None)
        reopened = turn is not None and turn.kind == REOPENED
        ended = bool(self._store.latest(row.id, END_KINDS)) if reopened else turn is not None
        stands = last if last is not None and last.kind in _STANDS else None
        stands = stands or next(iter(self._store.latest(row.id, _STANDS)), None)
        score, text = ((0, 0), "") if stands is None else _standing_after(row, stands)
        raised, ruled, appealed = (
            len(self._store.latest(row.id, {kind}, CATALOG_LIMITS.challenges)) for kind in CHALLENGE_KINDS[:3]
        )
        entries = 0 if last is None else last.seq
        return GameLine(row, self._title(row), ended, reopened, score, text, max(0, raised + appealed - ruled), entries)

    def _title(self, row: GameRow) -> str:
        started = next(iter(self._store.latest(row.id, START_KINDS)), None)
        if started is None:
            return ""
        with suppress(FormatError):  # a damaged journal still has a line; its own page says what is wrong with it
            content = unpack_entry(started.kind, started.content, where=f"game {row.id}, entry {started.seq}")
            return content.rulebook.title if isinstance(content, GameStarted) else ""
        return ""


def _standing_after(row: GameRow, entry: EntryRow) -> tuple[tuple[int, int], str]:
    """Return the score and how a game stands after an entry, as it says; one damaged game does not hide the others."""
    try:
        content = unpack_entry(entry.kind, entry.content, where=f"game {row.id}, entry {entry.seq}")
    except FormatError:
        return (0, 0), f"damaged: entry {entry.seq} of its journal can't be read"
    if isinstance(content, EventRecorded | ScenesRecorded):
        return content.effects.score, content.effects.text
    return (content.score, content.text) if isinstance(content, GameEnded) else ((0, 0), "")


GAMES: Final = 500  # Games that are counted, the latest: some seasons of a league


class DisputedCall(TopicModel):
    """A call that was challenged in a game."""

    game: str = Field(description="The game's id.")
    home: str
    away: str
    table: str
    began_ms: int = Field(description="When the game began, ms since 1970.")
    challenge: ChallengeView


class ChallengeStatistics(TopicModel):
    """How challenges were decided."""

    games: int = Field(description="Games with a challenge.")
    all: ChallengeCounts
    by_kind: dict[str, ChallengeCounts] = Field(description='By kind of the challenged call, such as "tackle".')
    disputed: tuple[DisputedCall, ...] = Field(description="Every challenged call, those of the latest game first.")


def challenge_statistics(store: StoreReader) -> ChallengeStatistics:
    """Return how the challenges of a store's games were decided."""
    books: list[tuple[GameRow, ChallengeBook]] = []
    for row in store.games(GAMES):
        book = ChallengeBook()
        for entry in reversed(store.latest(row.id, CHALLENGE_KINDS, CATALOG_LIMITS.challenges)):
            content = unpack_entry(entry.kind, entry.content, where=f"game {row.id}, entry {entry.seq}")
            if isinstance(content, ChallengeEntry):
                book.add(content)
        if book.raised:
            books.append((row, book))
    disputed = tuple(
        made_of(DisputedCall, row, game=row.id, began_ms=row.began_ns // 1_000_000, challenge=view)
        for row, book in books
        for view in reversed(book.views())
    )
    views = [one.challenge for one in disputed]
    kinds = sorted({_kind(view) for view in views})
    by_kind = {kind: counts_of(view for view in views if _kind(view) == kind) for kind in kinds}
    return ChallengeStatistics(games=len(books), all=counts_of(views), by_kind=by_kind, disputed=disputed)


def _kind(challenge: ChallengeView) -> str:
    """Return the kind of the challenged call, with which its id begins."""
    return challenge.call.partition(":")[0]


CallOutcome = Literal["auto", "proposed", "too_close", "confirmed", "overturned", "struck", "by_hand", "noted"]
"""What became of a call: made by itself, waiting as proposed or too close, what a person decided, or only noted."""


@dataclass(frozen=True, slots=True)
class PlaySearch:
    """What plays are looked for; None and empty find all."""

    play: int | None = None  # the play's number
    quarter: int | None = None
    kind: CallKind | None = None
    outcome: CallOutcome | None = None  # what became of a call
    player: str = ""  # a figure of a call, as a roster id or a number
    text: str = ""  # every word of it is in the play's situation or result or in a call

    def of(self, play: Play) -> Play | None:
        """Return a play with those of its calls that are looked for; None where it is not one of those."""
        if self.play not in {None, play.number} or self.quarter not in {None, play.period}:
            return None
        words = self.text.casefold().split()
        about = _plain(" ".join((play.situation, play.result, play.kind, play.carrier or "")))
        left = [word for word in words if word not in about]
        if not (left or self.kind or self.outcome or self.player):
            return play
        calls = tuple(call for call in play.calls if self._finds(call, left))
        struck = tuple(call for call in play.struck if self._finds(call, left))
        return play.model_copy(update={"calls": calls, "struck": struck}) if calls or struck else None

    def _finds(self, call: CallView, words: list[str]) -> bool:
        if self.kind not in {None, call.kind} or self.outcome not in {None, outcome_of(call)}:
            return False
        if self.player and not any(_is_player(self.player, name) for name in call.players):
            return False
        note = "" if call.ruling is None else f"{call.ruling.by} {call.ruling.note}"
        clauses = " ".join(f"{clause.id} {clause.text}" for clause in call.clauses)
        about = _plain(" ".join((call.kind, call.text, clauses, *call.players, note)))
        return all(word in about for word in words)


def outcome_of(call: CallView) -> CallOutcome:
    """Return what became of a call."""
    if call.standing in {"confirmed", "overturned", "struck", "noted"}:
        return call.standing
    if call.standing == "manual":
        return "by_hand"
    if call.verdict == "called":
        return "auto"
    return "noted" if call.verdict == "reported" else call.verdict


def _is_player(wanted: str, name: str) -> bool:
    wanted = wanted.strip().casefold().replace(" ", "-")
    return wanted == name.casefold() or wanted == name.casefold().rpartition("-")[2]


def _plain(text: str) -> str:
    """Return a text as it is searched: names of figures as people say them, kinds without underscores."""
    plain = text.casefold().replace("_", " ")
    return f"{plain} {plain_players(plain)}"
