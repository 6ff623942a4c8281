"""How every match came out, made anew of what tables say and persons decided, whatever came first.

A table's game counts for the match that its journal names, by the desk's ticket, or that a person assigned it to, and
only while the same two play that match. One statement decides a match. Where statements contradict, the match has no
result: it waits for the director, and whatever depends on it waits with it. Nothing is lost: what decides no match is
listed with the reason. The order in which anything arrived plays no part: docs/match-identity.md draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import Field

from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Entrant, Match, Result
from downfield.desk.event.state import GameAssignment, MatchDecision, TableGame, TournamentEvent
from downfield.officiating.sides import Side
from downfield.officiating.state.game_state import opponent

WITHDREW: Final = "withdrew"
"""The note of a forfeit that follows by itself; in ``over`` of a decision that takes such a forfeit away."""

_FORFEIT_POINTS: Final = 2  # What a forfeit counts in the points of a pool, as in football

Sides = tuple[str | None, str | None]
WaitingKind = Literal["dispute", "unmatched", "unsigned", "displaced", "extra"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What can be done about something that waits, in one step."""

    text: str
    match: str  # it is about; empty to count a game for none
    result: Result | None = None  # to be entered; None to assign the game
    turned: bool = False  # whether the table's home is away in the match


_ASIDE: Final = Choice("Put it aside", "")


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something that waits for the director."""

    # a match stopped by a contradiction; a game that fits no match, was not signed by both, was played by others than
    # now play its match, or is played beside a decided match
    kind: WaitingKind
    match: Annotated[str, Field(description="Empty where that is not known.")]
    game: Annotated[str, Field(description="Id of a table's game; empty for what was entered by hand.")]
    text: Annotated[str, Field(description="What it is: the table, the teams and the score.")]
    reason: Annotated[str, Field(description="Why it waits, and what to do.")]
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcomes:
    """An event with its results, and what waits for the director."""

    event: TournamentEvent
    waiting: tuple[Waiting, ...]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A table's game that names a match, with the points as the match has its sides."""

    game: TableGame
    match: str
    sides: Sides
    turned: bool

    def result(self, score: tuple[int, int] | None = None) -> Result:
        game = self.game
        home, away = score or game.score
        names, won = game.signed_by, game.overtime_winner
        if self.turned:
            home, away, names = away, home, names[::-1]
            won = None if won is None else opponent(won)
        protested, note = bool(game.notes), "; ".join(game.notes)
        return Result(home, away, won is not None, None, names, note, game.game, protested, won)


def outcomes(event: TournamentEvent) -> Outcomes:
    """Return an event with its results made anew, and what waits for the director."""
    bare = replace(event, matches=tuple(replace(match, result=None, dispute="", game="") for match in event.matches))
    settling = _Settling(bare)
    matches = tuple(settling.settle(match) for match in bare.matches)
    settling.note_rest()
    return Outcomes(replace(event, matches=matches), tuple(settling.waiting))


def settled(event: TournamentEvent) -> TournamentEvent:
    """Return an event with its results made anew."""
    return outcomes(event).event


def in_play(event: TournamentEvent) -> dict[str, TableGame]:
    """Return the games that are being played now, by the ids of the matches that they were started for."""
    found: dict[str, TableGame] = {}
    for claim in _claims(event)[0]:
        if claim.game.state == "in_play":
            found.setdefault(claim.match, claim.game)
    return found


def known_keys(event: TournamentEvent, match: Match) -> tuple[str, ...]:
    """Return the keys of what is known of a match by now: a decision made over them is not contradicted by them."""
    claims, _ = _claims(event)
    keys = tuple(claim.game.key for claim in claims if claim.match == match.id)
    forfeited = match.result is not None and match.result.note == WITHDREW and match.result.forfeited_by is not None
    return (*keys, WITHDREW) if forfeited else keys


def is_called(entrant: Entrant, name: str) -> bool:
    """Return whether a team's name at a table is an entrant's: the team's, its short one, or the coach's."""
    names = {text.strip().casefold() for text in (entrant.team, entrant.short, entrant.coach)} - {""}
    return name.strip().casefold() in names


def _claims(event: TournamentEvent) -> tuple[list[_Claim], list[tuple[TableGame, str]]]:
    """Return the games that name a match of the draw, and those that name none, each with why."""
    assigned = {assignment.game: assignment for assignment in event.assignments}
    claims: list[_Claim] = []
    rest: list[tuple[TableGame, str]] = []
    for game in sorted(event.games.values(), key=lambda game: game.game):  # in one order, whatever came first
        found = _claim(event, game, assigned.get(game.game))
        if isinstance(found, _Claim):
            claims.append(found)
        elif found:
            rest.append((game, found))
    return claims, rest


def _claim(event: TournamentEvent, game: TableGame, assignment: GameAssignment | None) -> _Claim | str:
    """Return what a game claims; a text says why it claims nothing, empty where a person said so."""
    if assignment is not None and (assignment.draw == event.draw or not assignment.match):
        if not assignment.match:
            return ""
        return _Claim(game, assignment.match, assignment.sides, assignment.turned)
    ticket = game.ticket
    if ticket is None:
        return "It was started at the table without a match of this event."
    if ticket.draw != event.draw or all(match.id != ticket.match for match in event.matches):
        return f"It was started for {ticket.match} of a draw that was undone, or of another event."
    called = [name.strip().casefold() for name in (game.home, game.away)]
    wanted = [name.strip().casefold() for name in ticket.names]
    if called not in (wanted, wanted[::-1]):
        return f"It was started for {ticket.match}, but its teams were renamed at the table."
    return _Claim(game, ticket.match, ticket.sides, called != wanted)


class _Settling:
    """Settles an event's matches, as if nothing was played, in order: each after those that decide its sides."""

    def __init__(self, event: TournamentEvent) -> None:
        self._event = event
        self._progress = Progress(event)
        self._gone = {entrant.id for entrant in event.entrants if entrant.withdrawn}
        self._names = {entrant.id: entrant.name for entrant in event.entrants}
        claims, self._rest = _claims(event)
        self._claims = {match.id: [claim for claim in claims if claim.match == match.id] for match in event.matches}
        self._decisions = {
            match.id: [one for one in event.decisions if (one.draw, one.match) == (event.draw, match.id)]
            for match in event.matches
        }
        self._open: list[Match] = []
        self.waiting: list[Waiting] = []

    def settle(self, match: Match) -> Match:
        """Return a match as it came out, and note what waits about it."""
        sides = self._progress.sides(match)
        decision = self._decision(match, sides)
        claims = []
        for claim in self._claims[match.id]:
            fitting = _fitting(claim, sides)
            if fitting is None or self._progress.is_needed(match) is not True:
                self._note_displaced(match, claim, sides)
            else:
                claims.append(fitting)
        if None not in sides and self._progress.is_needed(match) is True:
            match = self._decided(match, sides, decision, claims)
        self._note_entered(match, decision, sides)
        self._progress.note(match)
        if match.result is None:
            self._open.append(match)
        return match

    def _decided(self, match: Match, sides: Sides, decision: MatchDecision | None, claims: Sequence[_Claim]) -> Match:
        over = () if decision is None else decision.over
        new = [claim for claim in claims if claim.game.key not in over]
        signed = [claim for claim in new if claim.game.state == "signed"]
        statements = [("entered by hand", decision.result)] if decision is not None and decision.result else []
        statements += [(f"signed at {claim.game.table or 'a table'}", claim.result()) for claim in signed]
        changed = [claim for claim in new if claim.game.state in {"reopened", "corrected"}]
        reasons, choices = [_changed_text(claim) for claim in changed], []
        for claim in changed:
            if claim.game.signed is not None:
                choices.append(_choice(match, "Keep what was signed", claim.result(claim.game.signed)))
            if claim.game.state == "corrected":
                choices.append(_choice(match, "Take what it was closed at", claim.result()))
        if len({(result.home, result.away, result.winner) for _, result in statements}) > 1:
            reasons.append(
                f"There are {len(statements)} results: " + "; ".join(_said(*one) for one in statements) + "."
            )
        if reasons or len(statements) > 1:
            choices += [_choice(match, f"Take what was {text}", result) for text, result in statements]
        result = statements[-1][1] if statements and not reasons else None
        if result is not None and len(statements) > 1 and statements[0][0] == "entered by hand":
            result = replace(result, overtime=result.overtime or statements[0][1].overtime)
        if result is not None and match.stage != "pool" and result.winner is None:
            reasons.append("It ended in a tie, and it decides who goes on. Have overtime played, or enter who won.")
            result, choices = None, []
        playing = [claim for claim in claims if claim.game.state == "in_play"]
        if result is None and not reasons and self._gone & set(sides) and WITHDREW not in over:
            by: Side = "home" if sides[0] in self._gone else "away"
            points = (0, _FORFEIT_POINTS) if by == "home" else (_FORFEIT_POINTS, 0)
            result = Result(*points, forfeited_by=by, note=WITHDREW)
        if reasons:
            title = f"{match.id}: {self._pair(sides)}"
            self._add("dispute", match, "", title, " ".join(reasons) + " Decide it.", choices)
        if len(playing) > 1 or (playing and result is not None and result.note != WITHDREW):
            self._note_extra(match, playing, result)
        if result is None and not reasons:
            self._note_unsigned(match, claims, over)
        shown = [
            *playing,
            *(claim for claim in claims if result is not None and claim.game.game == result.game),
            *claims,
        ]
        return replace(match, result=result, dispute=" ".join(reasons), game=shown[0].game.game if shown else "")

    def _decision(self, match: Match, sides: Sides) -> MatchDecision | None:
        """Return the latest decision about a match that was made for the two who play it."""
        for decision in reversed(self._decisions[match.id]):
            if decision.sides == sides:
                return decision
            if decision.sides == sides[::-1]:
                return replace(decision, sides=sides, result=_turned(decision.result))
        return None

    def _note_extra(self, match: Match, playing: Sequence[_Claim], result: Result | None) -> None:
        where = " and at ".join(claim.game.table or "a table" for claim in playing)
        reason = f"It is being played at {where}"
        reason += ", though it is decided. " if result is not None else ": twice. "
        for claim in playing:
            text = "End that game, or remove the result." if result is not None else "Only one of them may be signed."
            self._add("extra", match, claim.game.game, claim.game.text, reason + text, (_ASIDE,))

    def _note_unsigned(self, match: Match, claims: Sequence[_Claim], over: Sequence[str]) -> None:
        for claim in claims:
            if claim.game.state == "ended" and claim.game.key not in over:
                reason = f"It was played for {match.id}, and both coaches did not sign it. Enter it, or play it again."
                choices = (_choice(match, "Enter it", claim.result()), _ASIDE)
                self._add("unsigned", match, claim.game.game, claim.game.text, reason, choices)

    def _note_displaced(self, match: Match, claim: _Claim, sides: Sides) -> None:
        played, now = self._pair(claim.sides), self._pair(sides)
        if self._progress.is_needed(match) is False:
            reason = f"{match.id}, for which it was played, is not needed any more."
        elif None in sides:
            reason = f"It was played for {match.id}, {played}; who plays that is not decided now."
        else:
            reason = f"It was played for {match.id} by {played}; now {now} play that."
        reason += " It counts again if that is turned back; otherwise put it aside."
        self._add("displaced", match, claim.game.game, claim.game.text, reason, (_ASIDE,))

    def _note_entered(self, match: Match, decision: MatchDecision | None, sides: Sides) -> None:
        last = self._decisions[match.id][-1] if self._decisions[match.id] else None
        if last is None or last.result is None or decision is not None or match.result is not None:
            return
        text = f"{match.id}, {self._pair(last.sides)}: {last.result.home} to {last.result.away}"
        now = self._pair(sides) if None not in sides else "who plays it is not decided"
        reason = f"It was entered for these two; now: {now}. It counts again if that is turned back."
        self._add("displaced", match, "", text, reason, ())

    def note_rest(self) -> None:
        """Note the games that name no match."""
        for game, why in self._rest:
            if game.state == "in_play":
                continue
            choices = [*self._candidates(game), _ASIDE]
            todo = " Count it for a match, or for none." if len(choices) > 1 else " Enter it by hand, or put it aside."
            self.waiting.append(Waiting("unmatched", "", game.game, game.text, why + todo, tuple(choices)))

    def _candidates(self, game: TableGame) -> list[Choice]:
        """Return the open matches between two who are called as the teams of a game are."""
        entrants = {entrant.id: entrant for entrant in self._event.entrants}
        found = []
        for match in self._open:
            home, away = (entrants.get(side or "") for side in self._progress.sides(match))
            if home is None or away is None:
                continue
            straight = is_called(home, game.home) and is_called(away, game.away)
            turned = is_called(home, game.away) and is_called(away, game.home)
            if straight != turned:
                found.append(Choice(f"Count it for {match.id}", match.id, turned=turned))
        return found

    def _add(
        self, kind: WaitingKind, match: Match, game: str, text: str, reason: str, choices: Sequence[Choice]
    ) -> None:
        unique = tuple(dict.fromkeys(choices))
        self.waiting.append(Waiting(kind, match.id, game, text, reason, unique))

    def _pair(self, sides: Sides) -> str:
        return " against ".join(self._names.get(side or "", "somebody") for side in sides)


def _fitting(claim: _Claim, sides: Sides) -> _Claim | None:
    """Return a claim for the two who play a match, whoever is home; None where it was made for others."""
    if claim.sides == sides and None not in sides:
        return claim
    if claim.sides == sides[::-1] and None not in sides:
        return replace(claim, sides=sides, turned=not claim.turned)
    return None


def _turned(result: Result | None) -> Result | None:
    if result is None:
        return None
    by = None if result.forfeited_by is None else opponent(result.forfeited_by)
    won = None if result.overtime_winner is None else opponent(result.overtime_winner)
    home, away, signed_by = result.away, result.home, result.signed_by[::-1]
    return replace(result, home=home, away=away, signed_by=signed_by, forfeited_by=by, overtime_winner=won)


def _changed_text(claim: _Claim) -> str:
    game = claim.game
    signed = "" if game.signed is None else f" after it was signed {game.signed[0]} to {game.signed[1]}"
    why = f" ({game.why})" if game.why else ""
    where, names = game.table or "A table", f"{game.home} against {game.away}"
    if game.state == "reopened":
        return f"{where} has reopened {names}{signed}{why}."
    return f"{where} has closed {names} at {game.score[0]} to {game.score[1]}{signed}{why}."


def _said(text: str, result: Result) -> str:
    forfeit = "" if result.forfeited_by is None else ", a forfeit"
    return f"{result.home} to {result.away}{forfeit}, {text}"


def _choice(match: Match, text: str, result: Result) -> Choice:
    return Choice(f"{text}: {result.home} to {result.away}", match.id, result)
