"""Teams, the schedule and calibrations reach a table, are kept there, and are refused where they do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from broker_server import BrokerServer
from browsers import browser, page_in
from desk_server import DeskServer
from playwright.sync_api import expect
from served_games import FakeRig
from tournament_tables import desk_over, table
from waiting import WAIT_S, wait_until

from downfield.api.security.grants import GrantedAccess
from downfield.calibration.calibration import Calibration, read_calibration
from downfield.core.errors import OutputError, RefusedError
from downfield.core.records import to_json
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.game.published.hub import Hub
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame, RigCommand, TeamSheet, UseCalibration
from downfield.game.service import GameService
from downfield.officiating.declarations import SetUp
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.loading import load
from downfield.rig.tables.profile import TableFolder, new_profile
from downfield.rig.tournament import broker_thread
from downfield.rig.tournament.link import profile_saver
from downfield.rig.tournament.push_payloads import (
    PushedCalibration,
    PushedFigure,
    PushedSchedule,
    PushedTeam,
    PushedTeams,
    PushState,
    ScheduledGame,
    TablePush,
)
from downfield.rig.tournament.push_receiver import PushedMaterial, PushReceiver, SaveProfile
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

pytestmark = pytest.mark.usefixtures("short_pauses")

DEMO = read_calibration(Path(__file__).parents[2] / "capture/demo/demo.calibration.json")
OWLS = PushedTeam(
    "1", TeamSheet(name="Совы", short="СОВ", color="#ffeecc"), (PushedFigure("7", "QB"), PushedFigure("9"))
)
LIONS = PushedTeam("2", TeamSheet(name="Lions", short="LIO"), (PushedFigure("22", "RB", "base filed", refused=True),))


class CalibratedRig(FakeRig):
    """A rig that takes calibrations of one size.

    Attributes:
        used: what it took.
    """

    def __init__(self) -> None:
        super().__init__(None)
        self.used: list[Calibration] = []

    def do(self, command: RigCommand) -> str:
        assert isinstance(command, UseCalibration)
        if command.calibration.camera.lens.size_px != DEMO.camera.lens.size_px:
            raise RefusedError("The calibration is for pictures of another size.")
        self.used.append(command.calibration)
        return "in use"


class Table:
    """A rig without a broker that applies what it is given.

    Attributes:
        rig, store, hub: its parts.
        game: in play there.
    """

    def __init__(self, folder: Path, save_profile: SaveProfile | None = None) -> None:
        self.rig, self.store, self.hub = CalibratedRig(), Store.at(folder / "downfield.db"), Hub()
        self.game = GameService(StoredJournals(self.store), self.hub, self.rig, DEMO.field, load_rulebook("tap"))
        self.game.start_game(NewGame())
        material = PushedMaterial(
            self.store, self.hub, "Table 1", GrantedAccess(folder / "desks.json", "a", "Table 1"), save_profile
        )
        self.receiver = PushReceiver(folder / "pushes.json", self.hub, RigKey.generate(), "Table 1", material)
        self.receiver.attach(self.game)
        self._sent = 0

    def apply(self, payload: PushedTeams | PushedSchedule | PushedCalibration) -> PushState:
        self._sent += 1
        return self.receiver.apply(TablePush(f"{self._sent:012}", 0, "Dee", "", payload))

    def close(self) -> None:
        self.game.close()
        self.store.close()


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Table]:
    running = Table(tmp_path)
    yield running
    running.close()


def test_teams_are_saved_in_place_of_those_sent_before_and_a_coachs_own_stay(one: Table) -> None:
    one.store.keep_team("mine", '{"name":"Mine","short":"M"}', 0)
    state = one.apply(PushedTeams("Open", (OWLS, LIONS)))
    assert state.status == "applied"
    assert state.text == "2 teams of Open with 2 figures are saved. Refused at the weigh-in: 22 of Lions (base filed)."
    assert '"id":"light-7","jersey":"light","number":"7","role":"QB"' in one.store.teams()["event-1"]
    assert '"players":[]' in one.store.teams()["event-2"], "a refused figure is in the roster"
    one.apply(PushedTeams("Open", (LIONS,)))
    assert sorted(one.store.teams()) == ["event-2", "mine"]


def test_a_table_publishes_its_own_games_only_and_again_after_a_restart(one: Table, tmp_path: Path) -> None:
    games = (
        ScheduledGame("A1", "table 1", "2026-09-05T09:00", "Совы", "Lions"),
        ScheduledGame("A2", "Table 11", "", "a", "b"),
    )
    assert one.apply(PushedSchedule("Open", games)).text == "1 of the 2 games to be played are at this table."
    assert [game.home for game in one.hub.value("schedule").games] == ["Совы"]
    again = Hub()
    material = PushedMaterial(one.store, again, "Table 1", GrantedAccess(tmp_path / "desks.json", "a", "Table 1"))
    PushReceiver(tmp_path / "pushes.json", again, RigKey.generate(), "Table 1", material).attach(one.game)
    assert again.value("schedule") == one.hub.value("schedule")


def test_a_calibration_waits_for_the_end_of_the_game_and_is_refused_where_it_does_not_fit(one: Table) -> None:
    one.game.declare(SetUp("home", 1, spot_yd=30.0), Submission())
    push = TablePush("a" * 12, 0, "Dee", "", PushedCalibration(DEMO))
    assert one.receiver.apply(push).status == "waiting"
    assert one.rig.used == []
    with one.game.in_play() as session:
        session.end()
    state = one.receiver.apply(push)
    assert (state.status, one.rig.used) == ("applied", [DEMO])
    assert state.text == "The calibration is in use until the rig is started again."
    one.receiver.apply(push)
    assert len(one.rig.used) == 1, "it is used twice"
    lens = replace(DEMO.camera.lens, size_px=(640, 480))
    other = replace(DEMO, camera=replace(DEMO.camera, lens=lens))
    refused = one.apply(PushedCalibration(other))
    assert (refused.status, refused.text) == ("refused", "The calibration is for pictures of another size.")


def test_a_calibration_that_can_not_be_saved_is_in_use_all_the_same_and_says_so(tmp_path: Path) -> None:
    def fail(_: Calibration) -> None:
        raise OutputError("the disk is full")

    running = Table(tmp_path, fail)
    state = running.apply(PushedCalibration(DEMO))
    running.close()
    assert state.status == "applied"
    assert state.text.endswith("it can't be saved: the disk is full")


def test_a_sent_calibration_takes_the_place_of_the_saved_table_with_this_camera(tmp_path: Path) -> None:
    given = {"data": str(tmp_path), "source.name": "rtsp://10.0.0.7/board"}
    settings = load(environment={}, command_line=given).settings
    folder = TableFolder(tmp_path / "tables")
    older = replace(DEMO, unmodeled_px=9.0)
    folder.save(new_profile("By the window", "rtsp://10.0.0.7/board", older))
    save = profile_saver(settings, "Table 1")
    assert save is not None
    save(DEMO)
    assert [(profile.name, profile.calibration) for profile in folder.profiles()] == [("By the window", DEMO)]
    assert profile_saver(load(environment={}, command_line={"data": str(tmp_path)}).settings, "Table 1") is None


def test_what_a_later_one_replaces_before_it_was_applied_is_not_left_waiting(
    tmp_path: Path, brokering: BrokerServer
) -> None:
    keeper = PushKeeper()
    keeper.send("Dee", "old", PushedCalibration(DEMO))
    keeper.send("Dee", "new", PushedCalibration(DEMO))
    thread = broker_thread.BrokerThread(brokering.access("desk"), (keeper.run,), "desk")
    thread.start()
    with table(tmp_path / "Table 1", brokering, NewGame()):
        wait_until(lambda: statuses(keeper) == ["replaced", "refused"], "the older one is left waiting")
    thread.close()


def statuses(keeper: PushKeeper) -> list[str]:
    return [state.status for push in keeper.pushes for _, state in keeper.answers(push, {})]


def test_more_than_a_broker_carries_is_refused_and_what_is_repeated_is_kept_once() -> None:
    keeper = PushKeeper()
    for _ in range(3):
        keeper.send("Dee", "", PushedTeams("Open", (OWLS,)))
    assert len(keeper.pushes) == 1
    large = tuple(PushedFigure(f"{number}", "", "x" * 80_000) for number in range(100))
    with pytest.raises(RefusedError, match="more than can be sent"):
        keeper.send("Dee", "", PushedTeams("Open", (replace(OWLS, figures=large),)))
    assert len(keeper.pushes) == 1


def test_the_director_sends_teams_and_schedule_in_the_browser_and_the_panel_has_them(
    tmp_path: Path, brokering: BrokerServer
) -> None:
    with (
        desk_over(tmp_path / "desk", brokering) as desk,
        table(tmp_path / "Table 1", brokering, NewGame()) as rig,
        browser() as chrome,
        page_in(chrome) as page,
        page_in(chrome, phone=True) as phone,
    ):
        prepare(desk)
        page.goto(desk.url)
        expect(page.locator("#tables h3")).to_have_text("Table 1")
        for kind in ("schedule", "teams"):
            page.locator("#send-kind").select_option(kind)
            page.get_by_role("button", name="Send", exact=True).click()
            expect(page.locator("#sent .sent").first).to_contain_text("Table 1: done")
        page.locator("#send-kind").select_option("calibration")
        page.locator("#send-calibration").set_input_files({"name": "c.json", "mimeType": "", "buffer": b"{}"})
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.locator("#send-message")).to_contain_text("the calibration: field: missing")
        phone.goto(f"{rig.service.address}panel")
        schedule = phone.locator("details", has_text="Schedule of this table")
        schedule.locator("summary").click()
        expect(schedule.locator("li")).to_contain_text(["Совы", "Anas"])
        page.locator("#send-kind").select_option("text")
        page.locator("#send-text").fill("Lunch at noon")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(schedule).to_contain_text("Lunch at noon")
        phone.reload()
        expect(schedule.get_by_text("Lunch at noon")).to_be_visible()
        new_game = phone.locator("details", has_text="New game")
        new_game.locator("summary").click()
        new_game.get_by_label("Saved team, away").select_option(label="Совы")
        expect(new_game.get_by_role("textbox", name="Away team")).to_have_value("Совы")


def prepare(desk: DeskServer) -> None:
    """Register three coaches, one with a name of another script, and make the schedule."""
    with httpx.Client(base_url=desk.url, timeout=WAIT_S) as director:
        for coach, team in (("Ana", "Anas"), ("Иван", "Совы"), ("Bo", "Bos")):
            assert director.post("/api/event/entrants", json={"coach": coach, "team": team}).status_code == 201
        director.put("/api/event/rules", json={"pools": 1, "elimination": "none"})
        sessions = [{"begins": "2026-09-05T09:00", "ends": "2026-09-05T18:00"}]
        director.put("/api/event/clock", json={"clock": {"sessions": sessions}, "tables": ["Table 1"]})
        director.post("/api/event/draw")
        assert director.post("/api/event/schedule").status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"event": "teams"}, 409, "Nobody is registered yet"),
        ({"event": "schedule"}, 409, "Make the schedule first"),
        ({"calibration": to_json(Calibration, DEMO)}, 409, "belongs to one camera"),
        ({"calibration": '{"format":"downfield.table"}', "tables": ["Table 1"]}, 422, "the table's file"),
        ({"event": "teams", "text": "a"}, 422, "one thing at a time"),
    ],
)
def test_what_is_not_there_or_fits_nowhere_is_refused_before_it_is_sent(
    tmp_path: Path, brokering: BrokerServer, body: dict[str, object], status: int, text: str
) -> None:
    with desk_over(tmp_path / "desk", brokering) as desk:
        answer = httpx.post(f"{desk.url}/api/pushes", json=body, timeout=WAIT_S)
        assert (answer.status_code, text in answer.json()["detail"]) == (status, True), answer.text
        assert httpx.get(f"{desk.url}/api/pushes", timeout=WAIT_S).json() == []
