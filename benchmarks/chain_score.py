"""Scores the whole chain on clips or on plays without pictures: identities, falls, contacts, power, calls.

Calls are those a rulebook makes of the tracks, against those it makes of the truth with the same declarations: the same
are of one kind about the same figures within a quarter of a second. Intervals are 95 %: of shares and F1 by a bootstrap
over clips, of counts by Poisson's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scenes_tally
import tracking_tally
from clip_pipeline import FramePair
from scipy.stats import chi2

from downfield.core.field.model import FieldModel
from downfield.core.mathematics import difference_deg
from downfield.core.scene import Player, Scene
from downfield.officiating.calls import Call
from downfield.officiating.engine.recording import REPLAY_LIMITS, judge_recording
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import Rulebook

Part = TypeVar("Part")
_OPEN = ("too_close", "proposed")


@dataclass(frozen=True)
class ClipResult:
    """What the chain made of one clip.

    Attributes:
        exchanges, sure_exchanges, false_falls, missed_falls: counts; of exchanges all, and those stated as sure.
        contacts: of opponents.
        gaps: of pairs in frames, how many gaps are reported and how many are within two stated sigmas.
        late: of figures in frames after two seconds of play, how many there are and how many are turned.
        power: frames, and in how many the board's power is right.
        true_calls, made, false_calls: calls; those too close or proposed are neither made nor false.
    """

    exchanges: int
    sure_exchanges: int
    false_falls: int
    missed_falls: int
    contacts: scenes_tally.ContactCounts
    gaps: tuple[int, int]
    late: tuple[int, int]
    power: tuple[int, int]
    true_calls: int
    made: int
    false_calls: int


@dataclass(frozen=True)
class Officials:
    """What calls are made with.

    Attributes:
        rulebook: in force.
        field: the printed field.
        players: the roster.
        events: what was declared.
    """

    rulebook: Rulebook
    field: FieldModel
    players: Sequence[Player]
    events: Sequence[Event]

    def calls(self, scenes: Sequence[Scene]) -> list[Call]:
        """Return the calls of scenes; what is only reported is left out."""
        judged = judge_recording(scenes, self.events, self.rulebook, self.field, players=tuple(self.players))
        return [call for call in judged.calls if call.verdict != "reported"]


def score_chain(
    frames: Sequence[FramePair], play: tracking_tally.TrackedPlay, officials: Officials, scenes: scenes_tally.SceneTally
) -> ClipResult:
    """Score a clip and print what is wrong in it.

    Args:
        frames: of the clip, at least one.
        play: the same, as tracked.
        officials: they make the calls.
        scenes: an empty tally, but for the teams.
    """
    tracking = tracking_tally.TrackingTally()
    tracking_tally.score_play(play, tracking, rivals=False)
    pairs = [(pair.true, pair.seen) for pair in frames]
    scenes_tally.score_clip(pairs, 1.0, scenes)
    contacts = scenes_tally.count_contacts(scenes.episodes[1.0], scenes.far)
    true, seen = (officials.calls(side) for side in zip(*pairs, strict=True))
    # what was too close at first and is in force since, is in force
    alike = [sorted((one for one in seen if _same(call, one)), key=lambda one: one.verdict in _OPEN) for call in true]
    same = [next(iter(calls), None) for calls in alike]
    made = sum(other is not None and other.verdict not in _OPEN for other in same)
    false = [call for call in seen if call not in same and call.verdict not in _OPEN]
    corners = np.quantile(tracking.corners_mm or [np.nan], (0.5, 0.95))
    print(
        f"{play.name}: {len(frames)} frames, corners {corners[0]:.2f} mm, 95 % within {corners[1]:.2f} mm;"
        f" unfit {scenes.unfit}; power {dict(scenes.power)}",
        flush=True,
    )
    for note in (*_notes(frames, play), *_switch_notes(tracking), *_call_notes(true, same, false)):
        print(f"  {note}", flush=True)
    return ClipResult(
        tracking.switches[0],
        sum(one.sure for one in tracking.switched),
        tracking.false_falls,
        sum(fall is None for fall in tracking.falls),
        contacts,
        (len(scenes.gaps), sum(scenes.gaps)),
        (len(tracking.turned_late), sum(tracking.turned_late)),
        (sum(scenes.power.values()), scenes.power["right"]),
        len(true),
        made,
        len(false),
    )


def _same(one: Call, two: Call) -> bool:
    return (one.kind, one.players) == (two.kind, two.players) and abs(one.t_ns - two.t_ns) <= REPLAY_LIMITS.same_call_ns


def _call_notes(true: Sequence[Call], same: Sequence[Call | None], false: Sequence[Call]) -> Iterator[str]:
    for call, other in zip(true, same, strict=True):
        if other is None or other.verdict in _OPEN:
            yield f"{'missed' if other is None else other.verdict}: {call.t_ns / 1e9:.2f} s {call.text}"
    for call in false:
        yield f"false: {call.t_ns / 1e9:.2f} s {call.text}"


def _notes(frames: Sequence[FramePair], play: tracking_tally.TrackedPlay) -> Iterator[str]:
    """Why frames are unfit, who is turned at the end, who fell and was not known to, who fell falsely."""
    unfit = [(why, bool(one.true.hands)) for one in frames for why in one.seen.unfit]
    for why, times in Counter(why for why, _ in unfit).items():
        yield f"unfit in {times} frames, a hand truly there in {unfit.count((why, True))}: {why}"
    true, seen = ({figure.id: figure for figure in one.figures} for one in (frames[-1].true, frames[-1].seen))
    for id_, figure in seen.items():
        standing = id_ in true and true[id_].posture == figure.posture == "upright"
        if standing and difference_deg(figure.heading_deg, true[id_].heading_deg) > 90:
            yield f"{id_} is turned at the end, front {figure.front:.2f}"
    fell = {event.player for event in play.happened if event.type == "fell"}
    known = {fall.id for fall, _ in play.fell}
    yield from (f"{id_} fell, not known" for id_ in sorted(fell - known))
    at = {one.true.t_ns: one for one in frames}
    yield from (
        f"{fall.id} is said to have fallen: {_where(fall.id, at[t_ns])}"
        for fall, t_ns in play.fell
        if fall.id not in fell
    )


def _switch_notes(tracking: tracking_tally.TrackingTally) -> Iterator[str]:
    """Who is tracked where another figure is: an exchange, or a base measured beside its place."""
    for one in tracking.switched:
        yield (
            f"{one.figure} is tracked {one.off_mm:.0f} mm off, {one.other_off_mm:.0f} mm from {one.other}:"
            f" {one.t_ns / 1e9:.2f} s, {'sure' if one.sure else 'unsure'}"
        )


def _where(id_: str, frame: FramePair) -> str:
    """Where a figure is tracked, beside where it is: an exchange is no fall."""
    seen = next(one for one in frame.seen.figures if one.id == id_)
    apart = {one.id: math.hypot(one.x_mm - seen.x_mm, one.y_mm - seen.y_mm) for one in frame.true.figures}
    nearest = min(frame.true.figures, key=lambda one: apart[one.id])
    beside = "" if nearest.id == id_ else f", {nearest.id}, {nearest.posture}, {apart[nearest.id]:.0f} mm off"
    return f"{frame.true.t_ns / 1e9:.2f} s, board {frame.true.board}, tracked {apart[id_]:.0f} mm off{beside}"


def report(results: Sequence[ClipResult]) -> None:
    """Print the issue's figures as a table in Markdown."""
    rng = np.random.default_rng(0)
    rows = [
        ("exchanges of identity", "0", _count([one.exchanges for one in results])),
        ("exchanges stated as sure", "0", _count([one.sure_exchanges for one in results])),
        ("headings wrong after two seconds of play", "0 %", _share([one.late for one in results], rng)),
        ("false falls", "0", _count([one.false_falls for one in results])),
        ("falls not known", "0", _count([one.missed_falls for one in results])),
        ("false contacts called", "0", _count([one.contacts.false for one in results])),
        ("contacts, F1 on calls made", "0.98", _bootstrapped([one.contacts for one in results], rng)),
        (
            "contacts too close to call",
            "",
            _share([(one.contacts.touches, one.contacts.too_close) for one in results], rng),
        ),
        ("gaps within two stated sigmas", "95 %", _share([one.gaps for one in results], rng)),
        ("board power right", "99 %", _share([one.power for one in results], rng)),
        ("true calls made", "", _share([(one.true_calls, one.made) for one in results], rng)),
        ("false calls", "0", _count([one.false_calls for one in results])),
    ]
    print(f"\n| {len(results)} clips | goal | |\n|---|---|---|")
    for name, goal, value in rows:
        print(f"| {name} | {goal} | {value} |")


def _count(counts: Sequence[int]) -> str:
    """A count, and the interval of the mean of a clip."""
    total, clips = sum(counts), len(counts)
    low = chi2.ppf(0.025, 2 * total) / 2 / clips if total else 0.0
    high = chi2.ppf(0.975, 2 * total + 2) / 2 / clips
    return f"{total} [{low:.2f}, {high:.2f} a clip]"


def _share(parts: Sequence[tuple[int, int]], rng: np.random.Generator) -> str:
    """A share of (all, some) summed over clips, in percent, with its interval."""

    def share(chosen: Sequence[tuple[int, int]]) -> float:
        return 100.0 * sum(some for _, some in chosen) / max(sum(all_ for all_, _ in chosen), 1)

    total = sum(all_ for all_, _ in parts)
    if not total:
        return "none"
    low, high = _interval(parts, share, rng)
    return f"{share(parts):.1f} [{low:.1f}, {high:.1f}] % of {total}"


def _bootstrapped(counts: Sequence[scenes_tally.ContactCounts], rng: np.random.Generator) -> str:
    def f1(chosen: Sequence[scenes_tally.ContactCounts]) -> float:
        touches, called = sum(one.touches for one in chosen), sum(one.called for one in chosen)
        close, false = sum(one.too_close for one in chosen), sum(one.false for one in chosen)
        return scenes_tally.ContactCounts(touches, called, close, false).f1

    low, high = _interval(counts, f1, rng)
    return f"{f1(counts):.3f} [{low:.3f}, {high:.3f}] of {sum(one.touches for one in counts)} touches"


def _interval(
    parts: Sequence[Part], statistic: Callable[[Sequence[Part]], float], rng: np.random.Generator
) -> tuple[float, float]:
    drawn = [statistic([parts[k] for k in rng.integers(len(parts), size=len(parts))]) for _ in range(1000)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)
