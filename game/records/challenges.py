"""Challenges: a coach disputes a call; how many he has, what a lost one costs, and how they were decided.

The rulebook's ``[challenge]`` table sets limits and costs. A challenge is in the game's journal from the moment it is
raised; while it is open, the call is under review on air.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import Field

from downfield.core.errors import NotFoundError, RefusedError
from downfield.core.records import made_of, record
from downfield.game.records.models import TopicModel
from downfield.officiating.declarations import Side
from downfield.officiating.params import Params

ChallengeDecision = Literal["upheld", "overturned", "too_close"]
"""The call stands; it was wrong; it stands because nobody can tell."""

SIDES: Final[tuple[Side, Side]] = ("home", "away")
DECISION_WORDS: Final[dict[ChallengeDecision, str]] = {
    "upheld": "upheld",
    "overturned": "overturned",
    "too_close": "stands as too close",
}


@record
class ChallengeRaised:
    """A coach challenged a call."""

    id: str  # unique in its game, such as `"challenge-1"`
    side: Side  # the coach's
    call: str  # id of the call
    text: str  # the call in words
    reason: str  # why
    by: str  # the person or device that entered it
    half: int  # 1 or 2; the second includes overtime


@record
class ChallengeRuled:
    """A challenge was decided."""

    challenge: str  # its id
    decision: ChallengeDecision  # what was decided
    reason: str  # why
    by: str  # who decided
    event: str = ""  # id of the ruling on the call; empty where none was needed
    cost: str = ""  # what it cost the coach, in words; empty for nothing


@record
class ChallengeOpinion:
    """What another official thinks of a call under review, before it is decided."""

    challenge: str  # its id
    decision: ChallengeDecision
    reason: str
    by: str  # the person, or the device it was entered on


@record
class ChallengeAppealed:
    """A coach appealed against how a challenge was decided: it is decided once more, by somebody else."""

    challenge: str  # its id
    reason: str
    by: str  # the person or device that entered it


ChallengeEntry = ChallengeRaised | ChallengeRuled | ChallengeOpinion | ChallengeAppealed


class OpinionView(TopicModel):
    """What somebody thinks of a challenged call, or has decided."""

    decision: ChallengeDecision
    reason: str
    by: str


class ChallengeView(TopicModel):
    """One challenge."""

    id: str
    side: Side = Field(description="Whose coach challenges.")
    call: str = Field(description="Id of the call.")
    text: str = Field(description="The call in words.")
    reason: str
    by: str
    decision: ChallengeDecision | None = Field(default=None, description="null while the call is under review.")
    ruling_reason: str = ""
    ruled_by: str = ""
    cost: str = Field(default="", description="What it cost the coach, in words; empty for nothing.")
    opinions: tuple[OpinionView, ...] = Field(default=(), description="Of other officials, in order.")
    appealed: OpinionView | None = Field(default=None, description="The decision that was appealed; null for none.")
    appeal: str = Field(default="", description="Why it was appealed.")


class ChallengeCounts(TopicModel):
    """How challenges were decided."""

    raised: int = 0
    under_review: int = 0
    upheld: int = 0
    overturned: int = 0
    too_close: int = 0


class ChallengesView(TopicModel):
    """Topic `challenges`: the challenges of the game in play, and how many each coach has left."""

    game: str = Field(default="", description="The game's id.")
    challenges: tuple[ChallengeView, ...] = Field(default=(), description="In the order they were raised.")
    left: tuple[int | None, int | None] = Field(
        default=(None, None), description="Home, away; null where the rulebook sets no limit."
    )
    rule: str = Field(default="", description="Limit and cost in words.")
    counts: ChallengeCounts = ChallengeCounts()


@dataclass(frozen=True, slots=True)
class ChallengeRules:
    """What a rulebook says about challenges."""

    limit: str = "none"  # within what they are counted
    count: int = 0  # how many a coach has within that
    won_is_free: bool = True  # whether one that was right does not count
    lost_costs: str = "nothing"  # what a lost one costs
    too_close_is_lost: bool = False  # whether one that nobody can decide is lost
    periods: int = 4  # of a game, to tell the halves

    @classmethod
    def of(cls, params: Params) -> ChallengeRules:
        """Return the rules that a rulebook's parameters set."""
        periods = params.count("clock.periods") if "clock.periods" in params.definitions else 4
        return cls(
            params.choice("challenge.limit"),
            params.count("challenge.count"),
            params.flag("challenge.won_is_free"),
            params.choice("challenge.lost_costs"),
            params.flag("challenge.too_close_is_lost"),
            periods,
        )

    def half(self, period: int) -> int:
        """Return the half that a period is in: 1 or 2."""
        return 1 if 2 * period <= self.periods else 2

    def is_lost(self, decision: ChallengeDecision) -> bool:
        """Return whether a coach has lost a challenge that was decided so."""
        return decision == "upheld" or (decision == "too_close" and self.too_close_is_lost)

    @property
    def text(self) -> str:
        """The rules in words."""
        limit = "No limit" if self.limit == "none" else f"{self.count} for each coach in a {self.limit}"
        free = ", those that were right not counted" if self.limit != "none" and self.won_is_free else ""
        cost = "a lost one costs a time-out" if self.lost_costs == "time_out" else "a lost one costs nothing"
        return f"{limit}{free}; {cost}."


@dataclass(slots=True)
class ChallengeBook:
    """The challenges of one game."""

    raised: list[ChallengeRaised] = field(default_factory=list)
    ruled: dict[str, ChallengeRuled] = field(default_factory=dict)
    opinions: list[ChallengeOpinion] = field(default_factory=list)
    appeals: dict[str, tuple[ChallengeAppealed, ChallengeRuled]] = field(default_factory=dict)

    def add(self, entry: ChallengeEntry) -> None:
        """Take an entry of the game's journal."""
        if isinstance(entry, ChallengeRaised):
            self.raised.append(entry)
        elif isinstance(entry, ChallengeRuled):
            self.ruled[entry.challenge] = entry
        elif isinstance(entry, ChallengeOpinion):
            self.opinions.append(entry)
        elif (appealed := self.ruled.pop(entry.challenge, None)) is not None:
            self.appeals[entry.challenge] = entry, appealed

    def note(self, entry: ChallengeOpinion | ChallengeAppealed) -> bool:
        """Take an opinion or appeal; return whether it is new. Raises NotFoundError, RefusedError: it isn't taken."""
        if entry in self.opinions or (entry.challenge in self.appeals and self.appeals[entry.challenge][0] == entry):
            return False
        if entry.challenge not in {known.id for known in self.raised}:
            raise NotFoundError("This game has no such challenge.")
        ruled = self.ruled.get(entry.challenge)
        if isinstance(entry, ChallengeAppealed):
            if ruled is None:
                raise RefusedError("This challenge is under review. It can be appealed once it is decided.")
            if entry.challenge in self.appeals:
                raise RefusedError("This challenge was appealed before: the second decision is final.")
        elif ruled is not None:
            raise RefusedError("This challenge is decided. An opinion counts before that.")
        elif any((known.challenge, known.by) == (entry.challenge, entry.by) for known in self.opinions):
            raise RefusedError(f"{entry.by} has given an opinion on this challenge. Ask another official.")
        self.add(entry)
        return True

    def check_decider(self, challenge: str, by: str) -> None:
        """Refuse to have an appeal decided by who decided first. Raises RefusedError."""
        if challenge in self.appeals and self.appeals[challenge][1].by == by:
            raise RefusedError(f"An appeal is decided by somebody else than {by}, who decided first.")

    @property
    def open(self) -> list[ChallengeRaised]:
        """Those not decided yet, in order."""
        return [challenge for challenge in self.raised if challenge.id not in self.ruled]

    def left(self, side: Side, half: int, rules: ChallengeRules) -> int | None:
        """Return how many a coach has left in a half; None where there is no limit."""
        if rules.limit == "none":
            return None
        used = 0
        for challenge in self.raised:
            ruled = self.ruled.get(challenge.id)
            is_free = rules.won_is_free and ruled is not None and ruled.decision == "overturned"
            is_counted = rules.limit == "game" or challenge.half == half
            used += challenge.side == side and is_counted and not is_free
        return max(0, rules.count - used)

    def refusal(self, side: Side, call: str, half: int, rules: ChallengeRules) -> str:
        """Return why a coach may not challenge a call now; empty when he may."""
        if any(challenge.call == call for challenge in self.open):
            return "This call is under review already. Decide that challenge first."
        if self.left(side, half, rules) == 0:
            return f"The {side} coach has no challenge left: {rules.count} in a {rules.limit}."
        return ""

    def undecided(self, challenge: str) -> ChallengeRaised:
        """Return an open challenge. Raises NotFoundError: there is none; RefusedError: it was decided already."""
        ruled = self.ruled.get(challenge)
        if ruled is not None:
            raise RefusedError(f"This challenge was decided by {ruled.by}: {ruled.decision.replace('_', ' ')}.")
        found = next((raised for raised in self.raised if raised.id == challenge), None)
        if found is None:
            raise NotFoundError("This game has no such challenge.")
        return found

    def views(self) -> tuple[ChallengeView, ...]:
        """Return the challenges as topics show them, in the order they were raised."""
        return tuple(self._view(challenge) for challenge in self.raised)

    def _view(self, raised: ChallengeRaised) -> ChallengeView:
        ruled = self.ruled.get(raised.id)
        appeal, appealed = self.appeals.get(raised.id, (None, None))
        return made_of(
            ChallengeView,
            raised,
            decision=None if ruled is None else ruled.decision,
            ruling_reason="" if ruled is None else ruled.reason,
            ruled_by="" if ruled is None else ruled.by,
            cost="".join(one.cost for one in (appealed, ruled) if one is not None),
            opinions=tuple(made_of(OpinionView, one) for one in self.opinions if one.challenge == raised.id),
            appealed=None if appealed is None else made_of(OpinionView, appealed),
            appeal="" if appeal is None else appeal.reason,
        )

    def view(self, game: str, period: int, rules: ChallengeRules) -> ChallengesView:
        """Return the challenges of a game, which is in a period, as they are published."""
        half = rules.half(period)
        return ChallengesView(
            game=game,
            challenges=self.views(),
            left=(self.left("home", half, rules), self.left("away", half, rules)),
            rule=rules.text,
            counts=counts_of(self.views()),
        )


def counts_of(challenges: Iterable[ChallengeView]) -> ChallengeCounts:
    """Return how challenges were decided."""
    decided = Counter(challenge.decision for challenge in challenges)
    by_decision = {decision: decided[decision] for decision in DECISION_WORDS}
    return ChallengeCounts(raised=decided.total(), under_review=decided[None], **by_decision)
