"""A simulated table: figures walk, meet, push and fall on a board that is switched on and off.

    world = World(players, placements, traits, field=preset("tudor-620"), seed=7)
    world.power(True)
    world.step_to(1_500_000_000)
    snapshot = world.snapshot()

Time is integer nanoseconds from 0 and only goes forward; the physics runs in steps of `STEP_NS` and poses between two
steps are interpolated, so any frame rate gets exact poses. A script's actions (switch, place, hold, topple) take effect
at once. The same arguments and the same calls give bit-identical snapshots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from downfield.core.errors import ScriptError
from downfield.core.field.model import FieldModel
from downfield.core.footprint import Footprint
from downfield.core.scene import Player
from downfield.twin.physics.body import STEP_NS, Placement, Trait
from downfield.twin.physics.engine import Drive, PhysicsEngine, Vibration
from downfield.twin.physics.outlines import Bases, check_room
from downfield.twin.physics.poses import LoneBall, Poses, between, to_snapshot
from downfield.twin.table.snapshot import HAND_MM, BallKind, Snapshot, Vector


class Observer(Protocol):
    """Receives the poses of every step of the physics."""

    def __call__(self, poses: Poses) -> None:
        """Called at registration, after each step, and after each action of a hand.

        A step's poses have the step's time. A change by a hand comes as the latest step's poses, changed, with the time
        of the hand: it lies at most one step before the latest one.
        """


class World:
    """The physics of one table.

    Args:
        players: every figure that takes part at any time, in roster order.
        placements: by roster id, the figures that stand on the board at the start; the others wait beside it.
        traits: by roster id; figures without an entry have the defaults of `Trait`.
        seed: of wandering and shaking.
        vibration: strength of the board's shaking; None for the usual one.
        engine: moves the figures, for the same players and field; None for the physics.

    Raises:
        ScriptError: an id that is twice or not at all on the roster, or bases placed into each other or off the board.
    """

    def __init__(
        self,
        players: Sequence[Player],
        placements: Mapping[str, Placement],
        traits: Mapping[str, Trait],
        *,
        field: FieldModel,
        seed: int,
        vibration: Vibration | None = None,
        engine: PhysicsEngine | None = None,
    ) -> None:
        self.players = tuple(players)
        self.field = field
        self._rows = {player.id: row for row, player in enumerate(self.players)}
        if len(self._rows) < len(self.players):
            raise ScriptError("two figures have the same id; give each figure an id of its own")
        self.bases = Bases(self.players)
        self._engine = engine or PhysicsEngine(self.players, field)
        self._drive = Drive(len(self.players), seed, vibration or Vibration())
        self.t_ns = 0  # the current time
        self._carried: tuple[int, Vector] | None = None
        self._targets: dict[int, int] = {}  # rows steered toward other rows
        self._observers: list[Observer] = []
        self._before = self._after = self._now = self._engine.poses()
        self._traits = {player.id: traits.get(player.id, Trait()) for player in self.players}
        for id_, trait in {**self._traits, **traits}.items():
            self.set_trait(id_, trait)
        for id_, at in placements.items():
            self.place(id_, at.x_mm, at.y_mm, at.heading_deg)

    # Time

    def power(self, on: bool) -> None:
        """Switch the board on or off."""
        self._engine.switch(on=on)

    def step_to(self, t_ns: int) -> None:
        """Advance the time to an instant. Raises ScriptError: the instant has passed."""
        if t_ns < self.t_ns:
            raise ScriptError(f"the world stands at {self.t_ns} ns and can't go back to {t_ns} ns")
        while self._engine.steps * STEP_NS < t_ns:
            for row, target in self._targets.items():
                self._drive.set_target(row, self._spot(target))
            self._engine.step(self._drive)
            self._before, self._after = self._after, self._engine.poses()
            self._notify(self._after)
        self.t_ns = t_ns
        self._now = between(self._before, self._after, t_ns)

    # Observation

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current state; figures that are not on the board are left out."""
        return to_snapshot(self.poses(), self.players, power=self._engine.power, carried=self._carried)

    def poses(self) -> Poses:
        """Return the current poses, as arrays over the whole roster."""
        return self._now

    def footprint(self, id_: str) -> Footprint:
        """Return the current true footprint of a figure's base. Raises ScriptError: it is not on the board."""
        return self.bases.outlines(self.poses()).footprint(self._present(id_))

    def tilt_deg(self, id_: str) -> float:
        """Return a figure's current tilt, degrees: 0 upright, 90 lying. Raises ScriptError: it is not on the board."""
        return float(self.poses().tilt_deg[self._present(id_)])

    def watch(self, observer: Observer) -> None:
        """Call an observer at every step of the physics, and at once with the latest one."""
        self._observers.append(observer)
        observer(self._after)

    # Handling

    def place(self, id_: str, x_mm: float, y_mm: float, heading_deg: float) -> None:
        """Stand a figure up on the board, wherever it was. Raises ScriptError: no room, or off the board."""
        row = self._row(id_)
        where = Footprint(x_mm, y_mm, heading_deg, self.players[row].base)
        check_room(row, where, self.bases.outlines(self.poses()), self.players, self.field)
        self._engine.put(row, (x_mm, y_mm, 0.0), heading_deg, pinned=False)
        self._engine.on_board[row], self._engine.held[row] = True, False
        self._moved(row)

    def hold(self, id_: str, x_mm: float, y_mm: float, heading_deg: float, lift_mm: float = 0.0) -> None:
        """Take a figure in hand, upright, or move the hand that holds it.

        It stays there without contacts until it is released.

        Args:
            id_: roster id; the figure may have fallen or wait beside the board.
            lift_mm: height of its base's underside over the board.

        Raises:
            ScriptError: no such figure.
        """
        row = self._row(id_)
        self._engine.put(row, (x_mm, y_mm, lift_mm), heading_deg, pinned=True)
        self._engine.on_board[row], self._engine.held[row] = True, True
        self._moved(row)

    def release(self, id_: str) -> None:
        """Set a held figure down where it is held. Raises ScriptError: not held, no room, or off the board."""
        row = self._present(id_)
        if not self._engine.held[row]:
            raise ScriptError(f"{id_} can't be released: it is not in a hand")
        at = self.footprint(id_)
        self.place(id_, at.x_mm, at.y_mm, at.heading_deg)

    def remove(self, id_: str) -> None:
        """Take a figure off the board, with its ball, until placed or held. Raises ScriptError: it is not there."""
        row = self._present(id_)
        if self._carried is not None and self._carried[0] == row:
            self.take_ball()
        self._engine.park(row)
        self._engine.on_board[row], self._engine.held[row] = False, False
        self._moved(row)

    def topple(self, id_: str, toward_deg: float, strength: float = 1.3) -> None:
        """Tip a figure over by a knock: it falls over the base edge in that direction, unless something holds it up.

        Args:
            toward_deg: direction of the fall, board frame.
            strength: the knock's energy, as a multiple of the energy that just tips it.

        Raises:
            ScriptError: it is not on the board.
        """
        row = self._present(id_)
        self._engine.knock(row, toward_deg - self.footprint(id_).heading_deg, strength)

    # Coaching

    def set_trait(self, id_: str, trait: Trait) -> None:
        """Change how a figure walks and stands. Raises ScriptError: no such figure."""
        row = self._row(id_)
        self._traits[id_] = trait
        self._drive.set_trait(row, trait)
        self._engine.set_weight(row, trait.mass_g, trait.com_mm)

    def trait(self, id_: str) -> Trait:
        """Return a figure's trait."""
        self._row(id_)
        return self._traits[id_]

    def steer(self, id_: str, target: str | tuple[float, float] | None) -> None:
        """Steer a figure's heading by a bounded yaw moment, so that plays stay physical and still follow the script.

        Args:
            target: another figure, also while it moves, or a point, mm; None lets the figure curl freely again.

        Raises:
            ScriptError: no such figure.
        """
        row = self._row(id_)
        self._targets.pop(row, None)
        if isinstance(target, str):
            self._targets[row] = self._row(target)
            target = self._spot(self._targets[row])
        self._drive.set_target(row, target)

    # The ball

    def give_ball(self, id_: str) -> None:
        """Put the ball into a figure's hand, where it stays, even in a fall. Raises ScriptError: no such figure."""
        row = self._present(id_)
        hand_mm = self.players[row].hand_mm
        self._set_ball("none", (0.0, 0.0))
        self._carried = row, HAND_MM if hand_mm is None else (*hand_mm, HAND_MM[2])

    def put_ball(self, kind: BallKind, x_mm: float, y_mm: float) -> None:
        """Put the ball on the board: the magnetic ball is fixed and stops bases, the foam ball gives way."""
        self._set_ball(kind, (x_mm, y_mm))

    def take_ball(self) -> None:
        """Take the ball off the board."""
        self._set_ball("none", (0.0, 0.0))

    # Internals

    def _set_ball(self, kind: LoneBall, at_mm: tuple[float, float]) -> None:
        self._carried = None
        for now in dict.fromkeys(("none", kind)):  # remove it first: a ball that is placed again has not been touched
            self._engine.set_ball(now, at_mm)
            self._moved(self._engine.foam_row)

    def _moved(self, row: int) -> None:
        """Apply a hand's move: the figure stands there now, and in the record of the step before."""
        now = self._engine.poses()
        self._before = self._before.with_row(row, now)
        self._after = self._after.with_row(row, now)
        self._now = between(self._before, self._after, self.t_ns)
        self._notify(replace(self._after, t_ns=self.t_ns))

    def _notify(self, poses: Poses) -> None:
        for observer in self._observers:
            observer(poses)

    def _spot(self, row: int) -> tuple[float, float]:
        x, y, _ = self._after.position_mm[row].tolist()
        return x, y

    def _row(self, id_: str) -> int:
        try:
            return self._rows[id_]
        except KeyError:
            raise ScriptError(f"no figure is named '{id_}'") from None

    def _present(self, id_: str) -> int:
        row = self._row(id_)
        if not self._engine.on_board[row]:
            raise ScriptError(f"{id_} is not on the board")
        return row
