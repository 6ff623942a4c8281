"""A dispute from beginning to end, on a recorded game of the twin with every kind of call and in a real browser.

Found, stepped through, measured, ruled on, judged again, compared, exported, verified, and opened elsewhere.
"""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import av
import cv2
import httpx
import numpy as np
import pytest
from browsers import browser, page_in
from bundled_games import CALIBRATION, FOREIGN_KEY, KEY, written_anew
from playwright.sync_api import Browser, Page, expect
from recorded_game import RecordedGame, burned_in, record_game
from served_games import FakeRig
from typer import Exit

from downfield.api.context.context import RigParts
from downfield.broadcast.latest_picture import LatestPicture
from downfield.capture.recording.recorded_footage import RecordedFootage
from downfield.cli.commands.verify import verify
from downfield.core.arrays import Image
from downfield.core.footprint import signed_gap
from downfield.game.published.hub import Hub
from downfield.game.service import GameService
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.bundles import format as names
from downfield.review.evidence import ready_pictures
from downfield.review.pictures import clips
from downfield.review.rejudging import worker
from downfield.rig.configuration.settings import RigSettings, ServiceSettings
from downfield.rig.games.bundle_export import BundleExporter
from downfield.rig.service.review import NoCamera, ReviewService, load_bundles
from downfield.rig.service.web_service import Service
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store


@dataclass(frozen=True)
class ServedGame:
    """A rig whose last game is the recorded one."""

    recorded: RecordedGame
    url: str

    @property
    def path(self) -> str:
        return f"{self.url}/api/games/{self.recorded.game}"


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def at_once() -> Iterator[None]:
    """Judge games and make clips at the priority of everything else: no game is in play beside these tests."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (worker, clips, ready_pictures):
            patch.setattr(module, "lower_priority", lambda: None)
        yield


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory, at_once: None) -> Iterator[ServedGame]:  # noqa: ARG001 - patches
    recorded = record_game(tmp_path_factory.mktemp("rig"))
    store, hub, machine = Store.at(recorded.data / "downfield.db"), Hub(), FakeRig(CALIBRATION)
    game_service = GameService(StoredJournals(store), hub, machine, CALIBRATION.field, load_rulebook("tap"))
    footage = RecordedFootage(recorded.data / "recordings")
    bundles = BundleExporter(store, RigSettings(data=str(recorded.data)), KEY, machine.calibration)
    context = RigParts(game_service, hub, LatestPicture(), store, footage, rig_key=KEY, bundles=bundles)
    service = Service(context, ServiceSettings(port=0), recorded.data)
    yield ServedGame(recorded, service.address.rstrip("/"))
    service.close()
    game_service.close()
    store.close()


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=300) as made:
        yield made


def decoded(jpeg: bytes) -> Image:
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return np.asarray(image, np.uint8)


def calls_of(client: httpx.Client, rig: ServedGame) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{rig.path}/calls?limit=1000").json()
    return found


def call_path(rig: ServedGame, call: dict[str, Any]) -> str:
    return f"{rig.path}/calls/{quote(call['id'], safe='')}"


def test_a_game_has_twenty_plays_and_every_kind_of_call(rig: ServedGame, client: httpx.Client) -> None:
    plays = client.get(f"{rig.path}/plays?limit=1000").json()
    assert len(plays) >= 20
    pages = [client.get(f"{rig.path}/plays?limit=8&after={after}").json() for after in range(0, len(plays) + 8, 8)]
    assert [play for page in pages for play in page] == plays
    assert {call["kind"] for call in calls_of(client, rig)} == set(get_args(CallKind))


def test_every_frame_is_the_one_asked_for_at_a_constant_and_at_a_variable_rate(
    rig: ServedGame, client: httpx.Client
) -> None:
    tackles = [call for call in calls_of(client, rig) if call["kind"] in {"tackle", "out_of_bounds"}]
    steps = set()
    for call in (tackles[0], tackles[-1]):
        listed = client.get(f"{call_path(rig, call)}/frames?seconds=1").json()["frames"]
        steps.add(len({later["frame"] - one["frame"] for one, later in pairwise(listed)}))
        for one in [*listed[::7], *listed[-3:][::-1]]:
            assert one["t_ns"] == rig.recorded.scenes[one["frame"]].t_ns
            shown = client.get(f"{call_path(rig, call)}/frames/{one['frame']}.jpg?plain")
            assert burned_in(decoded(shown.content)) == one["frame"]
    assert min(steps) == 1, "one play is at a constant rate"
    assert max(steps) > 1, "another is not"


def test_what_is_drawn_and_measured_is_the_truth_to_a_tenth_of_a_millimeter(
    rig: ServedGame, client: httpx.Client
) -> None:
    measured = 0
    for call in calls_of(client, rig):
        if call["kind"] not in {"tackle", "fumble", "broken_tackle", "line_of_scrimmage"}:
            continue
        drawings = client.get(f"{call_path(rig, call)}/frames/drawings?seconds=0.4").json()
        for drawing in drawings["frames"][::5]:
            truth = {figure.id: figure.footprint for figure in rig.recorded.scenes[drawing["frame"]].figures}
            for figure in drawing["figures"]:
                assert np.allclose(figure["mm"], truth[figure["id"]].corners_mm(), atol=0.1)
            if drawing["gap"] is not None:
                a, b = call["players"][:2]
                assert drawing["gap"]["gap_mm"] == pytest.approx(signed_gap(truth[a], truth[b]).gap_mm, abs=0.1)
                measured += 1
        first = next(figure for figure in drawing["figures"] if figure["part"] == "first")
        front_left, front_right = first["px"][:2]
        points = {"x": [front_left[0], front_right[0]], "y": [front_left[1], front_right[1]]}
        reading = client.get(f"{call_path(rig, call)}/frames/{drawing['frame']}/measurement", params=points).json()
        corners = truth[first["id"]].corners_mm()
        assert reading["length_mm"] == pytest.approx(float(np.linalg.norm(corners[0] - corners[1])), abs=0.1)
    assert measured > 20


def burned_in_page(page: Page) -> int:
    """Return the index that is burned into the picture on the screen."""
    expect(page.locator("#picture")).to_have_attribute("aria-busy", "false")
    url = page.evaluate(
        """() => {
            const image = document.getElementById("frame");
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
            canvas.getContext("2d").drawImage(image, 0, 0);
            return [...canvas.getContext("2d").getImageData(0, 4, image.naturalWidth, 1).data];
        }"""
    )
    row = np.array(url, np.uint8).reshape(1, -1, 4)[:, :, :3]
    return burned_in(np.repeat(row, 8, axis=0))


def test_a_call_is_found_stepped_through_ruled_on_compared_and_saved(chrome: Browser, rig: ServedGame) -> None:
    with page_in(chrome, phone=True) as page:
        refused: list[str] = []
        page.on("response", lambda answer: refused.append(answer.url) if answer.status == 404 else None)
        page.goto(f"{rig.url}/games?text=final")
        page.locator("#games .game").tap()
        expect(page.locator("#plays .play").first).to_be_visible()
        page.locator("#filters summary").tap()
        page.locator("[name=kind]").select_option("fumble")
        expect(page.locator("#message")).to_have_text("2 plays found.")
        searched = page.url
        page.locator("#plays .call a.text").first.tap()
        expect(page.locator("#measurement")).to_contain_text("This frame")
        told = [int(re.sub(r"\D", "", page.locator("#position span").inner_text()))]
        assert burned_in_page(page) == told[0]
        for _ in range(3):
            page.get_by_role("button", name="Next frame").tap()
            told.append(int(re.sub(r"\D", "", page.locator("#position span").inner_text())))
            expect(page.locator("#frame")).to_have_attribute("data-frame", str(told[-1]))
            assert burned_in_page(page) == told[-1]
        assert told == list(range(told[0], told[0] + 4))
        expect(page.locator("#call .closed")).to_contain_text("This game is closed")
        expect(page.locator("#call .rulings")).to_have_count(0)
        expect(page.locator("#back")).to_have_text("‹ Game")
        expect(page.locator("#neighbors > *")).to_have_count(2)
        assert [address for address in refused if "thumbnail" not in address] == []
        page.locator("#back").tap()
        expect(page.locator("#plays .call:target")).to_have_count(1)
        page.goto(searched)
        page.locator("#desk summary").tap()
        page.locator("#desk [name=reason]").fill("a challenge of the away coach")
        page.get_by_role("button", name="Reopen").tap()
        call = page.locator("#plays .call").first
        call.get_by_role("button", name=re.compile("^Challenge")).tap()
        page.locator("dialog label", has_text="Away").tap()
        expect(page.locator("dialog[open]")).to_contain_text("a lost one costs nothing")  # names and rule have come
        expect(page.get_by_role("radio", name="Away")).to_be_checked()
        page.locator("dialog [name=reason]").fill("he had let go before")
        page.locator("dialog").get_by_role("button", name="Challenge", exact=True).tap()
        page.get_by_role("button", name="Decide").tap()
        page.locator("dialog label", has_text="Overturned").tap()
        page.locator("dialog [name=instead]").select_option("tackle")
        page.locator("dialog [name=instead-spot]").fill("H 47.5")
        page.locator("dialog [name=reason]").fill("down by contact")
        page.locator("dialog").get_by_role("button", name="Decide").tap()
        expect(page.locator("dialog .changes")).to_contain_text("is now: Tackle", timeout=130_000)
        expect(page.locator("dialog .changes")).to_contain_text("No longer called")
        page.locator("dialog").get_by_role("button", name="Close").tap()
        page.locator("[name=kind]").select_option("")
        play = page.locator("#plays .play", has_text="down by contact")
        with page.expect_download() as saved:
            play.get_by_role("button", name=re.compile("^Video")).tap()
        with av.open(str(saved.value.path())) as container:
            assert sum(1 for _ in container.decode(video=0)) > 90
        assert re.fullmatch(rf"downfield_{rig.recorded.game}_play\d+_scrimmage\.mp4", saved.value.suggested_filename)
        page.locator("#what-if > summary").tap()
        page.locator("#what-if [name=rulebook]").select_option("efl")
        page.get_by_role("button", name="Compare").tap()
        expect(page.locator(".what-if .head")).to_contain_text("Gunderson", timeout=130_000)
        page.get_by_role("button", name="Close this game").tap()
        expect(page.locator("#standing")).to_have_text("Final")
        expect(page.locator("#audit li")).to_contain_text(["Ended", "Reopened", "Challenge", "Ruling", "Closed"])


def test_the_league_sees_how_calls_and_challenges_fared_and_sets_a_policy_with_one_tap(
    chrome: Browser, rig: ServedGame, client: httpx.Client
) -> None:
    game = f"{rig.url}/api/games/{rig.recorded.game}"
    tackle = next(call["id"] for call in calls_of(client, rig) if call["kind"] == "tackle")
    client.post(f"{game}/reopening", json={"reason": "a challenge"}).raise_for_status()
    challenge = {"side": "home", "call": tackle, "reason": "not touched"}
    raised = client.post(f"{game}/challenges", json=challenge).json()["challenges"][-1]
    with page_in(chrome, phone=True) as page:
        page.goto(f"{rig.url}/league")
        expect(page.locator("#challenged-kinds li", has_text="Tackle")).to_contain_text("1 raised: 1 open")
        kind = page.locator("#kinds .kind", has=page.get_by_role("heading", name="Tackle", exact=True))
        kind.get_by_role("button", name="Ask first").tap()
        expect(page.locator("#message")).to_have_text("Tackle: Ask first, from the next game on.")
        expect(kind.get_by_role("button", name="Ask first")).to_have_attribute("aria-pressed", "true")
    policies = {view["kind"]: view["policy"] for view in client.get(f"{rig.url}/api/policies").json()}
    assert policies["tackle"] == "propose"
    assert client.post(f"{game}/closing", json={}).json()["detail"].startswith("A challenge is under review.")
    decision = {"decision": "too_close", "reason": "hidden by an arm"}
    client.post(f"{game}/challenges/{raised['id']}/ruling", json=decision).raise_for_status()
    client.post(f"{game}/closing", json={}).raise_for_status()


def altered(bundle: bytes, change: Callable[[dict[str, bytes]], object]) -> bytes:
    return written_anew(bundle, change)


def flipped(parts: dict[str, bytes]) -> None:
    video = next(name for name in parts if name.endswith(".mkv"))
    content = bytearray(parts[video])
    content[len(content) // 2] ^= 1
    parts[video] = bytes(content)


def truncated(parts: dict[str, bytes]) -> None:
    parts[names.JOURNAL] = parts[names.JOURNAL][: len(parts[names.JOURNAL]) // 2]


def test_a_bundle_says_what_was_done_to_it_and_is_all_that_another_computer_needs(
    chrome: Browser,
    rig: ServedGame,
    client: httpx.Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DOWNFIELD_DATA", str(tmp_path / "elsewhere"))
    bundle = client.get(f"{rig.path}/bundle.zip").content
    path = tmp_path / "game.zip"

    def told(content: bytes, key: str | None = None) -> str:
        path.write_bytes(content)
        with suppress(Exit):
            verify(str(path), key=None if key is None else [key])
        return " ".join(capsys.readouterr().out.split())

    assert "unaltered" in told(bundle, KEY.public_text)
    assert re.search(r"changed: recording/\S+\.mkv was changed", told(altered(bundle, flipped)))
    assert "missing: game.tracks.jsonl is missing" in told(altered(bundle, lambda parts: parts.pop(names.TRACKS)))
    assert "changed: journal.jsonl" in told(altered(bundle, truncated))
    assert "cut off" in told(bundle[: len(bundle) // 2])
    assert "FOREIGN KEY" in told(bundle, FOREIGN_KEY.public_text)

    path.write_bytes(bundle)
    calls = calls_of(client, rig)
    shutil.move(rig.recorded.data / "recordings", rig.recorded.data / "gone")  # nothing of the rig is needed
    store = Store.at(tmp_path / "review.db")
    unpacked, footage = load_bundles([path], store, tmp_path / "unpacked")
    service = ReviewService(store, footage, NoCamera(unpacked[-1].calibration, {}), 0, tmp_path)
    with page_in(chrome) as page:
        page.goto(f"{service.address}game?game={rig.recorded.game}")
        expect(page.locator("#plays .call")).to_have_count(len(calls))
        tackle = page.locator("#plays .call", has_text="tackled by").last
        tackle.locator("a.text").click()
        expect(page.locator("#measurement")).to_contain_text("This frame")
        number = int(re.sub(r"\D", "", page.locator("#position span").inner_text()))
        assert burned_in_page(page) == number
    service.close()
    store.close()
    shutil.move(rig.recorded.data / "gone", rig.recorded.data / "recordings")
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        assert len(archive.read(names.CALLS).splitlines()) == len(calls) + 1
