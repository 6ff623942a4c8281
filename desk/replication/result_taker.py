"""Takes the results of signed games over into the event, as soon as the tournament's store has them.

Both coaches have signed them at a table; their names and the pairing tell which game of the event each decides. What
was taken is kept in the event itself, so a desk that was down looks at every game once when it starts, and one that was
killed in between takes nothing twice.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from downfield.core.errors import DownfieldError, FormatError, RefusedError
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.event.operations import enter_result
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Change, Entrant, Match, Result, TournamentEvent
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.game.records.entries import END_KINDS, unpack_entry
from downfield.game.records.final_score import ScoreSigned, are_complete
from downfield.game.records.keeping import GameRow
from downfield.officiating.declarations import Side
from downfield.rig.tournament.broker import BrokerConnection
from downfield.store.database.reader import StoreReader
from downfield.store.writing.replication import JournalBatch


@dataclass(frozen=True, slots=True)
class SignedGame:
    """A game that both coaches have signed.

    Attributes:
        key: the game's id and the entry that ended it: another one once it is reopened and ended again.
        table: where it was played.
        home, away: the teams' names there.
        score: home and away.
        signed_by: the coaches, home and away.
        notes: what they disagree with; empty where they agree.
    """

    key: str
    table: str
    home: str
    away: str
    score: tuple[int, int]
    signed_by: tuple[str, str]
    notes: tuple[str, ...] = ()

    @property
    def game(self) -> str:
        """The game's id."""
        return self.key.rpartition(":")[0]

    @property
    def text(self) -> str:
        """The game on one line."""
        where = f"{self.table}: " if self.table else ""
        return f"{where}{self.home} {self.score[0]}, {self.away} {self.score[1]}"


def take_signed(event: TournamentEvent, signed: SignedGame, by: Change) -> TournamentEvent:
    """Enter a signed game as the result of the event's game between the same two, each only once.

    Args:
        by: for the audit trail.

    Raises:
        RefusedError: no game of the event is between these two, or several are, or its result stands by now.
    """
    if signed.key in event.taken:
        return event
    match, is_turned = _match_of(event, signed)
    home, away = reversed(signed.score) if is_turned else signed.score
    names = tuple(reversed(signed.signed_by)) if is_turned else signed.signed_by
    result = Result(home, away, signed_by=names, note="; ".join(signed.notes), game=signed.game)
    changed = enter_result(event, match.id, result, by)
    return replace(changed, taken=(*event.taken, signed.key))


def _match_of(event: TournamentEvent, signed: SignedGame) -> tuple[Match, bool]:
    """Return the game of the event, and whether home and away are the other way round there."""
    found = list(_candidates(event, signed))
    again = [one for one in found if one[0].result is not None and one[0].result.game == signed.game]
    ready = [one for one in found if one[0].result is None]
    here = [one for one in ready if one[0].table == signed.table]
    for candidates in (again, here, ready):
        if len(candidates) == 1:
            return candidates[0]
    if ready:
        names = ", ".join(match.id for match, _ in ready)
        raise RefusedError(f"It may be any of {names}. Enter it there.")
    raise RefusedError("The event has no open game between these two. Enter it by hand, or correct the teams' names.")


def _candidates(event: TournamentEvent, signed: SignedGame) -> Iterator[tuple[Match, bool]]:
    entrants = {entrant.id: entrant for entrant in event.entrants}
    progress = Progress(event)
    for match in event.matches:
        home, away = (entrants.get(side or "") for side in progress.sides(match))
        if home is None or away is None or progress.is_needed(match) is not True:
            continue
        straight = _is_called(home, signed.home) and _is_called(away, signed.away)
        turned = _is_called(home, signed.away) and _is_called(away, signed.home)
        if straight != turned:
            yield match, turned


def _is_called(entrant: Entrant, name: str) -> bool:
    """Return whether a team's name at a table is an entrant's: the team's, its short one, or the coach's."""
    names = {text.strip().casefold() for text in (entrant.team, entrant.short, entrant.coach)} - {""}
    return name.strip().casefold() in names


_LOOK_S: Final = 0.5
_RETRY_S: Final = 5.0
_SIGNATURES: Final = 20
"""Signatures of one game that are read; coaches may sign again after a correction."""

_log = logging.getLogger(__name__)


class ResultTaker:
    """Takes results over into an event. Callable from any thread.

    Only games that came to the tournament after the draw count: those of an earlier event between the same two are no
    results of this one.
    """

    def __init__(self, tournament: TournamentStore, keeper: EventKeeper) -> None:
        self._tournament, self._keeper = tournament, keeper
        self._lock = threading.Lock()
        self._ended: set[str] = set()
        self._open: dict[str, tuple[SignedGame, str]] = {}

    def open_games(self) -> list[tuple[SignedGame, str]]:
        """Return the signed games that are no result of the event yet, each with why."""
        with self._lock:
            return list(self._open.values())

    def note(self, batch: JournalBatch) -> None:
        """Note a batch that was stored; a game that it ends is examined soon."""
        if any(entry.kind in END_KINDS for entry in batch.entries):
            with self._lock:
                self._ended.add(batch.game.id)

    async def run(self, _: BrokerConnection) -> None:
        """Take results over whenever a game ends or the event changes, for as long as a connection lasts."""
        seen = ""
        while True:
            revision = self._keeper.revision
            if self._ended or revision != seen:
                try:
                    await asyncio.to_thread(self.take)
                    seen = revision
                except DownfieldError as error:  # the database is away
                    _log.warning("Results could not be taken over: %s", error)
                    await asyncio.sleep(_RETRY_S)
            await asyncio.sleep(_LOOK_S)

    def take(self) -> None:
        """Take the results of all games that were signed since the draw.

        Raises:
            InputError: the store can't be used.
            OutputError: it can't be read, or the event can't be kept.
        """
        with self._lock:
            ended = set(self._ended)
            self._open.clear()
        after = self._after_the_draw()
        if after is None:
            return
        taken = {key.rpartition(":")[0] for key in self._keeper.event.taken}
        reader = self._tournament.reader()
        for game in self._tournament.games_after(after):
            if game.id not in taken or game.id in ended:
                self._take(reader, game)
        with self._lock:
            self._ended -= ended

    def _after_the_draw(self) -> int | None:
        """Return the number of the last game before the draw, noted once; None while nothing is drawn."""
        event = self._keeper.event
        if bool(event.matches) == (event.taken_after is not None):
            return event.taken_after
        after = self._tournament.last_number() if event.matches else None
        self._keeper.change("", "", lambda now, _: replace(now, taken_after=after))
        return after

    def _take(self, reader: StoreReader, game: GameRow) -> None:
        for signed in _signed(reader, game):
            if signed.key in self._keeper.event.taken:
                return
            try:
                self._keeper.change("sign-off", f"took over {signed.text}", partial(_take_signed, signed=signed))
            except RefusedError as error:
                with self._lock:
                    self._open[signed.key] = (signed, str(error))


def _take_signed(event: TournamentEvent, by: Change, *, signed: SignedGame) -> TournamentEvent:
    return take_signed(event, signed, by)


def _signed(reader: StoreReader, game: GameRow) -> Iterator[SignedGame]:
    """Yield a game as both coaches have signed it; nothing where they have not."""
    ends = reader.latest(game.id, END_KINDS)
    if not ends:
        return
    signatures: dict[Side, ScoreSigned] = {}
    try:
        for entry in reversed(reader.latest(game.id, ("score_signed",), _SIGNATURES)):
            content = unpack_entry(entry.kind, entry.content, where=f"{game.id}, entry {entry.seq}")
            if isinstance(content, ScoreSigned):
                signatures[content.side] = content
        end = unpack_entry(ends[0].kind, ends[0].content, where=f"{game.id}, entry {ends[0].seq}")
    except FormatError as error:
        _log.warning("A result could not be read: %s", error)
        return
    score = getattr(end, "score", None)
    if score is None or not are_complete(signatures, score):
        return
    home, away = signatures["home"], signatures["away"]
    notes = tuple(f"{signed.name}: {signed.note}" for signed in (home, away) if signed.note)
    key = f"{game.id}:{ends[0].seq}"
    yield SignedGame(key, game.table, game.home, game.away, score, (home.name, away.name), notes)
