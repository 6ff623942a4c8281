"""The list of games: how each stands is read from the end of its journal only, and found by words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_plays import FIELD

from downfield.core.records import to_json
from downfield.game.records.entries import GameStarted, record_of
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review import catalog as catalog_module
from downfield.review.catalog import GameCatalog, GameSearch
from downfield.store.sealing.hash_chain import GENESIS, digest_of
from downfield.store.writing.store import Store

EFFECTS = '"effects":{"score":[7,3],"text":"RIV 7, LAK 3 | between plays"}'
BATCH = '{"count":1,"first_ns":0,"last_ns":0,' + EFFECTS + "}"
EVENT = '{"by":"clock","event":{"id":"op-1","t_ns":5,"origin":"clock","body":{"type":"tick"}},' + EFFECTS + "}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.at(tmp_path / "games.db")
    yield opened
    opened.close()


def add_game(store: Store, number: int, *kinds: tuple[str, str], home: str = "River City") -> GameRow:
    """Add a game with entries of these kinds and contents."""
    row = GameRow(f"2026010{number}-120000-abcd", number * 1_000_000_000, "final", home, "Lake Town", "tap")
    append(store, row, 0, GENESIS, kinds, new=True)
    return row


def append(
    store: Store, row: GameRow, after: int, digest: str, kinds: tuple[tuple[str, str], ...], *, new: bool = False
) -> None:
    entries = []
    for seq, (kind, content) in enumerate(kinds, start=after + 1):
        digest = digest_of(digest, row.id, seq, kind, seq, None, content, None)
        entries.append(EntryRow(row.id, seq, kind, seq, content, digest))
    store.append(entries, row if new else None)


STARTED = ("game_started", "{}")
TAP = load_rulebook("tap")
UNDER_TAP = ("game_started", to_json(GameStarted, GameStarted(record_of(TAP), FIELD)))


def test_a_line_names_the_rulebook_in_force_as_people_know_it(store: Store) -> None:
    renamed = UNDER_TAP[0], UNDER_TAP[1].replace(TAP.title, "River City League")
    lines = [add_game(store, 1, UNDER_TAP), add_game(store, 2, UNDER_TAP, renamed), add_game(store, 3, STARTED)]
    titles = [GameCatalog(store).line(row).rulebook_title for row in lines]
    assert titles == ["Tudor Advanced Play (Tudor-Con)", "River City League", ""], "a damaged start has no title"


def test_a_game_with_a_damaged_end_hides_no_other(store: Store) -> None:
    add_game(store, 1, STARTED, ("scenes_recorded", BATCH))
    add_game(store, 2, STARTED, ("event_recorded", EVENT.replace('"op-1"', "op-1")))
    add_game(store, 3, STARTED, ("game_ended", '{"text":7}'))
    texts = [line.text for line in GameCatalog(store).find(GameSearch(), limit=10)]
    damaged = "damaged: entry 2 of its journal can't be read"
    assert texts == [damaged, damaged, "RIV 7, LAK 3 | between plays"]


def test_a_game_stands_as_its_last_entry_says(store: Store) -> None:
    playing = add_game(store, 1, STARTED, ("scenes_recorded", BATCH))
    ended = add_game(store, 2, STARTED, ("event_recorded", EVENT), ("game_ended", '{"text":"final","score":[9,8]}'))
    fresh = add_game(store, 4, STARTED)
    catalog = GameCatalog(store)
    lines = {line.row.id: line for line in catalog.find(GameSearch(), limit=10)}
    assert [(lines[row.id].score, lines[row.id].ended) for row in (playing, ended, fresh)] == [
        ((7, 3), False),
        ((9, 8), True),
        ((0, 0), False),
    ]
    assert lines[playing.id].standing(playing.id) == "in_play"
    assert lines[fresh.id].standing(playing.id) == "unfinished"


def test_a_rulebook_changed_in_mid_game_leaves_the_score(store: Store) -> None:
    row = add_game(store, 1, STARTED, ("event_recorded", EVENT), STARTED)
    assert GameCatalog(store).line(row).score == (7, 3)


def test_a_line_is_read_again_only_when_the_journal_has_grown(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    row = add_game(store, 1, STARTED, ("event_recorded", EVENT))
    catalog = GameCatalog(store)
    catalog.line(row)
    reads: list[str] = []
    latest = store.latest

    def counted(game: str, kinds: tuple[str, ...] = (), limit: int = 1) -> list[EntryRow]:
        reads.append(game)
        return latest(game, kinds, limit)

    monkeypatch.setattr(store, "latest", counted)
    assert catalog.line(row).score == (7, 3)
    assert len(reads) == 1, "more than the head was read"
    head = latest(row.id)[0].digest
    append(store, row, 2, head, (("game_ended", '{"text":"final","score":[14,3]}'),))
    assert catalog.line(row).score == (14, 3)


def test_games_are_found_by_words_and_standing_across_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_module, "CATALOG_LIMITS", replace(catalog_module.CATALOG_LIMITS, page=1))
    add_game(store, 1, STARTED, home="Oakdale")
    add_game(store, 2, UNDER_TAP, ("game_ended", '{"text":"","score":[0,0]}'))
    add_game(store, 3, STARTED)
    catalog = GameCatalog(store)

    def found(search: GameSearch, in_play: str = "") -> list[str]:
        return [line.row.id[:8] for line in catalog.find(search, limit=10, in_play=in_play)]

    assert found(GameSearch("oakDALE lake")) == ["20260101"]
    assert found(GameSearch("tudor-con")) == ["20260102"]
    assert found(GameSearch("2026-01-03")) == ["20260103"]
    assert found(GameSearch("oakdale ended")) == []
    assert found(GameSearch(standing="ended")) == ["20260102"]
    assert found(GameSearch(standing="in_play"), "20260103-120000-abcd") == ["20260103"]
    assert found(GameSearch(standing="unfinished"), "20260103-120000-abcd") == ["20260101"]


def test_the_latest_entries_of_some_kinds_are_the_last_of_the_journal_of_these_kinds(store: Store) -> None:
    kinds = [STARTED, ("event_recorded", EVENT), ("scenes_recorded", BATCH), ("event_recorded", EVENT), STARTED]
    row = add_game(store, 1, *kinds)
    everything = list(store.entries(row.id))
    for wanted in ((), ("event_recorded",), ("scenes_recorded", "event_recorded"), ("game_ended",)):
        expected = [entry for entry in reversed(everything) if not wanted or entry.kind in wanted]
        for limit in (1, 2, 10):
            assert store.latest(row.id, wanted, limit) == expected[:limit]
