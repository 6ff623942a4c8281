"""Declarations beside those of a play in view: how a game stands, how a play ended unseen, what cards and dice said.

`SetUp` sets a game up before any kind of play. How a pass, a kick or a play ended is declared where no camera followed
it. In a game of cards plays and returns are read from play cards and dice.
"""

from __future__ import annotations

from typing import Final, Literal

from downfield.core.records import record
from downfield.officiating.sides import Hash, Side

DuePlay = Literal["scrimmage", "kickoff", "free_kick", "try", "extra_point", "two_point"]
"""The kinds of play a game can be set up for; ``"try"`` leaves the choice of the try to the coach or the rulebook."""


@record
class OvertimeSetUp:
    """An overtime as it stands.

    Attributes:
        first: the side that had, or has, the ball first.
        number: 1-based.
        gains_yd: of the possessions so far, in order: yards under TAP (1000 for a touchdown), points under the EFL.
    """

    first: Side
    number: int = 1
    gains_yd: tuple[float, ...] = ()


@record
class SetUp:
    """The game as it stands before a play, to begin at any point or to correct the state.

    Attributes:
        offense: the side with the ball; before a kickoff or free kick its receiver, before a try the side that scored.
        direction: 1 when the offense goes toward larger x, -1 toward smaller x.
        spot_yd: line of scrimmage, field yards along x of the board; None before a kick, a try or an overtime play,
            whose spot the rulebook gives.
        down, distance_yd: as in football; a distance of 0 means to the goal line.
        period: 1-based; one more than the rulebook has is overtime.
        clock_s: seconds left in the period; None where the rulebook has no such clock.
        score: points of home, away.
        hash: the hash mark the ball is on, where that matters; left is the upper row as the camera sees the board.
        due: the kind of play that comes next.
        time_outs: time-outs left to home, away; None leaves them as they are.
        reviews_used: successful reviews of home, away so far, in the game or in this overtime.
        spiked: whether home, away have spiked the ball in this half.
        opening_kicker: the side that kicked off first, which decides who kicks off the second half.
        overtime: the overtime in progress, where the rulebook counts its possessions.
    """

    offense: Side
    direction: Literal[-1, 1]
    spot_yd: float | None = None
    down: int = 1
    distance_yd: float = 10.0
    period: int = 1
    clock_s: float | None = None
    score: tuple[int, int] = (0, 0)
    hash: Hash = "center"
    due: DuePlay = "scrimmage"
    time_outs: tuple[int, int] | None = None
    reviews_used: tuple[int, int] | None = None
    spiked: tuple[bool, bool] | None = None
    opening_kicker: Side | None = None
    overtime: OvertimeSetUp | None = None
    type: Literal["set_up"] = "set_up"


PlayEnd = Literal[
    "tackle",
    "sack",
    "down_by_fall",
    "out_of_bounds",
    "stopped",
    "fumble",
    "recovered",
    "touchdown",
    "safety",
    "touchback",
    "incomplete",
]
"""How a play, or a part of it, can be told to have ended.

After a ``"fumble"`` the ball is free, until the coin or until it is ``"recovered"``; everything else ends the play.
"""


@record
class PassEnded:
    """The end of a pass that the camera did not follow.

    Attributes:
        end: caught by the offense, by the defense, or by nobody.
        player: roster id of the figure that caught it.
        spot_yd: where it was caught, field yards along x of the board and across; None for where the camera sees him.
    """

    end: Literal["complete", "incomplete", "intercepted"]
    player: str | None = None
    spot_yd: tuple[float, float] | None = None
    type: Literal["pass_ended"] = "pass_ended"


@record
class KickEnded:
    """The end of a kick that the camera did not follow.

    Attributes:
        end: through the posts or past them, blocked, out of bounds, or touched on the field by `player`.
        x_yd, y_yd: where it came down or was touched, field yards; None for a kick at the posts.
        player: roster id of the figure that touched it.
        by: the side that touched it, where no figure is named.
    """

    end: Literal["good", "no_good", "blocked", "out_of_bounds", "touched"]
    x_yd: float | None = None
    y_yd: float | None = None
    player: str | None = None
    by: Side | None = None
    type: Literal["kick_ended"] = "kick_ended"


@record
class PlayEnded:
    """The end of a play as a person saw it, from the snap on if nothing before it was declared.

    Attributes:
        kind: how it ended.
        spot_yd: where the ball was then, field yards along x of the board and across; None for points, touchbacks
            and incomplete passes.
        player: roster id of the figure concerned: the carrier, or of a fumble the tackler.
        by: the side that had the ball at the end: the other one after an interception or a fumble lost. None for the
            side that had it before.
        hit: which side of the carrier's base a tackler hit, where the league gives yards for it.
    """

    kind: PlayEnd
    spot_yd: tuple[float, float] | None = None
    player: str | None = None
    by: Side | None = None
    hit: Literal["front", "side", "rear"] | None = None
    type: Literal["play_ended"] = "play_ended"


CardKind = Literal[
    "run",
    "pass",
    "kneel",
    "spike",
    "punt",
    "touch_punt",
    "field_goal",
    "fair_catch_kick",
    "kickoff",
    "onside",
    "extra_point",
    "two_point",
]

HASH_UNTOLD: Final = "hash_untold"
"""Note that the last play's dot was not declared, so that the ball's hash is the middle one only by default."""


@record
class WindowResult:
    """One of the three results in a window.

    Attributes:
        shown: the result as printed, as in `CardPlayed`.
        dot: the hash mark dot beside it; None where there is none.
    """

    shown: str
    dot: Literal["black", "red", "blue"] | None = None


@record
class CardWindow:
    """One window of two cards over one another.

    Attributes:
        rolls_to: the highest roll it is for; it begins after the window before, the first one at 1.
        black: the result when the ball lay on the left hash.
        red: when it lay in the center.
        blue: when it lay on the right hash.
    """

    rolls_to: int
    black: WindowResult
    red: WindowResult
    blue: WindowResult


@record
class CardPlayed:
    """A play as read from play cards and dice.

    Attributes:
        kind: kind of play.
        shown: the card's result for this hash (NFLS-089): ``"7"``, ``"10F"`` (fumble), ``"13i"`` (interception),
            ``"inc"``, ``"good"``, ``"no good"``, ``"blocked"``, or a kick's yards followed by ``OB``, ``DN``, ``FC`` or
            ``TB``; for a kick after a fair catch the number for its distance, which the roll must beat. Empty with
            ``windows``.
        roll: the roll it came from, 1..100; None where none is made.
        reroll: the second roll, when the first one brought a penalty.
        play: the offense's card.
        defense: the defense's card.
        dot: the hash mark dot beside the number; None where there is none.
        ran_out: whether the runner chose to go out of bounds.
        highlighted: whether a fumble of this result may be returned.
        return_to: highest roll that returns that fumble, or this interception (its pick number), for a touchdown.
        windows: the numbers in the cards' windows, by ascending rolls; the roll and the ball's hash then select the
            result and its dot.
    """

    kind: CardKind
    shown: str = ""
    roll: int | None = None
    reroll: int | None = None
    play: str = ""
    defense: str = ""
    dot: Literal["black", "red", "blue"] | None = None
    ran_out: bool = False
    highlighted: bool = False
    return_to: int = 0
    windows: tuple[CardWindow, ...] = ()
    type: Literal["card"] = "card"


@record
class ReturnPlayed:
    """The return of a kick, as read from cards and dice.

    Attributes:
        shown: the card's result: yards, followed by F for a fumble.
        roll: the roll it came from, 1..100.
        reroll: the second roll, when the first one brought a penalty.
    """

    shown: str
    roll: int | None = None
    reroll: int | None = None
    type: Literal["return"] = "return"
