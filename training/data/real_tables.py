"""Training frames of real tables, labeled where tracks or people were sure: of a recording, or contributed.

Only the figure refiner is trained on them: a detector would need a label for everything in a picture.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import av
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Array, Image
from downfield.core.errors import InputError, OutputError
from downfield.core.frame import Detection
from downfield.core.scene import Figure, Scene
from downfield.core.track_files import TrackFile
from downfield.models.detector import Detector
from downfield.rig.games.contribution_file import ContributedFrame, read_contribution
from downfield.training.data.labeled_frames import labels_of, unsure_path_of, write_objects
from downfield.training.data.objects import Objects
from downfield.twin.randomization.deck import Split

SIGMA_MM: Final = 0.8
SIGMA_DEG: Final = 3.0  # a track is taken for the truth where it is at most this unsure

HELD_OUT: Final = 0.25  # share of the recording, its end, that is not learned from

_VISIBLE = 0.3  # of a base's top: of less, nothing is to be learned
_FRONT = 0.85  # probability of a front: below it network, line-up and walk disagree, and the figure gets no label
_FPS = 30.0  # of a recording that states none; only to find frames by their times
_NEAR = 0.5  # of a base's length: a detection this near a track's base is that figure


@dataclass(frozen=True, slots=True)
class TableFrame:
    """One frame with its confident labels."""

    image: Image  # as the camera gave it
    objects: Objects  # upright figures with their corners; no helmets
    unsure: Array  # middles of what may be figures too, pixels, shape (n, 2): nothing near them is known to be empty


def count_uncertain(frame: TableFrame) -> int:
    """Return how many places in a frame may hold a figure but have no confident label."""
    middles = frame.objects.points[:, :4, :2].mean(axis=1)
    lengths = np.linalg.norm(frame.objects.points[:, 0, :2] - frame.objects.points[:, 3, :2], axis=1)
    apart = np.linalg.norm(frame.unsure[:, None] - middles[None], axis=2)
    return int((~(apart < lengths[None]).any(axis=1)).sum())


def corrected(frame: TableFrame, corners: Sequence[Array]) -> TableFrame:
    """Return a frame with the corners that a person corrected.

    Args:
        frame: the frame with its labels from tracks.
        corners: of the bases' tops that are there, pixels, shape (4, 2) each.
    """
    points = np.zeros((len(corners), 5, 3))
    before = frame.objects.points
    for row, each in enumerate(corners):
        points[row, :4, :2] = each
        same = np.flatnonzero((np.abs(before[:, :4, :2] - each) < 1e-6).all(axis=(1, 2)))
        # A base left as it was keeps its visible corners; of one that was moved or added a person saw all.
        points[row, :4, 2] = before[same[0], :4, 2] if len(same) else 2.0
    places = points[:, :4, :2].reshape(-1, 4, 2)
    boxes = np.concatenate([places.min(axis=1), places.max(axis=1)], axis=1).reshape(-1, 4)
    return TableFrame(frame.image, Objects(np.zeros(len(corners)), boxes, points), frame.unsure)


def read_table(
    recording: Path, tracks: Path, calibration: Calibration, detector: Detector, count: int
) -> tuple[list[TableFrame], list[TableFrame]]:
    """Return frames to learn from, and frames at the end of the recording to measure on.

    Args:
        tracks: made of it by `downfield track`.
        detector: its detections tell which corners are visible.
        count: frames to take, evenly spread.

    Raises:
        InputError: video and tracks don't belong together, or nothing is sure in them.
    """
    known = TrackFile(tracks)
    scenes = {scene.t_ns: scene for scene in known}
    if not scenes:
        raise InputError(f"{tracks}: no scenes in it")
    heights_mm = {player.id: player.base.height_mm for player in known.header.players}
    times = sorted(scenes)
    wanted = {times[i] for i in np.linspace(0, len(times) - 1, min(count, len(times))).astype(int)}
    frames = [
        (t_ns, label_frame(image, scenes[t_ns], calibration, detector.detect(image), heights_mm))
        for t_ns, image in _pictures(recording)
        if t_ns in wanted
    ]
    frames = [(t_ns, frame) for t_ns, frame in frames if len(frame.objects.kinds)]
    if len(frames) < 8:
        raise InputError(
            f"{recording}: only {len(frames)} frames hold figures with confident tracks in {tracks}. "
            "Track this recording with this calibration, or make a longer one."
        )
    border = times[int(len(times) * (1 - HELD_OUT))]
    return [frame for t, frame in frames if t < border], [frame for t, frame in frames if t >= border]


def _pictures(recording: Path) -> Iterator[tuple[int, Image]]:
    with av.open(str(recording)) as video:
        for frame in video.decode(video.streams.video[0]):
            if frame.pts is not None and frame.time_base is not None:
                t_ns = round(frame.pts * frame.time_base * 1_000_000_000)
                yield t_ns, np.asarray(frame.to_ndarray(format="bgr24", threads=1), dtype=np.uint8)


def label_frame(
    image: Image, scene: Scene, calibration: Calibration, seen: Sequence[Detection], heights_mm: Mapping[str, float]
) -> TableFrame:
    """Return a frame with the labels that its tracks are sure of.

    Args:
        seen: detections in it, which tell which corners are visible.
        heights_mm: of the bases' tops, by roster id.
    """
    figures = [figure for figure in scene.figures if _is_sure(figure)]
    doubtful = [figure for figure in scene.figures if not _is_sure(figure)]
    corners = np.array([_corners_px(figure, calibration, heights_mm) for figure in figures]).reshape(-1, 4, 2)
    flags = np.array([_flags(one, seen) for one in corners]).reshape(-1, 4)
    known = flags.any(axis=1) & np.isfinite(corners).all(axis=(1, 2))
    points = np.zeros((len(figures), 5, 3))
    points[:, :4, :2], points[:, :4, 2] = corners, flags
    unsure = [_corners_px(figure, calibration, heights_mm).mean(axis=0) for figure in doubtful]
    unsure += list(corners[~known].mean(axis=1))
    unsure += [np.mean(one.corners_px, axis=0) for one in seen if one.corners_px]
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1).reshape(-1, 4)
    objects = Objects(np.zeros(int(known.sum())), boxes[known], points[known])
    return TableFrame(image, objects, np.array(unsure).reshape(-1, 2))


def _is_sure(figure: Figure) -> bool:
    return (
        figure.posture == "upright"
        and figure.sure
        and max(figure.sigma_mm) <= SIGMA_MM
        and figure.sigma_deg <= SIGMA_DEG
        and figure.visible >= _VISIBLE
        and figure.front >= _FRONT
    )


def _corners_px(figure: Figure, calibration: Calibration, heights_mm: Mapping[str, float]) -> Array:
    corners = figure.footprint.corners_mm()
    height_mm = heights_mm[figure.id]
    return calibration.camera.to_pixels(np.column_stack([corners, np.full(4, height_mm)]))


def _flags(corners: Array, seen: Sequence[Detection]) -> Array:
    """Return 2 for corners that a detection there shows, 1 for hidden ones, 0 where there is no detection."""
    length = float(np.linalg.norm(corners[:2].mean(axis=0) - corners[2:].mean(axis=0)))
    near = [
        one
        for one in seen
        if one.corners_px and np.linalg.norm(np.mean(one.corners_px, axis=0) - corners.mean(axis=0)) < _NEAR * length
    ]
    if not near:
        return np.zeros(4)
    detected = np.array(near[0].corners_px)
    scores = np.array(near[0].corner_scores)
    # Each corner takes the score of the nearest detected one: the detection may have front and rear swapped.
    nearest = np.linalg.norm(corners[:, None] - detected[None], axis=2).argmin(axis=1)
    flags: Array = np.where(scores[nearest] > 0.5, 2.0, 1.0)
    return flags


SPLIT_OF_TENTHS: Final[tuple[Split, ...]] = ("val", "test", *("train",) * 8)
"""Split of a table by its id, in tenths: one of validation, one of tests, the others of training."""


def split_of_table(table: str) -> Split:
    """Return the split of all pictures of a table; more tables never change it."""
    digest = hashlib.sha256(table.encode()).digest()
    return SPLIT_OF_TENTHS[int.from_bytes(digest[:8], "big") % len(SPLIT_OF_TENTHS)]


@dataclass(slots=True)
class AddedPictures:
    """What was added to the set."""

    pictures: Counter[Split] = field(default_factory=Counter)  # new ones, by split
    figures: int = 0
    tables: dict[Split, set[str]] = field(default_factory=dict)  # ids of the tables seen, by split
    known: int = 0  # pictures that were in the set before
    unlabeled: int = 0  # pictures in which nothing is sure


def add_contributions(
    contributions: Iterable[Path], out: Path, detector: Detector, progress: Callable[[int], None] = lambda _: None
) -> AddedPictures:
    """Add contributed pictures to the set in a folder, each once.

    Args:
        detector: its detections tell which corners are visible.

    Raises:
        InputError: a file can't be read, or a picture in it can't be decoded.
        FormatError: a file is no contribution.
        OutputError: the set can't be written.
    """
    added = AddedPictures()
    read = 0
    for path in contributions:
        for frame, jpeg, image in read_contribution(path):
            _add(frame, jpeg, image, out, detector, added)
            read += 1
            progress(read)
    return added


def _add(
    frame: ContributedFrame, jpeg: bytes, image: Image, out: Path, detector: Detector, added: AddedPictures
) -> None:
    split = split_of_table(frame.table)
    added.tables.setdefault(split, set()).add(frame.table)
    picture = out / "images" / split / f"{frame.table}-{hashlib.sha256(jpeg).hexdigest()[:12]}.jpg"
    if picture.exists():
        added.known += 1
        return
    labeled = _label(frame, image, detector)
    if not len(labeled.objects.kinds):
        added.unlabeled += 1
        return
    try:
        write_objects(labels_of(picture), labeled.objects, (image.shape[1], image.shape[0]))
        unsure_path_of(picture).parent.mkdir(parents=True, exist_ok=True)
        np.save(unsure_path_of(picture), labeled.unsure.astype(np.float32))
        # The picture comes last: an interrupted run leaves none without its labels.
        picture.parent.mkdir(parents=True, exist_ok=True)
        beside = picture.with_suffix(".part")
        beside.write_bytes(jpeg)
        beside.replace(picture)
    except OSError as error:
        raise OutputError(f"{picture}: can't be written: {error.strerror}") from None
    added.pictures[split] += 1
    added.figures += len(labeled.objects.kinds)


def _label(frame: ContributedFrame, image: Image, detector: Detector) -> TableFrame:
    """Return a picture with its labels; in one with hands over the board, what they cover is not known to be empty."""
    heights_mm = {player.id: player.base.height_mm for player in frame.players}
    camera = frame.calibration.camera
    labeled = label_frame(image, frame.scene, frame.calibration, detector.detect(image), heights_mm)
    hidden = [point for hand in frame.scene.hands for point in hand.outline_mm]
    if not hidden:
        return labeled
    covered = camera.to_pixels(np.column_stack([np.array(hidden), np.zeros(len(hidden))]))
    covered = covered[np.isfinite(covered).all(axis=1)]
    return TableFrame(labeled.image, labeled.objects, np.concatenate([labeled.unsure, covered]))
