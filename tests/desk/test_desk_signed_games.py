"""What tables' journals say reaches the event: for the match that a game names, also after a desk was killed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from desk_events import BY
from postgres_server import postgres_server, skip_without_postgres
from simulated_event import started
from tournament_rig import game_of

from downfield.core.records import to_json
from downfield.desk.event.keeper import EventKeeper, Request
from downfield.desk.event.operations import draw
from downfield.desk.event.placing import find_match
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Entrant, Result, Rules
from downfield.desk.event.state import TournamentEvent
from downfield.desk.event.tickets import is_assigned, ticket_for
from downfield.desk.replication.result_taker import ResultTaker
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.game.records.commands import MatchTicket
from downfield.game.records.entries import GameEnded, GameReopened, GameStarted
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import EntryRow
from downfield.game.records.owner import rig_id
from downfield.store.sealing.hash_chain import GENESIS, canonical_json, digest_of
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.replication import JournalBatch, make_batch

TEAMS = (Entrant("e1", "Ada", team="Lions"), Entrant("e2", "Bo", team="Owls"), Entrant("e3", "Cy", team="Bears"))
EVENT = draw(TournamentEvent("Open", Rules(pools=1, elimination="none"), entrants=TEAMS), BY)
DIRECTOR = Request("the director")


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    skip_without_postgres()
    with postgres_server() as address:
        yield address


KEY, DESK = RigKey.generate(), RigKey.generate()


def ticket(event: TournamentEvent, match: str) -> MatchTicket:
    """Return what the desk gives a table for a match."""
    names = {entrant.id: entrant.name for entrant in event.entrants}
    found = find_match(event, match)
    home, away = Progress(event).sides(found)
    made = ticket_for(event, found, rig_id(KEY.public_text), (names[str(home)], names[str(away)]), DESK)
    assert made is not None
    return made


def signed_game(
    name: str, contents: Sequence[object], home: str = "Lions", away: str = "Owls", match: MatchTicket | None = None
) -> JournalBatch:
    """Return a whole game with these entries, as its rig sends it."""
    names = (home, away) if match is None else match.names
    game = replace(game_of(KEY, name, "Table 1"), home=names[0], away=names[1])
    rows, digest = [], GENESIS
    for seq, content in enumerate((started(match), *contents), start=1):
        kind = {GameStarted: "game_started", ScoreSigned: "score_signed", GameEnded: "game_ended"}.get(type(content))
        text = canonical_json(json.loads(to_json(type(content), content)))
        digest = digest_of(digest, game.id, seq, kind or "game_reopened", seq, None, text, None)
        rows.append(EntryRow(game.id, seq, kind or "game_reopened", seq, text, digest))
    return make_batch(KEY, game, rows)


def signatures(home: int, away: int) -> list[ScoreSigned]:
    return [
        ScoreSigned("home", "Ada", (home, away), "", "a phone"),
        ScoreSigned("away", "Bo", (home, away), "too loud", "a phone"),
    ]


END = GameEnded("over", (21, 14), "both coaches")


def taker_of(store: TournamentStore, keeper: EventKeeper) -> ResultTaker:
    return ResultTaker(store, keeper, lambda given, rig: is_assigned(given, rig, DESK.public_text))


def result_of(keeper: EventKeeper, match: str) -> Result | None:
    return find_match(keeper.event, match).result


def test_games_are_taken_for_the_match_they_name_and_those_that_name_none_wait(database: str, tmp_path: Path) -> None:
    store = TournamentStore(database)
    keeper = EventKeeper(tmp_path / "event.json")
    taker = taker_of(store, keeper)
    taker.take()
    assert store.receive_all([signed_game("last-year", [*signatures(21, 14), END])])[0].status == "stored"
    keeper.change(DIRECTOR, "made the draw", lambda _, __: EVENT)
    taker.take()
    assert not keeper.event.games
    good = signed_game("good", [*signatures(21, 14), END], match=ticket(EVENT, "A1"))
    forged = ticket(EVENT, "A2").model_copy(update={"match": "A3"})
    stranger = signed_game("forged", [*signatures(7, 0), GameEnded("over", (7, 0))], match=forged)
    unnamed = signed_game("unnamed", [*signatures(21, 14), END])
    for batch in (good, stranger, unnamed):
        assert store.receive_all([batch])[0].status == "stored"
    again = taker_of(store, keeper)  # a desk that was killed before it took them
    for one in (again, taker, again):
        one.take()
    result = result_of(keeper, "A1")
    assert result is not None
    assert (result.game, sorted((result.home, result.away)), result.note) == (good.game.id, [14, 21], "Bo: too loud")
    assert [result_of(keeper, match) for match in ("A2", "A3")] == [None, None]
    waiting = [one.game for one in keeper.outcomes.waiting]
    assert sorted(waiting) == sorted((stranger.game.id, unnamed.game.id))
    store.close()


def test_a_correction_is_taken_by_a_desk_that_was_killed_before_it(database: str, tmp_path: Path) -> None:
    store = TournamentStore(database)
    keeper = EventKeeper(tmp_path / "event.json")
    drawn = replace(EVENT, draw="c0ffee")
    keeper.change(DIRECTOR, "made the draw", lambda _, by: replace(drawn, changes=(by,)))
    taker_of(store, keeper).take()
    first = [*signatures(21, 14), END]
    corrected = [GameReopened("Cy", "a spot"), GameEnded("over", (0, 0), "Cy")]
    whole = signed_game("mended", [*first, *corrected], match=ticket(drawn, "A1"))
    rows = whole.entries
    assert store.receive_all([make_batch(KEY, whole.game, rows[:4])])[0].status == "stored"
    taker_of(store, keeper).take()
    assert result_of(keeper, "A1") is not None
    assert store.receive_all([make_batch(KEY, whole.game, rows[4:])])[0].status == "stored"
    restarted = EventKeeper(tmp_path / "event.json")  # and nobody told this one of the batch
    taker_of(store, restarted).take()
    assert result_of(restarted, "A1") is None
    assert "at 0 to 0 after it was signed 21 to 14 (Cy)" in find_match(restarted.event, "A1").dispute
    store.close()


def test_a_game_of_the_draw_that_was_stored_before_the_desk_looked_is_taken(database: str, tmp_path: Path) -> None:
    store = TournamentStore(database)
    keeper = EventKeeper(tmp_path / "event.json")
    drawn = replace(EVENT, draw="dead1e")
    keeper.change(DIRECTOR, "made the draw", lambda _, by: replace(drawn, changes=(by,)))
    early = signed_game("early", [*signatures(21, 14), END], match=ticket(drawn, "A2"))
    assert (
        store.receive_all([early])[0].status == "stored"
    )  # and the desk, killed or busy, has not looked since the draw
    taker_of(store, EventKeeper(tmp_path / "event.json")).take()
    restarted = EventKeeper(tmp_path / "event.json")
    taker_of(store, restarted).take()
    result = result_of(restarted, "A2")
    assert result is not None
    assert result.game == early.game.id
    store.close()
