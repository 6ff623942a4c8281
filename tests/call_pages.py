"""The frames of a call in a browser, from a real rig that has played the bundled recording."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import av
import httpx
from playwright.sync_api import Page, expect
from waiting import WAIT_S

from downfield.capture.sources.file_sources import bundled_demo
from downfield.rig.configuration.loading import load
from downfield.rig.rig import Rig


@contextmanager
def played_rig(folder: Path, until_s: float | None = None) -> Iterator[str]:
    """The address of a rig that has played the bundled recording, to its end or only its beginning."""
    clip = bundled_demo() if until_s is None else _beginning(folder, until_s)
    given = {"source.name": str(clip), "service.port": 0, "data": str(folder)}
    rig = Rig(load(environment={}, command_line=given), folder, paced=False)
    rig.play()
    try:
        yield rig.address.rstrip("/")
    finally:
        rig.close()


def _beginning(folder: Path, until_s: float) -> Path:
    """Write the bundled recording up to an instant, and what lies beside it."""
    demo, clip = bundled_demo(), folder / bundled_demo().name
    with av.open(str(demo)) as whole, av.open(str(clip), "w") as beginning:
        stream = beginning.add_stream_from_template(whole.streams.video[0])
        for packet in whole.demux(video=0):
            if packet.pts is None or packet.time_base is None or packet.pts * packet.time_base >= until_s:
                break
            packet.stream = stream
            beginning.mux(packet)
    shutil.copy(demo.with_suffix(".calibration.json"), folder)
    for suffix in (".tracks.jsonl", ".events.jsonl"):
        head, *lines = demo.with_suffix(suffix).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["t_ns"] < until_s * 1e9]
        clip.with_suffix(suffix).write_text("".join((head, *kept)), encoding="utf-8")
    return clip


def tackle_of(url: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        call for call in httpx.get(f"{url}/api/calls", timeout=WAIT_S).json() if call["kind"] == "tackle"
    )
    return found


def open_call(page: Page, url: str, call: str) -> int:
    """Open a call's frames; return the frame that is shown first."""
    page.goto(f"{url}/evidence?call={call}")
    expect(page.locator("#position small")).to_contain_text("decisive")
    wait_for_picture(page)
    return int(page.locator("#frame").get_attribute("data-frame") or -1)


def wait_for_picture(page: Page) -> None:
    """Wait until the picture of the named frame is loaded."""
    page.wait_for_function(
        """() => {
            const picture = document.getElementById("frame");
            const named = document.querySelector("#position")?.textContent ?? "";
            return picture.naturalWidth === 1920 && named.startsWith(`Frame ${picture.dataset.frame}`)
                && document.getElementById("picture").ariaBusy === "false";
        }"""
    )


def shown_frame(page: Page) -> int:
    wait_for_picture(page)
    return int(page.locator("#frame").get_attribute("data-frame") or -1)


def scale(page: Page) -> float:
    return float(page.evaluate("new DOMMatrix(getComputedStyle(document.getElementById('frame')).transform).a"))


def settled_scale(page: Page) -> float:
    """Return the scale of a zoomed picture, when it no longer moves."""
    page.wait_for_function(
        "() => new DOMMatrix(getComputedStyle(document.getElementById('frame')).transform).a > 3"
        " && document.getAnimations().every((animation) => animation.playState !== 'running')"
    )
    return scale(page)
