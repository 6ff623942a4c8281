"""What the producer puts on air is one state: changed live, published, refused where wrong, kept over a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import cv2
import numpy as np
import pytest
from evidence_service import RUNNER, EvidenceService
from waiting import wait_until

from downfield.broadcast.cards import lower_third
from downfield.broadcast.latest_picture import LatestPicture
from downfield.broadcast.logos import LogoFolder
from downfield.broadcast.on_air import OnAir
from downfield.broadcast.program.live_stream import LiveStream
from downfield.core.errors import InputError, NotFoundError, OutputError
from downfield.game.published.hub import Hub
from downfield.game.published.stream_topics import (
    GraphicRequest,
    GraphicView,
    OnAirPerson,
    OnAirPreset,
    OnAirStyle,
    OnAirView,
    ProgramOptions,
    SponsorsView,
)
from downfield.game.records.commands import NewGame

if TYPE_CHECKING:
    from downfield.broadcast.program.program_feed import ProgramDrawer

PICTURE = cv2.imencode(".png", np.full((40, 40, 3), 90, np.uint8))[1].tobytes()


class Program:
    """A program that draws nothing and knows what it was told."""

    def __init__(self) -> None:
        self.picture, self.stream, self.options = LatestPicture(), LiveStream(), ProgramOptions()
        self.people: tuple[OnAirPerson, ...] = ()

    def use(self, options: ProgramOptions, people: tuple[OnAirPerson, ...] = ()) -> None:
        self.options, self.people = options, people


def on_air_in(folder: Path | None, program: Program | None = None) -> tuple[OnAir, LogoFolder, Hub]:
    logos, hub = LogoFolder(folder and folder / "logos"), Hub()
    return OnAir(folder, logos, hub, cast("ProgramDrawer | None", program)), logos, hub


@pytest.fixture
def service(tmp_path: Path) -> Iterator[EvidenceService]:
    made = EvidenceService(tmp_path / "a.db")
    made.play()
    yield made
    made.close()


def test_all_of_it_is_the_same_after_a_restart(tmp_path: Path) -> None:
    on_air, logos, hub = on_air_in(tmp_path)
    picture = logos.keep(PICTURE)
    style = OnAirStyle(theme="light", plate="#102030", font="serif")
    changed = on_air.change(
        elements=("names", "bug", "bug", "sponsors"),
        style=style,
        program=ProgramOptions(view="field"),
        people=(OnAirPerson(name="Ž. Wolf", role="Coach", team="Rivers", picture=picture),),
        presets=(OnAirPreset(name="Calm", elements=("bug",)),),
        prepared=(GraphicRequest(kind="message", title="Welcome"),),
    )
    assert changed.elements == ("bug", "sponsors", "names")
    assert changed == hub.value("on_air")
    assert on_air.sponsors.shown
    assert on_air.show(GraphicView(kind="message", title="Back at eight", seconds=0)).take == 1
    program = Program()
    again, _, other = on_air_in(tmp_path, program)
    assert again.now == other.value("on_air") == changed
    assert (other.value("graphic").title, other.value("sponsors").shown) == ("Back at eight", True)
    assert program.options == ProgramOptions(view="field", elements=("red_zone", "trails", "carrier"), tags="off"), (
        "the lines and tags that are off stay off"
    )
    again.show(GraphicView())
    assert on_air_in(tmp_path)[2].value("graphic") is None


def test_what_is_left_out_stays_and_one_button_switches_one_element(tmp_path: Path) -> None:
    program = Program()
    on_air, _, hub = on_air_in(tmp_path, program)
    first = on_air.now
    assert (first, program.options) == (OnAirView(), ProgramOptions())
    on_air.switch("lines", None)
    assert program.options.elements == ("red_zone", "trails", "carrier")
    on_air.switch("tags", on=False)
    on_air.switch("tags", on=False)
    assert program.options.tags == "off"
    on_air.change(program=ProgramOptions(tags="all", theme="chalk"))
    on_air.switch("lines", None)
    assert on_air.switch("tags", None) == first.model_copy(
        update={"program": ProgramOptions(tags="all", theme="chalk")}
    )
    assert program.options == ProgramOptions(tags="all", theme="chalk")
    on_air.change(presets=(OnAirPreset(name="Bare", elements=(), style=OnAirStyle(scale=2)),))
    assert (on_air.use_preset("Bare").elements, on_air.now.style.scale) == ((), 2)
    with pytest.raises(NotFoundError, match="no preset Rich"):
        on_air.use_preset("Rich")
    assert hub.value("on_air") == on_air.now


def test_name_tags_show_the_people_while_their_names_are_on(tmp_path: Path) -> None:
    program = Program()
    on_air, _, _ = on_air_in(tmp_path, program)
    people = (OnAirPerson(name="Marcus Bell", team="Rivers", number="28"),)
    on_air.change(people=people)
    assert program.people == people
    on_air.switch("names", on=False)
    assert not program.people


def test_the_sponsors_have_one_switch(tmp_path: Path) -> None:
    on_air, _, hub = on_air_in(tmp_path)
    assert "sponsors" in on_air.switch("sponsors", None).elements
    assert hub.value("sponsors").shown
    on_air.use_sponsors(SponsorsView(shown=False, seconds=5))
    assert "sponsors" not in hub.value("on_air").elements
    assert (on_air.switch("sponsors", on=True).elements, on_air.sponsors.seconds) == (on_air.now.elements, 5)


def test_what_is_wrong_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    on_air, _, hub = on_air_in(tmp_path)
    before = on_air.now
    with pytest.raises(InputError, match="Upload it first"):
        on_air.change(people=(OnAirPerson(name="A", picture="0" * 32),))
    with pytest.raises(InputError, match="Two presets"):
        on_air.change(presets=(OnAirPreset(name="A", elements=()),) * 2)
    (tmp_path / "on_air.json").unlink(missing_ok=True)
    (tmp_path / "on_air.json").mkdir()
    with pytest.raises(OutputError, match="What is on air can't be kept"):
        on_air.switch("bug", None)
    (tmp_path / "card.json").mkdir()
    assert on_air.show(GraphicView(kind="message", title="Shown", seconds=0)).take == 1
    assert on_air.now == hub.value("on_air") == before
    assert hub.value("graphic").title == "Shown"


def test_a_card_that_stays_goes_for_good_when_a_play_begins_and_a_message_stays(
    service: EvidenceService, tmp_path: Path
) -> None:
    on_air, _, hub = on_air_in(tmp_path)
    game = service.hub.value("game")
    hub.publish("game", game.model_copy(update={"phase": "between_plays"}))
    on_air.show(GraphicView(kind="halftime", seconds=0))
    hub.publish("game", game.model_copy(update={"phase": "live"}))
    wait_until(lambda: hub.value("graphic").kind == "none", "the card was taken off")
    on_air.show(GraphicView(kind="message", title="Stays", seconds=0))
    hub.publish("game", game.model_copy(update={"phase": "kick"}))
    assert on_air_in(tmp_path)[2].value("graphic").title == "Stays"
    hub.close()


@pytest.mark.parametrize("damaged", [b"", b"{", b'{"elements": ["hats"]}', b"\xff\xfe"])
def test_a_damaged_file_is_told_and_stops_nothing(
    tmp_path: Path, damaged: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("on_air.json", "card.json"):
        (tmp_path / name).write_bytes(damaged)
    on_air, _, hub = on_air_in(tmp_path)
    assert (on_air.now, hub.value("graphic")) == (OnAirView(), None)
    assert "Choose what is on air anew" in caplog.text


def test_the_service_tells_and_changes_it(service: EvidenceService) -> None:
    client = service.client
    assert client.get("/api/on-air").json == OnAirView().model_dump(mode="json")
    assert client.post("/api/on-air", {"elements": ["bug"]}).json["elements"] == ["bug"]
    assert client.post("/api/on-air/elements/banner", {"on": True}).json["elements"] == ["bug", "banner"]
    assert client.post("/api/on-air/elements/banner", {}).json["elements"] == ["bug"]
    assert client.post("/api/on-air/elements/hats", {}).status == 422
    assert client.post("/api/on-air/presets/None", {}).status == 404
    assert client.post("/api/on-air", {"elements": ["hats"]}).status == 422
    assert client.post("/api/on-air", {"style": {"plate": "red"}}).status == 422
    assert client.post("/api/on-air", {"prepared": [{"kind": "message", "title": "a\nb"}]}).status == 422
    assert service.hub.value("on_air").elements == ("bug",)


def card(service: EvidenceService, kind: str, **body: object) -> GraphicView:
    """Show a card and return it."""
    answer = service.client.post("/api/graphic", {"kind": kind, **body})
    assert answer.status == 200, answer.json
    return GraphicView.model_validate(answer.json)


def test_a_countdown_ends_by_the_feeds_clock(service: EvidenceService) -> None:
    soon = card(service, "starting_soon", countdown_s=90, subtitle="Łódź Cup", seconds=0)
    assert (soon.title, soon.subtitle, [team.points for team in soon.teams]) == ("Starting soon", "Łódź Cup", [0, 0])
    halftime = card(service, "halftime", countdown_s=100)
    assert soon.until_ms is not None
    assert halftime.until_ms is not None
    assert halftime.until_ms >= soon.until_ms + 10_000
    assert service.client.post("/api/graphic", {"kind": "halftime", "countdown_s": 0}).status == 422


def test_a_card_over_all_has_what_was_counted_and_no_zero_for_the_rest(service: EvidenceService) -> None:
    halftime = card(service, "halftime", title="Pause")
    assert (halftime.title, halftime.until_ms) == ("Pause", None)
    assert {row.label: row.values for row in halftime.rows}["Plays"] == ("0", "1")
    refused = service.client.post("/api/graphic", {"kind": "final"})
    assert (refused.status, "not over" in refused.json["detail"]) == (422, True)
    service.game_service.start_game(NewGame())
    assert card(service, "halftime").rows == (), "nothing was counted in a game without a play"
    assert service.client.post("/api/graphic", {"kind": "teams"}).status == 404


def test_lower_thirds_name_players_by_team_and_number_and_whoever_is_told(service: EvidenceService) -> None:
    assert card(service, "lower_third", title="Zoë Ünal", subtitle="Commentator").side is None
    unknown = card(service, "lower_third", player=RUNNER)
    assert (unknown.title, unknown.subtitle, unknown.side) == ("Home 22", "RB", "home")
    people = [
        {"name": "Marcus Bell", "role": "Running back", "team": "HOME", "number": "22"},
        {"name": "Ann Lee", "role": "Head coach", "team": "Away"},
    ]
    assert service.client.post("/api/on-air", {"people": people}).status == 200
    known = card(service, "lower_third", player=RUNNER)
    assert (known.title, known.subtitle) == ("22 Marcus Bell", "Running back, Home")
    coach = card(service, "lower_third", title="ann lee")
    assert (coach.subtitle, coach.side) == ("Head coach", "away")
    assert card(service, "lower_third", title="Ann Lee", subtitle="Guest").subtitle == "Guest"
    for wrong, status in (({}, 422), ({"player": "dark-1"}, 404)):
        assert service.client.post("/api/graphic", {"kind": "lower_third", **wrong}).status == status
    pictured = OnAirPerson(name="Ann Lee", picture="0" * 32)
    assert lower_third(None, (), (pictured,), GraphicRequest(kind="lower_third", title="Ann Lee")).logo == "0" * 32
