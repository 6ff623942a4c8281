"""Small tables with a few figures that walk, fall and are handled as given, tracked through a simulated detector."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from simulated_detector import (
    Faults,
    SimulatedDetector,
    SimulatedView,
    calibration_of,
    classify_jerseys,
    simulated_views,
)

from downfield.core.field.model import preset
from downfield.core.footprint import BaseSize
from downfield.core.mathematics import difference_deg
from downfield.core.scene import Jersey, Player, Power
from downfield.core.track_files import Roster, RosterSpot
from downfield.twin.randomization.tables import draw_table
from downfield.twin.table.appearance import Appearance
from downfield.twin.table.snapshot import FigurePose, HandPose, Snapshot
from downfield.vision.contacts.contact_tracker import ContactTracker
from downfield.vision.hands import HandTracker
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.measuring.measurement import measure
from downfield.vision.tracking.initialization import LineUpSearch
from downfield.vision.tracking.tracker import Tracker

FIELD = preset("ultimate")
BASE = BaseSize(30.0, 18.0, 5.5, 1.0)
FPS = 30
SIZE_PX = (960, 540)
LINE_UP_S = 0.6

Place = tuple[float, float, float]
Path = Callable[[float], Place]
"""Seconds since the line-up was found to x mm, y mm and heading in degrees."""


@dataclass(frozen=True)
class Table:
    """What happens on a table.

    Attributes:
        paths: of the figures, by id, such as ``dark-1``.
        seconds: duration.
        power: whether the board is on.
        hands: over the board.
        tilts: of figures, degrees to their left side; upright if not given.
        sizes: of bases that are not `BASE`.
        gone: which figures are not on the board.
        lost: which frames are dropped.
        unlisted: ids that are on no roster, such as a stain that looks like a figure.
    """

    paths: Mapping[str, Path]
    seconds: float
    power: Callable[[float], bool] = lambda t_s: t_s > 0
    hands: Callable[[float], tuple[HandPose, ...]] = lambda _: ()
    tilts: Mapping[str, Callable[[float], float]] = field(default_factory=dict)
    sizes: Mapping[str, BaseSize] = field(default_factory=dict)
    gone: Callable[[str, float], bool] = lambda _id, _t: False
    lost: Callable[[float], bool] = lambda _: False
    unlisted: Collection[str] = ()

    @property
    def players(self) -> tuple[Player, ...]:
        """All figures, and everything that looks like one."""
        jersey: dict[str, Jersey] = {id_: "dark" if id_.startswith("dark") else "light" for id_ in self.paths}
        return tuple(Player(id_, jersey[id_], base=self.sizes.get(id_, BASE)) for id_ in self.paths)

    def snapshot(self, t_s: float) -> Snapshot:
        """The table at one instant."""
        figures = tuple(
            FigurePose(id_, (x, y, 0.0), _attitude(heading, self.tilts.get(id_, _upright)(t_s)))
            for id_, (x, y, heading) in ((id_, path(t_s)) for id_, path in self.paths.items())
            if not self.gone(id_, t_s)
        )
        return Snapshot(round((t_s + LINE_UP_S) * 1e9), self.power(t_s), figures, hands=self.hands(t_s))


@dataclass(frozen=True)
class Tracked:
    """One frame.

    Attributes:
        t_s: since the line-up was found.
        truth: where each figure is.
        seen: the estimate of each.
    """

    t_s: float
    truth: Mapping[str, Place]
    seen: Mapping[str, Estimate]

    def error_mm(self, id_: str) -> float:
        """Distance of a figure's estimate from its true place."""
        x, y, _ = self.truth[id_]
        return math.hypot(self.seen[id_].footprint.x_mm - x, self.seen[id_].footprint.y_mm - y)

    def turn_deg(self, id_: str) -> float:
        """Error of its heading, degrees."""
        return difference_deg(self.seen[id_].footprint.heading_deg, self.truth[id_][2])


def tracked(
    table: Table, faults: Faults | None = None, *, seed: int = 0, named: bool = True, every: int = 1
) -> list[Tracked]:
    """Track a table from the frame on in which the line-up was found.

    Args:
        table: what is filmed.
        faults: errors of the detector.
        seed: of these.
        named: whether there is a roster with places.
        every: the detector runs on every so many frames; the tracker predicts the others.
    """
    return tracked_with(table, faults, seed=seed, named=named, every=every)[0]


def tracked_with(
    table: Table, faults: Faults | None = None, *, seed: int = 0, named: bool = True, every: int = 1
) -> tuple[list[Tracked], Tracker]:
    """As `tracked`, with the tracker."""
    detector = SimulatedDetector(faults, seed)
    search = LineUpSearch(FIELD, roster_of(table) if named else None)
    tracker: Tracker | None = None
    hands, contacts = HandTracker(), ContactTracker()
    out: list[Tracked] = []
    look = look_of(table.players)
    for view, power, t_s in filmed(table):
        detections, calibration = detector.detect(view), calibration_of(view, look)
        if tracker is None:
            found = search.update(measure(detections, calibration, search.height_mm), view.t_ns)
            tracker = None if found is None else Tracker(found, view.t_ns)
            continue
        if (len(out) + 1) % every:
            estimates = tracker.predict(view.t_ns, power=power)
        else:
            hands.update(detections, calibration.camera, view.t_ns)
            estimates = tracker.update(
                classify_jerseys(measure(detections, calibration, tracker.height_mm), view),
                view.t_ns,
                power=power,
                fingertips_mm=hands.fingertips_mm,
                hands_mm=hands.outlines_mm,
                touching=contacts.touching,
            )
        contacts.step(estimates, view.t_ns, power=power)
        truth = {id_: path(t_s) for id_, path in table.paths.items()}
        out.append(Tracked(t_s, truth, {figure.id: figure for figure in estimates}))
    if tracker is None:
        raise AssertionError("no line-up was found")
    return out, tracker


def filmed(table: Table) -> list[tuple[SimulatedView, Power, float]]:
    """What the camera views, the board's power and the time, frame by frame."""
    count = round((LINE_UP_S + table.seconds) * FPS)
    times = [frame / FPS - LINE_UP_S for frame in range(count)]
    times = [t_s for t_s in times if not table.lost(t_s)]
    views = simulated_views([table.snapshot(t_s) for t_s in times], table.players, look_of(table.players))
    return [(view, "on" if table.power(t_s) else "off", t_s) for view, t_s in zip(views, times, strict=True)]


def roster_of(table: Table) -> Roster:
    """A roster of all figures with their places."""
    spots = []
    for id_, path in table.paths.items():
        if id_ in table.unlisted:
            continue
        x_mm, y_mm, _ = path(-LINE_UP_S)
        spots.append(RosterSpot(id_, x_mm / FIELD.mm_per_yd_x, y_mm / FIELD.mm_per_yd_y))
    return Roster(tuple(player for player in table.players if player.id not in table.unlisted), tuple(spots))


@cache
def look_of(players: tuple[Player, ...]) -> Appearance:
    """The appearance of a table with a camera over it."""
    return draw_table(3, players, field=FIELD, size=SIZE_PX, fps=FPS)


def standing(x_mm: float, y_mm: float, heading_deg: float = 0.0) -> Path:
    """A path that stays in place."""
    return lambda _: (x_mm, y_mm, heading_deg)


def walking(x_mm: float, y_mm: float, heading_deg: float, speed_mm_s: float = 60.0) -> Path:
    """A path ahead once the board is on."""
    turn = math.radians(heading_deg)

    def path(t_s: float) -> Place:
        way = speed_mm_s * max(t_s, 0.0)
        return (x_mm + way * math.cos(turn), y_mm + way * math.sin(turn), heading_deg)

    return path


def hand_at(x_mm: float, y_mm: float, holds: str | None = None) -> HandPose:
    """A hand whose fingertips are at a place; its arm comes from below."""
    return HandPose((x_mm, y_mm, 12.0), (x_mm + 40.0, y_mm - 420.0, 160.0), holds)


def switches(frames: Sequence[Tracked]) -> set[str]:
    """The figures whose estimates are ever where another figure is, and not where they are."""
    out = set()
    for frame in frames:
        for id_, estimate in frame.seen.items():
            here = np.array([estimate.footprint.x_mm, estimate.footprint.y_mm])
            apart = {other: float(np.linalg.norm(here - place[:2])) for other, place in frame.truth.items()}
            if apart[id_] > 12.0 and min(apart, key=apart.__getitem__) != id_:
                out.add(id_)
    return out


def _upright(_: float) -> float:
    return 0.0


def _attitude(heading_deg: float, tilt_deg: float) -> tuple[float, float, float, float]:
    """The rotation to a heading and then about the figure's own length, to the right."""
    turn, roll = math.radians(heading_deg) / 2, math.radians(tilt_deg) / 2
    return (
        math.cos(turn) * math.cos(roll),
        math.cos(turn) * math.sin(roll),
        math.sin(turn) * math.sin(roll),
        math.sin(turn) * math.cos(roll),
    )
