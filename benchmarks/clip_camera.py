"""A camera in a process of its own: sends the bundled clip, forward and backward, as motion JPEG with capture stamps.

python benchmarks/clip_camera.py [--fps 60] [--pictures 240]

Prints its port, and then sends to whoever opens an address of it. The clip has 30 frames/s, so that at 60 its figures
run twice as fast.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import av
import cv2
from processor_time import killed_at_the_end

from downfield.capture.sources.file_sources import bundled_demo

PICTURES = 240
_QUALITY = 85


@contextlib.contextmanager
def started_camera(fps: float, pictures: int = PICTURES) -> Iterator[int]:
    """Start this program in another process, killed at the end; its port."""
    command = [sys.executable, __file__, "--fps", str(fps), "--pictures", str(pictures)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with killed_at_the_end(process), process.stdout as output:
        yield int(output.readline())


def jpegs(pictures: int = PICTURES) -> Iterator[bytes]:
    """Yield the clip's first pictures, packed."""
    with av.open(str(bundled_demo())) as container:
        for frame in itertools.islice(container.decode(video=0), pictures):
            image = frame.to_ndarray(format="bgr24", threads=1)
            _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
            yield packed.tobytes()


class FakeCamera(ThreadingHTTPServer):
    """Sends pictures at an even rate; ``/cut?SECONDS`` ends every stream and refuses new ones for so long."""

    daemon_threads = True

    def __init__(self, fps: float, pictures: int = PICTURES) -> None:
        self.fps = fps
        forward = list(jpegs(pictures))
        self.jpegs = forward + forward[-2:0:-1]  # and backward: after a jump, all figures would be searched again
        self.cut_until = 0.0
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: FakeCamera

    def do_GET(self) -> None:
        if self.path.startswith("/cut"):
            self.server.cut_until = time.monotonic() + float(self.path.partition("?")[2])
            self.send_response(204)
            self.end_headers()
        elif time.monotonic() < self.server.cut_until:
            self.send_error(503)
        else:
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=cut")
            self.end_headers()
            with contextlib.suppress(OSError):
                self._send()

    def _send(self) -> None:
        began = time.monotonic()
        for count, jpeg in enumerate(itertools.cycle(self.server.jpegs)):
            time.sleep(max(0.0, began + count / self.server.fps - time.monotonic()))
            now = time.monotonic()
            if now < self.server.cut_until:
                return
            head = f"--cut\r\nContent-Length: {len(jpeg)}\r\nX-Timestamp: {now:.6f}\r\n\r\n"
            self.wfile.write(head.encode() + jpeg + b"\r\n")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def main() -> None:
    """Be the camera until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fps", type=float, default=60)
    parser.add_argument("--pictures", type=int, default=PICTURES, help="how many of the clip, at most")
    options = parser.parse_args()
    camera = FakeCamera(options.fps, options.pictures)
    print(camera.server_address[1], flush=True)
    camera.serve_forever()


if __name__ == "__main__":
    main()
