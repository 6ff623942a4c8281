"""The records of an event's parts: who plays, what is played, when, and how it came out."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from pydantic import Field

from downfield.core.errors import InputError
from downfield.core.records import check, record

Stage = Literal["pool", "winners", "losers", "final", "consolation", "third_place"]
Elimination = Literal["none", "single", "double"]
TieBreak = Literal["head_to_head", "opponents", "point_difference", "points_for", "points_against"]

MAX_ENTRANTS = 256
MAX_POINTS = 999
MAX_NAME = 80


@record
class RegisteredFigure:
    """A figure of a coach, as it was checked before the event.

    Attributes:
        number: on the figure.
        position: such as ``"QB"``.
        grams: its weight; None if it was not weighed.
        note: what was found, such as ``"base filed"``.
        refused: whether the officials refused it.
    """

    number: str
    position: str = ""
    grams: float | None = None
    note: str = ""
    refused: bool = False

    def __post_init__(self) -> None:
        check(0 < len(self.number) <= 8, InputError, "a figure's number has 1 to 8 characters")
        check(self.grams is None or 0 < self.grams <= 1000, InputError, "a figure weighs 0 to 1000 g")


@record
class Entrant:
    """A coach with a team.

    Attributes:
        id: unique in the event.
        coach: the person.
        team: the team's name; empty for the coach's.
        short: the team's short name, for a score bug.
        color: of the team, ``#rrggbb``; empty for none.
        club: those of one club are drawn into different pools where it can be.
        seed: 1 for the strongest; None for unseeded.
        figures: the roster.
        withdrawn: whether they left the event; games not played are then forfeited.
        keeps_place: whether somebody who left keeps a place in the pool: a game that the place decides had begun.
    """

    id: str
    coach: str
    team: str = ""
    short: str = ""
    color: str = ""
    club: str = ""
    seed: int | None = None
    figures: tuple[RegisteredFigure, ...] = ()
    withdrawn: bool = False
    keeps_place: bool = False

    @property
    def name(self) -> str:
        """The team's name, or the coach's."""
        return self.team or self.coach

    def __post_init__(self) -> None:
        is_named = bool(self.coach.strip()) and len(self.coach) <= MAX_NAME
        check(is_named, InputError, "a coach has a name of 1 to 80 letters")
        check(len(self.team) <= MAX_NAME, InputError, "a team's name has at most 80 letters")
        check(self.seed is None or 1 <= self.seed <= MAX_ENTRANTS, InputError, "a seed is a number from 1")
        numbers = [figure.number for figure in self.figures]
        check(len(set(numbers)) == len(numbers), InputError, "a figure's number occurs twice")


@record
class KnownEntrant:
    """A side of a game that is known from the draw."""

    entrant: str
    type: Literal["entrant"] = "entrant"


@record
class PoolPlace:
    """A side that is decided by a pool: its first, second, ..."""

    pool: str
    place: int
    type: Literal["pool_place"] = "pool_place"


@record
class WinnerOf:
    """A side that is the winner of an earlier game."""

    match: str
    type: Literal["winner"] = "winner"


@record
class LoserOf:
    """A side that is the loser of an earlier game."""

    match: str
    type: Literal["loser"] = "loser"


Slot = Annotated[KnownEntrant | PoolPlace | WinnerOf | LoserOf, Field(discriminator="type")]
"""Who plays on a side of a game."""


@record
class Result:
    """How a game came out.

    Attributes:
        home, away: points.
        overtime: whether it took overtime.
        forfeited_by: the side that did not play or gave up; the points then stand for the standings as they are.
        signed_by: the names of those who signed it, home and away; one who did not is empty.
        note: for the record.
        game: id of the game at a table that it was taken from; empty where it was entered by hand.
        protested: whether a coach signed with a protest, which the note has.
        overtime_winner: the side that won an overtime that the points do not show, as one of yards (TAP-132).
    """

    home: int
    away: int
    overtime: bool = False
    forfeited_by: Literal["home", "away"] | None = None
    signed_by: tuple[str, ...] = ()
    note: str = ""
    game: str = ""
    protested: bool = False
    overtime_winner: Literal["home", "away"] | None = None

    def __post_init__(self) -> None:
        check(0 <= self.home <= MAX_POINTS and 0 <= self.away <= MAX_POINTS, InputError, "points are 0 to 999")

    @property
    def winner(self) -> Literal["home", "away"] | None:
        """The side that won; None for a tie."""
        if self.forfeited_by is not None:
            return "away" if self.forfeited_by == "home" else "home"
        return self.overtime_winner if self.home == self.away else "home" if self.home > self.away else "away"


@record
class Match:
    """One game of the event."""

    id: str  # unique in the event, such as ``"A3"`` or ``"W2-1"``
    stage: Stage  # of the event
    round: int  # in its stage, from 1
    # home, away: who plays
    home: Slot
    away: Slot
    pool: str = ""  # the pool, for the stage ``"pool"``
    table: str = ""  # where it is played; empty while that is open
    slot: int | None = None  # number of its start time, from 0; None while that is open
    # how it came out; None while it is open. Made anew of the decisions and the tables' games at each change.
    result: Result | None = None
    # whether it is only played when the side that comes from the losers' bracket won the game before
    if_needed: bool = False
    dispute: str = ""  # why the director must decide it, and what is known; empty where nothing contradicts
    game: str = ""  # id of the table's game that is, or was last, played for it; empty for none
    fixed: bool = False  # whether it stays at its table and time when a schedule is made
    postponed: bool = False  # whether it waits without a time until the director sets it one
    officials: tuple[str, ...] = ()  # names of those who referee or operate it


@record
class Session:
    """A time in which games are played, such as Saturday from 9:00 to 18:00.

    Attributes:
        begins, ends: local time, ``YYYY-MM-DDTHH:MM``.
    """

    begins: str
    ends: str


@record
class Rules:
    """How the event is played.

    Attributes:
        pools: number of pools; 0 for none.
        advance: how many of each pool go on.
        elimination: what follows the pools.
        consolation: whether those who do not go on from the pools play on for places of their own; without pools the
            first-round losers of a single elimination.
        third_place: whether the losers of the semifinals play for third place.
        swiss: number of Swiss rounds in place of pools; 0 for none.
        tie_breaks: in order; how strong opponents were counts in Swiss rounds only.
        largest_difference: more points of difference in one game don't count for tie-breaks; 0 for no limit.
        heaviest_g: a figure with its base may weigh so many grams; 0 for no limit.
        most_figures: so many may a coach bring; 0 for no limit.
    """

    pools: int = 0
    advance: int = 2
    elimination: Elimination = "single"
    consolation: bool = False
    third_place: bool = False
    swiss: int = 0
    tie_breaks: tuple[TieBreak, ...] = ("head_to_head", "opponents", "point_difference", "points_for", "points_against")
    largest_difference: int = 0
    heaviest_g: float = 0.0
    most_figures: int = 0

    @property
    def has_pools(self) -> bool:
        """Whether something is played before the elimination, or in place of it."""
        return self.pools > 0 or self.swiss > 0

    def __post_init__(self) -> None:
        check(0 <= self.heaviest_g <= 1000, InputError, "a figure may weigh 0 (any weight) to 1000 grams")
        check(0 <= self.most_figures <= 1000, InputError, "a coach may bring 0 (any number) to 1000 figures")
        check(0 <= self.pools <= 64, InputError, "there are 0 to 64 pools")
        check(1 <= self.advance <= 16, InputError, "1 to 16 of each pool go on")
        check(0 <= self.swiss <= 20, InputError, "there are 0 to 20 Swiss rounds")
        check(not (self.swiss and self.pools), InputError, "an event has pools or Swiss rounds, not both")
        is_played = self.has_pools or self.elimination != "none"
        check(is_played, InputError, "an event has pools, Swiss rounds or an elimination")
        check(len(set(self.tie_breaks)) == len(self.tie_breaks), InputError, "a tie-break occurs twice")
        needs_single = self.third_place or (self.consolation and not self.has_pools)
        check(
            self.elimination == "single" or not needs_single,
            InputError,
            "a game for third place and a consolation bracket without pools belong to a single elimination",
        )
        is_beside = self.elimination != "none" or not self.consolation
        check(is_beside, InputError, "a consolation bracket is played beside an elimination")


@record
class EventClock:
    """The event's common clock: all games of a slot begin together.

    Attributes:
        game_min: length of a game, minutes.
        change_min: from the end of a game to the next, minutes.
        sessions: when games are played, in order.
        rest_slots: slots between two games of one coach.
        delays: minutes by which a slot, and those after it in its session, begin later.
    """

    game_min: int = 60
    change_min: int = 10
    sessions: tuple[Session, ...] = ()
    rest_slots: int = 0
    delays: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check(1 <= self.game_min <= 600, InputError, "a game takes 1 to 600 minutes")
        check(0 <= self.change_min <= 240, InputError, "between two games are 0 to 240 minutes")
        check(0 <= self.rest_slots <= 20, InputError, "a coach rests for 0 to 20 games")
