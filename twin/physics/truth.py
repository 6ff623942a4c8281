"""The truth of a table as scenes: the output of perfect vision, with sigma 0.

    truth = Truth(world)
    ...
    scene = truth.scene(world.snapshot(), frame=12)

Gaps are those of the outlines on the board; contacts and falls are as `event_recorder` defines them. Held figures
touch nothing and are ``"lifted"``; figures that are off the board are left out. The visible share of each base depends
on the renderer; here `visible` is 1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from scipy.spatial import ConvexHull

from downfield.core.arrays import Array
from downfield.core.footprint import signed_gaps
from downfield.core.scene import Ball, BallState, Contact, Figure, Hand, Posture, Scene
from downfield.twin.physics.event_recorder import TOUCHING_MM, EventRecorder
from downfield.twin.physics.outlines import Bases, Outlines
from downfield.twin.physics.poses import Poses
from downfield.twin.physics.truth_file import TruthEvent
from downfield.twin.physics.world import World
from downfield.twin.table.appearance import Solid
from downfield.twin.table.snapshot import Snapshot
from downfield.twin.table.solids import cloud, hand_solids, stick_solid

CONTACT_MM = 5.0
"""Pairs with a gap below this are listed in scenes."""

_NO_COLOR = (0.0, 0.0, 0.0)


class Truth:
    """The truth of a world, from construction on.

    Args:
        world: the table.
        touching_mm: bases this near touch; less than the physics needs where figures walk on exact paths.

    """

    def __init__(self, world: World, *, touching_mm: float = TOUCHING_MM) -> None:
        self._world = world
        self._players = world.players
        self._bases = Bases(self._players)
        self._touching_mm = touching_mm
        self._recorder = EventRecorder(self._players, touching_mm)
        world.watch(self._recorder)

    @property
    def events(self) -> tuple[TruthEvent, ...]:
        """All events so far, in order of time. A parting becomes certain, and is included, only after 0.1 s."""
        return tuple(sorted(self._recorder.events, key=lambda event: event.t_ns))

    def tilt_deg(self) -> tuple[float, ...]:
        """Tilt of each figure of the roster now, degrees."""
        return tuple(self._world.poses().tilt_deg.tolist())

    def scene(self, snapshot: Snapshot, frame: int) -> Scene:
        """Return the scene of a snapshot of this world that was taken just now.

        Args:
            snapshot: hands and sticks may have been added to it.
            frame: its index in the recording.

        """
        poses = self._world.poses()
        outlines = self._bases.outlines(poses)
        figures = tuple(self._figure(row, poses, outlines) for row in range(len(self._players)) if poses.on_board[row])
        return Scene(
            frame=frame,
            t_ns=snapshot.t_ns,
            board="on" if snapshot.power else "off",
            figures=figures,
            contacts=self._contacts(snapshot.t_ns, outlines),
            ball=self._ball(snapshot),
            hands=_hands(snapshot, figures),
        )

    def _figure(self, row: int, poses: Poses, outlines: Outlines) -> Figure:
        player, at = self._players[row], outlines.footprint(row)
        posture: Posture = "fallen" if self._recorder.is_fallen(row, self._world.t_ns) else "upright"
        return Figure(
            id=player.id,
            jersey=player.jersey,
            x_mm=at.x_mm,
            y_mm=at.y_mm,
            heading_deg=at.heading_deg,
            length_mm=at.size.length_mm,
            width_mm=at.size.width_mm,
            corner_mm=at.size.corner_mm,
            posture="lifted" if poses.held[row] else posture,
        )

    def _contacts(self, t_ns: int, outlines: Outlines) -> tuple[Contact, ...]:
        rows = [int(row) for row in np.flatnonzero(outlines.touchable[:-1])]
        rows.sort(key=lambda row: self._players[row].id)
        reach = self._bases.reach_mm
        apart = np.linalg.norm(outlines.center_mm[:, None] - outlines.center_mm[None], axis=2)
        pairs = [
            (a, b) for i, a in enumerate(rows) for b in rows[i + 1 :] if apart[a, b] - reach[a] - reach[b] < CONTACT_MM
        ]
        footprints = {row: outlines.footprint(row) for row in rows}
        gaps = signed_gaps([footprints[a] for a, _ in pairs], [footprints[b] for _, b in pairs])
        out = []
        for (a, b), gap in zip(pairs, gaps, strict=True):
            if gap.gap_mm >= CONTACT_MM:
                continue
            id_a, id_b = self._players[a].id, self._players[b].id
            out.append(
                Contact(
                    a=id_a,
                    b=id_b,
                    gap_mm=gap.gap_mm,
                    sigma_mm=0.0,
                    probability=float(gap.gap_mm <= self._touching_mm),
                    face_a=gap.face_a,
                    face_b=gap.face_b,
                    angle_deg=gap.angle_deg,
                    overlap_mm=gap.overlap_mm,
                    since_ns=self._recorder.contact_since_ns(id_a, id_b, t_ns),
                )
            )
        return tuple(out)

    def _ball(self, snapshot: Snapshot) -> Ball | None:
        ball = snapshot.ball
        if ball is None:
            return None
        x, y, _ = ball.position_mm
        if ball.carrier is not None:
            return Ball("carried", x, y, carrier=ball.carrier)
        state: BallState = "magnetic" if ball.kind == "magnetic" else "loose"
        touched_ns, touched_by = self._recorder.ball_touched(snapshot.t_ns) or (None, None)
        return Ball(state, x, y, touched_by=touched_by, touched_ns=touched_ns)


def by_frame(events: Sequence[TruthEvent], times_ns: Sequence[int]) -> tuple[tuple[TruthEvent, ...], ...]:
    """Return the events by frame: each in the first frame not before it; events after the last frame are left out.

    Args:
        events: in order of time.
        times_ns: of the frames, rising.

    """
    when = [event.t_ns for event in events]
    ends = [bisect_right(when, t_ns) for t_ns in times_ns]
    return tuple(tuple(events[start:end]) for start, end in zip([0, *ends], ends, strict=False))


def _hands(snapshot: Snapshot, figures: Sequence[Figure]) -> tuple[Hand, ...]:
    """Return hands and sticks, projected straight down to the board."""
    arms = [hand_solids(hand, _NO_COLOR, _NO_COLOR) for hand in snapshot.hands]
    out = []
    for solids in (*arms, *((stick_solid(stick),) for stick in snapshot.sticks)):
        outline = _seen_from_above(solids)
        covers = tuple(figure.id for figure in figures if _inside(outline, (figure.x_mm, figure.y_mm)))
        out.append(Hand(tuple((float(x), float(y)) for x, y in outline), covers))
    return tuple(out)


def _seen_from_above(solids: Sequence[Solid]) -> Array:
    """Return the convex outline from straight above, counter-clockwise, shape (n, 2)."""
    points = cloud(solids).reshape(-1, 3)[:, :2]
    outline: Array = points[ConvexHull(points).vertices]
    return outline


def _inside(outline: Array, point: tuple[float, float]) -> bool:
    edges = np.roll(outline, -1, axis=0) - outline
    to_point = np.array(point) - outline
    return bool((edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0] >= 0).all())
