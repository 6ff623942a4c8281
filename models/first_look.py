"""The first look: one pass over the whole frame finds figures, the ball and hands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.errors import InputError
from downfield.models.card import KINDS
from downfield.models.detection import Detection, Pixel
from downfield.models.detector import Image
from downfield.models.head import CHANNELS, STRIDE_PX, Array, Said, read_head
from downfield.models.letterbox import Letterbox
from downfield.models.network import Network

_FIGURES = (KINDS.index("upright"), KINDS.index("fallen"))
_SAME_PLACE = 0.45  # of a base's length between two middles: bases are solid, their middles stay a width (0.6) apart


class FirstLook:
    """The network over whole frames.

    Args:
        network: with the head that `read_head` reads.
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
        said = read_head(self.head(self._input), self._input_px[0] // STRIDE_PX, self._thresholds)
        return tuple(as_detections(said, self._box, self._sigma_scale))

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


def as_detections(said: Said, box: Letterbox, sigma_scale: float) -> list[Detection]:
    """What the head says in pixels of the frame; of figures said twice in one place the better."""
    corners = box.to_frame(said.points)
    boxes = box.to_frame(said.boxes.reshape(-1, 2, 2)).reshape(-1, 4)
    # One number for both directions: the root of the mean square.
    sigmas = sigma_scale * np.sqrt((said.spreads**2).mean(axis=2)) / float(box.scale.mean())
    out = []
    for i in np.flatnonzero(_first_in_place(said)):
        kind = KINDS[said.kinds[i]]
        place = tuple(boxes[i].tolist())
        score = float(said.scores[i])
        if kind in ("ball", "hand"):
            out.append(Detection(kind, score, place))
            continue
        points: list[Pixel] = [(x, y) for x, y in corners[i].tolist()]
        seen = said.point_scores[i].tolist()
        sigma = tuple(sigmas[i, :4].tolist())
        out.append(Detection(kind, score, place, tuple(points[:4]), tuple(seen[:4]), sigma, points[4], seen[4]))
    return out


def _first_in_place(said: Said) -> NDArray[np.bool_]:
    """Which of what was seen is not a figure where a better one already is, shape (n,)."""
    figure = np.isin(said.kinds, _FIGURES)
    middles = said.points[:, :4].mean(axis=1)
    apart = np.linalg.norm(middles[:, None] - middles[None], axis=2)
    sizes = _lengths(said.points[:, :4])
    close = apart < _SAME_PLACE * np.maximum(sizes[:, None], sizes[None])
    kept = np.ones(len(figure), dtype=np.bool_)
    for i in np.flatnonzero((np.triu(close, 1) & figure[:, None] & figure[None]).any(axis=0)):
        kept[i] = not (figure[:i] & kept[:i] & close[:i, i]).any() or not figure[i]
    return kept


def _lengths(corners: Array) -> Array:
    lengths: Array = np.linalg.norm(corners[:, :2].mean(axis=1) - corners[:, 2:].mean(axis=1), axis=1)
    return lengths
