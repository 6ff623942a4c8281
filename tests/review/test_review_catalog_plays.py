"""The plays of a game: results in plain words, and found by kind, player, verdict, quarter and words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from played_table import DEFENDER, RUNNER, Table

from downfield.game.published.plays import Play
from downfield.game.receipts import Submission
from downfield.game.records.commands import SetRulebook
from downfield.game.records.keeping import GameRow
from downfield.officiating.events import Ruling
from downfield.review.catalog import PlaySearch, outcome_of
from downfield.store.history import History


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    opened = Table(tmp_path / "games.db")
    opened.begin()
    opened.play()
    yield opened
    opened.close()


def plays_of(table: Table) -> list[Play]:
    """The plays as the journal has them once everything is written."""
    game = table.game_service.game_id
    table.game_service.close()
    table.game_service.resume()
    row = table.store.game(game)
    assert isinstance(row, GameRow)
    return History(table.store, row).plays()


def rule(table: Table, kind: str, decision: str) -> None:
    table.game_service.rule(Ruling(table.call(kind), decision, note="lifted"), Submission(by="Ann"))  # type: ignore[arg-type]


def found(reviewed: Play, **search: object) -> list[str]:
    """The kinds of the calls that are found in a play."""
    left = PlaySearch(**search).of(reviewed)  # type: ignore[arg-type]
    return [] if left is None else [call.kind for call in (*left.calls, *left.struck)]


def test_a_run_says_who_tackled_it_and_what_it_gained(table: Table) -> None:
    (play,) = plays_of(table)
    assert play.gain_yd == 8.5
    assert play.result == "Tackled by light 50, gain of 8.5 yards"
    assert (play.state, play.struck) == ("under way", ())


def test_a_game_that_goes_on_under_another_rulebook_still_explains_its_earlier_calls(table: Table) -> None:
    before = next(call for call in plays_of(table)[0].calls if call.kind == "tackle")
    table.game_service.command(SetRulebook(rulebook="efl"), Submission())
    (play,) = plays_of(table)
    after = next(call for call in play.calls if call.kind == "tackle")
    assert after == before
    assert [clause.id.partition("-")[0] for clause in after.clauses] == ["TAP"] * len(after.clauses)
    assert all(clause.text for clause in after.clauses)


def test_a_struck_call_stays_to_be_found_and_comes_back_when_undone(table: Table) -> None:
    rule(table, "tackle", "strike")
    (play,) = plays_of(table)
    assert "tackle" not in {call.kind for call in play.calls}
    (struck,) = (call for call in play.struck if call.kind == "tackle")
    assert (struck.standing, outcome_of(struck)) == ("struck", "struck")
    assert struck.ruling is not None
    assert struck.ruling.by == "Ann"
    assert found(play, outcome="struck") == ["tackle"]
    table.game_service.undo(struck.ruling.event, Submission())
    (play,) = plays_of(table)
    assert "tackle" in {call.kind for call in play.calls}
    assert play.struck == ()


def test_a_call_is_found_by_what_became_of_it(table: Table) -> None:
    rule(table, "tackle", "confirm")
    (play,) = plays_of(table)
    assert found(play, outcome="confirmed") == ["tackle"]
    assert found(play, outcome="auto") == ["line_of_scrimmage"]
    assert set(found(play, outcome="noted")) == {"formation"}
    assert found(play, outcome="overturned") == []


def test_a_call_is_found_by_kind_player_and_words_of_the_same_call(table: Table) -> None:
    (play,) = plays_of(table)
    assert found(play, kind="tackle") == ["tackle"]
    for name in (DEFENDER, "50", "light 50", " Light-50 "):
        assert found(play, player=name) == ["tackle"], name
    assert found(play, player="5") == []
    assert found(play, kind="line_of_scrimmage", player=DEFENDER) == []
    assert found(play, player=RUNNER, kind="tackle", text="light 50") == ["tackle"]
    assert found(play, text="TAP-022 tackled") == ["tackle"]
    assert found(play, text="kangaroo") == []


def test_a_play_is_found_by_number_quarter_and_its_situation_with_all_its_calls(table: Table) -> None:
    (play,) = plays_of(table)
    for search in ({"play": 1}, {"quarter": 1}, {"text": "1st riv 40"}, {"text": "gain of 8"}):
        assert len(found(play, **search)) == len(play.calls), search
    assert found(play, play=2) == []
    assert found(play, quarter=2) == []
