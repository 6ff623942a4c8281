"""The state of the game: one frozen record.

Places are field yards along x of the board, which do not turn with the offense; `GameState.progress_yd` turns them into
its own yards, 0 at its own goal line. Pairs of numbers are of home and away, never of offense and defense. Times are
integer nanoseconds of the game's injected clock.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Final, Literal

from downfield.core.records import record, replace
from downfield.core.scene import Jersey, Player, Power
from downfield.officiating.declarations import Choice, Hash, Side
from downfield.officiating.sides import place_yd
from downfield.officiating.state.play_state import PlayKind, PlayState, Pose

ORDINALS: Final = ("1st", "2nd", "3rd", "4th")


class Phase(StrEnum):
    """What the game is doing; rules name the phases they are active in."""

    BETWEEN_PLAYS = "between_plays"
    LINE_UP = "line_up"
    SET = "set"
    KICK = "kick"
    LIVE = "live"
    STOPPED = "stopped"
    PASS = "pass"  # noqa: S105 - a forward pass
    IN_AIR = "in_air"
    PENDING_ROLL = "pending_roll"
    PENDING_CHOICE = "pending_choice"
    OVER = "over"


PENDING_INPUT: Final = frozenset({Phase.PENDING_ROLL, Phase.PENDING_CHOICE})
"""Phases in which the game waits for dice, a coin or a choice."""


@record
class PendingInput:
    """What a pending phase waits for."""

    kind: Literal["roll", "coin", "choice", "ruling"]  # dice, a coin, a coach's choice, or a ruling on a close call
    purpose: str  # what it decides, such as `"fumble"` or `"field_goal"`
    options: tuple[Choice, ...] = ()  # the choices on offer; with dice, those in their place, such as not to roll
    by: Side | None = None  # the side whose coach makes it, None for either


@record
class Team:
    """One coach's team."""

    name: str  # in full
    short: str  # as shown on a score bug


@record
class Clock:
    """The game clock."""

    left_s: float | None = None  # seconds left in the period at `at_ns`; None where the rulebook has no such clock
    running: bool = False  # whether the clock has been running since then
    at_ns: int = 0  # when the clock was last set

    def left_at_s(self, t_ns: int) -> float | None:
        """Return the seconds left at an instant, never below 0."""
        if self.left_s is None or not self.running:
            return self.left_s
        return max(0.0, self.left_s - (t_ns - self.at_ns) / 1e9)


@record
class Overtime:
    """An overtime."""

    number: int  # 1-based
    first: Side  # the side that had the ball first
    gains_yd: tuple[float, ...] = ()  # yards gained in the possessions so far, in order; a touchdown counts as 1000
    gains_sigma_yd: tuple[float, ...] = ()  # standard deviation of each, where it was measured
    for_yards: bool = False  # whether it is played for yards, and nothing in it gives points


@record
class SystemState:
    """Base class of what one rulebook's system keeps of a game beyond `GameState`; only that system reads it."""


HOME_AND_AWAY: Final = (Team("Home", "H"), Team("Away", "A"))


@record
class GameState:
    """The game at one instant."""

    phase: Phase = Phase.BETWEEN_PLAYS  # what the game is doing
    wait: PendingInput | None = None  # the dice, coin or choice a pending phase waits for
    offense: Side = "home"  # the side whose down it is, until the play ends; `PlayState.ball_side` has the ball now
    direction: Literal[-1, 1] = 1  # 1 when the offense goes toward larger x of the board, else -1
    dark: Side = "home"  # the side whose figures wear the dark jersey
    los_yd: float = 50.0  # line of scrimmage, along x of the board
    to_gain_yd: float = 60.0  # line to gain, along x of the board; the goal line when it is goal to go
    # standard deviation of that: of the measured spot from which the series began; 0 where that was told or rolled, and
    # for a goal line, which is painted
    to_gain_sigma_yd: float = 0.0
    lateral_yd: float | None = None  # where the ball is spotted across; None when plays start at the middle
    # the hash mark the ball is on, for rulebooks that use no more than that; left is the upper row as the camera sees
    # the board, whichever way the offense goes
    hash: Hash = "center"
    down: int = 1  # 1..4
    score: tuple[int, int] = (0, 0)  # points of home, away
    period: int = 1  # 1-based
    clock: Clock = Clock()  # the game clock
    system: SystemState | None = None  # what only the rulebook's system keeps of the game, if anything
    time_outs: tuple[int, int] | None = None  # time-outs left to home, away; None where there are none
    play: PlayState = PlayState()  # the state of the play
    due: PlayKind = "kickoff"  # the kind of play that comes next
    try_for: Side | None = None  # the side that has a try after a touchdown, while one is due
    kicking: Side | None = None  # the side that kicks off next, when a kickoff or free kick is due
    opening_kicker: Side | None = None  # the side that kicked off first in this game; None before the first kickoff
    board: Power = "unknown"  # whether the board is switched on, as declared or measured, whichever came last
    players: tuple[Player, ...] = ()  # the roster on the board
    teams: tuple[Team, Team] = HOME_AND_AWAY  # home, away
    # length_yd, width_yd, end_zone_yd: goal line to goal line, sideline to sideline, and one end zone; 0 for none
    length_yd: float = 100.0
    width_yd: float = 160 / 3
    end_zone_yd: float = 10.0
    separated_ns: int | None = None  # separated_ns, set_ns: when the line-up clock and the defense's clock started
    set_ns: int | None = None
    set_poses: tuple[Pose, ...] = ()  # of all figures, when the offense declared itself set
    ready_poses: tuple[Pose, ...] = ()  # of all figures, when the defense declared its line-up done; else empty
    changed_ns: int | None = None  # when possession last changed or points were scored, for set-up clocks
    gain_yd: float | None = None  # yards gained in the last play from scrimmage, None before one
    overtime: Overtime | None = None  # the overtime in progress
    winner: Side | None = None  # the side that has won a game that is over; None for a tie
    # when the latest ruling was made that has changed what the next line-up is for; None once the board was on again
    ruled_ns: int | None = None
    proposals: tuple[str, ...] = ()  # ids of the calls that wait for a person
    suspended: tuple[str, ...] = ()  # why no calls are made from the scenes
    unseen_ns: tuple[int, int] | None = None  # from the last scene before calls were suspended, to the last so
    notes: tuple[tuple[str, float], ...] = ()  # what a rulebook remembers between plays: (name, value) pairs
    now_ns: int = 0  # the latest instant of any entry; consequences of a call are about an earlier one, the call's

    @property
    def defense(self) -> Side:
        """The side that does not have the down."""
        return opponent(self.offense)

    @property
    def line_yd(self) -> float:
        """The line of scrimmage in the offense's own yards."""
        return self.progress_yd(self.los_yd)

    @property
    def to_goal_yd(self) -> float:
        """Yards from the line of scrimmage to the goal line that the offense attacks."""
        return self.length_yd - self.line_yd

    @property
    def distance_yd(self) -> float:
        """Yards to go."""
        return self.progress_yd(self.to_gain_yd) - self.line_yd

    @property
    def leader(self) -> Side | None:
        """The side with more points; None for a tie."""
        home, away = self.score
        return None if home == away else "home" if home > away else "away"

    @property
    def ball_direction(self) -> int:
        """The way the side with the ball goes along x, 1 or -1; differs from `direction` after a turnover."""
        return self.direction if self.play.ball_side == self.offense else -self.direction

    @property
    def goal_to_go(self) -> bool:
        """Whether the line to gain is the goal line."""
        return math.isclose(self.progress_yd(self.to_gain_yd), self.length_yd, abs_tol=1e-6)

    @property
    def left(self) -> Side:
        """The side whose goal line is on the left, toward smaller x."""
        return self.offense if self.direction > 0 else self.defense

    @property
    def left_jersey(self) -> Jersey:
        """The jersey of the team on the left."""
        return "dark" if self.left == self.dark else "light"

    def direction_of(self, side: Side) -> int:
        """Return the way along x of the board a side goes, 1 or -1."""
        return self.direction if side == self.offense else -self.direction

    def progress_yd(self, x_yd: float, direction: int | None = None) -> float:
        """Return the yards from a side's own goal line, by the direction it goes (the offense's unless given)."""
        return x_yd if (direction or self.direction) > 0 else self.length_yd - x_yd

    def board_x_yd(self, progress_yd: float, direction: int | None = None) -> float:
        """Return where along x of the board a side's own yard line is: the inverse of `progress_yd`."""
        return self.progress_yd(progress_yd, direction)

    def side_of(self, jersey: Jersey) -> Side:
        """Return the side whose figures wear a jersey now."""
        return self.dark if jersey == "dark" else opponent(self.dark)

    def player(self, player: str | None) -> Player | None:
        """Return a roster entry, None when there is no such figure."""
        return next((entry for entry in self.players if entry.id == player), None)

    def points(self, side: Side) -> int:
        """Return a side's score."""
        return self.score[0 if side == "home" else 1]

    def team(self, side: Side) -> Team:
        """Return a side's team."""
        return self.teams[0 if side == "home" else 1]

    def note(self, name: str) -> float | None:
        """Return what the rulebook noted between plays, None when it noted nothing of that name."""
        return next((value for key, value in self.notes if key == name), None)

    def with_note(self, name: str, value: float) -> GameState:
        """Return the game with a note that lasts between plays."""
        return replace(self, notes=(*(pair for pair in self.notes if pair[0] != name), (name, value)))

    def spot_text(self, x_yd: float) -> str:
        """Return a place along the field as an announcer says it: ``"B 34"``, ``"50"``, ``"H end zone"``."""
        return place_text(x_yd, self._shorts, self.direction_of("home"), self.length_yd)

    def place(self, named: str) -> tuple[float, float]:
        """Return where a named place is, along x and, in the middle, across. Raises RefusedError: none such."""
        return place_yd(named, self._shorts, self.direction_of("home"), self.length_yd), self.width_yd / 2

    @property
    def _shorts(self) -> tuple[str, str]:
        return self.teams[0].short, self.teams[1].short

    @property
    def situation(self) -> str:
        """Down and distance such as ``"2nd & 7 at B 34"``, or the kind of play that is due instead."""
        if self.phase is Phase.OVER:
            return "final"
        if self.due == "extra_point" and self.phase in {Phase.PENDING_CHOICE, Phase.PENDING_ROLL}:
            return "try" if self.phase is Phase.PENDING_CHOICE else "extra point"  # from no line yet
        if self.due != "scrimmage":
            return f"{self.due.replace('_', ' ')} from {self.spot_text(self.los_yd)}"
        distance = round(self.distance_yd, 1)
        to_go = "goal" if self.goal_to_go else "inches" if distance < 0.5 else f"{distance:.4g}"
        return f"{ORDINALS[self.down - 1]} & {to_go} at {self.spot_text(self.los_yd)}"

    @property
    def text(self) -> str:
        """Score, situation and phase on one line."""
        home, away = self.teams
        score = f"{home.short} {self.score[0]}, {away.short} {self.score[1]}"
        waits = f"; waiting for {self.wait.kind}: {self.wait.purpose.replace('_', ' ')}" if self.wait else ""
        doing = self.phase.value.replace("_", " ")
        # An overtime of yards has a winner whom the score does not show (TAP-132).
        unseen = self.winner if self.score[0] == self.score[1] else None
        won = "" if unseen is None else f", {self.team(unseen).name} wins in overtime"
        return f"{score} | {self.team(self.play.ball_side).short} ball, {self.situation}{won} | {doing}{waits}"


def opponent(side: Side) -> Side:
    """Return the other side."""
    return "away" if side == "home" else "home"


def place_text(x_yd: float, shorts: tuple[str, str], home_direction: int, length_yd: float) -> str:
    """Return a place along the field as an announcer says it: ``"B 34"``, ``"50"``, ``"H end zone"``."""
    from_left = round(x_yd, 1)
    half = length_yd / 2
    is_home = (from_left < half) == (home_direction > 0)  # who goes to the right defends the left
    to_goal = min(from_left, length_yd - from_left)
    if to_goal < 0:
        return f"{shorts[not is_home]} end zone"
    return f"{half:.4g}" if from_left == half else f"{shorts[not is_home]} {to_goal:.4g}"
