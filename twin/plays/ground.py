"""Play frame to board frame, scripts checked there before they are played, and what was true of a play.

Yards ahead of the line of scrimmage and across from the middle become millimeters. Scripts are read from TOML files.

The history of a play has positions and events by instant, such as a base's position when it was touched.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from downfield.core.errors import ScriptError
from downfield.core.field.model import FieldModel, load_field
from downfield.core.files.input_files import read_toml
from downfield.core.footprint import Footprint, signed_gaps
from downfield.core.mathematics import wrap_deg
from downfield.core.records import from_data
from downfield.core.scene import Jersey, Player
from downfield.twin.physics.poses import Poses, between
from downfield.twin.physics.truth import Truth
from downfield.twin.physics.truth_file import Condition, TruthEvent
from downfield.twin.physics.world import World
from downfield.twin.plays.script import CutTo, Point, Script, Stance

OFFENSE: Jersey = "dark"  # the offense wears dark on the twin's table


@dataclass(frozen=True, slots=True)
class Ground:
    """Location and direction of a play on the field."""

    field: FieldModel
    line_yd: float  # line of scrimmage, field yards along x of the board
    direction: int  # 1 when the offense goes toward larger x, -1 toward smaller x

    def point_mm(self, point: Point) -> tuple[float, float]:
        """Convert a place in the play frame, yards, to the board frame, mm."""
        x_yd = self.line_yd + self.direction * point[0]
        y_yd = self.field.width_yd / 2 + self.direction * point[1]
        return x_yd * self.field.mm_per_yd_x, y_yd * self.field.mm_per_yd_y

    def heading_deg(self, heading_deg: float) -> float:
        """Convert a heading in the play frame to the board frame, or back: the conversion is its own inverse."""
        return wrap_deg(heading_deg + (0.0 if self.direction == 1 else 180.0))

    def foremost_yd(self, base: Footprint) -> float:
        """Return the distance of a base's most advanced part ahead of the line, yards."""
        return self._reach_yd(base, 1)

    def rearmost_yd(self, base: Footprint) -> float:
        """Return the distance of a base's rearmost part ahead of the line, yards."""
        return self._reach_yd(base, -1)

    def _reach_yd(self, base: Footprint, sign: int) -> float:
        toward = sign * self.direction
        reach_mm = toward * base.reach_mm(0.0 if toward == 1 else 180.0)
        return self.direction * (reach_mm / self.field.mm_per_yd_x - self.line_yd)

    def stand(self, player: Player, stance: Stance) -> Footprint:
        """Return the placement of a figure's base. Raises ScriptError: it would not be on the board."""
        offense = player.jersey == OFFENSE
        facing = (0.0 if offense else 180.0) if stance.heading_deg is None else stance.heading_deg
        x_mm, y_mm = self.point_mm((stance.ahead_yd, stance.across_yd))
        base = Footprint(x_mm, y_mm, self.heading_deg(facing), player.base)
        if stance.at == "front":
            reach = self.foremost_yd(base) if offense else self.rearmost_yd(base)
            shift_mm = self.direction * (stance.ahead_yd - reach) * self.field.mm_per_yd_x
            base = replace(base, x_mm=x_mm + shift_mm)
        low_x, low_y, high_x, high_y = self.field.board_mm
        corners = base.corners_mm()
        if corners[:, 0].min() < low_x or corners[:, 0].max() > high_x:
            raise ScriptError(f"{player.id} stands off the board's end, {stance.ahead_yd:g} yd ahead of the line")
        if corners[:, 1].min() < low_y or corners[:, 1].max() > high_y:
            raise ScriptError(f"{player.id} stands off the board's side, {stance.across_yd:g} yd across")
        return base


_FASTEST_FPS = 240.0
_NAMES_FIGURES = ("player", "a", "b", "start", "away_from", "toward", "receiver", "to", "gunners", "returner")


def load_script(path: Path) -> Script:
    """Load a script from a TOML file.

    Raises:
        InputError: the file can't be read.
        FormatError: broken TOML, or a key that is unknown, missing or impossible; names it.
        ScriptError: the script can't be played.
    """
    script = from_data(Script, read_toml(path), path=str(path))
    try:
        check_script(script)
    except ScriptError as error:
        raise ScriptError(f"{path}: {error}") from None
    return script


def check_script(script: Script) -> FieldModel:
    """Check that a script can be played, and return its printed field.

    Raises:
        InputError: no such field.
        ScriptError: a figure that is not on the roster or is there twice, bases that overlap or stand off the board,
            a frame rate or a line of scrimmage that can't be.
    """
    field = load_field(script.board)
    ids = [player.id for player in script.players]
    for id_ in ids:
        if ids.count(id_) > 1:
            raise ScriptError(f"two players are named '{id_}'")
    if not 1.0 <= script.fps <= _FASTEST_FPS:
        raise ScriptError(f"fps must be 1..{_FASTEST_FPS:g}, not {script.fps:g}")
    _check_known(script.traits, ids, "traits")
    _check_line(script, field, script.line_yd, script.formation, "formation")
    for number, step in enumerate(script.steps, start=1):
        where = f"step {number} ({step.type})"
        if isinstance(step, CutTo):
            _check_line(script, field, script.line_yd if step.line_yd is None else step.line_yd, step.formation, where)
        _check_known(_named(step), ids, where)
    return field


def _check_line(script: Script, field: FieldModel, line_yd: float, formation: tuple[Stance, ...], where: str) -> None:
    if not 0.0 <= line_yd <= field.length_yd:
        raise ScriptError(f"{where}: line_yd must be 0..{field.length_yd:g} on this field, not {line_yd:g}")
    players = {player.id: player for player in script.players}
    _check_known([stance.player for stance in formation], players, where)
    ground = Ground(field, line_yd, script.direction)
    try:
        bases = [(stance.player, ground.stand(players[stance.player], stance)) for stance in formation]
    except ScriptError as error:
        raise ScriptError(f"{where}: {error}") from None
    pairs = list(itertools.combinations(bases, 2))
    gaps = signed_gaps([a for (_, a), _ in pairs], [b for _, (_, b) in pairs])
    for ((a, _), (b, _)), gap in zip(pairs, gaps, strict=True):
        if a == b:
            raise ScriptError(f"{where}: {a} is placed twice")
        if gap.gap_mm < 0:
            raise ScriptError(f"{where}: the bases of {a} and {b} overlap by {-gap.gap_mm:.1f} mm")


def _check_known(named: Iterable[str], ids: Container[str], where: str) -> None:
    for id_ in named:
        if id_ not in ids:
            raise ScriptError(f"{where}: no player is named '{id_}'")


def _named(item: object) -> Iterator[str]:
    """Yield every roster id that a step or a part of it names."""
    for entry in dataclasses.fields(item):  # type: ignore[arg-type]
        value = getattr(item, entry.name)
        parts = value if isinstance(value, tuple) else (value,)
        for part in parts:
            if dataclasses.is_dataclass(part):
                yield from _named(part)
            elif isinstance(part, str) and entry.name in _NAMES_FIGURES:
                yield part


class PlayHistory:
    """Records where everything is at every step of a world, from now on.

    Attributes:
        ground: where the play is; the last one after cuts.
        marks: instants that the script recorded, ns.
    """

    def __init__(self, world: World, truth: Truth, ground: Ground, marks: Mapping[str, int]) -> None:
        self.ground = ground
        self.marks = marks
        self._truth = truth
        self._bases = world.bases
        self._hand_mm = {player.id: player.hand_mm or (0.0, 0.0) for player in world.players}
        self._rows = {player.id: row for row, player in enumerate(world.players)}
        self._poses: list[Poses] = []
        world.watch(self._keep)

    @property
    def end_ns(self) -> int:
        """The latest step's time."""
        return self._poses[-1].t_ns

    def footprint(self, player: str, t_ns: int) -> Footprint:
        """Return the footprint of a figure's base at an instant."""
        after = min(bisect_left(self._poses, t_ns, key=lambda poses: poses.t_ns), len(self._poses) - 1)
        poses = between(self._poses[max(after - 1, 0)], self._poses[after], t_ns)
        return self._bases.outlines(poses).footprint(self._rows[player])

    def when(self, condition: Condition, player: str, other: str | None = None, *, after_ns: int = 0) -> int:
        """Return the instant at which an event first happened. Raises ScriptError: it did not happen."""
        event = next((event for event in self._events(condition, player, other) if event.t_ns >= after_ns), None)
        if event is None:
            raise ScriptError(f"{player} never {condition}" + (f" {other}" if other else ""))
        return event.t_ns

    def foremost_yd(self, player: str, t_ns: int) -> tuple[float, float]:
        """Return the most downfield part of a base, field yards, with its center's place across."""
        base = self.footprint(player, t_ns)
        field, toward = self.ground.field, self.ground.direction
        x_mm = toward * base.reach_mm(0.0 if toward == 1 else 180.0)
        return x_mm / field.mm_per_yd_x, base.y_mm / field.mm_per_yd_y

    def hand_yd(self, player: str, t_ns: int) -> tuple[float, float]:
        """Return the place of a figure's carrying hand, field yards."""
        base, (ahead, left) = self.footprint(player, t_ns), self._hand_mm[player]
        turn = math.radians(base.heading_deg)
        x_mm = base.x_mm + ahead * math.cos(turn) - left * math.sin(turn)
        y_mm = base.y_mm + ahead * math.sin(turn) + left * math.cos(turn)
        return x_mm / self.ground.field.mm_per_yd_x, y_mm / self.ground.field.mm_per_yd_y

    def _events(self, condition: Condition, player: str, other: str | None) -> list[TruthEvent]:
        pair = tuple(sorted((player, other))) if other and condition != "touched_ball" else (player, other)
        return [
            event for event in self._truth.events if event.type == condition and (event.player, event.other) == pair
        ]

    def _keep(self, poses: Poses) -> None:
        """Append a step; a change by a hand, not later than the latest step, replaces it."""
        latest = self._poses[-1].t_ns if self._poses else -1
        if poses.t_ns <= latest:
            self._poses[-1] = replace(poses, t_ns=latest)
        else:
            self._poses.append(poses)
