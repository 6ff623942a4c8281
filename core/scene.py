"""Scenes: everything seen on the board at one instant, in board millimeters, with errors.

Standard deviations are one sigma. The twin's truth has sigma 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import Field

from downfield.core.errors import InputError
from downfield.core.footprint import BaseSize, Face, Footprint
from downfield.core.mathematics import wrap_deg
from downfield.core.records import Probability, check, record

Jersey = Literal["dark", "light"]
Posture = Literal["upright", "fallen", "lifted", "unseen"]
Power = Literal["on", "off", "unknown"]
Asked = Literal["", "sides", "names"]
"""What a person is to answer before calls rest on who is who: which team is on which side, or which name is whose."""

ASKED: Final[dict[Asked, str]] = {
    "sides": "Not sure which team is on the left: answer on the panel, and calls go on",
    "names": "Nobody has said which figure is which: say on the panel whether all are right as drawn, and calls go on",
}
"""Why scenes are unfit until a person has answered who is who."""
BallState = Literal["carried", "magnetic", "loose"]

OPPOSITE_FACE: Final[dict[Face, Face]] = {
    "front": "rear",
    "rear": "front",
    "left": "right",
    "right": "left",
    "corner": "corner",
}
"""What each face is called once front and rear are exchanged."""

SURE_IDENTITY: Final = 0.95
"""A figure is sure to be who it is said to be from this probability on, at which rulebooks make calls."""

LOST_MM: Final = 100.0  # a figure outside a hand is lost when the standard deviation of its position exceeds this


@record
class Player:
    """One entry of the roster, which is fixed at the line-up.

    Attributes:
        id: unique among all figures on the board, such as ``"dark-12"``.
        jersey: its color class; the game knows which coach has which.
        number: on its back; empty when not known.
        role: ``C``, ``G``, ``T``, ``TE``, ``WR``, ``QB``, ``RB``, ``DL``, ``NT``, ``LB``, ``DB``, ``K``, ``P``,
            ``KR``... as the coach names it; empty when not known.
        base: the size of its base.
        hand_mm: ahead and to the left of the base's center, the forward point of the carrying hand, for rulebooks that
            spot there; None when not measured.
    """

    id: str
    jersey: Jersey
    number: str = ""
    role: str = ""
    base: BaseSize = BaseSize()
    hand_mm: tuple[float, float] | None = None


@record
class Figure:
    """A base and the player on it, at one instant."""

    id: str  # roster id
    jersey: Jersey  # its color class
    x_mm: float  # x_mm, y_mm: center of the footprint on the board (for a fallen figure, of the base as it lies)
    y_mm: float
    heading_deg: float  # counter-clockwise from +x, -180..180
    length_mm: float  # length_mm, width_mm, corner_mm: the footprint's size, as known at this instant
    width_mm: float
    corner_mm: float = 0.0
    posture: Posture = "upright"  # `"lifted"` in a hand; `"unseen"` not detected, its position predicted
    sigma_mm: tuple[float, float] = (0.0, 0.0)  # standard deviation of the position, along x and y
    sigma_deg: float = 0.0  # of the heading
    visible: Probability = 1.0  # share of the base top that is seen, 0..1
    helmet_mm: tuple[float, float] | None = None  # the helmet's center brought down to the board, None when not seen
    sure: bool = True  # False when the identity is uncertain after a hand, a crossing or a pile
    fell_ns: int | None = None  # instant of the fall, known some frames later; None when unknown
    front: Probability = 1.0  # probability that the heading points to the base's front and not to its rear, 0..1
    identity: Probability = 1.0  # probability that it is this figure, 0..1

    @property
    def lost(self) -> bool:
        """Whether the figure may be anywhere: not found yet, or not seen for long. Its position is then meaningless."""
        return self.posture != "lifted" and max(self.sigma_mm) > LOST_MM

    def turned_around(self) -> Figure:
        """Return the same base with its other end as the front, as probable as that is."""
        return replace(self, heading_deg=wrap_deg(self.heading_deg + 180.0), front=1.0 - self.front)

    @property
    def footprint(self) -> Footprint:
        """The figure's base as geometry; its height is not known here and is 0."""
        return Footprint(
            self.x_mm, self.y_mm, self.heading_deg, BaseSize(self.length_mm, self.width_mm, 0.0, self.corner_mm)
        )


@record
class Contact:
    """Two bases that touch or nearly touch."""

    a: str  # a, b: roster ids, a < b
    b: str
    gap_mm: float  # signed distance of the outlines; negative when they overlap
    sigma_mm: float  # its standard deviation
    probability: Probability  # that they touch at this instant, 0..1
    face_a: Face  # face_a, face_b: the faces that meet
    face_b: Face
    angle_deg: float  # between the two meeting faces, 0 when they lie flush; 0..90
    overlap_mm: float = 0.0  # length over which the faces lie along each other
    since_ns: int | None = None  # interpolated instant the contact began; None while they do not touch
    since_sigma_s: float = 0.0  # error of that instant by pictures that did not come then, and by that of their times


@record
class Ball:
    """The ball."""

    state: BallState  # carried by a figure, standing on the board (a magnetic ball), or loose
    x_mm: float  # x_mm, y_mm: its center on the board
    y_mm: float
    carrier: str | None = None  # roster id while carried
    sigma_mm: float = 0.0  # standard deviation of its position
    touched_by: str | None = None  # roster id of the first figure to touch it since it was placed or came loose
    touched_ns: int | None = None  # when


@record
class Hand:
    """A hand, an arm or a stick over the board."""

    outline_mm: tuple[tuple[float, float], ...]  # its outline brought down to the board, at least three points
    covers: tuple[str, ...] = ()  # roster ids of the figures it hides


@record
class Scene:
    """Everything seen at one instant."""

    frame: int  # index in its recording
    t_ns: int  # capture time
    board: Power  # whether the board is switched on
    figures: tuple[Figure, ...]  # the whole roster, in roster order
    contacts: tuple[Contact, ...] = ()  # pairs with a gap below 5 mm, opponents and teammates
    ball: Ball | None = None  # None when unknown
    hands: tuple[Hand, ...] = ()  # hands in view
    unfit: tuple[str, ...] = ()  # reasons why no calls may be made from this scene; empty when calls may be made
    asks: Asked = ""  # what a person is to answer about who is who; empty for nothing


Error = Annotated[float, Field(ge=0, le=1000)]


@record
class SentFigure:
    """A figure as another program has seen it; it is on the roster as ``TEAM-NUMBER``, such as ``dark-12``."""

    team: Jersey  # its color class
    number: Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,8}$")]  # on its back; unique in its team
    x: float  # x, y: center of its base on the board, in the scene's unit, from the left goal line and lower sideline
    y: float
    heading_deg: float  # where its front points, counter-clockwise from +x
    fallen: bool = False  # whether it lies
    # standard deviation of the position, mm; what is not said is taken as poor, so that close calls stay open
    sigma_mm: Error = 5.0
    sigma_deg: Error = 10.0  # of the heading


@record
class SentBall:
    """A ball as another program has seen it."""

    state: BallState  # carried by a figure, standing on the board (a magnetic ball), or loose
    x: float  # x, y: its center, in the scene's unit
    y: float
    carrier: str | None = None  # ``TEAM-NUMBER`` while carried
    sigma_mm: Error = 5.0  # standard deviation of its position


@record
class SentScene:
    """What another program has seen at one instant."""

    t_ns: Annotated[int, Field(ge=0)]  # when, on a clock of the program's own; it rises strictly
    unit: Literal["mm", "yd"]  # of x and y
    figures: tuple[SentFigure, ...]  # all that were seen
    board: Power = "unknown"  # whether the board is switched on
    ball: SentBall | None = None  # none when unknown
    unfit: tuple[str, ...] = ()  # reasons why no calls may be made from it, for people; empty when they may

    def __post_init__(self) -> None:
        ids = [(figure.team, figure.number) for figure in self.figures]
        check(len(set(ids)) == len(ids), InputError, "figures: two have the same team and number")
