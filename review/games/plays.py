"""The plays of a game with their results in plain words, and the search among them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from downfield.game.published.game_topics import CallView
from downfield.game.published.game_views import clock_text
from downfield.game.records.entries import Snap
from downfield.officiating.calls import CallKind
from downfield.store.history import History, PlayDetails

CallOutcome = Literal["auto", "proposed", "too_close", "confirmed", "overturned", "struck", "by_hand", "noted"]
"""What became of a call: made by itself, waiting as proposed or too close, what a person decided, or only noted."""

_SCORES: Final[tuple[CallKind, ...]] = ("touchdown", "safety", "field_goal", "extra_point", "two_point")
_CHANGES: Final[tuple[CallKind, ...]] = ("interception", "fumble_recovery", "turnover_on_downs")
_DEAD_BALL: Final[tuple[CallKind, ...]] = (
    "incomplete", "out_of_bounds", "sack", "tackle", "down_by_fall", "stopped", "touchback", "kick", "penalty",
)  # fmt: skip
_WITH_GAIN: Final = frozenset({"out_of_bounds", "sack", "tackle", "down_by_fall", "stopped"})
"""Calls that end a run or a catch where the ball is spotted."""

_LEAST_GAIN_YD: Final = 0.5
"""Less than this is no gain: the spots of a chain are not told finer by people either."""

_ENDINGS: Final[dict[CallKind, str]] = {
    "turnover_on_downs": "turnover on downs",
    "incomplete": "incomplete pass",
    "out_of_bounds": "out of bounds",
    "down_by_fall": "down by a fall",
    "fumble_recovery": "fumble recovered",
}
_PLAYER: Final = re.compile(r"\b(dark|light)-(\d+)")


class ReviewedPlay(PlayDetails):
    """One play with its result."""

    clock: str = Field(description='Time left at the snap, such as "4:07"; empty without a clock.')
    gain_yd: float | None = Field(description="Of a run or a catch that ended on the field; null for other plays.")
    result: str = Field(description="What came of it in plain words.")
    struck: tuple[CallView, ...] = Field(description="Calls that a ruling took away.")


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

    def of(self, play: ReviewedPlay) -> ReviewedPlay | None:
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


def reviewed_plays(history: History) -> list[ReviewedPlay]:
    """Return every play of a game, in order; calls from before the first snap are with the first play."""
    plays, snaps = history.plays(), history.snaps()
    snaps_ns = [snap.t_ns for snap in snaps]
    calls, struck = _by_play(history.calls(), snaps_ns), _by_play(history.struck(), snaps_ns)
    reviewed = []
    for play, snap, own, gone in zip(plays, snaps, calls, struck, strict=True):
        standing = [call for call in own if _is_in_force(call)]
        ending = _ending(standing)
        gain_yd = _gain_yd(snap, ending)
        known = play.model_dump(exclude={"calls"})
        reviewed.append(
            ReviewedPlay(
                **known,
                calls=own,
                struck=gone,
                clock=clock_text(snap.clock_s),
                gain_yd=gain_yd,
                result=_result(play, own, ending, gain_yd, standing),
            )
        )
    return reviewed


def _by_play(calls: list[CallView], snaps_ns: list[int]) -> list[tuple[CallView, ...]]:
    """Return the calls of each play, from its snap to the next."""
    found: list[list[CallView]] = [[] for _ in snaps_ns]
    for call in calls if snaps_ns else ():
        found[max(0, bisect_right(snaps_ns, call.t_ns) - 1)].append(call)
    return [tuple(own) for own in found]


def _is_in_force(call: CallView) -> bool:
    if call.standing in {"confirmed", "overturned", "manual"}:
        return True
    return call.standing == "stands" and call.verdict == "called"


def _ending(standing: list[CallView]) -> CallView | None:
    """Return the call that says what came of a play: a score before a change of possession before a dead ball."""
    for kinds in (_SCORES, _CHANGES, _DEAD_BALL):
        found = next((call for call in reversed(standing) if call.kind in kinds), None)
        if found is not None:
            return found
    return None


def _gain_yd(snap: Snap, ending: CallView | None) -> float | None:
    if ending is None or ending.kind not in _WITH_GAIN or ending.spot_yd is None or snap.kind != "scrimmage":
        return None
    return round((ending.spot_yd[0] - snap.spot_yd) * snap.direction, 1)


def _result(
    play: PlayDetails,
    calls: tuple[CallView, ...],
    ending: CallView | None,
    gain_yd: float | None,
    standing: list[CallView],
) -> str:
    waiting = sum(call.standing == "open" for call in calls)
    questions = f"{waiting} call{'s' if waiting > 1 else ''} to be ruled on" if waiting else ""
    if ending is None:
        return questions[:1].upper() + questions[1:] or ("Under way" if play.state == "under way" else "No call")
    parts = [_ending_words(ending)]
    if gain_yd is not None:
        parts.append(_gain_words(gain_yd))
    if any(call.kind == "first_down" for call in standing):
        parts.append("first down")
    if ending.kind != "penalty" and any(call.kind == "penalty" for call in standing):
        parts.append("penalty")
    if questions:
        parts.append(questions)
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def _ending_words(call: CallView) -> str:
    if call.kind == "tackle":
        by = [_PLAYER.sub(r"\1 \2", name) for name in call.players[1:2]]
        return f"tackled by {by[0]}" if by else "tackled"
    if call.kind in {"field_goal", "extra_point", "two_point"}:
        name = "two-point try" if call.kind == "two_point" else call.kind.replace("_", " ")
        return f"{name} {call.detail.replace('_', ' ')}".rstrip()
    if call.kind in {"kick", "penalty"}:
        return _PLAYER.sub(r"\1 \2", call.text)
    return _ENDINGS.get(call.kind, call.kind.replace("_", " "))


def _gain_words(gain_yd: float) -> str:
    if abs(gain_yd) < _LEAST_GAIN_YD:
        return "no gain"
    yards = f"{abs(gain_yd):.0f} yard{'' if round(abs(gain_yd)) == 1 else 's'}"
    return f"gain of {yards}" if gain_yd > 0 else f"loss of {yards}"


def _is_player(wanted: str, name: str) -> bool:
    wanted = wanted.strip().casefold().replace(" ", "-")
    return wanted == name.casefold() or wanted == name.casefold().rpartition("-")[2]


def _plain(text: str) -> str:
    """Return a text as it is searched: names of figures as people say them, kinds without underscores."""
    plain = text.casefold().replace("_", " ")
    return plain + " " + _PLAYER.sub(r"\1 \2", plain)
