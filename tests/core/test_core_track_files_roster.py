from __future__ import annotations

from pathlib import Path

import pytest

from downfield.core.errors import FormatError, InputError
from downfield.core.field.model import preset
from downfield.core.records import to_json
from downfield.core.scene import Figure, Player, Scene
from downfield.core.track_files import Roster, RosterSpot, TracksHeader, read_roster, write_tracks

PLAYERS = (Player("dark-12", "dark", role="QB"), Player("light-55", "light"))


def test_a_roster_file_lists_players_and_places(tmp_path: Path) -> None:
    path = tmp_path / "game.roster.json"
    roster = Roster(PLAYERS, (RosterSpot("dark-12", 45.0, 26.5),))
    path.write_text(to_json(Roster, roster))
    assert read_roster(path) == roster


def test_a_track_file_serves_as_a_roster_with_the_places_of_its_first_scene(tmp_path: Path) -> None:
    path, field = tmp_path / "game.tracks.jsonl", preset("ultimate")
    figure = Figure("light-55", "light", 10 * field.mm_per_yd_x, 20 * field.mm_per_yd_y, 0.0, 30.0, 18.0)
    write_tracks(path, TracksHeader(field, PLAYERS, 30.0), [Scene(0, 0, "off", (figure,))])
    roster = read_roster(path)
    assert roster.players == PLAYERS
    assert [spot.id for spot in roster.spots] == ["light-55"]
    assert (roster.spots[0].x_yd, roster.spots[0].y_yd) == pytest.approx((10.0, 20.0))


def test_two_players_with_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="same id"):
        Roster((PLAYERS[0], PLAYERS[0]))
    path = tmp_path / "twice.roster.json"
    path.write_text('{"players": [{"id": "a", "jersey": "dark"}, {"id": "a", "jersey": "dark"}]}')
    with pytest.raises(FormatError, match="same id"):
        read_roster(path)


def test_a_place_of_an_unknown_player_is_refused() -> None:
    with pytest.raises(InputError, match="'dark-99' is not one of the players"):
        Roster(PLAYERS, (RosterSpot("dark-99", 1.0, 2.0),))
