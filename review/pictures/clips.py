"""Clips of a call or a play to send to others: MP4 and GIF, in slow motion, with drawings or without.

Every picture is the exact frame at its exact time; one that can't be read is shown as a dark picture that says so.
Clips are made one at a time by a thread that runs only when the live loop leaves a core. A replay is a fragmented MP4:
its first pictures can be played while the last are still being made.
"""

from __future__ import annotations

import io
import queue
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Literal, TypeVar

import av
import av.filter
import cv2
import numpy as np
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc, VideoReformatter

from downfield.core.arrays import Image
from downfield.core.errors import BusyError
from downfield.core.media.video_file import even_size_px
from downfield.core.platform.processes import lower_priority
from downfield.core.threads import only_logged, supervised_thread
from downfield.review.zip_container import WriteSink

T = TypeVar("T")

ClipFormat = Literal["mp4", "gif"]
MEDIA_TYPES: Final[dict[ClipFormat, str]] = {"mp4": "video/mp4", "gif": "image/gif"}

TimedImage = tuple[int, Image]  # When a picture is shown, ns from the beginning, and the picture


@dataclass(frozen=True, slots=True)
class ClipLimits:
    """Limits of exported clips."""

    waiting: int = 3  # Clips that are made or wait at once; each is held in memory until it is sent, some 5 MB
    ahead: int = 6  # Pictures decoded ahead of the encoder, 6 MB each at 1920x1080
    # How long a clip lasts at most, as it is shown: a GIF of that length has some 20 MB, a video 60 MB
    longest_s: Mapping[ClipFormat, float] = field(default_factory=lambda: {"mp4": 180.0, "gif": 30.0})
    last_ns: int = 500_000_000  # How long the last picture stays
    # Width of a GIF: it holds every pixel of every picture in 256 colors, and is sent by phones
    gif_width_px: int = 480
    gif_step_ns: int = 66_000_000  # Least time between two pictures of a GIF; those between are left out


CLIP_LIMITS: Final = ClipLimits()

_HD: Final = Colorspace.ITU709
"""Colors of clips, and named in them: where nothing is named, players guess by the size of the picture."""


class ClipWorker:
    """Makes clips one at a time, in a thread of low priority; the encoder runs at the same nice value."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "clips", initializer=lower_priority)
        self._waiting = threading.BoundedSemaphore(CLIP_LIMITS.waiting)

    def run(self, make: Callable[[], T]) -> T:
        """Return what a function makes, in the worker's thread. Raises BusyError: too many clips wait already."""
        if not self._waiting.acquire(blocking=False):
            raise BusyError(f"{CLIP_LIMITS.waiting} clips are being made already. Try again in a few seconds.")
        try:
            return self._executor.submit(make).result()
        finally:
            self._waiting.release()


def encode_clip(images: Iterator[TimedImage], form: ClipFormat) -> bytes:
    """Return pictures, one at least and in order, as a clip; all have the size of the first."""
    prepared = ahead(images)
    return _mp4(prepared) if form == "mp4" else _gif(prepared)


def scaled(image: Image, width_px: int) -> Image:
    """Return a picture no wider than this; its edges are even, as video needs."""
    height, width = image.shape[:2]
    size = even_size_px((width, height), width_px)
    if size == (width, height):
        return image
    # Averaging by other than whole factors takes four times as long, and below two it shows no less than bilinear.
    how = cv2.INTER_AREA if width >= 2 * size[0] else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, size, interpolation=how), dtype=np.uint8)


def shown_at(times_ns: Sequence[int], speed: float) -> list[int]:
    """Return when pictures are shown at a speed, ns from the beginning, by their capture times."""
    return [round((t_ns - times_ns[0]) / speed) for t_ns in times_ns]


def _mp4(images: Iterator[TimedImage]) -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        first = next(images)
        stream = container.add_stream("libx264", options={"preset": "ultrafast", "crf": "20"})
        stream.height, stream.width = first[1].shape[:2]
        stream.pix_fmt, stream.codec_context.time_base = "yuv420p", Fraction(1, 90_000)
        stream.codec_context.thread_count = 2
        stream.codec_context.color_range = ColorRange.MPEG
        stream.codec_context.colorspace = _HD
        stream.codec_context.color_primaries, stream.codec_context.color_trc = ColorPrimaries.BT709, ColorTrc.BT709
        converter = VideoReformatter()  # one for all pictures: it keeps its tables
        for shown_ns, image in _with_end(first, images, CLIP_LIMITS.last_ns):
            given = av.VideoFrame.from_numpy_buffer(np.ascontiguousarray(image), format="bgr24")
            frame = converter.reformat(
                given, format="yuv420p", dst_colorspace=_HD, dst_color_range=ColorRange.MPEG, threads=1
            )
            frame.pts, frame.time_base = round(shown_ns * 90_000 / 1e9), Fraction(1, 90_000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return file.getvalue()


def _gif(images: Iterator[TimedImage]) -> bytes:
    """Return a GIF whose pictures share the 256 colors that suit what moves in them best."""
    first = next(images)
    first = (first[0], scaled(first[1], CLIP_LIMITS.gif_width_px))
    height, width = first[1].shape[:2]
    hundredths = Fraction(1, 100)  # the unit of GIF's times
    graph = av.filter.Graph()
    source = graph.add_buffer(width=width, height=height, format=av.VideoFormat("bgr24"), time_base=hundredths)
    split, colors = graph.add("split"), graph.add("palettegen", "stats_mode=diff")
    used, sink = graph.add("paletteuse", "dither=bayer:bayer_scale=4"), graph.add("buffersink")
    source.link_to(split)
    split.link_to(colors, 0)
    split.link_to(used, 1, 0)
    colors.link_to(used, 0, 1)
    used.link_to(sink)
    graph.configure()
    due_ns = 0
    for shown_ns, image in _with_end(first, images, CLIP_LIMITS.last_ns):
        if shown_ns < due_ns:
            continue
        due_ns = shown_ns + CLIP_LIMITS.gif_step_ns
        frame = av.VideoFrame.from_ndarray(scaled(image, CLIP_LIMITS.gif_width_px), format="bgr24")
        frame.pts, frame.time_base = round(shown_ns / 1e7), hundredths
        source.push(frame)
    source.push(None)
    file = io.BytesIO()
    with av.open(file, "w", format="gif") as container:
        stream = container.add_stream("gif")
        stream.width, stream.height, stream.pix_fmt = width, height, "pal8"
        stream.codec_context.time_base = hundredths
        while True:
            try:
                container.mux(stream.encode(graph.vpull()))
            except (av.BlockingIOError, av.EOFError):
                break
        container.mux(stream.encode())
    return file.getvalue()


def _with_end(first: TimedImage, others: Iterator[TimedImage], last_ns: int) -> Iterator[TimedImage]:
    """Yield all pictures, and the last one once more: players show the last picture of a file for no time at all."""
    last = first
    yield first
    for last in others:
        yield last
    yield last[0] + last_ns, last[1]


def ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """Yield what a thread prepares ahead, so that decoding and drawing go on beside encoding."""
    ready: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(CLIP_LIMITS.ahead)
    stopped = threading.Event()

    def prepare() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                if stopped.is_set():
                    return
                ready.put((item,))
        except BaseException as error:
            end = error
        ready.put(end)

    thread = supervised_thread(prepare, "clip pictures", only_logged)
    thread.start()
    try:
        while True:
            item = ready.get()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item[0]
    finally:
        stopped.set()
        while thread.is_alive():
            try:
                ready.get_nowait()
            except queue.Empty:
                thread.join(0.01)


_TICKS: Final = 90_000
_KEY_EVERY: Final = 15  # a player that begins in the middle waits for half a second at most
_LAST_NS: Final = 100_000_000  # how long the last picture stays: players show it for no time at all


def encode_fragments(images: Iterator[TimedImage]) -> Iterator[bytes]:
    """Yield a clip in parts as its pictures come, see `encode_clip`; the first part is what a player needs to begin."""
    sink = WriteSink()
    flags = {"movflags": "frag_every_frame+empty_moov+default_base_moof"}
    with av.open(sink, "w", format="mp4", options=flags) as container:
        first = next(images)
        options = {"preset": "ultrafast", "tune": "zerolatency", "crf": "20"}
        stream = container.add_stream("libx264", options=options)
        stream.height, stream.width = first[1].shape[:2]
        stream.pix_fmt, stream.codec_context.time_base = "yuv420p", Fraction(1, _TICKS)
        stream.codec_context.thread_count, stream.codec_context.gop_size = 1, _KEY_EVERY
        for shown_ns, image in _with_end(first, images, _LAST_NS):
            yuv = cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420)
            frame = av.VideoFrame.from_ndarray(np.asarray(yuv, dtype=np.uint8), format="yuv420p")
            frame.pts, frame.time_base = round(shown_ns * _TICKS / 1e9), Fraction(1, _TICKS)
            container.mux(stream.encode(frame))
            if sink.waiting:
                yield sink.take()
        container.mux(stream.encode())
    if sink.waiting:
        yield sink.take()
