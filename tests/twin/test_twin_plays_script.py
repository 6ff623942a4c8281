"""Scripts: what is refused before it is played, and the TOML form."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from downfield.core.errors import FormatError, InputError, ScriptError
from downfield.core.field.model import preset, preset_names
from downfield.officiating.declarations import Carrier
from downfield.twin.plays.formations import QB, RB, SE, head_up, placed, standard, teams
from downfield.twin.plays.ground import Ground, check_script, load_script
from downfield.twin.plays.recording import play
from downfield.twin.plays.script import Board, CutTo, Declare, Reaches, Route, Script, Stance, Topple, Until, WaitFor

FIELD = preset("ultimate")
PLAIN = Script("plain", "Nothing happens.", teams(), placed(standard(FIELD)), (WaitFor(0.1),), motion="exact")

TOML = """
name = "small"
about = "One man walks."
motion = "exact"
line_yd = 30.0
steps = [
    {type = "board", on = true, by = "home"},
    {type = "until", happens = [{type = "reaches", player = "dark-28", ahead_yd = 0.0}], mark = "line"},
]
[[players]]
id = "dark-28"
jersey = "dark"
[[formation]]
player = "dark-28"
ahead_yd = -2.0
across_yd = 0.0
[traits.dark-28]
speed_mm_s = 100.0
"""


def refused(script: Script) -> str:
    with pytest.raises(ScriptError) as caught:
        check_script(script)
    text = str(caught.value)
    assert "\n" not in text
    return text


def point_yd(ground: Ground, x_mm: float, y_mm: float) -> tuple[float, float]:
    """Return a place on the board in the play frame: yards ahead of the line and across from the middle."""
    ahead = ground.direction * (x_mm / ground.field.mm_per_yd_x - ground.line_yd)
    across = ground.direction * (y_mm / ground.field.mm_per_yd_y - ground.field.width_yd / 2)
    return ahead, across


def test_bases_that_overlap_are_named() -> None:
    text = refused(replace(PLAIN, formation=placed(standard(FIELD), Stance(RB, -6.0, 0.5))))
    assert QB in text
    assert RB in text
    assert "overlap" in text


def test_an_unknown_figure_is_named_wherever_it_stands() -> None:
    unknown = "dark-99"
    for script in (
        replace(PLAIN, formation=(*PLAIN.formation, Stance(unknown, -15.0, 15.0))),
        replace(PLAIN, steps=(Topple(unknown),)),
        replace(PLAIN, steps=(Until((Reaches(unknown, 0.0),)),)),
        replace(PLAIN, steps=(Declare(Carrier(unknown)),)),
        replace(PLAIN, steps=(WaitFor(0.1), CutTo((Stance(unknown, 0.0, 0.0),), line_yd=50.0))),
    ):
        assert unknown in refused(script)


def test_the_step_at_fault_is_named() -> None:
    assert "step 2 (topple)" in refused(replace(PLAIN, steps=(WaitFor(0.1), Topple("nobody"))))


def test_impossible_places_are_refused() -> None:
    assert "off the board" in refused(replace(PLAIN, formation=(Stance(RB, 0.0, 40.0),)))
    assert "off the board" in refused(replace(PLAIN, formation=(Stance(RB, 90.0, 0.0),)))
    assert "line_yd" in refused(replace(PLAIN, line_yd=120.0))
    assert "twice" in refused(replace(PLAIN, formation=(*PLAIN.formation, Stance(RB, -20.0, 10.0))))


def test_impossible_rates_and_rosters_are_refused() -> None:
    assert "fps" in refused(replace(PLAIN, fps=0.0))
    assert "two players" in refused(replace(PLAIN, players=(*teams(), teams()[0])))


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(InputError, match="no field is named"):
        check_script(replace(PLAIN, board="croquet"))


def test_a_required_event_that_never_happens_is_refused_with_its_step() -> None:
    script = replace(PLAIN, steps=(Until((Reaches(RB, 50.0),), within_s=0.1),))
    with pytest.raises(ScriptError, match=r"plain, step 1 \(until\): reaches did not happen within 0.1 s"):
        play(script, 0)


def test_an_optional_event_may_not_happen() -> None:
    script = replace(PLAIN, steps=(Until((Reaches(RB, 50.0),), within_s=0.2, required=False, mark="there"),))
    recording = play(script, 0)
    assert recording.marks == {}
    assert len(recording.snapshots) == 7


@pytest.mark.parametrize("board", preset_names())
@pytest.mark.parametrize("direction", [1, -1])
def test_the_standard_formations_fit_every_board(board: str, direction: int) -> None:
    field = preset(board)
    for formation in (standard(field), head_up(field)):
        script = replace(PLAIN, board=board, line_yd=field.length_yd / 2, formation=placed(formation))
        check_script(replace(script, direction=1 if direction == 1 else -1))


@pytest.mark.parametrize("direction", [1, -1])
def test_figures_on_the_line_touch_it_with_their_front(direction: int) -> None:
    ground = Ground(FIELD, 40.0, direction)
    formation = {id_: stance for id_, stance in standard(FIELD).items() if stance.ahead_yd == 0.0}
    players = {player.id: player for player in teams()}
    assert len(formation) == 7
    for id_, stance in formation.items():
        base = ground.stand(players[id_], stance)
        assert math.isclose(ground.foremost_yd(base), 0.0, abs_tol=1e-9)
        assert point_yd(ground, base.x_mm, base.y_mm)[1] == pytest.approx(stance.across_yd)
    assert SE in formation


def test_a_script_file_is_played(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(TOML)
    recording = play(load_script(path), 0)
    # Two yards of 9.9 mm at 100 mm/s.
    assert recording.marks["line"] == pytest.approx(198_000_000, abs=10_000_000)
    assert recording.events[0].body.type == "switch"


@pytest.mark.parametrize(
    ("find", "put", "error", "says"),
    [
        ("across_yd = 0.0", "across_yd = 0.0\nup_yd = 1.0", FormatError, "formation.0.up_yd: unknown key"),
        ('jersey = "dark"', 'jersey = "mauve"', FormatError, "players.0.jersey"),
        ('type = "board"', 'type = "bored"', FormatError, "steps.0"),
        ("line_yd = 30.0", "line_yd = ", FormatError, "broken TOML"),
        ('player = "dark-28"\nahead', 'player = "dark-29"\nahead', ScriptError, "no player is named 'dark-29'"),
        ("line_yd = 30.0", "line_yd = 300.0", ScriptError, "line_yd must be 0..100"),
        ("speed_mm_s = 100.0", "mass_g = 0.0", FormatError, "mass_g must be above 0"),
    ],
)
def test_a_broken_script_file_gets_one_clear_line(
    tmp_path: Path, find: str, put: str, error: type[Exception], says: str
) -> None:
    assert find in TOML
    path = tmp_path / "broken.toml"
    path.write_text(TOML.replace(find, put))
    with pytest.raises(error) as caught:
        load_script(path)
    text = str(caught.value)
    assert says in text
    assert str(path) in text
    assert "\n" not in text


def test_a_missing_script_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_script(tmp_path / "none.toml")


def test_a_route_is_followed_either_way() -> None:
    ends = []
    for direction in (1, -1):
        script = replace(
            PLAIN,
            direction=1 if direction == 1 else -1,
            formation=placed({}, Stance(RB, -10.0, 0.0, at="center")),
            steps=(Board(on=True), Route(RB, ((-8.0, 3.0), (-2.0, 5.0)), speed_mm_s=200.0), WaitFor(1.0)),
        )
        recording = play(script, 0)
        figure = recording.scenes[-1].figures[0]
        ends.append(point_yd(Ground(FIELD, 40.0, direction), figure.x_mm, figure.y_mm))
    assert ends[0] == pytest.approx((-2.0, 5.0))
    assert ends[1] == pytest.approx(ends[0])
