"""Whether encoded pictures show anything new, by what their encoder spent on them.

A source that is frozen, and yet goes on encoding, sends pictures that differ: the encoder refines the same picture with
an ever finer quantizer, and begins anew with each key picture. What it has coded once so finely it need not code again
at that quantizer or a coarser one. The noise of a sensor makes it do so in picture after picture, as all that moves
does. Measured with x264 and noise of 0.4 to 2 gray levels at 2 to 13 Mbit/s: of the blocks that change within a second
a sensor makes at least 10 % change again, a frozen picture at most 0.6 % (7 % with psychovisual decisions).
"""

from __future__ import annotations

import struct
from collections import deque
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

import av
import cv2
import numpy as np
from av.sidedata.sidedata import Type as SideDataType
from numpy.typing import NDArray

from downfield.core.arrays import Image

if TYPE_CHECKING:
    from collections.abc import Mapping

    from av.sidedata.sidedata import SideData

Quantizers: TypeAlias = NDArray[np.uint8]

_BLOCK: Final = 16  # Side of a macroblock, px (ITU-T H.264, 6.3)
_MOST_QP: Final = 51
_STEP: Final = 4  # Spacing of the samples that are compared
_HEADER: Final = struct.Struct("INNii")  # AVVideoEncParams of FFmpeg: blocks, where they are, their size, type, QP
_TOLD: Final = SideDataType.VIDEO_ENC_PARAMS
_DELTA: Final = 4  # Place of a block's own part of the QP, after its place and size


@dataclass(frozen=True, slots=True)
class NewsLimits:
    """Thresholds of telling a frozen picture from one in which nothing moves."""

    window_ns: int = 1_000_000_000  # Pictures of so long are judged together
    least_pictures: int = 12  # In it; with fewer nothing is told
    # Share of the changed blocks that change again where anything is new. A coarser quantizer keeps less of a sensor's
    # noise: the share falls with the square of the step beyond this one, in gray levels, and is not known beyond a QP.
    least_again: float = 0.06
    more_again: float = 1.5  # So many times it, where nothing was new before
    full_step: float = 10.0
    coarsest_qp: float = 30.0
    again_blocks: float = 0.0002  # Share of all blocks that change again, in each picture
    change: tuple[float, float] = (2.0, 0.25)  # Gray levels, and quantizer steps, of a block that was coded
    motion: tuple[float, float] = (16.0, 1.5)  # The same of one in which something moves
    motion_blocks: int = 3  # So many in a picture are something that moves


NEWS_LIMITS: Final = NewsLimits()

_STEPS: Final = 2.0 ** ((np.arange(_MOST_QP + 1) - 4) / 6)  # of the quantizer, gray levels (ITU-T H.264, 8.5.9)
_LEAST_CHANGE, _LEAST_MOTION = (
    np.ceil(np.minimum(np.maximum(levels, share * _STEPS), 255)).astype(np.uint8)
    for levels, share in (NEWS_LIMITS.change, NEWS_LIMITS.motion)
)
EXPORT_QUANTIZERS: Final = {"export_side_data": "venc_params"}
"""Option of a decoder of FFmpeg."""


class _Coded(NamedTuple):
    """What was coded of a picture."""

    t_ns: int
    changed: int  # blocks
    again: int
    qp: float  # the median
    moves: bool


class EncodedNews:
    """Follows one stream, of H.264: others don't tell. Its decoder exports the quantizers, see `EXPORT_QUANTIZERS`."""

    def __init__(self) -> None:
        self._recent: deque[_Coded] = deque()
        self._samples: Image | None = None
        self._finest: Quantizers | None = None  # with which each block was coded since the last key picture
        self._is_old = False

    def shows(self, frame: av.VideoFrame, t_ns: int) -> bool:
        """Return whether anything was new within the last second up to a picture; also where that can't be told.

        Give it every decoded picture, in order. That nothing is new holds until something moves or a second passes.
        """
        blocks, samples = _quantizers(frame), _samples(frame)
        last, self._samples = self._samples, samples
        if blocks is None or last is None or last.shape != samples.shape:
            self._recent.clear()
            self._finest, self._is_old = blocks, False
            return True
        if frame.key_frame or self._finest is None:
            self._finest = blocks
            self._recent.append(_Coded(t_ns, 0, 0, float(np.median(blocks)), moves=False))
        else:
            self._recent.append(
                self._coded(t_ns, np.asarray(cv2.absdiff(samples, last), np.uint8), blocks, self._finest)
            )
        while t_ns - self._recent[0].t_ns > NEWS_LIMITS.window_ns:
            self._recent.popleft()
        count, lasts_ns = len(self._recent), t_ns - self._recent[0].t_ns
        if any(one.moves for one in self._recent):
            self._is_old = False
        elif count >= NEWS_LIMITS.least_pictures and lasts_ns > 0.9 * NEWS_LIMITS.window_ns:
            changed, again, qp = (sum(values) for values in zip(*((*one[1:4],) for one in self._recent), strict=True))
            step = 2.0 ** ((qp / count - 4) / 6)
            least = NEWS_LIMITS.least_again * min(1.0, NEWS_LIMITS.full_step / step) ** 2
            least *= NEWS_LIMITS.more_again if self._is_old else 1.0
            if again > max(least * changed, NEWS_LIMITS.again_blocks * count * blocks.size):
                self._is_old = False
            elif qp <= NEWS_LIMITS.coarsest_qp * count:
                self._is_old = True
        return not self._is_old

    def _coded(self, t_ns: int, levels: Image, blocks: Quantizers, finest: Quantizers) -> _Coded:
        side = _BLOCK // _STEP
        parts = [levels[row::side, column::side] for row in range(side) for column in range(side)]
        most = reduce(np.maximum, parts)  # of each block
        changed, again = most >= _LEAST_CHANGE[blocks], blocks >= finest
        again &= changed
        self._finest = np.where(changed, np.minimum(blocks, finest), finest)
        counts = [int(np.count_nonzero(which)) for which in (changed, again, most >= _LEAST_MOTION[blocks])]
        moves = counts[2] >= NEWS_LIMITS.motion_blocks
        return _Coded(t_ns, counts[0], counts[1], float(np.median(blocks)), moves=moves)


def _quantizers(frame: av.VideoFrame) -> Quantizers | None:
    """Return the QP of each whole block, shape (rows, columns); None where the decoder does not tell."""
    found = cast("Mapping[SideDataType, SideData]", frame.side_data).get(_TOLD)
    columns = -(-frame.width // _BLOCK)
    count, begin, size, _, qp = (0, 0, 0, 0, 0) if found is None else _HEADER.unpack_from(memoryview(found))
    if found is None or not count or count % columns:
        return None
    words = np.frombuffer(memoryview(found), np.int32, count * size // 4, begin).reshape(-1, columns, size // 4)
    whole = words[: frame.height // _BLOCK, : frame.width // _BLOCK, _DELTA]
    return np.asarray(np.clip(qp + whole, 0, _MOST_QP), np.uint8)


def _samples(frame: av.VideoFrame) -> Image:
    """Return the lightness of whole blocks, sampled."""
    plane = frame.planes[0]
    rows, columns = (_BLOCK * (size // _BLOCK) for size in (frame.height, frame.width))
    luma = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
    return np.ascontiguousarray(luma[1:rows:_STEP, 1:columns:_STEP])
