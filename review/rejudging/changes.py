"""What a ruling on a finished game changes: score, calls, plays, and declarations that no longer apply."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import Field

from downfield.game.published.game_topics import CallView, DeclarationView
from downfield.game.receipts import Accepted
from downfield.game.records.entries import Effects
from downfield.game.records.models import TopicModel
from downfield.officiating.calls import Call, CallKind, Verdict
from downfield.officiating.engine.judged_game import calls_to_append
from downfield.review.rejudging.rejudging import JudgedAgain

NOTHING_CHANGED: Final = "Nothing has changed."

_PLAYER: Final = re.compile(r"\b(dark|light)-(\d+)")


class CallBrief(TopicModel):
    """A call in short."""

    id: str
    kind: CallKind
    verdict: Verdict
    text: str
    spot_yd: tuple[float, float] | None


class CallChange(TopicModel):
    """A call that is made, changed or withdrawn."""

    before: CallBrief | None = Field(description="null where it was not made.")
    after: CallBrief | None = Field(description="null where it is no longer made.")


class PlayChange(TopicModel):
    """A play that begins otherwise."""

    number: int
    before: str = Field(description='Such as "2nd & 7 at B 34"; empty for a play that there was not.')
    after: str


class GameChanges(TopicModel):
    """What a ruling changes, or would change."""

    event: str = Field(default="", description="Id of the ruling's event, to undo it; empty where it was only tried.")
    score_before: tuple[int, int]
    score: tuple[int, int]
    text: str = Field(description="The game at the end, on one line.")
    calls: tuple[CallChange, ...]
    plays: tuple[PlayChange, ...]
    set_aside: tuple[DeclarationView, ...] = Field(description="Declarations that no longer apply.")
    lines: tuple[str, ...] = Field(description="All of it in plain words.")
    note: str = Field(default="", description="What to know besides; empty for nothing.")


def effects_of(before: JudgedAgain, after: JudgedAgain) -> Effects:
    """Return what leads from a game judged in one way to the same game judged in another."""
    old = {call.id: call for call in before.calls}
    now = {call.id: call for call in after.calls}
    return Effects(
        tuple(call for call in after.calls if old.get(call.id) != call),
        tuple(name for name in old if name not in now),
        tuple(refused.event for refused in after.refused),
        after.state.score,
        after.state.text,
        moved=calls_to_append(old, tuple(now)),
        plays=after.plays if after.plays != before.plays else None,
    )


def changes_between(
    before: JudgedAgain, after: JudgedAgain, declarations: Sequence[DeclarationView], note: str = ""
) -> GameChanges:
    """Return what differs between a game judged in one way and in another.

    Args:
        before: what it comes to in the one way.
        after: what it comes to in the other.
        declarations: of the game, to name those that no longer apply.
        note: what to know besides.
    """
    old = {call.id: call for call in before.calls}
    now = {call.id: call for call in after.calls}
    calls = tuple(
        CallChange(before=call_brief(old.get(name)), after=call_brief(now.get(name)))
        for name in dict.fromkeys((*old, *now))
        if old.get(name) != now.get(name)
    )
    known = {refused.event for refused in before.refused}
    reasons = {refused.event: refused.reason for refused in after.refused if refused.event not in known}
    gone = tuple(view.model_copy(update={"set_aside": reasons[view.id]}) for view in declarations if view.id in reasons)
    plays = tuple(_play_changes(before, after))
    lines = tuple(_lines(before, after, calls, plays, gone))
    return GameChanges(
        score_before=before.state.score,
        score=after.state.score,
        text=after.state.text,
        calls=calls,
        plays=plays,
        set_aside=gone,
        lines=lines,
        note=note,
    )


def call_brief(call: Call | None) -> CallBrief | None:
    """Return a call in short; None for none."""
    if call is None:
        return None
    return CallBrief(id=call.id, kind=call.kind, verdict=call.verdict, text=call.text, spot_yd=call.spot_yd)


def receipt_lines(
    before: Sequence[CallView], declarations: Sequence[DeclarationView], receipt: Accepted
) -> tuple[str, ...]:
    """Return in plain words what a ruling on a game in play has changed.

    Args:
        before: the calls that stood before it.
        declarations: of the game, as they were before it.
        receipt: of the ruling.
    """
    old = {call.id: call for call in before}
    lines = []
    for call in receipt.calls:
        was = old.get(call.id)
        if was is None:
            lines.append(f"Now called: {_plain(call.text)}.")
        elif was.text != call.text:
            lines.append(f"{_plain(was.text)} is now: {_plain(call.text)}.")
        elif was.spot_yd != call.spot_yd and call.spot_text:
            lines.append(f"{_plain(call.text)} is now spotted at {call.spot_text}.")
    lines += [f"No longer called: {_plain(old[name].text)}." for name in receipt.withdrawn if name in old]
    gone = [view for view in declarations if view.id in receipt.set_aside and not view.set_aside]
    lines += [f"No longer applies: {_plain(view.text)}." for view in gone]
    return (*(lines or [NOTHING_CHANGED]), f"Now: {receipt.text.replace(' | ', ', ')}")


def _play_changes(before: JudgedAgain, after: JudgedAgain) -> Iterator[PlayChange]:
    old = {snap.t_ns: snap for snap in before.plays}
    now = {snap.t_ns: snap for snap in after.plays}
    for number, t_ns in enumerate(sorted({*old, *now}), start=1):
        was, is_now = old.get(t_ns), now.get(t_ns)
        told = ("" if was is None else was.situation, "" if is_now is None else is_now.situation)
        if told[0] != told[1]:
            yield PlayChange(number=number, before=told[0], after=told[1])


def _lines(
    before: JudgedAgain,
    after: JudgedAgain,
    calls: Sequence[CallChange],
    plays: Sequence[PlayChange],
    gone: Sequence[DeclarationView],
) -> Iterator[str]:
    if before.state.score != after.state.score:
        yield f"The score is now {_score(after)}; it was {_score(before)}."
    for change in _without_twins(calls):
        if change.before is None and change.after is not None:
            yield f"Now called: {_named(change.after)}."
        elif change.after is None and change.before is not None:
            yield f"No longer called: {_named(change.before)}."
        elif change.before is not None and change.after is not None:
            yield _changed_line(change.before, change.after)
    for play in plays:
        if not play.before:
            yield f"Play {play.number} is new: {play.after}."
        elif not play.after:
            yield f"Play {play.number} no longer counts: {play.before}."
        else:
            yield f"Play {play.number} is now {play.after}; it was {play.before}."
    for view in gone:
        yield f"No longer applies: {_plain(view.text)}."


def _without_twins(calls: Sequence[CallChange]) -> Iterator[CallChange]:
    """Yield changes without calls that are made again in the same words, such as in a play that begins elsewhere."""
    gone = Counter(change.before.text for change in calls if change.before is not None and change.after is None)
    new = Counter(change.after.text for change in calls if change.after is not None and change.before is None)
    gone_twins, new_twins = gone & new, gone & new
    for change in calls:
        one, twins = (change.before, gone_twins) if change.after is None else (change.after, new_twins)
        if (change.before is None or change.after is None) and one is not None and twins[one.text]:
            twins[one.text] -= 1
        else:
            yield change


def _changed_line(before: CallBrief, after: CallBrief) -> str:
    if before.text != after.text:
        return f"{_named(before)} is now: {_named(after)}."
    if before.verdict != after.verdict:
        return f"{_named(after)} is now {after.verdict.replace('_', ' ')}; it was {before.verdict.replace('_', ' ')}."
    return f"{_named(after)} is spotted otherwise."


def _named(call: CallBrief) -> str:
    return _plain(call.text).rstrip(".")


def _plain(text: str) -> str:
    return _PLAYER.sub(r"\1 \2", text)


def _score(judged: JudgedAgain) -> str:
    home, away = judged.state.teams
    return f"{home.short} {judged.state.score[0]}, {away.short} {judged.state.score[1]}"
