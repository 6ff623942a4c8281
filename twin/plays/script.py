"""Scripts: a play on the twin's table as data, in a program or in a TOML file.

Places are in yards as the offense sees them: *ahead* of the line of scrimmage toward the goal it attacks, and *across*
from the middle of the field, positive to its left. Headings are counter-clockwise from the direction of attack, so the
same script runs either way. A script's steps are carried out one after another; `Until` waits for the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from pydantic import Field

from downfield.core.errors import InputError
from downfield.core.records import check, record
from downfield.core.scene import Player
from downfield.officiating.declarations import Declaration, Side
from downfield.twin.physics.body import Trait

Point = tuple[float, float]


@record
class Stance:
    """Position and heading of a figure at the line-up."""

    player: str  # roster id
    # ahead_yd, across_yd: of its reference point from the line of scrimmage and the middle of the field
    ahead_yd: float
    across_yd: float
    heading_deg: float | None = None  # direction of its front, 0 is the direction of attack; None faces the other team
    # the reference point: the part of its base nearest to the other team (`"front"`), or its `"center"`
    at: Literal["front", "center"] = "front"


@record
class BasesTouch:
    """The bases of two figures touch."""

    a: str
    b: str
    type: Literal["touch"] = "touch"


@record
class Engaged:
    """A figure's base touches the base of an upright opponent."""

    player: str
    type: Literal["engaged"] = "engaged"


@record
class BallTouched:
    """The first base touches the magnetic ball."""

    type: Literal["ball_touched"] = "ball_touched"


@record
class Reaches:
    """A figure's base reaches a yard line with its most advanced part."""

    player: str
    ahead_yd: float
    type: Literal["reaches"] = "reaches"


@record
class Passes:
    """A figure's base is wholly beyond a yard line."""

    player: str
    ahead_yd: float
    type: Literal["passes"] = "passes"


@record
class TouchesSideline:
    """A figure's base touches the paint of a sideline."""

    player: str
    type: Literal["touches_sideline"] = "touches_sideline"


@record
class RunnerTurnsBack:
    """A figure heads more than 90 degrees away from the direction of attack."""

    player: str
    type: Literal["turned_back"] = "turned_back"


@record
class Fallen:
    """A figure has fallen: it is tilted by more than 45 degrees."""

    player: str
    type: Literal["fallen"] = "fallen"


Condition = Annotated[
    BasesTouch | Engaged | BallTouched | Reaches | Passes | TouchesSideline | RunnerTurnsBack | Fallen,
    Field(discriminator="type"),
]


@record
class WaitFor:
    """Let time pass."""

    seconds: float
    type: Literal["wait"] = "wait"

    def __post_init__(self) -> None:
        check(self.seconds >= 0, InputError, f"a wait can't be negative ({self.seconds:g} s)")


@record
class Until:
    """Let time pass until an event happens, and record its time."""

    happens: tuple[Condition, ...]  # the events waited for; any one of them suffices
    within_s: float = 10.0  # longest wait
    required: bool = True  # whether the play fails when none of them happens; otherwise the script goes on
    mark: str = ""  # name under which the instant is recorded; empty for none
    type: Literal["until"] = "until"


@record
class Board:
    """Switch the board."""

    on: bool  # whether it is on afterwards
    by: Side | None = None  # the side whose coach turns it, by a declaration; None where power is only measured
    type: Literal["board"] = "board"


@record
class Declare:
    """Make a declaration."""

    body: Declaration
    type: Literal["declare"] = "declare"


@record
class Handling:
    """A hand's action on one figure."""

    player: str  # roster id
    turn_deg: float = 0.0  # turn it by this angle, counter-clockwise
    toward: str | None = None  # turn it to face this figure; not together with a turn
    toward_point: Point | None = None  # turn it to face this place; not together with a turn
    to: Point | None = None  # lift it and put its center there, yards ahead and across
    shift_mm: Point = (0.0, 0.0)  # slide it by this, along x and y of the board as the offense sees them
    lift_away: bool = False  # take it off the board
    # skip the figure when it is engaged, lies, or has no room where it would go; otherwise a lack of room is an error
    if_free: bool = False


@record
class Hands:
    """A coach's hands come in, handle figures one after another and leave."""

    by: Side  # the coach's side
    moves: tuple[Handling, ...]  # their actions, in order
    hands: Literal[1, 2] = 1  # how many hands work at once, 1 or 2
    seconds: float = 0.9  # time for each figure, the reach included; 0.3 or more
    type: Literal["hands"] = "hands"

    def __post_init__(self) -> None:
        check(self.seconds >= 0.3, InputError, f"a hand needs at least 0.3 s for a figure, not {self.seconds:g}")


@record
class Topple:
    """A figure tips over."""

    player: str  # roster id
    away_from: str | None = None  # it tips away from this figure; None tips it to its right
    strength: float = 1.8  # energy of the knock in the physics, as a multiple of what lifts it over its base's edge
    type: Literal["topple"] = "topple"


@record
class Steer:
    """A figure keeps turning toward a target; without a target it walks freely."""

    player: str
    toward: str | None = None
    toward_point: Point | None = None
    type: Literal["steer"] = "steer"


@record
class Route:
    """A figure walks along a polyline of centers from where it stands.

    On exact paths it follows the line to the last digit; in the physics it is steered from point to point.
    """

    player: str  # roster id
    points: tuple[Point, ...]  # the polyline, yards ahead and across
    heading_deg: float | None = None  # kept along the whole path; None faces along it
    speed_mm_s: float | None = None  # None walks at its own speed
    type: Literal["route"] = "route"


@record
class GiveBall:
    """A figure carries the foam ball from now on."""

    player: str
    type: Literal["give_ball"] = "give_ball"


@record
class LoseBall:
    """The ball drops off its carrier and lies at a place."""

    at: Point
    type: Literal["lose_ball"] = "lose_ball"


@record
class LayStick:
    """A hand lays a passing stick from a figure to a place, sets the magnetic ball at its end and takes it away."""

    by: Side  # the coach's side
    start: str  # roster id of the figure at whose helmet it begins
    end: Point  # place of the ball, yards ahead and across
    seconds: float = 2.4  # time from the arrival of the stick to its removal
    type: Literal["lay_stick"] = "lay_stick"


@record
class TakeBall:
    """The ball is taken away."""

    type: Literal["take_ball"] = "take_ball"


@record
class CutTo:
    """Cut the picture to a new formation, leaving out the time between plays."""

    formation: tuple[Stance, ...]  # all figures, as at the start
    line_yd: float | None = None  # the new line of scrimmage, field yards along x of the board
    spot: tuple[str, str] | None = None  # a figure and a mark instead: the line is at its foremost part at that mark
    seconds: float = 0.5  # time that the cut leaves out
    type: Literal["cut"] = "cut"

    def __post_init__(self) -> None:
        check((self.line_yd is None) != (self.spot is None), InputError, "a cut needs a line_yd or a spot, not both")


Step = Annotated[
    WaitFor
    | Until
    | Board
    | Declare
    | Hands
    | Topple
    | Steer
    | Route
    | GiveBall
    | LoseBall
    | LayStick
    | TakeBall
    | CutTo,
    Field(discriminator="type"),
]


@record
class Script:
    """A play."""

    name: str  # short and unique: the name of its files and in messages
    about: str  # summary, in a sentence, for `downfield twin plays`
    players: tuple[Player, ...]  # the roster
    formation: tuple[Stance, ...]  # where all figures stand at first; a figure that is not in it waits beside the board
    steps: tuple[Step, ...]  # the script's actions, in order
    board: str = "ultimate"  # the printed field: a preset's name or the path of a field file
    line_yd: float = 40.0  # line of scrimmage, field yards along x of the board
    direction: Literal[-1, 1] = 1  # 1 when the offense goes toward larger x, -1 toward smaller x
    traits: Mapping[str, Trait] = field(default_factory=dict)  # by roster id; others have `Trait`'s defaults
    # `"physics"` walks the figures by dynamics, `"exact"` on geometric paths
    motion: Literal["physics", "exact"] = "physics"
    fps: float = 30.0  # frames per second, 1..240

    def trait(self, player: str) -> Trait:
        """Return a figure's trait."""
        return self.traits.get(player, Trait())
