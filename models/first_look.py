"""The first look: one pass over the whole frame finds figures, the ball and hands."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Image
from downfield.core.errors import InputError
from downfield.core.frame import Detection, Pixel
from downfield.models.card import KINDS
from downfield.models.head import CHANNELS, STRIDE_PX, HeadOutput, decode_head
from downfield.models.letterbox import Letterbox
from downfield.models.runtime import Network

_FIGURES = (KINDS.index("upright"), KINDS.index("fallen"))
_HAND = KINDS.index("hand")
_SAME_BALL_PX = 8.0  # of the input: there is one ball, a cell wide
_SAME_HAND_PX = 48.0  # of the input, between fingertips: half a hand
SAME_PLACE: Final = 0.45
"""Of a base's length between two middles: bases are solid, their middles stay a width (0.6) apart."""


class FrameDetector:
    """The network over whole frames.

    Args:
        network: with the head that `decode_head` reads.
        name: of the weights.
        input_px: width and height of what it takes.
        thresholds: score from which each kind is reported.
        sigma_scale: standard deviation of a corner per spread that the network says.

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
        """Everything seen in one picture, uint8 (height, width, 3), best first."""
        frame_px = (image.shape[1], image.shape[0])
        if frame_px != self._box.frame_px:
            self._box = Letterbox(frame_px, self._input_px)
            self._input = self._box.new_input()
        self._box.fit(image, self._input)
        said = decode_head(self.head(self._input), self._input_px[0] // STRIDE_PX, self._thresholds)
        return tuple(to_detections(said, self._box, self._sigma_scale))

    def head(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The head's raw output for one fitted frame, shape (channels, cells).

        Raises:
            InputError: the network is not one that can take a first look.

        """
        head = self._network.run(pictures)
        cells = (self._input_px[0] // STRIDE_PX) * (self._input_px[1] // STRIDE_PX)
        if head.shape != (1, CHANNELS, cells):
            raise InputError(f"{self.name}: its output is {head.shape}; a first look gives (1, {CHANNELS}, {cells})")
        first: NDArray[np.float32] = head[0]
        return first


def to_detections(said: HeadOutput, box: Letterbox, sigma_scale: float) -> list[Detection]:
    """What the head says in pixels of the frame; of what is said more than once the best."""
    chosen = np.flatnonzero(_best_of_each(said))
    points = box.to_frame(said.points[chosen])
    boxes = box.to_frame(said.boxes[chosen].reshape(-1, 2, 2)).reshape(-1, 4)
    # One number for both directions: the root of the mean square.
    sigmas = sigma_scale * np.sqrt((said.spreads[chosen] ** 2).mean(axis=2)) / float(box.scale.mean())
    out = []
    for row, i in enumerate(chosen.tolist()):
        kind, score = KINDS[said.kinds[i]], float(said.scores[i])
        place = tuple(boxes[row].tolist())
        corners: list[Pixel] = [(x, y) for x, y in points[row].tolist()]
        seen = said.point_scores[i].tolist()
        if kind in ("ball", "hand"):
            out.append(Detection(kind, score, place, helmet_px=corners[4], helmet_score=seen[4]))
            continue
        sigma = tuple(sigmas[row, :4].tolist())
        out.append(Detection(kind, score, place, tuple(corners[:4]), tuple(seen[:4]), sigma, corners[4], seen[4]))
    return out


def _best_of_each(said: HeadOutput) -> NDArray[np.bool_]:
    """Which of what was said, best first, is not said again of something better; shape (n,).

    Several cells speak for one thing. Things are solid, so what lies where a better one lies is the same.
    """
    figure = np.isin(said.kinds, _FIGURES)
    kinds = np.where(figure, _FIGURES[0], said.kinds)
    middles = np.where(figure[:, None], said.points[:, :4].mean(axis=1), said.points[:, 4])
    sizes = base_lengths(said.points[:, :4])
    kept = np.ones(len(kinds), dtype=np.bool_)
    for i in range(len(kinds)):
        if not kept[i]:
            continue
        rest = slice(i + 1, None)
        small = _SAME_HAND_PX if kinds[i] == _HAND else _SAME_BALL_PX
        reach = SAME_PLACE * np.maximum(sizes[i], sizes[rest]) if figure[i] else small
        off = middles[rest] - middles[i]
        same = off[:, 0] ** 2 + off[:, 1] ** 2 < reach**2
        kept[rest] &= ~(same & (kinds[rest] == kinds[i]))
    return kept


def base_lengths(corners: Array) -> Array:
    """The longer sides of bases, shape (n, 4, 2): one on its edge may show hardly any length."""
    ahead = np.linalg.norm(corners[:, :2].mean(axis=1) - corners[:, 2:].mean(axis=1), axis=1)
    aside = np.linalg.norm(corners[:, [0, 3]].mean(axis=1) - corners[:, [1, 2]].mean(axis=1), axis=1)
    lengths: Array = np.maximum(ahead, aside)
    return lengths
