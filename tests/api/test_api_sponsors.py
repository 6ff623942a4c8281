"""Sponsors' logos in a corner of the stream: chosen by the producer, shown in turn, never over score bug or calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from overlay_pages import a_call, link
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from downfield.broadcast.logos import LogoFolder
from downfield.broadcast.on_air import OnAir
from downfield.core.errors import InputError, OutputError
from downfield.game.published.game_topics import CallsUpdate
from downfield.game.published.hub import Hub
from downfield.game.published.stream_topics import SponsorsView


def picture(red: int) -> bytes:
    """A logo as a file; the same shade of red is the same logo."""
    return cv2.imencode(".png", np.full((40, 120, 3), (20, 20, red), np.uint8))[1].tobytes()


def kept_in(folder: Path) -> tuple[OnAir, LogoFolder, Hub]:
    logos, hub = LogoFolder(folder / "logos"), Hub()
    return OnAir(folder, logos, hub), logos, hub


def test_sponsors_are_kept_over_a_restart_and_published(tmp_path: Path) -> None:
    sponsors, logos, hub = kept_in(tmp_path)
    assert (sponsors.sponsors, hub.value("sponsors")) == (SponsorsView(shown=False), None)
    wanted = SponsorsView(logos=(logos.keep(picture(200)), logos.keep(picture(90))), seconds=4)
    assert (
        sponsors.use_sponsors(wanted)
        == hub.value("sponsors")
        == SponsorsView(shown=True, logos=wanted.logos, seconds=4)
    )
    again, _, other = kept_in(tmp_path)
    assert again.sponsors == other.value("sponsors") == sponsors.sponsors


def test_a_logo_that_was_never_uploaded_is_refused_and_the_sponsors_stay(tmp_path: Path) -> None:
    sponsors, logos, hub = kept_in(tmp_path)
    before = sponsors.use_sponsors(SponsorsView(logos=(logos.keep(picture(200)),)))
    with pytest.raises(InputError, match="Upload it first"):
        sponsors.use_sponsors(SponsorsView(logos=("0" * 32,)))
    (tmp_path / "sponsors.json").unlink()
    (tmp_path / "sponsors.json").mkdir()
    with pytest.raises(OutputError, match="can't be kept"):
        sponsors.use_sponsors(SponsorsView())
    assert sponsors.sponsors == hub.value("sponsors") == before


@pytest.mark.parametrize("damaged", [b"", b"{", b'{"logos": ["../x"]}', b'{"seconds": 0}', b"\xff\xfe"])
def test_a_damaged_file_shows_no_sponsors_and_stops_nothing(
    tmp_path: Path, damaged: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "sponsors.json").write_bytes(damaged)
    sponsors, _, hub = kept_in(tmp_path)
    assert (sponsors.sponsors.shown, hub.value("sponsors")) == (False, None)
    assert "Choose the sponsors anew" in caplog.text


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def page(chrome: Browser) -> Iterator[Page]:
    with page_in(chrome) as opened:
        yield opened


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    running = PageServer(tmp_path_factory.mktemp("service"))
    running.start()
    yield running
    running.stop()


def names(service: PageServer, page: Page, *reds: int) -> tuple[str, ...]:
    """Upload logos and return their names."""
    sent = (page.request.post(f"{service.url}/api/logos", data=picture(red)) for red in reds)
    return tuple(answer.json()["logo"] for answer in sent)


def box(element: Locator) -> FloatRect:
    found = element.bounding_box()
    assert found is not None
    return found


def test_logos_are_shown_one_at_a_time_in_turn(service: PageServer, page: Page) -> None:
    first, second = names(service, page, 210, 70)
    page.clock.install()
    page.goto(f"{service.url}/overlay/sponsors?theme=light")
    link(page, "live")
    on = page.locator(".sponsors .logo.on")
    gone = "9" * 32  # deleted from the folder since
    service.publish("sponsors", SponsorsView(shown=True, logos=(first, gone, second), seconds=60))
    expect(page.locator(".sponsors .logo")).to_have_count(2)
    expect(on).to_have_attribute("src", f"{service.url}/logos/{first}.png")
    page.clock.run_for(60_500)
    expect(on).to_have_attribute("src", f"{service.url}/logos/{second}.png")
    page.clock.run_for(60_000)
    expect(on).to_have_attribute("src", f"{service.url}/logos/{first}.png")
    service.publish("sponsors", shown=False)
    expect(page.locator(".sponsors")).to_be_hidden()


@pytest.mark.parametrize("corner", ["top-left", "top-right"])
@pytest.mark.parametrize("scale", [0.5, 1, 1.2, 2])
def test_sponsors_stay_in_the_safe_area_and_off_bug_and_calls(
    service: PageServer, page: Page, corner: str, scale: float
) -> None:
    service.publish("sponsors", SponsorsView(shown=True, logos=names(service, page, 150), seconds=5))
    service.publish("calls", CallsUpdate(calls=()))
    page.goto(f"{service.url}/overlay/scene?sponsors={corner}&scale={scale}&cards=hide&replay=hide")
    parts = {name: page.frame_locator(f"iframe[title={name}]") for name in ("sponsors", "scorebug", "calls")}
    for part in parts.values():
        expect(part.locator("html")).to_have_attribute("data-link", "live")
    service.publish("calls", CallsUpdate(calls=(a_call(id=f"tackle:{corner}-{scale}"),)))
    banner, slot = parts["calls"].locator(".banner"), parts["sponsors"].locator(".sponsors")
    expect(banner).to_be_visible()
    place, bug, call = box(slot), box(parts["scorebug"].locator(".bug")), box(banner)
    assert place["x"] >= 71
    assert place["y"] >= 53
    assert place["x"] + place["width"] <= 1920 - 71
    assert place["y"] + place["height"] <= bug["y"], "the score bug is covered"
    apart = place["x"] + place["width"] <= call["x"] or call["x"] + call["width"] <= place["x"]
    titles = page.locator("iframe").evaluate_all("(frames) => frames.map((one) => one.title)")
    assert titles[0] == "sponsors", "the lowest layer: a banner too large for the room beside it lies over the sponsors"
    assert apart or scale > 1.2


def test_a_scene_without_sponsors_has_none(service: PageServer, page: Page) -> None:
    page.goto(f"{service.url}/overlay/scene?sponsors=hide")
    expect(page.locator("iframe[title=calls]")).to_have_count(1)
    expect(page.locator("iframe[title=sponsors]")).to_have_count(0)


def test_sponsors_that_were_never_uploaded_are_refused(service: PageServer, page: Page) -> None:
    assert page.request.put(f"{service.url}/api/sponsors", data={"logos": ["f" * 32]}).status == 422
