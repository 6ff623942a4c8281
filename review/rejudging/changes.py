"""What a ruling on a finished game changes: score, calls, plays, and declarations that no longer apply.

And what if: a game, or one play of it, under another rulebook or house rules, side by side with what was called. Both
are judged from the journal's scenes and events by the same engine. Rulings count where the other rulebook makes the
same call; declarations that it has no use for are listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pydantic import Field

from downfield.core.errors import NotFoundError
from downfield.core.records import to_json
from downfield.game.published.game_topics import CallView, DeclarationView
from downfield.game.published.plays import plain_players
from downfield.game.receipts import Accepted
from downfield.game.records.entries import Effects, RulebookRecord, Snap, record_of
from downfield.game.records.keeping import GameRow
from downfield.game.records.models import TopicModel
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call, Verdict
from downfield.officiating.engine.calling import LINE_UPS
from downfield.officiating.engine.engine_state import calls_to_append
from downfield.officiating.engine.recording import CallDifference, compare_calls
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.review.rejudging.rejudging import JudgedAgain, Way, judge_again
from downfield.review.rejudging.worker import JudgingWorker
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

NOTHING_CHANGED: Final = "Nothing has changed."


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
    """Return what differs between a game judged in one way and in another, declarations that no longer apply too."""
    old = {call.id: call for call in before.calls}
    now = {call.id: call for call in after.calls}
    calls = tuple(
        CallChange(before=call_brief(old.get(name)), after=call_brief(now.get(name)))
        for name in dict.fromkeys((*old, *now))
        if old.get(name) != now.get(name)
    )
    gone = tuple(_no_longer_allowed(before, after, declarations))
    plays = tuple(
        PlayChange(number=number, before=was, after=is_now)
        for number, _, was, is_now in _changed_plays(before.plays, after.plays)
    )
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
    """Return in plain words what a ruling on a game in play has changed, by the calls and declarations before it."""
    old = {call.id: call for call in before}
    lines = []
    for call in receipt.calls:
        was = old.get(call.id)
        if was is None:
            lines.append(f"Now called: {plain_players(call.text)}.")
        elif was.text != call.text:
            lines.append(f"{plain_players(was.text)} is now: {plain_players(call.text)}.")
        elif was.spot_yd != call.spot_yd and call.spot_text:
            lines.append(f"{plain_players(call.text)} is now spotted at {call.spot_text}.")
    withdrawn = [old[name] for name in receipt.withdrawn if name in old]
    lines += [f"No longer called: {plain_players(call.text)}." for call in withdrawn if not _is_of_line_up(call)]
    lines += _line_up_lines(sum(_is_of_line_up(call) for call in withdrawn))
    gone = [view for view in declarations if view.id in receipt.set_aside and not view.set_aside]
    lines += [f"No longer applies: {plain_players(view.text)}." for view in gone]
    return (*(lines or [NOTHING_CHANGED]), f"Now: {receipt.text.replace(' | ', ', ')}")


def _no_longer_allowed(
    before: JudgedAgain, after: JudgedAgain, declarations: Iterable[DeclarationView]
) -> Iterator[DeclarationView]:
    """Yield the declarations that are refused in the second way only, with the reason."""
    known = {refused.event for refused in before.refused}
    reasons = {refused.event: refused.reason for refused in after.refused if refused.event not in known}
    for view in declarations:
        if view.id in reasons:
            yield view.model_copy(update={"set_aside": reasons[view.id]})


def _changed_plays(before: Sequence[Snap], after: Sequence[Snap]) -> Iterator[tuple[int, int, str, str]]:
    """Yield number, time and both situations of each play that begins differently; empty where it is not there."""
    old, now = ({snap.t_ns: snap.situation for snap in plays} for plays in (before, after))
    for number, t_ns in enumerate(sorted({*old, *now}), start=1):
        if old.get(t_ns, "") != now.get(t_ns, ""):
            yield number, t_ns, old.get(t_ns, ""), now.get(t_ns, "")


def _lines(
    before: JudgedAgain,
    after: JudgedAgain,
    calls: Sequence[CallChange],
    plays: Sequence[PlayChange],
    gone: Sequence[DeclarationView],
) -> Iterator[str]:
    if before.state.score != after.state.score:
        yield f"The score is now {_score(after)}; it was {_score(before)}."
    changes = list(_without_twins(calls))
    old_line_ups = [one for one in changes if one.after is None and one.before and _is_of_line_up(one.before)]
    for change in changes:
        if change in old_line_ups:
            continue
        if change.before is None and change.after is not None:
            yield f"Now called: {_named(change.after)}."
        elif change.after is None and change.before is not None:
            yield f"No longer called: {_named(change.before)}."
        elif change.before is not None and change.after is not None:
            yield _changed_line(change.before, change.after)
    yield from _line_up_lines(len(old_line_ups))
    for play in plays:
        if not play.before:
            yield f"Play {play.number} is new: {play.after}."
        elif not play.after:
            yield f"Play {play.number} no longer counts: {play.before}."
        else:
            yield f"Play {play.number} is now {play.after}; it was {play.before}."
    for view in gone:
        yield f"No longer applies: {plain_players(view.text)}."


def _is_of_line_up(call: CallBrief | CallView) -> bool:
    """Return whether a call is a report about a line-up, its pivots or its clock, of which there may be dozens."""
    return call.kind in LINE_UPS and call.verdict == "reported"


def _line_up_lines(count: int) -> Iterator[str]:
    if count:
        yield f"{count} report{'s' if count > 1 else ''} about line-ups no longer appl{'y' if count > 1 else 'ies'}."


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
    return plain_players(call.text).rstrip(".")


def _score(judged: JudgedAgain) -> str:
    home, away = judged.state.teams
    return f"{home.short} {judged.state.score[0]}, {away.short} {judged.state.score[1]}"


class WhatIfSide(TopicModel):
    """What a game comes to under one rulebook."""

    rulebook: str
    title: str
    score: tuple[int, int] = Field(description="Home, away.")
    text: str = Field(description="The game at the end, on one line.")
    calls: int = Field(description="How many calls.")


class WhatIfCall(TopicModel):
    """A call that the two rulebooks make differently."""

    play: int | None = Field(description="Number of the play; null before the first snap.")
    t_ns: int
    here: CallBrief | None = Field(description="Under the game's own rulebook; null where it makes none.")
    here_clauses: tuple[str, ...]
    there: CallBrief | None = Field(description="Under the other rulebook; null where it makes none.")
    there_clauses: tuple[str, ...]


class WhatIfPlay(TopicModel):
    """A play that begins differently."""

    number: int
    here: str = Field(description='Such as "2nd & 7 at B 34"; empty where there is no such play.')
    there: str


class WhatIf(TopicModel):
    """A game under two rulebooks."""

    game: str
    here: WhatIfSide = Field(description="Under the game's own rulebook.")
    there: WhatIfSide = Field(description="Under the other rulebook.")
    differences: tuple[WhatIfCall, ...] = Field(description="In order of time.")
    plays: tuple[WhatIfPlay, ...]
    unused: tuple[DeclarationView, ...] = Field(
        description="Declarations that the other rulebook did not allow, with the reason."
    )


def what_if(
    store: StoreReader, row: GameRow, rulebook: Rulebook, worker: JudgingWorker, play: int | None = None
) -> WhatIf:
    """Judge a game under its own rulebook and another one, and return what differs.

    Args:
        play: number of the play to show; None for all.

    Raises:
        NotFoundError: the game has no such play.
        BusyError: too many games are being judged again, or this one is not done: it goes on; ask again.
        FormatError: its journal can't be read.
    """
    history = History(store, row)
    own = history.rulebook
    ways = (Way.of(history.events), Way.of(history.events, rulebook))
    name = ("what-if", row.id, history.head, to_json(RulebookRecord, record_of(rulebook)))
    here, there = worker.share(name, lambda pause: judge_again(store, row.id, ways, pause))
    span = _span(here.plays, play)
    differences = tuple(
        _call(difference, here.plays)
        for difference in compare_calls(here.calls, there.calls)
        if span[0] <= difference.t_ns < span[1]
    )
    unused = _no_longer_allowed(here, there, history.declarations())
    return WhatIf(
        game=row.id,
        here=_side(own, here),
        there=_side(rulebook, there),
        differences=differences,
        plays=tuple(
            WhatIfPlay(number=number, here=own_play, there=other)
            for number, t_ns, own_play, other in _changed_plays(here.plays, there.plays)
            if span[0] <= t_ns < span[1]
        ),
        unused=tuple(view for view in unused if span[0] <= view.t_ns < span[1]),
    )


def _span(plays: Sequence[Snap], play: int | None) -> tuple[float, float]:
    """Return the time from a play's snap to the next; all time without a play."""
    if play is None:
        return float("-inf"), float("inf")
    if not 1 <= play <= len(plays):
        raise NotFoundError(f"This game has no play {play}; it has {len(plays)}.")
    return plays[play - 1].t_ns, plays[play].t_ns if play < len(plays) else float("inf")


def _side(rulebook: Rulebook, judged: JudgedAgain) -> WhatIfSide:
    return WhatIfSide(
        rulebook=rulebook.name,
        title=rulebook.title,
        score=judged.state.score,
        text=judged.state.text,
        calls=len(judged.calls),
    )


def _call(difference: CallDifference, plays: Sequence[Snap]) -> WhatIfCall:
    number = sum(snap.t_ns <= difference.t_ns for snap in plays)
    return WhatIfCall(
        play=number or None,
        t_ns=difference.t_ns,
        here=call_brief(difference.first),
        here_clauses=() if difference.first is None else difference.first.clauses,
        there=call_brief(difference.second),
        there_clauses=() if difference.second is None else difference.second.clauses,
    )
