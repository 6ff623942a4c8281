"""Topics about the game, as pydantic models; ``docs/service.md`` is made from them.

A topic's value is small, complete and ready to show. Spots are field yards along x of the board unless they are text;
`text` fields are words for people. Times on the board's clock are integer nanoseconds (`t_ns`).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from downfield.core.scene import BallState, Jersey, Power
from downfield.game.records.models import TopicModel
from downfield.officiating.belief import Basis, Measure, Unit
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import CallNumbers, Verdict
from downfield.officiating.conditions import Together
from downfield.officiating.declarations import Choice, Hash, Side
from downfield.officiating.state.game_state import Phase
from downfield.officiating.state.play_state import PlayKind

Standing = Literal["stands", "open", "confirmed", "overturned", "struck", "manual", "noted"]


class TeamView(TopicModel):
    """A team at this point of the game."""

    name: str = Field(description="In full.")
    short: str = Field(description="As on a score bug.")
    color: str = Field(description="Background for the team, #rrggbb.")
    ink: str = Field(description="Text on that background, #rrggbb.")
    logo: str | None = Field(default=None, description="Its logo is at `logos/` and this and `.png`; null for none.")
    jersey: Jersey = Field(description="Color class of its figures.")
    points: int
    time_outs: int | None = Field(description="Left; null where the rulebook has none.")


class ClockView(TopicModel):
    """The game clock; count down from here while it runs."""

    left_s: float | None = Field(description="Time left at `at_ms`; null where the rulebook has no such clock.")
    running: bool
    at_ms: int = Field(description="Wall clock of the service, ms since 1970, as in every message.")
    text: str = Field(description='Such as "4:07"; empty without a clock.')


class WaitView(TopicModel):
    """What the game waits for before it can go on."""

    kind: Literal["roll", "coin", "choice", "ruling"] = Field(
        description='"ruling": on the calls of the last play that are too close.'
    )
    purpose: str = Field(description='What for, such as "fumble", "field_goal" or "measurement".')
    options: tuple[Choice, ...] = Field(
        default=(), description="Open choices; with dice, what may be chosen in their place."
    )
    by: Side | None = Field(default=None, description="Side whose coach decides; null for either.")
    text: str


class GameView(TopicModel):
    """Topic `game`: everything a score bug shows."""

    game: str = Field(description="The game's id.")
    rulebook: str = Field(description="Name of the rulebook in force.")
    rulebook_title: str
    system: str = Field(description="Name of the installed rulebook that it builds on.")
    accepts: tuple[str, ...] = Field(description="Types of declarations that the rulebook accepts.")
    dice_anytime: tuple[str, ...] = Field(description="Purposes of dice that may be rolled without being due.")
    hits: tuple[Literal["side", "rear"], ...] = Field(
        default=(), description="Sides of a carrier's base for a hit on which the league gives yards."
    )
    home: TeamView
    away: TeamView
    score: tuple[int, int] = Field(description="Home, away.")
    possession: Side = Field(description="Side that has the ball now.")
    offense: Side = Field(description="Side whose down it is; differs from possession after a turnover in the play.")
    direction: Literal[-1, 1] = Field(description="Direction of the side with the ball along x of the board: 1 or -1.")
    down: int
    distance_yd: float
    goal_to_go: bool
    spot_yd: float = Field(description="Line of scrimmage.")
    spot_text: str = Field(description='Such as "B 34".')
    to_gain_yd: float = Field(description="Line to gain; the goal line at goal to go.")
    lateral_yd: float | None = Field(description="Across the field; null where play always starts in the middle.")
    hash: Hash
    due: PlayKind = Field(description="The kind of play that comes next.")
    period: int
    clock: ClockView
    phase: Phase
    phase_text: str
    board: Power = Field(description="Whether the board's motor runs.")
    wait: WaitView | None = None
    suspended: tuple[str, ...] = Field(default=(), description="Why the camera makes no calls; empty while it does.")
    shadow: bool = Field(
        default=False,
        description="Whether people referee by declarations alone: the machine's calls are kept for a comparison, and"
        " not shown.",
    )
    under_review: bool = Field(default=False, description="Whether an open question could change what is shown.")
    situation: str = Field(description='Such as "2nd & 7 at B 34".')
    text: str = Field(description="The complete state on one line.")
    t_ns: int


class BallView(TopicModel):
    """Topic `ball`: the carrier and the ball's position."""

    player: str | None = Field(description="Roster id of the carrier; null when no known figure has the ball.")
    number: str = ""
    jersey: Jersey | None = None
    side: Side = Field(description="Side that has the ball.")
    state: BallState | None = Field(
        default=None, description="As detected: carried, the magnetic ball standing, or loose."
    )
    x_yd: float | None = None
    y_yd: float | None = None
    text: str = Field(description='Such as "dark 28 has the ball".')


class ClauseView(TopicModel):
    """A clause of the rulebook, as a call cites it."""

    id: str
    text: str = Field(description="Its text in short; empty when the catalog has none.")


class ReadingView(TopicModel):
    """One way a close call can be read."""

    kind: CallKind
    probability: float
    text: str


class ConditionView(TopicModel):
    """One of several things measured that a call rests on."""

    measure: Measure = Field(description="Of what the margin is; front: which end of a base is its front.")
    name: str = Field(description='It in a word or two, such as "touch".')
    words: str = Field(description="What was measured in plain words, with its own percentage.")
    probability: float = Field(description="That it holds. For identity and judgment: what they limit the call to.")
    margin: float | None = Field(default=None, description="By how much; 0 is its limit. As that of a call.")
    sigma: float | None = None
    unit: Unit = ""
    limit: tuple[tuple[float, float], ...] = Field(
        default=(),
        description="Where the limit is not one number: margin and share of those who agree there, straight lines "
        "between. The probability is then the mean share over the distribution of the margin.",
    )
    measured: str = Field(default="", description='Such as "+0.31 ± 0.12 mm"; empty where nothing was measured.')
    basis: Basis = "none"
    frame_measured: str = Field(
        default="", description="What the decisive frame alone showed, where it rests on more than that frame."
    )


class RulingView(TopicModel):
    """What a person decided about a call."""

    decision: Literal["confirm", "overturn", "strike", "manual"]
    by: str
    note: str = ""
    event: str = Field(description="Id of the ruling's event, to undo it.")
    replaced: bool = Field(default=False, description="Whether the call is one that was made in place of another.")


class CallView(TopicModel):
    """One call, with its measurement, clauses and ruling."""

    id: str = Field(description="Unique in its game, stable under replay.")
    game: str = Field(default="", description="Id of its game: both ids together are unique over all games.")
    kind: CallKind
    verdict: Verdict
    standing: Standing = Field(
        description="open: waits for a person; noted: has no consequence; manual: made by hand; struck: taken "
        "away by a ruling; stands: in force."
    )
    text: str
    t_ns: int = Field(description="The instant it is about.")
    clauses: tuple[ClauseView, ...]
    players: tuple[str, ...] = ()
    side: Side | None = Field(default=None, description="Side it favors.")
    spot_yd: tuple[float, float] | None = Field(default=None, description="Along x of the board, across.")
    spot_text: str = ""
    margin: float | None = Field(
        default=None,
        description="By how much; 0 is the rule's limit, positive is on the side of the call. null where no number "
        "stands for the probability.",
    )
    sigma: float | None = Field(
        default=None,
        description="Standard deviation of the margin; the probability is the positive share of the distribution.",
    )
    unit: Unit = ""
    measure: Measure = Field(
        default="",
        description="Of what the margin is. touch: the gap of two bases; handle: that to a passer's handle; line, "
        "sideline, end_line: the way over such a line; short: the way to a line not reached; excess: what is over "
        "something allowed; empty: anything else.",
    )
    measured: str = Field(default="", description='Such as "+0.31 ± 0.12 mm"; empty where nothing was measured.')
    basis: Basis = Field(
        default="none",
        description="frame: the decisive frame's measurement; history: all frames up to the call; more: the "
        "measurement and something else, such as which figure it was; joint: several things measured, each one of "
        "`conditions`; none: nothing was measured.",
    )
    frame_measured: str = Field(
        default="", description="What the decisive frame alone showed, where the call rests on more than that frame."
    )
    words: str = Field(default="", description="What was measured in plain words; empty where nothing was measured.")
    probability: float = 1.0
    conditions: tuple[ConditionView, ...] = Field(
        default=(),
        description="The things measured that it rests on, where those are several: the probability is joint.",
    )
    together: Together = Field(default="all", description="Whether all conditions must hold, or one is enough.")
    joint_words: str = Field(
        default="", description='How sure all conditions make it, such as "both together: sure to 80 %".'
    )
    summary: str = Field(
        default="", description='The conditions in a few words, such as "touch 98 %, square 82 %, both together 80 %".'
    )
    readings: tuple[ReadingView, ...] = Field(default=(), description="Both readings of a close call.")
    detail: str = ""
    because: tuple[str, ...] = Field(default=(), description="Ids of the events and calls it rests on.")
    numbers: CallNumbers | None = Field(
        default=None, description="The numbers that the text speaks of: spots, lengths, yards, dice; null without any."
    )
    ruling: RulingView | None = None
    frame: int | None = Field(default=None, description="Frame it was made at; null for one from a declaration.")


class DeclarationView(TopicModel):
    """One declaration or ruling, as the panel lists it."""

    id: str = Field(description="Unique in its game.")
    type: str = Field(description="The declaration's type.")
    text: str
    by: str
    note: str = Field(default="", description="The reason that was given for a ruling or an undo.")
    t_ns: int
    undone: bool = False
    set_aside: str = Field(default="", description="Why it no longer counts after a ruling; empty while it counts.")


class CallsUpdate(TopicModel):
    """Topic `calls`: calls made or changed, and calls that no longer stand.

    In a snapshot `calls` holds the latest of the game, in the order they were made.
    """

    game: str = Field(
        default="",
        description="Id of their game. Another one than before: a new game has begun, forget all calls before.",
    )
    calls: tuple[CallView, ...] = Field(description="Insert each by id; one already there is replaced.")
    withdrawn: tuple[str, ...] = Field(default=(), description="Ids to remove.")
    struck: tuple[CallView, ...] = Field(
        default=(), description="Those of `withdrawn` that a ruling took away, with that ruling and its reason."
    )
    cause: DeclarationView | None = Field(
        default=None, description="The declaration, ruling or undo that led to it; null for what the camera saw."
    )
    moved: tuple[str, ...] = Field(
        default=(),
        description="Ids to move behind all others, one by one, after the above: a ruling can restore a call that was "
        "made before others.",
    )


class Question(TopicModel):
    """A question that waits for a person."""

    id: str = Field(description="The call's id, or the question's kind and purpose.")
    kind: Literal["ruling", "roll", "coin", "choice", "identity"]
    text: str
    call: CallView | None = Field(
        default=None, description='For "ruling": the call, with both readings where it is close.'
    )
    purpose: str = Field(
        default="",
        description='Of the wait; for "identity", "sides" (which team is on the left) or "names" (who is who): the'
        " declaration `identities` answers it.",
    )
    options: tuple[Choice, ...] = ()
    by: Side | None = None


class Questions(TopicModel):
    """Topic `questions`: what waits for a person now, oldest first."""

    game: str = Field(default="", description="The game's id.")
    questions: tuple[Question, ...] = ()


class RecentDeclarations(TopicModel):
    """Topic `declared`: the latest declarations and rulings, newest last."""

    game: str = Field(default="", description="The game's id.")
    events: tuple[DeclarationView, ...] = ()


class Notice(TopicModel):
    """Topic `notice`: a line for people, such as a refusal."""

    level: Literal["info", "warning", "alarm"] = "info"
    text: str


class ReviewedCalls(TopicModel):
    """Topic `reviewed`: what a ruling changed in a finished game that is no longer shown; each is sent once."""

    game: GameView = Field(description="That game as it stands now.")
    calls: CallsUpdate
