"""The detector stage: one pass of a network over the whole frame finds figures, the ball and hands.

The network's head is that of YOLO26-pose (ultralytics), one-to-many branch, before any suppression: one column per
cell, cells row by row. Each holds four distances from the cell's center to the box's left, top, right and bottom; a
logit per class; x, y and logit of each keypoint; logits of each keypoint's spread along x and y. Lengths are in cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from downfield.core.arrays import Array, Bools, Image, Indices
from downfield.core.errors import InputError
from downfield.core.frame import Detection, Pixel
from downfield.models.card import KINDS
from downfield.models.refiner import longer_sides
from downfield.models.runtime import Network, logit, sigmoid
from downfield.models.suppression import SUPPRESSION_LIMITS, non_maximum_suppression

_SAME_BALL_PX: Final = 8.0  # balls nearer than this in the input are duplicates: there is only one ball, a cell wide
_SAME_HAND_PX: Final = 48.0  # hands whose fingertips are nearer than this in the input are duplicates
# linear interpolation takes 2 x 2 pixels: frames shrunk further than this are averaged over all pixels
_MIN_LINEAR_SCALE: Final = 0.45
GRAY: Final = 114  # gray level around a frame, as YOLO networks are trained
STRIDE_PX: Final = 8  # side of a cell, pixels of the input
KEYPOINTS: Final = 5  # the base top's four corners, then the helmet, which alone balls and hands have
CHANNELS: Final = 4 + len(KINDS) + 3 * KEYPOINTS + 2 * KEYPOINTS  # numbers in a cell
_CLASSES: Final = slice(4, 4 + len(KINDS))
_POINTS: Final = slice(_CLASSES.stop, _CLASSES.stop + 3 * KEYPOINTS)
_SPREADS: Final = slice(_POINTS.stop, CHANNELS)
_FIGURES: Final = (KINDS.index("upright"), KINDS.index("fallen"))
_HAND: Final = KINDS.index("hand")


@dataclass(frozen=True, slots=True)
class Letterbox:
    """The place of frames of one size in a network's input: shrunk evenly, at the upper left, the rest gray."""

    frame_px: tuple[int, int]
    input_px: tuple[int, int]

    @property
    def inner_px(self) -> tuple[int, int]:
        """Width and height of the shrunk frame."""
        (width, height), (across, down) = self.frame_px, self.input_px
        share = min(across / width, down / height)
        return max(1, min(across, round(width * share))), max(1, min(down, round(height * share)))

    @property
    def scale(self) -> Array:
        """Input pixels per frame pixel, along x and y, shape (2,): not quite equal, since sizes are whole."""
        return np.asarray(self.inner_px, dtype=np.float64) / self.frame_px

    def new_input(self) -> Image:
        """Return an empty input to fit frames into, uint8, shape (1, height, width, 3)."""
        return np.full((1, self.input_px[1], self.input_px[0], 3), GRAY, dtype=np.uint8)

    def fit(self, frame: Image, into: Image) -> None:
        """Shrink a frame into an input made by `new_input`."""
        width, height = self.inner_px
        linear = self.scale.min() >= _MIN_LINEAR_SCALE
        shrunk = cv2.resize(frame, (width, height), interpolation=cv2.INTER_LINEAR if linear else cv2.INTER_AREA)
        into[0, :height, :width] = shrunk

    def to_frame(self, points: ArrayLike) -> Array:
        """Map points of the input, shape (..., 2), to pixels of the frame, same shape.

        Args:
            points: counted from the input's outer edge, as YOLO does: the first pixel's center is (0.5, 0.5). In the
                frame, centers are at whole numbers.
        """
        return np.asarray(points, dtype=np.float64) / self.scale - 0.5


@dataclass(frozen=True, slots=True)
class HeadOutput:
    """Decoded cells, best first, in pixels of the input counted from its outer edge."""

    kinds: Indices  # rows of `KINDS`, shape (n,)
    scores: Array  # 0..1, shape (n,)
    boxes: Array  # left, top, right, bottom, shape (n, 4)
    points: Array  # shape (n, 5, 2)
    point_scores: Array  # 0..1, how surely each is visible, shape (n, 5)
    spreads: Array  # of the points along x and y, shape (n, 5, 2), before any scale


def decode_head(head: NDArray[np.float32], columns: int, thresholds: Array) -> HeadOutput:
    """Decode the cells whose best class reaches its threshold.

    Args:
        head: shape (`CHANNELS`, cells).
        thresholds: score from which each kind counts, shape (kinds,).
    """
    least = logit(thresholds)
    cells = np.flatnonzero((head[_CLASSES] >= least.astype(np.float32)[:, None]).any(axis=0))
    picked = head[:, cells].astype(np.float64).T
    logits = picked[:, _CLASSES]
    # Thresholds differ by kind, so the kind that exceeds its own threshold by most wins.
    kinds = (logits - least).argmax(axis=1)
    best = logits[np.arange(len(cells)), kinds]
    order = np.argsort(-best, kind="stable")
    picked, kinds, best, cells = picked[order], kinds[order], best[order], cells[order]
    centers = np.stack([cells % columns, cells // columns], axis=1) + 0.5
    reach = picked[:, :4]
    points = picked[:, _POINTS].reshape(-1, KEYPOINTS, 3)
    return HeadOutput(
        kinds=kinds,
        scores=sigmoid(best),
        boxes=np.concatenate([centers - reach[:, :2], centers + reach[:, 2:]], axis=1) * STRIDE_PX,
        points=(points[..., :2] + centers[:, None]) * STRIDE_PX,
        point_scores=sigmoid(points[..., 2]),
        spreads=sigmoid(picked[:, _SPREADS].reshape(-1, KEYPOINTS, 2)) * STRIDE_PX,
    )


class FrameDetector:
    """The network over whole frames.

    Args:
        network: with the head that `decode_head` decodes.
        thresholds: score from which each kind is reported.
        sigma_scale: standard deviation of a corner per spread that the network predicts.
    """

    def __init__(
        self,
        network: Network,
        *,
        name: str,
        input_px: tuple[int, int],
        thresholds: tuple[float, ...],
        sigma_scale: float = 1.0,
    ) -> None:
        self.name = f"{name} on {network.name}"
        self._network = network
        self._input_px = input_px
        self._thresholds = np.array(thresholds)
        self._sigma_scale = sigma_scale
        self._box = Letterbox(input_px, input_px)
        self._input = self._box.new_input()

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Return everything detected in one picture, uint8 (height, width, 3), best first."""
        frame_px = (image.shape[1], image.shape[0])
        if frame_px != self._box.frame_px:
            self._box = Letterbox(frame_px, self._input_px)
            self._input = self._box.new_input()
        self._box.fit(image, self._input)
        head, columns = self.run(self._input), self._input_px[0] // STRIDE_PX
        return tuple(to_detections(decode_head(head, columns, self._thresholds), self._box, self._sigma_scale))

    def run(self, pictures: Image) -> NDArray[np.float32]:
        """Run the network on one fitted frame and return its raw head, shape (channels, cells).

        Raises:
            InputError: the network is no detector.
        """
        head = self._network.run(pictures)
        cells = (self._input_px[0] // STRIDE_PX) * (self._input_px[1] // STRIDE_PX)
        if head.shape != (1, CHANNELS, cells):
            raise InputError(f"{self.name}: its output has shape {head.shape}, not (1, {CHANNELS}, {cells}).")
        first: NDArray[np.float32] = head[0]
        return first


def to_detections(output: HeadOutput, box: Letterbox, sigma_scale: float) -> list[Detection]:
    """Convert decoded cells to detections in pixels of the frame, without duplicates."""
    kept = _suppress(output)
    points = box.to_frame(output.points[kept])
    boxes = box.to_frame(output.boxes[kept].reshape(-1, 2, 2)).reshape(-1, 4)
    # One number for both directions: the root of the mean square.
    sigmas = sigma_scale * np.sqrt((output.spreads[kept] ** 2).mean(axis=2)) / float(box.scale.mean())
    out = []
    for row, i in enumerate(kept):
        kind, score = KINDS[output.kinds[i]], float(output.scores[i])
        place = tuple(boxes[row].tolist())
        corners: list[Pixel] = [(x, y) for x, y in points[row].tolist()]
        visible = output.point_scores[i].tolist()
        if kind in ("ball", "hand"):
            out.append(Detection(kind, score, place, helmet_px=corners[4], helmet_score=visible[4]))
            continue
        sigma = tuple(sigmas[row, :4].tolist())
        out.append(Detection(kind, score, place, tuple(corners[:4]), tuple(visible[:4]), sigma, corners[4], visible[4]))
    return out


def _suppress(output: HeadOutput) -> list[int]:
    """Return the rows to keep: several cells detect the same object, and objects are solid."""
    figure = np.isin(output.kinds, _FIGURES)
    kinds = np.where(figure, _FIGURES[0], output.kinds)
    centers = np.where(figure[:, None], output.points[:, :4].mean(axis=1), output.points[:, 4])
    sizes = longer_sides(output.points[:, :4])

    def duplicates(row: int, rest: slice) -> Bools:
        small = _SAME_HAND_PX if kinds[row] == _HAND else _SAME_BALL_PX
        reach = SUPPRESSION_LIMITS.same_place * np.maximum(sizes[row], sizes[rest]) if figure[row] else small
        off = centers[rest] - centers[row]
        near = off[:, 0] ** 2 + off[:, 1] ** 2 < reach**2
        same: Bools = near & (kinds[rest] == kinds[row])
        return same

    return non_maximum_suppression(len(kinds), duplicates)
