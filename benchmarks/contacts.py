"""How well contacts of opponents are told, over plays of the twin with tracking errors put on their truth.

Every figure's place has an error that changes from frame to frame and one that drifts slowly, both given in pixels, so
what they are on the board depends on the picture's scale. Nothing is rendered: it is the judging of contacts that is
measured, not the network. Random plays are of the physics, named ones walk on exact paths.

python benchmarks/contacts.py [random plays [first seed]]
"""

from __future__ import annotations

import dataclasses
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from downfield.twin.plays.free import random_play
from downfield.twin.plays.library import named
from downfield.twin.plays.performance import play
from downfield.vision.contacts import ContactTracker
from downfield.vision.estimate import Estimate
from downfield.vision.footprint import Array, BaseSize, Footprint
from downfield.vision.scene import Contact, Figure, Scene

FPS = 60.0
SURE = 0.95
NAMED = (
    *("clean-tackle", "side-hit", "into-side", "from-behind", "into-back", "side-rub", "corner-hit"),
    *("nearly-square-hit", "near-miss-0.1", "near-miss-0.2", "near-miss-0.5", "near-miss-1"),
    *("stopped-short-0.1", "stopped-short-0.5"),
)
SCALES = (1.0, 1.5, 2.0)
WHITE_PX, DRIFT_PX, DRIFT_S = 0.15, 0.3, 2.0
WHITE_DEG, DRIFT_DEG = 0.3, 0.5
BINS = ((0.0, "touch"), (0.1, "below 0.1"), (0.495, "0.1-0.5"), (1.005, "0.5-1"), (3.0, "1-3"))
FOLLOWS = 0.35  # how quickly the tracker's velocities follow, per frame


class Errors:
    """Errors of tracking: white and drifting ones of every figure."""

    def __init__(self, scale: float, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.white = np.array([WHITE_PX / scale, WHITE_PX / scale, math.radians(WHITE_DEG)])
        self.drift = np.array([DRIFT_PX / scale, DRIFT_PX / scale, math.radians(DRIFT_DEG)])
        self._now: dict[str, Array] = {}

    def draw(self, id_: str, step_s: float) -> Array:
        """The next error of a figure: x mm, y mm, heading rad."""
        fresh, noise = self._rng.standard_normal((2, 3))
        keep = math.exp(-step_s / DRIFT_S) if id_ in self._now else 0.0
        self._now[id_] = keep * self._now.get(id_, np.zeros(3)) + math.sqrt(1 - keep**2) * self.drift * fresh
        return np.asarray(self._now[id_] + self.white * noise)


def estimates(scenes: Sequence[Scene], errors: Errors) -> Iterator[tuple[Scene, list[Estimate]]]:
    """What a tracker would give for scenes."""
    covariance = np.diag(errors.white**2 + errors.drift**2)
    places: dict[str, Array] = {}
    rates: dict[str, Array] = {}
    for scene in scenes:
        out = []
        for figure in scene.figures:
            place = np.array([figure.x_mm, figure.y_mm, math.radians(figure.heading_deg)]) + errors.draw(
                figure.id, 1 / FPS
            )
            step = place - places.get(figure.id, place)
            step[2] = math.remainder(step[2], 2 * math.pi)
            rate = rates.get(figure.id, np.zeros(3))
            rate = rate + FOLLOWS * (step * FPS - rate)
            places[figure.id], rates[figure.id] = place, rate
            out.append(_estimate(figure, place, covariance, rate))
        yield scene, out


def _estimate(figure: Figure, place: Array, covariance: Array, rate: Array) -> Estimate:
    x, y, heading = place.tolist()
    size = BaseSize(figure.length_mm, figure.width_mm, 5.5, figure.corner_mm)
    at = Footprint(x, y, math.degrees(heading), size)
    return Estimate(figure.id, figure.jersey, at, covariance, rate, posture=figure.posture)


@dataclass
class Episode:
    """Two opponents near each other for a while: what was true, and what was said."""

    truth: list[Contact] = field(default_factory=list)
    said: list[Contact | None] = field(default_factory=list)
    last: int = -1

    @property
    def began_ns(self) -> int | None:
        """When they touched first."""
        return next((one.since_ns for one in self.truth if one.since_ns is not None), None)

    @property
    def gap_mm(self) -> float:
        """Their closest gap; 0 when they touched."""
        return 0.0 if self.began_ns is not None else min(one.gap_mm for one in self.truth)

    def lasting(self) -> list[float]:
        """Probabilities as the rules take them: the middle one of three frames."""
        said = [0.0 if one is None else one.probability for one in self.said]
        return [sorted(said[max(i - 2, 0) : i + 1])[len(said[max(i - 2, 0) : i + 1]) // 2] for i in range(len(said))]

    def called(self) -> Contact | None:
        """What was said when it was surest, if that was sure."""
        lasting = self.lasting()
        best = int(np.argmax(lasting))
        return self.said[best] if lasting[best] >= SURE else None

    def close(self) -> bool:
        """Whether it was too close to call."""
        return self.called() is None and max(self.lasting()) > 1 - SURE


def episodes(scenes: Sequence[Scene], scale: float, seed: int) -> list[Episode]:
    """The episodes of a play."""
    tracker = ContactTracker()
    open_: dict[tuple[str, str], Episode] = {}
    done: list[Episode] = []
    for scene, figures in estimates(scenes, Errors(scale, seed)):
        said = {(one.a, one.b): one for one in tracker.step(figures, scene.t_ns, power=scene.board)}
        jersey = {figure.id: figure.jersey for figure in scene.figures}
        upright = {figure.id for figure in scene.figures if figure.posture == "upright"}
        for true in scene.contacts:
            pair = true.a, true.b
            if jersey[true.a] == jersey[true.b] or not {true.a, true.b} <= upright:
                continue
            episode = open_.setdefault(pair, Episode())
            if episode.last not in {-1, scene.frame - 1}:
                done.append(episode)
                episode = open_[pair] = Episode()
            episode.truth.append(true)
            episode.said.append(said.get(pair))
            episode.last = scene.frame
    return [one for one in (*done, *open_.values()) if one.gap_mm <= BINS[-1][0] and len(one.truth) > 2]


def report(found: list[Episode], scale: float) -> None:
    """Prints one scale's figures."""
    print(f"\n{scale:g} px/mm: errors {WHITE_PX / scale:.2f} mm white, {DRIFT_PX / scale:.2f} mm drifting, each figure")
    low = -1.0
    for high, name in BINS:
        inside = [one for one in found if low < one.gap_mm <= high]
        low = high
        if inside:
            called, close = (np.mean([bool(test(one)) for one in inside]) for test in (Episode.called, Episode.close))
            print(f"  closest {name:<10} {len(inside):4d} episodes: called {called:6.1%}, too close {close:6.1%}")
    hits = [(one, said) for one in found if one.began_ns is not None and (said := one.called()) is not None]
    false = sum(one.began_ns is None and one.called() is not None for one in found)
    missed = sum(one.began_ns is not None and one.called() is None and not one.close() for one in found)
    print(f"  F1 on calls made {2 * len(hits) / max(2 * len(hits) + false + missed, 1):.3f}")
    off = np.array([(said.since_ns or 0) - (one.began_ns or 0) for one, said in hits]) / 1e6
    if len(off):
        within = np.mean(np.abs(off) <= 1e3 / FPS)
        print(f"  time off: median {np.median(np.abs(off)):.1f} ms, within a frame {within:.1%}")
    faces = [
        (said.face_a, said.face_b) == (true.face_a, true.face_b)
        for one, said in hits
        if (true := _true_at(one, said)) is not None and _plain(true)
    ]
    if faces:
        print(f"  faces right {np.mean(faces):.1%} of {len(faces)} that are plain")


def _true_at(one: Episode, said: Contact) -> Contact | None:
    return next((true for true, told in zip(one.truth, one.said, strict=True) if told is said), None)


def _plain(true: Contact) -> bool:
    """Whether it is clear which faces meet: they lie along each other."""
    return true.angle_deg < 20 and true.overlap_mm > 3 and "corner" not in {true.face_a, true.face_b}


def recorded(count: int, first: int) -> Iterator[tuple[str, tuple[Scene, ...]]]:
    """The plays."""
    for name in NAMED:
        one = named(name)
        yield name, play(dataclasses.replace(one.script, fps=FPS), one.seed).scenes
    for seed in range(first, first + count):
        yield f"random-{seed}", play(dataclasses.replace(random_play(seed), fps=FPS), seed).scenes


def main() -> None:
    """Prints how contacts are told at each scale."""
    count, first = (int(sys.argv[i]) if len(sys.argv) > i else given for i, given in ((1, 6), (2, 2000)))
    found: dict[float, list[Episode]] = {scale: [] for scale in SCALES}
    seconds = frames = 0.0
    for number, (_, scenes) in enumerate(recorded(count, first)):
        for scale in SCALES:
            start = time.process_time()
            found[scale] += episodes(scenes, scale, number)
            seconds, frames = seconds + time.process_time() - start, frames + len(scenes)
    for scale in SCALES:
        report(found[scale], scale)
    print(f"\n{1e3 * seconds / frames:.2f} ms of one core a frame, the errors' making included")


if __name__ == "__main__":
    main()
