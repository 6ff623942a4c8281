"""Bundles are written in little memory whatever they hold, and hold exactly what the store does."""

from __future__ import annotations

import tracemalloc
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from bundled_games import KEY, PlayedGame, bundle_of, played_game
from played_table import PLAY, Table

from downfield.core.track_files import TrackFile
from downfield.officiating.calls import read_calls
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.events import read_events
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.bundles import format as names
from downfield.review.bundles.format import BundleFile, BundleSource, bundle_chunks
from downfield.review.bundles.verification import journal_rows, verify_bundle
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store

FILE_BYTES, FILES = 32 << 20, 3


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> PlayedGame:
    return played_game(tmp_path_factory.mktemp("game"))


def unpacked(bundle: bytes, folder: Path) -> Path:
    (folder / "game.zip").write_bytes(bundle)
    with zipfile.ZipFile(folder / "game.zip") as archive:
        archive.extractall(folder)
    return folder


def test_the_journal_comes_back_entry_for_entry(tmp_path: Path, game: PlayedGame) -> None:
    unpacked(bundle_of(game), tmp_path)
    store = Store.at(game.store)
    with zipfile.ZipFile(tmp_path / "game.zip") as archive:
        assert list(journal_rows(archive)) == list(store.entries(game.row.id))
    store.close()


def test_its_tracks_and_events_judged_again_make_the_same_calls(tmp_path: Path, game: PlayedGame) -> None:
    folder = unpacked(bundle_of(game), tmp_path)
    tracks = TrackFile(folder / names.TRACKS)
    assert all(before.t_ns < after.t_ns for before, after in pairwise(tracks))
    assert tracks.header.players == PLAY.players
    header, calls = read_calls(folder / names.CALLS)
    _, events = read_events(folder / names.EVENTS)
    again = judge_recording(tracks, events, load_rulebook("tap"), tracks.header.field)
    told = [(call.kind, call.players, call.spot_yd) for call in again.calls]
    assert [(call.kind, call.players, call.spot_yd) for call in calls if call.kind == "tackle"] == [
        one for one in told if one[0] == "tackle"
    ]
    assert header.rulebook == "tap"


def test_a_long_recording_is_streamed_in_little_memory(tmp_path: Path, game: PlayedGame) -> None:
    video = tmp_path / "0001.mkv"
    with video.open("wb") as file:
        file.truncate(FILE_BYTES)  # takes no room on the disk
    files = tuple(
        BundleFile(f"recording/000001-20270105-180000/{number:04d}.mkv", video) for number in range(1, FILES + 1)
    )
    store = Store.at(game.store)
    chunks = bundle_chunks(BundleSource(store, game.row, KEY, video=files))
    tracemalloc.start()
    try:
        size = sum(len(chunk) for chunk in chunks)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        store.close()
    assert size > FILES * FILE_BYTES
    assert peak < 8 << 20


def test_a_file_that_was_deleted_meanwhile_is_noted_and_the_rest_is_there(tmp_path: Path, game: PlayedGame) -> None:
    gone = BundleFile("recording/000001-20270105-180000/0001.mkv", tmp_path / "gone.mkv")
    (tmp_path / "game.zip").write_bytes(bundle_of(game, video=(gone,)))
    found = verify_bundle(tmp_path / "game.zip")
    assert found.intact
    assert found.manifest is not None
    assert found.manifest.notes == (f"{gone.name}: can't be read: No such file or directory",)


def test_texts_of_any_script_are_escaped_in_the_report_and_come_back(tmp_path: Path, game: PlayedGame) -> None:
    home, away = "<b>Ægir & Søn</b> 鋼鐵", 'דוברי "אמת"'
    store = Store.at(tmp_path / "copy.db")
    source = Store.at(game.store)
    row = game.row.__class__(game.row.id, game.row.began_ns, "</title><script>", home, away, "tap")
    store.append(list(source.entries(game.row.id)), row)
    content = b"".join(bundle_chunks(BundleSource(store, row, RigKey.generate())))
    source.close()
    store.close()
    folder = unpacked(content, tmp_path)
    report = (folder / names.REPORT).read_text(encoding="utf-8")
    assert "&lt;b&gt;Ægir &amp; Søn&lt;/b&gt; 鋼鐵" in report
    assert "דוברי" in report
    assert "<script" not in report
    found = verify_bundle(folder / "game.zip")
    assert found.intact
    assert found.manifest is not None
    assert found.manifest.home == home


def test_a_game_that_has_only_begun_is_bundled_as_well(tmp_path: Path) -> None:
    table = Table(tmp_path / "games.db")
    game = table.begin()
    row = table.store.game(game)
    assert row is not None
    (tmp_path / "game.zip").write_bytes(b"".join(bundle_chunks(BundleSource(table.store, row, KEY))))
    table.close()
    assert verify_bundle(tmp_path / "game.zip").intact
    with zipfile.ZipFile(tmp_path / "game.zip") as archive:
        assert "No play was begun" in archive.read(names.REPORT).decode()
