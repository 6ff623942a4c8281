"""Tables of tracks hold every figure of every frame, in units that are told, as CSV and as Parquet alike."""

from __future__ import annotations

import csv
import importlib.util
import io
from itertools import groupby

import pytest
from asgi_client import AsgiClient
from hypothesis import given
from hypothesis import strategies as st
from played_table import PLAY, RUNNER, Table
from pyarrow import BufferReader
from pyarrow.parquet import ParquetFile
from scripted_plays import FIELD

from downfield.api.app import create_app
from downfield.api.context.context import RigParts
from downfield.broadcast.latest_picture import LatestPicture
from downfield.core.errors import MissingExtraError, NotFoundError
from downfield.core.files.csv_text import csv_chunks
from downfield.review import tracks as tracks_module
from downfield.review.tracks import COLUMNS, TrackTable, tracks_csv, tracks_parquet
from downfield.store.history import History


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    made = Table(tmp_path_factory.mktemp("game") / "games.db")
    made.begin()
    made.play()
    made.game_service.close()
    return made


def tracks(table: Table, play: int | None = None) -> TrackTable:
    return TrackTable(table.store, History(table.store, table.store.games()[0]), play)


def read(chunks: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(chunks.decode(), newline="")))


def test_every_figure_of_every_frame_is_a_row_in_yards_and_millimeters(table: Table) -> None:
    rows = read(b"".join(tracks_csv(tracks(table))))
    frames = {frame: list(of) for frame, of in groupby(rows, key=lambda row: int(row["frame"]))}
    kept = [scene for scene in PLAY.scenes if scene.frame in frames]
    assert len(kept) > 60
    for scene in kept:
        assert [row["figure"] for row in frames[scene.frame]] == [figure.id for figure in scene.figures]
        for row, figure in zip(frames[scene.frame], scene.figures, strict=True):
            assert float(row["x_mm"]) == pytest.approx(figure.x_mm, abs=1e-3)
            assert float(row["x_yd"]) == pytest.approx(figure.x_mm / FIELD.mm_per_yd_x, abs=1e-4)
            assert float(row["y_yd"]) == pytest.approx(figure.y_mm / FIELD.mm_per_yd_y, abs=1e-4)
            assert int(row["t_ns"]) == scene.t_ns
    assert {row["touching"] for row in rows} == {"true", "false"}


def test_one_play_alone_begins_at_its_snap(table: Table) -> None:
    rows = read(b"".join(tracks_csv(tracks(table, 1))))
    assert rows[0]["t_s"] == "0.0"
    assert {row["play"] for row in rows} == {"1"}
    with pytest.raises(NotFoundError, match=r"no play 2\. It has the plays 1 to 1"):
        tracks(table, 2)


def test_parquet_holds_what_csv_holds(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracks_module, "_ROWS_OF_A_GROUP", 50)
    file = ParquetFile(BufferReader(b"".join(tracks_parquet(tracks(table)))))
    assert file.num_row_groups > 2
    columns = file.read().to_pydict()
    assert tuple(columns) == COLUMNS
    rows = read(b"".join(tracks_csv(tracks(table))))
    assert columns["figure"] == [row["figure"] for row in rows]
    assert columns["x_yd"] == [float(row["x_yd"]) for row in rows]
    assert columns["t_ns"] == [int(row["t_ns"]) for row in rows]
    assert columns["touching"] == [row["touching"] == "true" for row in rows]
    assert RUNNER in columns["figure"]


def test_without_pyarrow_the_extra_is_named(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"extra 'analysis'.*\[analysis\]"):
        tracks_parquet(tracks(table))


def test_the_service_sends_both_and_names_what_it_has_not(table: Table) -> None:
    parts = RigParts(table.game_service, table.hub, LatestPicture(), table.store)
    client, game = AsgiClient(create_app(parts)), table.store.games()[0].id
    answer = client.get(f"/api/games/{game}/tracks.csv?play=1")
    assert (answer.status, answer.body) == (200, b"".join(tracks_csv(tracks(table, 1))))
    assert f'filename="{game}.play-1.tracks.csv"' in answer.headers["content-disposition"]
    assert client.get(f"/api/games/{game}/tracks.parquet").body.startswith(b"PAR1")
    missing = client.get(f"/api/games/{game}/tracks.csv?play=7")
    assert (missing.status, "no play 7" in missing.json["detail"]) == (404, True)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1, max_size=4))
def test_any_text_comes_back_and_none_is_a_formula(texts: list[str]) -> None:
    content = b"".join(csv_chunks(["a"] * len(texts), [texts])).decode()
    (_, found) = csv.reader(io.StringIO(content, newline=""))
    plain = [
        cell.removeprefix("'") if text.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
        for cell, text in zip(found, texts, strict=True)
    ]
    assert plain == texts
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in found)
