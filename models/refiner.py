"""The refiner network: cuts a patch around every figure and returns exact keypoints from it.

A patch is a similarity transform of the picture: moved, turned and scaled by the detected corners, never sheared,
with the front to the right and the base always the same size. A small network therefore sees all figures alike at full
resolution, and its output maps back exactly. Patch coordinates are pixels with whole numbers at the pixels' centers.
The network uses *units*: -1 is the patch's left or upper edge, 1 its right or lower edge.

The network takes patches, uint8 (n, 64, 64, 3), blue green red, and gives 23 numbers for each:

- 0..9: x, y of five keypoints in units: the base top's corners, then the helmet;
- 10..14: natural logarithm of each keypoint's mean error along x or y, in units;
- 15..19: logit of each keypoint being visible;
- 20: logit of the figure facing the other way, toward the patch's -x;
- 21: logit of the figure having fallen;
- 22: logit of a figure being present in the patch's center at all.

Corners are in the patch's order, whichever way the figure faces: the first is front-left if the front is at the right
of the patch. They are reordered afterward if the figure faces the other way, so that the network need not decide both.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from downfield.core.arrays import Array, Bools, Image, Indices
from downfield.core.errors import InputError
from downfield.core.frame import Detection, Pixel
from downfield.models.runtime import Network, logit, sigmoid


@dataclass(frozen=True, slots=True)
class RefinerLimits:
    """Thresholds of the refinement stage."""

    # Cutting patches.
    min_length_px: float = 6.0  # smaller bases are degenerate detections and would be enlarged without limit
    on_edge_ratio: float = 0.5  # a base shorter than this share of its width stands on its front or rear edge
    max_size_ratio: float = 1.25  # bases differ from the usual size by less than this factor, even in a tilted view
    # linear interpolation takes 2 x 2 pixels: a picture shrunk further than this is halved first
    min_scale: float = 0.4
    # patches cut in one call: other threads run between calls, and OpenCV's pictures end at 2^15 pixels
    patches_at_once: int = 256
    # Deciding which figures to refine again.
    clear_logit: float = 3.0  # logits beyond this need no second view
    # mean distance of corners, relative to the base's length, from which a patch is cut again
    max_misalignment: float = 0.05
    min_score_again: float = 0.15  # score from which another view is worth its time
    # Keeping figures.
    min_tracked_score: float = 0.3  # least score of a figure that was tracked a moment ago: figures don't vanish
    min_visibility: float = 0.35  # least mean visibility of the corners for a figure to stay tracked
    # a tracked base that differs from the usual size by more than this factor is wrong
    max_tracked_size_ratio: float = 1.4
    # bases of one make, which differ by less than this factor; so many of about one size are a make of their own
    alike_ratio: float = 1.12
    alike_bases: int = 4
    max_ball_carriers: int = 22  # number of figures, best scores first, that are searched for a carried ball


REFINER_LIMITS: Final = RefinerLimits()
PATCH_PX: Final = 64  # side of a patch
# length of a base in a patch: an ordinary base of 30 mm leaves 13 mm around it, where an upright helmet stays
BASE_LENGTH_PX: Final = 34.0
OUTPUTS: Final = 23  # numbers that the network gives for a patch
# the columns of the keypoints, of their errors and of their visibility
POINTS, LOG_ERRORS, VISIBLE = slice(0, 10), slice(10, 15), slice(15, 20)
# the columns of facing the other way, of having fallen, and of a figure being present; and all three
TURN, FALLEN, FIGURE, LOGITS = 20, 21, 22, slice(20, 23)
ROTATED_POINTS: Final = (2, 3, 0, 1, 4)  # order of the keypoints when front and rear are swapped
MIRRORED_CORNERS: Final = (1, 0, 3, 2)  # order of the corners in a mirrored patch, where left is right
_SIGMA_PER_ERROR: Final = math.sqrt(2)  # of a Laplace distribution, which models the errors
_LENGTH_PER_WIDTH: Final = 30.0 / 18.0  # of ordinary bases
_CENTER: Final = (PATCH_PX - 1) / 2
_QUARTER: Final = np.array([[0.0, -1.0], [1.0, 0.0]])  # from a figure's left to its front, where y points down

FurtherViews = Callable[[Network, Array, Image], None]
"""Runs the network on further views of patches and averages them, in place, into the outputs it is given."""


def base_sides(corners_px: ArrayLike) -> tuple[Array, Array]:
    """Return the vectors of bases from rear to front and from right to left, of corners (..., 4, 2), (..., 2) each."""
    corners = np.asarray(corners_px, dtype=np.float64)
    front_left, front_right, rear_right, rear_left = (corners[..., index, :] for index in range(4))
    # Called some twenty times a frame: `mean` takes several times as long for two numbers.
    ahead = (front_left + front_right) / 2 - (rear_right + rear_left) / 2
    return ahead, (front_left + rear_left) / 2 - (front_right + rear_right) / 2


def longer_sides(corners_px: ArrayLike) -> Array:
    """Return the longer side of each base: a base on its edge may show hardly any length."""
    length, width = (np.linalg.norm(side, axis=-1) for side in base_sides(corners_px))
    longer: Array = np.maximum(length, width)
    return longer


def apparent_lengths(corners_px: ArrayLike) -> Array:
    """Return apparent lengths of bases, px; for a foreshortened base, the length that matches its width."""
    length, width = (np.linalg.norm(side, axis=-1) for side in base_sides(corners_px))
    longer: Array = np.maximum(length, width * _LENGTH_PER_WIDTH)
    return longer


def usual_length_px(figures: Sequence[Detection]) -> float:
    """Return the median base length in the picture."""
    return float(np.median(apparent_lengths([figure.corners_px for figure in figures])))


def usual_lengths_px(figures: Sequence[Detection], others: Sequence[Detection] = ()) -> Array:
    """Return the usual length of a base like each of these, shape (n,).

    It is its own where enough bases in the picture are about as long, since each team may have a make of its own;
    otherwise it is the median.

    Args:
        others: more figures in the picture.
    """
    lengths = apparent_lengths(np.array([figure.corners_px for figure in (*figures, *others)]).reshape(-1, 4, 2))
    own, alike = lengths[: len(figures), None], REFINER_LIMITS.alike_ratio
    many = ((own < lengths * alike) & (lengths < own * alike)).sum(axis=1) >= REFINER_LIMITS.alike_bases
    return np.where(many, own[:, 0], np.median(lengths) if len(lengths) else 0.0)


def patch_transform(corners_px: ArrayLike, usual_px: float | Array | None = None) -> Array:
    """Return the transforms from the picture's pixels to figures' patches.

    Args:
        corners_px: the base tops' front-left, front-right, rear-right and rear-left corners, shape (..., 4, 2).
        usual_px: usual base length of the picture, or of bases like each, shape (...), which keeps patches near it.
            Without this, tracking a figure by its own last output can run away.

    Returns:
        Affine matrices, shape (..., 2, 3): the corners' center in the patch's center, the front toward +x, the base
        `BASE_LENGTH_PX` long.
    """
    corners = np.asarray(corners_px, dtype=np.float64)
    ahead, aside = base_sides(corners)
    length, width = np.linalg.norm(ahead, axis=-1), np.linalg.norm(aside, axis=-1)
    on_edge = length < REFINER_LIMITS.on_edge_ratio * width
    ahead = np.where(on_edge[..., None], aside @ _QUARTER.T, ahead)
    reach = np.linalg.norm(ahead, axis=-1, keepdims=True)
    front = np.where(reach > 0, ahead / np.where(reach > 0, reach, 1.0), (1.0, 0.0))
    longer = apparent_lengths(corners)
    if usual_px is not None:
        longer = np.clip(longer, usual_px / REFINER_LIMITS.max_size_ratio, usual_px * REFINER_LIMITS.max_size_ratio)
    scale = BASE_LENGTH_PX / np.maximum(longer, REFINER_LIMITS.min_length_px)
    cos, sin = scale * front[..., 0], scale * front[..., 1]
    linear = np.stack([np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)], axis=-2)
    shift = _CENTER - (linear @ corners.mean(axis=-2)[..., None])
    return np.concatenate([linear, shift], axis=-1)


def cut_patches(image: Image, transforms: ArrayLike) -> Image:
    """Cut patches out of a picture.

    Args:
        image: uint8, shape (height, width, 3).
        transforms: from `patch_transform`, or other affine ones, shape (n, 2, 3).

    Returns:
        Patches, shape (n, 64, 64, 3), colors in the picture's order. Outside the picture, its edge pixels are repeated.
    """
    matrices = np.asarray(transforms, dtype=np.float64).reshape(-1, 2, 3)
    patches = np.empty((len(matrices), PATCH_PX, PATCH_PX, 3), dtype=np.uint8)
    levels, most = _halvings(matrices), int(np.log2(max(min(image.shape[:2]), 1)))
    for level in range(most + 1):
        rows = np.flatnonzero(levels == level if level < most else levels >= level)
        for start in range(0, len(rows), REFINER_LIMITS.patches_at_once):
            part = rows[start : start + REFINER_LIMITS.patches_at_once]
            x, y = _source_pixels(matrices[part], level).reshape(2, -1, PATCH_PX)
            cut = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            patches[part] = cut.reshape(-1, PATCH_PX, PATCH_PX, 3)
        if not (levels > level).any():
            break
        image = _halve(image)
    return patches


def cut_figures(figures: Sequence[Detection], image: Image, usual_px: float | Array) -> tuple[Array, Image]:
    """Return the transforms of figures' patches, and the patches."""
    corners = np.array([figure.corners_px for figure in figures]).reshape(-1, 4, 2)
    transforms = patch_transform(corners, usual_px)
    return transforms, cut_patches(image, transforms)


def to_patch(points_px: ArrayLike, transforms: ArrayLike) -> Array:
    """Map points of the picture, shape (n, k, 2), to pixels of their patches, same shape."""
    points, matrices = np.asarray(points_px, dtype=np.float64), np.asarray(transforms, dtype=np.float64)
    return points @ matrices[..., :2].swapaxes(-1, -2) + matrices[..., None, :, 2]


def from_patch(points_patch_px: ArrayLike, transforms: ArrayLike) -> Array:
    """Map pixels of patches, shape (n, k, 2), to points of the picture, same shape."""
    points, matrices = np.asarray(points_patch_px, dtype=np.float64), np.asarray(transforms, dtype=np.float64)
    # A similarity's inverse is its transpose over its squared scale.
    squared = (matrices[..., 0, :2] ** 2).sum(axis=-1)[..., None, None]
    moved: Array = (points - matrices[..., None, :, 2]) @ (matrices[..., :2] / squared)
    return moved


def scale_of(transforms: ArrayLike) -> Array:
    """Return patch pixels per pixel of the picture, shape (...): a sigma in a patch divided by it is the picture's."""
    matrices = np.asarray(transforms, dtype=np.float64)
    return np.hypot(matrices[..., 0, 0], matrices[..., 0, 1])


def to_units(points_patch_px: ArrayLike) -> Array:
    """Convert pixels of a patch to units; divide lengths and sigmas by `PATCH_PX / 2` instead."""
    return (np.asarray(points_patch_px, dtype=np.float64) + 0.5) / (PATCH_PX / 2) - 1


def from_units(points: ArrayLike) -> Array:
    """Convert units to pixels of a patch; multiply lengths and sigmas by `PATCH_PX / 2` instead."""
    return (np.asarray(points, dtype=np.float64) + 1) * (PATCH_PX / 2) - 0.5


def _halve(image: Image) -> Image:
    height, width = image.shape[:2]
    size = (max(width // 2, 1), max(height // 2, 1))
    return np.asarray(cv2.resize(image[: size[1] * 2, : size[0] * 2], size, interpolation=cv2.INTER_AREA), np.uint8)


def _halvings(matrices: Array) -> Indices:
    """Return how often the picture is to be halved before each patch is cut out of it, shape (n,)."""
    times = np.log2(REFINER_LIMITS.min_scale / np.maximum(scale_of(matrices), 1e-9))
    return np.maximum(np.ceil(times), 0).astype(np.intp)


def _source_pixels(matrices: Array, level: int) -> NDArray[np.float32]:
    """Return the x and y of patches' pixels in a picture halved `level` times, shape (2, n, 64, 64).

    Pixel p of the halved picture is at ``(p + 0.5) * 2**level - 0.5`` in the full one.
    """
    side = np.arange(PATCH_PX, dtype=np.float32)
    back = np.linalg.inv(matrices[:, :, :2])
    corner = -(back @ matrices[:, :, 2:])[:, :, 0]
    per_px = (back / 2.0**level).astype(np.float32).transpose(1, 0, 2)[..., None, None]
    first = ((corner + 0.5) / 2.0**level - 0.5).astype(np.float32).T[..., None, None]
    return per_px[:, :, 0] * side + (per_px[:, :, 1] * side[:, None] + first)


def run_patches(network: Network, patches: Image) -> Array:
    """Run the refiner once on patches; outputs of shape (n, `OUTPUTS`).

    Raises:
        InputError: the network is no refiner.
    """
    outputs = network.run(patches)
    if outputs.shape != (len(patches), OUTPUTS):
        raise InputError(f"{network.name}: its output has shape {outputs.shape}; a refiner's is (n, {OUTPUTS}).")
    return outputs.astype(np.float64)


def average_rotated(network: Network, outputs: Array, patches: Image) -> None:
    """Run unclear patches again, rotated by half a turn, and average both outputs in place."""
    rows = np.flatnonzero(is_unclear(outputs))
    if len(rows):
        outputs[rows] = (outputs[rows] + rotate_back(run_patches(network, patches[rows, ::-1, ::-1]))) / 2


def average_all_views(network: Network, outputs: Array, patches: Image) -> None:
    """Run all patches again rotated by half a turn, mirrored, and both, and average the four outputs in place.

    Mirrored patches do not count for front, fall and presence: the network was not trained on them, and judges these
    worse than it places corners.
    """
    if not len(outputs):
        return
    outputs += rotate_back(run_patches(network, patches[:, ::-1, ::-1]))
    logits = outputs[:, LOGITS] / 2
    outputs += mirror_back(run_patches(network, patches[:, ::-1]))
    outputs += rotate_back(mirror_back(run_patches(network, patches[:, :, ::-1])))
    outputs /= 4
    outputs[:, LOGITS] = logits


def is_unclear(outputs: Array) -> Bools:
    """Return which patches leave front, fall or presence unclear, shape (n,)."""
    unclear: Bools = np.abs(outputs[:, LOGITS]).min(axis=1) < REFINER_LIMITS.clear_logit
    return unclear


def rotate_back(outputs: Array) -> Array:
    """Convert outputs of patches rotated by half a turn to outputs of the patches themselves."""
    out = outputs.copy()
    order = list(ROTATED_POINTS)
    out[:, POINTS] = -outputs[:, POINTS].reshape(-1, 5, 2)[:, order].reshape(-1, 10)
    out[:, LOG_ERRORS] = outputs[:, LOG_ERRORS][:, order]
    out[:, VISIBLE] = outputs[:, VISIBLE][:, order]
    out[:, TURN] = -outputs[:, TURN]
    return out


def mirror_back(outputs: Array) -> Array:
    """Convert outputs of patches mirrored top to bottom to outputs of the patches themselves."""
    out = outputs.copy()
    order = [*MIRRORED_CORNERS, 4]
    out[:, POINTS] = (outputs[:, POINTS].reshape(-1, 5, 2)[:, order] * (1.0, -1.0)).reshape(-1, 10)
    out[:, LOG_ERRORS] = outputs[:, LOG_ERRORS][:, order]
    out[:, VISIBLE] = outputs[:, VISIBLE][:, order]
    return out


def decode_refinement(
    figures: Sequence[Detection], outputs: Array, transforms: Array, sigma_scale: float = 1.0, front_odds: float = 1.0
) -> list[Detection]:
    """Return refined figures.

    Args:
        sigma_scale: standard deviation of a corner per deviation that the network predicts.
        front_odds: log-odds that a front is right per unit of its logit.
    """
    points = from_patch(from_units(outputs[:, POINTS].reshape(-1, 5, 2)), transforms)
    unit_px = PATCH_PX / 2 / scale_of(transforms)
    sigmas = sigma_scale * _SIGMA_PER_ERROR * np.exp(outputs[:, LOG_ERRORS]) * unit_px[:, None]
    visible, front = sigmoid(outputs[:, VISIBLE]), sigmoid(front_odds * np.abs(outputs[:, TURN]))
    # Detector and refiner both vote on whether there is a figure, since they make different errors.
    scores = sigmoid((outputs[:, FIGURE] + logit(np.array([figure.score for figure in figures]))) / 2)
    out = []
    for i, figure in enumerate(figures):
        turned, fallen = outputs[i, TURN] > 0, outputs[i, FALLEN] > 0
        order = list(ROTATED_POINTS[:4]) if turned else [0, 1, 2, 3]
        corners: list[Pixel] = [(x, y) for x, y in points[i, order].tolist()]
        x, y = points[i, 4].tolist()
        refined = dataclasses.replace(
            figure,
            kind="fallen" if fallen else "upright",
            score=float(scores[i]),
            corners_px=tuple(corners),
            corner_scores=tuple(visible[i, order].tolist()),
            corner_sigma_px=tuple(sigmas[i, order].tolist()),
            helmet_px=(x, y),
            helmet_score=float(visible[i, 4]),
            front_score=float(front[i]),
        )
        out.append(refined)
    return out
