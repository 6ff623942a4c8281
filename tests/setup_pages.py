"""What the set-up page's tests do in a browser, and the rig that serves them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect
from waiting import WAIT_S

SOLVED_MS = 120_000  # on a loaded machine; it takes seconds
SHOTS = os.environ.get("SETUP_SCREENSHOTS")


def newcomers_environment(folder: Path) -> dict[str, str]:
    """Return the environment of `downfield run` with an empty data folder.

    The demo, played until there is a table, shows its recorded tracks: finding its figures took a core all the time.
    """
    data = {"DOWNFIELD_DATA": str(folder / "data"), "DOWNFIELD_RECORDING_ON": "false"}
    return {**os.environ, **data, "DOWNFIELD_SOURCE_TRACKS": "true"}


@contextmanager
def newcomers_rig(folder: Path) -> Iterator[str]:
    """Run `downfield run` as a newcomer starts it; its address."""
    command, environment = [sys.executable, "-m", "downfield", "run", "--port", "0"], newcomers_environment(folder)
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = next(line for line in process.stdout if "in a browser" in line)
        link = urlsplit(next(word for word in line.split() if word.startswith("http")))
        yield f"{link.scheme}://{link.netloc}"
    finally:
        process.terminate()
        process.wait(WAIT_S)
        process.stdout and process.stdout.close()


def check_layout(page: Page, name: str) -> None:
    """Nothing may reach beyond the page's right edge on any device, and what is tapped is as large as a finger."""
    for device, size in (("phone", (390, 844)), ("tablet", (820, 1180)), ("desktop", (1440, 900))):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0], (name, device)
        small = page.evaluate(
            "[...document.querySelectorAll('main button, main .button, main select')].filter(b => b.offsetParent)"
            ".filter(b => b.offsetHeight < 43).map(b => b.textContent)"
        )
        assert small == [], (name, device)
        if SHOTS:
            shot = Path(SHOTS) / f"setup-{name}-{device}.png"
            page.screenshot(path=shot, full_page=True, animations="disabled")


def drag_to(page: Page, ring: Locator, share: tuple[float, float]) -> None:
    """Drag a ring with the mouse to a place of the picture, in shares of it."""
    ring.hover()  # waits until it stands still
    page.mouse.down()
    box = page.locator("#live").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + share[0] * box["width"], box["y"] + share[1] * box["height"], steps=4)
    expect(page.locator("#magnifier")).to_be_visible()
    page.mouse.up()
