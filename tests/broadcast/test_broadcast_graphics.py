"""Cards say what the game knows, and are told to every overlay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from evidence_service import RUNNER, EvidenceService

from downfield.broadcast.cards import FinalScore, standings_card
from downfield.core.errors import NotFoundError
from downfield.game.published.stream_topics import GraphicView
from downfield.game.records.commands import NewGame, TeamSheet


@pytest.fixture
def service(tmp_path: Path) -> Iterator[EvidenceService]:
    made = EvidenceService(tmp_path / "a.db")
    made.play()
    yield made
    made.close()


def rows(card: dict[str, list[dict[str, object]]]) -> dict[object, object]:
    return {row["label"]: row["values"] for row in card["rows"]}


def test_a_player_is_shown_with_what_it_did(service: EvidenceService) -> None:
    card = service.client.post("/api/graphic", {"kind": "player", "player": RUNNER, "seconds": 0}).json
    assert (card["side"], card["seconds"], card["take"]) == ("home", 0, 1)
    assert rows(card)["Carries"] == ["1"]
    tackler = service.client.post("/api/graphic", {"kind": "player", "player": "light-50"}).json
    assert (tackler["side"], rows(tackler), tackler["take"]) == ("away", {"Tackles": ["1"]}, 2)
    assert service.hub.value("graphic") == GraphicView.model_validate(tackler)


def test_a_drive_the_teams_and_a_line_up_are_counted_from_the_journal(service: EvidenceService) -> None:
    drive = service.client.post("/api/graphic", {"kind": "drive"}).json
    assert rows(drive)["Plays"] == ["1"]
    teams = service.client.post("/api/graphic", {"kind": "teams"}).json
    assert rows(teams)["Plays"] == ["0", "1"]  # away, home
    line_up = service.client.post("/api/graphic", {"kind": "line_up", "side": "away"}).json
    assert {row["values"][0] for row in line_up["rows"]} == {"50"}


def test_a_call_under_review_is_shown_with_a_picture_that_exists(service: EvidenceService) -> None:
    card = service.client.post("/api/graphic", {"kind": "review"}).json
    picture = service.client.get("/" + card["picture"])
    assert (picture.status, picture.headers["content-type"]) == (200, "image/jpeg")


def test_a_message_is_shown_as_it_was_written_and_taken_off(service: EvidenceService) -> None:
    title = "<b>رعاية</b> 株式会社 & Łódź"
    assert service.client.post("/api/graphic", {"kind": "message", "title": title}).json["title"] == title
    logo = "9f86d081884c7d659a2feaa0c55ad015"
    assert service.client.post("/api/graphic", {"kind": "message", "title": title, "logo": logo}).json["logo"] == logo
    assert service.client.post("/api/graphic", {"kind": "message", "title": "a", "logo": "../x"}).status == 422
    assert service.client.request("DELETE", "/api/graphic").json["kind"] == "none"
    assert service.hub.value("graphic").take == 3


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kind": "message"}, 422),
        ({"kind": "message", "title": "a\nb"}, 422),
        ({"kind": "hats"}, 422),
        ({"kind": "player", "player": "dark-1"}, 404),
        ({"kind": "drive", "seconds": -1}, 422),
        ({"kind": "standings"}, 404),  # the only game is in play
    ],
)
def test_a_card_that_cant_be_made_is_refused_and_the_last_one_stays(
    service: EvidenceService, body: dict[str, object], status: int
) -> None:
    service.client.post("/api/graphic", {"kind": "message", "title": "stays"})
    assert service.client.post("/api/graphic", body).status == status
    assert service.hub.value("graphic").title == "stays"


def test_standings_count_the_finished_games_of_the_rig_that_had_a_play(service: EvidenceService) -> None:
    home, away = TeamSheet(name="Łódź", short="Ł"), TeamSheet(name="大阪", short="大")
    service.game_service.start_game(NewGame(home=home, away=away))  # ends the first, which had a play
    service.game_service.start_game(NewGame())
    card = service.client.post("/api/graphic", {"kind": "standings", "seconds": 15}).json
    assert (card["title"], card["subtitle"], card["seconds"]) == ("Standings", "After 1 game", 15)
    assert rows(card) == {name: ["0\N{EN DASH}0\N{EN DASH}1   0:0"] for name in ("Home", "Away")}


def test_standings_are_ordered_by_wins_then_points_and_long_ones_are_cut() -> None:
    games = [
        FinalScore("Oaks", "Rivers", (21, 7)),
        FinalScore("rivers ", "Hills", (3, 3)),  # as somebody typed it
        FinalScore("Hills", "OAKS", (0, 14)),
    ]
    card = standings_card(games)
    assert [(row.label, row.values[0]) for row in card.rows] == [
        ("Oaks", "2\N{EN DASH}0   35:7"),
        ("Rivers", "0\N{EN DASH}1\N{EN DASH}1   10:24"),
        ("Hills", "0\N{EN DASH}1\N{EN DASH}1   3:17"),
    ]
    many = [FinalScore(f"Team {number}", f"Other {number}", (number, 0)) for number in range(1, 30)]
    assert [row.label for row in standings_card(many).rows] == [f"Team {number}" for number in range(29, 17, -1)]
    with pytest.raises(NotFoundError):
        standings_card([])


def test_before_any_play_there_is_no_drive(tmp_path: Path) -> None:
    service = EvidenceService(tmp_path / "b.db")
    assert service.client.post("/api/graphic", {"kind": "drive"}).status == 404
    service.close()
