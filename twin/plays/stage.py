"""The stage: carries out a script's steps on a world, tick by tick, and records snapshots, scenes and declarations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from downfield.core.errors import ScriptError
from downfield.core.field.model import FieldModel
from downfield.core.footprint import BaseSize, Footprint, signed_gap
from downfield.core.scene import Scene
from downfield.officiating.declarations import Declaration, Switch
from downfield.officiating.events import Event
from downfield.twin.physics.body import Placement
from downfield.twin.physics.exact import ExactWorld
from downfield.twin.physics.poses import FALLEN_DEG
from downfield.twin.physics.truth import TOUCHING_MM, Truth
from downfield.twin.physics.world import World
from downfield.twin.plays import script as do
from downfield.twin.plays.choreography import Coach, HandView
from downfield.twin.plays.ground import Ground, PlayHistory
from downfield.twin.table.snapshot import MAGNETIC_BALL_MM, Snapshot

_BALL = BaseSize(2 * MAGNETIC_BALL_MM[0], 2 * MAGNETIC_BALL_MM[0], 0.0, MAGNETIC_BALL_MM[0])
_NEAR_MM = 60.0  # bases whose centers are farther apart can't touch

CHECKS_PER_S: Final = 120  # longest time between two checks of the table; a frame is a whole number of checks

EXACT_TOUCHING_MM: Final = 0.01  # bases nearer than this touch on exact paths, where contacts do not chatter

_ARRIVED_MM = 30.0  # a figure steered along a polyline heads for the next point when it is this near: it turns wide
_WITHDRAW_S = 0.3  # in which the last hand leaves the picture


class Stage:
    """A play being performed.

    Attributes:
        snapshots, scenes, events, marks: as in `PlayRecording`.
        history: positions and events by instant.
    """

    def __init__(self, script: do.Script, seed: int, field: FieldModel) -> None:
        self.script = script
        self.field = field
        self.ground = Ground(field, script.line_yd, script.direction)
        self.snapshots: list[Snapshot] = []
        self.scenes: list[Scene] = []
        self.events: list[Event] = []
        self.marks: dict[str, int] = {}
        self._players = {player.id: player for player in script.players}
        placements = {s.player: _placement(self.ground.stand(self._players[s.player], s)) for s in script.formation}
        traits = {player.id: script.trait(player.id) for player in script.players}
        self.world = (
            ExactWorld(script.players, placements, traits, field=field)
            if script.motion == "exact"
            else World(script.players, placements, traits, field=field, seed=seed)
        )
        self._touching_mm = EXACT_TOUCHING_MM if script.motion == "exact" else TOUCHING_MM
        self.truth = Truth(self.world, touching_mm=self._touching_mm)
        self.history = PlayHistory(self.world, self.truth, self.ground, self.marks)
        self._ticks_per_frame = math.ceil(CHECKS_PER_S / script.fps)
        self._ticks_per_s = self._ticks_per_frame * script.fps
        self._tick = 0
        self._guides: dict[str, list[do.Point]] = {}  # polylines that the physics is steered along
        self._record()

    def perform(self) -> None:
        """Perform the script. Raises ScriptError: names a step that is impossible, or waits in vain."""
        for number, step in enumerate(self.script.steps, start=1):
            try:
                self._do(step)
            except ScriptError as error:
                raise ScriptError(f"{self.script.name}, step {number} ({step.type}): {error}") from None

    # Time

    def _pass(self, *views: HandView) -> None:
        """Advance by one tick: guide the figures, step the table, record a frame when one is due."""
        self._guide()
        self._tick += 1
        self.world.step_to(round(self._tick * 1e9 / self._ticks_per_s))
        if self._tick % self._ticks_per_frame == 0:
            self._record(*views)

    def _record(self, *views: HandView) -> None:
        hands = tuple(view.hand for view in views)
        sticks = tuple(view.stick for view in views if view.stick is not None)
        snapshot = replace(self.world.snapshot(), hands=hands, sticks=sticks)
        self.scenes.append(self.truth.scene(snapshot, len(self.snapshots)))
        self.snapshots.append(snapshot)

    def _show(self, *acts: Iterator[HandView]) -> None:
        """Run the actions of several hands in parallel until all are done."""
        running = list(acts)
        while True:
            seen = [(act, next(act, None)) for act in running]
            running = [act for act, view in seen if view is not None]
            if not running:
                return
            self._pass(*(view for _, view in seen if view is not None))

    def _guide(self) -> None:
        for player, goal in list(self._guides.items()):
            here = self.world.footprint(player)
            while goal and math.dist((here.x_mm, here.y_mm), self.ground.point_mm(goal[0])) < _ARRIVED_MM:
                goal.pop(0)
            self.world.steer(player, self.ground.point_mm(goal[0]) if goal else None)
            if not goal:
                del self._guides[player]

    def _declare(self, body: Declaration) -> None:
        self.events.append(Event(f"twin-{len(self.events) + 1:03d}", self.world.t_ns, "twin", body))

    # Conditions

    def _holds(self, condition: do.Condition) -> bool:
        match condition:
            case do.BasesTouch(a, b):
                return self._touch(self.world.footprint(a), self.world.footprint(b))
            case do.Engaged(player):
                return self._engaged(player)
            case do.BallTouched():
                return self._ball_touched()
            case do.Reaches(player, ahead_yd):
                return self.ground.foremost_yd(self.world.footprint(player)) >= ahead_yd
            case do.Passes(player, ahead_yd):
                return self.ground.rearmost_yd(self.world.footprint(player)) > ahead_yd
            case do.TouchesSideline(player):
                return self._on_sideline(player)
            case do.RunnerTurnsBack(player):
                heading = self.ground.heading_deg(self.world.footprint(player).heading_deg)
                return abs(heading) > 90.0
            case do.Fallen(player):
                return self.world.tilt_deg(player) > FALLEN_DEG

    def _touch(self, a: Footprint, b: Footprint) -> bool:
        near = math.dist((a.x_mm, a.y_mm), (b.x_mm, b.y_mm)) <= _NEAR_MM
        return near and signed_gap(a, b).gap_mm <= self._touching_mm

    def _engaged(self, player: str) -> bool:
        here, jersey = self.world.footprint(player), self._players[player].jersey
        return any(
            self._touch(here, self.world.footprint(other)) and self.world.tilt_deg(other) <= FALLEN_DEG
            for other in self._near((here.x_mm, here.y_mm))
            if self._players[other].jersey != jersey
        )

    def _ball_touched(self) -> bool:
        ball = self.world.snapshot().ball
        if ball is None or ball.kind != "magnetic":
            return False
        x, y, _ = ball.position_mm
        disc = Footprint(x, y, 0.0, _BALL)
        return any(self._touch(self.world.footprint(id_), disc) for id_ in self._near((x, y)))

    def _near(self, place_mm: tuple[float, float]) -> tuple[str, ...]:
        """Return the figures on the board that are near enough to touch something at a place."""
        return tuple(
            figure.id
            for figure in self.world.snapshot().figures
            if not figure.in_hand and math.dist(figure.position_mm[:2], place_mm) <= _NEAR_MM
        )

    def _on_sideline(self, player: str) -> bool:
        base = self.world.footprint(player)
        low, high = -base.reach_mm(-90.0), base.reach_mm(90.0)
        return low <= 0.0 or high >= self.ground.field.width_mm

    # Steps

    def _do(self, step: do.Step) -> None:  # noqa: C901 - one case per step
        match step:
            case do.WaitFor(seconds):
                self._wait(seconds)
            case do.Until():
                self._wait_until(step)
            case do.Board(on, by):
                self.world.power(on)
                if by is not None:
                    self._declare(Switch(on, by))
            case do.Declare(body):
                self._declare(body)
            case do.Hands(_, moves, hands):
                lanes = [moves[lane::hands] for lane in range(hands)]
                self._show(*(self._hand(step, lane) for lane in lanes if lane))
            case do.Topple(player, away_from, strength):
                self.world.topple(player, self._fall_deg(player, away_from), strength)
            case do.Steer(player, toward, toward_point):
                self._guides.pop(player, None)
                point = None if toward_point is None else self.ground.point_mm(toward_point)
                self.world.steer(player, toward or point)
            case do.Route():
                self._send(step)
            case do.GiveBall(player):
                self.world.give_ball(player)
            case do.LoseBall(place):
                self.world.put_ball("foam", *self.ground.point_mm(place))
            case do.LayStick(by, start, end, seconds):
                here, coach = self.world.footprint(start), Coach(self.world, self.field, by, 1 / self._ticks_per_s)
                self._show(coach.lay_stick((here.x_mm, here.y_mm), self.ground.point_mm(end), seconds))
            case do.TakeBall():
                self.world.take_ball()
            case do.CutTo():
                self._cut(step)

    def _wait(self, seconds: float) -> None:
        for _ in range(round(seconds * self._ticks_per_s)):
            self._pass()

    def _wait_until(self, step: do.Until) -> None:
        for _ in range(round(step.within_s * self._ticks_per_s)):
            if any(self._holds(condition) for condition in step.happens):
                break
            self._pass()
        else:
            if step.required:
                waited = " or ".join(condition.type for condition in step.happens)
                raise ScriptError(f"{waited} did not happen within {step.within_s:g} s")
            return
        if step.mark:
            self.marks[step.mark] = self.world.t_ns

    def _fall_deg(self, player: str, away_from: str | None) -> float:
        here = self.world.footprint(player)
        if away_from is None:
            return here.heading_deg - 90.0
        there = self.world.footprint(away_from)
        return math.degrees(math.atan2(here.y_mm - there.y_mm, here.x_mm - there.x_mm))

    def _send(self, step: do.Route) -> None:
        self._guides.pop(step.player, None)
        if isinstance(self.world, ExactWorld):
            self.world.route(
                step.player,
                [self.ground.point_mm(point) for point in step.points],
                heading_deg=None if step.heading_deg is None else self.ground.heading_deg(step.heading_deg),
                speed_mm_s=step.speed_mm_s,
            )
            return
        if step.speed_mm_s is not None:
            self.world.set_trait(step.player, replace(self.world.trait(step.player), speed_mm_s=step.speed_mm_s))
        self._guides[step.player] = list(step.points)

    def _cut(self, step: do.CutTo) -> None:
        self.ground = self.history.ground = replace(self.ground, line_yd=self._new_line(step))
        self._guides.clear()
        for figure in self.world.snapshot().figures:
            self.world.remove(figure.id)
        for stance in step.formation:
            self.world.steer(stance.player, None)
            self.world.set_trait(stance.player, self.script.trait(stance.player))
            base = self.ground.stand(self._players[stance.player], stance)
            self.world.place(stance.player, base.x_mm, base.y_mm, base.heading_deg)
        self._wait(step.seconds)

    def _new_line(self, cut: do.CutTo) -> float:
        if cut.spot is None:
            return cut.line_yd or 0.0
        player, mark = cut.spot
        if mark not in self.marks:
            raise ScriptError(f"nothing is marked '{mark}'; there are: {', '.join(self.marks) or 'no marks'}")
        return self.history.foremost_yd(player, self.marks[mark])[0]

    def _hand(self, step: do.Hands, moves: tuple[do.Handling, ...]) -> Iterator[HandView]:
        coach = Coach(self.world, self.field, step.by, 1 / self._ticks_per_s)
        last: HandView | None = None
        for move in moves:
            goal = None if move.lift_away else self._goal(move)
            if move.if_free and (goal is None or not self._may_be_moved(move.player, goal)):
                continue
            if move.lift_away:
                self._guides.pop(move.player, None)
            for view in coach.handle(move.player, goal, None if last is None else last.hand.fingertip_mm, step.seconds):
                last = view
                yield view
        if last is not None:
            yield from coach.withdraw(last.hand.fingertip_mm, _WITHDRAW_S)

    def _goal(self, move: do.Handling) -> Footprint:
        size = self._players[move.player].base
        if any(figure.id == move.player for figure in self.world.snapshot().figures):
            start = self.world.footprint(move.player)
        else:
            start = Footprint(0.0, 0.0, self.ground.heading_deg(0.0), size)
        (x, y), toward = (start.x_mm, start.y_mm), self.script.direction
        if move.to is not None:
            x, y = self.ground.point_mm(move.to)
        x, y = x + toward * move.shift_mm[0], y + toward * move.shift_mm[1]
        heading = start.heading_deg + move.turn_deg
        if move.toward is not None:
            there = self.world.footprint(move.toward)
            heading = math.degrees(math.atan2(there.y_mm - y, there.x_mm - x))
        elif move.toward_point is not None:
            px, py = self.ground.point_mm(move.toward_point)
            heading = math.degrees(math.atan2(py - y, px - x))
        return Footprint(x, y, heading, size)

    def _may_be_moved(self, player: str, goal: Footprint) -> bool:
        if self._holds(do.Fallen(player)) or self._holds(do.Engaged(player)):
            return False
        others = (figure.id for figure in self.world.snapshot().figures if figure.id != player)
        return all(signed_gap(goal, self.world.footprint(other)).gap_mm > 0.1 for other in others)


def _placement(base: Footprint) -> Placement:
    return Placement(base.x_mm, base.y_mm, base.heading_deg)
