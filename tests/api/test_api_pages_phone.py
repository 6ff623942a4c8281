"""A phone in a real browser: its camera is a film of the twin, which goes by WebRTC into a real rig."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import av
import httpx
import pytest
from browsers import PHONE, WAIT_MS, chromium
from phone_film import Film, encode
from phone_sender import FPS, PhoneSender
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect, sync_playwright
from ports import reserve_port
from setup_pages import SHOTS, newcomers_environment
from waiting import WAIT_S, wait_until

from downfield.api.routes import pages
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.arrays import Image
from downfield.core.media.video_file import upright_bgr

_FILM_PICTURES: Final = 15
_FPS: Final = 10  # of the browser's camera: enough to play by, at a third of the work of thirty
PAGES_DIR: Final = Path(pages.__file__).parent.parent / "pages"


@pytest.fixture(scope="module")
def images() -> list[Image]:
    """The beginning of the bundled film of the twin."""
    with av.open(str(bundled_demo())) as container:
        return [upright_bgr(one) for one, _ in zip(container.decode(video=0), range(_FILM_PICTURES), strict=False)]


@pytest.fixture(scope="module")
def camera(images: list[Image], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That film as Chromium takes it for a camera, again and again: YUV4MPEG, whose header tells its rate."""
    path = tmp_path_factory.mktemp("film") / "camera.y4m"
    height, width, _ = images[0].shape
    with path.open("wb") as film:
        film.write(f"YUV4MPEG2 W{width} H{height} F{_FPS}:1 Ip A1:1 C420\n".encode())
        for image in images:
            frame = av.VideoFrame.from_ndarray(image, format="bgr24").reformat(format="yuv420p")
            film.write(b"FRAME\n" + frame.to_ndarray().tobytes())
    return path


@pytest.fixture(scope="module")
def chrome(camera: Path) -> Iterator[Browser]:
    path = chromium()
    if path is None:
        pytest.skip("no Chromium: install it, or name one in CHROMIUM")
    given = [f"--use-file-for-fake-video-capture={camera}", "--use-fake-device-for-media-stream"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--use-fake-ui-for-media-stream", *given]
        )
        yield launched
        launched.close()


@pytest.fixture
def phone(chrome: Browser) -> Iterator[Page]:
    size: ViewportSize = {"width": PHONE["width"], "height": PHONE["height"]}
    context = chrome.new_context(viewport=size, ignore_https_errors=True, permissions=["camera"])
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    yield page
    context.close()


@dataclass(frozen=True)
class Started:
    """A rig in a process of its own.

    Attributes:
        address: as this computer opens it.
        link: that it prints.
        output: the file of what it prints.
    """

    address: str
    link: str
    output: Path


@contextmanager
def started(folder: Path, *options: str) -> Iterator[Started]:
    """Run `downfield run`."""
    tls_port, written = reserve_port(), folder / "output.txt"
    port = ("--port", "0", "--set", f"service.tls_port={tls_port}")
    command = [sys.executable, "-m", "downfield", "run", *options, *port]
    with written.open("w") as output:
        process = subprocess.Popen(command, cwd=folder, env=newcomers_environment(folder), stdout=output, stderr=output)
        try:
            text = wait_until(lambda: _after(written, "or open"), "no link was printed")
            link = next(word for word in text.split() if "#" in word)
            yield Started(f"https://127.0.0.1:{tls_port}", link, written)
        finally:
            process.terminate()
            process.wait(WAIT_S)


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """One whose camera is a phone, for one phone after the other."""
    with started(tmp_path_factory.mktemp("rig"), "--phone") as running:
        yield running


def _after(path: Path, words: str) -> str:
    text = path.read_text()
    return text[text.index(words) :] if words in text and text.endswith("\n") else ""


def test_a_phone_scans_the_code_and_the_rig_draws_the_lines_by_its_picture(phone: Page, rig: Started) -> None:
    address = rig.address
    with httpx.Client(base_url=address, verify=False, timeout=WAIT_S) as admin:  # the certificate is the rig's own
        began_s = time.monotonic()
        phone.goto(f"{address}/phone#{rig.link.rpartition('#')[2]}")
        _look(phone, "start")
        phone.get_by_role("button", name="Start the camera").click()
        expect(phone.locator("#text")).to_contain_text("The rig has the picture")
        _look(phone, "running")
        shown = admin.get("/api/phone").json()
        assert (shown["sending"], shown["asking"]) == (True, None)

        def calibrated() -> bool:
            try:
                state = admin.get("/api/state").json()["data"]
                return state["source"]["live"] and admin.get("/api/calibration").status_code == 200
            except (httpx.HTTPError, KeyError):
                return False  # the rig changes to the phone

        wait_until(calibrated, lambda: rig.output.read_text()[-3000:])
        source = admin.get("/api/state").json()["data"]["source"]
        assert (source["kind"], source["text"]) == ("stream", shown["camera"]["name"])
        assert "<path" in admin.get("/api/calibration/field.svg").text
        took_s = time.monotonic() - began_s  # shown by pytest's -s; a phone adds its warning's two taps, and Allow
        sys.stdout.write(f"From the opened link to drawn lines: 1 tap on the page, {took_s:.0f} s\n")
        expect(phone.locator("#text")).to_have_text("The rig plays by this camera.")
        wait_until(lambda: admin.get("/api/state").json()["data"].get("scene"), "no scene was published")
        _look(phone, "playing")
        phone.get_by_role("button", name="Dim the screen").click()
        expect(phone.locator("#dark")).to_be_visible()
        phone.locator("#dark").dispatch_event("click")  # what is wrong meanwhile lights the screen by itself
        expect(phone.locator("#dark")).to_be_hidden()
        phone.get_by_role("button", name="Stop").click()
        wait_until(lambda: not admin.get("/api/phone").json()["sending"], "it still sends")


def _look(page: Page, name: str, width: int = PHONE["width"]) -> None:
    """Nothing reaches beyond the page's right edge."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"phone-{name}.png", animations="disabled")


_STANDS_IN: Final = """
window.skew_ms = 0; window.angle = 0; window.lit = 0; window.seen = "visible"; window.wishes = [];
const now = Date.now;
Date.now = () => now() + window.skew_ms;
const later = window.setTimeout; // the page says every second how it is; here every tenth of one
window.setTimeout = (act, ms, ...rest) => later(act, ms / 10, ...rest);
const stand_in = (of, name, get) => Object.defineProperty(of, name, { get, configurable: true });
stand_in(ScreenOrientation.prototype, "angle", () => window.angle);
stand_in(document, "visibilityState", () => window.seen);
stand_in(Navigator.prototype, "wakeLock", () => ({ request: async () => { window.lit += 1; } }));
navigator.getBattery = async () => ({ level: 0.15, charging: false });
const able = { zoom: { min: 1 }, focusMode: ["continuous"], exposureMode: ["manual"] };
MediaStreamTrack.prototype.getCapabilities = () => able;
MediaStreamTrack.prototype.applyConstraints = async (wanted) => { window.wishes = wanted.advanced; };
"""
"""What a phone has and this computer has not."""


class Answers:
    """What the rig answers to the page, which is served without one; and what the page said."""

    def __init__(self, page: Page) -> None:
        self.advice: dict[str, Any] = {"sending": True, "text": "Hang it", "seen": False, "findings": []}
        self.advice["setting_up"] = True
        self.problem: dict[str, Any] | None = None
        self.said: dict[str, Any] = {}
        page.route("https://rig.test/**", self._answer)

    def _answer(self, route: Route) -> None:
        path = route.request.url.removeprefix("https://rig.test/").partition("#")[0]
        if path == "api/session":
            route.fulfill(json={"role": "camera"})
        elif path == "api/phone/state":
            self.said = dict(route.request.post_data_json or {})
            problem = self.problem
            route.fulfill(json=self.advice if problem is None else problem, status=200 if problem is None else 409)
        else:
            route.fulfill(path=PAGES_DIR / ("phone.html" if path == "phone" else path))

    def wait_for(self, page: Page, **said: object) -> None:
        """Wait until the page has said this."""

        def is_said() -> bool:
            page.evaluate("0")  # lets what the page asks for be answered
            return said.items() <= self.said.items()

        wait_until(is_said, lambda: self.said)


def test_the_page_stays_lit_dims_shows_how_level_it_hangs_and_says_what_happens_to_the_phone(phone: Page) -> None:
    rig = Answers(phone)
    phone.add_init_script(_STANDS_IN)
    phone.goto("https://rig.test/phone")
    phone.get_by_role("button", name="Start the camera").click()
    expect(phone.locator("#text")).to_have_text("Hang it")
    assert phone.evaluate("lit") == 1, "the screen would go off"
    rig.wait_for(phone, battery=0.15, charging=False, hidden=False, taken=False)
    for tilt, told in (({"beta": 3, "gamma": 4}, "Tilted by 5°: good"), ({"beta": 20, "gamma": 0}, "5 to 10° is best")):
        phone.evaluate("(tilt) => dispatchEvent(new DeviceOrientationEvent('deviceorientation', tilt))", tilt)
        expect(phone.locator("#tilt")).to_contain_text(told)
    assert phone.evaluate("wishes") == [{"zoom": 1, "focusMode": "continuous"}]

    phone.evaluate("angle = 90")  # it was held upright when it was scanned, and is hung up on its side
    rig.advice |= {"text": "The whole board is seen.", "seen": True}
    expect(phone.locator("#text")).to_have_text("The whole board is seen.")
    rig.wait_for(phone, turned=False)
    assert phone.evaluate("wishes") == [{"zoom": 1, "focusMode": "continuous", "exposureMode": "manual"}]
    rig.advice |= {"text": "The rig plays", "setting_up": False}
    expect(phone.locator("#text")).to_have_text("The rig plays")
    phone.evaluate("angle = 270")
    rig.wait_for(phone, turned=True)
    rig.advice |= {"setting_up": True}
    rig.wait_for(phone, turned=False)

    expect(phone.locator("#dark")).to_be_hidden()
    phone.evaluate("skew_ms = 25000")
    expect(phone.locator("#dark")).to_be_visible()
    rig.advice |= {"seen": False, "findings": [{"text": "A hand covers the board.", "remedy": "Clear the view."}]}
    expect(phone.locator("#dark")).to_be_hidden()
    expect(phone.locator("#findings")).to_contain_text("Clear the view.")

    phone.evaluate("seen = 'hidden'; document.dispatchEvent(new Event('visibilitychange'))")
    rig.wait_for(phone, hidden=True)
    phone.evaluate("seen = 'visible'; document.dispatchEvent(new Event('visibilitychange'))")
    rig.wait_for(phone, hidden=False)
    assert phone.evaluate("lit") > 1, "a browser forgets it whenever the page is hidden"
    rig.problem = {"title": "Conflict", "status": 409, "detail": "Another phone, 'Ann', is the camera."}
    expect(phone.locator("#problem")).to_contain_text("Another phone, 'Ann', is the camera.")
    _look(phone, "asks")


def test_a_page_that_may_not_have_the_camera_leaves_the_code_for_the_one_that_may(phone: Page) -> None:
    Answers(phone)
    phone.add_init_script("Object.defineProperty(navigator, 'mediaDevices', { value: undefined })")  # as without TLS
    phone.route("https://rig.test/api/session", lambda route: route.fulfill(json={"role": None}))
    redeemed = list[str]()
    phone.on("request", lambda request: redeemed.append(request.url) if request.method == "POST" else None)
    phone.goto("https://rig.test/phone#5DECZPTVXN")
    phone.get_by_role("button", name="Start the camera").click()
    expect(phone.locator("#problem")).to_contain_text("secure pages only")
    assert redeemed == []


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a rig that knows of no phone."""
    with started(tmp_path, "--lan", "--tls") as running:
        yield running.address


def test_the_set_up_shows_a_code_and_opens_the_phone_that_scanned_it(
    chrome: Browser, phone: Page, address: str
) -> None:
    setup = chrome.new_context(ignore_https_errors=True).new_page()
    setup.set_viewport_size({"width": 1440, "height": 900})
    setup.goto(f"{address}/setup")
    setup.get_by_role("button", name="Use my phone").click()
    expect(setup.locator("#phone img.qr")).to_be_visible()
    assert setup.evaluate("[...document.querySelectorAll('#phone img')].every((one) => one.complete)")
    _look(setup, "code", 1440)
    code = setup.locator("#phone .code").inner_text()
    phone.goto(f"{address}/phone")
    phone.get_by_role("button", name="Start the camera").click()
    expect(phone.locator("#problem")).to_contain_text("Scan the code")
    phone.goto("about:blank")
    phone.goto(f"{address}/phone#WRONGWRONG")  # an old code; the new one can be typed
    phone.get_by_role("button", name="Start the camera").click()
    expect(phone.locator("#problem")).to_contain_text("This code is wrong")
    phone.get_by_label("Code").fill(code)
    phone.get_by_role("button", name="Start the camera").click()
    expect(setup.get_by_text("Is the whole field in the picture?")).to_be_visible()
    expect(setup.locator("#picture")).to_be_visible()
    expect(phone.locator("#text")).to_have_text("The whole board is seen.")
    _look(phone, "seen")
    _look(setup, "aim-phone", 1440)


class Rig:
    """A rig as its admin and a phone without a browser reach it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._clients: list[httpx.Client] = []
        self.admin = self.client()

    def client(self, token: str = "") -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._clients.append(httpx.Client(base_url=self._address, verify=False, timeout=WAIT_S, headers=headers))
        return self._clients[-1]

    def pair(self, name: str) -> httpx.Client:
        """Return a phone that has scanned a new code."""
        code = self.admin.post("/api/phone/pairing").json()["code"]
        return self.client(self.client().post("/api/session", json={"code": code, "name": name}).json()["token"])

    def remove_phone(self) -> None:
        """Take the camera from the phone that has it, if one has."""
        if (camera := self.admin.get("/api/phone").json()["camera"]) is not None:
            assert self.admin.delete(f"/api/devices/{camera['id']}").status_code == 204

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def topics(self) -> dict[str, Any]:
        """What is published; nothing while the rig changes to another source."""
        try:
            found: dict[str, Any] = self.admin.get("/api/state").json()["data"]
        except (httpx.HTTPError, KeyError):
            return {}
        return found

    def reasons(self) -> dict[str, str] | None:
        health = self.topics().get("health")
        return None if health is None else {one["code"]: one["text"] for one in health["reasons"]}

    def wait_for_reason(self, code: str, text: str) -> None:
        wait_until(lambda: text in (self.reasons() or {}).get(code, ""), lambda: f"{code}: {text}: {self.reasons()}")

    def wait_for_pictures(self) -> None:
        """Wait until the rig plays by the phone's pictures and says nothing against it."""

        def plays() -> bool:
            topics, reasons = self.topics(), self.reasons()
            is_phone = topics.get("source", {}).get("live", False) and topics.get("scene") is not None
            return (
                is_phone and reasons is not None and not any(one.startswith(("phone_", "camera_")) for one in reasons)
            )

        wait_until(plays, lambda: self.topics().get("health"))


def _send(phone: httpx.Client, film: Film) -> PhoneSender:
    sender = PhoneSender(film=film)
    headers = {"Content-Type": "application/sdp"}
    sender.connect(lambda offer: phone.post("/api/phone/whip", content=offer, headers=headers).text)
    return sender


@pytest.fixture
def reached(rig: Started) -> Iterator[Rig]:
    made = Rig(rig.address)
    yield made
    made.close()


def test_when_the_phone_is_back_the_game_goes_on_by_the_same_calibration(reached: Rig, images: list[Image]) -> None:
    film = encode(lambda: [*images, *images[-2:0:-1]], FPS, phases=1)
    reached.remove_phone()
    phone = reached.pair("Ann's phone")
    sender = _send(phone, film)
    reached.wait_for_pictures()
    calibration, games = (reached.admin.get(f"/api/{one}").json() for one in ("calibration", "games"))

    sender.pause(True)
    phone.post("/api/phone/state", json={"taken": True})
    reached.wait_for_reason("camera_lost", "something else uses the phone's camera")
    assert reached.topics()["health"]["calls"] == "suspended"
    sender.pause(False)
    phone.post("/api/phone/state", json={})
    reached.wait_for_pictures()

    phone.post("/api/phone/state", json={"hidden": True})
    sender.close()
    reached.wait_for_reason("camera_lost", "No picture")
    reached.wait_for_reason("phone_hidden", "The phone is locked")
    sender = _send(phone, film)
    phone.post("/api/phone/state", json={})
    reached.wait_for_pictures()
    assert reached.admin.get("/api/calibration").json() == calibration, "it was calibrated anew"
    assert [one["id"] for one in reached.admin.get("/api/games").json()] == [one["id"] for one in games]

    for state, code, text in (
        ({"turned": True}, "phone_turned", "The phone was turned"),
        ({"battery": 0.1}, "phone_battery", "battery is at 10%"),
        ({"limited": "cpu"}, "phone_slow", "too hot"),
        ({"limited": "bandwidth"}, "phone_network", "network is too slow"),
    ):
        phone.post("/api/phone/state", json=state)
        reached.wait_for_reason(code, text)
    phone.post("/api/phone/state", json={})
    reached.wait_for_pictures()

    other = reached.pair("Bo's phone")
    assert other.post("/api/phone/state", json={}).status_code == 409
    reached.wait_for_reason("phone_asks", "Bo's phone")
    assert reached.admin.get("/api/phone").json()["sending"], "the first phone stays until the admin answers"
    reached.remove_phone()
    reached.wait_for_reason("camera_lost", "No picture")
    assert phone.post("/api/phone/state", json={}).status_code == 401
    sender.close()
    sender = _send(other, film)
    reached.wait_for_pictures()
    wait_until(
        lambda: reached.topics().get("source", {}).get("text") == "Bo's phone", lambda: reached.topics()["source"]
    )
    assert reached.topics()["health"]["camera"] == "Bo's phone"
    sender.close()
