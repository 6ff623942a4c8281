"""A game's bundle over HTTP: whole, for operators, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from asgi_client import AsgiClient
from bundled_games import KEY
from played_table import Table

from downfield.api.app import create_app
from downfield.api.context.context import RigParts
from downfield.broadcast.latest_picture import LatestPicture
from downfield.review.bundles.verification import verify_bundle
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.games.bundle_export import BundleExporter


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path / "games.db")
    made.begin()
    made.play()
    yield made
    made.close()


def test_the_bundle_of_the_game_in_play_is_downloaded_whole(table: Table, tmp_path: Path) -> None:
    exporter = BundleExporter(table.store, RigSettings(data=str(tmp_path)), KEY, lambda: None)
    parts = RigParts(table.game_service, table.hub, LatestPicture(), table.store, rig_key=KEY, bundles=exporter)
    client = AsgiClient(create_app(parts))
    answer = client.get("/api/games/current/bundle.zip?video=false")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/zip"
    assert table.game_service.game_id in answer.headers["content-disposition"]
    (tmp_path / "game.zip").write_bytes(answer.body)
    assert KEY.public_text.encode() in client.get("/api/games/current/report.html").body
    found = verify_bundle(tmp_path / "game.zip")
    assert found.intact
    assert found.manifest is not None
    assert found.manifest.public_key == client.get("/about").json["public_key"]
    making = exporter.chunks(table.store.games()[0], video=False)
    next(making)
    assert client.get("/api/games/current/bundle.zip").status == 503
    making.close()
    assert client.get("/api/games/20270101-120000-abcd/bundle.zip").status == 404
