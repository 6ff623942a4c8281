"""What two coaches sign at a table becomes the result of their game of the event, once and the right way round."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from desk_events import BY
from postgres_server import postgres_server, skip_without_postgres
from tournament_rig import game_of

from downfield.core.errors import RefusedError
from downfield.core.records import to_json
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.event.operations import (
    draw,
    enter_result,
)
from downfield.desk.event.records import Entrant, Result, Rules
from downfield.desk.event.state import TournamentEvent
from downfield.desk.replication.result_taker import ResultTaker, SignedGame, take_signed
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.game.records.entries import GameEnded
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import EntryRow
from downfield.store.sealing.hash_chain import GENESIS, canonical_json, digest_of
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.replication import JournalBatch, make_batch

TEAMS = [
    Entrant("e1", "Ada", team="Lions", short="LIO"),
    Entrant("e2", "Bo", team="Owls", short="OWL"),
    Entrant("e3", "Cy", team="Bears"),
]
EVENT = draw(TournamentEvent("Open", Rules(pools=1, elimination="none"), entrants=tuple(TEAMS)), BY)
SIGNED = SignedGame("g:9", "Table 1", "Lions", "Owls", (21, 14), ("Ada", "Bo"))


def result_between(event: TournamentEvent, one: str, other: str) -> tuple[str, Result | None]:
    """Return who is home in the pool game between two, and its result."""
    for match in event.matches:
        sides = [getattr(slot, "entrant", "") for slot in (match.home, match.away)]
        if set(sides) == {one, other}:
            return sides[0], match.result
    raise AssertionError("no such game")


@pytest.mark.parametrize(("home", "away"), [("Lions", "Owls"), ("owls ", "LIONS"), ("lio", "Bo"), ("Bo", "Ada")])
def test_points_go_to_the_right_team_whoever_is_home_and_however_they_are_called(home: str, away: str) -> None:
    signed = replace(SIGNED, home=home, away=away, signed_by=(f"coach of {home}", f"coach of {away}"))
    event = take_signed(EVENT, signed, BY)
    first, result = result_between(event, "e1", "e2")
    assert result is not None
    lions_home = home.strip().casefold() in {"lions", "lio", "ada"}
    lions, owls = (21, 14) if lions_home else (14, 21)
    assert (result.home, result.away) == ((lions, owls) if first == "e1" else (owls, lions))
    at_home = home if lions_home == (first == "e1") else away
    assert result.signed_by[0] == f"coach of {at_home}"
    assert result.game == "g"
    assert event.taken == ("g:9",)


def test_it_is_taken_once_also_when_the_director_has_removed_it() -> None:
    event = take_signed(EVENT, SIGNED, BY)
    assert take_signed(event, SIGNED, BY) is event
    match = next(match for match in event.matches if match.result is not None)
    removed = enter_result(event, match.id, None, BY)
    assert take_signed(removed, SIGNED, BY) is removed


def test_a_game_signed_again_after_a_correction_corrects_its_result() -> None:
    event = take_signed(take_signed(EVENT, SIGNED, BY), replace(SIGNED, key="g:15", score=(21, 15)), BY)
    _, result = result_between(event, "e1", "e2")
    assert result is not None
    assert sorted((result.home, result.away)) == [15, 21]
    assert len([match for match in event.matches if match.result is not None]) == 1


@pytest.mark.parametrize(("home", "away"), [("Lions", "Wolves"), ("Lions", "Lions"), ("", "Owls")])
def test_a_game_between_others_is_no_result(home: str, away: str) -> None:
    with pytest.raises(RefusedError, match="no open game between these two"):
        take_signed(EVENT, replace(SIGNED, home=home, away=away), BY)


def test_a_second_game_of_the_same_two_is_no_second_result() -> None:
    event = take_signed(EVENT, SIGNED, BY)
    with pytest.raises(RefusedError, match="no open game"):
        take_signed(event, replace(SIGNED, key="other:4"), BY)


def test_a_tie_that_decides_who_goes_on_is_refused_with_the_reason() -> None:
    event = draw(TournamentEvent("Cup", Rules(), entrants=tuple(TEAMS[:2])), BY)
    with pytest.raises(RefusedError, match="can't be a tie"):
        take_signed(event, replace(SIGNED, score=(14, 14)), BY)


def test_an_event_of_before_is_read_and_one_with_taken_games_is_kept(tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text('{"name": "Old", "format": "downfield-event", "version": 1}')
    keeper = EventKeeper(tmp_path / "event.json")
    assert not keeper.event.taken
    keeper.change("x", "y", lambda _, __: replace(EVENT, taken=("g:9",), taken_after=4))
    assert EventKeeper(tmp_path / "event.json").event.taken == ("g:9",)


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    skip_without_postgres()
    with postgres_server() as address:
        yield address


KEY = RigKey.generate()


def signed_game(name: str, contents: Sequence[object], home: str = "Lions", away: str = "Owls") -> JournalBatch:
    """Return a whole game with these entries, as its rig sends it."""
    game = replace(game_of(KEY, name, "Table 1"), home=home, away=away)
    rows, digest = [], GENESIS
    for seq, content in enumerate(contents, start=1):
        kind = {ScoreSigned: "score_signed", GameEnded: "game_ended"}[type(content)]
        text = canonical_json(json.loads(to_json(type(content), content)))
        digest = digest_of(digest, game.id, seq, kind, seq, None, text, None)
        rows.append(EntryRow(game.id, seq, kind, seq, None, text, None, digest))
    return make_batch(KEY, game, rows)


def signatures(home: int, away: int) -> list[ScoreSigned]:
    return [
        ScoreSigned("home", "Ada", (home, away), "", "a phone"),
        ScoreSigned("away", "Bo", (home, away), "too loud", "a phone"),
    ]


END = GameEnded("over", (21, 14), "both coaches")


def test_games_since_the_draw_are_taken_from_the_store_and_those_that_fit_nothing_are_shown(
    database: str, tmp_path: Path
) -> None:
    store = TournamentStore(database)
    keeper = EventKeeper(tmp_path / "event.json")
    taker = ResultTaker(store, keeper)
    taker.take()
    assert store.receive(signed_game("last-year", [*signatures(21, 14), END])).status == "stored"
    keeper.change("director", "made the draw", lambda _, __: EVENT)
    taker.take()
    assert not keeper.event.taken
    unsigned = [ScoreSigned("home", "Ada", (21, 14), "", ""), END]
    outdated = [*signatures(20, 14), END]
    for name, contents in (("half", unsigned), ("outdated", outdated), ("open", signatures(21, 14))):
        store.receive(signed_game(name, contents))
    taker.take()
    assert not keeper.event.taken
    assert not taker.open_games()
    good, strange = (
        signed_game("good", [*signatures(21, 14), END]),
        signed_game("strange", [*signatures(21, 14), END], "Wolves"),
    )
    for batch in (good, strange):
        store.receive(batch)
        taker.note(batch)
    again = ResultTaker(store, keeper)  # a desk that was killed before it took them
    for one in (again, taker, again):
        one.take()
    assert list(keeper.event.taken) == [f"{good.game.id}:3"]
    _, result = result_between(keeper.event, "e1", "e2")
    assert result is not None
    assert sorted((result.home, result.away)) == [14, 21]
    assert result.note == "Bo: too loud"
    assert [change.by for change in keeper.event.changes].count("sign-off") == 1
    ((signed, why),) = taker.open_games()
    assert (signed.text, "no open game" in why) == ("Table 1: Wolves 21, Owls 14", True)
    renamed = (*TEAMS[:2], replace(TEAMS[2], team="Wolves"))
    keeper.change("director", "renamed", lambda event, _: replace(event, entrants=renamed))
    taker.take()
    assert len(keeper.event.taken) == 2
    assert not taker.open_games()
    store.close()
