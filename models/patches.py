"""The patch the second look sees: cut around a figure, its front to the right, its base always of one size.

A patch is a similarity of the picture: moved, turned and scaled by the corners seen at first, never sheared. So a small
network sees all figures alike, at the picture's full resolution, and what it says of points maps back exactly.

Patch coordinates are pixels with whole numbers at the pixels' centers, as everywhere. The network says points in
*units*: -1 is the patch's left or upper edge and 1 its right or lower edge.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from downfield.core.arrays import Array, Image

PATCH_PX: Final = 64
"""Side of a patch."""

BASE_LENGTH_PX: Final = 34.0
"""Length of a base in a patch: an ordinary base of 30 mm leaves 13 mm around it, where an upright helmet stays."""

_LENGTH_PER_WIDTH = 30.0 / 18.0  # of ordinary bases
_LEAST_LENGTH_PX = 6.0  # of a base in the picture: less is a degenerate detection, and would be blown up without end
_FORESHORTENED = 0.5  # a length below this share of the width is that of a base standing on its front or rear edge
_UNUSUAL = 1.25  # bases differ less than this from most, a tilted view included
_LEAST_SCALE = 0.4  # linear interpolation takes 2 x 2 pixels: a picture shrunk further than this is halved first

_AT_ONCE = 256  # patches cut in one call: between two, other threads take their turn, and OpenCV's pictures end at 2^15
_CENTER = (PATCH_PX - 1) / 2
_QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])  # from a figure's left to its front, where y points down


def apparent_lengths(corners_px: ArrayLike) -> Array:
    """Lengths of bases as they are seen, foreshortened ones by their width; px, of corners (..., 4, 2) shape (...)."""
    length, width = (np.linalg.norm(side, axis=-1) for side in _sides(np.asarray(corners_px, dtype=np.float64)))
    longer: Array = np.maximum(length, width * _LENGTH_PER_WIDTH)
    return longer


def patch_transform(corners_px: ArrayLike, usual_px: float | None = None) -> Array:
    """Where the patches of figures are in a picture.

    Args:
        corners_px: the base tops' front-left, front-right, rear-right and rear-left corners, shape (..., 4, 2).
        usual_px: length of most bases of the picture: what is far from it is mistaken, and is not cut as if it were
            so small or so large. Without it, following a figure by what was made of it before can run away.

    Returns:
        Affine matrices from the picture's pixels to the patches' pixels, shape (..., 2, 3): the middle of the corners
        in the patch's middle, the front toward +x, the base `BASE_LENGTH_PX` long.

    """
    corners = np.asarray(corners_px, dtype=np.float64)
    ahead, aside = _sides(corners)
    length, width = np.linalg.norm(ahead, axis=-1), np.linalg.norm(aside, axis=-1)
    on_edge = length < _FORESHORTENED * width
    ahead = np.where(on_edge[..., None], aside @ _QUARTER.T, ahead)
    reach = np.linalg.norm(ahead, axis=-1, keepdims=True)
    way = np.where(reach > 0, ahead / np.where(reach > 0, reach, 1.0), (1.0, 0.0))
    longer = apparent_lengths(corners)
    if usual_px is not None:
        longer = np.clip(longer, usual_px / _UNUSUAL, usual_px * _UNUSUAL)
    scale = BASE_LENGTH_PX / np.maximum(longer, _LEAST_LENGTH_PX)
    cos, sin = scale * way[..., 0], scale * way[..., 1]
    linear = np.stack([np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)], axis=-2)
    shift = _CENTER - (linear @ corners.mean(axis=-2)[..., None])
    return np.concatenate([linear, shift], axis=-1)


def magnified(transforms: ArrayLike, times: float) -> Array:
    """The transforms, shape (n, 2, 3), of patches with the same middles that show so many times less of the picture."""
    matrices = np.asarray(transforms, dtype=np.float64)
    larger: Array = matrices * times
    larger[..., 2] += _CENTER * (1 - times)
    return larger


def _sides(corners: Array) -> tuple[Array, Array]:
    """From rear to front and from right to left, shape (..., 2) each."""
    ahead = corners[..., :2, :].mean(axis=-2) - corners[..., 2:, :].mean(axis=-2)
    return ahead, corners[..., (0, 3), :].mean(axis=-2) - corners[..., (1, 2), :].mean(axis=-2)


def cut_patches(image: Image, transforms: ArrayLike) -> Image:
    """Cut patches out of a picture.

    Args:
        image: uint8, shape (height, width, 3).
        transforms: from `patch_transform`, or other affine ones, shape (n, 2, 3).

    Returns:
        Patches, shape (n, 64, 64, 3), colors in the picture's order. Beyond the picture its edge is repeated.

    """
    matrices = np.asarray(transforms, dtype=np.float64).reshape(-1, 2, 3)
    patches = np.empty((len(matrices), PATCH_PX, PATCH_PX, 3), dtype=np.uint8)
    levels, most = _levels(matrices), int(np.log2(max(min(image.shape[:2]), 1)))
    for level in range(most + 1):
        rows = np.flatnonzero(levels == level if level < most else levels >= level)
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            x, y = _places(matrices[part], level).reshape(2, -1, PATCH_PX)
            cut = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            patches[part] = cut.reshape(-1, PATCH_PX, PATCH_PX, 3)
        if not (levels > level).any():
            break
        image = _halved(image)
    return patches


def to_patch(points_px: ArrayLike, transforms: ArrayLike) -> Array:
    """Points of the picture, shape (n, k, 2), to pixels of their patches, same shape."""
    points, matrices = np.asarray(points_px, dtype=np.float64), np.asarray(transforms, dtype=np.float64)
    moved: Array = points @ matrices[..., :2].swapaxes(-1, -2) + matrices[..., None, :, 2]
    return moved


def from_patch(points_patch_px: ArrayLike, transforms: ArrayLike) -> Array:
    """Pixels of patches, shape (n, k, 2), to points of the picture, same shape."""
    points, matrices = np.asarray(points_patch_px, dtype=np.float64), np.asarray(transforms, dtype=np.float64)
    # A similarity's inverse turn is its transpose over its scale squared.
    squared = (matrices[..., 0, :2] ** 2).sum(axis=-1)[..., None, None]
    moved: Array = (points - matrices[..., None, :, 2]) @ (matrices[..., :2] / squared)
    return moved


def scale_of(transforms: ArrayLike) -> Array:
    """Patch pixels per pixel of the picture, shape (...): a sigma in a patch divided by it is the picture's."""
    matrices = np.asarray(transforms, dtype=np.float64)
    scale: Array = np.hypot(matrices[..., 0, 0], matrices[..., 0, 1])
    return scale


def to_units(points_patch_px: ArrayLike) -> Array:
    """Pixels of a patch to units; lengths and sigmas are to be divided by `PATCH_PX / 2` instead."""
    units: Array = (np.asarray(points_patch_px, dtype=np.float64) + 0.5) / (PATCH_PX / 2) - 1
    return units


def from_units(points: ArrayLike) -> Array:
    """Units to pixels of a patch; lengths and sigmas are to be multiplied by `PATCH_PX / 2` instead."""
    pixels: Array = (np.asarray(points, dtype=np.float64) + 1) * (PATCH_PX / 2) - 0.5
    return pixels


def _halved(image: Image) -> Image:
    height, width = image.shape[:2]
    size = (max(width // 2, 1), max(height // 2, 1))
    return np.asarray(cv2.resize(image[: size[1] * 2, : size[0] * 2], size, interpolation=cv2.INTER_AREA), np.uint8)


def _levels(matrices: Array) -> NDArray[np.intp]:
    """How often the picture is to be halved before each patch is cut out of it, shape (n,)."""
    times = np.log2(_LEAST_SCALE / np.maximum(scale_of(matrices), 1e-9))
    return np.maximum(np.ceil(times), 0).astype(np.intp)


def _places(matrices: Array, level: int) -> NDArray[np.float32]:
    """Where patches' pixels are in a picture halved `level` times, x and y, shape (2, n, 64, 64).

    Pixel p there is at ``(p + 0.5) * 2**level - 0.5`` here.
    """
    side = np.arange(PATCH_PX, dtype=np.float32)
    back = np.linalg.inv(matrices[:, :, :2])
    corner = -(back @ matrices[:, :, 2:])[:, :, 0]
    per_px = (back / 2.0**level).astype(np.float32).transpose(1, 0, 2)[..., None, None]
    first = ((corner + 0.5) / 2.0**level - 0.5).astype(np.float32).T[..., None, None]
    places: NDArray[np.float32] = per_px[:, :, 0] * side + (per_px[:, :, 1] * side[:, None] + first)
    return places
