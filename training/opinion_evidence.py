"""What two detectors and two refiners say of every candidate in labeled pictures, beside what is true of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from downfield.core.arrays import Array, Bools, Image, Indices
from downfield.core.errors import InputError
from downfield.models.loading import Opinions
from downfield.models.refiner import OUTPUTS, base_sides, cut_figures, rotate_back, usual_length_px
from downfield.models.runtime import Network
from downfield.models.second_opinion import match_detectors
from downfield.training.scoring import WELL_SEEN, match_figures
from downfield.twin.sets.sample import Sample


@dataclass(frozen=True, slots=True)
class OpinionEvidence:
    """Candidates of some pictures, one a row.

    Attributes:
        group: number of the data set, shape (n,).
        detectors: logits of both detectors, shape (n, 2).
        agreement: of the fronts both see, as of `match_detectors`, shape (n,).
        first, second: outputs of both refiners, means of a patch and of the same turned by half, shape (n, `OUTPUTS`).
        is_figure: whether it is a well seen figure, shape (n,).
        is_none: whether it is no figure, or one seen twice, shape (n,); what is neither is a figure hardly seen.
        is_turned: whether its front is at the other end, shape (n,).
        is_fallen: shape (n,).

    """

    group: Indices
    detectors: Array
    agreement: Array
    first: Array
    second: Array
    is_figure: Bools
    is_none: Bools
    is_turned: Bools
    is_fallen: Bools


def gather(opinions: Opinions, pictures: Iterable[tuple[int, Sample, Image]]) -> OpinionEvidence:
    """Return what the networks say of the candidates in pictures, each with the number of its data set.

    Raises:
        InputError: the pictures show no candidate.

    """
    parts = [part for each in pictures if (part := _of_picture(opinions, *each)) is not None]
    if not parts:
        raise InputError("The validation pictures show nothing that may be a figure.")
    names = OpinionEvidence.__slots__
    return OpinionEvidence(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def _of_picture(opinions: Opinions, group: int, sample: Sample, image: Image) -> OpinionEvidence | None:
    found, others = (
        [figure for figure in detector.detect(image) if figure.corners_px]
        for detector in (opinions.detector, opinions.other_detector)
    )
    if not found:
        return None
    logits, agreement = match_detectors(found, others)
    _, patches = cut_figures(found, image, usual_length_px(found))
    labels = list(sample.labels.figures)
    pairs = {said: true for true, said in match_figures(labels, found).items()}
    turned, fallen, well_seen, none = (np.zeros(len(found), dtype=np.bool_) for _ in range(4))
    for row, figure in enumerate(found):
        if row not in pairs:
            none[row] = True
            continue
        label = labels[pairs[row]]
        well_seen[row] = label.visible >= WELL_SEEN
        fallen[row] = label.kind == "fallen"
        ahead, _ = base_sides((figure.corners_px, label.corners_px))
        turned[row] = ahead[0] @ ahead[1] < 0
    return OpinionEvidence(
        np.full(len(found), group),
        logits,
        agreement,
        _both_ways(opinions.refiner, patches),
        _both_ways(opinions.other_refiner, patches),
        well_seen,
        none,
        turned,
        fallen,
    )


def _both_ways(refiner: Network, patches: Image) -> Array:
    views = [refiner.run(view)[:, :OUTPUTS].astype(np.float64) for view in (patches, patches[:, ::-1, ::-1])]
    mean: Array = (views[0] + rotate_back(views[1])) / 2
    return mean
