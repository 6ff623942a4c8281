"""Stream servers on the loopback interface for tests: motion JPEG over HTTP, and a small RTSP server."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import av
import cv2
import numpy as np
from repeated_headers import RepeatedHeaders
from waiting import let_run

from downfield.core.arrays import Image


def picture(value: int, size_px: tuple[int, int] = (160, 90)) -> Image:
    """Return a picture whose top left quarter has a brightness that survives encoding, and noise elsewhere."""
    image = np.random.default_rng(value).integers(0, 255, (size_px[1], size_px[0], 3)).astype(np.uint8)
    image[: size_px[1] // 2, : size_px[0] // 2] = value % 250
    return image


def jpeg(value: int, size_px: tuple[int, int] = (160, 90)) -> bytes:
    done, data = cv2.imencode(".jpg", picture(value, size_px))
    assert done
    return data.tobytes()


class MjpegServer:
    """Sends pictures to every client, until it is cut.

    Args:
        fps: pictures a second.
        with_length: whether parts have a Content-Length.
        stamp: returns the camera's own time stamp of a picture, in seconds.
        encoded: returns the encoded picture of a number, from 1.
    """

    def __init__(
        self,
        fps: float = 50.0,
        *,
        with_length: bool = True,
        stamp: Callable[[], float] | None = None,
        encoded: Callable[[int], bytes] = jpeg,
    ) -> None:
        self.fps, self.with_length, self.stamp, self.encoded = fps, with_length, stamp, encoded
        self.sent = 0
        self.refuses = threading.Event()
        self.stalls = threading.Event()
        self.freezes = threading.Event()
        self._open: set[socket.socket] = set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.serve(self)

            def log_message(self, *_: object) -> None:
                """Declare nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/video"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        if self.refuses.is_set():
            handler.send_error(503)
            return
        self._open.add(handler.connection)
        handler.send_response(200)
        handler.send_header("Content-Type", "multipart/x-mixed-replace; boundary=--cut")
        handler.end_headers()
        with contextlib.suppress(OSError):
            while not self.refuses.is_set():
                if not self.stalls.is_set():
                    handler.wfile.write(self._part())
                let_run(1 / self.fps)  # as a camera sends

    def _part(self) -> bytes:
        if not self.freezes.is_set():
            self.sent += 1
        data = self.encoded(self.sent)
        head = b"--cut\r\nContent-Type: image/jpeg\r\n"
        if self.with_length:
            head += b"Content-Length: %d\r\n" % len(data)
        if self.stamp is not None:
            head += b"X-Timestamp: %.6f\r\n" % self.stamp()
        return head + b"\r\n" + data + b"\r\n"

    def cut(self) -> None:
        """End every connection, and refuse new ones until `restore`."""
        self.refuses.set()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def restore(self) -> None:
        self.refuses.clear()

    def close(self) -> None:
        self.cut()
        self._http.shutdown()
        self._http.server_close()


class RtspServer:
    """Sends one client at a time an endless H.264 video, RTP interleaved in the RTSP connection (RFC 2326, RFC 6184).

    The RTP packets come from libavformat, through a UDP socket.

    Args:
        fps, size_px: of the video.
        udp: whether RTP goes by UDP, and interleaving is refused.
        key_every: pictures from one key picture to the next.
        joined_at: number of the first picture that is sent.
        lost: numbers of RTP packets that are not sent.
        slices: parts of each picture; with more than one the headers are sent again before each part of a key picture.
    """

    def __init__(
        self,
        fps: int = 25,
        size_px: tuple[int, int] = (160, 96),
        *,
        udp: bool = False,
        key_every: int = 25,
        joined_at: int = 0,
        lost: frozenset[int] = frozenset(),
        slices: int = 1,
    ) -> None:
        self._slices, self._repeated = slices, RepeatedHeaders()
        self._fps, self._size_px = fps, size_px
        self._udp, self._key_every, self._joined_at, self._lost = udp, key_every, joined_at, lost
        self._client_port = 0
        self._sent = 0
        self._caught = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._caught.bind(("127.0.0.1", 0))
        self._listening = socket.socket()
        self._listening.bind(("127.0.0.1", 0))
        self._listening.listen()
        self._ended = threading.Event()
        self._client: socket.socket | None = None
        self.url = f"rtsp://127.0.0.1:{self._listening.getsockname()[1]}/table"
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        self._ended.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._caught.close()
        if self._client is not None:
            with contextlib.suppress(OSError):
                self._client.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._client, _ = self._listening.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), self._client:
                self._converse(self._client)

    def _converse(self, client: socket.socket) -> None:
        lines = client.makefile("rb")
        while request := lines.readline().split():
            headers = {}
            while line := lines.readline().strip():
                name, _, value = line.partition(b":")
                headers[name.lower()] = value.strip()
            method, body, more, status = request[0], b"", b"", b"200 OK"
            if method == b"DESCRIBE":
                body = self._description()
                more = b"Content-Type: application/sdp\r\nContent-Length: %d\r\n" % len(body)
            elif method == b"SETUP" and self._udp:
                wanted = re.search(rb"client_port=(\d+)", headers[b"transport"])
                status = b"200 OK" if wanted else b"461 Unsupported Transport"
                self._client_port = int(wanted.group(1)) if wanted else 0
                more = b"Transport: RTP/AVP;unicast;client_port=%d-%d;server_port=%d-%d\r\nSession: 1\r\n" % (
                    self._client_port,
                    self._client_port + 1,
                    self._caught.getsockname()[1],
                    self._caught.getsockname()[1] + 1,
                )
            elif method == b"SETUP":
                more = b"Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n"
            client.sendall(b"RTSP/1.0 %s\r\nCSeq: %s\r\n%s\r\n%s" % (status, headers[b"cseq"], more, body))
            if method == b"PLAY":
                self._play(client)
                return

    def _description(self) -> bytes:
        return (
            b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=table\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
            b"m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1\r\na=control:track\r\n"
        )

    def _play(self, client: socket.socket) -> None:
        port = self._caught.getsockname()[1]
        with av.open(f"rtp://127.0.0.1:{port}", "w", format="rtp") as out:
            stream = out.add_stream("libx264", rate=self._fps)
            stream.width, stream.height = self._size_px
            stream.pix_fmt = "yuv420p"
            stream.options = {"preset": "ultrafast", "tune": "zerolatency", "g": str(self._key_every)}
            if self._slices > 1:
                stream.options = {**stream.options, "slices": str(self._slices)}
            for index in self._ticks():
                frame = av.VideoFrame.from_ndarray(picture(index, self._size_px), format="bgr24")
                frame.pts = index
                out.mux(stream.encode(frame))
                for packet in self._arrived():
                    self._sent += 1
                    if index < self._joined_at or self._sent in self._lost:
                        continue
                    if self._udp:
                        self._caught.sendto(packet, ("127.0.0.1", self._client_port))
                    else:
                        client.sendall(b"$\0" + len(packet).to_bytes(2, "big") + packet)

    def _ticks(self) -> Iterator[int]:
        index = 0
        while not self._ended.wait(1 / self._fps):
            yield index
            index += 1

    def _arrived(self) -> Iterator[bytes]:
        self._caught.setblocking(False)
        with contextlib.suppress(OSError):
            while True:
                packet = self._caught.recv(65536)
                yield from self._repeated(packet) if self._slices > 1 else [packet]
