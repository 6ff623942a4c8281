"""A detector simulated from the twin's truth with the errors of a network on a table it was never taught.

`SimulatedDetector` errs as a network does at home: little, and differently in every frame. On a stranger's table errors
belong to a body and last: a base is measured short at the same side for seconds, a figure is not found in spells, is
called fallen in spells while it stands, one is found twice, two are found as one. `StrangeDetector` puts such errors
into the view before the simulated network sees it. Their rates are those of single strange pictures in the model card.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from simulated_detector import Faults, SimulatedDetector, SimulatedFigure, SimulatedView

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.models.suppression import suppress_overlaps
from downfield.twin.physics.poses import FALLEN_DEG

_FRONT, _REAR, _LEFT, _RIGHT = range(4)
_LYING_DEG = 90.0


@dataclass(frozen=True, slots=True)
class StrangeFaults:
    """Errors that last. Rates are shares of figures in frames; `spell` times are means, drawn exponentially.

    Attributes:
        turned: share of figures detected the wrong way around throughout.
        front_score: least and greatest confidence in a figure's front, one for each figure, whether right or wrong.
        missed, missed_s: figures not detected, in spells; how often differs from body to body.
        fallen, fallen_s: standing figures called fallen, in spells, helmets beside their bases.
        fallen_bodies: share of figures to whom that happens at all.
        tilted: share of these whose base is then measured as one that stands on an edge, toward the helmet.
        tilted_share: least and greatest share of its size that is left of such a base.
        upright: lying figures called upright throughout.
        doubled, doubled_s: figures detected twice, the other base up to one length off, in spells.
        across, across_s: bases measured across their length, in spells, at one end.
        merged, merged_s: near pairs of figures detected as one base between them, in spells.
        merged_share, merged_turn_deg: least and greatest share of the way from one to the other at which that base is,
            and by how much it is turned at most.
        fixtures, fixture_shown, fixture_s: things on the board that look like a figure, and when they do.
        edge_mm: standard deviation of each side's lasting error; dark bases are short by as much.
        edge_wander_mm, edge_s: of the part of it that changes as figures walk, and how fast.
        wild, wild_s, wild_mm: figures with one side far off, in spells.
        sigma_share: errors that the network says, as a share of the real ones.
    """

    turned: float = 0.27
    front_score: tuple[float, float] = (0.55, 0.95)
    missed: float = 0.045
    missed_s: float = 0.25
    fallen: float = 0.02
    fallen_s: float = 0.6
    fallen_bodies: float = 0.15
    tilted: float = 0.4
    tilted_share: tuple[float, float] = (0.3, 0.8)
    upright: float = 0.24
    doubled: float = 0.02
    doubled_s: float = 0.25
    across: float = 0.01
    across_s: float = 0.2
    merged: float = 0.02
    merged_s: float = 0.2
    merged_share: tuple[float, float] = (0.3, 0.7)
    merged_turn_deg: float = 40.0
    fixtures: int = 2
    fixture_shown: float = 0.2
    fixture_s: float = 0.5
    edge_mm: float = 0.5
    edge_wander_mm: float = 0.4
    edge_s: float = 0.8
    wild: float = 0.06
    wild_s: float = 0.4
    wild_mm: float = 3.0
    sigma_share: float = 0.75


class StrangeDetector:
    """Detects figures as a network does on a strange table, frame after frame.

    Args:
        faults: the errors that last.
        seed: of all errors.
    """

    def __init__(self, faults: StrangeFaults | None = None, seed: int = 0) -> None:
        self._faults = faults or StrangeFaults()
        self._random = np.random.default_rng([seed, 0x57A26E])
        self._network = SimulatedDetector(Faults(miss=0.002, flip=0.0, double=0.0, false=0.1), seed)
        self._spells: dict[tuple[str, str], bool] = {}
        self._drawn: dict[tuple[str, str], float] = {}
        self._wander: dict[str, Array] = {}
        self._places: dict[str, Array] = {}
        self._last_ns: int | None = None

    def detect(self, view: SimulatedView) -> tuple[Detection, ...]:
        """The detections of one frame, best first."""
        step_s = 1 / 30 if self._last_ns is None else (view.t_ns - self._last_ns) * 1e-9
        self._last_ns = view.t_ns
        strange = replace(view, figures=tuple(self._figures(view, step_s)))
        found = [self._judged(one, strange) for one in self._network.detect(strange)]
        figures = [one for one in found if one.corners_px]
        rest = [one for one in found if not one.corners_px]
        return tuple(sorted([*suppress_overlaps(figures, 0), *rest], key=lambda one: -one.score))

    def _figures(self, view: SimulatedView, step_s: float) -> Iterator[SimulatedFigure]:
        """Yield what the network takes for figures, with errors that last, and their ids."""
        faults = self._faults
        merged = self._merged(view.figures, step_s)
        for figure in view.figures:
            if self._is_in_spell("missed", figure.id, self._often(figure.id, faults.missed), faults.missed_s, step_s):
                continue
            if figure.id in merged:
                corners = merged[figure.id]
                if corners is not None:
                    yield replace(figure, corners_px=corners)
                continue
            seen = self._postured(self._displaced(figure, step_s), step_s)
            if self._is_in_spell("across", figure.id, faults.across, faults.across_s, step_s):
                seen = replace(seen, corners_px=_across(seen.corners_px, front=self._once("end", figure.id) < 0.5))
            if self._once("turned", figure.id) < faults.turned:
                seen = replace(seen, corners_px=np.roll(seen.corners_px, 2, axis=0))
            yield seen
            if self._is_in_spell("doubled", figure.id, faults.doubled, faults.doubled_s, step_s):
                yield self._double(seen)
        yield from self._fixtures(view, step_s)

    def _displaced(self, figure: SimulatedFigure, step_s: float) -> SimulatedFigure:
        """The figure with its base's sides where the network takes them to be."""
        faults, px_per_mm = self._faults, _px_per_mm(figure)
        lasting = np.array([self._normal(f"side {side}", figure.id) for side in range(4)]) * faults.edge_mm
        if figure.id.startswith("dark"):
            lasting -= faults.edge_mm
        keep = math.exp(-step_s / faults.edge_s)
        fresh = self._random.normal(size=4)
        before = self._wander.get(figure.id)
        wander = fresh if before is None else keep * before + math.sqrt(1 - keep**2) * fresh
        self._wander[figure.id] = wander
        off_mm = lasting + faults.edge_wander_mm * wander
        if self._is_in_spell("wild", figure.id, faults.wild, faults.wild_s, step_s):
            side = int(4 * self._once("wild side", figure.id))
            off_mm[side] += faults.wild_mm * (1 if self._once("wild way", figure.id) < 0.3 else -1)
        return replace(figure, corners_px=_resized(figure.corners_px, off_mm * px_per_mm))

    def _postured(self, figure: SimulatedFigure, step_s: float) -> SimulatedFigure:
        """The figure, standing or lying as the network will call it."""
        faults = self._faults
        if figure.tilt_deg > FALLEN_DEG:
            misses = self._once("upright", figure.id) < faults.upright
            return replace(figure, tilt_deg=0.0) if misses else figure
        often = faults.fallen / faults.fallen_bodies
        share = often if self._once("fallen body", figure.id) < faults.fallen_bodies else 0.0
        if not self._is_in_spell("fallen", figure.id, share, faults.fallen_s, step_s):
            return figure
        turn = 2 * np.pi * self._once("helmet", figure.id)
        way = np.array([math.cos(turn), math.sin(turn)])
        corners = figure.corners_px
        if self._once("tilted", figure.id) < faults.tilted:
            low, high = faults.tilted_share
            lost = 1 - (low + (high - low) * self._once("tilted share", figure.id))
            off = corners - corners.mean(axis=0)
            corners = corners - lost * (off @ way)[:, None] * way
        helmet = figure.helmet_px + 1.2 * _length_px(figure.corners_px) * way
        return replace(figure, tilt_deg=_LYING_DEG, corners_px=corners, helmet_px=helmet)

    def _double(self, figure: SimulatedFigure) -> SimulatedFigure:
        """The same figure once more, beside itself and turned."""
        name = f"{figure.id} doubled"
        angle, turn = 2 * np.pi * self._once("beside", name), np.pi * self._once("turn", name)
        reach = (0.5 + 0.5 * self._once("reach", name)) * _length_px(figure.corners_px)
        middle = figure.corners_px.mean(axis=0)
        corners = (figure.corners_px - middle) @ _rotation(turn).T + middle
        by = reach * np.array([math.cos(angle), math.sin(angle)])
        return replace(figure, id=name, corners_px=corners + by, helmet_px=figure.helmet_px + by)

    def _merged(self, figures: Iterable[SimulatedFigure], step_s: float) -> dict[str, Array | None]:
        """The corners of merged pairs, by the first figure's id; the second's has None."""
        out: dict[str, Array | None] = {}
        standing = [figure for figure in figures if figure.tilt_deg <= FALLEN_DEG]
        for i, one in enumerate(standing):
            for two in standing[i + 1 :]:
                apart = float(np.linalg.norm(one.corners_px.mean(axis=0) - two.corners_px.mean(axis=0)))
                if apart > 1.2 * _length_px(one.corners_px) or not {one.id, two.id}.isdisjoint(out):
                    continue
                if self._is_in_spell(
                    "merged", f"{one.id}+{two.id}", self._faults.merged, self._faults.merged_s, step_s
                ):
                    out |= {one.id: self._between(one, two), two.id: None}
        return out

    def _between(self, one: SimulatedFigure, two: SimulatedFigure) -> Array:
        """The corners of the base for which two are taken: between them, turned as it happens, and so throughout."""
        pair, (low, high) = f"{one.id}+{two.id}", self._faults.merged_share
        start, end = one.corners_px.mean(axis=0), two.corners_px.mean(axis=0)
        share = low + (high - low) * self._once("merged share", pair)
        turn = np.radians(self._faults.merged_turn_deg) * (2 * self._once("merged turn", pair) - 1)
        corners: Array = (one.corners_px - start) @ _rotation(turn).T + (1 - share) * start + share * end
        return corners

    def _fixtures(self, view: SimulatedView, step_s: float) -> Iterator[SimulatedFigure]:
        """Yield the things that look like figures."""
        faults = self._faults
        for number in range(faults.fixtures if view.figures else 0):
            name = f"thing {number}"
            model = view.figures[number % len(view.figures)]
            if name not in self._places:
                size = np.array(view.camera.lens.size_px)
                self._places[name] = size * self._random.uniform(0.2, 0.8, 2) - model.corners_px.mean(axis=0)
                self._places[name] = np.concatenate([[self._places[name]], model.corners_px])
            by, *corners = self._places[name]
            if self._is_in_spell("shown", name, faults.fixture_shown, faults.fixture_s, step_s):
                yield replace(
                    model, id=name, corners_px=np.array(corners) + by, helmet_px=model.helmet_px + by,
                    corners_visible=(True,) * 4, visible=1.0, covered=False, tilt_deg=0.0,
                )  # fmt: skip

    def _judged(self, found: Detection, view: SimulatedView) -> Detection:
        """The detection as sure as the network says it is."""
        if not found.corners_px:
            return found
        middle = np.mean(found.corners_px, axis=0)
        near = min(
            view.figures, key=lambda one: float(np.linalg.norm(one.corners_px.mean(axis=0) - middle)), default=None
        )
        if near is None:
            return found
        faults, low = self._faults, self._faults.front_score[0]
        own_px = 0.65 * view.camera.lens.size_px[0] / 1920
        lasting_px = math.hypot(faults.edge_mm, faults.edge_wander_mm) * _px_per_mm(near)
        hidden = 1 + 2 * (1 - np.clip(found.corner_scores, 0, 1))
        sigma = faults.sigma_share * math.hypot(own_px, lasting_px) * hidden
        doubtful = near.id.startswith("thing") or near.id.endswith("doubled")
        front = low + (faults.front_score[1] - low) * self._once("front", near.id)
        return replace(
            found,
            score=0.75 * found.score if doubtful else found.score,
            corner_sigma_px=tuple(float(one) for one in sigma),
            front_score=front,
        )

    def _often(self, id_: str, share: float) -> float:
        """How often something happens to a figure that happens to all in a share of frames: bodies differ much."""
        return min(-share * math.log(max(1 - self._once("often", id_), 1e-9)), 0.6)

    def _is_in_spell(self, fault: str, id_: str, share: float, mean_s: float, step_s: float) -> bool:
        """Whether a figure is in a spell of a fault that it is in for a share of the time."""
        key = fault, id_
        if key not in self._spells or self._random.random() > math.exp(-step_s / mean_s):
            self._spells[key] = bool(self._random.random() < share)
        return self._spells[key]

    def _once(self, what: str, id_: str) -> float:
        """A number from 0 to 1, drawn once for each figure."""
        if (what, id_) not in self._drawn:
            self._drawn[what, id_] = float(self._random.random())
        return self._drawn[what, id_]

    def _normal(self, what: str, id_: str) -> float:
        """A normal number, drawn once for each figure."""
        if (what, id_) not in self._drawn:
            self._drawn[what, id_] = float(self._random.normal())
        return self._drawn[what, id_]


def _resized(corners: Array, off_px: Array) -> Array:
    """Corners of a base whose front, rear, left and right side lie further out, shape (4, 2)."""
    ahead = corners[:2].mean(axis=0) - corners[2:].mean(axis=0)
    left = corners[[0, 3]].mean(axis=0) - corners[[1, 2]].mean(axis=0)
    ahead, left = (way / max(float(np.linalg.norm(way)), 1e-9) for way in (ahead, left))
    out = corners.astype(np.float64)
    out[:2] += off_px[_FRONT] * ahead
    out[2:] -= off_px[_REAR] * ahead
    out[[0, 3]] += off_px[_LEFT] * left
    out[[1, 2]] -= off_px[_RIGHT] * left
    return out


def _across(corners: Array, *, front: bool) -> Array:
    """Corners of a base that stands across at one end of another, shape (4, 2): its long sides are the other's ends."""
    middle, end = corners.mean(axis=0), (corners[:2] if front else corners[2:]).mean(axis=0)
    turned = (corners - middle) @ _rotation(math.pi / 2).T
    across: Array = turned + middle + 0.3 * (end - middle)
    return across


def _rotation(angle: float) -> Array:
    return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


def _length_px(corners: Array) -> float:
    """The longer side of a base in the picture."""
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).max())


def _px_per_mm(figure: SimulatedFigure) -> float:
    return _length_px(figure.corners_px) / 30.0  # of a base of usual length
