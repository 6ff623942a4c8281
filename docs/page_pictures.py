"""Take the pictures of ``stream.md`` and of the README from a running ``downfield demo``, and the replay of its tackle.

``python docs/page_pictures.py http://127.0.0.1:8317 docs/pictures [ADDRESS OF downfield score]``

Needs Chromium: named by CHROMIUM, or found in PATH.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from pathlib import Path
from typing import Final
from urllib.parse import quote

import av
import cv2
import httpx
import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from downfield.review.pictures.clips import TimedImage, encode_clip

OVERLAYS: Final = {
    "scorebug": (".bug", ".bug .score"),
    "field": (".map", ".map [data-figure]"),
    "calls": (".banner", ".banner .text"),
}
"""For each overlay the element to take a picture of, and one that is there once it is complete; the slowest is last."""

TIMEOUT_MS: Final = 60_000
"""The bundled recording has its first call within ten seconds and starts again after half a minute."""


UNDER_OVERLAY: Final = """(address) => {
    const picture = Object.assign(document.createElement("img"), { src: address });
    picture.style.cssText = "position: fixed; inset: 0; width: 100%; z-index: -1";
    document.body.prepend(picture);
    return picture.decode();
}"""

STREAM_SIZE_PX: Final = (1280, 720)


def take_stream(browser: Browser, url: str, out: Path) -> None:
    """Take the picture of a stream: the program with the overlays over it, while a call is shown."""
    stream = scene_page(browser, url)
    stream.frame_locator("iframe[title=calls]").locator(".banner .text").first.wait_for(timeout=TIMEOUT_MS)
    save_small(stream, out / "stream.jpg")


def scene_page(browser: Browser, url: str) -> Page:
    """Return a page with the scene overlay over the program."""
    stream = browser.new_page(viewport={"width": 1920, "height": 1080})
    stream.goto(f"{url}/overlay/scene")
    stream.evaluate(UNDER_OVERLAY, f"{url}/program.mjpeg")
    stream.frame_locator("iframe[title=calls]").locator("html[data-link=live]").wait_for(timeout=TIMEOUT_MS)
    return stream


def take_graphics(browser: Browser, url: str, out: Path) -> None:
    """Take what a producer puts on air, and a splash for a call by hand; the game goes on without the call."""
    stream = scene_page(browser, url)
    cards = stream.frame_locator("iframe[title=graphics]")
    third = {"kind": "lower_third", "title": "Ann Lee", "subtitle": "Head coach", "seconds": 6}
    halftime = {"kind": "halftime", "subtitle": "Lakeside Open", "countdown_s": 600, "seconds": 6}
    bug = stream.frame_locator("iframe[title=scorebug]")
    for name, card, element in (("lower-third", third, ".lower_third"), ("halftime", halftime, ".full")):
        bug.locator(".status:not([data-level=live])").wait_for(
            state="attached", timeout=TIMEOUT_MS
        )  # a card goes with a play
        httpx.post(f"{url}/api/graphic", json=card).raise_for_status()
        cards.locator(element).wait_for(timeout=TIMEOUT_MS)
        save_small(stream, out / f"{name}.jpg")
        httpx.delete(f"{url}/api/graphic").raise_for_status()
    made = {"kind": "first_down", "text": "first down", "side": "home"}
    httpx.post(f"{url}/api/calls", json=made).raise_for_status()
    stream.frame_locator("iframe[title=calls]").locator(".splash h1").wait_for(timeout=TIMEOUT_MS)
    save_small(stream, out / "splash.jpg", after_ms=1000)


def save_small(stream: Page, path: Path, after_ms: int = 1500) -> None:
    """Save what a stream shows once it has come to rest."""
    stream.wait_for_timeout(after_ms)
    shown = cv2.imdecode(np.frombuffer(stream.screenshot(), np.uint8), cv2.IMREAD_COLOR)
    assert shown is not None
    small = cv2.resize(shown, STREAM_SIZE_PX, interpolation=cv2.INTER_AREA)
    cv2.imwrite(str(path), small, [cv2.IMWRITE_JPEG_QUALITY, 88])


def take_replay(url: str, out: Path) -> None:
    """Save the replay of the demo's tackle as a GIF, which pages show without a player."""
    game = httpx.get(f"{url}/api/games").raise_for_status().json()[0]["id"]
    calls = httpx.get(f"{url}/api/games/{game}/calls").raise_for_status().json()
    tackle = quote(next(call["id"] for call in calls if call["kind"] == "tackle"), safe="")
    film = httpx.get(f"{url}/api/games/{game}/calls/{tackle}/replay.mp4", timeout=TIMEOUT_MS / 1000).raise_for_status()
    with av.open(io.BytesIO(film.content), "r") as video:
        images: list[TimedImage] = [
            (round(float(frame.time or 0) * 1e9), np.asarray(frame.to_ndarray(format="bgr24", threads=1), np.uint8))
            for frame in video.decode(video=0)
        ]
    (out / "replay.gif").write_bytes(encode_clip(iter(images), "gif"))


def take(browser: Browser, url: str, out: Path) -> None:
    """Take every picture."""
    stream = browser.new_page(viewport={"width": 1920, "height": 1080})
    for name, (element, complete) in OVERLAYS.items():
        stream.goto(f"{url}/overlay/{name}?seconds=60&everyday=hide" if name == "calls" else f"{url}/overlay/{name}")
        stream.locator(f"html[data-link=live] {complete}").first.wait_for(timeout=TIMEOUT_MS)
        stream.wait_for_timeout(1500)
        stream.locator(element).first.screenshot(path=out / f"{name}.png", omit_background=True)
    phone = browser.new_page(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    phone.goto(f"{url}/panel")
    phone.locator(".number").first.wait_for(timeout=TIMEOUT_MS)
    phone.screenshot(path=out / "panel.png")


ROLES: Final = {
    "first-watch": ("/", (390, 844), "#map [data-figure]"),
    "first-set-up": ("/setup", (390, 844), "#address"),
    "first-stream": ("/#stream", (1280, 800), "article h3"),
    "first-producer": ("/producer", (1280, 1000), ".plays li"),
    "first-dock": ("/producer", (300, 900), ".plays li"),
    "first-frames": ("/evidence?game={game}&call={tackle}", (1280, 900), "#comparison figcaption"),
    "first-sheet": ("/ruling?game={game}&call={tackle}", (794, 1000), "#facts dd"),
}
"""What each role sees first: its page, the size of its screen, and what is there once the page is complete."""


def take_roles(browser: Browser, url: str, out: Path) -> None:
    """Take what each role sees first, after the tackle of the recording."""
    game = httpx.get(f"{url}/api/games").raise_for_status().json()[0]["id"]
    calls = httpx.get(f"{url}/api/games/{game}/calls").raise_for_status().json()
    tackle = quote(next(call["id"] for call in calls if call["kind"] == "tackle"), safe="")
    for name, (path, (width, height), complete) in ROLES.items():
        page = browser.new_page(viewport={"width": width, "height": height}, is_mobile=width < 500)
        page.goto(f"{url}{path.format(game=game, tackle=tackle)}", wait_until="domcontentloaded")
        page.locator(complete).first.wait_for(timeout=TIMEOUT_MS)
        page.wait_for_timeout(4000)
        page.screenshot(path=out / f"{name}.jpg", type="jpeg", quality=80)
        page.close()


def take_score(browser: Browser, url: str, out: Path) -> None:
    """Take what somebody sees first who keeps score without a camera."""
    page = browser.new_page(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    page.goto(f"{url}/panel")
    page.get_by_label("How it ended").wait_for(timeout=TIMEOUT_MS)
    page.screenshot(path=out / "first-score.jpg", type="jpeg", quality=80)


def main() -> None:
    """Read the command line and take the pictures."""
    url, out = sys.argv[1].rstrip("/"), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        take(browser, url, out)
        take_stream(browser, url, out)
        take_graphics(browser, url, out)
        take_replay(url, out)
        take_roles(browser, url, out)
        if len(sys.argv) > 3:
            take_score(browser, sys.argv[3].rstrip("/"), out)
        browser.close()


if __name__ == "__main__":
    main()
