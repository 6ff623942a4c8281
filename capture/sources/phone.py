"""The camera of a phone as a source: decodes what `phone_link` receives, with the sender's times and their error.

A picture of the same shape as the requested size is scaled to it, so that a phone that sends 720p for a while keeps
its calibration. For one that shows the same as the picture before, encoded again or not, that picture is yielded once
more, bit for bit: so all know that it shows an instant that is over, and the recording has every packet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import av
import cv2
import numpy as np
from av.video.codeccontext import VideoCodecContext

from downfield.capture.source import (
    CaptureClock,
    CapturedFrame,
    PictureFaultError,
    PictureTimes,
    SourceFacts,
    VideoPacket,
    changed_size,
)
from downfield.capture.sources.encoded_news import EXPORT_QUANTIZERS, NEWS_LIMITS, EncodedNews
from downfield.capture.sources.phone_link import LINK_LIMITS, PHONE_LINK, PhoneLink, PhoneState, require_receiver
from downfield.capture.sources.phone_session import SentPicture
from downfield.capture.sources.reconnecting import ReconnectLimits
from downfield.capture.sources.source_types import SourceType
from downfield.core.arrays import Image
from downfield.core.errors import SourceError
from downfield.core.media.video_file import upright_bgr
from downfield.core.platform.clock import monotonic_ns
from downfield.game.published.board_topics import HealthReason

PHONE_SOURCE: Final = "phone://camera"  # Its name, as for ``--source``

_FIRST_S: Final = 5.0  # Longest time for a first picture: a key picture is requested, and comes within one
_STALLED_S: Final = 1.0
_STEP: Final = 16  # Spacing of the pixels that are compared first

PHONE_LIMITS: Final = ReconnectLimits(
    stalled_s=2.5, first_frame_s=2.5, frozen_s=1e9, open_timeout_s=8.0, longest_wait_s=0.5
)
"""The source says itself after a second that nothing comes, and why; twice a second it is seen that it is back. What is
frozen goes on, without being opened again, at the first picture that is new."""


class PhoneCamera:
    """Reads the camera of the phone.

    Args:
        size_px: the size that its pictures are scaled to where they have its shape.

    Raises:
        SourceError: no phone sends pictures.
        MissingExtraError: what receives it is not installed.
    """

    def __init__(self, clock: CaptureClock, size_px: tuple[int, int], link: PhoneLink = PHONE_LINK) -> None:
        session = link.session
        if session is None:
            require_receiver()
            raise SourceError("No phone is connected. Scan the terminal's code, or that of 'Use my phone' in '/setup'.")
        self._clock, self._link, self._session = clock, link, session
        self._closed = False
        self._codec, self._decoder = "h264", _decoder("h264")
        self._index = 0
        self._last: Image | None = None
        self._image: Image | None = None  # the last new one, as it is yielded
        self._news, self._is_news, self._new_ns = EncodedNews(), True, monotonic_ns()
        session.begin()
        until_ns = self._new_ns + round(_FIRST_S * 1e9)
        first = None
        while first is None and monotonic_ns() < until_ns and not self._closed:
            picture = session.next(0.2)
            image = None if picture is None else self._decode(picture)
            first = None if picture is None or image is None else (picture, image)
        if first is None:
            session.stop_reading()
            raise SourceError(f"{session.name} is connected and sends no picture{self._reason()}")
        self._first: tuple[SentPicture, Image | None] = first
        self._sent_px = (first[1].shape[1], first[1].shape[0])
        wide, high = size_px
        self._is_scaled = self._sent_px != size_px and self._sent_px[0] * high == self._sent_px[1] * wide
        note = f"it sends {self._sent_px[0]}x{self._sent_px[1]}, which is scaled to {wide}x{high}"
        self.facts = SourceFacts(
            "stream",
            session.name,
            size_px if self._is_scaled else self._sent_px,
            None,
            codec="" if self._is_scaled else first[0].codec,
            notes=(note,) if self._is_scaled else (),
        )

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every picture; a gap in the indices is of pictures that the network has lost.

        Raises:
            SourceError: the phone has left, sends nothing, or pictures of another size.
        """
        times = PictureTimes()
        picture, image = self._first
        begun_lost = picture.lost
        while not self._closed:
            if image is None:
                self._index += 1  # it is damaged, and counts as lost
            elif self._needs_opening((image.shape[1], image.shape[0])):
                raise changed_size((image.shape[1], image.shape[0]), self._sent_px)
            else:
                t_ns, error_ns = times(self._clock.from_monotonic(picture.taken_ns))
                packet = None if self._is_scaled else VideoPacket(picture.codec, picture.data, picture.is_keyframe)
                index = self._index + picture.lost - begun_lost
                shown = self._shown(image, picture)
                yield CapturedFrame(index, t_ns, picture.taken_ns, packet, shown, t_sigma_ns=error_ns)
                self._index += 1
            received = self._session.next(_STALLED_S)
            if received is None:
                raise PictureFaultError(f"No picture for {_STALLED_S:g} s{self._reason()}", self._remedy())
            picture, image = received, self._decode(received)

    def close(self) -> None:
        """Stop; the phone stays connected."""
        self._closed = True
        self._link.note_frozen(False)
        self._session.stop_reading()

    def _needs_opening(self, now_px: tuple[int, int]) -> bool:
        """Return whether pictures have another size; what grows, as a phone does once connected, is scaled alike."""
        (wide, high), size_px = now_px, self.facts.size_px
        grows = self._is_scaled and now_px != size_px and wide * size_px[1] == high * size_px[0]
        return now_px != self._sent_px and not grows

    def _decode(self, picture: SentPicture) -> Image | None:
        """Return a picture; None if it can't be decoded, or what it builds on was lost."""
        if picture.codec != self._codec:
            self._codec, self._decoder = picture.codec, _decoder(picture.codec)
        try:
            decoded = self._decoder.decode(av.Packet(picture.data))
        except av.FFmpegError:
            decoded = []
        if not decoded or decoded[-1].is_corrupt:
            self._session.note_loss()
            return None
        self._is_news = self._news.shows(decoded[-1], picture.taken_ns)
        return upright_bgr(decoded[-1])

    def _shown(self, image: Image, picture: SentPicture) -> Image:
        """Return what a picture shows: the one before once more where it is no new one. Notes whether it is frozen."""
        last, self._last = self._last, image
        same = last is not None and bool(
            np.array_equal(image[::_STEP, ::_STEP], last[::_STEP, ::_STEP]) and np.array_equal(image, last)
        )
        if self._image is None or (self._is_news and not same):
            self._image, self._new_ns = image, picture.arrived_ns
            if self._is_scaled:
                self._image = np.asarray(cv2.resize(image, self.facts.size_px), np.uint8)
        elif not self._is_news:
            self._new_ns = min(self._new_ns, picture.arrived_ns - NEWS_LIMITS.window_ns)
        self._link.note_frozen(picture.arrived_ns - self._new_ns > LINK_LIMITS.frozen_ns)
        return self._image

    def _reason(self) -> str:
        """Return what is wrong with the phone or its network, to follow a sentence; empty for nothing known."""
        problem = self._problem()
        return "" if problem is None else f": {problem.text[0].lower()}{problem.text[1:]}"

    def _remedy(self) -> str:
        problem = self._problem()
        return "See that the phone's page is open and its network the same" if problem is None else problem.remedy

    def _problem(self) -> HealthReason | None:
        """Return what the phone's page says of it, or else that packets come, of which no picture becomes whole."""
        hears = monotonic_ns() - self._session.heard_ns < round(_STALLED_S * 1e9)
        slow = PhoneState(limited="bandwidth").problems() if hears and self._session.needs_key else ()
        return next(iter((*self._link.state.problems(), *slow)), None)


def _decoder(codec: str) -> VideoCodecContext:
    made = av.codec.CodecContext.create(codec, "r")
    assert isinstance(made, VideoCodecContext), "both are codecs of video"
    made.thread_count = 1
    made.options = {"flags": "low_delay", **EXPORT_QUANTIZERS}
    return made


PHONE: Final = SourceType(lambda choice, clock: PhoneCamera(clock, choice.camera.size_px), limits=PHONE_LIMITS)
"""Opens the phone; for a process there is one."""
