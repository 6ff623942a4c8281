"""Judges a play by a real browser's camera: Chromium opens the phone's page, and its camera is a film of the twin.

Run: PYTHONPATH=tests python benchmarks/phone_browser.py [--clip CLIP.mp4] [--stands SECONDS]

Chromium encodes the film as a phone does and sends it by WebRTC into a whole rig in this process, which is told what a
camera can't see. The calls are compared with those of the film's pictures as a file, by `phone.is_equal`; the times of
both are brought together by the numbers in the pictures' corners. The film is that of `phone.py`: the first bundled
play, or a clip of 1920x1080 with 30 or 60 frames/s. It lies in a temporary folder: 3 MB a picture.
"""

from __future__ import annotations

import argparse
import collections
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from browsers import PHONE, PageServer, chromium
from disturbances import JUDGED, described
from measured_rig import LatencyObserver
from phone import Plays, is_equal, number_of
from phone_rig import OPENING_S, declare, rig_of
from playwright.sync_api import sync_playwright

from downfield.capture.source import CapturedFrame
from downfield.capture.sources.phone_link import PHONE_LINK
from downfield.core.scene import Scene
from downfield.officiating.calls import Call
from downfield.officiating.events import Event

_MARKED: Final = 40
"""Pictures whose numbers are read: more would take the rig's time."""
_AFTER_S: Final = 4.0  # for calls that wait


class _Observer(LatencyObserver):
    """Keeps the calls, and when the film began by the rig's clock and by the monotonic one."""

    def __init__(self, fps: int) -> None:
        super().__init__()
        self._fps = fps
        self.made: list[Call] = []
        self.began_ns: list[int] = []
        self.behind_ns = 0  # from the rig's clock to the monotonic one
        self.unfit: collections.Counter[str] = collections.Counter()  # frames, by reason

    def frame_captured(self, frame: CapturedFrame) -> None:
        """Note when the film began, by the first pictures."""
        super().frame_captured(frame)
        self.behind_ns = frame.captured_ns - frame.t_ns
        if len(self.began_ns) < _MARKED:
            number = number_of(frame.decode().image)
            self.began_ns.append(frame.t_ns - round(number / self._fps * 1e9))

    def entry_judged(self, entry: Scene | Event, calls: tuple[Call, ...]) -> None:
        """Keep the calls."""
        super().entry_judged(entry, calls)
        self.made += calls
        if isinstance(entry, Scene) and self.counting:
            self.unfit.update(entry.unfit)


def write_film(plays: Plays, path: Path) -> None:
    """Write the film as Chromium takes it for a camera: pictures in YUV, with their rate."""
    with path.open("wb") as file:
        for number, image in enumerate(plays.pictures("plain")):
            height, width = image.shape[:2]
            if not number:
                file.write(f"YUV4MPEG2 W{width} H{height} F{plays.fps}:1 Ip A1:1 C420\n".encode())
            file.write(b"FRAME\n" + cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420).tobytes())


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clip", type=Path, help="a clip with its truth files, in place of the first bundled play")
    parser.add_argument("--stands", type=float, default=OPENING_S[0], help="for how long the line-up stands, seconds")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    plays = Plays(options.clip, (options.stands, 0.0), count=1)
    of_file = plays.judge(
        (number, round(number / plays.fps * 1e9), None, image) for number, image in enumerate(plays.pictures("plain"))
    )
    observer = _Observer(plays.fps)
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / "camera.y4m"
        write_film(plays, film)
        _play(plays, Path(folder), film, observer)
    offset_ns = round(statistics.median(observer.began_ns))
    shifted = [replace(call, t_ns=call.t_ns - offset_ns) for call in observer.made if call.verdict == "called"]
    begins_ns = round(plays.begins[0] / plays.fps * 1e9) - plays.taken_ns[0]
    due = [replace(call, t_ns=call.t_ns + begins_ns) for call in of_file]
    equal = [one for one in due if any(is_equal(call, one) for call in shifted)]
    median, high = np.percentile(observer.latencies_ms or [np.nan], (50, 95))
    print(f"the file: {[described(one) for one in due]}\nthe phone: {[described(one) for one in shifted]}")
    print(
        f"left open: {[described(one) for one in observer.made if one.verdict == 'too_close' and one.kind in JUDGED]}"
    )
    print(
        f"{plays.fps} frames/s: {len(equal)} of {len(due)} calls as the file's; {len(observer.latencies_ms)} scenes of"
        f" {observer.captured} pictures, published after {median:.0f} ms (95 %: {high:.0f} ms); unfit:"
        f" {dict(observer.unfit)}"
    )


def _play(plays: Plays, folder: Path, film: Path, observer: _Observer) -> None:
    """Play the film once through a browser and a rig."""
    service = PageServer(folder)  # the phone is connected before the rig opens it
    service.start()
    code = service.token_store.make_code("camera").code
    camera = [f"--use-file-for-fake-video-capture={film}", "--use-fake-device-for-media-stream"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--use-fake-ui-for-media-stream", *camera]
        )
        page = launched.new_context(viewport={"width": PHONE["width"], "height": PHONE["height"]}).new_page()
        page.goto(f"{service.url}/phone#{code}")
        page.get_by_role("button", name="Start the camera").click()
        while PHONE_LINK.session is None:
            page.wait_for_timeout(50)
        rig = rig_of(plays, folder, observer)
        while len(observer.began_ns) < _MARKED or not observer.judged:
            page.wait_for_timeout(50)
        observer.counting = True
        began_ns = round(statistics.median(observer.began_ns)) + observer.behind_ns
        declare(rig, plays, began_ns)
        table = plays.tables[0]
        ends_ns = began_ns + round(plays.begins[0] / plays.fps * 1e9) - plays.taken_ns[0] + round(table.play.to_s * 1e9)
        page.wait_for_timeout(max(0.0, (ends_ns - time.monotonic_ns()) / 1e6) + 1000 * _AFTER_S)
        rig.close()
        launched.close()
    service.stop()


if __name__ == "__main__":
    main()
