"""What one phone sends: packets put together to whole pictures, still encoded, which wait for one reader.

aiortc decodes each picture itself, hands on neither its packets, which the recording copies, nor what was lost before
it, and takes a picture as whole only once the next one begins. So `RtpPictures` stands in for its jitter buffer.
"""

from __future__ import annotations

import queue
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from downfield.capture.sources.source_clock import SourceClock
from downfield.core.errors import SourceError
from downfield.core.platform.clock import monotonic_ns

if TYPE_CHECKING:
    from aiortc.rtp import RtpPacket


@dataclass(frozen=True, slots=True)
class PhoneSessionLimits:
    """Times and numbers of receiving pictures."""

    # Time between two key pictures. Browsers send none by themselves; recordings begin with one, and a picture of the
    # evidence is decoded from the last one on.
    key_ns: int = 3_000_000_000
    asked_ns: int = 1_000_000_000  # Time after which a key picture that is missing is requested again
    missing_ns: int = 800_000_000  # Time without progress after which packets that are missing are given up
    overtaken_ns: int = 30_000_000  # Time within which a missing packet still comes that others have overtaken
    again_ns: int = 100_000_000  # Time after which a missing packet is requested again, then twice it, and so on
    most_missing: int = 500  # Packets in a row of which a sender can't have kept the first: half a second's
    waiting_pictures: int = 120  # Pictures that wait to be decoded; when more come, the decoder begins anew


SESSION_LIMITS: Final = PhoneSessionLimits()

_RTP_PER_S: Final = 90_000  # Ticks of a time stamp in a second, of both formats (RFC 6184, 8.2.1; RFC 7741, 4.1)
_OTHER_EPOCH_NS: Final = 10**18  # Taken from stamps, which begin at 0: they are of no clock of this computer
_KEY_UNITS: Final = re.compile(rb"\x00\x00\x01[\x07\x27\x47\x67].*?\x00\x00\x01[\x05\x25\x45\x65]", re.DOTALL)
"""Parameters of the stream, then an IDR slice (ITU-T H.264, 7.3.1): a later part of a key picture has no parameters."""


class SentPicture(NamedTuple):
    """One encoded picture as the phone sent it."""

    codec: str  # ``"h264"`` or ``"vp8"``
    data: bytes
    taken_ns: int  # by the sender's clock, as the monotonic one
    arrived_ns: int  # when its first packet came, monotonic clock
    is_keyframe: bool
    lost: int  # pictures of this connection that were lost or could not be used before it


class PhoneSession:
    """The connection of one phone: what it sends is kept for one reader, beginning with a key picture.

    The sender is the id of the paired device.
    """

    def __init__(self, sender: str, name: str) -> None:
        self.id, self.sender, self.name = secrets.token_hex(8), sender, name
        self._pictures: queue.Queue[SentPicture | None] = queue.Queue()
        self._reading = False
        self.ended = False  # whether the phone has left
        self.needs_key = True  # whether nothing can be used before the next key picture
        self.heard_ns = 0  # when anything came last, monotonic clock
        self._key_ns = self._asked_ns = self._lost = 0
        self._clock = SourceClock(is_trusted=True)  # of all that comes: the first picture after a gap may be late

    def begin(self) -> None:
        """Keep pictures from the next key picture on, which is requested; what waits is dropped."""
        self._reading, self.needs_key, self._asked_ns = True, True, 0
        self._drop()

    def stop_reading(self) -> None:
        """Keep no more pictures."""
        self._reading = False
        self._drop()

    def next(self, timeout_s: float) -> SentPicture | None:
        """Return the next picture; None if none came in time. Raises SourceError: the phone has left."""
        try:
            picture = self._pictures.get(timeout=0 if self.ended else timeout_s)
        except queue.Empty:
            picture = None
        if picture is None and self.ended:
            raise SourceError(f"{self.name} has left. Open Downfield's camera page on it again")
        return picture

    def deliver(self, codec: str, data: bytes, stamp_ns: int, arrived_ns: int) -> None:
        """Take a picture that came whole.

        Args:
            stamp_ns: when it was taken, by the sender's clock of unknown epoch.
            arrived_ns: when the first of its packets came, monotonic clock; others may have been requested again.
        """
        now_ns = monotonic_ns()
        taken_ns = self._clock.to_monotonic(stamp_ns - _OTHER_EPOCH_NS, arrived_ns)
        is_keyframe = bool(_KEY_UNITS.search(data)) if codec == "h264" else bool(data) and not data[0] & 1
        if is_keyframe:
            self.needs_key, self._key_ns = False, now_ns
        if self._pictures.qsize() >= SESSION_LIMITS.waiting_pictures:
            self.note_loss()
        if self.needs_key:
            self._lost += 1
        elif self._reading:
            self._pictures.put(SentPicture(codec, data, taken_ns, arrived_ns, is_keyframe, self._lost))

    def note_loss(self) -> None:
        """Use nothing before the next key picture: what follows a lost picture builds on it."""
        self.needs_key = True

    def is_key_due(self) -> bool:
        """Return whether a key picture is to be requested now."""
        now_ns = monotonic_ns()
        due = self._reading and (self.needs_key or now_ns - self._key_ns > SESSION_LIMITS.key_ns)
        if not due or now_ns - self._asked_ns < SESSION_LIMITS.asked_ns:
            return False
        self._asked_ns = now_ns
        return True

    def end(self) -> None:
        """Tell the reader that nothing follows."""
        self.ended = True
        self._pictures.put(None)

    def _drop(self) -> None:
        while not self._pictures.empty():
            self._pictures.get_nowait()


class RtpPictures:
    """Puts packets together to whole pictures, in the order in which they were sent.

    Args:
        codecs: names of the formats by their payload types.
    """

    def __init__(self, session: PhoneSession, codecs: Mapping[int, str]) -> None:
        self._session, self._codecs = session, codecs
        self.source: int | None = None  # the sender's number of the stream, from its first packet on
        self._waiting: dict[int, tuple[RtpPacket, int]] = {}  # with the times of their arrival
        self._parts: list[tuple[RtpPacket, int]] = []
        self._next: int | None = None  # number of the packet that is put in place next, which grows beyond 16 bits
        self._highest = 0
        self._stamp = 0
        self._requested: dict[int, tuple[int, int]] = {}  # when last, at first when it was missed, and how often
        self._moved_ns = 0

    def add(self, packet: RtpPacket) -> tuple[bool, None]:
        """Take a packet in place of aiortc's jitter buffer: it need not ask for a picture, nor decode one."""
        number = self._highest + _signed(packet.sequence_number - self._highest, 16)
        if self._next is None:
            self._next = self._highest = number
        self.source, self._highest = packet.ssrc, max(self._highest, number)
        now_ns = self._session.heard_ns = monotonic_ns()
        if number == self._next or not self._waiting:
            self._moved_ns = now_ns
        if number >= self._next:
            self._waiting.setdefault(number, (packet, now_ns))
        if number - self._next > SESSION_LIMITS.most_missing:
            self._give_up()
        self._put_in_place()
        return False, None

    def to_request(self) -> list[int]:
        """Return the numbers of missing packets that are to be requested now; for too long, they are given up."""
        now_ns = monotonic_ns()
        if self._next is None or not self._waiting:
            return []
        if now_ns - self._moved_ns > SESSION_LIMITS.missing_ns:
            self._give_up()
            return []
        missing = [number for number in range(self._next, self._highest) if number not in self._waiting]
        requested = {number: self._requested.get(number, (now_ns, 0)) for number in missing}
        wait_ns = SESSION_LIMITS.overtaken_ns, SESSION_LIMITS.again_ns
        due = [one for one, (at_ns, times) in requested.items() if now_ns - at_ns >= wait_ns[times > 0] * max(times, 1)]
        self._requested = requested | {number: (now_ns, requested[number][1] + 1) for number in due}
        return [number & 0xFFFF for number in due]

    def _put_in_place(self) -> None:
        """Deliver the pictures that are whole."""
        assert self._next is not None, "it has begun"
        while (part := self._waiting.pop(self._next, None)) is not None:
            packet, self._next = part[0], self._next + 1
            if not _data(packet):
                continue  # it probes how much the network carries
            if self._parts and packet.timestamp != self._parts[0][0].timestamp:
                self._deliver()
            self._parts.append(part)
            if packet.marker:  # the last of a picture (RFC 6184, 5.1; RFC 7741, 4.1)
                self._deliver()

    def _give_up(self) -> None:
        """Go on with what is there: nothing of it can be used before a key picture, which may be among it."""
        self._session.note_loss()
        self._moved_ns = monotonic_ns()
        while self._waiting and self._session.needs_key:
            self._parts.clear()
            self._next = min(self._waiting)
            self._put_in_place()

    def _deliver(self) -> None:
        first = self._parts[0][0]
        self._stamp += _signed(first.timestamp - self._stamp, 32)
        data = b"".join(_data(packet) for packet, _ in self._parts)
        arrived_ns = min(at_ns for _, at_ns in self._parts)
        self._parts.clear()
        stamp_ns = self._stamp * 1_000_000_000 // _RTP_PER_S
        self._session.deliver(self._codecs[first.payload_type], data, stamp_ns, arrived_ns)


def _data(packet: RtpPacket) -> bytes:
    """Return what aiortc has left there of the payload."""
    data: bytes = packet._data  # type: ignore[attr-defined]
    return data


def _signed(difference: int, bits: int) -> int:
    """Return the difference of two counters that begin anew after so many bits."""
    half = 1 << (bits - 1)
    return (difference + half) % (1 << bits) - half
