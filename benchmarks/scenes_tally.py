"""Scores scenes of rendered plays: board power, ball, falls, contacts of opponents, teams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from contact_episodes import Episode, episodes, report_faces, report_misses

from downfield.core.scene import Contact, Scene

SWITCHED_NS = 200_000_000
"""Time allowed for detecting that the board was switched on or off."""

SCALES_PX_PER_MM = (0.0, 1.25, 1.75, 9.0)  # by which contacts are reported
NEAR_MM = 3.0  # opponents that came this near each other are scored


@dataclass
class SceneTally:
    """Counts over all clips."""

    power: Counter[str] = field(default_factory=Counter)
    ball: Counter[str] = field(default_factory=Counter)
    touches: list[bool] = field(default_factory=list)
    teams: list[bool] = field(default_factory=list)
    falls: Counter[str] = field(default_factory=Counter)
    episodes: dict[float, list[Episode]] = field(default_factory=dict)  # by pixels per millimeter of the clip
    gaps: list[bool] = field(default_factory=list)  # whether each reported gap is within two sigma
    far: int = 0
    frame_ns: int = 0
    unfit: int = 0
    frames: int = 0


def score_clip(pairs: Sequence[tuple[Scene, Scene]], px_per_mm: float, tally: SceneTally) -> None:
    """Score a clip.

    Args:
        pairs: its true and measured scenes, at least one.
        px_per_mm: scale of the picture at the middle of the field.
        tally: updated.
    """
    tally.frame_ns = (pairs[-1][0].t_ns - pairs[0][0].t_ns) // max(len(pairs) - 1, 1)
    switched_ns, power = pairs[0][0].t_ns, pairs[0][0].board
    touched: dict[str, str | None] = {}
    for true, seen in pairs:
        tally.frames += 1
        tally.unfit += bool(seen.unfit)
        if true.board != power:
            switched_ns, power = true.t_ns, true.board
        if true.t_ns - switched_ns >= SWITCHED_NS:
            tally.power["unknown" if seen.board == "unknown" else "right" if seen.board == power else "wrong"] += 1
        if true.ball is not None:
            tally.ball[_ball(true, seen)] += 1
            if true.ball.touched_by is not None:
                by = seen.ball.touched_by if seen.ball is not None else None
                touched[true.ball.touched_by] = by or touched.get(true.ball.touched_by)
    lay = {one.id for true, _ in pairs for one in true.figures if one.posture == "fallen"}
    reported_lying = {one.id for _, seen in pairs if not seen.unfit for one in seen.figures if one.posture == "fallen"}
    tally.falls.update(true=len(lay), detected=len(lay & reported_lying), false=len(reported_lying - lay))
    tally.touches += [by == reported for by, reported in touched.items()]
    reported: list[tuple[Scene, tuple[Contact, ...]]] = [
        (true, () if seen.unfit else seen.contacts) for true, seen in pairs
    ]
    for true, contacts in reported:
        gap_mm = {(one.a, one.b): one.gap_mm for one in true.contacts}
        near = [one for one in contacts if (one.a, one.b) in gap_mm]
        tally.gaps += [abs(one.gap_mm - gap_mm[one.a, one.b]) <= 2 * one.sigma_mm for one in near]
    tally.episodes.setdefault(px_per_mm, []).extend(episodes(reported, NEAR_MM))
    tally.far += _called_far(reported)


def _ball(true: Scene, seen: Scene) -> str:
    """Return whether the reported ball is right, wrong or not known."""
    if true.ball is None or seen.ball is None:
        return "not known"
    if (true.ball.carrier, true.ball.state == "carried") == (seen.ball.carrier, seen.ball.state == "carried"):
        return "right"
    return "wrong"


def _called_far(frames: Iterable[tuple[Scene, Iterable[Contact]]]) -> int:
    """Count pairs of opponents that were called though they were never near each other."""
    near: set[tuple[str, str]] = set()
    called: set[tuple[str, str]] = set()
    for true, contacts in frames:
        jersey = {figure.id: figure.jersey for figure in true.figures}
        near |= {(one.a, one.b) for one in true.contacts if one.gap_mm < NEAR_MM}
        called |= {(one.a, one.b) for one in contacts if one.probability > 0.95 and jersey[one.a] != jersey[one.b]}
    return len(called - near)


def report(tally: SceneTally) -> None:
    """Print the results of all clips."""

    def share(counts: Counter[str], name: str) -> float:
        return counts[name] / max(sum(counts.values()), 1)

    print(f"\n{tally.frames} frames, {tally.unfit / max(tally.frames, 1):.1%} unfit for calls")
    print(f"board on or off right   {share(tally.power, 'right'):7.1%}  target >= 99 %; {_other(tally.power)}")
    print("falls: {true} true, {detected} of them detected, {false} false".format(**tally.falls))
    print(f"ball's carrier right    {share(tally.ball, 'right'):7.1%}  {_other(tally.ball)}")
    if tally.touches:
        print(f"first touch right       {np.mean(tally.touches):7.1%}  target >= 98 %; of {len(tally.touches)}")
    if tally.teams:
        print(
            f"team by color right    {np.mean(tally.teams):7.2%}  target >= 99.8 %; of {len(tally.teams)} measurements"
        )
    if tally.gaps:
        print(f"gaps within two sigma   {np.mean(tally.gaps):7.1%}  of {len(tally.gaps)} pairs in frames")
    found = [one for clip in tally.episodes.values() for one in clip]
    print("contacts of opponents:")
    _print_contacts(found, tally.far, tally.frame_ns)
    report_faces(found)
    report_misses(found)
    for low, high in pairwise(SCALES_PX_PER_MM):
        inside = [one for scale, clip in tally.episodes.items() if low <= scale < high for one in clip]
        if inside and len(inside) < len(found):
            print(f"  of clips with {low:g} to {high:g} px/mm:" if high < 9 else f"  with {low:g} px/mm and more:")
            _print_contacts(inside, 0, tally.frame_ns, "    ")


@dataclass(frozen=True)
class ContactCounts:
    """True touches of opponents by what became of them, and calls that were false."""

    touches: int
    called: int
    too_close: int
    false: int

    @property
    def missed(self) -> int:
        """Touches that were neither called nor too close."""
        return self.touches - self.called - self.too_close

    @property
    def f1(self) -> float:
        """F1 on calls made; 1 where there was nothing to call."""
        wrong = self.false + self.missed
        return 2 * self.called / (2 * self.called + wrong) if self.called or wrong else 1.0


def count_contacts(found: Sequence[Episode], far: int) -> ContactCounts:
    """Count touches and calls.

    Args:
        found: episodes of opponents near each other.
        far: false calls of opponents that were never near.
    """
    touches = [(one, touch) for one in found for touch in one.touches()]
    called = sum(bool(one.called(touch)) for one, touch in touches)
    close = sum(not one.called(touch) and one.too_close() for one, touch in touches)
    false = far + sum(bool(one.calls()) and not one.touches() for one in found)
    return ContactCounts(len(touches), called, close, false)


def _print_contacts(found: Sequence[Episode], far: int, frame_ns: int, indent: str = "  ") -> None:
    counts = count_contacts(found, far)
    hits = [(touch, calls) for one in found for touch in one.touches() if (calls := one.called(touch))]
    share = counts.too_close / max(counts.touches, 1)
    print(
        f"{indent}{counts.touches} touches: called {counts.called}, missed {counts.missed}, {counts.false} false calls"
    )
    print(
        f"{indent}F1 on calls made {counts.f1:.3f}, target >= 0.98;"
        f" too close {counts.too_close}, {share:.1%}, target <= 5 %"
    )
    if hits:
        off = np.abs([calls[0].began_ns - touch.began_ns for touch, calls in hits])
        print(
            f"{indent}time error {np.median(off) / 1e6:.1f} ms, within a frame of {frame_ns / 1e6:.0f} ms"
            f" {np.mean(off <= frame_ns):.1%}, target >= 95 %"
        )


def _other(counts: Counter[str]) -> str:
    total = max(sum(counts.values()), 1)
    return ", ".join(f"{name} {count / total:.1%}" for name, count in sorted(counts.items()) if name != "right")
