"""What a streamer loads once from the start page: scenes for OBS, the dock's address, buttons for Companion."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import Browser, Page, expect
from waiting import WAIT_S

from downfield.api.security.access import AccessPolicy
from downfield.game.published.stream_topics import OnAirView


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


def served(folder: Path, policy: AccessPolicy) -> Iterator[PageServer]:
    running = PageServer(folder, policy)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def here(tmp_path: Path) -> Iterator[PageServer]:
    """A service that this computer alone can use, and may without proof."""
    yield from served(tmp_path, AccessPolicy())


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[PageServer]:
    """A service to which the programs of this computer are as strange as any other."""
    yield from served(tmp_path, AccessPolicy(lan=True, trust_local=False))


def saved(page: Page, button: str) -> tuple[str, Any]:
    """The name and the content of the file that a button saves."""
    with page.expect_download() as loading:
        page.get_by_role("button", name=button).click()
    return loading.value.suggested_filename, json.loads(loading.value.path().read_text())


def on_stream_page(page: Page, service: PageServer, *, admin: bool = False) -> None:
    if admin:
        page.goto(f"{service.url}/pair#{service.admin_key.text}")
        page.wait_for_url("**/panel", wait_until="commit")
    page.goto(f"{service.url}/#stream", wait_until="domcontentloaded")
    expect(page.locator("#downloads")).to_be_visible()


def addresses(collection: Any) -> list[str]:
    return [source["settings"]["url"] for source in collection["sources"] if source["id"] == "browser_source"]


def test_the_scene_collection_holds_together_as_obs_reads_it(chrome: Browser, here: PageServer) -> None:
    with page_in(chrome) as page:
        on_stream_page(page, here)
        name, collection = saved(page, "Scenes for OBS")
    assert name == "downfield-obs-scenes.json"
    by_name = {source["name"]: source for source in collection["sources"]}
    assert len(by_name) == len(collection["sources"]), "OBS tells sources and scenes apart by their names"
    scenes = [entry["name"] for entry in collection["scene_order"]]
    assert scenes == ["Starting soon", "Game", "Replay", "Halftime", "Final"]
    assert {collection["current_scene"], collection["current_program_scene"]} <= set(scenes)
    assert collection["resolution"] == {"x": 1920, "y": 1080}
    assert "version" not in collection, "places are pixels of the resolution"
    for scene in scenes:
        settings = by_name[scene]["settings"]
        assert by_name[scene]["id"] == "scene"
        ids = [item["id"] for item in settings["items"]]
        assert len(set(ids)) == len(ids)
        assert max(ids) <= settings["id_counter"]
        for item in settings["items"]:
            source = by_name[item["name"]]
            assert source["id"] == "browser_source"
            assert (source["settings"]["width"], source["settings"]["height"]) == (1920, 1080)
            assert item["bounds"] == {"x": 1920, "y": 1080}
    assert all(item["visible"] for item in by_name["Starting soon"]["settings"]["items"])
    (camera,) = (item for item in by_name["Game"]["settings"]["items"] if not item["visible"])
    assert by_name[camera["name"]]["settings"]["shutdown"], "what is hidden costs nothing"
    shown = [item["name"] for item in by_name["Replay"]["settings"]["items"]]
    assert "Downfield replay" in shown
    assert not any(by_name[name]["settings"]["shutdown"] for name in shown), "it has to be open before it is due"


def test_on_a_computer_that_may_watch_the_addresses_need_no_key(chrome: Browser, here: PageServer) -> None:
    with page_in(chrome) as page:
        on_stream_page(page, here)
        _, collection = saved(page, "Scenes for OBS")
    for address in addresses(collection):
        assert address.startswith(f"{here.url}/")
        assert "key=" not in address
        with httpx.stream("GET", address, timeout=WAIT_S) as answer:
            assert answer.status_code == 200, address
    assert here.token_store.devices() == []


def test_where_obs_is_a_stranger_every_address_has_one_key_that_watches_alone(
    chrome: Browser, guarded: PageServer
) -> None:
    with page_in(chrome) as page:
        on_stream_page(page, guarded, admin=True)
        _, collection = saved(page, "Scenes for OBS")
        _, again = saved(page, "Scenes for OBS")
        assert addresses(again) == addresses(collection), "one device for all files of a page"
        keys = {parse_qs(urlsplit(address).query)["key"][0] for address in addresses(collection)}
        (key,) = keys
        with page_in(chrome) as obs:
            obs.goto(next(address for address in addresses(collection) if "show=halftime" in address))
            expect(obs.locator("html")).to_have_attribute("data-link", "live")
    for address in addresses(collection):
        with httpx.stream("GET", address, timeout=WAIT_S) as answer:
            assert answer.status_code == 200, address
    assert httpx.get(f"{guarded.url}/camera.mjpeg").status_code == 401, "without the key nothing is seen"
    assert httpx.delete(f"{guarded.url}/api/graphic?key={key}").status_code == 401
    (device,) = guarded.token_store.devices()
    assert device.role == "viewer"
    guarded.token_store.revoke(device.id)
    for address in addresses(collection):
        if "camera.mjpeg" in address:
            assert httpx.get(address).status_code == 401


def test_the_scenes_before_between_and_after_play_have_their_card_whatever_is_on_air(
    chrome: Browser, here: PageServer
) -> None:
    with page_in(chrome) as page, page_in(chrome) as obs:
        on_stream_page(page, here)
        _, collection = saved(page, "Scenes for OBS")
        address = {source["name"]: source["settings"].get("url") for source in collection["sources"]}
        obs.goto(address["Downfield starting soon"])
        expect(obs.get_by_role("heading", name="Starting soon", exact=True)).to_be_visible()
        expect(obs.get_by_role("heading", name="River City")).to_be_visible()
        card = {"kind": "starting_soon", "title": "Kickoff at eight", "seconds": 0}
        assert httpx.post(f"{here.url}/api/graphic", json=card).is_success
        expect(obs.get_by_role("heading", name="Kickoff at eight")).to_be_visible()
        assert httpx.post(f"{here.url}/api/graphic", json={"kind": "message", "title": "Hello"}).is_success
        expect(obs.get_by_role("heading", name="Kickoff at eight")).to_have_count(0)
        expect(obs.get_by_role("heading", name="Starting soon", exact=True)).to_have_count(1)  # the first has faded out
        obs.goto(address["Downfield final"])
        expect(obs.locator("html")).to_have_attribute("data-link", "live")
        expect(obs.get_by_role("heading")).to_have_count(0)  # the game is not over
        here.publish("game", phase="over")
        expect(obs.get_by_role("heading", name="Final", exact=True)).to_be_visible()


def test_for_another_computer_the_scenes_lead_to_the_address_that_all_others_have(
    chrome: Browser, tmp_path: Path
) -> None:
    (service,) = services = [PageServer(tmp_path, AccessPolicy(lan=True))]
    service.start()
    with page_in(chrome) as page:
        on_stream_page(page, service)
        page.get_by_role("button", name="OBS is on another computer").click()
        card = page.locator("article", has=page.get_by_role("heading", name="All in one"))
        expect(card.get_by_label("Address")).to_have_value(re.compile("key="))
        pasted = card.get_by_label("Address").input_value()
        _, collection = saved(page, "Scenes for OBS")
        assert pasted in addresses(collection)
        dock = page.get_by_label("The dock").input_value()
        assert urlsplit(dock).netloc == urlsplit(pasted).netloc
        assert "key" not in dock, "the dock is paired: nobody becomes a producer by an address"
    assert len(service.token_store.devices()) == 1
    services[0].stop()


def press(companion: Any, button: Any) -> httpx.Response:
    """Send the request of a button as Companion's module for HTTP does (its `prepareQuery`)."""
    (action,) = button["steps"]["0"]["action_sets"]["down"]
    instance, options = companion["instances"][action["instance"]], action["options"]
    assert instance["instance_type"] == "generic-http"
    headers = json.loads(options["header"]) | {"Content-Type": options["contenttype"]}
    content = json.dumps(json.loads(options["body"]))
    address = f"{instance['config']['prefix']}{options['url'].strip()}"
    return httpx.request(action["action"].upper(), address, content=content, headers=headers, timeout=WAIT_S)


def buttons(companion: Any) -> list[Any]:
    return [button for row in companion["page"]["controls"].values() for button in row.values()]


def test_every_button_for_companion_does_what_it_says_and_its_key_nothing_else(
    chrome: Browser, guarded: PageServer
) -> None:
    with page_in(chrome) as page:
        on_stream_page(page, guarded, admin=True)
        look = {"name": "Bug & all", "elements": ["bug"]}
        assert page.request.post(f"{guarded.url}/api/on-air", data={"presets": [look]}).ok
        name, companion = saved(page, "Buttons for Companion")
    assert name.endswith(".companionconfig")
    assert (companion["version"], companion["type"]) == (4, "page")
    for row, columns in companion["page"]["controls"].items():
        assert 0 <= int(row) <= companion["page"]["gridSize"]["maxRow"]
        assert all(0 <= int(column) <= companion["page"]["gridSize"]["maxColumn"] for column in columns)
    texts = [button["style"]["text"] for button in buttons(companion)]
    assert len(set(texts)) == len(texts)
    for button in buttons(companion):
        answer = press(companion, button)
        refused = answer.status_code in {404, 409, 422} and answer.json()["detail"]  # such as before the first play
        assert answer.is_success or refused, (button["style"]["text"], answer.text)
    shown = guarded.hub.value("on_air")
    assert isinstance(shown, OnAirView)
    assert shown.elements == ("bug",), "the preset's button is the last"
    by_text = {button["style"]["text"]: button for button in buttons(companion)}
    assert press(companion, by_text["Score bug"]).json()["elements"] == []
    assert press(companion, by_text["Score bug"]).json()["elements"] == ["bug"]
    assert press(companion, by_text["Starting soon"]).json()["kind"] == "starting_soon"
    (device,) = guarded.token_store.devices()
    assert device.role == "producer"
    (action,) = buttons(companion)[0]["steps"]["0"]["action_sets"]["down"]
    headers = json.loads(action["options"]["header"])
    declared = {"declaration": {"type": "set"}}
    assert httpx.post(f"{guarded.url}/api/declarations", json=declared, headers=headers).status_code == 403
    assert httpx.get(f"{guarded.url}/api/devices", headers=headers).status_code == 403
    guarded.token_store.revoke(device.id)
    assert press(companion, buttons(companion)[0]).status_code == 401


@pytest.mark.parametrize("kind", ["here", "guarded"])
def test_obs_gets_what_it_needs_to_be_the_camera_and_nothing_else(
    chrome: Browser, kind: str, request: pytest.FixtureRequest
) -> None:
    service: PageServer = request.getfixturevalue(kind)
    with page_in(chrome) as page:
        on_stream_page(page, service, admin=kind == "guarded")
        page.get_by_role("button", name="OBS as the camera").click()
        server, token = (page.get_by_label(label) for label in ("Server", "Bearer token"))
        expect(token).to_have_value(re.compile(".{20}"))
        sends = {"Authorization": f"Bearer {token.input_value()}"}
        address = server.input_value()
    offer = httpx.post(address, content="v=0", headers=sends | {"Content-Type": "application/sdp"}, timeout=WAIT_S)
    assert offer.json()["code"] == "no_video", "an offer of OBS has a picture, and is answered"
    assert httpx.get(f"{service.url}/api/devices", headers=sends).status_code == 403
    assert [device.role for device in service.token_store.devices()] == ["camera"]


def test_who_is_no_admin_gets_no_buttons_and_no_key(chrome: Browser, guarded: PageServer) -> None:
    with page_in(chrome) as page:
        page.goto(f"{guarded.url}/pair#{guarded.token_store.make_code('operator').code}")
        page.wait_for_url("**/panel")
        on_stream_page(page, guarded)
        expect(page.get_by_role("button", name="Buttons for Companion")).to_have_count(0)
        page.get_by_role("button", name="Scenes for OBS").click()
        expect(page.locator("#downloads [role=status]")).to_have_text(
            "Only the admin can do this. Your role is operator."
        )
