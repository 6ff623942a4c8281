"""Rendered clips seen by the whole pipeline beside their truth, and what colors say of the teams meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from disturbances import disturbed

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Array
from downfield.core.frame import Detection, Frame
from downfield.core.roster import read_roster
from downfield.core.scene import Scene
from downfield.core.track_files import TrackFile
from downfield.models.detector import Detector
from downfield.rig.sources.file_sources import VideoFile
from downfield.twin.physics.truth_file import TruthEvent, TruthFile
from downfield.vision.pipeline import Vision
from downfield.vision.tracking.falls import Fall
from downfield.vision.tracking.measurement import Measurements, measure
from downfield.vision.tracking.teams import sample_colors

OWN_MM = 5.0  # a sighting so near to where a figure is is its own
BASE_MM = 5.5
WELL_SEEN = 0.5  # share of the base's top


@dataclass(frozen=True)
class Moment:
    """A frame: as it was, and as it was seen.

    Attributes:
        true, seen: the scenes.
        sightings: what the network's latest look found.
        falls: those who are seen lying.
        happened: since the frame before.

    """

    true: Scene
    seen: Scene
    sightings: Measurements
    falls: tuple[Fall, ...]
    happened: tuple[TruthEvent, ...]


def watched(
    clip: Path, calibration: Calibration, detector: Detector, teams: list[bool], *, disturb: bool = False
) -> Iterator[Moment]:
    """Frames as they were and as they were seen, from the line-up on.

    Args:
        clip: a film with its tracks and its truth beside it.
        calibration: of its camera.
        detector: sees its pictures.
        teams: for every figure that stands well in sight, whether its colors say its team; is added to.
        disturb: whether pictures are lost, frozen and dark now and then.

    """
    tracks = clip.with_name(clip.stem + ".tracks.jsonl")
    vision = Vision(calibration, detector, read_roster(tracks))
    happened: list[TruthEvent] = []

    def pictures() -> Iterator[tuple[Frame, Scene]]:
        truth = TrackFile(tracks), TruthFile(clip.with_name(clip.stem + ".truth.jsonl"))
        for shot, true, frame in zip(VideoFile(clip, paced=False).frames(), *truth, strict=False):
            happened.extend(frame.events)  # those of frames that are lost, too
            yield shot.decode(), true

    sightings = measure((), calibration, BASE_MM)
    for frame, true in disturbed(pictures()) if disturb else pictures():
        before = vision.colors  # what is learned from this very frame doesn't count
        detections, seen = _seen(vision, frame)
        if detections is not None:
            sightings = measure(detections, calibration, BASE_MM)
        if not vision.players:
            continue
        if before is not None and detections is not None:
            colors = sample_colors(frame.image, sightings, calibration.camera, BASE_MM)
            shown = sightings.visible > WELL_SEEN
            teams += _teams(true, sightings.pose[shown], before.light_odds(colors)[shown])
        yield Moment(true, seen, sightings, vision.falls, tuple(happened))
        happened.clear()


def _seen(vision: Vision, frame: Frame) -> tuple[Sequence[Detection] | None, Scene]:
    detections = vision.detect(frame)
    return detections, vision.update(frame, lambda: detections)


def _teams(true: Scene, pose: Array, light_odds: Array) -> Iterator[bool]:
    """Whether the colors of each sighting of a figure that stands say its team."""
    standing = [one for one in true.figures if one.posture == "upright"]
    if not standing:
        return
    places = np.array([(one.x_mm, one.y_mm) for one in standing])
    for (x, y, *_), odds in zip(pose.tolist(), light_odds.tolist(), strict=True):
        apart = np.hypot(*(places - (x, y)).T)
        if apart.min() < OWN_MM:
            yield (odds > 0) == (standing[int(apart.argmin())].jersey == "light")
