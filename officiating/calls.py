"""Findings of the rules, the calls made of them, and call files (``*.calls.jsonl``)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

from downfield.core.errors import RulebookError
from downfield.core.json_lines import JsonLinesFile, write_json_lines
from downfield.core.records import Probability, record
from downfield.officiating.belief import Belief, Measure, Unit, believe, event_words, measure_of
from downfield.officiating.call_kinds import CALL_KINDS, CallKind
from downfield.officiating.conditions import Condition, Together, is_story_of, joint_words
from downfield.officiating.declarations import Side

Verdict = Literal["called", "too_close", "proposed", "reported"]
Policy = Literal["auto", "propose", "log"]  # what may be done with a call of some kind without a person

_TIME_OF_DAY_NS: Final = 10**17  # below it times count from the start of a recording, above it from 1970

POWER: Final = "power"
"""Rule id of the board's switch among pending findings; it belongs to no rule and makes no call of its own."""


@record
class CallNumbers:
    """The numbers that a call's text speaks of; each is None where the call has none of its kind.

    Attributes:
        kick_yd: length of a kick, yards.
        landing_yd: where a kick came down, field yards along x of the board and across.
        return_yd: length of a kick's return, yards; negative when it lost ground.
        to_goal_yd: yards from the line of scrimmage to the goal line, of a kick at goal.
        caught_yd: where a pass or a kick was caught, field yards along x of the board and across.
        pass_yd: length of a pass, yards.
        gain_yd: yards gained by a play, as its card says; negative for a loss.
        needed: the highest number, or sum of the dice, that succeeds.
        at_least: the lowest number, or sum of the dice, that succeeds.
        rolled: the number, or sum of the dice, that was rolled; dice read as tens and units are one number.
        attempt: which attempt at a pass this was, counted from 1.
        attempts: how many a play allows.
        rating: a skilled player's rating as rolled.
        seasons: seasons of a skilled player's career.
        out_downs: offensive downs that an injured player rests.
        out_games: further games that he misses; -1 for the rest of the season.
        penalty_yd: yards of a penalty; None for a foul enforced at its spot.
        foul_yd: the spot of a foul enforced there, field yards along x of the board and across.
        enforced_from_yd: where a penalty was walked off from, field yards along x of the board.
        enforced_to_yd: where that ends: the ball's next spot, field yards along x of the board.
        pivots_allowed: how many figures the offense and the defense may pivot in the stoppage that begins; each None
            where the rulebook gives no number, or one that follows from what the other coach does.
        measured: what was counted or timed, in the call's unit.
        allowed: the most of it that the rulebook allows, same unit.
        measured_yd: the place that was held against a line, field yards along x of the board and across.
        hit: which side of the carrier's base was hit, where the league asks for it.
        hit_probability: that it is that side, which the end of the base that is its front decides.
        closing_mm_s: how fast the two met, where the league asks for it, mm/s.
        bonus_yd: yards that the league gives for such a hit; the spot has them.
    """

    kick_yd: float | None = None
    landing_yd: tuple[float, float] | None = None
    return_yd: float | None = None
    to_goal_yd: float | None = None
    caught_yd: tuple[float, float] | None = None
    pass_yd: float | None = None
    gain_yd: float | None = None
    needed: int | None = None
    at_least: int | None = None
    rolled: int | None = None
    attempt: int | None = None
    attempts: int | None = None
    rating: int | None = None
    seasons: int | None = None
    out_downs: int | None = None
    out_games: int | None = None
    penalty_yd: float | None = None
    foul_yd: tuple[float, float] | None = None
    enforced_from_yd: float | None = None
    enforced_to_yd: float | None = None
    pivots_allowed: tuple[int | None, int | None] | None = None
    measured: float | None = None
    allowed: float | None = None
    measured_yd: tuple[float, float] | None = None
    hit: Literal["front", "side", "rear"] | None = None
    hit_probability: float | None = None
    closing_mm_s: float | None = None
    bonus_yd: float | None = None


@record
class Finding:
    """What one rule detected, before confidence and policy make a call of it.

    The kind, the instant, the first player and the detail become the id of its call. Calls of two findings that agree
    in all four would share one id, so a rule that finds several things about one figure at one instant gives each a
    detail of its own. A changed detail is a changed id, which recorded rulings no longer find.

    Raises:
        RulebookError: the kind is none.
    """

    rule: str  # id of the rule
    kind: CallKind  # what the call would be; it chooses the consequence and the policy. Part of the call's id.
    t_ns: int  # the instant it is about, not that of the frame that showed it. Part of the call's id.
    text: str  # what an announcer would say
    clauses: tuple[str, ...]  # catalog ids of the clauses that decide
    # identifies the finding from frame to frame, such as `"light-7@123"`: while it waits for evidence the same rule and
    # key are one finding, and once settled it is not called again in this play. Empty for a finding that is made just
    # once; such a one may not wait for evidence.
    key: str = ""
    # roster ids of the figures concerned, the carrier or offender first. The first is part of the call's id.
    players: tuple[str, ...] = ()
    spot_yd: tuple[float, float] | None = None  # where the ball is spotted, field yards along x of the board and across
    # standard deviation of that, along and across, of the figure's place and of the instant at which it counts; 0 where
    # it is not measured but told, rolled or painted
    spot_sigma_yd: tuple[float, float] = (0.0, 0.0)
    t_sigma_s: float = 0.0  # standard deviation of the instant, seconds; 0 where it is not measured
    # margin, sigma, unit: by how much the rule is met, positive on the side of the call, and its standard deviation
    margin: float | None = None
    sigma: float | None = None
    unit: Unit = ""
    # that the finding is right, 0..1. Below the rulebook's confidence the call is too close.
    probability: Probability = 1.0
    against: str = ""  # the other reading, in words; empty for "no call"
    against_kind: CallKind = "info"  # the call kind of the other reading
    # when all the evidence is in and it is settled; None for at once. Findings of a later instant wait behind it.
    settle_ns: int | None = None
    settle_early: bool = True  # whether it may be settled before that, once it is sure enough to call
    settle_from_ns: int | None = None  # when at the earliest, if early: until then a rival may turn up
    reported: bool = False  # whether it is only reported and changes nothing
    proposed: bool = False  # whether a person always decides, whatever the policy, because the rule asks for a judgment
    side: Side | None = None  # the side it favors: who gets the ball, the points or the yards
    # the outcome within the kind, one word for programs, such as `"good"` or `"delay_of_game"`. Part of the call's id.
    detail: str = ""
    because: tuple[str, ...] = ()  # ids of events it rests on; the engine adds what it follows from
    numbers: CallNumbers | None = None  # the numbers that the text speaks of: spots, lengths, yards, dice
    front: Probability = 1.0  # probability that the ends of bases it rests on are the fronts; 1 where it rests on none
    measure: Measure = ""  # of what the margin is, where the kind and the unit do not say it
    # the things measured of which the probability is the joint one; none where it is of one thing
    conditions: tuple[Condition, ...] = ()
    together: Together = "all"  # whether all of them must hold, or one is enough

    def __post_init__(self) -> None:
        if self.kind not in CALL_KINDS:
            raise RulebookError(f"The rule {self.rule!r} finds {self.kind!r}, which is no kind of call.")


@record
class CallReading:
    """One of the two readings of a call that is too close."""

    kind: CallKind  # what the call would be; `"info"` for none at all
    probability: Probability  # that this reading is right, 0..1
    text: str  # the reading in words


@record
class Call:
    """What the rulebook makes of a finding."""

    # unique in its game and the same in every replay: kind, instant, first player and detail of its finding, then
    # `close` where it is too close to call and `again` where an earlier call had that id, joined by colons. A call that
    # was too close and becomes sure is another call; one that a person replaces keeps its id.
    id: str
    kind: CallKind  # what is called
    t_ns: int  # the instant the call is about (of a contact, of a crossing), not when it was published
    rulebook: str  # the rulebook's name
    clauses: tuple[str, ...]  # catalog ids of the clauses that decided
    # `"called"`; `"too_close"` below the rulebook's confidence, with both readings; `"proposed"` when sure but left to
    # a person by the policy; `"reported"` when it changes nothing in the game. Only what is called has a consequence;
    # the others that wait for a person change nothing until he rules.
    verdict: Verdict
    text: str  # what an announcer would say
    # players, spot_yd, spot_sigma_yd, t_sigma_s, side, detail, numbers, measure: as in `Finding`
    players: tuple[str, ...] = ()
    spot_yd: tuple[float, float] | None = None
    # by how much the rule is met, in `unit`; positive is on the side of the call. None where nothing was measured, or
    # where no number stands for the probability.
    margin: float | None = None
    sigma: float | None = None  # standard deviation of the margin, same unit; probability is the positive share
    unit: Unit = ""  # `"mm"`, `"yd"`, `"deg"`, `"s"`, `"count"` or empty where nothing was measured
    probability: Probability = 1.0  # that the call is right, 0..1; 1 for what follows from declarations, dice or clocks
    readings: tuple[CallReading, ...] = ()  # both readings of a call that is too close
    because: tuple[str, ...] = ()  # ids of the events and calls it rests on
    side: Side | None = None
    detail: str = ""
    # frame_margin, frame_sigma: what the decisive frame alone showed, where the call rests on more than that frame
    frame_margin: float | None = None
    frame_sigma: float | None = None
    front: Probability = 1.0  # probability that the ends of bases it rests on are the fronts; 1 where on none
    numbers: CallNumbers | None = None
    measure: Measure = ""
    # the things measured that it rests on, where those are several; each has its own margin and probability, and the
    # call's margin is None
    conditions: tuple[Condition, ...] = ()
    together: Together = "all"  # whether all of them must hold, or one is enough
    spot_sigma_yd: tuple[float, float] = (0.0, 0.0)
    t_sigma_s: float = 0.0

    @property
    def told_apart(self) -> tuple[Condition, ...]:
        """The conditions, where the probability follows from them: a file may hold anything."""
        told = is_story_of(self.conditions, self.together, self.probability)
        return self.conditions if told else ()

    @property
    def belief(self) -> Belief:
        """What is believed of the measurement, made anew from the decisive frame: a file may hold anything."""
        if self.told_apart:
            return Belief("joint", None, None, self.unit, self.probability, front=self.front)
        margin, sigma = self.margin, self.sigma
        if self.frame_margin is not None:
            margin, sigma = self.frame_margin, self.frame_sigma
        return believe(margin, sigma, self.unit, self.probability, self.front)

    @property
    def measured_quantity(self) -> Measure:
        """Of what the margin is."""
        return self.measure or measure_of(self.kind, self.unit)

    @property
    def measured(self) -> str:
        """Margin, error and unit, such as ``"+0.42 ± 0.11 mm"``, of all that was measured; or empty."""
        several = [f"{condition.name} {condition.belief.measured}" for condition in self.told_apart]
        return "; ".join(part for part in several if not part.endswith(" ")) if several else self.belief.measured

    @property
    def when_words(self) -> str:
        """When it was, such as ``" at 9.21 s"`` of a recording; empty for a time of day."""
        return f" at {self.t_ns / 1e9:.2f} s" if self.t_ns < _TIME_OF_DAY_NS else ""

    @property
    def words(self) -> str:
        """What was measured, such as ``"touched: gap closed at 9.21 s; 0.3 mm inside the limit, sure to 98 %"``.

        Of several things each is told, such as ``"met squarely (11.0° off square, sure to 82 %)"``, and how sure all of
        them make the call. Empty where nothing was measured. The time of day of a live camera is left to who shows it.
        """
        when, too_close, several = self.when_words, self.verdict == "too_close", self.told_apart
        if several:
            told = (
                several[0].words(when, too_close=too_close),
                *(one.words(too_close=too_close) for one in several[1:]),
            )
            return "; ".join(filter(None, (*told, joint_words(several, self.together, self.probability))))
        belief, measure = self.belief, self.measured_quantity
        if belief.basis == "none":
            return ""
        event = event_words(belief.probability, measure, too_close=too_close)
        return "; ".join(filter(None, (event and event + when, belief.words(measure))))


@record
class RefusedEvent:
    """An event that the state of the game did not allow."""

    event: str  # id of the event
    reason: str  # why it was refused


@record
class CallsHeader:
    """First line of a call file."""

    rulebook: str  # name of the rulebook
    source: str = ""  # file name of the tracks that were judged
    final: str = ""  # the game at the end, on one line
    score: tuple[int, int] = (0, 0)  # points of home and away at the end
    refused: tuple[RefusedEvent, ...] = ()  # events that the state of the game did not allow
    format: Literal["downfield.calls"] = "downfield.calls"
    version: Literal[1] = 1


def read_calls(path: Path) -> tuple[CallsHeader, tuple[Call, ...]]:
    """Read a call file. Raises InputError: unreadable; FormatError: names the line and field that break the format."""
    lines = JsonLinesFile(path, CallsHeader, Call)
    return lines.header, tuple(lines)


def write_calls(path: Path, header: CallsHeader, calls: Iterable[Call]) -> None:
    """Write a call file, whole or not at all. Raises OutputError: the file can't be written."""
    write_json_lines(path, (CallsHeader, header), Call, calls)
