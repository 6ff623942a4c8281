"""Results of games that both coaches have signed at a table, and the game of the event that each decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from downfield.core.errors import RefusedError
from downfield.desk.event.operations import enter_result
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Change, Entrant, Match, Result, TournamentEvent


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
        event: as it stands.
        signed: the game.
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
