"""One call as a signed file: what is in it, and that any change of it is found without the rig."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from evidence_service import RUNNER, EvidenceService
from typer.testing import CliRunner
from waiting import wait_until

from downfield.api.context.context import context_of
from downfield.cli.main import app
from downfield.core.errors import InputError
from downfield.core.track_files import TrackFile
from downfield.game.published.game_topics import CallView
from downfield.review.bundles.call_file import CALL, RULING, CallFile
from downfield.review.bundles.format import TRACKS
from downfield.review.bundles.reading import unpack_bundle
from downfield.review.bundles.verification import verify_bundle
from downfield.store.history import History
from downfield.store.sealing.signing import RigKey

KEY = RigKey.generate()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvidenceService]:
    made = EvidenceService(tmp_path_factory.mktemp("store") / "games.db")
    made.play()
    made.footage_store.opened.set()
    yield made
    made.close()


def call_file(service: EvidenceService) -> CallFile:
    row = service.store.game(service.game)
    assert row is not None

    def tackles(history: History) -> list[CallView]:
        return [call for call in history.calls() if call.kind == "tackle" and RUNNER in call.players]

    wait_until(lambda: tackles(History(service.store, row)), "the tackle is in the journal")
    history = History(service.store, row)
    return CallFile(history, tackles(history)[0], context_of(service.app).viewer, KEY)


def test_it_holds_sheet_pictures_and_measurements_and_is_verified_as_any_bundle(
    service: EvidenceService, tmp_path: Path
) -> None:
    file = call_file(service)
    path = tmp_path / file.name
    path.write_bytes(b"".join(file.chunks()))
    found = verify_bundle(path)
    assert found.intact
    assert found.manifest is not None
    assert (found.manifest.game, found.manifest.public_key) == (service.game, KEY.public_text)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
        named = set(archive.namelist())
    assert {CALL, RULING, TRACKS} <= named
    pictures = [name for name in named if name.endswith(".jpg")]
    assert len(pictures) > 10
    assert CallView.model_validate_json((tmp_path / CALL).read_text()) == file.call
    sheet = (tmp_path / RULING).read_text(encoding="utf-8")
    assert "Nobody has ruled on it" in sheet
    assert sheet.count("data:image/jpeg;base64,") == 2, "the frame before it, and the one that shows it"
    assert file.call.clauses[0].id in sheet
    assert any(scene.t_ns <= file.call.t_ns for scene in TrackFile(tmp_path / TRACKS))
    ran = CliRunner().invoke(app, ["verify", str(path), "--key", KEY.public_text])
    assert ran.exit_code == 0, ran.output
    with pytest.raises(InputError, match="holds one call and no game"):
        unpack_bundle(path, service.store, tmp_path)


@pytest.mark.parametrize("part", [CALL, RULING, TRACKS])
def test_a_change_of_any_part_is_found(service: EvidenceService, tmp_path: Path, part: str) -> None:
    whole = io.BytesIO(b"".join(call_file(service).chunks()))
    path = tmp_path / "changed.downfield.zip"
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(path, "w") as changed:
        for info in archive.infolist():
            content = archive.read(info)
            changed.writestr(info, content + b" " if info.filename == part else content)
    found = verify_bundle(path)
    assert not found.intact
    assert any(problem.part == part for problem in found.problems)


def test_a_call_without_pictures_is_signed_with_the_reason(tmp_path: Path) -> None:
    service = EvidenceService(tmp_path / "games.db", footage=False)
    service.play()
    path = tmp_path / "call.zip"
    path.write_bytes(b"".join(call_file(service).chunks()))
    found = verify_bundle(path)
    assert found.intact
    assert found.manifest is not None
    assert found.manifest.notes[0].startswith("no pictures: ")
    address = f"/api/games/current/calls/{call_file(service).call.id}/signed.zip"
    assert service.client.get(address).status == 404, "a service that only shows games signs nothing"
    service.close()
