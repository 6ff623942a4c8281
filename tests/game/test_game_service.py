"""The game service: receipts, undo, change of rulebook, and resuming a game after a crash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from played_table import PLAY, RUNNER, Table
from scripted_plays import FIELD

from downfield.core.errors import RefusedError
from downfield.core.field.model import preset, preset_names
from downfield.game.published.game_topics import CallsUpdate, GameView
from downfield.game.receipts import Accepted, Refused, Submission
from downfield.game.records.commands import NewGame, SetRulebook, TeamSheet
from downfield.officiating.declarations import Carrier, Coin, FrontDeclared, LineUpDeclared, OffenseSet, SetUp
from downfield.officiating.events import Event, Ruling
from downfield.store.history import History
from downfield.store.sealing.hash_chain import verify_journal


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path / "games.db")
    yield made
    made.close()


def test_the_receipt_of_a_declaration_has_its_effects_and_its_place_in_the_journal(table: Table) -> None:
    game = table.begin()
    receipt = table.declare(SetUp("home", 1, 34.0), by="Sam's phone")
    assert receipt.saved
    assert (receipt.seq, len(receipt.digest)) == (3, 64)
    assert "1st & 10 at RIV 34" in receipt.text
    row = table.store.game(game)
    assert row is not None
    history = History(table.store, row)
    assert history.head == receipt.digest
    assert [(view.type, view.by) for view in history.declarations()] == [
        ("line_up", "downfield"),
        ("set_up", "Sam's phone"),
    ]
    assert table.game().home.points == 0
    assert table.game().situation == "1st & 10 at RIV 34"


def test_a_call_is_the_same_in_the_feed_and_in_the_history(table: Table) -> None:
    game = table.begin()
    table.play()
    tackle = next(call for call in table.game_service.calls() if call.kind == "tackle")
    assert tackle.clauses[0].id.startswith("TAP-")
    assert tackle.clauses[0].text
    assert tackle.measured.endswith("mm")
    assert tackle.frame is not None
    published = table.hub.value("calls")
    assert isinstance(published, CallsUpdate)
    assert tackle in published.calls
    assert table.game().down == 2
    table.game_service.close()
    row = table.store.game(game)
    assert row is not None
    history = History(table.store, row)
    assert [call.id for call in history.calls()] == [call.id for call in published.calls]
    assert [play.situation for play in history.plays()] == ["1st & 10 at RIV 40"]
    assert history.plays()[0].carrier == RUNNER
    assert verify_journal(game, table.store.entries(game)).problem == ""


def test_a_refused_declaration_changes_nothing_and_says_why(table: Table) -> None:
    assert table.game_service.declare(Coin(True), Submission()) == Refused("No game is in play. Start one.", "no_game")
    table.begin()
    table.declare(SetUp("home", 1, 34.0))
    before = table.hub.seq
    refused = table.game_service.declare(Coin(True), Submission(key="k"))
    assert isinstance(refused, Refused)
    assert refused.code == "not_now"
    assert table.hub.seq == before
    assert isinstance(table.game_service.rule(Ruling("none", "confirm"), Submission()), Refused)
    assert isinstance(table.game_service.undo("none", Submission()), Refused)
    assert len(table.game_service.declarations()) == 2


def test_a_struck_and_restored_tackle_leaves_one_snap_with_the_situation_before_it(table: Table) -> None:
    game = table.begin()
    table.play()
    struck = table.game_service.rule(Ruling(table.call("tackle"), "strike"), Submission())
    assert isinstance(struck, Accepted)
    table.game_service.undo(struck.event, Submission())
    table.game_service.close()
    row = table.store.game(game)
    assert row is not None
    assert [play.situation for play in History(table.store, row).plays()] == ["1st & 10 at RIV 40"]


def test_one_call_is_struck_and_the_strike_undone(table: Table) -> None:
    table.begin()
    table.play()
    tackle, before = table.call("tackle"), table.game_service.calls()
    struck = table.game_service.rule(Ruling(tackle, "strike", note="the base was lifted"), Submission(by="Ann"))
    assert isinstance(struck, Accepted)
    assert tackle in struck.withdrawn
    assert tackle not in {call.id for call in table.game_service.calls()}
    back = table.game_service.undo(struck.event, Submission())
    assert isinstance(back, Accepted)
    assert table.game_service.calls() == before
    assert [view.undone for view in table.game_service.declarations() if view.type == "ruling"] == [True]


def test_a_restored_call_has_its_old_place_in_the_feed_and_in_the_history(table: Table) -> None:
    game = table.begin()
    table.play()
    tackle = table.call("tackle")
    by_hand = replace(_call_of(table), id="manual:1", t_ns=0, kind="fumble")
    table.game_service.rule(Ruling("", "manual", by_hand), Submission())
    before = [call.id for call in table.game_service.calls()]
    assert before.index(tackle) < before.index("manual:1")
    struck = table.game_service.rule(Ruling(tackle, "strike"), Submission())
    assert isinstance(struck, Accepted)
    assert "manual:1" in {call.id for call in table.game_service.calls()}
    table.game_service.undo(struck.event, Submission())
    assert [call.id for call in table.game_service.calls()] == before
    row = table.store.game(game)
    assert row is not None
    assert [call.id for call in History(table.store, row).calls()] == before


def test_a_declaration_is_undone_after_the_play_it_began(table: Table) -> None:
    table.begin()
    table.play()
    carrier = next(view.id for view in table.game_service.declarations() if view.type == "carrier")
    receipt = table.game_service.undo(carrier, Submission())
    assert isinstance(receipt, Accepted)
    assert receipt.withdrawn
    assert not [call for call in table.game_service.calls() if call.kind == "tackle"]
    assert next(view.undone for view in table.game_service.declarations() if view.id == carrier)


def test_a_call_made_by_hand_is_marked_so_and_dated_now(table: Table) -> None:
    table.begin()
    table.play()
    game, t_ns = table.game(), table.now_ns
    made = replace(_call_of(table), id="manual:1", t_ns=0, text="fumble, by hand", kind="fumble")
    receipt = table.game_service.rule(Ruling("", "manual", made), Submission(by="Ann"))
    assert isinstance(receipt, Accepted), receipt
    call = next(call for call in table.game_service.calls() if call.id == "manual:1")
    assert call.standing == "manual"
    assert call.t_ns >= t_ns
    assert call.ruling is not None
    assert call.ruling.by == "Ann"
    assert game.t_ns <= call.t_ns


def _call_of(table: Table) -> Any:
    session = table.game_service._session
    assert session is not None
    return next(call for call in session._game.calls if call.kind == "tackle")


def test_an_overturned_call_stands_no_longer(table: Table) -> None:
    table.begin()
    table.play()
    tackle = table.call("tackle")
    assert table.hub.value("questions").questions == ()
    table.game_service.rule(Ruling(tackle, "overturn"), Submission())
    assert tackle not in {call.id for call in table.game_service.calls()}


def test_the_rulebook_is_changed_between_plays_and_the_game_stands(table: Table) -> None:
    table.begin()
    table.declare(SetUp("away", -1, 61.0, 3, 4.0, 2, None, (7, 3)))
    receipt = table.game_service.command(SetRulebook(rulebook="efl"), Submission())
    assert isinstance(receipt, Accepted)
    now = table.game()
    assert (now.rulebook, now.score, now.down, now.distance_yd, now.spot_yd) == ("efl", (7, 3), 3, 4.0, 61.0)
    assert now.direction == -1
    assert isinstance(table.game_service.command(SetRulebook(rulebook="chess"), Submission()), Refused)


def test_a_rulebook_is_changed_before_a_kickoff_or_not_at_all(table: Table) -> None:
    table.begin()
    table.declare(SetUp("away", -1, score=(7, 3), due="kickoff"))
    assert isinstance(table.game_service.command(SetRulebook(rulebook="nfl-strategy"), Submission()), Accepted)
    assert (table.game().due, table.game().offense) == ("kickoff", "away")
    table.declare(SetUp("home", 1, 40.0, period=4))
    refused = table.game_service.command(SetRulebook(rulebook="lions-den"), Submission())
    assert isinstance(refused, Refused)
    assert "the period is 1 to 2" in refused.reason
    assert (table.game().rulebook, table.game().period) == ("nfl-strategy", 4)


def test_the_line_up_counts_the_declarations_of_people_only(table: Table) -> None:
    table.begin()
    counts = [table.hub.value("line_up").revision]
    for declaration in (SetUp("home", 1, 40.0), LineUpDeclared(PLAY.players, "dark"), OffenseSet(), Carrier(RUNNER)):
        table.declare(declaration)
        counts.append(table.hub.value("line_up").revision)
    table.game_service.take(Event("seen-1", table.now_ns, "vision", LineUpDeclared(PLAY.players, "dark")))
    assert [*counts, table.hub.value("line_up").revision] == [1, 1, 2, 3, 3, 3]


def test_the_carrier_and_the_line_up_are_properties_of_the_game(table: Table) -> None:
    assert table.game_service.line_up.players == ()
    table.begin()
    for declaration in (SetUp("home", 1, 40.0), LineUpDeclared(PLAY.players, "dark"), OffenseSet(), Carrier(RUNNER)):
        table.declare(declaration)
    assert table.game_service.carrier == table.hub.value("ball").player == RUNNER
    line_up = table.game_service.line_up
    assert (line_up.players, line_up.revision) == (PLAY.players, table.hub.value("line_up").revision)
    table.game_service.restart()
    assert table.game_service.line_up.players == ()


def test_a_declared_front_lasts_through_a_restart_until_it_is_undone(tmp_path: Path) -> None:
    before = Table(tmp_path / "a.db")
    game = before.begin()
    before.play()
    calls = before.game_service.calls()
    right, left = FrontDeclared(RUNNER, -12.0), FrontDeclared(RUNNER, 168.0)
    first = before.declare(right, by="Sam's phone")
    second = before.declare(left)
    assert before.game_service.line_up.fronts == {first.event: right, second.event: left}
    refused = before.game_service.declare(FrontDeclared("dark-99", 0.0), Submission())
    assert isinstance(refused, Refused)
    assert "dark-99" in refused.reason
    before.game_service.undo(second.event, Submission())
    before.close()
    after = Table(tmp_path / "a.db")
    assert after.game_service.resume() == game
    assert after.game_service.line_up.fronts == {first.event: right}
    views = [(view.text, view.undone) for view in after.game_service.declarations() if view.type == "front"]
    assert views == [(f"{RUNNER} faces right", False), (f"{RUNNER} faces left", True)]
    assert after.game_service.calls() == calls
    after.close()


def test_a_new_game_ends_the_one_before_and_keeps_the_line_up(table: Table) -> None:
    first = table.begin()
    second = table.game_service.start_game(NewGame())
    assert second != first
    row = table.store.game(first)
    assert row is not None
    assert History(table.store, row).ended
    line_up = table.hub.value("line_up")
    assert line_up.players == PLAY.players


def test_the_teams_go_on_with_a_game_on_another_board(table: Table) -> None:
    home, away = TeamSheet(name="River City", short="RIV", color="#0b3d91"), TeamSheet(name="Oakdale", short="OAK")
    table.game_service.start_game(NewGame(home=home, away=away))
    before = table.game_service.game_id
    other = preset(next(name for name in preset_names() if preset(name) != FIELD))
    assert table.game_service.use_field(other)
    game = table.hub.value("game")
    assert game.game != before
    assert (game.home.name, game.home.color, game.away.name) == ("River City", "#0b3d91", "Oakdale")
    assert not table.game_service.use_field(other)


def test_a_resumed_game_is_as_it_was(tmp_path: Path) -> None:
    before = Table(tmp_path / "a.db")
    game = before.begin()
    before.play()
    receipt = before.declare(Carrier(RUNNER), key="k9") if before.game().phase.value == "set" else None
    struck = before.game_service.rule(Ruling(before.call("tackle"), "strike"), Submission(key="r1"))
    assert isinstance(struck, Accepted)
    undone = before.game_service.undo(struck.event, Submission())
    assert isinstance(undone, Accepted)
    calls, declared, now = before.game_service.calls(), before.game_service.declarations(), before.game()
    before.close()
    after = Table(tmp_path / "a.db")
    assert after.game_service.resume() == game
    assert after.game_service.calls() == calls
    assert after.game_service.declarations() == declared
    assert replace_time(after.game()).model_dump() == replace_time(now).model_dump()
    again = after.game_service.rule(Ruling(after.call("tackle"), "strike"), Submission(key="r1"))
    assert isinstance(again, Accepted)
    assert (again.event, again.seq, again.digest, again.repeated) == (struck.event, struck.seq, struck.digest, True)
    after.now_ns = now.t_ns + 5_000_000_000
    later = after.game_service.rule(Ruling(after.call("tackle"), "strike"), Submission())
    assert isinstance(later, Accepted)
    assert later.seq == undone.seq + 1
    assert verify_journal(game, after.store.entries(game)).problem == ""
    after.close()
    assert receipt is None or receipt.saved


def replace_time(now: GameView) -> GameView:
    return now.model_copy(update={"t_ns": 0, "clock": None})


def test_an_ended_game_is_not_resumed(tmp_path: Path) -> None:
    table = Table(tmp_path / "a.db")
    assert table.game_service.resume() is None
    table.begin()
    assert table.game_service._session is not None
    table.game_service._session.end()
    table.close()
    after = Table(tmp_path / "a.db")
    assert after.game_service.resume() is None
    after.close()


def test_at_most_fifteen_scenes_a_second_are_published(table: Table) -> None:
    table.begin()
    before = table.hub.seq
    for scene in PLAY.scenes[:20]:
        table.game_service.take(scene)
    published = table.hub.seq - before
    assert published < 10
    assert table.hub.value("scene").figures[0].id == RUNNER


def test_without_a_game_the_board_is_shown_and_events_are_refused(table: Table) -> None:
    assert table.game_service.take(PLAY.scenes[0]) == ()
    assert table.hub.value("scene").frame == PLAY.scenes[0].frame
    with pytest.raises(RefusedError, match="No game is in play"):
        table.game_service.take(Event("e1", 0, "vision", LineUpDeclared(PLAY.players)))


@pytest.mark.parametrize("text", ["\ud800", "Riv\udc80er", "a\udfff"])
def test_half_a_character_is_refused_and_the_journal_goes_on(table: Table, text: str) -> None:
    table.begin()
    refused = table.game_service.declare(Carrier(text), Submission())
    assert isinstance(refused, Refused)
    assert refused.code == "invalid"
    noted = table.game_service.rule(Ruling("none", "confirm", note=text), Submission())
    assert isinstance(noted, Refused)
    assert table.declare(SetUp("home", 1, 34.0)).saved
