"""Scores tracking: identity, position, heading and falls, beside ByteTrack and BoT-SORT.

HOTA is TrackEval's (Luiten et al., IJCV 129, 2021), with similarity falling from 1 to 0 over half a base's length. The
rivals are ultralytics' trackers with their default settings, given the same detections' boxes (BoT-SORT without
appearance and camera motion); a track of theirs is where the base of its detection is. Their rows are left out where
`trackeval`, or `ultralytics` with its `lap`, is missing.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.core.mathematics import difference_deg
from downfield.core.scene import Figure, Scene
from downfield.twin.physics.truth_file import TruthEvent
from downfield.vision.measuring.falls import Fall

SIMILAR_MM = 15.0  # half a base's length: the similarity of positions this far apart is 0
SWITCHED_MM = 12.0  # a track this far from its figure, and nearer to another, has switched to that one
FALL_NS = 100_000_000
SURE = 0.95  # probability of a front from which the rulebooks make calls by it
FALL_MATCH_NS = 500_000_000
SETTLED_NS = 2_000_000_000  # of a running board; by then figures have walked far enough to show their fronts

Ids = tuple[list[str], Array]
"""Ids and positions, mm, shape (n, 2), in one frame."""


@dataclass
class TrackedPlay:
    """A play's truth and its tracks; frames before the line-up was found are left out."""

    name: str
    direction: int
    mm_per_yd: float
    truth: list[Scene] = field(default_factory=list)
    seen: list[tuple[Figure, ...]] = field(default_factory=list)
    boxes: list[tuple[list[Detection], Array]] = field(default_factory=list)
    happened: list[TruthEvent] = field(default_factory=list)
    fell: list[tuple[Fall, int]] = field(default_factory=list)
    """Detected falls, and when they were known, ns; a fall that is withdrawn and detected again is there twice."""
    lying: set[str] = field(default_factory=set)
    """Figures that lie in the latest frame."""

    def add_falls(self, falls: Sequence[Fall], t_ns: int) -> None:
        """Add the figures that lie in a frame."""
        self.fell += [(fall, t_ns) for fall in falls if fall.id not in self.lying]
        self.lying = {fall.id for fall in falls}


@dataclass(frozen=True)
class Switch:
    """A figure that begins to be tracked where another one is.

    Attributes:
        t_ns: when.
        figure, other: roster ids.
        off_mm, other_off_mm: distances of where it is tracked from both.
        sure: whether its identity was said to be sure.
    """

    t_ns: int
    figure: str
    other: str
    off_mm: float
    other_off_mm: float
    sure: bool


@dataclass
class TrackingTally:
    """Counts over all plays."""

    switches: list[int] = field(default_factory=list)
    switched: list[Switch] = field(default_factory=list)
    """All of them, one by one."""
    corners_mm: list[float] = field(default_factory=list)
    foremost_yd: list[float] = field(default_factory=list)
    sigmas: list[float] = field(default_factory=list)
    turned: list[bool] = field(default_factory=list)
    turned_late: list[bool] = field(default_factory=list)
    """The same after two seconds of play."""
    turned_sure: list[bool] = field(default_factory=list)
    """The same where the front was reported as surer than a call needs."""
    unsure: int = 0
    figures: int = 0
    falls: list[tuple[int, int] | None] = field(default_factory=list)
    """Of every true fall the errors of its time and its delay, ns; None where it was missed."""
    false_falls: int = 0
    hota: dict[str, list[float]] = field(default_factory=dict)
    rival_switches: dict[str, list[int]] = field(default_factory=dict)


def score_play(tracked_play: TrackedPlay, tally: TrackingTally, *, rivals: bool = True) -> None:
    """Score a play, HOTA and the other trackers too unless they are left out."""
    switched: dict[str, str] = {}
    count = len(tally.switched)
    on_ns: int | None = None
    for scene, figures in zip(tracked_play.truth, tracked_play.seen, strict=True):
        truth = {figure.id: figure for figure in scene.figures}
        places = np.array([(figure.x_mm, figure.y_mm) for figure in scene.figures])
        carrier = scene.ball.carrier if scene.ball else None
        on_ns = None if scene.board != "on" else scene.t_ns if on_ns is None else on_ns
        late = on_ns is not None and scene.t_ns - on_ns >= SETTLED_NS
        for figure in figures:
            true = truth.get(figure.id)
            if true is None or figure.posture in {"unseen", "lifted"} or true.posture == "lifted":
                continue
            tally.figures += 1
            tally.unsure += not figure.sure
            apart = np.hypot(*(places - (figure.x_mm, figure.y_mm)).T)
            nearest = scene.figures[int(apart.argmin())].id
            off = float(np.hypot(figure.x_mm - true.x_mm, figure.y_mm - true.y_mm))
            taken_for = nearest if off > SWITCHED_MM and figure.visible > 0 else figure.id
            if taken_for not in {figure.id, switched.get(figure.id)}:
                at = Switch(scene.t_ns, figure.id, taken_for, off, float(apart.min()), figure.sure)
                tally.switched.append(at)
            switched[figure.id] = taken_for
            if taken_for == figure.id and true.posture == figure.posture == "upright" and figure.visible > 0:
                _measure(figure, true, tracked_play, tally, carries=figure.id == carrier, late=late)
    tally.switches.append(len(tally.switched) - count)
    _score_falls(tracked_play, tally)
    if rivals:
        _score_identity(tracked_play, tally)


def _measure(
    figure: Figure, true: Figure, tracked_play: TrackedPlay, tally: TrackingTally, *, carries: bool, late: bool
) -> None:
    turn = difference_deg(figure.heading_deg, true.heading_deg)
    tally.turned.append(turn > 90)
    if late:
        tally.turned_late.append(turn > 90)
    if figure.front >= SURE:
        tally.turned_sure.append(turn > 90)
    if turn > 90:
        return
    off = figure.footprint.corners_mm() - true.footprint.corners_mm()
    tally.corners_mm += np.linalg.norm(off, axis=1).tolist()
    tally.sigmas.append(abs(figure.x_mm - true.x_mm) / figure.sigma_mm[0])
    tally.sigmas.append(abs(figure.y_mm - true.y_mm) / figure.sigma_mm[1])
    if carries:
        way = 0.0 if tracked_play.direction == 1 else 180.0
        short_mm = figure.footprint.reach_mm(way) - true.footprint.reach_mm(way)
        tally.foremost_yd.append(abs(short_mm) / tracked_play.mm_per_yd)


def _score_falls(tracked_play: TrackedPlay, tally: TrackingTally) -> None:
    first_ns = tracked_play.truth[0].t_ns if tracked_play.truth else 0
    found = list(tracked_play.fell)
    for event in tracked_play.happened:
        if event.type == "fell" and event.t_ns >= first_ns:
            near = [known for known in found if _is_of(known[0], event)]
            tally.falls.append((near[0][0].t_ns - event.t_ns, near[0][1] - event.t_ns) if near else None)
            found = [known for known in found if known not in near[:1]]
    tally.false_falls += len(found)


def _is_of(fall: Fall, event: TruthEvent) -> bool:
    return fall.id == event.player and abs(fall.t_ns - event.t_ns) < FALL_MATCH_NS


def _score_identity(tracked_play: TrackedPlay, tally: TrackingTally) -> None:
    """Compute HOTA, ours and the rivals', and the rivals' switches."""
    truth = [_ids(list(scene.figures)) for scene in tracked_play.truth]
    rows: dict[str, list[Ids]] = {
        "downfield": [_ids([f for f in fs if f.posture != "unseen"]) for fs in tracked_play.seen]
    }
    if importlib.util.find_spec("ultralytics") and importlib.util.find_spec("lap"):
        rows |= {name: _rival(name, tracked_play) for name in ("bytetrack", "botsort")}
    for name, tracked in rows.items():
        if importlib.util.find_spec("trackeval"):
            tally.hota.setdefault(name, []).append(_hota(truth, tracked))
        tally.rival_switches.setdefault(name, []).append(_switches(truth, tracked))


def _ids(figures: Sequence[Figure]) -> Ids:
    return [one.id for one in figures], np.array([(one.x_mm, one.y_mm) for one in figures]).reshape(-1, 2)


def _similarity(truth: Ids, tracked: Ids) -> Array:
    apart = np.linalg.norm(truth[1][:, None] - tracked[1][None], axis=2)
    alike: Array = np.clip(1 - apart / SIMILAR_MM, 0, 1)
    return alike


def _hota(truth: list[Ids], tracked: list[Ids]) -> float:
    from trackeval.metrics import HOTA

    numbers: list[dict[str, int]] = [{}, {}]
    ids = [
        [np.array([known.setdefault(id_, len(known)) for id_ in names], dtype=int) for names, _ in frames]
        for known, frames in zip(numbers, (truth, tracked), strict=True)
    ]
    data: dict[str, Any] = {
        "gt_ids": ids[0],
        "tracker_ids": ids[1],
        "similarity_scores": [_similarity(a, b) for a, b in zip(truth, tracked, strict=True)],
        "num_gt_ids": len(numbers[0]),
        "num_tracker_ids": len(numbers[1]),
        "num_gt_dets": sum(len(one) for one in ids[0]),
        "num_tracker_dets": sum(len(one) for one in ids[1]),
    }
    return float(np.mean(HOTA().eval_sequence(data)["HOTA"]))


def _switches(truth: list[Ids], tracked: list[Ids]) -> int:
    """Count how often the id at a figure's position changes."""
    last: dict[str, str] = {}
    count = 0
    for true, seen in zip(truth, tracked, strict=True):
        if not len(seen[0]):
            continue
        alike = _similarity(true, seen)
        for row, column in enumerate(alike.argmax(axis=1)):
            if alike[row, column] > 0.5:
                count += last.get(true[0][row], seen[0][column]) != seen[0][column]
                last[true[0][row]] = seen[0][column]
    return count


class _Boxes:
    """Detections as ultralytics' trackers read them.

    Args:
        xyxy: boxes, shape (n, 4).
        conf: scores, shape (n,).
    """

    def __init__(self, xyxy: Array, conf: Array) -> None:
        self.xyxy, self.conf, self.cls = xyxy, conf, np.zeros(len(conf))

    @property
    def xywh(self) -> Array:
        """Middles and sizes, shape (n, 4)."""
        middle, size = (self.xyxy[:, :2] + self.xyxy[:, 2:]) / 2, self.xyxy[:, 2:] - self.xyxy[:, :2]
        return np.concatenate([middle, size], axis=1)

    def __len__(self) -> int:
        return len(self.conf)

    def __getitem__(self, keep: Any) -> _Boxes:
        return _Boxes(self.xyxy[keep], self.conf[keep])


def _rival(name: str, tracked_play: TrackedPlay) -> list[Ids]:
    os.environ["YOLO_AUTOINSTALL"] = "false"
    from ultralytics.trackers.bot_sort import BOTSORT
    from ultralytics.trackers.byte_tracker import BYTETracker
    from ultralytics.utils import YAML, IterableSimpleNamespace
    from ultralytics.utils.checks import check_yaml

    settings = YAML.load(check_yaml(f"{name}.yaml")) | {"gmc_method": "none"}
    tracker = (BOTSORT if name == "botsort" else BYTETracker)(IterableSimpleNamespace(**settings))
    out: list[Ids] = []
    for detections, places in tracked_play.boxes:
        boxes = np.array([one.box_px for one in detections], dtype=np.float64).reshape(-1, 4)
        rows = tracker.update(_Boxes(boxes, np.array([one.score for one in detections])), None)
        rows = np.asarray(rows).reshape(-1, 8)
        out.append(([f"{int(row[4])}" for row in rows], places[rows[:, 7].astype(int)].reshape(-1, 2)))
    return out


def report(tally: TrackingTally) -> None:
    """Print the results of all plays."""
    corners, carrier = np.array(tally.corners_mm), np.array(tally.foremost_yd or [np.nan])
    late_s = np.array([one for one in tally.falls if one is not None]).reshape(-1, 2) / 1e9
    hits, falls = len(late_s), len(tally.falls)
    f1 = 2 * hits / max(falls + hits + tally.false_falls, 1)
    free = np.mean([one == 0 for one in tally.switches])
    print(f"\n{len(tally.switches)} plays, {tally.figures} figures in frames")
    print(f"plays without a switch       {free:8.1%}   target >= 98 %")
    print(f"identity uncertain           {tally.unsure / max(tally.figures, 1):8.2%}")
    print(f"corner error median          {np.median(corners):8.3f} mm  target <= 0.3")
    print(f"             p95             {np.quantile(corners, 0.95):8.3f} mm  target <= 0.9")
    print(f"carrier's foremost point     {np.nanmedian(carrier):8.4f} yd  target <= 0.03")
    print(f"             p95             {np.nanquantile(carrier, 0.95):8.4f} yd  target <= 0.09")
    print(f"within two sigma             {np.mean(np.array(tally.sigmas) < 2):8.1%}   target 93-98 %")
    print(f"heading off by over 90 deg   {np.mean(tally.turned):8.3%}   target <= 0.05 %")
    if tally.turned_late:
        print(f"      after 2 s of play      {np.mean(tally.turned_late):8.3%}")
    if tally.turned_sure:
        share = len(tally.turned_sure) / len(tally.turned)
        print(f"      where the front is sure{np.mean(tally.turned_sure):8.3%}   in {share:.1%} of figures")
    if falls or tally.false_falls:
        print(f"falls: {falls}, F1               {f1:8.3f}   target >= 0.99; {tally.false_falls} false")
    if hits:
        dated, known = np.mean(np.abs(late_s) <= FALL_NS / 1e9, axis=0)
        print(f"falls timed within 0.1 s     {dated:8.1%}   median of errors {np.median(np.abs(late_s[:, 0])):.3f} s")
        print(f"      known within 0.1 s     {known:8.1%}   median delay {np.median(late_s[:, 1]):.3f} s")
    for name, counts in tally.rival_switches.items():
        hota = f"HOTA {np.mean(tally.hota[name]):.4f}   " if tally.hota else ""
        clean = np.mean([count == 0 for count in counts])
        print(f"{name:12s} {hota}id switches {sum(counts)}, none in {clean:.1%} of plays")
