"""A sender of WHIP for tests and benchmarks that encodes nothing while it sends, and a network that is as bad as told.

A film is encoded once, at several rates, each in four ways whose key pictures lie a quarter of a second apart: so a
request for one is answered as soon as a phone's encoder would, and a narrow network by a lower rate.

Run: python benchmarks/phone_film.py FILM.pickle NETWORK_JSON     (a line of JSON for each offer, answer and event)
"""

from __future__ import annotations

import asyncio
import json
import pickle
import random
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

import aiortc.rtcrtpsender
import av
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription
from aiortc.rtp import RTCP_PSFB_APP, RTCP_PSFB_PLI, RTCP_RTPFB_NACK, RtcpPsfbPacket, RtcpRtpfbPacket, unpack_remb_fci
from av.video.codeccontext import VideoCodecContext

from downfield.core.arrays import Image

PHASES: Final = 4
_CLOCK: Final = 90_000
_KEPT_PACKETS: Final = 2048  # A browser keeps a second or more of them; aiortc keeps 128
_CANDIDATE: Final = re.compile(r"^a=candidate:.*$", re.MULTILINE)


@dataclass(frozen=True)
class Network:
    """What a network does to packets, both ways; and what the sender does meanwhile.

    Attributes:
        loss: share of the packets that are lost.
        jitter_s: longest delay of a packet, drawn for each, so that they overtake each other.
        mbit_per_s: what it carries toward the rig; what does not fit into a quarter of a second's queue is lost.
        gaps_s: from when to when, of the film's time, nothing comes through.
        away_s: from when to when the sender has left.
        adapts: whether the sender takes a lower rate when the rig says how much comes through.
    """

    loss: float = 0.0
    jitter_s: float = 0.0
    mbit_per_s: float = float("inf")
    gaps_s: tuple[tuple[float, float], ...] = ()
    away_s: tuple[float, float] | None = None
    adapts: bool = False


@dataclass
class Film:
    """An encoded film.

    Attributes:
        variants: packets of all pictures by rate in Mbit/s, then phase.
        keys: whether each is a key picture, by phase.
    """

    fps: int
    variants: dict[float, list[list[bytes]]] = field(default_factory=dict)
    keys: list[list[bool]] = field(default_factory=list)


def encode(
    pictures: Callable[[], Iterable[Image]], fps: int, rates: Sequence[float] = (8.0,), phases: int = PHASES
) -> Film:
    """Return pictures encoded as a phone does: H.264 baseline without latency, a key picture each second.

    Pictures may change their size; the stream does so, too.
    """
    film = Film(fps)
    for rate in rates:
        codecs: list[VideoCodecContext | None] = [None] * phases
        made: list[list[bytes]] = [[] for _ in range(phases)]
        keys: list[list[bool]] = [[] for _ in range(phases)]
        for number, image in enumerate(pictures()):
            for phase in range(phases):
                codec = codecs[phase]
                size = (image.shape[1], image.shape[0])
                if codec is None or (codec.width, codec.height) != size:
                    codec = codecs[phase] = _encoder(size, fps, rate)
                frame = av.VideoFrame.from_ndarray(image, format="bgr24").reformat(format="yuv420p")
                frame.pts = number
                is_key = (number + phase * fps // phases) % fps == 0
                frame.pict_type = av.video.frame.PictureType.I if is_key else av.video.frame.PictureType.NONE
                (packet,) = codec.encode(frame)
                made[phase].append(bytes(packet))
                keys[phase].append(packet.is_keyframe)
        film.variants[rate], film.keys = made, keys
    return film


def _encoder(size: tuple[int, int], fps: int, rate: float) -> VideoCodecContext:
    codec = av.CodecContext.create("libx264", "w")
    assert isinstance(codec, VideoCodecContext)
    codec.width, codec.height = size
    codec.pix_fmt, codec.time_base, codec.framerate = "yuv420p", Fraction(1, fps), Fraction(fps)
    codec.bit_rate, codec.profile, codec.gop_size = round(rate * 1e6), "Baseline", 10 * fps
    codec.thread_count = 1
    kbit = round(1000 * rate)
    codec.options = {
        "preset": "ultrafast",
        "tune": "zerolatency",
        "x264-params": f"vbv-maxrate={kbit}:vbv-bufsize={kbit // 2}:scenecut=0:forced-idr=1",
    }
    return codec


class FilmTrack(MediaStreamTrack):
    """Gives aiortc's sender the packets of a film when they are due; it answers requests for key pictures.

    Attributes:
        counts: pictures sent, requests for key pictures, packets requested again.
    """

    kind = "video"

    def __init__(self, film: Film, began_s: float, *, adapts: bool, ended: asyncio.Event) -> None:
        super().__init__()
        self._film, self._began_s, self._adapts, self._ended = film, began_s, adapts, ended
        self._rate, self._phase = (min if adapts else max)(film.variants), 0  # as browsers begin
        self._number = max(0, round((time.monotonic() - began_s) * film.fps))
        self._wants_key = True
        self.counts = dict.fromkeys(("sent", "key pictures requested", "packets requested again"), 0)

    async def recv(self) -> av.Packet[Any]:
        """Return the next picture's packet, when it is due; at a key picture another variant may go on."""
        film, number = self._film, self._number
        if number >= len(film.keys[0]):
            self._ended.set()
            await asyncio.Event().wait()
        await asyncio.sleep(self._began_s + number / film.fps - time.monotonic())
        if self._wants_key:
            phase = next((one for one, keys in enumerate(film.keys) if keys[number]), None)
            if phase is not None:
                self._phase, self._wants_key = phase, False
        packet = av.Packet(film.variants[self._rate][self._phase][number])
        packet.pts, packet.time_base = number * _CLOCK // film.fps, Fraction(1, _CLOCK)
        self._number += 1
        self.counts["sent"] += 1
        return packet

    def follow(self, sender: RTCRtpSender) -> None:
        """Count what the rig requests, and answer it; aiortc's sender asks its own encoder alone for key pictures."""
        take = sender._handle_rtcp_packet

        async def handle(packet: Any) -> None:
            if isinstance(packet, RtcpRtpfbPacket) and packet.fmt == RTCP_RTPFB_NACK:
                self.counts["packets requested again"] += len(packet.lost)
            elif isinstance(packet, RtcpPsfbPacket) and packet.fmt == RTCP_PSFB_PLI:
                self.counts["key pictures requested"] += 1
                self._wants_key = True
            elif isinstance(packet, RtcpPsfbPacket) and packet.fmt == RTCP_PSFB_APP and self._adapts:
                carried = 0.85 * unpack_remb_fci(packet.fci)[0] / 1e6
                fits = [rate for rate in self._film.variants if rate <= carried] or [min(self._film.variants)]
                if max(fits) != self._rate:
                    self._rate, self._wants_key = max(fits), True
            await take(packet)

        sender.__dict__["_handle_rtcp_packet"] = handle


class Relay(asyncio.DatagramProtocol):
    """One end of a relay: passes packets to where the other end's peer is, as its network lets it."""

    def __init__(self, network: Network, began_s: float, rng: random.Random, mbit_per_s: float = float("inf")) -> None:
        self._network, self._began_s, self._rng = network, began_s, rng
        self._byte_s = 8e-6 / mbit_per_s
        self._free_s = 0.0
        self.peer: tuple[str, int] | None = None
        self.other: Relay | None = None
        self.transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: Any) -> None:
        """Keep the transport."""
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        """Pass a packet on, late or not at all."""
        self.peer = addr
        network, now_s = self._network, time.monotonic()
        film_s = now_s - self._began_s
        if any(begins <= film_s < ends for begins, ends in network.gaps_s) or self._rng.random() < network.loss:
            return
        self._free_s = max(self._free_s, now_s) + len(data) * self._byte_s
        if self._free_s - now_s > 0.25 and self._byte_s:
            self._free_s -= len(data) * self._byte_s
            return
        delay_s = self._free_s - now_s + 0.002 + self._rng.random() * network.jitter_s
        asyncio.get_running_loop().call_later(delay_s, self._pass, data)

    def _pass(self, data: bytes) -> None:
        other = self.other
        if other is not None and other.transport is not None and other.peer is not None:
            other.transport.sendto(data, other.peer)


async def relayed(network: Network, began_s: float, address: str) -> tuple[Relay, Relay, int, int]:
    """Return the end toward the rig, that toward the sender, and their ports."""
    loop, ends, ports = asyncio.get_running_loop(), list[Relay](), list[int]()
    for seed, carried in enumerate((float("inf"), network.mbit_per_s)):
        ends.append(Relay(network, began_s, random.Random(seed), carried))
        transport, _ = await loop.create_datagram_endpoint(partial(ends.__getitem__, seed), local_addr=(address, 0))
        ports.append(transport.get_extra_info("sockname")[1])
    ends[0].other, ends[1].other = ends[1], ends[0]
    return ends[0], ends[1], ports[0], ports[1]


def with_candidate(sdp: str, address: str, port: int) -> str:
    """Return SDP whose only candidate is an address of the relay."""
    kept = [line for line in sdp.splitlines() if not line.startswith("a=candidate")]
    place = max(index for index, line in enumerate(kept) if line.startswith("a=ice-ufrag"))
    kept.insert(place, f"a=candidate:1 1 udp 2130706431 {address} {port} typ host")
    return "\r\n".join(kept) + "\r\n"


def first_candidate(sdp: str) -> tuple[str, int]:
    """Return the address of the first IPv4 host candidate over UDP."""
    for line in _CANDIDATE.findall(sdp):
        words = line.split()
        if words[2].lower() == "udp" and ":" not in words[4]:
            return words[4], int(words[5])
    raise ValueError("no candidate")


async def send(film: Film, network: Network) -> None:
    """Send a film once through a network: offers, answers and what was sent are lines of JSON."""
    loop = asyncio.get_running_loop()
    vars(aiortc.rtcrtpsender)["RTP_HISTORY_SIZE"] = _KEPT_PACKETS
    began_s: float | None = None
    away = list(network.away_s or ())
    counts: dict[str, int] = {}
    while True:
        ended = asyncio.Event()
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        waiting = _Later()
        transceiver = connection.addTransceiver(waiting, direction="sendonly")
        formats = RTCRtpSender.getCapabilities("video").codecs
        transceiver.setCodecPreferences([one for one in formats if one.name in {"H264", "rtx"}])
        await connection.setLocalDescription(await connection.createOffer())
        offer = connection.localDescription.sdp
        address, _ = first_candidate(offer)
        began = time.monotonic() + 1.5 if began_s is None else began_s
        to_rig, _, rig_port, sender_port = await relayed(network, began, address)
        print(json.dumps({"offer": with_candidate(offer, address, rig_port)}), flush=True)
        answer = json.loads(await loop.run_in_executor(None, sys.stdin.readline))["answer"]
        to_rig.peer = first_candidate(answer)
        if began_s is None:
            began_s = began
            print(json.dumps({"began_ns": round(began * 1e9)}), flush=True)
        track = FilmTrack(film, began, adapts=network.adapts, ended=ended)
        waiting.track = track
        track.follow(transceiver.sender)
        await connection.setRemoteDescription(
            RTCSessionDescription(with_candidate(answer, address, sender_port), "answer")
        )
        until = away[0] + began if away else None
        timeout = None if until is None else max(0.0, until - time.monotonic())
        done, _ = await asyncio.wait({asyncio.ensure_future(ended.wait())}, timeout=timeout)
        for name, count in track.counts.items():
            counts[name] = counts.get(name, 0) + count
        if done:
            await asyncio.sleep(0.5)
            print(json.dumps({"counts": counts}), flush=True)
            await loop.run_in_executor(None, sys.stdin.readline)  # until the rig has taken all that came
        await connection.close()
        if done:
            break
        await asyncio.sleep(away[1] + began - time.monotonic())
        away = []


class _Later(MediaStreamTrack):
    """The track of an offer, whose pictures come from a `FilmTrack` once it is answered."""

    kind = "video"
    track: FilmTrack | None = None

    async def recv(self) -> av.Packet[Any]:
        """Return its next packet."""
        assert self.track is not None, "nothing is sent before the answer"
        return await self.track.recv()


def arguments(film: Path, network: Network) -> list[str]:
    """Return the command line that sends a film."""
    return [sys.executable, __file__, str(film), json.dumps(asdict(network))]


def main() -> None:
    """Send the film of the command line."""
    film: Film = pickle.loads(Path(sys.argv[1]).read_bytes())
    given = json.loads(sys.argv[2])
    given["gaps_s"] = tuple(tuple(one) for one in given["gaps_s"])
    asyncio.run(send(film, Network(**given)))


if __name__ == "__main__":
    sys.modules["phone_film"] = sys.modules["__main__"]  # of which a pickled film is
    main()
