"""The state of the game: one frozen record, printed as a fan would read it.

Places are field yards along x of the board; `GameState.progress_yd` turns them into the offense's own yards, 0 at its
own goal line. Times are the game's injected clock, integer nanoseconds. Nothing here is ever changed in place.
"""

from __future__ import annotations

import math
from dataclasses import replace
from enum import StrEnum
from typing import Literal

from downfield.core.records import record
from downfield.core.scene import Jersey, Player, Power
from downfield.officiating.declarations import Choice, Hash, Side
from downfield.officiating.engine.play_state import PlayKind, PlayState, Pose

ORDINALS = ("1st", "2nd", "3rd", "4th")


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


@record
class PendingInput:
    """What a pending phase waits for.

    Attributes:
        kind: dice, a coin, or a coach's choice.
        purpose: what for, such as ``"fumble"`` or ``"field_goal"``.
        options: the choices open; empty for dice and coins.
        by: whose coach, None for either.

    """

    kind: Literal["roll", "coin", "choice"]
    purpose: str
    options: tuple[Choice, ...] = ()
    by: Side | None = None


@record
class Team:
    """One coach's team.

    Attributes:
        name: in full.
        short: as it stands on a score bug.

    """

    name: str
    short: str


@record
class Clock:
    """The game clock.

    Attributes:
        left_s: time left in the period at `at_ns`; None where the rulebook has no such clock.
        running: whether it has run since.
        at_ns: when it was last set.

    """

    left_s: float | None = None
    running: bool = False
    at_ns: int = 0

    def left_at_s(self, t_ns: int) -> float | None:
        """Seconds left at an instant, never below 0."""
        if self.left_s is None or not self.running:
            return self.left_s
        return max(0.0, self.left_s - (t_ns - self.at_ns) / 1e9)


@record
class Overtime:
    """An overtime.

    Attributes:
        number: 1-based.
        first: who had the ball first.
        gains_yd: of the possessions so far, in order; a touchdown is infinite and kept as 1000.

    """

    number: int
    first: Side
    gains_yd: tuple[float, ...] = ()


@record
class SystemState:
    """Base of what one rulebook's system keeps of a game beyond `GameState`; only that system reads it."""


HOME_AND_AWAY = (Team("Home", "H"), Team("Away", "A"))


@record
class GameState:
    """The game at one instant.

    Attributes:
        phase: what it is doing.
        wait: what a pending phase waits for.
        offense: whose down it is.
        direction: 1 when the offense goes toward larger x of the board.
        dark: which coach's men wear the dark jersey.
        los_yd: line of scrimmage, along x of the board.
        to_gain_yd: line to gain, along x of the board; the goal line when it is goal to go.
        lateral_yd: where the ball is spotted across the field; None when the rulebook always starts mid-field.
        hash: where across the field the ball is, for rulebooks that ask only that; left is the upper row as the camera
            sees the board, whichever way the offense goes.
        down: 1..4.
        score: home, away.
        period: 1-based.
        clock: the game clock.
        system: what only the rulebook's own system keeps of the game; None where `GameState` is enough.
        time_outs: left to home, away; None where there are none.
        play: what lasts one play.
        due: the kind of play that comes next.
        try_for: whose try after a touchdown it is, while one is due.
        kicking: who kicks off next, when a kickoff or free kick is due.
        opened: who kicked off first in this game; None while nobody has.
        board: whether the board is switched on.
        players: the roster on the board.
        teams: home, away.
        length_yd, width_yd, end_zone_yd: the field.
        separated_ns, set_ns: when the line-up clock and the defense's clock started.
        set_poses: everybody, as the offense said it was set.
        ready_poses: everybody, as the defense said it was done lining up; empty when it did not.
        changed_ns: when possession last changed or points were scored, for set-up clocks.
        gain_yd: of the last play from scrimmage, None before one.
        overtime: while one is played.
        proposals: ids of the calls that wait for a person.
        suspended: why calls are not being made from the scenes.
        notes: what a rulebook remembers between plays: (name, value) pairs.
        now_ns: the latest instant seen.

    """

    phase: Phase = Phase.BETWEEN_PLAYS
    wait: PendingInput | None = None
    offense: Side = "home"
    direction: Literal[-1, 1] = 1
    dark: Side = "home"
    los_yd: float = 50.0
    to_gain_yd: float = 60.0
    lateral_yd: float | None = None
    hash: Hash = "center"
    down: int = 1
    score: tuple[int, int] = (0, 0)
    period: int = 1
    clock: Clock = Clock()
    system: SystemState | None = None
    time_outs: tuple[int, int] | None = None
    play: PlayState = PlayState()
    due: PlayKind = "kickoff"
    try_for: Side | None = None
    kicking: Side | None = None
    opening_kicker: Side | None = None
    board: Power = "unknown"
    players: tuple[Player, ...] = ()
    teams: tuple[Team, Team] = HOME_AND_AWAY
    length_yd: float = 100.0
    width_yd: float = 160 / 3
    end_zone_yd: float = 10.0
    separated_ns: int | None = None
    set_ns: int | None = None
    set_poses: tuple[Pose, ...] = ()
    ready_poses: tuple[Pose, ...] = ()
    changed_ns: int | None = None
    gain_yd: float | None = None
    overtime: Overtime | None = None
    proposals: tuple[str, ...] = ()
    suspended: tuple[str, ...] = ()
    notes: tuple[tuple[str, float], ...] = ()
    now_ns: int = 0

    @property
    def defense(self) -> Side:
        """Who does not have the down."""
        return opponent(self.offense)

    @property
    def distance_yd(self) -> float:
        """Yards to go."""
        return self.progress_yd(self.to_gain_yd) - self.progress_yd(self.los_yd)

    @property
    def ball_direction(self) -> int:
        """Which way along x of the board the side with the ball goes; differs from `direction` after a turnover."""
        return self.direction if self.play.ball_side == self.offense else -self.direction

    @property
    def goal_to_go(self) -> bool:
        """Whether the line to gain is the goal line."""
        return math.isclose(self.progress_yd(self.to_gain_yd), self.length_yd, abs_tol=1e-6)

    def direction_of(self, side: Side) -> int:
        """Which way along x of the board a side goes."""
        return self.direction if side == self.offense else -self.direction

    def progress_yd(self, x_yd: float, direction: int | None = None) -> float:
        """Yards from the own goal line of a side going in a direction (the offense's unless given)."""
        return x_yd if (direction or self.direction) > 0 else self.length_yd - x_yd

    def board_x_yd(self, progress_yd: float, direction: int | None = None) -> float:
        """Where on the board a side's yard line is: the inverse of `progress_yd`."""
        return self.progress_yd(progress_yd, direction)

    def side_of(self, jersey: Jersey) -> Side:
        """Whose coach's men wear a jersey now."""
        return self.dark if jersey == "dark" else opponent(self.dark)

    def player(self, player: str | None) -> Player | None:
        """A roster entry, None when unknown."""
        return next((one for one in self.players if one.id == player), None)

    def points(self, side: Side) -> int:
        """A side's score."""
        return self.score[0 if side == "home" else 1]

    def team(self, side: Side) -> Team:
        """A side's team."""
        return self.teams[0 if side == "home" else 1]

    def note(self, name: str) -> float | None:
        """What the rulebook noted between plays."""
        return next((value for key, value in self.notes if key == name), None)

    def with_note(self, name: str, value: float) -> GameState:
        """The game with something noted between plays."""
        return replace(self, notes=(*(pair for pair in self.notes if pair[0] != name), (name, value)))

    def spot_text(self, x_yd: float) -> str:
        """A place along the field as said on the air: ``"B 34"``, ``"50"``, ``"H end zone"``."""
        from_left = round(x_yd, 1)
        half = self.length_yd / 2
        left = self.offense if self.direction > 0 else self.defense
        owner = self.team(left if from_left < half else opponent(left)).short
        to_goal = min(from_left, self.length_yd - from_left)
        if to_goal < 0:
            return f"{owner} end zone"
        if from_left == half:
            return f"{half:.4g}"
        return f"{owner} {to_goal:.4g}"

    @property
    def situation(self) -> str:
        """Down and distance: ``"2nd & 7 at B 34"``, or what is due instead."""
        if self.phase is Phase.OVER:
            return "final"
        if self.due != "scrimmage":
            return f"{self.due.replace('_', ' ')} from {self.spot_text(self.los_yd)}"
        distance = round(self.distance_yd, 1)
        to_go = "goal" if self.goal_to_go else "inches" if distance < 0.5 else f"{distance:.4g}"
        return f"{ORDINALS[self.down - 1]} & {to_go} at {self.spot_text(self.los_yd)}"

    @property
    def text(self) -> str:
        """The whole of it on one line."""
        home, away = self.teams
        score = f"{home.short} {self.score[0]}, {away.short} {self.score[1]}"
        waits = f"; waiting for {self.wait.kind}: {self.wait.purpose.replace('_', ' ')}" if self.wait else ""
        doing = self.phase.value.replace("_", " ")
        return f"{score} | {self.team(self.play.ball_side).short} ball, {self.situation} | {doing}{waits}"


def opponent(side: Side) -> Side:
    """The other coach."""
    return "away" if side == "home" else "home"
