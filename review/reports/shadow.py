"""How calls fared with people: by kind, and against a game that was refereed with the machine in its shadow.

A league sets its policies from what became of calls of each kind. In the shadow a play lasts from one declaration of
how a play ended to the next. What people said of it and what the machine called of it are matched by kind; the distance
of their spots is reported, as people's are estimates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Final, Literal, get_args

from downfield.game.published.game_topics import CallView
from downfield.game.records.keeping import GameRow
from downfield.game.records.owner import NOBODY
from downfield.game.shadow import shadow_title
from downfield.officiating.call_kinds import PLAY_CALLS, CallKind
from downfield.officiating.calls import Policy
from downfield.review.reports.markup import Cell, document, paragraph, section, table
from downfield.review.reports.statistics import ReportTable
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

OUTCOMES: Final[frozenset[CallKind]] = PLAY_CALLS - {"overrun", "kick"} | {"penalty"}
"""Kinds of calls that people declare as well; the machine's others say more than they do."""

LATE_NS: Final = 2_000_000_000
"""The machine may settle a call this long after somebody has declared it: it waits until a tackler stands or falls."""

Comparison = Literal["agreed", "differed", "undecided", "missed", "extra"]
"""Same kind; another kind; the machine left it to people; the machine called nothing; people declared nothing."""


_DECIDED: Final = 5  # Fewer decisions of people say nothing about how often a call is wrong
_OVERTURNED_SHARE: Final = 0.2  # A kind that people overturn this often should be proposed to a person first
_UNDISPUTED: Final = 30
"""A kind of which this many stood, and none was overturned, needs no person: it is wrong less than one time in ten, to
95 % (the rule of three)."""


@dataclass(frozen=True, slots=True)
class PolicySuggestion:
    """A policy that the outcomes of a kind of call suggest."""

    policy: Policy | None  # suggested; None for none
    why: str


@dataclass(frozen=True, slots=True)
class CallOutcomes:
    """The calls of one kind."""

    kind: CallKind
    called: int = 0  # made by the rulebook alone, and never disputed
    confirmed: int = 0
    overturned: int = 0
    too_close: int = 0  # that stood as too close to call, whoever decided them later
    open: int = 0  # that nobody has decided
    by_hand: int = 0  # that a person made because the rulebook had not

    @property
    def overturned_share(self) -> float | None:
        """The share of people's decisions that went against the call; None where there were none."""
        decided = self.confirmed + self.overturned
        return self.overturned / decided if decided else None

    @property
    def suggestion(self) -> PolicySuggestion:
        """What a league might set."""
        decided, stood = self.confirmed + self.overturned, self.called + self.confirmed
        share = self.overturned_share
        if share is not None and decided >= _DECIDED and share >= _OVERTURNED_SHARE:
            return PolicySuggestion("propose", f"People overturned {self.overturned} of {decided} that they decided.")
        if self.overturned == 0 and stood >= _UNDISPUTED:
            return PolicySuggestion("auto", f"{stood} stood, and nobody overturned one.")
        if self.overturned == 0:
            return PolicySuggestion(None, f"Nobody overturned one; {stood} so far, too few to tell.")
        return PolicySuggestion(None, f"People overturned {self.overturned} of {decided} that they decided.")


_COUNTS: Final = tuple(field.name for field in fields(CallOutcomes) if field.name != "kind")


def call_outcomes(games: Iterable[History]) -> list[CallOutcomes]:
    """Return how the calls of games fared, by kind; calls that only note something are left out."""
    found: dict[CallKind, Counter[str]] = {}
    for history in games:
        # What a person put in the place of a call is his, not the rulebook's: the call it replaced is counted.
        own = (call for call in history.calls() if call.ruling is None or not call.ruling.replaced)
        for call in (*own, *history.replaced(), *history.struck()):
            name = _outcome(call)
            if name:
                too_close = {"too_close"} if call.verdict == "too_close" else set()
                found.setdefault(call.kind, Counter()).update({name} | too_close)
    outcomes = [CallOutcomes(kind, **counts) for kind, counts in found.items()]
    return sorted(outcomes, key=lambda one: -sum(getattr(one, name) for name in _COUNTS))


def outcome_table(outcomes: Iterable[CallOutcomes]) -> ReportTable:
    """Return them as a table."""
    columns: dict[str, Callable[[CallOutcomes], Cell]] = {
        "Call": lambda one: one.kind.replace("_", " "),
        **{name.replace("_", " ").capitalize(): attrgetter(name) for name in _COUNTS},
        "Overturned (%)": lambda one: "" if one.overturned_share is None else round(100 * one.overturned_share),
    }
    return ReportTable.of(columns, outcomes)


def _outcome(call: CallView) -> str:
    if call.ruling is not None and call.ruling.decision in {"overturn", "strike"}:
        return "overturned"
    named = {"confirmed": "confirmed", "manual": "by_hand"}.get(call.standing)
    if named is not None:
        return named
    if call.standing == "open":
        return "open" if call.verdict != "too_close" else "too_close"
    return "called" if call.verdict == "called" else ""


@dataclass(frozen=True, slots=True)
class ComparedCall:
    """One outcome as people and the machine saw it."""

    play: int  # number of the play in the comparison, from 1
    result: Comparison
    declared: CallView | None  # by people; None where they declared nothing
    machine: CallView | None  # the machine's call; None where it made none

    @property
    def kind(self) -> CallKind:
        """What people declared, or what the machine called where they declared nothing."""
        known = self.declared or self.machine
        return "info" if known is None else known.kind

    @property
    def apart_yd(self) -> float | None:
        """How far along the field the two spots are apart, yards; None where one of them has none."""
        if self.declared is None or self.machine is None:
            return None
        if self.declared.spot_yd is None or self.machine.spot_yd is None:
            return None
        return abs(self.declared.spot_yd[0] - self.machine.spot_yd[0])


COUNTS: Final[tuple[Comparison, ...]] = get_args(Comparison)


def compare_calls(declared: Iterable[CallView], machine: Iterable[CallView]) -> list[ComparedCall]:
    """Return how the machine's calls in the shadow of a game compare with what people declared and ruled, in order."""
    told = sorted((call for call in declared if call.kind in OUTCOMES), key=lambda call: call.t_ns)
    made = sorted((call for call in machine if call.kind in OUTCOMES), key=lambda call: call.t_ns)
    plays = list(_plays(told))
    compared: list[ComparedCall] = []
    for number, play in enumerate(plays, start=1):
        end_ns = play[-1].t_ns + LATE_NS
        if number < len(plays):
            end_ns = min(end_ns, plays[number][0].t_ns)
        of_play = [call for call in made if call.t_ns <= end_ns]
        made = made[len(of_play) :]
        compared += _compare_play(number, play, of_play)
    return compared + [ComparedCall(len(plays) + 1, "extra", None, call) for call in made]


def by_kind(compared: Iterable[ComparedCall]) -> list[tuple[CallKind, Counter[Comparison]]]:
    """Return how often which result is there, by `ComparedCall.kind`, the most frequent kind first."""
    found: dict[CallKind, Counter[Comparison]] = {}
    for one in compared:
        found.setdefault(one.kind, Counter())[one.result] += 1
    return sorted(found.items(), key=lambda item: -item[1].total())


def _plays(told: Sequence[CallView]) -> Iterator[list[CallView]]:
    """Yield what people declared, play by play: what one declaration led to is of one instant."""
    play: list[CallView] = []
    for call in told:
        if play and call.t_ns != play[-1].t_ns:
            yield play
            play = []
        play.append(call)
    if play:
        yield play


def _compare_play(number: int, told: Sequence[CallView], made: Sequence[CallView]) -> Iterator[ComparedCall]:
    left = list(made)
    unmatched = []
    for call in told:
        same = next((one for one in left if one.kind == call.kind and one.verdict == "called"), None)
        if same is None:
            unmatched.append(call)
        else:
            left.remove(same)
            yield ComparedCall(number, "agreed", call, same)
    for call in unmatched:
        other = next((one for one in left if _is_open(one)), None) or (left[0] if left else None)
        if other is None:
            yield ComparedCall(number, "missed", call, None)
            continue
        left.remove(other)
        yield ComparedCall(number, "undecided" if _is_open(other) else "differed", call, other)
    for call in left:
        yield ComparedCall(number, "undecided" if _is_open(call) else "extra", None, call)


def _is_open(call: CallView) -> bool:
    """Return whether the machine left a call to people."""
    return call.verdict in {"too_close", "proposed"}


_NOTHING: Final = "–"
_RESULTS: Final = {
    "agreed": "agreed",
    "differed": "machine differs",
    "undecided": "machine unsure",
    "missed": "machine missed it",
    "extra": "only the machine",
}


def shadows_of(store: StoreReader, game: GameRow) -> list[GameRow]:
    """Return the games that were judged in the shadow of a game, in order: one for each start of the rig."""
    title = shadow_title(game.id)
    found = [row for row in store.games(limit=1_000_000) if row.title == title and row.owner == NOBODY.rig]
    return found[::-1]


class ShadowReport:
    """The comparison of one game, in order, and how many starts of the rig were in its shadow; 0 for none."""

    def __init__(self, store: StoreReader, row: GameRow) -> None:
        shadows = shadows_of(store, row)
        self.row, self.starts = row, len(shadows)
        machine = [call for shadow in shadows for call in History(store, shadow).calls()]
        self.compared = compare_calls(History(store, row).calls(), machine)

    @property
    def summary(self) -> str:
        """The comparison in one sentence."""
        told = [one for one in self.compared if one.declared is not None]
        agreed = sum(one.result == "agreed" for one in told)
        extra = len(self.compared) - len(told)
        return (
            f"Of {len(told)} outcomes that people declared, the machine called {agreed} the same; {extra} more only it"
            " saw."
        )

    @property
    def kinds(self) -> list[tuple[Cell, ...]]:
        """Rows of the table by kind."""
        return [(kind.replace("_", " "), *(counts[name] for name in COUNTS)) for kind, counts in by_kind(self.compared)]

    @property
    def calls(self) -> list[tuple[Cell, ...]]:
        """Rows of the table of all outcomes."""
        return [_row(one) for one in self.compared]

    def html(self) -> str:
        """Return the report as a page for print, in one file that loads nothing."""
        head = ("Call", *(_RESULTS[name].capitalize() for name in COUNTS))
        about = f"{self.row.home} – {self.row.away}" + (f", {self.row.title}" if self.row.title else "")
        content = [
            paragraph(f"{about}; game {self.row.id}", "muted"),
            paragraph(self.summary, "score"),
            section("By kind", table(head, self.kinds, "Nothing was declared, and nothing called.")),
            section("Play by play", table(CALLS_HEAD, self.calls, "Nothing was declared, and nothing called.")),
        ]
        return document("The machine in the shadow of the game", *content)


CALLS_HEAD: Final = ("Play", "Result", "Declared", "Machine", "Apart (yd)", "Measured")


def _row(one: ComparedCall) -> tuple[Cell, ...]:
    apart = one.apart_yd
    return (
        str(one.play),
        _RESULTS[one.result],
        _NOTHING if one.declared is None else one.declared.text,
        _NOTHING if one.machine is None else one.machine.text,
        _NOTHING if apart is None else f"{apart:.1f}",
        "" if one.machine is None else one.machine.measured,
    )
