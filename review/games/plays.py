"""The search among the plays of a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from downfield.game.published.game_topics import CallView
from downfield.game.published.plays import Play, plain_players
from downfield.officiating.calls import CallKind

CallOutcome = Literal["auto", "proposed", "too_close", "confirmed", "overturned", "struck", "by_hand", "noted"]
"""What became of a call: made by itself, waiting as proposed or too close, what a person decided, or only noted."""


@dataclass(frozen=True, slots=True)
class PlaySearch:
    """What plays are looked for; None and empty find all.

    Attributes:
        play: the play's number.
        quarter: the period.
        kind: kind of a call.
        outcome: what became of a call.
        player: a figure of a call, as a roster id or a number.
        text: every word of it is in the play's situation or result or in a call.
    """

    play: int | None = None
    quarter: int | None = None
    kind: CallKind | None = None
    outcome: CallOutcome | None = None
    player: str = ""
    text: str = ""

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
