"""A game's journal says what it was judged with, who commanded what, who was paired, and what was recorded, sealed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from played_table import Table
from recorded_frames import MJPEG, captured_frame
from typer.testing import CliRunner

from downfield.api.security import tokens as tokens_module
from downfield.api.security.tokens import TokenStore
from downfield.calibration.calibration import Calibration, read_calibration
from downfield.capture.problems import ActiveProblems
from downfield.capture.recording.recorder import Recorder
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.recording.segment import compare_recordings, unsealed_recordings
from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli.main import app
from downfield.game.published.board_topics import HealthStatus
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame, Record, SetRulebook, Settings
from downfield.game.records.entries import (
    KINDS,
    CommandCarriedOut,
    DeviceChanged,
    MaterialUsed,
    SegmentSealed,
    TableRecord,
    unpack_entry,
)
from downfield.game.records.keeping import GameRow
from downfield.review.evidence.evidence import RecordingCheck, SealedRecordings
from downfield.rig.games.table_seals import TableSeals
from downfield.store.sealing.hash_chain import verify_journal

SETTINGS = Settings(version="1.0", values={"game": {"rulebook": "tap"}}, origins={})


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path / "games.db")
    made.begin()
    yield made
    made.close()


def records(table: Table, kind: type[TableRecord], game: str | None = None) -> list[TableRecord]:
    """Return the records of a kind in a game's journal, once everything is written."""
    table.game_service._journals.close()
    name = table.game_service.game_id if game is None else game
    assert verify_journal(name, table.store.entries(name)).problem == ""
    kinds = {name for name, known in KINDS.items() if known is kind}
    contents = [unpack_entry(row.kind, row.content, where="") for row in table.store.entries(name) if row.kind in kinds]
    return [content for content in contents if isinstance(content, kind)]


def test_commands_are_journaled_with_device_and_role(table: Table) -> None:
    by = Submission("Sam's phone", "key", role="operator")
    for _ in range(2):  # a tap sent again is carried out, and journaled, once
        table.game_service.command(Record(on=True), by)
    table.game_service.command(SetRulebook(rulebook="none"), by)
    assert records(table, CommandCarriedOut) == [CommandCarriedOut("record", "record done", "Sam's phone", "operator")]
    table.game_service.command(NewGame(title="next"), Submission("the admin", role="admin"))
    (started,) = records(table, CommandCarriedOut)
    assert isinstance(started, CommandCarriedOut)
    assert (started.command, started.by, started.role) == ("new_game", "the admin", "admin")


def test_pairings_and_revocations_are_journaled_with_device_and_role(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        tokens_module, "PAIRING_LIMITS", replace(tokens_module.PAIRING_LIMITS, confirmed_after_ns=2**62)
    )
    now_ns = [2 * 10**18]
    tokens = TokenStore(
        table.store, now_ns=lambda: now_ns[0], on_changed=table.game_service.note, wall_ns=lambda: now_ns[0]
    )
    ids = []
    for name in ("Sam's phone", "Ann's phone"):
        paired = tokens.redeem(tokens.make_code("operator").code, name)
        assert paired is not None
        ids.append(paired[1].id)
    tokens.revoke(ids[0], "the admin")
    tokens.revoke(ids[0], "the admin")
    now_ns[0] += 91 * 86_400 * 10**9
    tokens.redeem(tokens.make_code("viewer").code, "a screen")
    found = [
        (one.change, one.name, one.role, one.by)
        for one in records(table, DeviceChanged)
        if isinstance(one, DeviceChanged)
    ]
    assert found == [
        ("paired", "Sam's phone", "operator", ""),
        ("paired", "Ann's phone", "operator", ""),
        ("revoked", "Sam's phone", "operator", "the admin"),
        ("expired", "Ann's phone", "operator", ""),
        ("paired", "a screen", "viewer", ""),
    ]


def test_what_a_game_is_judged_with_is_in_every_journal_and_at_each_change(table: Table) -> None:
    calibrations: list[Calibration | None] = [None]
    seals = TableSeals(table.game_service, lambda: calibrations[-1], SETTINGS, "")
    for _ in range(3):
        seals.publish_health(HealthStatus())
    first = table.game_service.game_id
    read = read_calibration(bundled_demo().with_suffix(".calibration.json"))
    calibrations.append(read)
    seals.check()
    calibrations.append(replace(read, field=replace(read.field, name="other")))
    seals.check()
    seals.check()
    assert _materials(table, first) == ["configuration", "network", "rulebook", "calibration", "calibration"]
    table.begin()
    seals.check()
    assert _materials(table) == ["configuration", "network", "rulebook", "calibration"]
    table.game_service.command(SetRulebook(rulebook="efl"), Submission())
    seals.check()
    assert _materials(table)[4:] == ["rulebook"]
    sealed = [one.sha256 for one in records(table, MaterialUsed, first) if isinstance(one, MaterialUsed)]
    assert len(set(sealed)) == 5
    seals.finish(None)


def _materials(table: Table, game: str | None = None) -> list[str]:
    return [one.material for one in records(table, MaterialUsed, game) if isinstance(one, MaterialUsed)]


@pytest.fixture
def recorded(table: Table, tmp_path: Path) -> tuple[Path, list[SegmentSealed]]:
    """A recording of three files, sealed in the journal of the game."""
    seals, folder = TableSeals(table.game_service, lambda: None, SETTINGS, None), tmp_path / "recordings"
    calibration = read_calibration(bundled_demo().with_suffix(".calibration.json"))
    recorder = Recorder(
        folder,
        RecordingSettings(segment_s=1.0),
        lambda: MJPEG,
        ActiveProblems(),
        calibration=lambda: calibration,
        finished=seals.seal,
    )
    recorder.record(True)
    for index in range(120):
        recorder.frame_captured(captured_frame(index))
    seals.finish(recorder)
    found = [one for one in records(table, SegmentSealed) if isinstance(one, SegmentSealed)]
    assert [seal.segment.rpartition("/")[2] for seal in found] == ["0001.mkv", "0002.mkv", "0003.mkv"]
    return folder, found


def test_an_untouched_recording_is_as_it_was_sealed(recorded: tuple[Path, list[SegmentSealed]]) -> None:
    folder, seals = recorded
    assert list(compare_recordings(folder, seals)) == []
    assert unsealed_recordings(folder, seals) == []
    assert all(len(seal.files) == 3 for seal in seals)


@pytest.mark.parametrize("ending", [".mkv", ".frames.jsonl", ".calibration.json"])
def test_an_altered_a_missing_and_a_swapped_file_are_told(
    ending: str, recorded: tuple[Path, list[SegmentSealed]]
) -> None:
    folder, seals = recorded
    first, second, third = (next(folder.rglob(f"{number:04d}{ending}")) for number in (1, 2, 3))
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 1
    first.write_bytes(content)
    third.unlink()
    told = list(compare_recordings(folder, seals))
    assert len(told) == 2
    assert told[0].endswith(f"0001{ending}: the file was altered.")
    assert f"0003{ending}: the file is missing." in told[1]
    if ending != ".calibration.json":  # which is the same beside each file
        shutil.copy(second, first)
        swapped = list(compare_recordings(folder, seals))
        assert swapped[0].endswith(f"0002{ending} is in its place.")


@pytest.fixture
def earlier(table: Table) -> GameRow:
    """The game that was played before the one in play."""
    row = table.store.game(table.game_service.game_id)
    table.begin()
    assert row is not None
    return row


def test_pictures_are_told_to_be_of_the_recording_that_was_sealed_or_of_another(
    table: Table, earlier: GameRow, recorded: tuple[Path, list[SegmentSealed]]
) -> None:
    folder, _ = recorded
    row, checks = table.store.game(table.game_service.game_id), SealedRecordings(table.store)
    assert row is not None
    first, second, third = (next(folder.rglob(f"{number:04d}.mkv")) for number in (1, 2, 3))
    for game in (row, earlier):  # a file that was begun in one game is sealed in the next
        assert checks.check(game, [first, second]).state == "sealed"
    shutil.copy(second, third)
    swapped = checks.check(row, [second, third])
    assert (swapped.state, "0003.mkv was altered, or another file" in swapped.text) == ("altered", True)
    index = first.with_name("0001.frames.jsonl")
    kept = index.read_bytes()
    index.write_bytes(kept + b"\n")
    assert checks.check(row, [first]).state == "altered"
    index.write_bytes(kept)
    assert checks.check(row, [first]).state == "sealed"
    first.with_name("0001.calibration.json").unlink()  # nothing is drawn then, which the page says
    assert checks.check(row, [first]).state == "sealed"
    added = first.with_name("0009.mkv")
    shutil.copy(first, added)
    assert checks.check(row, [first, added]).state == "unsealed"


def test_a_game_without_seals_says_nothing_of_them(table: Table, tmp_path: Path) -> None:
    row = table.store.game(table.game_service.game_id)
    assert row is not None
    (tmp_path / "0001.mkv").write_bytes(b"x")
    assert SealedRecordings(table.store).check(row, [tmp_path / "0001.mkv"]) == RecordingCheck("none", "")


def test_verify_checks_recordings_by_the_journals_of_a_store(
    table: Table, recorded: tuple[Path, list[SegmentSealed]]
) -> None:
    folder, _ = recorded
    command = ["verify", str(table.path), "--recordings", str(folder)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert f"{folder}: 3 sealed files checked" in done.output
    (folder / "000002-20260101-000000").mkdir()
    shutil.copy(next(folder.rglob("0001.mkv")), folder / "000002-20260101-000000" / "0001.mkv")
    next(folder.rglob("0002.frames.jsonl")).unlink()
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert "0002.frames.jsonl: the file is missing" in done.output
    assert "000002-20260101-000000/0001.mkv: has no seal" in done.output


def test_a_game_with_all_of_it_is_resumed_and_read_as_without(table: Table) -> None:
    table.play()
    table.game_service.command(Record(on=True), Submission())
    calls, text, game = table.game_service.calls(), table.game_service.text, table.game_service.game_id
    table.close()
    again = Table(table.path)
    assert again.game_service.resume() == game
    assert (again.game_service.calls(), again.game_service.text) == (calls, text)
    again.close()
