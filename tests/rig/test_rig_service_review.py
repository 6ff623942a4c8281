"""Games are reviewed from a bundle or a rig's folder alone: the same calls and pictures, and nothing can be changed."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from bundled_games import CALIBRATION, KEY, played_game
from loopback_streams import picture
from recorded_frames import captured_frame, record
from waiting import WAIT_S

from downfield.calibration.calibration import write_calibration
from downfield.capture.source import CapturedFrame
from downfield.capture.sources.file_sources import VideoFile, bundled_demo
from downfield.cli.commands.judge import judge
from downfield.cli.commands.review import review
from downfield.core.errors import FormatError, InputError
from downfield.review.bundles.format import BundleFile, BundleSource, bundle_chunks
from downfield.review.bundles.reading import unpack_bundle
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.games.bundle_export import BundleExporter
from downfield.rig.service.review import (
    NoCamera,
    ReviewService,
    find_bundles,
    find_rig_folder,
    load_bundles,
    load_rig_folder,
)
from downfield.store.writing.store import Store

FRAMES = 150


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a rig with one recorded game."""
    data = tmp_path_factory.mktemp("rig")
    played_game(data).store.rename(data / "downfield.db")
    frames = [replace(captured_frame(index), t_ns=index * 20_000_000) for index in range(FRAMES)]
    videos = record(data / "recordings", frames, segment_s=1.0)
    for video in videos:
        write_calibration(video.with_suffix(".calibration.json"), CALIBRATION)
    return data


@pytest.fixture(scope="module")
def bundle(rig: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = Store.at(rig / "downfield.db")
    exporter = BundleExporter(store, RigSettings(data=str(rig)), KEY, lambda: None)
    path = tmp_path_factory.mktemp("mailed") / "game of 左.zip"
    path.write_bytes(b"".join(exporter.chunks(store.games()[-1], video=True)))
    store.close()
    return path


@contextmanager
def reviewed(source: Path, folder: Path) -> Iterator[httpx.Client]:
    store = Store.at(folder / "review.db")
    bundles = find_bundles(source)
    footage = load_bundles(bundles, store, folder)[1] if bundles else load_rig_folder(find_rig_folder(source), store)
    service = ReviewService(store, footage, NoCamera(None, {}), 0, folder)
    try:
        with httpx.Client(base_url=service.address, timeout=WAIT_S) as client:
            yield client
    finally:
        service.close()
        store.close()


def tackle(client: httpx.Client) -> str:
    game = client.get("api/games").json()[-1]["id"]
    call = next(call for call in client.get(f"api/games/{game}/calls").json() if call["kind"] == "tackle")
    return f"api/games/{game}/calls/{quote(call['id'], safe='')}"


@pytest.mark.parametrize("kind", ["bundle", "folder of bundles", "rig", "recordings"])
def test_calls_and_pictures_are_those_of_the_rig(kind: str, rig: Path, bundle: Path, tmp_path: Path) -> None:
    sources = {"bundle": bundle, "folder of bundles": bundle.parent, "rig": rig, "recordings": rig / "recordings"}
    with reviewed(sources[kind], tmp_path) as client:
        frames = client.get(f"{tackle(client)}/frames").json()
        assert frames["call"]["text"].startswith("dark-22 tackled by light-50")
        shown = client.get(f"{tackle(client)}/frames/{frames['decisive']}.jpg")
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/jpeg")
        assert len(frames["frames"]) > 40
        assert client.get("games").status_code == 200


@pytest.mark.parametrize("path", ["", "panel", "camera", "setup", "pair", "program"])
def test_pages_about_a_table_lead_to_the_games_where_there_is_no_table(path: str, bundle: Path, tmp_path: Path) -> None:
    with reviewed(bundle, tmp_path) as client:
        found = client.get(path)
        assert (found.status_code, found.headers["location"]) == (307, "games")
        assert [client.get(page).status_code for page in ("games", "game", "evidence", "league")] == [200] * 4


def test_nobody_can_change_anything(bundle: Path, tmp_path: Path) -> None:
    with reviewed(bundle, tmp_path) as client:
        body = {"declaration": {"type": "pass"}}
        for method, path in [("POST", "api/games"), ("POST", "api/declarations"), ("PUT", "api/calibration")]:
            assert client.request(method, path, json=body).status_code == 403, path
        assert client.get("api/games/current/bundle.zip").status_code == 403
        game = client.get("api/games").json()[-1]["id"]
        late = {"reopening": {"reason": "x"}, "challenges": {"side": "home", "call": "x", "reason": "x"}}
        for path, request in late.items():
            assert client.post(f"api/games/{game}/{path}", json=request).status_code == 403, path


def test_a_game_is_judged_under_another_rulebook_on_its_page(bundle: Path, tmp_path: Path) -> None:
    with reviewed(bundle, tmp_path) as client:
        assert client.get("api/session").json()["review"] is True
        game = client.get("api/games").json()[-1]["id"]
        answer = client.post(f"api/games/{game}/what-if", json={"rulebook": "efl"})
        assert (answer.status_code, answer.json()["there"]["rulebook"]) == (200, "efl")


def test_a_game_played_from_a_video_has_its_pictures_in_the_bundle(rig: Path, tmp_path: Path) -> None:
    store = Store.at(rig / "downfield.db")
    row = store.games()[-1]
    clip = BundleFile("recording/clip.mp4", bundled_demo())
    (tmp_path / "game.zip").write_bytes(b"".join(bundle_chunks(BundleSource(store, row, KEY, video=(clip,)))))
    store.close()
    with reviewed(tmp_path / "game.zip", tmp_path) as client:
        assert client.get(f"{tackle(client)}/frames/seal").json() == {"state": "none", "text": ""}
        frames = client.get(f"{tackle(client)}/frames").json()["frames"]
        times = [frame.t_ns for frame in _first(VideoFile(bundled_demo(), paced=False), 60)]
        assert [frame["t_ns"] for frame in frames if frame["t_ns"] <= times[-1]] == [
            t_ns for t_ns in times if t_ns >= frames[0]["t_ns"]
        ]


def _first(video: VideoFile, count: int) -> Iterator[CapturedFrame]:
    for _, frame in zip(range(count), video.frames(), strict=False):
        yield frame
    video.close()


def test_two_bundles_of_one_game_are_told_apart_from_two_games(bundle: Path, tmp_path: Path) -> None:
    shutil.copy(bundle, tmp_path / "a.zip")
    shutil.copy(bundle, tmp_path / "b.zip")
    store = Store.at(tmp_path / "review.db")
    with pytest.raises(InputError, match=r"b\.zip: is of the same game as .*a\.zip"):
        load_bundles(find_bundles(tmp_path), store, tmp_path)
    store.close()


@pytest.mark.parametrize("cut", [0.5, 0.99])
def test_a_cut_bundle_is_not_unpacked(bundle: Path, tmp_path: Path, cut: float) -> None:
    (tmp_path / "cut.zip").write_bytes(bundle.read_bytes()[: int(cut * bundle.stat().st_size)])
    store = Store.at(tmp_path / "review.db")
    with pytest.raises(FormatError, match="downfield verify"):
        unpack_bundle(tmp_path / "cut.zip", store, tmp_path / "out")
    assert store.games() == []
    store.close()


def test_a_folder_without_games_says_what_it_holds(rig: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no bundle, and no games"):
        find_rig_folder(tmp_path)
    shutil.copytree(rig / "recordings", tmp_path / "x" / "recordings")
    with pytest.raises(InputError, match="has recordings, but no games"):
        find_rig_folder(tmp_path / "x" / "recordings")
    video = next((rig / "recordings").rglob("*.mkv"))
    with pytest.raises(InputError, match="downfield run"):
        find_rig_folder(video)
    with pytest.raises(InputError, match="no such file"):
        find_rig_folder(tmp_path / "gone")


def test_a_recording_of_a_live_rig_is_a_source_with_the_rig_s_own_times(rig: Path) -> None:
    video = sorted((rig / "recordings").rglob("*.mkv"))[1]
    source = VideoFile(video, paced=False)
    frames = list(source.frames())
    source.close()
    assert [frame.t_ns % 20_000_000 for frame in frames] == [0] * len(frames)
    assert frames[0].index > 0
    first = frames[0].decode().image
    assert abs(float(first.mean()) - float(picture(frames[0].t_ns // 20_000_000).mean())) < 5


def test_an_altered_bundle_in_a_folder_does_not_hide_the_others(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    shutil.copy(bundle, tmp_path / "folder" / "good.zip")
    (tmp_path / "folder" / "cut.zip").write_bytes(bundle.read_bytes()[:-200])
    served: list[str] = []

    def serve(service: ReviewService, store: Store) -> None:
        served.extend(row.id for row in store.games())
        service.close()

    monkeypatch.setattr("downfield.cli.commands.review._serve", serve)
    review(tmp_path / "folder", port=0, settings=[f'data="{tmp_path}"'])
    assert len(served) == 1
    assert "cut.zip: was altered, so it is not opened" in capsys.readouterr().err


def test_a_bundle_is_judged_under_another_rulebook(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge([bundle], rulebook="tap", against="efl")
    out = capsys.readouterr().out
    assert "tackled by light-50" in out
    assert "tap against efl" in out


def test_an_altered_bundle_is_neither_judged_nor_reviewed(bundle: Path, tmp_path: Path) -> None:
    altered = bytearray(bundle.read_bytes())
    altered[len(altered) // 2] ^= 1
    (tmp_path / "game.zip").write_bytes(bytes(altered))
    with pytest.raises(InputError, match="was altered, so it is not judged"):
        judge([tmp_path / "game.zip"], rulebook="tap")
    with pytest.raises(InputError, match="--altered opens"):
        review(tmp_path / "game.zip", port=0, settings=[f'data="{tmp_path}"'])
    shutil.copy(bundle, tmp_path / "game.zip")
    with zipfile.ZipFile(tmp_path / "game.zip", "a") as archive:
        archive.writestr("../evil", "x")
    (tmp_path / "folder").mkdir()
    shutil.copy(tmp_path / "game.zip", tmp_path / "folder" / "evil.zip")
    with pytest.raises(InputError, match=r"folder: none of its bundles can be opened"):
        review(tmp_path / "folder", port=0, settings=[f'data="{tmp_path}"'])
    with pytest.raises(InputError, match=r"not even with --altered: it has a part with the name '\.\./evil'"):
        review(tmp_path / "game.zip", port=0, altered=True, settings=[f'data="{tmp_path}"'])
