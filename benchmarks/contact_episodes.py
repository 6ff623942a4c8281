"""Episodes of two opponents near each other: true touches, and the contacts called."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from downfield.core.scene import Contact, Scene

SURE = 0.95
SETTLES_NS = 150_000_000
"""The time of a call is taken so long after its first certain frame; rules wait longer."""

OPENS_MM = 0.5
"""Touches between which the gap opened by less count as one."""

LATE_NS = 150_000_000
"""A call that begins up to so long after a touch belongs to it."""

BINS = ((0.1, "below 0.1"), (0.495, "0.1-0.5"), (1.005, "0.5-1"), (3.0, "1-3"))
"""Closest gaps by which near misses are reported: upper limit in mm, and label."""


@dataclass(frozen=True)
class TrueTouch:
    """A true touch: when it began, and the indices of its frames in its episode, the last one included."""

    began_ns: int
    first: int
    last: int


@dataclass(frozen=True)
class ContactCall:
    """A called contact: when it began, and its frames from the first certain one to the last likely one."""

    began_ns: int
    first: int
    last: int


@dataclass
class Episode:
    """Two opponents near each other for a while: true and reported contacts."""

    t_ns: list[int] = field(default_factory=list)
    truth: list[Contact] = field(default_factory=list)
    reported: list[Contact | None] = field(default_factory=list)
    last: int = -1

    @property
    def gap_mm(self) -> float:
        """Their closest gap; 0 when they touched."""
        return 0.0 if self.touches() else min(true.gap_mm for true in self.truth)

    def touches(self) -> list[TrueTouch]:
        """Return the true touches, in order."""
        out: list[TrueTouch] = []
        open_mm = math.inf
        for i, true in enumerate(self.truth):
            if true.since_ns is None:
                open_mm = max(open_mm, true.gap_mm)
            elif open_mm < OPENS_MM:
                out[-1] = dataclasses.replace(out[-1], last=i)
                open_mm = 0.0
            else:
                out.append(TrueTouch(true.since_ns, i, i))
                open_mm = 0.0
        return out

    def smoothed_probabilities(self) -> list[float]:
        """Return probabilities as the rules use them: the median of three frames."""
        raw = [0.0 if contact is None else contact.probability for contact in self.reported]
        return [sorted(raw[max(i - 2, 0) : i + 1])[len(raw[max(i - 2, 0) : i + 1]) // 2] for i in range(len(raw))]

    def calls(self) -> list[ContactCall]:
        """Return the calls, in order."""
        probabilities, out, i = self.smoothed_probabilities(), [], 0
        while i < len(probabilities):
            if probabilities[i] < SURE:
                i += 1
                continue
            end = next((k for k in range(i, len(probabilities)) if probabilities[k] <= 0.5), len(probabilities))
            settled = [
                contact.since_ns
                for t_ns, contact in zip(self.t_ns[i:end], self.reported[i:end], strict=True)
                if contact is not None and contact.since_ns is not None and t_ns <= self.t_ns[i] + SETTLES_NS
            ]
            if settled:
                out.append(ContactCall(settled[-1], i, end - 1))
            i = end
        return out

    def called(self, touch: TrueTouch) -> list[ContactCall]:
        """Return the calls of a touch; more than one when it was called again."""
        late = self.t_ns[touch.last] + LATE_NS
        return [call for call in self.calls() if self.t_ns[call.first] <= late and call.last >= touch.first - 1]

    def too_close(self) -> bool:
        """Return whether something in it was too close to call."""
        return max(self.smoothed_probabilities()) > 1 - SURE


def episodes(frames: Iterable[tuple[Scene, Iterable[Contact]]], furthest_mm: float) -> list[Episode]:
    """Return the episodes of a play in which standing opponents came near each other.

    Args:
        frames: every true scene, in order, with the contacts reported for it.
        furthest_mm: closest gap up to which an episode counts.
    """
    open_: dict[tuple[str, str], Episode] = {}
    done: list[Episode] = []
    for number, (scene, contacts) in enumerate(frames):
        reported = {(contact.a, contact.b): contact for contact in contacts}
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
            episode.reported.append(reported.get(pair))
            episode.last = number
    return [one for one in (*done, *open_.values()) if one.gap_mm <= furthest_mm and len(one.truth) > 2]


def report_misses(found: Iterable[Episode]) -> None:
    """Print the calls of opponents that never touched, by how near they came."""
    missed, low = [one for one in found if one.gap_mm > 0], 0.0
    for high, name in BINS:
        inside = [one for one in missed if low < one.gap_mm <= high]
        low = high
        if inside:
            called = np.mean([bool(one.calls()) for one in inside])
            close = np.mean([not one.calls() and one.too_close() for one in inside])
            print(f"  missed by {name:<10} {len(inside):4d}: called {called:6.1%}, too close {close:6.1%}")


def report_faces(found: Iterable[Episode]) -> None:
    """Print how often the faces were right in called touches, where they are unambiguous."""
    faces = [
        (reported.face_a, reported.face_b) == (true.face_a, true.face_b)
        for one in found
        for touch in one.touches()
        for calls in [one.called(touch)]
        if calls
        and (reported := one.reported[calls[0].first]) is not None
        and _unambiguous(true := one.truth[calls[0].first])
    ]
    if faces:
        print(f"  faces right {np.mean(faces):.1%} of {len(faces)} that are unambiguous, target >= 98 %")


def _unambiguous(true: Contact) -> bool:
    """Return whether it is clear which faces meet: they lie along each other."""
    return true.angle_deg < 20 and true.overlap_mm > 3 and "corner" not in {true.face_a, true.face_b}
