"""What if: a game, or one play of it, under another rulebook or house rules, side by side with what was called.

Both are judged from the journal's scenes and events by the same engine. Rulings count where the other rulebook makes
the same call; declarations that it has no use for are listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from downfield.core.errors import NotFoundError
from downfield.core.records import to_json
from downfield.game.published.game_topics import DeclarationView
from downfield.game.records.entries import RulebookRecord, Snap, record_of
from downfield.game.records.keeping import GameRow
from downfield.game.records.models import TopicModel
from downfield.officiating.calls import Call
from downfield.officiating.engine.recording import CallDifference, compare_calls
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.review.rejudging.changes import CallBrief, call_brief
from downfield.review.rejudging.rejudging import JudgedAgain, Way, judge_again
from downfield.review.rejudging.worker import JudgingWorker
from downfield.store.database.reader import StoreReader
from downfield.store.history import History


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
        store: where the game is.
        rulebook: the other one.
        worker: judges it in the background.
        play: number of the play to show; None for all.

    Raises:
        NotFoundError: the game has no such play.
        BusyError: too many games are being judged again, or this one is not done yet: it goes on, and can be asked for
            again.
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
    known = {refused.event for refused in here.refused}
    reasons = {refused.event: refused.reason for refused in there.refused if refused.event not in known}
    unused = tuple(
        view.model_copy(update={"set_aside": reasons[view.id]})
        for view in history.declarations()
        if view.id in reasons and span[0] <= view.t_ns < span[1]
    )
    return WhatIf(
        game=row.id,
        here=_side(own, here),
        there=_side(rulebook, there),
        differences=differences,
        plays=tuple(_plays(here.plays, there.plays, span)),
        unused=unused,
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
        here_clauses=_clauses(difference.first),
        there=call_brief(difference.second),
        there_clauses=_clauses(difference.second),
    )


def _clauses(call: Call | None) -> tuple[str, ...]:
    return () if call is None else call.clauses


def _plays(here: Sequence[Snap], there: Sequence[Snap], span: tuple[float, float]) -> Iterator[WhatIfPlay]:
    own = {snap.t_ns: snap.situation for snap in here}
    other = {snap.t_ns: snap.situation for snap in there}
    for number, t_ns in enumerate(sorted({*own, *other}), start=1):
        told = (own.get(t_ns, ""), other.get(t_ns, ""))
        if told[0] != told[1] and span[0] <= t_ns < span[1]:
            yield WhatIfPlay(number=number, here=told[0], there=told[1])
