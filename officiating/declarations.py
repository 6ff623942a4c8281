"""Declarations: what a person enters that a camera can't see.

Every declaration is one small record with a literal ``type``; `Declaration` is the union of all, by that type.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from downfield.core.records import record
from downfield.core.scene import Jersey, Player
from downfield.core.track_files import RosterSpot
from downfield.officiating.sides import Hash as Hash
from downfield.officiating.sides import Side as Side
from downfield.officiating.unseen_declarations import CardPlayed as CardPlayed
from downfield.officiating.unseen_declarations import KickEnded as KickEnded
from downfield.officiating.unseen_declarations import PassEnded as PassEnded
from downfield.officiating.unseen_declarations import PlayEnded as PlayEnded
from downfield.officiating.unseen_declarations import ReturnPlayed as ReturnPlayed
from downfield.officiating.unseen_declarations import SetUp as SetUp

Choice = Literal[
    "touchback",
    "return",
    "extra_point",
    "two_point",
    "field_goal",
    "punt",
    "onside",
    "fair_catch",
    "let_run",
    "stop_here",
    "overrun_stop",
    "decline",
    "accept",
    "kick_again",
    "out_of_bounds",
    "hurry_up",
    "spike",
    "kneel",
    "offense_first",
    "defense_first",
]


@record
class LineUpDeclared:
    """The roster on the board, fixed until the next line-up.

    Attributes:
        players: all figures on the board.
        offense: the jersey of the team with the ball; None leaves it as it is.
    """

    players: tuple[Player, ...]
    offense: Jersey | None = None
    type: Literal["line_up"] = "line_up"


@record
class Separated:
    """The figures of the last play are separated: the line-up clock starts."""

    type: Literal["separated"] = "separated"


@record
class OffenseSet:
    """The offense declares itself set."""

    type: Literal["set"] = "set"


@record
class FrontDeclared:
    """Which end of a figure's base is its front, where the camera takes it wrong.

    It is believed until a hand moves the figure, or it has walked 3 to 5 cm the other way with nothing touching it.

    Attributes:
        player: roster id.
        heading_deg: about where it faces, degrees counter-clockwise from +x of the board; the end of its base that is
            nearer to this is the front.
    """

    player: str
    heading_deg: float
    type: Literal["front"] = "front"


@record
class IdentitiesDeclared:
    """Who is who on the board, where the camera asks or is wrong; with neither field, all figures are right as drawn.

    Attributes:
        left: the jersey of the team on the left, toward smaller x of the board; None if that is not said.
        places: where players stand, for those that are not who they are drawn as.
    """

    left: Jersey | None = None
    places: tuple[RosterSpot, ...] = ()
    type: Literal["identities"] = "identities"


@record
class Carrier:
    """The ball carrier, at the snap or after a change of possession.

    Attributes:
        player: roster id of the carrier.
    """

    player: str
    type: Literal["carrier"] = "carrier"


@record
class Switch:
    """A coach used the board's switch; where nobody declares it, the board's power is measured.

    Attributes:
        on: whether the board is on now.
        by: the coach's side.
    """

    on: bool
    by: Side | None = None
    type: Literal["switch"] = "switch"


@record
class PassDeclared:
    """The offense declares a pass during a stoppage.

    Attributes:
        receiver: roster id of the figure the pass is meant for, None while not declared.
        distance_yd: its length as a person measured it, where the rulebook asks for it and no camera measures.
        near: roster ids of the defenders near enough to intercept, as a person found them.
        touching: roster ids of those among them that touch the passer or the receiver.
    """

    receiver: str | None = None
    distance_yd: float | None = None
    near: tuple[str, ...] = ()
    touching: tuple[str, ...] = ()
    type: Literal["pass"] = "pass"


@record
class Pitch:
    """The carrier pitches the ball.

    Attributes:
        to: roster id of the back that gets it.
    """

    to: str
    type: Literal["pitch"] = "pitch"


@record
class PivotsDone:
    """A coach has finished the pivots of this stoppage.

    Attributes:
        by: the coach's side.
    """

    by: Side
    type: Literal["pivots_done"] = "pivots_done"


@record
class BaseSwap:
    """A figure goes onto a stationary base or back.

    Attributes:
        player: roster id of the figure.
        stationary: whether the figure now stands on a stationary base.
    """

    player: str
    stationary: bool
    type: Literal["base_swap"] = "base_swap"


@record
class KickDeclared:
    """A kick is declared.

    Attributes:
        kick: the kind of kick.
        gunners: roster ids of the gunners, on a punt.
        returner: roster id of the returner, where one is named.
    """

    kick: Literal["kickoff", "onside", "punt", "field_goal", "extra_point", "free_kick"]
    gunners: tuple[str, ...] = ()
    returner: str | None = None
    type: Literal["kick"] = "kick"


@record
class ChoiceMade:
    """A coach chooses one of the options that the state of the game offers.

    Attributes:
        choice: one that the game waits for (`PendingInput.options`), or one that a coach may make at any time.
        by: the coach's side.
    """

    choice: Choice
    by: Side | None = None
    type: Literal["choice"] = "choice"


@record
class Roll:
    """A roll of dice, in the order the rulebook names them.

    Attributes:
        dice: the faces shown, in the order rolled; a ten-sided die shows 0 or 10 for ten.
        purpose: what was rolled for; may be empty, since the state waits for just one thing.
        by: the coach's side.
    """

    dice: tuple[int, ...]
    purpose: str = ""
    by: Side | None = None
    type: Literal["roll"] = "roll"


@record
class Coin:
    """A coin flip.

    Attributes:
        heads: whether it shows heads.
        purpose: what it was flipped for; may be empty, since the state waits for just one thing.
    """

    heads: bool
    purpose: str = ""
    type: Literal["coin"] = "coin"


@record
class Claim:
    """A coach claims something that the rulebook leaves to him to claim.

    Attributes:
        claim: an offense of his opponent, a time-out of his own, or a review of the call just made.
        by: the coach's side.
        player: roster id of the figure concerned, where there is one.
    """

    claim: Literal[
        "too_many_men",
        "delay_of_game",
        "offensive_pass_interference",
        "defensive_pass_interference",
        "gunner_interference",
        "time_out",
        "review",
    ]
    by: Side
    player: str | None = None
    type: Literal["claim"] = "claim"


@record
class ClockSet:
    """The game clock is started, stopped or set.

    Attributes:
        running: whether the clock runs now.
        left_s: seconds left in the period; None leaves them as they are.
    """

    running: bool
    left_s: float | None = None
    type: Literal["clock"] = "clock"


@record
class BallPlaced:
    """The magnetic ball is placed or taken away by hand, where the camera did not see it.

    Attributes:
        x_yd, y_yd: field yards; None when the ball is taken away.
    """

    x_yd: float | None = None
    y_yd: float | None = None
    type: Literal["ball_placed"] = "ball_placed"


@record
class FoulDeclared:
    """A foul as a penalty card or a person names it; cards write ``"D15"`` or ``"O5"`` (NFLS-081, NFLS-082).

    Attributes:
        by: the side that committed it.
        yards: length of the penalty.
        name: what it was, such as ``"O10 loss dwn inc"``.
        first_down: whether it gives an automatic first down.
        loss_of_down: whether it also costs the down.
        automatic: whether the play does not count and nobody has a choice: an "auto-5".
        on_kicker: whether it is running into the kicker.
        offsetting: whether the other side fouled as well, so that the down is played again where it was and nobody has
            a choice; the yards are left out.
    """

    by: Side
    yards: int = 0
    name: str = ""
    first_down: bool = False
    loss_of_down: bool = False
    automatic: bool = False
    on_kicker: bool = False
    offsetting: bool = False
    type: Literal["foul"] = "foul"


ABOUT_FIGURES: Final = (LineUpDeclared, FrontDeclared, IdentitiesDeclared)
"""Declarations of who is on the board, and which way they face."""

Declaration = Annotated[
    LineUpDeclared
    | SetUp
    | Separated
    | OffenseSet
    | FrontDeclared
    | IdentitiesDeclared
    | Carrier
    | Switch
    | PassDeclared
    | Pitch
    | PivotsDone
    | BaseSwap
    | KickDeclared
    | ChoiceMade
    | Roll
    | Coin
    | Claim
    | ClockSet
    | BallPlaced
    | PassEnded
    | KickEnded
    | PlayEnded
    | CardPlayed
    | ReturnPlayed
    | FoulDeclared,
    Field(discriminator="type"),
]
