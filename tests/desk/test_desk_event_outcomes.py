"""Every match is decided by its own game, whatever came first; what contradicts stops it and asks the director."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from desk_events import BY, coaches, event_of
from simulated_event import SimulatedEvent, in_another_order, started

from downfield.core.errors import InputError, RefusedError
from downfield.desk.event.changes import ChangedMeanwhileError, QuestionError
from downfield.desk.event.keeper import EventKeeper, Request
from downfield.desk.event.operations import (
    Operation,
    assign_game,
    draw,
    draw_lots,
    enter_result,
    take_back,
    undo_draw,
    withdraw,
)
from downfield.desk.event.outcomes import Waiting, outcomes
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Match, Result, Rules
from downfield.desk.event.state import Change, TableGame, TournamentEvent
from downfield.desk.event.tickets import is_assigned, ticket_for
from downfield.desk.replication.result_taker import table_game
from downfield.game.records.commands import MatchTicket
from downfield.game.records.entries import Content, GameEnded, GameReopened
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import GameRow
from downfield.store.sealing.signing import RigKey

KEY = RigKey.generate()
POOL = event_of(2, Rules(pools=1, advance=2, elimination="single"))
"""A and B meet in the pool (A1) and again in the final."""


def ticket(event: TournamentEvent, match: str) -> MatchTicket:
    found = next(one for one in event.matches if one.id == match)
    sides = Progress(event).sides(found)
    made = ticket_for(event, found, "rig", (str(sides[0]), str(sides[1])), KEY)
    assert made is not None
    return made


def signed_at(home: int, away: int, note: str = "") -> list[Content]:
    score = (home, away)
    return [
        ScoreSigned("home", "Ada", score, note, ""),
        ScoreSigned("away", "Bo", score, "", ""),
        GameEnded("over", score, "both coaches"),
    ]


def game(
    played_for: MatchTicket | None, contents: Sequence[Content], name: str = "g", *, turned: bool = False
) -> TableGame:
    names = ("Coach 1", "Coach 2") if played_for is None else played_for.names
    row = GameRow(name, 1, "", *(names[::-1] if turned else names), "tap", "rig", "Table 1")
    found = table_game(row, list(enumerate([started(played_for), *contents], start=1)))
    assert found is not None
    return found


def told(event: TournamentEvent, *games: TableGame) -> TournamentEvent:
    return outcomes(replace(event, games={**event.games, **{one.game: one for one in games}})).event


def of(event: TournamentEvent, match: str) -> Match:
    return next(one for one in event.matches if one.id == match)


def waiting(event: TournamentEvent) -> list[Waiting]:
    return list(outcomes(event).waiting)


def by_hand(event: TournamentEvent, match: str, home: int, away: int, by: Change = BY) -> TournamentEvent:
    return enter_result(event, match, Result(home, away), by)


def entering(home: int, away: int) -> Operation:
    return lambda event, by: by_hand(event, "A1", home, away, by)


def test_a_late_pool_game_is_not_entered_as_the_final_of_the_same_two() -> None:
    late = game(ticket(POOL, "A1"), signed_at(21, 7))
    event = by_hand(POOL, "A1", 7, 0)
    assert None not in Progress(event).sides(of(event, "FINAL"))
    event = told(event, late)
    assert of(event, "FINAL").result is None
    assert of(event, "A1").result is None  # two results for one match: it asks
    assert "21 to 7, signed at Table 1" in of(event, "A1").dispute
    assert None in Progress(event).sides(of(event, "FINAL"))  # and the final waits
    assert Progress(event).stopped_by(of(event, "FINAL")) == "A1"
    (dispute,) = waiting(event)
    assert [choice.text for choice in dispute.choices] == [
        "Take what was entered by hand: 7 to 0",
        "Take what was signed at Table 1: 21 to 7",
    ]
    decided = enter_result(event, "A1", dispute.choices[1].result, BY)
    assert of(decided, "A1").result == dispute.choices[1].result
    assert of(decided, "FINAL").result is None
    assert not waiting(decided)


def test_a_late_game_that_says_what_was_entered_is_no_contradiction() -> None:
    event = told(by_hand(POOL, "A1", 21, 7), game(ticket(POOL, "A1"), signed_at(21, 7)))
    result = of(event, "A1").result
    assert result is not None
    assert (result.game, result.signed_by) == ("g", ("Ada", "Bo"))


@pytest.mark.parametrize("turned", [False, True])
def test_points_go_to_the_right_side_whoever_is_home_at_the_table(turned: bool) -> None:
    event = told(POOL, game(ticket(POOL, "A1"), signed_at(21, 7, "too loud"), turned=turned))
    result = of(event, "A1").result
    assert result is not None
    assert (result.home, result.away) == ((7, 21) if turned else (21, 7))
    assert result.signed_by == (("Bo", "Ada") if turned else ("Ada", "Bo"))
    assert (result.protested, result.note) == (True, "Ada: too loud")


@pytest.mark.parametrize("turned", [False, True])
def test_an_overtime_of_yards_decides_who_goes_on_though_the_points_are_even(turned: bool) -> None:
    event = told(POOL, game(ticket(POOL, "A1"), signed_at(7, 0)))
    final = next(one.id for one in event.matches if one.stage != "pool")
    played_for = ticket(event, final)
    winner = played_for.names[0]
    ended = GameEnded(f"X 7, Y 7 | X ball, final, {winner} wins in overtime | over", (7, 7), "both coaches")
    after = told(event, game(played_for, [*signed_at(7, 7)[:2], ended], "final", turned=turned))
    (result,) = [one.result for one in after.matches if one.id == final]
    assert result is not None
    assert (result.winner, result.overtime, result.home, result.away) == ("home", True, 7, 7)
    tied = told(event, game(played_for, signed_at(7, 7), "final"))
    assert [one.dispute for one in tied.matches if one.id == final] != [""]
    by_hand = enter_result(event, final, Result(7, 7, overtime=True, overtime_winner="away"), BY)
    assert [one.result.winner for one in outcomes(by_hand).event.matches if one.result and one.id == final] == ["away"]
    turned_round = enter_result(by_hand, "A1", Result(0, 7), BY)  # home and away change places; who won stays
    assert [one.result.winner for one in turned_round.matches if one.result and one.id == final] == ["home"]
    with pytest.raises(RefusedError, match="say who won it"):
        enter_result(event, final, Result(7, 7, overtime=True), BY)


def test_a_score_corrected_after_signing_stops_the_match_until_it_is_decided_or_signed_again() -> None:
    first = ticket(POOL, "A1")
    reopened = told(POOL, game(first, [*signed_at(14, 7), GameReopened("Cy", "a wrong spot")]))
    assert of(reopened, "A1").dispute.startswith(
        "Table 1 has reopened e1 against e2 after it was signed 14 to 7 (Cy: a wrong spot)"
    )
    closed = [*signed_at(14, 7), GameReopened("Cy", "a wrong spot"), GameEnded("over", (0, 0), "Cy")]
    corrected = told(POOL, game(first, closed))
    (dispute,) = waiting(corrected)
    assert [choice.text for choice in dispute.choices] == [
        "Keep what was signed: 14 to 7",
        "Take what it was closed at: 0 to 0",
    ]
    assert None in Progress(corrected).sides(of(corrected, "FINAL"))
    kept = enter_result(corrected, "A1", dispute.choices[0].result, BY)
    assert of(kept, "A1").result == dispute.choices[0].result
    again = [*closed, *signed_at(0, 0)[:2]]
    result = of(told(POOL, game(first, again)), "A1").result
    assert result is not None
    assert (result.home, result.away) == (0, 0)


def test_two_games_for_one_match_ask_and_two_that_agree_do_not() -> None:
    first = ticket(POOL, "A1")
    one, other = game(first, signed_at(21, 7)), game(first, signed_at(20, 7), "other")
    assert "2 results" in of(told(POOL, one, other), "A1").dispute
    assert of(told(POOL, one, replace(other, score=(21, 7))), "A1").result is not None
    twice = told(POOL, game(first, []), game(first, [], "other"))
    assert [one.kind for one in waiting(twice)] == ["extra", "extra"]


def test_a_game_for_others_or_without_a_match_decides_nothing_and_is_listed_with_what_to_do() -> None:
    nameless = told(POOL, game(None, signed_at(21, 7)))
    (unmatched,) = waiting(nameless)
    assert [choice.text for choice in unmatched.choices] == ["Count it for A1", "Put it aside"]
    counted = assign_game(nameless, "g", "A1", False, BY)
    assert of(counted, "A1").result is not None
    assert not waiting(counted)
    aside = assign_game(nameless, "g", "", False, BY)
    assert not waiting(aside)
    assert of(aside, "A1").result is None
    other_draw = ticket(POOL, "A1").model_copy(update={"draw": "ab"})
    assert "of another event" in waiting(told(POOL, game(other_draw, signed_at(21, 7))))[0].reason
    renamed = replace(game(ticket(POOL, "A1"), signed_at(21, 7)), away="Strangers")
    assert "renamed at the table" in waiting(told(POOL, renamed))[0].reason


def test_a_game_that_ended_without_both_signatures_waits_to_be_entered() -> None:
    event = told(POOL, game(ticket(POOL, "A1"), [GameEnded("over", (14, 7))]))
    (unsigned,) = waiting(event)
    assert (unsigned.kind, unsigned.choices[0].text) == ("unsigned", "Enter it: 14 to 7")
    assert of(event, "A1").result is None


def test_a_semifinal_that_turns_round_leaves_the_final_to_those_who_played_it() -> None:
    event = by_hand(by_hand(event_of(4, Rules()), "W1-1", 7, 0), "W1-2", 7, 0)
    final = game(ticket(event, "FINAL"), signed_at(6, 0))
    event = told(event, final)
    assert of(event, "FINAL").result is not None
    turned = by_hand(event, "W1-1", 0, 7)
    assert of(turned, "FINAL").result is None
    (displaced,) = waiting(turned)
    assert (displaced.kind, "now Coach 4 against Coach 2 play that" in displaced.reason) == ("displaced", True)
    assert of(by_hand(turned, "W1-1", 14, 0), "FINAL").result == of(event, "FINAL").result


def test_who_withdraws_forfeits_until_taken_back_and_a_forfeit_can_be_removed() -> None:
    event = withdraw(event_of(3, Rules(pools=1, elimination="none")), "e1", BY)
    forfeits = [match.id for match in event.matches if match.result is not None]
    assert len(forfeits) == 2
    removed = enter_result(event, forfeits[0], None, BY)
    assert of(removed, forfeits[0]).result is None  # and does not come back
    assert of(withdraw(removed, "e2", BY), forfeits[0]).result is None
    played = told(
        event,
        game(ticket(event_of(3, event.rules), forfeits[0]).model_copy(update={"draw": event.draw}), signed_at(21, 7)),
    )
    result = of(played, forfeits[0]).result
    assert result is not None
    assert result.forfeited_by is None  # it was played before they left
    back = take_back(event, "e1", BY)
    assert all(match.result is None for match in back.matches)
    with pytest.raises(RefusedError, match="has not withdrawn"):
        take_back(back, "e1", BY)


def test_a_pool_winner_who_withdraws_loses_the_place_unless_it_was_used() -> None:
    event = event_of(4, Rules(pools=1, advance=2))
    for match in [match for match in event.matches if match.stage == "pool"]:
        home, away = Progress(event).sides(match)
        event = by_hand(event, match.id, *((7, 0) if str(home) < str(away) else (0, 7)))
    assert Progress(event).sides(of(event, "FINAL")) == ("e1", "e2")
    assert Progress(withdraw(event, "e1", BY)).sides(of(event, "FINAL")) == ("e2", "e3")
    begun = told(event, game(ticket(event, "FINAL"), []))
    left = withdraw(begun, "e1", BY)
    assert Progress(left).sides(of(left, "FINAL")) == ("e1", "e2")
    result = of(left, "FINAL").result
    assert result is not None
    assert result.forfeited_by == "home"


def test_a_tie_that_only_lots_would_break_fills_no_bracket() -> None:
    event = event_of(3, Rules(pools=1, advance=2))
    for match in [match for match in event.matches if match.stage == "pool"]:
        event = by_hand(event, match.id, 7, 7)
    assert Progress(event).sides(of(event, "FINAL")) == (None, None)
    assert "lots to be drawn" in Progress(event).text(of(event, "FINAL").home)
    drawn = draw_lots(event, ["e3", "e1", "e2"], BY)
    assert Progress(drawn).sides(of(drawn, "FINAL")) == ("e3", "e1")
    lions_first = by_hand(by_hand(event, "A1", 9, 0), "A2", 9, 0)
    assert Progress(lions_first).sides(of(event, "FINAL")).count(None) <= 1  # a place that is clear is filled


def test_only_the_desk_that_made_a_ticket_takes_it_and_only_from_its_rig() -> None:
    made = ticket(POOL, "A1")
    assert is_assigned(made, "rig", KEY.public_text)
    assert not is_assigned(made, "other", KEY.public_text)
    assert not is_assigned(made, "rig", RigKey.generate().public_text)
    for change in ({"match": "FINAL"}, {"sides": ("e2", "e1")}, {"rig": "other"}, {"signature": "?"}, {"number": 2}):
        assert not is_assigned(made.model_copy(update=change), change.get("rig", "rig"), KEY.public_text)  # type: ignore[arg-type]


def keeper_of(tmp_path: Path, event: TournamentEvent = POOL) -> EventKeeper:
    keeper = EventKeeper(tmp_path / "event.json")
    keeper.change(Request("Ann"), "began", lambda _, by: replace(event, changes=(by,)))
    return keeper


def test_a_change_that_takes_a_game_in_play_or_a_result_away_asks_first(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path)
    keeper.report([game(ticket(keeper.event, "A1"), [])])
    with pytest.raises(QuestionError, match="A1 is in play at Table 1; the game would not count"):
        keeper.change(Request("Ann"), "undid the draw", undo_draw)
    with pytest.raises(QuestionError, match="would be decided"):
        keeper.change(Request("Ann"), "withdrew", lambda event, by: withdraw(event, "e1", by))
    keeper.change(Request("Ann", confirmed=True), "undid the draw", undo_draw)
    assert "of a draw that was undone" not in str(keeper.outcomes.waiting)  # it is in play still
    keeper.undo(Request("Ann"))
    assert of(keeper.event, "A1").game == "g"


def renaming(event: TournamentEvent, by: Change) -> TournamentEvent:
    return replace(event, name="Cup", changes=(*event.changes, by))


def test_two_directors_do_not_overwrite_each_other(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path)
    shown = keeper.event.revision
    keeper.change(Request("Ann", seen=shown), "entered", entering(14, 7))
    keeper.change(Request("Bo", seen=shown), "named", renaming)
    with pytest.raises(ChangedMeanwhileError, match="Ann has changed A1 meanwhile: it is 14 to 7 now"):
        keeper.change(Request("Bo", seen=shown), "entered", entering(7, 14))
    seen = Request("Bo", seen=keeper.event.revision)
    keeper.change(seen, "corrected", entering(7, 14))
    last = keeper.event.changes[-1]
    assert ("A1: 14 to 7" in last.old, "A1: 7 to 14" in last.new, last.by) == (True, True, "Bo")


def test_two_who_enter_the_two_semifinals_are_not_in_each_others_way(tmp_path: Path) -> None:
    keeper = EventKeeper(tmp_path / "event.json")
    drawn = event_of(4, Rules())
    keeper.change(Request("Ann"), "drew", lambda _, by: replace(drawn, changes=(by,)))

    def entered(match: str) -> Operation:
        return lambda event, by: enter_result(event, match, Result(14, 7), by)

    shown = keeper.event.revision
    keeper.change(Request("Ann", seen=shown), "entered", entered("W1-1"))
    keeper.change(Request("Bo", seen=shown), "entered", entered("W1-2"))
    assert None not in Progress(keeper.event).sides(of(keeper.event, "FINAL"))
    with pytest.raises(ChangedMeanwhileError, match="Bo has changed FINAL meanwhile"):
        keeper.change(Request("Cy", seen=shown), "entered", entered("FINAL"))


def test_what_was_done_is_undone_step_by_step_and_what_tables_say_stays(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path)
    keeper.change(Request("Ann"), "entered", entering(14, 7))
    keeper.change(Request("Ann"), "withdrew", lambda event, by: withdraw(event, "e2", by))
    keeper.report([game(None, signed_at(3, 0))])
    keeper = EventKeeper(tmp_path / "event.json")
    keeper.undo(Request("Ann", confirmed=True))
    assert not any(entrant.withdrawn for entrant in keeper.event.entrants)
    assert of(keeper.event, "A1").result == Result(14, 7)
    keeper.undo(Request("Ann", confirmed=True))
    assert of(keeper.event, "A1").result is None
    assert "g" in keeper.event.games
    assert keeper.event.changes[-1].text == "undid: entered"


def test_a_request_that_comes_again_is_done_once_also_after_a_restart_and_a_key_for_something_else_is_refused(
    tmp_path: Path,
) -> None:
    keeper = keeper_of(tmp_path)
    request = Request("Ann", key="k", content="one")
    for _ in range(2):
        keeper.change(request, "entered", entering(14, 7))
        keeper = EventKeeper(tmp_path / "event.json")
    assert [change.text for change in keeper.event.changes].count("entered") == 1
    with pytest.raises(InputError, match="used for another change"):
        keeper.change(replace(request, content="two"), "entered", entering(0, 7))


@pytest.mark.parametrize("seed", range(24))
def test_no_match_is_decided_by_another_game_and_nothing_is_lost_whatever_happens(seed: int, tmp_path: Path) -> None:
    simulated = SimulatedEvent(tmp_path, seed)
    for number in range(90):
        simulated.step()
        assert not simulated.faults(), f"seed {seed}, step {number}"
    simulated.deliver_all()
    assert not simulated.faults(), f"seed {seed}, at the end"
    ends = outcomes(simulated.event)
    assert outcomes(EventKeeper(simulated.folder / f"event-{seed}.json").event) == ends
    for _ in range(3):
        other = in_another_order(simulated, random.Random(seed))
        assert (other.matches, outcomes(other).waiting) == (ends.event.matches, ends.waiting)


def test_a_draw_that_is_made_again_takes_no_game_of_the_one_before() -> None:
    by = replace(BY, id="aa")
    first = draw(TournamentEvent("Cup", Rules(), entrants=tuple(coaches(2))), by)
    late = game(
        ticket(first, "FINAL" if any(m.id == "FINAL" for m in first.matches) else first.matches[0].id), signed_at(21, 7)
    )
    again = draw(undo_draw(first, BY), replace(BY, id="bb"))
    told_late = told(again, late)
    assert all(match.result is None for match in told_late.matches)
    assert "of a draw that was undone" in waiting(told_late)[0].reason
