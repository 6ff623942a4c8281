"""Two opponents near each other for a while: true touches, and what was called of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from downfield.core.scene import Contact, Scene

SURE = 0.95
SETTLES_NS = 150_000_000
"""So long after its first sure frame the instant of a call is taken: rules wait longer."""

OPENS_MM = 0.5
"""Touches between which the gap opened by less are one: nothing is promised below that."""

TOLD_NS = 150_000_000
"""A call that begins so long after a touch is of it still."""

BINS = ((0.1, "below 0.1"), (0.495, "0.1-0.5"), (1.005, "0.5-1"), (3.0, "1-3"))
"""Closest gaps by which misses are reported: up to how many millimeters, and as what."""


@dataclass(frozen=True)
class Touch:
    """A true touch: when it began, and the indices of its frames in its episode, the last one included."""

    began_ns: int
    first: int
    last: int


@dataclass(frozen=True)
class Call:
    """A contact called: when it is said to have begun; its frames from the first sure one to the last likely one."""

    began_ns: int
    first: int
    last: int


@dataclass
class Episode:
    """Two opponents near each other for a while: what was true, and what was said."""

    t_ns: list[int] = field(default_factory=list)
    truth: list[Contact] = field(default_factory=list)
    said: list[Contact | None] = field(default_factory=list)
    last: int = -1

    @property
    def gap_mm(self) -> float:
        """Their closest gap; 0 when they touched."""
        return 0.0 if self.touches() else min(one.gap_mm for one in self.truth)

    def touches(self) -> list[Touch]:
        """The true touches, in order."""
        out: list[Touch] = []
        open_mm = math.inf
        for i, one in enumerate(self.truth):
            if one.since_ns is None:
                open_mm = max(open_mm, one.gap_mm)
            elif open_mm < OPENS_MM:
                out[-1] = dataclasses.replace(out[-1], last=i)
                open_mm = 0.0
            else:
                out.append(Touch(one.since_ns, i, i))
                open_mm = 0.0
        return out

    def lasting(self) -> list[float]:
        """Probabilities as the rules take them: the middle one of three frames."""
        said = [0.0 if one is None else one.probability for one in self.said]
        return [sorted(said[max(i - 2, 0) : i + 1])[len(said[max(i - 2, 0) : i + 1]) // 2] for i in range(len(said))]

    def calls(self) -> list[Call]:
        """What was called, in order."""
        lasting, out, i = self.lasting(), [], 0
        while i < len(lasting):
            if lasting[i] < SURE:
                i += 1
                continue
            end = next((k for k in range(i, len(lasting)) if lasting[k] <= 0.5), len(lasting))
            settled = [
                one.since_ns
                for t_ns, one in zip(self.t_ns[i:end], self.said[i:end], strict=True)
                if one is not None and one.since_ns is not None and t_ns <= self.t_ns[i] + SETTLES_NS
            ]
            if settled:
                out.append(Call(settled[-1], i, end - 1))
            i = end
        return out

    def called(self, touch: Touch) -> list[Call]:
        """The calls of a touch: more than one when it was told again."""
        late = self.t_ns[touch.last] + TOLD_NS
        return [call for call in self.calls() if self.t_ns[call.first] <= late and call.last >= touch.first - 1]

    def close(self) -> bool:
        """Whether something in it was too close to call."""
        return max(self.lasting()) > 1 - SURE


def episodes(frames: Iterable[tuple[Scene, Iterable[Contact]]], furthest_mm: float) -> list[Episode]:
    """The episodes of a play in which opponents who stand came near each other.

    Args:
        frames: every scene as it was that was filmed, in order, with the contacts that were told of it.
        furthest_mm: closest gap up to which an episode counts.

    """
    open_: dict[tuple[str, str], Episode] = {}
    done: list[Episode] = []
    for number, (scene, contacts) in enumerate(frames):
        said = {(one.a, one.b): one for one in contacts}
        jersey = {figure.id: figure.jersey for figure in scene.figures}
        upright = {figure.id for figure in scene.figures if figure.posture == "upright"}
        for true in scene.contacts:
            pair = true.a, true.b
            if jersey[true.a] == jersey[true.b] or not {true.a, true.b} <= upright:
                continue
            episode = open_.setdefault(pair, Episode())
            if episode.last not in {-1, number - 1}:
                done.append(episode)
                episode = open_[pair] = Episode()
            episode.t_ns.append(scene.t_ns)
            episode.truth.append(true)
            episode.said.append(said.get(pair))
            episode.last = number
    return [one for one in (*done, *open_.values()) if one.gap_mm <= furthest_mm and len(one.truth) > 2]


def report_misses(found: Iterable[Episode]) -> None:
    """Prints what was said of opponents who never touched, by how near they came."""
    missed, low = [one for one in found if one.gap_mm > 0], 0.0
    for high, name in BINS:
        inside = [one for one in missed if low < one.gap_mm <= high]
        low = high
        if inside:
            called = np.mean([bool(one.calls()) for one in inside])
            close = np.mean([not one.calls() and one.close() for one in inside])
            print(f"  missed by {name:<10} {len(inside):4d}: called {called:6.1%}, too close {close:6.1%}")


def report_faces(found: Iterable[Episode]) -> None:
    """Prints how often the faces that meet were right in touches that were called, where it is plain which they are."""
    faces = [
        (said.face_a, said.face_b) == (true.face_a, true.face_b)
        for one in found
        for touch in one.touches()
        for calls in [one.called(touch)]
        if calls and (said := one.said[calls[0].first]) is not None and _plain(true := one.truth[calls[0].first])
    ]
    if faces:
        print(f"  faces right {np.mean(faces):.1%} of {len(faces)} that are plain, wanted >= 98 %")


def _plain(true: Contact) -> bool:
    """Whether it is clear which faces meet: they lie along each other."""
    return true.angle_deg < 20 and true.overlap_mm > 3 and "corner" not in {true.face_a, true.face_b}
