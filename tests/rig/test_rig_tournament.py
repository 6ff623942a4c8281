"""What a rig in a tournament says of itself, and how it is configured: off by default, and never in the way."""

from __future__ import annotations

import socket
import stat
import sys
from pathlib import Path

import pytest
from broker_server import BrokerServer, skip_without_broker
from postgres_server import postgres_server, skip_without_postgres
from waiting import wait_until

from downfield.cli.main import run_command
from downfield.core.errors import FormatError, InputError, MissingExtraError
from downfield.core.field.model import preset
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.replication.broker_server import write_broker_files
from downfield.desk.replication.desk_tournament import DeskTournament, open_desk_tournament
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.game.receipts import Submission
from downfield.officiating.declarations import SetUp
from downfield.rig.configuration.loading import Configuration, load
from downfield.rig.scorekeeper import Scorekeeper
from downfield.rig.tournament import link
from downfield.rig.tournament.broker import broker_access
from downfield.rig.tournament.journal_sender import SenderState
from downfield.rig.tournament.link import LinkState, with_link_state
from downfield.store.database.opening import open_for_reading
from downfield.store.sealing.hash_chain import verify_journal


def test_there_is_no_tournament_by_default(tmp_path: Path) -> None:
    settings = load(environment={}).settings
    assert settings.tournament.servers == ()
    opened = open_desk_tournament(settings, EventKeeper(tmp_path / "event.json"), tmp_path, GrantKeeper())
    opened.close()
    assert (opened.where, opened.kept_in) == ("", f"sqlite:///{tmp_path / 'games.db'}")  # of tables on this computer


@pytest.mark.parametrize(
    "server", ["127.0.0.1:4222", "http://desk", "nats://me:secret@desk:4222", "nats://", "nats://a b"]
)
def test_an_address_that_is_no_brokers_or_holds_a_password_is_refused_by_its_name(server: str) -> None:
    with pytest.raises(FormatError, match=r"tournament\.servers"):
        load(environment={}, command_line={"tournament.servers": [server]})


def configured(tmp_path: Path, port: int, credentials: Path, **more: object) -> Configuration:
    given = {
        "data": str(tmp_path / "data"),
        "rig.table": "Table 3",
        "service.on": False,
        "service.port": 0,
        "tournament.servers": [f"nats://127.0.0.1:{port}"],
        "tournament.credentials": str(credentials),
    }
    return load(environment={}, command_line={**given, **more})


def wait_for_state(keeper: Scorekeeper, state: str) -> HealthStatus:
    return wait_until(lambda: health if (health := keeper.health()).replication.state == state else None, keeper.health)


def test_a_game_kept_at_a_table_goes_on_without_the_broker_and_is_at_the_tournament_after_it_came(
    tmp_path: Path, brokering: BrokerServer
) -> None:
    skip_without_postgres()
    brokering.kill()
    keeper = Scorekeeper(configured(tmp_path, brokering.port, brokering.files.tables[0]), preset("ultimate"))
    try:
        keeper.game_service.declare(SetUp("home", 1, 30), Submission(key="one"))
        behind = wait_for_state(keeper, "behind")
        assert behind.replication.entries > 0
        assert behind.level == "ok", "a cut of a moment is no warning"
        brokering.start()
        with postgres_server() as database:
            event = EventKeeper(tmp_path / "event.json")
            desk = DeskTournament(brokering.access("desk"), TournamentStore(database), event, "", PushKeeper())
            wait_for_state(keeper, "ok")
            desk.close()
            with open_for_reading(database) as opened:
                (game,) = opened.store.games()
                assert game.table == "Table 3"
                assert verify_journal(game.id, opened.store.entries(game.id)).problem == ""
            assert run_command(["verify", database]) == 0
    finally:
        keeper.close()


def test_credentials_that_are_missing_malformed_or_wrong_are_told_in_a_sentence(
    tmp_path: Path, brokering: BrokerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "WARN_AFTER_S", 0.0)
    with pytest.raises(InputError, match=r"nowhere\.json"):
        broker_access(["nats://desk"], str(tmp_path / "nowhere.json"), "x")
    malformed = tmp_path / "bad.json"
    malformed.write_text("{}")
    with pytest.raises(FormatError, match=r"bad\.json"):
        broker_access(["nats://desk"], str(malformed), "x")
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"user": "rig", "password": "guess"}')
    keeper = Scorekeeper(configured(tmp_path, brokering.port, wrong), preset("ultimate"))
    try:
        wait_until(lambda: "Authorization" in keeper.health().text + str(keeper.health().reasons), keeper.health)
    finally:
        keeper.close()


def test_without_the_client_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"extra 'tournament'.*\[tournament\]"):
        broker_access(["nats://desk"], "", "x")


def test_a_desk_with_a_broker_needs_a_database(tmp_path: Path) -> None:
    skip_without_broker()
    settings = load(environment={}, command_line={"tournament.servers": ["nats://x"]}).settings
    with pytest.raises(InputError, match=r"tournament\.database"):
        open_desk_tournament(settings, EventKeeper(tmp_path / "event.json"), tmp_path, GrantKeeper())


def test_the_brokers_secrets_are_for_their_owner_and_stay_over_starts(tmp_path: Path) -> None:
    files = write_broker_files(tmp_path / "broker", "0.0.0.0", 4222)
    kept = [path.read_text() for path in (files.desk, files.tables[0])]
    assert kept[0] != kept[1]
    again = write_broker_files(tmp_path / "broker", "127.0.0.1", 4223)
    assert [path.read_text() for path in (again.desk, again.tables[0])] == kept
    assert "127.0.0.1:4223" in again.configuration.read_text()
    if sys.platform != "win32":
        for path in (files.desk, files.tables[0], files.configuration):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_port_that_is_in_use_is_told_with_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skip_without_broker()
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = str(used.getsockname()[1])
        assert run_command(["desk", "broker", "--host", "127.0.0.1", "--port", port, "--data", str(tmp_path)]) == 2
    assert "systemctl disable --now nats-server" in capsys.readouterr().err


def test_the_files_alone_are_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["desk", "broker", "--files-only", "--data", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert str(tmp_path / "table-1.credentials.json") in output
    assert "nats-server -c" in output


WELL, LEVEL = HealthStatus(text="board on"), HealthReason(code="disk_full", level="alarm", text="The disk is full")


@pytest.mark.parametrize(
    ("link", "state", "level", "says"),
    [
        (LinkState(True, "", SenderState(is_compared=True)), "ok", "ok", ""),
        (LinkState(True, "", SenderState()), "behind", "ok", ""),
        (LinkState(True, "", SenderState(40, 2.0)), "behind", "ok", ""),
        (LinkState(False, "no broker", SenderState()), "behind", "ok", ""),
        (
            LinkState(False, "no broker", SenderState(1, 11.0)),
            "behind",
            "warning",
            "1 entry behind for 11 s: no broker",
        ),
        (
            LinkState(True, "", SenderState(2000, 90_000.0, "no disk")),
            "behind",
            "warning",
            "2,000 entries behind for 25 h",
        ),
        (LinkState(True, "", SenderState(0, 0.0, "", (("g", "a fork"),))), "refused", "warning", "game g: a fork"),
    ],
)
def test_the_health_says_how_far_the_tournament_is_behind(link: LinkState, state: str, level: str, says: str) -> None:
    health = with_link_state(WELL, link)
    assert (health.replication.state, health.level) == (state, level)
    assert health.replication.entries == link.sender.behind
    assert says in " ".join(reason.text for reason in health.reasons)
    alarmed = with_link_state(WELL.model_copy(update={"level": "alarm", "reasons": (LEVEL,)}), link)
    assert alarmed.level == "alarm"
    assert alarmed.reasons[0] == LEVEL
