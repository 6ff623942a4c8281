"""What the second look's network says of patches, and what that means in the picture.

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
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.frame import Detection, Pixel
from downfield.models.head import logit, sigmoid
from downfield.models.patches import PATCH_PX, from_patch, from_units, scale_of
from downfield.models.test_time_augmentation import MIRRORED_CORNERS

OUTPUTS: Final = 23
"""Numbers of a patch."""

TURN: Final = 20
"""The column of facing the other way."""

FALLEN: Final = 21
"""The column of having fallen."""

WORDS: Final = slice(20, 23)
"""The columns of facing the other way, of having fallen, and of there being a figure."""

TURNED: Final = (2, 3, 0, 1, 4)
"""What each point is called when the front is the rear."""

_POINTS, _LOG_ERRORS, _SEEN, _FIGURE = slice(0, 10), slice(10, 15), slice(15, 20), 22
_CLEAR = 3.0  # log-odds beyond which a word needs no second one
_SIGMA_PER_ERROR = math.sqrt(2)  # of a Laplace distribution, which is what the errors are taken for


def doubtful(said: Array) -> NDArray[np.bool_]:
    """Of which patches something is not clear at the first glance, shape (n,)."""
    unclear: NDArray[np.bool_] = np.abs(said[:, WORDS]).min(axis=1) < _CLEAR
    return unclear


def turned_round(said: Array) -> Array:
    """What was said of patches turned by half a circle, as of the patches unturned; shape (n, `OUTPUTS`)."""
    out = said.copy()
    order = list(TURNED)
    out[:, _POINTS] = -said[:, _POINTS].reshape(-1, 5, 2)[:, order].reshape(-1, 10)
    out[:, _LOG_ERRORS] = said[:, _LOG_ERRORS][:, order]
    out[:, _SEEN] = said[:, _SEEN][:, order]
    out[:, TURN] = -said[:, TURN]
    return out


def mirrored_back(said: Array) -> Array:
    """What was said of patches mirrored top to bottom, as of the patches themselves; shape (n, `OUTPUTS`)."""
    out = said.copy()
    order = [*MIRRORED_CORNERS, 4]
    out[:, _POINTS] = (said[:, _POINTS].reshape(-1, 5, 2)[:, order] * (1.0, -1.0)).reshape(-1, 10)
    out[:, _LOG_ERRORS] = said[:, _LOG_ERRORS][:, order]
    out[:, _SEEN] = said[:, _SEEN][:, order]
    return out


def decode_refinement(
    figures: Sequence[Detection], said: Array, transforms: Array, sigma_scale: float = 1.0
) -> list[Detection]:
    """Figures as a second look has them.

    Args:
        figures: as the first look had them.
        said: of each, from `TwoStageDetector.run_refiner`.
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
        turned, fallen = said[i, TURN] > 0, said[i, FALLEN] > 0
        order = list(TURNED[:4]) if turned else [0, 1, 2, 3]
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
