"""`downfield export` and `downfield verify` of bundles: from a rig's data folder to another computer's judgment."""

from __future__ import annotations

import csv
import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import av
import pytest
from bundled_games import CALIBRATION, played_game
from recorded_frames import captured_frame, record
from typer import Exit

from downfield.calibration.calibration import write_calibration
from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli.commands.export import export
from downfield.cli.commands.verify import STRANGER, verify
from downfield.cli.main import run_command
from downfield.core.errors import BusyError, InputError, NotRecordedError, OutputError
from downfield.core.track_files import TrackFile, write_tracks
from downfield.review.bundles import format as names
from downfield.rig.configuration.settings import RigSettings, SourceSettings
from downfield.rig.games.bundle_export import BundleExporter
from downfield.rig.games.kept_games import RIG_KEY
from downfield.store.history import History
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store

SECRET = "rtsp://coach:hunter2@10.0.0.7/stream"


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of a rig with one game."""
    data = tmp_path / "rig"
    data.mkdir()
    game = played_game(data)
    game.store.rename(data / "downfield.db")
    for name in os.environ:
        if name.startswith("DOWNFIELD_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DOWNFIELD_DATA", str(data))
    monkeypatch.chdir(tmp_path)
    return data


def first_game(rig: Path) -> str:
    store = Store.at(rig / "downfield.db")
    rows = store.games()
    store.close()
    return rows[-1].id


def public_key(rig: Path) -> str:
    return RigKey.load_or_create(rig / RIG_KEY).public_text


def test_a_game_is_exported_and_found_unaltered_by_the_rig_itself(
    rig: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = first_game(rig)
    export(game)
    bundle = tmp_path / f"{game}.downfield.zip"
    assert f"signed with {public_key(rig)}" in capsys.readouterr().out
    verify(str(bundle))
    out = capsys.readouterr().out
    assert "unaltered" in out
    assert "signed by this rig" in out
    with zipfile.ZipFile(bundle) as archive:
        for name in archive.namelist():
            assert str(tmp_path).encode() not in archive.read(name), name


def test_another_computer_compares_the_key(
    rig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = str(tmp_path / "game.zip")
    export(first_game(rig), Path(bundle), without_video=True)
    key, other = public_key(rig), RigKey.generate().public_text
    monkeypatch.setenv("DOWNFIELD_DATA", str(tmp_path / "elsewhere"))
    capsys.readouterr()
    with pytest.raises(Exit) as left:
        verify(bundle)
    assert left.value.exit_code == STRANGER, "a script can't tell whose signature this is"
    assert "does not know" in capsys.readouterr().out
    verify(bundle, key=[key])
    with pytest.raises(Exit) as left:
        verify(bundle, key=[other])
    assert left.value.exit_code == 1
    assert "FOREIGN KEY" in capsys.readouterr().out
    with pytest.raises(Exit):
        verify(bundle, key=[other], trust="Table 4")
    with pytest.raises(Exit):
        verify(bundle)
    assert "does not know" in capsys.readouterr().out
    verify(bundle, key=[key], trust="Table 3 – 左")
    verify(bundle)
    assert "signed by Table 3 – 左" in capsys.readouterr().out
    foreign = tmp_path / "foreign"
    RigKey.load_or_create(foreign / RIG_KEY)
    monkeypatch.setenv("DOWNFIELD_DATA", str(foreign))
    with pytest.raises(Exit):
        verify(bundle)
    assert "does not trust" in capsys.readouterr().out
    verify(bundle, trust="Table 3")
    with pytest.raises(InputError, match="is no public key"):
        verify(bundle, key=["ed25519:short"])


def test_an_altered_bundle_names_the_part_and_exits_with_status_1(
    rig: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tmp_path / "game.zip"
    export(first_game(rig), bundle)
    content = bytearray(bundle.read_bytes())
    with zipfile.ZipFile(bundle) as archive:
        info = archive.getinfo(names.TRACKS)
    content[info.header_offset + 200] ^= 1
    bundle.write_bytes(bytes(content))
    with pytest.raises(Exit) as left:
        verify(str(bundle))
    assert left.value.exit_code == 1
    assert f"changed: {names.TRACKS} was changed" in capsys.readouterr().out


def test_the_segments_of_the_game_s_time_are_copied_byte_for_byte(rig: Path, tmp_path: Path) -> None:
    frames = [replace(captured_frame(index), t_ns=index * 20_000_000) for index in range(90)]
    videos = record(rig / "recordings", frames, segment_s=1.0)
    later = record(tmp_path / "later", [replace(captured_frame(0), t_ns=3600 * 10**9)])
    shutil.move(later[0].parent, rig / "recordings" / "000099-20270105-190000")
    write_calibration(videos[0].with_suffix(".calibration.json"), CALIBRATION)
    store = Store.at(rig / "downfield.db")
    row = store.games()[-1]
    exporter = BundleExporter(store, RigSettings(data=str(rig)), RigKey.generate(), lambda: None)
    source = exporter.source(row, video=True)
    assert source.calibration == CALIBRATION
    assert source.notes == ()
    without = exporter.source(row, video=False)
    assert (without.calibration, without.video) == (CALIBRATION, ())
    copied = {file.name: file.path for file in source.video}
    assert [path.name for path in copied.values() if path.suffix == ".mkv"] == [path.name for path in videos]
    bundle = tmp_path / "game.zip"
    bundle.write_bytes(b"".join(exporter.chunks(row, video=True)))
    with zipfile.ZipFile(bundle) as archive:
        for name, path in copied.items():
            assert archive.read(name) == path.read_bytes()
    store.close()


def test_no_secret_and_no_path_is_in_the_configuration(rig: Path) -> None:
    settings = RigSettings(data=str(rig), source=SourceSettings(name=SECRET))
    store = Store.at(rig / "downfield.db")
    exporter = BundleExporter(store, settings, RigKey.generate(), lambda: None)
    text = str(exporter.source(store.games()[-1], video=False).configuration)
    store.close()
    assert "hunter2" not in text
    assert "10.0.0.7" not in text
    assert str(rig) not in text


def test_one_bundle_is_made_at_a_time(rig: Path) -> None:
    store = Store.at(rig / "downfield.db")
    exporter = BundleExporter(store, RigSettings(data=str(rig)), RigKey.generate(), lambda: None)
    row = store.games()[-1]
    first = exporter.chunks(row, video=False)
    next(first)
    with pytest.raises(BusyError):
        next(exporter.chunks(row, video=False))
    first.close()
    assert next(exporter.chunks(row, video=False))
    store.close()


@pytest.mark.parametrize("game", ["", "gone", "../x", "a\nb"])
def test_a_game_that_is_not_there_is_one_line_with_those_that_are(rig: Path, game: str) -> None:
    with pytest.raises(InputError, match="has no game") as refused:
        export(game, Path("x.zip"))
    assert "\n" not in str(refused.value)
    assert first_game(rig) in str(refused.value)
    assert not Path("x.zip").exists()


def test_a_folder_that_can_t_be_written_is_told_before_work_begins(rig: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="can't be written"):
        export(first_game(rig), tmp_path / "file" / "game.zip")


def test_tracks_alone_are_written_as_a_table(rig: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export(first_game(rig), tracks=tmp_path / "play.CSV", play=1)
    assert "tracks of play 1" in capsys.readouterr().out
    assert (tmp_path / "play.CSV").read_text().startswith("t_ns,t_s,frame,play,figure")
    assert not list(tmp_path.glob("*.zip"))
    with pytest.raises(InputError, match=r"\.csv or \.parquet"):
        export(first_game(rig), tracks=tmp_path / "play.xlsx")
    with pytest.raises(InputError, match="belongs to --tracks"):
        export(first_game(rig), play=1)


def test_a_clip_and_a_picture_of_a_play_or_a_call_are_written(
    rig: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frames = [replace(captured_frame(index), t_ns=index * 20_000_000) for index in range(150)]
    record(rig / "recordings", frames, segment_s=1.0)
    game, video = first_game(rig), tmp_path / "play.mp4"
    export(game, clip=video, play=1, speed=0.5)
    assert f"{video}: play 1, " in capsys.readouterr().out
    with av.open(str(video)) as container:
        assert container.streams.video[0].codec_context.name == "h264"
        assert sum(1 for _ in container.decode(video=0)) > 50
    store = Store.at(rig / "downfield.db")
    tackle = next(call.id for call in History(store, store.games()[-1]).calls() if call.kind == "tackle")
    store.close()
    export(game, clip=tmp_path / "call.PNG", call=tackle, plain=True)
    assert (tmp_path / "call.PNG").read_bytes().startswith(b"\x89PNG")
    assert not list(tmp_path.glob("*.zip"))


def test_a_clip_that_can_t_be_made_is_one_line_that_says_why(rig: Path, tmp_path: Path) -> None:
    game = first_game(rig)
    with pytest.raises(InputError, match=r"written as \.mp4 or \.gif, pictures as \.png"):
        export(game, clip=tmp_path / "play.avi", play=1)
    with pytest.raises(InputError, match="either --play N or --call ID"):
        export(game, clip=tmp_path / "play.mp4")
    with pytest.raises(InputError, match="belong to --clip"):
        export(game, call="tackle:1")
    with pytest.raises(InputError, match="has no play 7: it has 1"):
        export(game, clip=tmp_path / "play.mp4", play=7)
    with pytest.raises(InputError, match=r"has that id\. Its calls: .*tackle"):
        export(game, clip=tmp_path / "play.mp4", call="tackle:nobody")
    with pytest.raises(NotRecordedError, match="No recording holds"):
        export(game, clip=tmp_path / "play.mp4", play=1)
    assert not list(tmp_path.glob("*.mp4"))


def test_a_track_file_becomes_a_table_a_drawn_video_and_its_plays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = bundled_demo()
    tracks = TrackFile(demo.with_suffix(".tracks.jsonl"))
    few = [scene for scene in tracks if scene.t_ns < 1_000_000_000]
    marked = [replace(scene, board="on" if 10 <= place < 20 else "off") for place, scene in enumerate(few)]
    path = tmp_path / "few.tracks.jsonl"
    write_tracks(path, tracks.header, marked)
    table = tmp_path / "few.csv"
    assert run_command(["convert", str(path), "-o", str(table), "-q"]) == 0
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == len(few) * len(tracks.header.players)
    assert {row["play"] for row in rows} == {"0", "1"}
    words = ["convert", str(path), "--video", str(demo), "-q"]
    assert run_command([*words, "-o", str(tmp_path / "plays"), "--plays"]) == 0
    (play,) = (tmp_path / "plays").iterdir()
    assert frames_in(play) > 10
    assert run_command([*words, "-o", str(tmp_path / "few.txt")]) == 2
    assert "end the name in .csv, .parquet or .mp4" in capsys.readouterr().err


def frames_in(video: Path) -> int:
    with av.open(str(video)) as container:
        return sum(1 for _ in container.decode(video=0))
