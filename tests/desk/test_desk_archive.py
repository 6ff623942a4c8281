"""An archive: what may be added, found again by any index, and checked to the byte; in a folder and in S3."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from archived_games import OtherTasks, archive_of, items_of, make_bundles
from bundled_games import KEY, PlayedGame, bundle_of, played_game, written_anew
from hypothesis import given
from hypothesis import strategies as st
from played_table import Table
from postgres_server import postgres_server, skip_without_postgres
from typer.testing import CliRunner

from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli.main import app, run_command
from downfield.core.errors import InputError
from downfield.desk.archive.archive_files import ArchiveFiles, StorageError
from downfield.desk.archive.index import all_items, parse_selection
from downfield.desk.archive.items import (
    AddedFile,
    ArchivedItem,
    ItemLabels,
    add_files,
    addable_files,
    item_ids,
    write_item,
)
from downfield.desk.archive.job import ArchiveJob, JobSettings
from downfield.desk.archive.judging import check_item
from downfield.game.records.commands import MatchTicket, NewGame
from downfield.rig.games.kept_games import TrustedKeys
from downfield.store.sealing.signing import RigKey

if importlib.util.find_spec("s3fs") is None:
    pytest.skip("the extra `archive` is not installed", allow_module_level=True)

DAY_NS = 86_400_000_000_000
BEGAN_NS = 1_798_761_600_000_000_000  # 2027-01-01 00:00 UTC
NOBODY = TrustedKeys({})


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (made,) = make_bundles(tmp_path_factory.mktemp("bundles"), 1)
    return made


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    skip_without_postgres()
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["memory", "file", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    if request.param == "postgres":
        return str(request.getfixturevalue("server"))
    return None if request.param == "memory" else f"sqlite:///{tmp_path}/index.db"


def added(files: ArchiveFiles, path: Path, labels: ItemLabels | None = None) -> AddedFile:
    (found,) = add_files(files, [path], labels or ItemLabels(), set(item_ids(files)))
    return found


def listed(files: ArchiveFiles, count: int) -> list[ArchivedItem]:
    """Write records of games that have no files, and return them."""
    made = []
    for number in range(count):
        item = ArchivedItem(
            f"{number:064x}",
            "bundle",
            f"game-{number}",
            BEGAN_NS + number * DAY_NS,
            title="Final" if number == 3 else "",
            home="River City" if number % 2 else "100%_Steel",
            away="Dallas",
            rulebook="efl" if number == 2 else "tap",
            table=f"Table {number}",
            event="Spring Open",
            entries=5,
            public_key=KEY.public_text,
            video=False,
            files=(),
            season=f"Season {number}",
            first=f"{number:064x}",
        )
        write_item(files, item)
        made.append(item)
    return made


def test_a_bundle_is_added_once_with_what_its_manifest_says(bundle: Path, tmp_path: Path) -> None:
    files = ArchiveFiles.at(str(tmp_path))
    first = added(files, bundle, ItemLabels(event="Spring Open"))
    assert first.state == "added"
    (item,) = items_of(files)
    assert (item.home, item.rulebook, item.event, item.video) == ("River City", "tap", "Spring Open", True)
    again = added(files, bundle)
    assert (again.state, again.text) == ("there", f"is in the archive already, as {item.short}")


def test_a_game_that_was_exported_in_two_places_is_one_game_with_its_score_season_and_event(tmp_path: Path) -> None:
    desk = RigKey.generate()
    game = played_game(tmp_path)
    for name, key in (("rig", KEY), ("desk", desk)):
        (tmp_path / f"{name}.zip").write_bytes(bundle_of(game, key))
    files = archive_of(str(tmp_path / "archive"), [tmp_path / "rig.zip", tmp_path / "desk.zip"])
    assert len(item_ids(files)) == 2
    (item,) = parse_selection([]).find(all_items(files))
    assert item.score is not None
    assert (item.season, item.event) == (item.began_text[:4], "")
    assert f"{item.score[1]} to {item.score[0]}" in CliRunner().invoke(app, ["archive", "list", files.shown]).output
    with_ticket = signed_game(tmp_path / "event", "Spring Open")
    (tmp_path / "event.zip").write_bytes(bundle_of(with_ticket))
    found = added(files, tmp_path / "event.zip").item
    assert found is not None
    assert found.event == "Spring Open"


def signed_game(folder: Path, event: str) -> PlayedGame:
    """Return a game that was started for a match of an event."""
    folder.mkdir()
    table = Table(folder / "games.db")
    match = MatchTicket(draw="c0ffee", match="A1", sides=("e1", "e2"), names=("Owls", "Lions"), rig="rig")
    game = table.game_service.start_game(NewGame(title=f"{event}, A1", match=match))
    row = table.store.game(game)
    table.close()
    assert row is not None
    return PlayedGame(folder / "games.db", row)


def test_what_was_altered_or_is_something_else_is_refused_and_the_others_are_added(
    bundle: Path, tmp_path: Path
) -> None:
    altered = tmp_path / "altered.zip"
    altered.write_bytes(written_anew(bundle.read_bytes(), lambda parts: parts.update({"ABOUT.txt": b"won"})))
    text = tmp_path / "notes.txt"
    text.write_text("no game")
    video = tmp_path / "alone.mp4"
    shutil.copy(bundled_demo(), video)
    files = ArchiveFiles.at(str(tmp_path / "archive"))
    found = list(add_files(files, [altered, text, video, bundle], ItemLabels(), set()))
    assert [one.state for one in found] == ["refused", "refused", "refused", "added"]
    assert "was altered, so it is not added: ABOUT.txt was changed" in found[0].text
    assert found[1].text.endswith("notes.txt: is neither a bundle of a game nor a video")
    assert found[2].text.endswith("has no calibration. alone.calibration.json must be beside it.")
    assert len(item_ids(files)) == 1


def test_a_recording_is_added_with_the_files_beside_it(tmp_path: Path) -> None:
    (path,) = addable_files(bundled_demo().parent)
    files = ArchiveFiles.at(str(tmp_path))
    assert added(files, path, ItemLabels(rulebook="tap", table="Table 2")).state == "added"
    (item,) = items_of(files)
    assert [file.name for file in item.files] == [
        "demo.mp4",
        "demo.calibration.json",
        "demo.events.jsonl",
        "demo.tracks.jsonl",
    ]
    assert check_item(files, item, NOBODY).text == "as it was added; recordings are not signed"


def test_an_item_whose_files_could_not_all_be_written_is_not_in_the_archive(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ArchiveFiles.at(str(tmp_path))

    def full(*_: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(ArchiveFiles, "upload", full)
    with pytest.raises(StorageError, match="full"):
        added(files, bundle)
    assert item_ids(files) == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["all"], {0, 1, 2, 3}),
        (["team=river"], {1, 3}),
        (["team=RIVER CITY", "team=100%_"], {0, 1, 2, 3}),
        (["team=0%_s"], {0, 2}),
        (["team=0_"], set()),
        (["table=table 1", "table=Table 3"], {1, 3}),
        (["rulebook=efl"], {2}),
        (["event=spring", "title=final"], {3}),
        (["since=2027-01-02", "until=2027-01-03"], {1, 2}),
        (["date=2027-01-01"], {0}),
        (["date=2027"], {0, 1, 2, 3}),
        (["date=2026"], set()),
        (["game-2"], {2}),
        (["GAME-2", f"{1:064x}"], {1, 2}),
        (["kind=recording"], set()),
        (["season=SEASON 1"], {1}),
    ],
)
def test_a_selection_finds_the_same_in_every_kind_of_index(
    words: list[str], found: set[int], address: str | None, tmp_path: Path
) -> None:
    files = ArchiveFiles.at(str(tmp_path / "archive"))
    items = listed(files, 4)
    assert parse_selection(words).find(all_items(files, address)) == [items[number] for number in sorted(found)]


def test_an_index_follows_the_archive(address: str | None, tmp_path: Path) -> None:
    files = ArchiveFiles.at(str(tmp_path / "archive"))
    items = listed(files, 2)
    assert parse_selection([]).find(all_items(files, address)) == items
    (tmp_path / "archive" / "items" / f"{items[0].id}.json").unlink()
    longer = replace(items[1], id="f" * 64, entries=9)
    write_item(files, longer)
    now = all_items(files, address)
    assert parse_selection([]).find(now) == [longer], "of two bundles of a game the longer one is meant"
    assert parse_selection([items[1].id[:64]]).find(now) == [items[1]], "unless its id names the other"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("jersey=blue", "no condition is named 'jersey'. Use team, title"),
        ("team=", "says no value"),
        ("since=yesterday", "'yesterday' is no date. Write 2027, 2027-01 or 2027-01-31."),
        ("date=2027-02-30", "is no date"),
        ("", "An empty word selects nothing"),
    ],
)
def test_a_word_that_selects_nothing_is_refused_with_what_may_be_written(word: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        parse_selection([word])


@given(st.lists(st.text(max_size=20), max_size=4))
def test_any_words_are_a_selection_or_a_clear_error(words: list[str]) -> None:
    with suppress(InputError):
        parse_selection(words)


def test_a_name_that_is_unknown_or_means_several_is_refused(tmp_path: Path) -> None:
    files = ArchiveFiles.at(str(tmp_path))
    listed(files, 3)
    items = all_items(files)
    with pytest.raises(InputError, match="no item and no game 'game-9'"):
        parse_selection(["game-9"]).find(items)
    with pytest.raises(InputError, match="the beginning of 3 ids"):
        parse_selection(["0000"]).find(items)


def test_verify_tells_a_changed_a_missing_and_a_foreign_bundle(bundle: Path, tmp_path: Path) -> None:
    files = archive_of(str(tmp_path), [bundle])
    (item,) = items_of(files)
    assert check_item(files, item, NOBODY).good
    assert check_item(files, item, TrustedKeys({KEY.public_text: "table 1"})).text == "unaltered, signed by table 1"
    assert check_item(files, item, TrustedKeys({"ed25519:other": "x"})).text.startswith("FOREIGN KEY")
    path = tmp_path / "files" / item.id / "game.downfield.zip"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    changed = check_item(files, item, NOBODY)
    assert (changed.good, changed.text) == (
        False,
        "NOT IN ORDER: game.downfield.zip was changed in the archive since it was added",
    )
    path.unlink()
    assert "no such file" in check_item(files, item, NOBODY).text


def test_a_record_that_leads_out_of_the_archive_is_refused(tmp_path: Path) -> None:
    files = ArchiveFiles.at(str(tmp_path))
    (item,) = listed(files, 1)
    record = tmp_path / "items" / f"{item.id}.json"
    data = json.loads(record.read_text())
    data["files"] = [{"name": "../../passwd", "size": 1, "sha256": "0"}]
    record.write_text(json.dumps(data))
    with pytest.raises(InputError, match="can't be the name of a file"):
        all_items(files)


def test_the_command_lists_and_its_exit_status_tells_of_faults(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = str(tmp_path / "archive")
    runner = CliRunner()
    assert run_command(["archive", "add", str(bundle), str(tmp_path), "--to", archive]) == 2, "an empty folder"
    assert not Path(archive).exists(), "nothing is added before all that was named is there"
    assert runner.invoke(app, ["archive", "add", str(bundle), "--to", archive, "--event", "Open"]).exit_code == 0
    done = runner.invoke(app, ["archive", "list", archive, "team=river"])
    assert "tap  Open" in done.output
    assert run_command(["archive", "list", archive, "team=nobody"]) == 2
    assert run_command(["archive", "list", str(tmp_path / "nothing")]) == 2
    assert run_command(["archive", "verify", archive, "--set", f"data={tmp_path}"]) == 0
    capsys.readouterr()
    assert run_command(["archive", "verify", archive, "--json", "--set", f"data={tmp_path}"]) == 0
    checked = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert checked
    assert all(one["good"] and one["id"] and one["text"] for one in checked)
    next((tmp_path / "archive" / "files").glob("*/*.zip")).unlink()
    assert run_command(["archive", "verify", archive, "--set", f"data={tmp_path}"]) == 1


@pytest.mark.parametrize(("address", "message"), [("carrier-pigeon://roof", "no address of an archive"), ("s3://", "")])
def test_an_address_that_no_archive_can_have_is_one_clear_line(
    address: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["archive", "list", address]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An object store that speaks S3, with one empty bucket."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir("league")
    yield "s3://league/season-1"
    s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


def test_an_archive_in_s3_gives_the_same_bytes_as_one_in_a_folder(
    bundle: Path, bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results: dict[str, dict[str, bytes]] = {}
    for name, url in {"folder": str(tmp_path / "archive"), "s3": bucket}.items():
        files = archive_of(url, [bundle])
        assert added(files, bundle).state == "there"
        (item,) = items_of(files)
        assert check_item(files, item, NOBODY).good
        out = tmp_path / name
        out.mkdir()
        job = ArchiveJob(JobSettings.of(None), files, files, (item,))
        connected: Any = OtherTasks
        report = job.run(connected, lambda _done, _total: None, out)
        assert report.failed == ()
        assert job.finished() == {item.id}
        results[name] = {path.name: path.read_bytes() for path in sorted(out.iterdir())}
    assert results["s3"] == results["folder"]
    assert run_command(["archive", "list", bucket]) == 0
    assert "River City" in capsys.readouterr().out
    assert run_command(["archive", "list", "s3://no-such-bucket/x"]) == 2
