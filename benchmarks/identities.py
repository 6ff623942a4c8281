"""Measures how often an identity that is stated as sure is wrong, by how poorly figures are detected.

Run: python benchmarks/identities.py [--plays N] [--only TEXT]

Plays of the twin, drawn at random, are tracked without pictures or a camera: each figure's place on the board is given
with an error, with gaps, displaced or together with its neighbor, in spells that last, each fault at four strengths.
A figure is exchanged when it stands, stated as sure, where another one is, in frames that are fit for calls. For each
strength stands how many figures were exchanged so, of all figures of all plays; how many were taken for another and
said to be unsure; in what share of figures and frames an identity was unsure though it was right; and what share of
the frames was unfit for calls, since too many were unsure.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from downfield.core.arrays import Array, Bools
from downfield.core.frame import Detection
from downfield.core.scene import Figure, Power, Scene
from downfield.core.track_files import Roster, RosterSpot
from downfield.twin.plays.playbook.random_play import random_play
from downfield.twin.plays.recording import PlayRecording, play
from downfield.vision.board.power import PowerDetector
from downfield.vision.contacts.limits import CONTACT_LIMITS
from downfield.vision.line_ups import LineUps
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.measuring.falls import FallSigns
from downfield.vision.measuring.measurement import Measurements
from downfield.vision.refinement import separate_overlaps
from downfield.vision.tracking.tracker import Tracker

FIRST_SEED = 97_000
TAKEN_FOR_MM, AWAY_MM = 12.0, 30.0
STRENGTHS = ("mild", "middle", "strong", "extreme")
_STAND_NS = 600_000_000  # a line-up is given as long before a play as it takes to be found
_CORNERS = ((1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 1.0))
_LASTING_S = 0.4


@dataclass(frozen=True)
class Poor:
    """How poorly figures are detected.

    Attributes:
        sigma_mm: error of a place, one direction; half of its variance lasts.
        stated: the error that is stated, as a share of it.
        missed, missed_s: share of figures that are not detected, in spells, and their mean length.
        blind_s: for so long, once a second, nothing is detected.
        dropped_s: for so long, once a second, there are no pictures.
        merged, merged_s: share of near pairs that are detected as one between them, in spells.
        drawn, drawn_s: share of figures detected halfway to their neighbor, in spells.
        false: detections of nothing in a picture, some where a figure was.
        fps: pictures a second at most.
        jersey: log-odds that a jersey shows.
    """

    sigma_mm: float = 0.4
    stated: float = 1.0
    missed: float = 0.004
    missed_s: float = 0.1
    blind_s: float = 0.0
    dropped_s: float = 0.0
    merged: float = 0.0
    merged_s: float = 0.25
    drawn: float = 0.0
    drawn_s: float = 0.25
    false: float = 0.03
    fps: float = 30.0
    jersey: float = 5.0


KINDS: dict[str, tuple[Poor, ...]] = {
    "undisturbed": (Poor(),),
    "places off by 1, 2, 3, 5 mm": tuple(Poor(sigma_mm=mm) for mm in (1.0, 2.0, 3.0, 5.0)),
    "the same, stated as a third": tuple(Poor(sigma_mm=mm, stated=0.33) for mm in (1.0, 2.0, 3.0, 5.0)),
    "a tenth of the figures missed, 0.1 to 1 s": tuple(Poor(missed=0.1, missed_s=s) for s in (0.1, 0.25, 0.5, 1.0)),
    "10 to 60 % missed, 0.25 s": tuple(Poor(missed=share, missed_s=0.25) for share in (0.1, 0.2, 0.4, 0.6)),
    "nobody detected for 0.1 to 0.7 s": tuple(Poor(blind_s=s) for s in (0.1, 0.2, 0.4, 0.7)),
    "no pictures for 0.1 to 0.7 s": tuple(Poor(dropped_s=s) for s in (0.1, 0.2, 0.4, 0.7)),
    "15 to 3 pictures a second": tuple(Poor(fps=fps) for fps in (15.0, 10.0, 5.0, 3.0)),
    "5 % of neighbors as one, 0.1 to 1 s": tuple(Poor(merged=0.05, merged_s=s) for s in (0.1, 0.25, 0.5, 1.0)),
    "5 % drawn to a neighbor, 0.1 to 1 s": tuple(Poor(drawn=0.05, drawn_s=s) for s in (0.1, 0.25, 0.5, 1.0)),
    "dark and noisy": tuple(
        Poor(1.5 * part, 0.6, 0.3 * part, 0.25 * part, merged=0.05 * part, drawn=0.03 * part, false=part, jersey=j)
        for part, j in ((0.5, 3.0), (1.0, 2.0), (1.5, 1.0), (2.0, 0.0))
    ),
    "dark and noisy, with gaps": tuple(
        Poor(1.5, 0.6, 0.3, 0.25, gap, merged=0.05, drawn=0.03, false=1.0, jersey=2.0) for gap in (0.1, 0.2, 0.4, 0.7)
    ),
}


@dataclass
class PoorDetector:
    """Detects the figures of a play's frames, on the board.

    Attributes:
        poor: how poorly.
        seed: of all errors.
    """

    poor: Poor
    seed: int
    _lasting: dict[str, Array] = field(default_factory=dict)
    _spells: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng([self.seed, 0x1DE])

    def detect(self, figures: Sequence[Figure], step_s: float, *, blind: bool) -> Measurements:
        """Return the measurements of a frame, a step after the last one."""
        poor, out = self.poor, list[tuple[float, float, float, float, float, float]]()
        places = np.array([(one.x_mm, one.y_mm) for one in figures])
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        np.fill_diagonal(apart, np.inf)
        merged = set[int]()
        for row, figure in enumerate(figures):
            error = self._error_mm(figure.id, step_s)
            near = int(apart[row].argmin())
            pair = "+".join(sorted((figure.id, figures[near].id)))
            light = poor.jersey * (1 if figure.jersey == "light" else -1)
            at = places[row]
            if self._is_in_spell(f"missed {figure.id}", poor.missed, poor.missed_s, step_s) or blind or row in merged:
                continue
            if apart[row, near] < 40 and self._is_in_spell(f"merged {pair}", poor.merged, poor.merged_s, step_s):
                at = (at + places[near]) / 2
                merged.add(near)
            elif apart[row, near] < 40 and self._is_in_spell(f"drawn {figure.id}", poor.drawn, poor.drawn_s, step_s):
                at = at + 0.6 * (places[near] - at)
            x_mm, y_mm = (at + error).tolist()
            turn = math.radians(figure.heading_deg) + float(self._random.normal(0, 0.03 + 0.05 * poor.sigma_mm))
            score = float(np.clip(self._random.normal(0.92 - 0.05 * poor.sigma_mm, 0.04), 0.3, 0.99))
            out.append((x_mm, y_mm, turn, score, light, figure.length_mm))
        for _ in range(0 if blind else int(self._random.poisson(poor.false))):
            near = int(self._random.integers(len(figures)))
            x_mm, y_mm = (places[near] + self._random.normal(0, 25, 2)).tolist()
            out.append((x_mm, y_mm, float(self._random.uniform(0, 6)), float(self._random.uniform(0.3, 0.75)), 0.0, 30))
        return self._measured(out)

    def _measured(self, found: Sequence[tuple[float, float, float, float, float, float]]) -> Measurements:
        count, stated_mm = len(found), self.poor.stated * self.poor.sigma_mm
        variances = (stated_mm**2, stated_mm**2, (0.03 + 0.05 * stated_mm) ** 2, 0.3 + stated_mm**2, 0.3 + stated_mm**2)
        return Measurements(
            detections=tuple(
                Detection("upright", score, (0.0, 0.0, 1.0, 1.0), corners_px=_CORNERS) for *_, score, _, _ in found
            ),
            pose=np.array([(x, y, turn, length, 18.0) for x, y, turn, _, _, length in found]).reshape(count, 5),
            covariance=np.tile(np.diag(variances), (count, 1, 1)),
            systematic=np.zeros((count, 2, 2)),
            by_height=np.zeros((count, 2)),
            fallen=np.full(count, -2.0),
            signs=FallSigns(
                np.zeros(count, bool), np.ones(count), np.tile([30.0, 18.0], (count, 1)), np.ones(count, bool)
            ),
            visible=np.ones(count),
            helmet_mm=(None,) * count,
            front=np.full(count, 0.5),
            light=np.array([light for *_, light, _ in found]),
            colors=np.full((count, 0, 3), np.nan),
        )

    def _error_mm(self, id_: str, step_s: float) -> Array:
        keep, fresh = math.exp(-step_s / _LASTING_S), self._random.normal(size=(2, 2))
        before = self._lasting.get(id_)
        lasting = fresh[0] if before is None else keep * before + math.sqrt(1 - keep**2) * fresh[0]
        self._lasting[id_] = lasting
        error: Array = self.poor.sigma_mm * math.sqrt(0.5) * (lasting + fresh[1])
        return error

    def _is_in_spell(self, name: str, share: float, mean_s: float, step_s: float) -> bool:
        """Whether a fault is on that is on for a share of the time."""
        change = self._random.random(2)
        if name not in self._spells or change[0] > math.exp(-step_s / mean_s):
            self._spells[name] = bool(change[1] < min(share, 0.95))
        return self._spells[name]


@dataclass
class Tally:
    """What became of the figures of all plays.

    Attributes:
        figures: how many there were.
        exchanged: those that stood, stated as sure, where another one was.
        taken: those that stood there at all.
        frames, unsure: of figures that were right, and of these the unsure ones.
        scenes, unfit: of all plays, and of these those that were unfit.
    """

    figures: int = 0
    exchanged: int = 0
    taken: int = 0
    frames: int = 0
    unsure: int = 0
    scenes: int = 0
    unfit: int = 0


def track(recording: PlayRecording, poor: Poor, seed: int, tally: Tally) -> set[str]:
    """Track a play and add it to a tally; return the figures that were exchanged and stated as sure."""
    model, first = recording.field, recording.scenes[0]
    spots = tuple(
        RosterSpot(one.id, one.x_mm / model.mm_per_yd_x, one.y_mm / model.mm_per_yd_y) for one in first.figures
    )
    line_ups = LineUps(model, Roster(recording.script.players, spots))
    power: Power = "unknown"
    detector, board = PoorDetector(replace(Poor(), fps=poor.fps), seed), PowerDetector()
    tracker: Tracker | None = None
    estimates: tuple[Estimate, ...] = ()
    exchanged, taken = set[str](), set[str]()
    last_ns = -_STAND_NS
    standing = [replace(first, t_ns=first.t_ns - _STAND_NS + step * 33_000_000) for step in range(18)]
    for scene in _shown([*standing, *recording.scenes], poor, first.t_ns):
        if scene.t_ns >= first.t_ns:
            detector.poor = poor
        blind = _within(scene.t_ns - first.t_ns, poor.blind_s)
        found = detector.detect(scene.figures, (scene.t_ns - last_ns) * 1e-9, blind=blind)
        last_ns = scene.t_ns
        if line_ups.search is not None:
            line_up = line_ups.find(found, scene.t_ns, estimates, is_tracking=False, hidden=False)
            tracker = tracker if line_up is None else Tracker(line_up, scene.t_ns)
            if line_up is not None:
                line_ups.begin(line_up, ())
            continue
        if tracker is None:
            raise AssertionError("there is a tracker once no line-up is searched for")
        near = {id_ for one in scene.contacts if one.gap_mm < CONTACT_LIMITS.pushing_mm for id_ in (one.a, one.b)}
        estimates = separate_overlaps(tracker.update(found, scene.t_ns, power=power, touching=near))
        power = board.step(estimates, scene.t_ns).power
        if scene.t_ns < first.t_ns:
            continue
        unfit = bool(line_ups.unfit(estimates))
        tally.scenes += 1
        tally.unfit += unfit
        if unfit:
            continue
        wrong, right = _compared(estimates, scene)
        taken |= {estimates[row].id for row in np.flatnonzero(wrong)}
        exchanged |= {estimates[row].id for row in np.flatnonzero(wrong) if estimates[row].sure}
        tally.frames += int(right.sum())
        tally.unsure += sum(not estimates[row].sure for row in np.flatnonzero(right))
    tally.figures += len(first.figures)
    tally.exchanged += len(exchanged)
    tally.taken += len(taken - exchanged)
    return exchanged


def _compared(estimates: Sequence[Estimate], scene: Scene) -> tuple[Bools, Bools]:
    """Return which estimates stand where another figure is, and which where their own is."""
    places = np.array([(one.x_mm, one.y_mm) for one in scene.figures])
    here = np.array([(one.footprint.x_mm, one.footprint.y_mm) for one in estimates])
    row_of = {one.id: row for row, one in enumerate(scene.figures)}
    own = np.array([row_of[one.id] for one in estimates])
    apart = np.linalg.norm(here[:, None] - places[None], axis=2)
    off, seen = apart[np.arange(len(own)), own], np.array([one.posture != "unseen" for one in estimates])
    wrong: Bools = (apart.min(axis=1) < TAKEN_FOR_MM) & (apart.argmin(axis=1) != own) & (off > AWAY_MM) & seen
    right: Bools = (off < TAKEN_FOR_MM) & seen
    return wrong, right


def _shown(scenes: Sequence[Scene], poor: Poor, begins_ns: int) -> Iterator[Scene]:
    """Yield the scenes of which there are pictures."""
    next_ns = 0.0
    for scene in scenes:
        since_ns = scene.t_ns - begins_ns
        if since_ns >= 0 and (since_ns < next_ns - 5e6 or _within(since_ns, poor.dropped_s)):
            continue
        next_ns = since_ns + 1e9 / poor.fps if since_ns >= 0 else 0.0
        yield scene


def _within(since_ns: int, length_s: float) -> bool:
    """Whether a time is in a gap: one a second, from the middle of the first second on."""
    return since_ns >= 500_000_000 and (since_ns - 500_000_000) % 1_000_000_000 < length_s * 1e9


def _cell(tally: Tally) -> str:
    parts = [f"{tally.exchanged} sure and wrong" if tally.exchanged else "0"]
    parts += [f"{tally.taken} unsure"] if tally.taken else []
    unsure, unfit = tally.unsure / max(tally.frames, 1), tally.unfit / max(tally.scenes, 1)
    return f"{', '.join(parts)}; {unsure:.1%}, {unfit:.0%}"


def main() -> None:
    """Track plays and print the table, in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=int, default=6, help="how many plays")
    parser.add_argument("--only", default="", help="only faults whose name has this")
    options = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + options.plays)
    recordings = [play(random_play(seed), seed) for seed in seeds]
    print("| of", sum(len(one.scenes[0].figures) for one in recordings), "figures |", " | ".join(STRENGTHS), "|")
    print("|---" * (1 + len(STRENGTHS)) + "|")
    for name, strengths in KINDS.items():
        if options.only not in name:
            continue
        cells = []
        for poor in strengths:
            tally = Tally()
            for seed, recording in zip(seeds, recordings, strict=True):
                track(recording, poor, seed, tally)
            cells.append(_cell(tally))
        print(f"| {name} |", " | ".join(cells + [""] * (len(STRENGTHS) - len(cells))), "|", flush=True)


if __name__ == "__main__":
    main()
