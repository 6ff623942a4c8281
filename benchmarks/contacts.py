"""Measures contact detection on plays of the twin, with tracking errors added to their truth.

Every position has an error that changes from frame to frame and one that drifts slowly, both in pixels, so their size
on the board depends on the picture's scale. Nothing is rendered: contact detection is measured, not the network. Random
plays are simulated by the physics; figures of named plays move on exact paths.

A touch is called at the first frame in which it is certain for the rules, and its time is the one reported `SETTLES_NS`
later, well within what a rule waits. Touches between which the gap opened by less than `OPENS_MM` count as one; touches
that are called more than once are counted. Near misses are measured over many draws of the errors.

The rates in `vision/contacts/limits.py` were measured on random plays 3000 to 3023. Report on others: 7000 and on.

python benchmarks/contacts.py [random plays [first seed]]
"""

from __future__ import annotations

import dataclasses
import math
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from contact_episodes import BINS, Episode, episodes, report_faces, report_misses

from downfield.core.arrays import Array
from downfield.core.footprint import BaseSize, Footprint
from downfield.core.scene import Contact, Figure, Scene
from downfield.twin.plays.formations import RB, RCB
from downfield.twin.plays.playbook.index import named
from downfield.twin.plays.playbook.random_play import random_play
from downfield.twin.plays.recording import play
from downfield.vision.contacts.contact_tracker import ContactTracker
from downfield.vision.measuring.estimate import Estimate

FPS = 60.0
NAMED = (
    *("clean-tackle", "side-hit", "into-side", "from-behind", "into-back", "side-rub", "corner-hit"),
    *("nearly-square-hit", "near-miss-0.1", "near-miss-0.2", "near-miss-0.5", "near-miss-1"),
    *("stopped-short-0.1", "stopped-short-0.5"),
)
SCALES = (1.0, 1.5, 2.0)
WHITE_PX, DRIFT_PX, DRIFT_S = 0.15, 0.3, 2.0
WHITE_DEG, DRIFT_DEG = 0.3, 0.5
MISSES = ("near-miss-0.5", "near-miss-1", "stopped-short-0.5")
DRAWS = 30
VELOCITY_GAIN = 0.35  # of the tracker's velocities, per frame


class Errors:
    """White and drifting tracking errors of every figure."""

    def __init__(self, scale: float, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.white = np.array([WHITE_PX / scale, WHITE_PX / scale, math.radians(WHITE_DEG)])
        self.drift = np.array([DRIFT_PX / scale, DRIFT_PX / scale, math.radians(DRIFT_DEG)])
        self._now: dict[str, Array] = {}

    def draw(self, id_: str, step_s: float) -> Array:
        """Draw the next error of a figure: x mm, y mm, heading rad."""
        fresh, noise = self._rng.standard_normal((2, 3))
        keep = math.exp(-step_s / DRIFT_S) if id_ in self._now else 0.0
        self._now[id_] = keep * self._now.get(id_, np.zeros(3)) + math.sqrt(1 - keep**2) * self.drift * fresh
        return np.asarray(self._now[id_] + self.white * noise)


def estimates(scenes: Sequence[Scene], errors: Errors) -> Iterator[tuple[Scene, list[Estimate]]]:
    """Yield scenes with the estimates that a tracker would give."""
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
            rate = rate + VELOCITY_GAIN * (step * FPS - rate)
            places[figure.id], rates[figure.id] = place, rate
            out.append(_estimate(figure, place, covariance, rate))
        yield scene, out


def _estimate(figure: Figure, place: Array, covariance: Array, rate: Array) -> Estimate:
    x, y, heading = place.tolist()
    size = BaseSize(figure.length_mm, figure.width_mm, 5.5, figure.corner_mm)
    at = Footprint(x, y, math.degrees(heading), size)
    return Estimate(figure.id, figure.jersey, at, covariance, rate, posture=figure.posture)


@dataclass
class CpuTime:
    """CPU time of contact detection."""

    seconds: float = 0.0
    frames: int = 0


def detect_contacts(
    scenes: Sequence[Scene], scale: float, seed: int, cpu: CpuTime
) -> Iterator[tuple[Scene, list[Contact]]]:
    """Yield a play's scenes, each with the detected contacts."""
    tracker = ContactTracker()
    for scene, figures in estimates(scenes, Errors(scale, seed)):
        start = time.process_time()
        contacts = tracker.step(figures, scene.t_ns, power=scene.board)
        cpu.seconds, cpu.frames = cpu.seconds + time.process_time() - start, cpu.frames + 1
        yield scene, list(contacts)


def report(found: list[Episode], scale: float) -> None:
    """Print the results of one scale."""
    print(f"\n{scale:g} px/mm: errors {WHITE_PX / scale:.2f} mm white, {DRIFT_PX / scale:.2f} mm drifting, each figure")
    touches = [(one, touch) for one in found for touch in one.touches()]
    hits = [(one, touch, calls) for one, touch in touches if (calls := one.called(touch))]
    close = sum(not one.called(touch) and one.too_close() for one, touch in touches)
    missed = len(touches) - len(hits) - close
    print(f"  {len(touches)} touches: called {len(hits) / len(touches):6.1%}, too close {close / len(touches):6.1%}")
    report_misses(found)
    false = sum(
        call not in {known for touch in one.touches() for known in one.called(touch)}
        for one in found
        for call in one.calls()
    )
    print(f"  F1 on calls made {2 * len(hits) / max(2 * len(hits) + false + missed, 1):.3f}, {false} of them false")
    off = np.array([calls[0].began_ns - touch.began_ns for _, touch, calls in hits]) / 1e6
    frame_ms = 1e3 / FPS
    print(
        f"  time error: median {np.median(np.abs(off)):.1f} ms, within a frame {np.mean(np.abs(off) <= frame_ms):.1%},"
        f" earlier {np.mean(off < -frame_ms):.1%}, later {np.mean(off > frame_ms):.1%}"
    )
    print(f"  called more than once: {sum(len(calls) - 1 for _, _, calls in hits)}")
    report_faces(found)


def report_draws(name: str, scenes: Sequence[Scene]) -> None:
    """Print how often runner and defender of a near miss are called over many draws of the errors."""
    pair = {RB, RCB}
    near = [i for i, scene in enumerate(scenes) if any({one.a, one.b} == pair for one in scene.contacts)]
    cut = [
        dataclasses.replace(
            scene,
            figures=tuple(figure for figure in scene.figures if figure.id in pair),
            contacts=tuple(one for one in scene.contacts if {one.a, one.b} == pair),
        )
        for scene in scenes[max(near[0] - 25, 0) : near[-1] + 10]
    ]
    shares = []
    for scale in SCALES:
        found = [
            one
            for draw in range(DRAWS)
            for one in episodes(detect_contacts(cut, scale, 1000 + draw, CpuTime()), BINS[-1][0])
        ]
        shares.append(f"{np.mean([bool(one.calls()) for one in found]):.0%}")
    print(f"  {name:<18} called in {', '.join(shares)} of {DRAWS} draws of the errors")


def named_and_random_plays(names: Iterable[str], seeds: Iterable[int]) -> Iterator[tuple[str, tuple[Scene, ...]]]:
    """Yield named and random plays with their scenes."""
    for name in names:
        one = named(name)
        yield name, play(dataclasses.replace(one.script, fps=FPS), one.seed).scenes
    for seed in seeds:
        yield f"random-{seed}", play(dataclasses.replace(random_play(seed), fps=FPS), seed).scenes


def main() -> None:
    """Measure and print contact detection at each scale."""
    count, first = (int(sys.argv[i]) if len(sys.argv) > i else given for i, given in ((1, 6), (2, 7000)))
    found: dict[float, list[Episode]] = {scale: [] for scale in SCALES}
    cpu = CpuTime()
    for number, (_, scenes) in enumerate(named_and_random_plays(NAMED, range(first, first + count))):
        for scale in SCALES:
            found[scale] += episodes(detect_contacts(scenes, scale, number, cpu), BINS[-1][0])
    for scale in SCALES:
        report(found[scale], scale)
    print(f"\nnear misses at {', '.join(f'{scale:g}' for scale in SCALES)} px/mm:")
    for name, scenes in named_and_random_plays(MISSES, ()):
        report_draws(name, scenes)
    print(f"\n{1e3 * cpu.seconds / cpu.frames:.2f} ms of CPU time per frame")


if __name__ == "__main__":
    main()
