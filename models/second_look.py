"""The second look: every figure found is cut out at full resolution and looked at again.

The network takes patches (`patch.py`), uint8 (n, 64, 64, 3), blue green red, and gives 23 numbers of each:

- 0..9: x, y of five points in units of the patch: the base top's corners, then the helmet;
- 10..14: natural logarithm of each point's mean error along x or y, in units;
- 15..19: logit of each point being seen;
- 20: logit of the figure facing the other way, toward the patch's -x;
- 21: logit of the figure having fallen;
- 22: logit of there being a figure in the patch's middle at all.

The corners are those of the patch's order, whichever way the figure faces: first the one at the front and left if the
front is at the right of the patch. Only when the figure faces the other way are they put into its own order. So the
network need not say two things at once where it is unsure of one.

Each patch is looked at twice, the second time turned by half a circle: both answers together are nearer the truth, and
neither way round is preferred. Where a figure was seen a moment ago, one look is enough, and no first one is needed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.calibration.errors import InputError
from downfield.models.detection import Detection, Pixel
from downfield.models.detector import Detector, Image
from downfield.models.first_look import SAME_PLACE, base_lengths
from downfield.models.head import Array, logit, sigmoid
from downfield.models.network import Network
from downfield.models.patch import PATCH_PX, cut_patches, from_patch, from_units, patch_transform, scale_of

OUTPUTS: Final = 23
BATCH: Final = 11
"""Patches of one pass: 22 figures both ways round are four of them, and fewer figures cost less."""

TURN: Final = 20
"""The column of facing the other way."""

_POINTS, _LOG_ERRORS, _SEEN, _FALLEN, _FIGURE = slice(0, 10), slice(10, 15), slice(15, 20), 21, 22
_SIGMA_PER_ERROR = math.sqrt(2)  # of a Laplace distribution, which is what the errors are taken for
_TURNED = (2, 3, 0, 1, 4)  # what each corner is called when the front is the rear


class SecondLook:
    """A first look with every figure in it looked at again.

    Args:
        first: what finds the figures.
        network: with the outputs above.
        threshold: score, by both looks, from which a figure stays.
        turn_logit: what the logit of a figure facing the other way must exceed to overrule the first look.
        sigma_scale: standard deviation of a corner per deviation that the network says.

    """

    def __init__(
        self,
        first: Detector,
        network: Network,
        *,
        threshold: float = 0.5,
        turn_logit: float = 0.0,
        sigma_scale: float = 1.0,
    ) -> None:
        self.name = f"{first.name}, two looks"
        self._first = first
        self._network = network
        self._threshold = threshold
        self._turn_logit = turn_logit
        self._sigma_scale = sigma_scale

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Everything seen in one picture, uint8 (height, width, 3), best first."""
        seen = self._first.detect(image)
        figures = [detection for detection in seen if detection.corners_px]
        if not figures:
            return seen
        said, transforms = self.look(figures, image)
        said[:, TURN] -= self._turn_logit
        others = [detection for detection in seen if not detection.corners_px]
        better = read_second_look(figures, said, transforms, self._sigma_scale)
        kept = [figure for figure in better if figure.score >= self._threshold]
        return tuple(sorted(kept + others, key=lambda detection: -detection.score))

    def look_again(self, image: Image, seen: Sequence[Detection]) -> tuple[Detection, ...]:
        """What was seen a moment ago, as it is in the next picture, best first; see `Follower`."""
        figures = [detection for detection in seen if detection.corners_px]
        hands = [detection for detection in seen if detection.kind == "hand"]
        if not figures:
            return tuple(hands)
        # Where the front is was settled when they were first seen: one look is enough.
        said, transforms = self.look(figures, image, both_ways=False)
        said[:, TURN] -= self._turn_logit
        there = read_second_look(figures, said, transforms, self._sigma_scale)
        kept = _each_once([figure for figure in there if figure.score >= self._threshold])
        return tuple(sorted(kept + hands, key=lambda detection: -detection.score))

    def look(self, figures: Sequence[Detection], image: Image, *, both_ways: bool = True) -> tuple[Array, Array]:
        """What the network says of figures.

        Args:
            figures: at least one.
            image: they are in.
            both_ways: look at each both ways round.

        Returns:
            Its numbers, shape (n, `OUTPUTS`), and the transforms the patches were cut with, shape (n, 2, 3).

        Raises:
            InputError: the network is not one that can take a second look.

        """
        count = len(figures)
        transforms = patch_transform(np.array([figure.corners_px for figure in figures]).reshape(-1, 4, 2))
        patches = cut_patches(image, transforms)
        asked = np.concatenate([patches, patches[:, ::-1, ::-1]]) if both_ways else patches
        said = self._network.run(asked).astype(np.float64)
        if said.shape != (len(asked), OUTPUTS):
            raise InputError(f"{self._network.name}: its output is {said.shape}; a second look gives (n, {OUTPUTS})")
        return (said[:count] + turned_round(said[count:])) / 2 if both_ways else said, transforms


def turned_round(said: Array) -> Array:
    """What was said of patches turned by half a circle, as of the patches unturned; shape (n, `OUTPUTS`)."""
    out = said.copy()
    order = list(_TURNED)
    out[:, _POINTS] = -said[:, _POINTS].reshape(-1, 5, 2)[:, order].reshape(-1, 10)
    out[:, _LOG_ERRORS] = said[:, _LOG_ERRORS][:, order]
    out[:, _SEEN] = said[:, _SEEN][:, order]
    out[:, TURN] = -said[:, TURN]
    return out


def read_second_look(
    figures: Sequence[Detection], said: Array, transforms: Array, sigma_scale: float = 1.0
) -> list[Detection]:
    """Figures as a second look has them.

    Args:
        figures: as the first look had them.
        said: of each, from `SecondLook.look`.
        transforms: of each, from there too.
        sigma_scale: standard deviation of a corner per deviation that the network says.

    """
    points = from_patch(from_units(said[:, _POINTS].reshape(-1, 5, 2)), transforms)
    unit_px = PATCH_PX / 2 / scale_of(transforms)
    sigmas = sigma_scale * _SIGMA_PER_ERROR * np.exp(said[:, _LOG_ERRORS]) * unit_px[:, None]
    seen, front = sigmoid(said[:, _SEEN]), sigmoid(np.abs(said[:, TURN]))
    # Both looks have a say in whether there is a figure: they err on different things.
    there = sigmoid((said[:, _FIGURE] + logit(np.array([figure.score for figure in figures]))) / 2)
    out = []
    for i, figure in enumerate(figures):
        turned, fallen = said[i, TURN] > 0, said[i, _FALLEN] > 0
        order = list(_TURNED[:4]) if turned else [0, 1, 2, 3]
        corners: list[Pixel] = [(x, y) for x, y in points[i, order].tolist()]
        x, y = points[i, 4].tolist()
        out.append(
            dataclasses.replace(
                figure,
                kind="fallen" if fallen else "upright",
                score=float(there[i]),
                corners_px=tuple(corners),
                corner_scores=tuple(seen[i, order].tolist()),
                corner_sigma_px=tuple(sigmas[i, order].tolist()),
                helmet_px=(x, y),
                helmet_score=float(seen[i, 4]),
                front_score=float(front[i]),
            )
        )
    return out


def _each_once(figures: list[Detection]) -> list[Detection]:
    """The best of those that lie in one another: two guesses may end at the same figure; best first."""
    figures.sort(key=lambda figure: -figure.score)
    corners = np.array([figure.corners_px for figure in figures]).reshape(-1, 4, 2)
    middles, lengths = corners.mean(axis=1), base_lengths(corners)
    apart = np.linalg.norm(middles[:, None] - middles[None], axis=2)
    same = apart < SAME_PLACE * np.maximum(lengths[:, None], lengths[None])
    kept: list[int] = []
    for i, of in enumerate(same):
        if not of[kept].any():
            kept.append(i)
    return [figures[i] for i in kept]
