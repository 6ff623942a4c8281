"""Three tables on one computer without a broker and PostgreSQL, from the draw to a result; and the same event moved."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from desk_events import BY
from desk_server import DeskServer
from postgres_server import postgres_server, skip_without_postgres
from waiting import WAIT_S, wait_until

from downfield.core.errors import InputError
from downfield.core.field.model import preset
from downfield.desk.event.keeper import EventKeeper, Request
from downfield.desk.event.operations import draw
from downfield.desk.event.placing import change_clock, find_match, make_schedule
from downfield.desk.event.records import Entrant, EventClock, Rules
from downfield.desk.event.state import Change, TournamentEvent
from downfield.desk.replication.desk_tournament import GAMES_FILE, open_desk_tournament
from downfield.desk.replication.tournament_store import TournamentStore, copy_games
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.game.disputes import Disputes
from downfield.game.records.final_score import ScoreSigned
from downfield.rig.configuration.loading import load
from downfield.rig.games.kept_games import DATA_FOLDER_LOCK
from downfield.rig.scorekeeper import Scorekeeper
from downfield.store.database.opening import open_for_reading
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.writing.lease import FileLease, LeasedThing

TEAMS = tuple(Entrant(f"e{number}", f"Coach {number}", team=f"Team {number}") for number in range(1, 7))
TABLES = ("Table 1", "Table 2", "Table 3")


def fresh(_: TournamentEvent, by: Change) -> TournamentEvent:
    """Return an event of six teams in one pool over three tables."""
    event = draw(TournamentEvent("Open", Rules(pools=1, elimination="none"), entrants=TEAMS), by)
    return make_schedule(change_clock(event, EventClock(), TABLES, BY), BY)


@contextmanager
def desk_of(folder: Path) -> Iterator[DeskServer]:
    """A desk as `downfield desk` runs it without a configuration."""
    settings = load(environment={}).settings
    keeper, grants = EventKeeper(folder / "event.json"), GrantKeeper(folder)
    tournament = open_desk_tournament(settings, keeper, folder, grants)
    server = DeskServer(folder, tournament=tournament, grants=grants, keeper=keeper)
    try:
        yield server
    finally:
        server.close()
        tournament.close()


@contextmanager
def rig_at(desk: DeskServer, folder: Path) -> Iterator[Scorekeeper]:
    """A rig on the desk's computer, called as its folder."""
    given = {"data": str(folder), "rig.table": folder.name, "service.port": 0, "tournament.servers": [desk.url]}
    keeper = Scorekeeper(load(environment={}, command_line=given), preset("ultimate"))
    try:
        yield keeper
    finally:
        keeper.close()


def sign(rig: Scorekeeper) -> None:
    """Have both coaches sign the score as it is."""
    disputes = Disputes(rig.game_service)
    for side, name in (("home", "Ann"), ("away", "Bo")):
        disputes.sign(ScoreSigned(side, name, (0, 0), "", "a phone"))  # type: ignore[arg-type]


def state_of(desk: DeskServer, match: str) -> str:
    found = httpx.get(f"{desk.url}/api/event", timeout=WAIT_S).json()["matches"]
    return next(str(one["state"]) for one in found if one["id"] == match)


@pytest.mark.usefixtures("short_pauses")
def test_an_event_of_three_tables_needs_neither_broker_nor_server_and_moves_to_one(tmp_path: Path) -> None:
    with ExitStack() as stack:
        desk = stack.enter_context(desk_of(tmp_path / "desk"))
        desk.parts.keeper.change(Request("Dee"), "made the draw", fresh)
        rigs = {name: stack.enter_context(rig_at(desk, tmp_path / name)) for name in TABLES}
        wait_until(lambda: {one.name for one in desk.parts.statuses()} == set(TABLES), "the tables appear")
        calls = httpx.post(f"{desk.url}/api/pushes/round", timeout=WAIT_S).json()
        assert [(call["table"], call["state"]) for call in calls] == [(name, "sent") for name in TABLES]
        first = {call["table"]: call["match"] for call in calls}
        wait_until(lambda: {state_of(desk, match) for match in first.values()} == {"in_play"}, "the games begin")
        again = httpx.post(f"{desk.url}/api/pushes/round", timeout=WAIT_S).json()
        assert {call["state"] for call in again} == {"playing"}
        sign(rigs["Table 1"])
        wait_until(lambda: state_of(desk, first["Table 1"]) == "played", "the result comes")
        result = find_match(desk.parts.keeper.event, first["Table 1"]).result
        assert result is not None
        assert set(result.signed_by) == {"Ann", "Bo"}
    skip_without_postgres()
    with postgres_server() as database:
        source, target = TournamentStore(f"sqlite:///{tmp_path / 'desk' / GAMES_FILE}"), TournamentStore(database)
        games, entries = copy_games(source, target)
        assert games >= len(TABLES)
        assert entries > games
        assert copy_games(source, target) == (0, 0)
        assert target.latest_entries(0, ("game_started",)).keys() == source.latest_entries(0, ("game_started",)).keys()
        source.close()
        target.close()
        with open_for_reading(database) as opened:
            for game in opened.store.games():
                assert verify_journal(game.id, opened.store.entries(game.id)).problem == ""


def test_only_this_computer_may_send_what_a_rig_sends(tmp_path: Path) -> None:
    with desk_of(tmp_path / "desk") as desk:
        viewer = {"Authorization": f"Bearer {desk.token('viewer')}"}
        path = f"{desk.url}/api/tournament/downfield.journal.append"
        assert httpx.post(path, content=b"{}", headers=viewer, timeout=WAIT_S).status_code == 403
        refused = httpx.post(path, content=b"{}", timeout=WAIT_S)
        assert (refused.status_code, refused.json()["status"]) == (200, "refused")
        assert httpx.post(f"{desk.url}/api/tournament/downfield.other", timeout=WAIT_S).status_code == 404


RUNS_A_TABLE = """
import sys
from pathlib import Path
from downfield.cli.commands import desk
desk.FIRST_TABLE_PORT = 0  # any that is free
desk._run_table(Path(sys.argv[1]), "Table 1", 0, 9, lan=False).wait()
"""


def test_a_table_of_a_desk_ends_with_it_also_where_it_is_killed(tmp_path: Path) -> None:
    lock = tmp_path / "table-1" / DATA_FOLDER_LOCK
    with subprocess.Popen([sys.executable, "-c", RUNS_A_TABLE, str(tmp_path)]) as desk:
        try:
            wait_until(lambda: lock.exists() and is_leased(lock), "the table runs")
        finally:
            desk.kill()
    wait_until(lambda: not is_leased(lock), "the table ends")


def is_leased(lock: Path) -> bool:
    try:
        FileLease(lock, LeasedThing("The folder", "wait.")).close()
    except InputError:
        return True
    return False
