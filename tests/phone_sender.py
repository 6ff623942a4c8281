"""A phone for tests: sends pictures by WebRTC as a browser does, by aiortc."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from fractions import Fraction
from typing import Any, Final

import av
import numpy as np
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription, VideoStreamTrack
from phone_film import Film

from downfield.core.arrays import Image

FPS: Final = 30
_CLOCK: Final = 90_000


def moving_pictures(size_px: tuple[int, int]) -> Callable[[int], Image]:
    """Return what makes picture after picture, each another: a light square walks over a dark board."""
    wide, high = size_px

    def picture(number: int) -> Image:
        image = np.full((high, wide, 3), 40, np.uint8)
        x = (8 * number) % (wide - 64)
        image[high // 3 : high // 3 + 64, x : x + 64] = 220
        return image

    return picture


class _Track(VideoStreamTrack):
    """Sends what the phone's camera shows, thirty times a second."""

    def __init__(self, phone: PhoneSender) -> None:
        super().__init__()
        self._phone, self._began_s = phone, 0.0

    async def recv(self) -> av.VideoFrame:
        number = await self._next_number()
        frame = av.VideoFrame.from_ndarray(self._phone.camera(number), format="bgr24")
        frame.pts, frame.time_base = number * _CLOCK // FPS, Fraction(1, _CLOCK)
        return frame

    async def _next_number(self) -> int:
        """Return the number of the next picture, when it is due."""
        loop = asyncio.get_running_loop()
        self._began_s = self._began_s or loop.time()
        await self._phone.running.wait()
        number = round((loop.time() - self._began_s) * FPS) + 1
        due = loop.create_future()  # as a camera, whose pictures come when they are due
        loop.call_at(self._began_s + number / FPS, lambda: None if due.done() else due.set_result(None))
        await due
        return number


class _FilmTrack(_Track):
    """Sends a film that is encoded already, again and again."""

    async def recv(self) -> av.Packet[Any]:  # type: ignore[override]
        film = self._phone.film
        assert film is not None
        number = await self._next_number()
        (packets,) = next(iter(film.variants.values()))
        packet = av.Packet(packets[number % len(packets)])
        packet.pts, packet.time_base = number * _CLOCK // FPS, Fraction(1, _CLOCK)
        return packet


class PhoneSender:
    """A phone that is connected by what an endpoint answers, and sends until it is closed.

    Args:
        film: is sent instead of what the camera shows.

    Attributes:
        camera: returns a picture by its number; may be changed at any time.
    """

    def __init__(
        self, camera: Callable[[int], Image] | None = None, codec: str = "H264", film: Film | None = None
    ) -> None:
        self.camera, self._codec, self.film = camera or moving_pictures((320, 180)), codec, film
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.running = asyncio.Event()
        self.running.set()
        self._connection: RTCPeerConnection | None = None

    def connect(self, answer: Callable[[str], str]) -> None:
        """Make an offer and take the answer; pictures follow."""
        offer = self._run(self._offer())
        self._run(self._take(answer(offer)))

    def pause(self, paused: bool) -> None:
        """Send no pictures for now, as a camera that something else uses."""
        self._loop.call_soon_threadsafe(self.running.clear if paused else self.running.set)

    def close(self) -> None:
        """Leave."""
        self._run(self._leave())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _offer(self) -> str:
        self._connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        transceiver = self._connection.addTransceiver(
            (_Track if self.film is None else _FilmTrack)(self), direction="sendonly"
        )
        formats = RTCRtpSender.getCapabilities("video").codecs
        transceiver.setCodecPreferences([one for one in formats if one.name in {self._codec, "rtx"}])
        await self._connection.setLocalDescription(await self._connection.createOffer())
        return self._connection.localDescription.sdp

    async def _take(self, answer: str) -> None:
        assert self._connection is not None
        await self._connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))

    async def _leave(self) -> None:
        self.running.set()
        if self._connection is not None:
            await self._connection.close()
