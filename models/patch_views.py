"""What the second look's network says of patches of figures: once, both ways round, or in a mirror besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.patches import apparent_lengths, cut_patches, magnified, patch_transform
from downfield.models.runtime import Network
from downfield.models.second_look_output import OUTPUTS, WORDS, doubtful, mirrored_back, turned_round

FurtherViews = Callable[[Network, Array, Image], None]
"""Looks at patches further ways, of which it is given what was said, and makes of that, in place, what all say."""


def look_at(
    network: Network, figures: Sequence[Detection], image: Image, usual_px: float, further: FurtherViews
) -> tuple[Array, Array]:
    """What the network says of figures, shape (n, `OUTPUTS`), and their patches' transforms, shape (n, 2, 3)."""
    transforms, patches = cut(figures, image, usual_px)
    said = said_of(network, patches)
    further(network, said, patches)
    return said, transforms


def cut(figures: Sequence[Detection], image: Image, usual_px: float, closer: float = 1.0) -> tuple[Array, Image]:
    """The transforms of figures' patches, and the patches."""
    corners = np.array([figure.corners_px for figure in figures]).reshape(-1, 4, 2)
    transforms = magnified(patch_transform(corners, usual_px), closer)
    return transforms, cut_patches(image, transforms)


def both_ways_round(network: Network, said: Array, patches: Image) -> None:
    """Look at those in doubt once more, turned by half a circle, and take the mean, in place."""
    rows = np.flatnonzero(doubtful(said))
    if len(rows):
        said[rows] = (said[rows] + turned_round(said_of(network, patches[rows, ::-1, ::-1]))) / 2


def all_ways(network: Network, said: Array, patches: Image) -> None:
    """Look at all turned by half a circle, mirrored, and both, and take the mean, in place.

    Where its front is, whether it has fallen and whether it is one at all is not asked of the mirror: of mirrored
    patches, none of which it has learned from, the network tells that worse than it places corners.
    """
    if not len(said):
        return
    said += turned_round(said_of(network, patches[:, ::-1, ::-1]))
    words = said[:, WORDS] / 2
    said += mirrored_back(said_of(network, patches[:, ::-1]))
    said += turned_round(mirrored_back(said_of(network, patches[:, :, ::-1])))
    said /= 4
    said[:, WORDS] = words


def said_of(network: Network, patches: Image) -> Array:
    """What the network says of patches at one glance, shape (n, `OUTPUTS`).

    Raises:
        InputError: the network is not one that can take a second look.

    """
    said = network.run(patches)
    if said.shape != (len(patches), OUTPUTS):
        raise InputError(f"{network.name}: its output is {said.shape}; a second look gives (n, {OUTPUTS})")
    return said.astype(np.float64)


def usual_length_px(figures: Sequence[Detection]) -> float:
    """The length of most bases in the picture."""
    return float(np.median(apparent_lengths([figure.corners_px for figure in figures])))
