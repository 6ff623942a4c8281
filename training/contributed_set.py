"""The set of contributed pictures: real tables, split by table, labeled where tracks or people were sure.

Only the figure refiner learns from it: the detectors would need labels for everything in a picture.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import OutputError
from downfield.models.detector import Detector
from downfield.rig.contribution.contribution_file import ContributedFrame, read_contribution
from downfield.training.labeled_frames import labels_of, unsure_path_of, write_objects
from downfield.training.table_frames import TableFrame, label_frame
from downfield.twin.randomization.deck import Split

SPLIT_OF_TENTHS: Final[tuple[Split, ...]] = ("val", "test", *("train",) * 8)
"""Split of a table by its id, in tenths: one of validation, one of tests, the others of training."""


def split_of_table(table: str) -> Split:
    """Return the split of all pictures of a table; more tables never change it.

    Args:
        table: its id in contributions.

    """
    digest = hashlib.sha256(table.encode()).digest()
    return SPLIT_OF_TENTHS[int.from_bytes(digest[:8], "big") % len(SPLIT_OF_TENTHS)]


@dataclass(slots=True)
class AddedPictures:
    """What was added to the set.

    Attributes:
        pictures: new ones, by split.
        figures: labeled in them.
        tables: ids of the tables seen, by split.
        known: pictures that were in the set before.
        unlabeled: pictures in which nothing is sure.

    """

    pictures: Counter[Split] = field(default_factory=Counter)
    figures: int = 0
    tables: dict[Split, set[str]] = field(default_factory=dict)
    known: int = 0
    unlabeled: int = 0


def add_contributions(
    contributions: Iterable[Path], out: Path, detector: Detector, progress: Callable[[int], None] = lambda _: None
) -> AddedPictures:
    """Add contributed pictures to the set in a folder, each once.

    Args:
        contributions: files from `downfield contribute`.
        out: the set's folder.
        detector: says which corners are seen.
        progress: told how many pictures have been read.

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
