"""The final score: both coaches sign the score as it is, then the game is over, for good and on air."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from played_table import PLAY, Table

from downfield.core.errors import RefusedError
from downfield.game.disputes import Decision, Disputes
from downfield.game.records.commands import NewGame
from downfield.game.records.final_score import ScoreSigned, SignOff
from downfield.officiating.declarations import Side
from downfield.store.history import History


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    opened = Table(tmp_path / "games.db")
    opened.begin()
    opened.play()
    yield opened
    opened.close()


def sign(table: Table, side: Side, note: str = "", score: tuple[int, int] = (0, 0)) -> SignOff:
    return Disputes(table.game_service).sign(ScoreSigned(side, f"Coach {side}", score, note, "phone"))


def test_with_both_signatures_the_game_is_over_and_not_resumed(table: Table) -> None:
    game = table.game_service.game_id
    assert not sign(table, "home").closed
    assert table.game_service.game_id == game
    done = sign(table, "away", note="the tackle was none")
    assert done.closed
    assert (table.game_service.game_id, table.game().phase) == ("", "over")
    row = table.store.game(game)
    assert row is not None
    history = History(table.store, row)
    assert history.ended
    assert history.signatures["away"].note == "the tackle was none"
    table.game_service.close()
    assert table.game_service.resume() is None


def test_one_coach_alone_ends_nothing_however_often_he_taps(table: Table) -> None:
    for _ in range(3):
        assert not sign(table, "home").closed
    done = sign(table, "home", note="after all")
    assert [signature.note for signature in done.signatures] == ["after all"]
    assert table.game_service.game_id


def test_a_score_that_has_changed_is_not_signed(table: Table) -> None:
    with pytest.raises(RefusedError, match="0 to 0"):
        sign(table, "home", score=(7, 0))


def test_no_score_is_signed_while_a_challenge_is_open(table: Table) -> None:
    disputes = Disputes(table.game_service)
    disputes.raise_challenge("home", table.call("tackle"), "why", "Ann")
    with pytest.raises(RefusedError, match="under review"):
        sign(table, "home")
    disputes.rule("challenge-1", Decision("too_close", "nobody can tell", "Referee"))
    assert not sign(table, "home").closed


def test_a_signature_survives_a_restart(table: Table) -> None:
    sign(table, "home")
    table.game_service.close()
    table.game_service.resume()
    assert sign(table, "away").closed


def test_after_the_end_the_board_is_still_shown_and_the_next_game_has_the_line_up(table: Table) -> None:
    sign(table, "home")
    sign(table, "away")
    assert table.game_service.take(PLAY.scenes[0]) == ()
    with pytest.raises(RefusedError, match="No game is in play"):
        sign(table, "home")
    table.game_service.start_game(NewGame())
    assert table.game_service.line_up.players == PLAY.players
