"""A camera that is gone says nothing of what is declared later: its last scene is not taken for the board now."""

from __future__ import annotations

import pytest
from scripted_plays import FIELD, ScriptedFigure, film, stands

from downfield.core.errors import RefusedError
from downfield.core.scene import Player
from downfield.officiating.declarations import Carrier, ChoiceMade, LineUpDeclared, PassDeclared, Roll, SetUp, Switch
from downfield.officiating.engine.engine_state import ENGINE_LIMITS
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import load_rulebook

PASSER, END = Player("dark-7", "dark", role="QB"), Player("dark-80", "dark", role="WR")
LAST_NS = 2_000_000_000
"""The camera's last scene."""


def declare(game: JudgedGame, t_ns: int, *bodies: object) -> None:
    for number, body in enumerate(bodies):
        game.apply(Event(f"{t_ns}-{number}", t_ns, "operator", body))  # type: ignore[arg-type]


def watched(book: str) -> JudgedGame:
    """Return a game whose camera has died in mid-play."""
    game = JudgedGame(load_rulebook(book), FIELD)
    dice = [Roll((5, 5), "quarterback_1", "home")] if book == "lions-den" else []
    line_up = LineUpDeclared((PASSER, END), "dark")
    declare(game, 0, *dice, line_up, SetUp("home", 1, 40.0), Carrier("dark-7"), Switch(True))
    men = [
        ScriptedFigure("dark-7", stands(35.0, heading=0.0), "QB"),
        ScriptedFigure("dark-80", stands(50.0, heading=0.0), "WR"),
    ]
    for scene in film(men, LAST_NS / 1e9, on=((0.0, 99.0),)).scenes:
        game.apply(scene)
    return game


@pytest.mark.parametrize("late", [False, True])
def test_a_coach_stops_his_runner_only_where_the_camera_sees_him(late: bool) -> None:
    game, t_ns = watched("tap"), LAST_NS + ENGINE_LIMITS.stale_ns // 2 + late * ENGINE_LIMITS.stale_ns
    if late:
        with pytest.raises(RefusedError, match="not in view"):
            declare(game, t_ns, ChoiceMade("stop_here"))
    else:
        declare(game, t_ns, ChoiceMade("stop_here"))
        assert game.state.down == 2


@pytest.mark.parametrize("late", [False, True])
def test_a_pass_is_measured_only_while_the_camera_sees_both_men(late: bool) -> None:
    game, t_ns = watched("lions-den"), LAST_NS + ENGINE_LIMITS.stale_ns // 2 + late * ENGINE_LIMITS.stale_ns
    if late:
        with pytest.raises(RefusedError, match="no camera measures its length"):
            declare(game, t_ns, PassDeclared("dark-80"))
        declare(game, t_ns, PassDeclared("dark-80", 15.0))
    else:
        declare(game, t_ns, PassDeclared("dark-80"))
    assert game.state.wait is not None
    assert game.state.wait.purpose == "pass"


def test_what_is_declared_where_the_last_scene_is_stale_is_told_as_it_is_refused() -> None:
    game = watched("tap")
    declare(game, LAST_NS + 10 * ENGINE_LIMITS.stale_ns, Switch(False))
    stop = game.legal().find("choice", "stop_here")
    assert stop is not None
    assert not stop.allowed
    assert "declare where the play ended" in stop.reason
