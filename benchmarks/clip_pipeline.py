"""Runs the whole vision pipeline over rendered clips, beside their truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from disturbance_kinds import disturb

from downfield.calibration.calibration import Calibration
from downfield.capture.recording.detection_cache import CachingDetector, DetectionCacheHeader
from downfield.capture.sources.file_sources import VideoFile
from downfield.core.arrays import Array
from downfield.core.footprint import BASE_TOP_MM
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Scene
from downfield.core.track_files import TrackFile, read_roster
from downfield.models.detector import Detector
from downfield.twin.physics.truth_file import TruthEvent, TruthFile
from downfield.vision.measuring.falls import Fall
from downfield.vision.measuring.measurement import Measurements, measure
from downfield.vision.pipeline import Vision
from downfield.vision.tracking.teams import sample_colors

SAME_MM = 5.0  # a measurement this near to a true figure is of that figure
CLEARLY_VISIBLE = 0.5  # share of the base's top


@dataclass(frozen=True)
class FramePair:
    """The true and the measured scene of one frame.

    Attributes:
        true, seen: the scenes.
        measurements: of the network's latest detections.
        falls: figures that lie.
        happened: true events since the previous frame.
    """

    true: Scene
    seen: Scene
    measurements: Measurements
    falls: tuple[Fall, ...]
    happened: tuple[TruthEvent, ...]


def run_pipeline(
    clip: Path,
    calibration: Calibration,
    detector: Detector,
    teams: list[bool],
    *,
    faults: bool = False,
    alter: Callable[[Frame, Scene], Frame] | None = None,
) -> Iterator[FramePair]:
    """Yield the true and the measured scene of each frame, from the line-up on.

    Args:
        clip: a rendered clip with its tracks and its truth beside it.
        calibration: of its camera.
        detector: for its pictures.
        teams: collects, for every clearly visible standing figure, whether its colors give its team.
        faults: whether frames are dropped, frozen and dark now and then.
        alter: changes each picture, given its true scene; None to leave them.
    """
    tracks = clip.with_name(clip.stem + ".tracks.jsonl")
    vision = Vision(calibration, detector, read_roster(tracks))
    happened: list[TruthEvent] = []

    def pictures() -> Iterator[tuple[Frame, Scene]]:
        truth = TrackFile(tracks), TruthFile(clip.with_name(clip.stem + ".truth.jsonl"))
        for captured, true, frame in zip(VideoFile(clip, paced=False).frames(), *truth, strict=False):
            happened.extend(frame.events)  # those of dropped frames, too
            picture = captured.decode()
            yield (picture if alter is None else alter(picture, true)), true

    measurements = measure((), calibration, BASE_TOP_MM)
    for frame, true in disturb(pictures()) if faults else pictures():
        before = vision.colors  # as learned before this frame
        detections, seen = _detect_and_update(vision, frame)
        if detections is not None:
            measurements = measure(detections, calibration, BASE_TOP_MM)
        if not vision.players:
            continue
        if before is not None and detections is not None:
            colors = sample_colors(frame.image, measurements, calibration.camera, BASE_TOP_MM)
            shown = measurements.visible > CLEARLY_VISIBLE
            teams += _teams(true, measurements.pose[shown], before.light_odds(colors)[shown])
        yield FramePair(true, seen, measurements, vision.falls, tuple(happened))
        happened.clear()


@contextmanager
def remembered(detector: Detector, clip: Path, folder: Path | None, altered: str = "") -> Iterator[Detector]:
    """Yield a detector that keeps what it detects in a clip, and repeats it when the clip is processed again.

    Then a change in tracking is measured in seconds. What a detector does is part of its name, but not the code that
    runs it: after a change of that, the folder is to be deleted.

    Args:
        detector: for the clip's pictures.
        clip: the clip.
        folder: for the detections; None to keep nothing.
        altered: how its pictures are altered.
    """
    if folder is None:
        yield detector
        return
    made = clip.stat()
    header = DetectionCacheHeader(clip.name, f"{made.st_size} {made.st_mtime_ns} {altered}", detector.name)
    with CachingDetector(detector, folder / f"{clip.stem}.detections", header) as caching:
        yield caching


def _detect_and_update(vision: Vision, frame: Frame) -> tuple[Sequence[Detection] | None, Scene]:
    detections = vision.detect(frame)
    return detections, vision.update(frame, lambda: detections)


def _teams(true: Scene, pose: Array, light_odds: Array) -> Iterator[bool]:
    """Yield, for each measurement of a standing figure, whether its colors give its team."""
    standing = [figure for figure in true.figures if figure.posture == "upright"]
    if not standing:
        return
    places = np.array([(figure.x_mm, figure.y_mm) for figure in standing])
    for (x, y, *_), odds in zip(pose.tolist(), light_odds.tolist(), strict=True):
        apart = np.hypot(*(places - (x, y)).T)
        if apart.min() < SAME_MM:
            yield (odds > 0) == (standing[int(apart.argmin())].jersey == "light")
