"""Receives the camera of a phone: WebRTC of a browser, OBS or another sender of WHIP (RFC 9725), still encoded.

There is one sender at a time, in a thread that goes on while the rig opens another table: what the phone sends is read
by `phone.PhoneCamera`, whenever a table is open.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib.util
import re
import threading
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from downfield.capture.problems import ActiveProblems
from downfield.capture.sources.phone_session import PhoneSession, RtpPictures
from downfield.core.errors import InputError, MissingExtraError, RefusedError
from downfield.core.platform.clock import monotonic_ns
from downfield.core.threads import only_logged, supervised_thread
from downfield.game.published.board_topics import HealthReason
from downfield.store.database.reader import DeviceRow

if TYPE_CHECKING:
    from aiortc import MediaStreamTrack, RTCPeerConnection, RTCRtpReceiver
    from aiortc.rate import RemoteBitrateEstimator


@dataclass(frozen=True, slots=True)
class PhoneLinkLimits:
    """Times of receiving a phone."""

    answer_s: float = 10.0  # Longest time to answer an offer: addresses of all networks are gathered
    look_s: float = 0.02  # Time between two looks whether packets are missing, or a key picture is due
    asking_ns: int = 10_000_000_000  # A second phone asks every two seconds; after this time it has given up
    frozen_ns: int = 1_500_000_000  # Sensor noise alone makes every picture new; longer without one it is frozen
    least_bits: int = 1_500_000  # least_bits, most_bits: range of the limit that the sender is told, bits a second
    most_bits: int = 12_000_000
    low_battery: float = 0.2  # Charge below which the phone is to be put on its charger


LINK_LIMITS: Final = PhoneLinkLimits()

_FORMATS: Final = re.compile(r"a=rtpmap:(\d+) (\w+)/")
_LEVEL: Final = re.compile(r"(profile-level-id=[0-9a-fA-F]{4})[0-9a-fA-F]{2}")
_BEGIN: Final = "x-google-start-bitrate=4000"  # kbit/s; browsers made of libwebrtc read it
_HIGHEST_LEVEL: Final = r"\g<1>34"
"""Level 5.2: with aiortc's own 3.1 a sender that keeps to it would send no more than 720p30 (RFC 6184, 8.2.2)."""


@dataclass(frozen=True, slots=True)
class PhoneState:
    """What the phone's page says of the phone."""

    hidden: bool = False  # whether another page is shown, or the phone is locked
    taken: bool = False  # whether something else uses its camera
    turned: bool = False  # whether it was turned since it began to send
    battery: float | None = None  # from 0 to 1; None where the browser does not tell
    charging: bool = False
    limited: str = ""  # ``"cpu"`` or ``"bandwidth"``, which keeps it from sending all it could; empty for nothing

    def checks(self) -> Iterator[tuple[bool, HealthReason]]:
        """Yield what may be wrong with the phone, and what to do about it, each with whether it is."""
        battery = 1.0 if self.battery is None or self.charging else self.battery
        for holds, code, text, remedy in (
            (self.hidden, "phone_hidden", "The phone is locked, or shows something else", _OPEN_AGAIN),
            (self.taken, "phone_taken", "Something else uses the phone's camera, such as a call", _OPEN_AGAIN),
            (self.turned, "phone_turned", "The phone was turned", "Turn it back as it was, or calibrate again"),
            (
                battery < LINK_LIMITS.low_battery,
                "phone_battery",
                f"The phone's battery is at {battery:.0%}",
                "Put the phone on its charger",
            ),
            (
                self.limited == "cpu",
                "phone_slow",
                "The phone is too hot or too slow to send all of its pictures",
                "Take it out of its case and away from the lamps, and close other apps",
            ),
            (
                self.limited == "bandwidth",
                "phone_network",
                "The network is too slow for the phone's pictures",
                "Bring the phone nearer to the access point, or use its 5 GHz network",
            ),
        ):
            yield holds, HealthReason(code=code, level="warning", text=text, remedy=remedy)

    def problems(self) -> tuple[HealthReason, ...]:
        """Return what is wrong with the phone, and what to do about it."""
        return tuple(problem for holds, problem in self.checks() if holds)


_NO_VIDEO: Final = "The offer has no video in H.264 or VP8. Choose a camera and one of them in the program."
_ANSWER: Final = "The admin answers it on the panel, or on the page 'Set up a table'"
_OPEN_AGAIN: Final = "Open Downfield's camera page on the phone again; the game goes on by itself"
_FROZEN: Final = HealthReason(
    code="phone_frozen",
    level="alarm",
    text=f"The picture has been frozen for {LINK_LIMITS.frozen_ns / 1e9:g} s",
    remedy="See that the phone's camera, or the source of the program that sends, moves; open it again if not",
)


class PhoneLink:
    """The phone that is the camera, and the one that asks to be. Callable from any thread."""

    def __init__(self) -> None:
        self.device: DeviceRow | None = None  # the phone as it was paired, for the store of the table opened next
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._session: PhoneSession | None = None
        self._connection: RTCPeerConnection | None = None
        self._problems: ActiveProblems | None = None
        self.state = PhoneState()  # what its page said last
        self._asking: tuple[str, str] | None = None
        self._asked_ns = 0
        self._frozen = False

    @property
    def session(self) -> PhoneSession | None:
        """The connection of the phone that sends; None while none does."""
        session = self._session
        return None if session is None or session.ended else session

    @property
    def asking(self) -> tuple[str, str] | None:
        """The device and the name of another phone that wants to be the camera; None for none."""
        is_over = monotonic_ns() - self._asked_ns > LINK_LIMITS.asking_ns
        return None if is_over else self._asking

    def follow(self, problems: ActiveProblems | None) -> None:
        """Report what is wrong with the phone to the rig in play; None once it is closed."""
        self._problems = problems
        self.report()

    def note_state(self, state: PhoneState) -> None:
        """Take what the phone's page says of the phone."""
        self.state = state
        self.report()

    def note_frozen(self, frozen: bool) -> None:
        """Note whether the pictures that are read show nothing new any more."""
        if frozen != self._frozen:
            self._frozen = frozen
            self.report()

    def report(self) -> None:
        """Report what is wrong with the phone now, and that another one asks while it does."""
        if self._problems is None:
            return
        is_told, asking = self.session is not None or self.state.hidden, self.asking
        text = f"Another phone, '{asking[1] if asking else ''}', wants to be the camera"
        asks = HealthReason(code="phone_asks", level="warning", text=text, remedy=_ANSWER)
        checks = [(is_told and holds, problem) for holds, problem in self.state.checks()]
        for holds, problem in (*checks, (asking is not None, asks), (self._frozen, _FROZEN)):
            if holds:
                self._problems.report(problem)
            else:
                self._problems.resolve(problem.code)

    def ask(self, device: str, name: str) -> None:
        """Note that another phone wants to be the camera."""
        self._asked_ns, self._asking = monotonic_ns(), (device, name)
        self.report()

    def accept(self, offer: str, sender: str, name: str) -> tuple[PhoneSession, str]:
        """Connect a phone by its offer; return its connection and the answer, both SDP. An earlier one ends.

        Raises:
            MissingExtraError: what receives it is not installed.
            InputError: the offer is no SDP.
            RefusedError: it offers no video that can be received.
        """
        require_receiver()
        if not offer.startswith("v=0"):
            raise InputError("This is no SDP offer. A sender of WHIP (RFC 9725) sends one, as application/sdp.")
        accepted: tuple[PhoneSession, str] = self._run(self._accept(offer, PhoneSession(sender, name)))
        return accepted

    def end(self, sender: str, session: str = "") -> bool:
        """End the connection of a device, or one of its; return whether there was one."""
        ended = self._session
        if not session:  # it is removed
            self._forget(sender)
        if ended is None or ended.ended or ended.sender != sender or session not in {"", ended.id}:
            return False
        ended.end()
        self._run(self._close())
        return True

    def _forget(self, sender: str) -> None:
        """Forget what a device asked for and said: it is removed, or connects anew."""
        if self._asking is not None and self._asking[0] == sender:
            self._asking = None
        if self._session is not None and self._session.sender == sender:
            self.state = PhoneState()
        self.report()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                supervised_thread(self._loop.run_forever, "phone link", only_logged, restarts=True).start()
                atexit.register(self.close)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(LINK_LIMITS.answer_s)

    def close(self) -> None:
        """End the connection and all that waits for it, as the program ends."""
        if self._session is not None:
            self._session.end()
        with suppress(TimeoutError):
            self._run(self._end_tasks())

    async def _end_tasks(self) -> None:
        await self._close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _accept(self, offer: str, session: PhoneSession) -> tuple[PhoneSession, str]:
        from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
        from aiortc.exceptions import OperationError

        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))  # a table needs no server of the internet
        transceiver = connection.addTransceiver("video", direction="recvonly")
        known = RTCRtpReceiver.getCapabilities("video")
        # H.264 can be recorded as it comes, and phones encode it in hardware.
        formats = [] if known is None else sorted(known.codecs, key=lambda one: ("H264", "VP8", "rtx").index(one.name))
        transceiver.setCodecPreferences(formats)
        try:
            await connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
            for other in connection.getTransceivers():
                if other is not transceiver:
                    other.direction = "inactive"  # sound, of which the rig needs none
            await connection.setLocalDescription(await connection.createAnswer())
        except Exception as error:  # what a library makes of text that only begins like SDP
            await connection.close()
            if "m=video" not in offer or isinstance(error, OperationError):
                raise RefusedError(_NO_VIDEO) from None
            raise InputError(f"The SDP offer can't be read ({type(error).__name__}).") from None
        if "m=video" not in offer:
            await connection.close()
            raise RefusedError(_NO_VIDEO)
        if self._session is not None:
            self._session.end()
        await self._close()
        self._session, self._connection = session, connection
        self._forget(session.sender)

        @connection.on("connectionstatechange")
        def ended() -> None:
            if connection.connectionState in {"failed", "closed"}:
                session.end()

        answer = connection.localDescription.sdp
        formats_by_type = {int(number): name.lower() for number, name in _FORMATS.findall(answer)}
        pictures = RtpPictures(session, formats_by_type)
        receiver = transceiver.receiver
        # No public way leads to what was sent before it is decoded. Missing packets are requested by `_request` alone.
        receiver.__dict__["_RTCRtpReceiver__jitter_buffer"] = pictures
        receiver.__dict__["_RTCRtpReceiver__nack_generator"] = None
        receiver.__dict__["_RTCRtpReceiver__remote_bitrate_estimator"] = _limit_estimator()
        for task in (_end_with(receiver.track, session), _request(receiver, session, pictures)):
            asyncio.ensure_future(task)  # noqa: RUF006  ends with its session
        return session, _begun_fast(_LEVEL.sub(_HIGHEST_LEVEL, answer))


def _begun_fast(answer: str) -> str:
    """Return an answer after which a browser begins with many bits a second.

    It would begin with 300 kbit/s, at which the first key picture takes more than a second.
    """
    formats = {number for number, name in _FORMATS.findall(answer) if name in {"H264", "VP8"}}
    lines = []
    for line in answer.splitlines():
        kind, _, rest = line.partition(":")
        number = rest.partition(" ")[0]
        if kind == "a=fmtp" and number in formats:
            formats.remove(number)
            line += f";{_BEGIN}"
        lines.append(line)
    for number in formats:  # which has no parameters yet
        after = next(row for row, line in enumerate(lines) if line.startswith(f"a=rtpmap:{number} "))
        lines.insert(after + 1, f"a=fmtp:{number} {_BEGIN}")
    return "".join(f"{line}\r\n" for line in lines)


def _limit_estimator() -> RemoteBitrateEstimator:
    """Return an estimator that limits the sender only where packets pile up in the network.

    aiortc's own takes what comes for what the network can carry. A camera over a table at rest sends little, and would
    then have a second or more for the next key picture.
    """
    from aiortc.rate import BandwidthUsage, RemoteBitrateEstimator

    class LimitEstimator(RemoteBitrateEstimator):
        def add(
            self, arrival_time_ms: int, abs_send_time: int, payload_size: int, ssrc: int
        ) -> tuple[int, list[int]] | None:
            told = super().add(arrival_time_ms, abs_send_time, payload_size, ssrc)
            if told is None:
                return None
            overused = self.detector.state() == BandwidthUsage.OVERUSING
            return max(told[0], LINK_LIMITS.least_bits) if overused else LINK_LIMITS.most_bits, told[1]

    return LimitEstimator()


async def _end_with(track: MediaStreamTrack, session: PhoneSession) -> None:
    """End a session with its track: since aiortc gets no picture to decode, its end is all that comes."""
    from aiortc.mediastreams import MediaStreamError

    with suppress(MediaStreamError):
        await track.recv()
    session.end()


async def _request(receiver: RTCRtpReceiver, session: PhoneSession, pictures: RtpPictures) -> None:
    """Request missing packets and key pictures while a session lasts."""
    while not session.ended:
        await asyncio.sleep(LINK_LIMITS.look_s)
        if (source := pictures.source) is None:
            continue
        if missing := pictures.to_request():
            await receiver._send_rtcp_nack(source, missing)
        if session.is_key_due():
            await receiver._send_rtcp_pli(source)


def require_receiver() -> None:
    """Check that a phone can be received. Raises MissingExtraError: aiortc is not installed."""
    if importlib.util.find_spec("aiortc") is None:
        raise MissingExtraError("phone", "a phone as the camera")


PHONE_LINK: Final = PhoneLink()
"""The link of this process: a rig is opened anew for another table, and the phone goes on sending."""
