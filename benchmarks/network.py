"""Measures the network's accuracy and speed. Test scenes share no seed, print, lamp, camera or figure with training.

Run: python benchmarks/network.py [--network NAME_OR_FOLDER] [--data FOLDER] [--worst FOLDER]

Test pictures and clips are made in the data folder where they are missing: the compositor's by this command, which
needs the extra `twin`; photoreal ones by `downfield twin dataset FOLDER/photoreal --split test --renderer traced
--count 40 --per-table 1 --seed 901`, which needs the extra `traced`. Teams are classified in clips, by single
measurements of the colors learned there from the line-up on. With ultralytics installed (extra `train`) its
yolo26n-pose is timed too.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import av
import cv2
import numpy as np
from clip_pipeline import run_pipeline
from network_measures import MEASURES, Measure, heading_deg, interval, of_size
from network_sets import picture_sets, test_clips

from downfield.calibration.calibration import read_calibration
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection
from downfield.models.card import BUNDLED
from downfield.models.detector import Detector, TrackingDetector
from downfield.models.loading import open_detector
from downfield.training.evaluation.measures import corner_mm, recall
from downfield.training.evaluation.scoring import WELL_SEEN, FrameScore, pictures_of, score_frame

SIZES_PX = (0, 40, 50, 1e9)
INPUT_PX = 960
FRAMES_TIMED = 120
IN_VIEW = 0.5  # score of a corner

SHIFT_SEEN = Measure("of corners in view", lambda _: float("nan"), "px", None, least=False)
SHIFT = Measure("corner shift int8 to fp32, p95", lambda _: float("nan"), "px", 0.3, least=False)
TEAM = Measure("team by colors", lambda _: float("nan"), "%", 0.998)
ONE_THREAD = Measure("1080p frame to figures, one thread, p50", lambda _: float("nan"), "ms", 12.0, least=False)
BOTH = Measure("two threads", lambda _: float("nan"), "frames/s", 120.0)
PER_VIDEO_FRAME = Measure("video at 30 detections/s, one thread, p50", lambda _: float("nan"), "ms", 12.0, least=False)
TWO_VIDEOS = Measure("two videos side by side", lambda _: float("nan"), "frames/s", 120.0)
VIDEO_FRAMES = 61
FIND_EVERY, BALL_EVERY = 3, 9  # 10 and 3 times a second


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default=BUNDLED, help="a bundled network or a folder with a network.json")
    parser.add_argument("--data", type=Path, default=Path("data/test"), help="folder of the test sets")
    parser.add_argument("--backend", default="auto", help="openvino, onnxruntime or auto")
    parser.add_argument("--worst", type=Path, help="folder for the worst pictures, with the detections drawn in")
    parser.add_argument("--no-refiner", action="store_true", help="without the refiner, to see what it adds")
    parser.add_argument("--augmented", action="store_true", help="with test-time augmentation, as for single pictures")
    parser.add_argument("--no-speed", action="store_true", help="skip the timing")
    options = parser.parse_args()
    cv2.setNumThreads(1)

    opened = partial(
        open_detector,
        options.network,
        backend=options.backend,
        refine=not options.no_refiner,
        augmented=options.augmented,
    )

    sets = picture_sets(options.data)
    for name, folder in sets.items():
        report_accuracy(name, folder, opened, options.worst)
    report_teams(test_clips(options.data), opened)
    if not options.no_speed:
        frames = [
            image for _, (_, image) in zip(range(12), pictures_of(next(iter(sets.values())), "test"), strict=False)
        ]
        report_speed(opened, frames)


def report_accuracy(name: str, folder: Path, opened: Callable[..., Detector], worst: Path | None) -> None:
    """Print the detector's accuracy on one test set."""
    detector = opened()
    exact = _or_none(opened, precision="fp32")
    frames, shifts, drawn = [], [], []
    for sample, image in pictures_of(folder, "test"):
        detections = detector.detect(image)
        frames.append(score_frame(sample, detections))
        if exact is not None:
            shifts.append(_shifts(detections, exact.detect(image)))
        if worst is not None:
            drawn.append((_badness(frames[-1]), folder / sample.image, detections))
    figures = sum(len(frame.found) for frame in frames)
    print(f"\n{name}: {detector.name}; {len(frames)} test pictures, {figures} figures\n")
    for measure in MEASURES:
        print(_line(measure, *interval(frames, measure.of)))
    if shifts:
        shift, in_view = np.concatenate(shifts).T
        for measure, part in ((SHIFT, shift), (SHIFT_SEEN, shift[in_view > 0])):
            print(_line(measure, float(np.percentile(part, 95)), note=f"median {np.percentile(part, 50):.3f}"))
    print(f"\n  {'base in the picture':<22}{'figures':>8}{'recall':>9}{'corner p50 / p95 mm':>22}{'heading p50':>13}")
    for low, high in pairwise(SIZES_PX):
        part = of_size(frames, low, high)
        count = sum(len(frame.found) for frame in part)
        size = f"{low:g} to {high:g} px" if high < 1e6 else f"{low:g} px and more"
        corners = f"{corner_mm(part, 50):.2f} / {corner_mm(part, 95):.2f}"
        found = f"{100 * recall(part, WELL_SEEN):.1f} %"
        print(f"  {size:<22}{count:>8}{found:>9}{corners:>22}{heading_deg(part, 50):>13.2f}")
    if worst is not None:
        _save_worst(worst, name, drawn)


def report_teams(clips: Sequence[Path], opened: Callable[..., Detector]) -> None:
    """Print how often colors give the right team."""
    detector, teams = opened(), list[bool]()
    for clip in clips:
        calibration = read_calibration(clip.with_name(clip.stem + ".calibration.json"))
        for _ in run_pipeline(clip, calibration, detector, teams):
            pass
    print(f"\n{_line(TEAM, float(np.mean(teams)), note=f'{len(teams)} measurements')}")


def report_speed(opened: Callable[..., Detector], frames: Sequence[Image]) -> None:
    """Print times from 1080p pictures to detections, for single pictures and for video."""
    detector = opened(threads=1)
    each_ms = _times_ms(detector.detect, frames)
    print(f"\nspeed: {detector.name}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print(_line(ONE_THREAD, float(np.median(each_ms)), note=_spread(each_ms)))
    augmented_ms = float(np.median(_times_ms(opened(threads=1, augmented=True).detect, frames)))
    print(f"  with test-time augmentation{'':<14}{augmented_ms:>9.2f} ms")
    first = opened(threads=1, refine=False)
    first_ms = float(np.median(_times_ms(first.detect, frames)))
    print(f"  detector alone{'':<27}{first_ms:>9.2f} ms")
    if isinstance(detector, TrackingDetector):
        find_ms = float(np.median(_times_ms(detector.find_candidates, frames)))
        print(f"  detector, and the ball in patches{'':<8}{find_ms:>9.2f} ms")
    print(_line(BOTH, _throughput([opened(threads=1).detect for _ in range(2)], frames)))
    if isinstance(detector, TrackingDetector):
        video = _video()
        follow_ms = _times_ms(_VideoDetection(detector), video)
        mean = f"mean {follow_ms.mean():.1f}, {_spread(follow_ms)}"
        print(_line(PER_VIDEO_FRAME, float(np.median(follow_ms)), note=mean))
        each = [opened(threads=1) for _ in range(2)]
        print(
            _line(
                TWO_VIDEOS,
                _throughput([_VideoDetection(one) for one in each if isinstance(one, TrackingDetector)], video),
            )
        )
    if importlib.util.find_spec("ultralytics") is None:
        print("  ultralytics is not installed: no comparison with yolo26n-pose")
        return
    theirs_ms = float(np.median(_times_ms(_yolo26n(), frames, 30)))
    ratio = theirs_ms / float(np.median(each_ms))
    print(f"  ultralytics yolo26n-pose predict, {INPUT_PX} px, one thread: p50 {theirs_ms:.1f} ms: {ratio:.1f} x ours")


class _VideoDetection:
    """Detects in video as a fast rig does: in whole frames now and then, else at the previous figures."""

    def __init__(self, detector: TrackingDetector) -> None:
        self._detector, self._count = detector, 0
        self._detections: tuple[Detection, ...] = ()

    def __call__(self, image: Image) -> None:
        ball = self._count % BALL_EVERY == 0
        found = self._detector.find_candidates(image, ball=ball) if self._count % FIND_EVERY == 0 else None
        self._detections = self._detector.track(image, self._detections, found)
        self._count += 1


def _video() -> list[Image]:
    """Return the bundled clip's first seconds, forward and backward, so that it repeats without a jump."""
    with av.open(str(bundled_demo())) as container:
        decoded = itertools.islice(container.decode(video=0), VIDEO_FRAMES)
        there = [np.asarray(frame.to_ndarray(format="bgr24", threads=1), dtype=np.uint8) for frame in decoded]
    return there + there[-2:0:-1]


def _spread(each_ms: Array) -> str:
    return f"p10 {np.percentile(each_ms, 10):.1f}, p95 {np.percentile(each_ms, 95):.1f}"


def _line(measure: Measure, value: float, low: float = np.nan, high: float = np.nan, note: str = "") -> str:
    percent = measure.unit == "%"
    scale, places = (100.0, 2) if percent else (1.0, 3 if measure.unit in ("mm", "px") else 2)
    between = f"[{scale * low:.{places}f}, {scale * high:.{places}f}]" if np.isfinite(low) else note
    promise = ""
    if measure.promised is not None:
        sign = ">=" if measure.least else "<="
        kept = "kept" if measure.kept(value) else "MISSED"
        promise = f"  {sign} {scale * measure.promised:g}: {kept}"
    return f"  {measure.name:<42}{scale * value:>9.{places}f} {measure.unit:<9}{between:<20}{promise}"


def _times_ms(run: Callable[[Image], object], frames: Sequence[Image], count: int = FRAMES_TIMED) -> Array:
    for frame in frames[:3]:
        run(frame)
    out = []
    for i in range(count):
        start = time.perf_counter()
        run(frames[i % len(frames)])
        out.append(1e3 * (time.perf_counter() - start))
    return np.array(out)


def _throughput(detectors: Sequence[Callable[[Image], object]], frames: Sequence[Image]) -> float:
    """Return the frames per second of detectors side by side, each in its own thread."""
    for detect in detectors:
        detect(frames[0])

    def work(detect: Callable[[Image], object]) -> None:
        for i in range(FRAMES_TIMED):
            detect(frames[i % len(frames)])

    threads = [threading.Thread(target=work, args=(detect,)) for detect in detectors]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return FRAMES_TIMED * len(detectors) / (time.perf_counter() - start)


def _yolo26n() -> Callable[[Image], object]:
    """Return ultralytics' network, untrained: it takes as long as a trained one, of which none has five keypoints."""
    import torch
    from ultralytics import YOLO

    torch.set_num_threads(1)
    model = YOLO("yolo26n-pose.yaml")
    return lambda frame: model.predict(frame, imgsz=INPUT_PX, verbose=False)


def _shifts(detections: Sequence[Detection], exact: Sequence[Detection]) -> Array:
    """Return how far each corner is from where full precision has it, and whether it is visible, shape (n, 2).

    Figures and corners are paired by nearness.
    """
    mine, theirs = (np.array([one.corners_px for one in all_ if one.corners_px]) for all_ in (detections, exact))
    if not len(mine) or not len(theirs):
        return np.zeros((0, 2))
    in_view = np.array([one.corner_scores for one in detections if one.corners_px]) > IN_VIEW
    apart = np.linalg.norm(mine.mean(axis=1)[:, None] - theirs.mean(axis=1)[None], axis=2)
    nearest = apart.argmin(axis=1)
    close = apart[np.arange(len(mine)), nearest] < 10
    mine, theirs = mine[close], theirs[nearest[close]]
    straight = np.linalg.norm(mine - theirs, axis=2)
    turned = np.linalg.norm(mine - theirs[:, (2, 3, 0, 1)], axis=2)
    # A figure with front and rear swapped is counted under headings.
    shifts: Array = np.where(
        straight.mean(axis=1, keepdims=True) <= turned.mean(axis=1, keepdims=True), straight, turned
    )
    return np.stack([shifts.ravel(), in_view[close].ravel()], axis=1)


def _badness(frame: FrameScore) -> float:
    missed = int((~frame.found & (frame.visible >= WELL_SEEN)).sum())
    wrong = int((frame.heading_deg > 90).sum()) + int((frame.found & (frame.fallen != frame.said_fallen)).sum())
    ball = int(frame.ball_shown >= WELL_SEEN and not frame.ball_found) + frame.balls_false
    far = float(np.nan_to_num(frame.corners_mm).max(initial=0.0))
    return missed + len(frame.false_scores) + wrong + ball + 0.1 * far


def _save_worst(
    folder: Path, name: str, drawn: list[tuple[float, Path, tuple[Detection, ...]]], count: int = 6
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    colors = {"upright": (80, 255, 80), "fallen": (60, 60, 255), "ball": (0, 220, 255), "hand": (255, 120, 200)}
    for rank, (_, path, detections) in enumerate(sorted(drawn, key=lambda one: -one[0])[:count]):
        image = cv2.imread(str(path))
        if image is None:
            continue
        for one in detections:
            if one.corners_px:
                corners = np.rint(np.array(one.corners_px) * 16).astype(np.int32)
                cv2.polylines(image, [corners], True, colors[one.kind], 1, cv2.LINE_AA, 4)
                cv2.line(image, corners[0].tolist(), corners[1].tolist(), (255, 255, 255), 2, cv2.LINE_AA, 4)
            else:
                left, top, right, bottom = (round(value) for value in one.box_px)
                cv2.rectangle(image, (left, top), (right, bottom), colors[one.kind], 1)
        cv2.imwrite(str(folder / f"{name}-{rank}.jpg"), image)
    print(f"\n  worst pictures in {folder}")


def _or_none(opened: Callable[..., Detector], **more: object) -> Detector | None:
    detector = opened(**more)
    return None if detector.name == opened().name else detector


if __name__ == "__main__":
    main()
