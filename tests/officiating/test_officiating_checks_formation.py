"""The play's own frame, the players on the field, and the roles inferred where none are declared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lineups import BASE, FIELD, At, build, figure, front_seven, pro_set

from downfield.core.errors import InputError
from downfield.core.scene import Scene
from downfield.officiating.checks.formation import build_formation
from downfield.officiating.sides import canonical_role


def roles(players: object) -> list[str]:
    return [player.role for player in players]  # type: ignore[attr-defined]


def test_roles_of_a_usual_line_up_are_inferred() -> None:
    formation = build(pro_set(), front_seven())
    assert roles(formation.offense) == ["TE", "T", "G", "C", "G", "T", "TE", "QB", "RB", "RB", "WR"]
    assert roles(formation.defense) == ["DL", "DL", "NT", "DL", "DL", "LB", "LB", "DB", "DB", "DB", "DB"]
    assert all(player.inferred for player in formation.players)


def test_a_named_role_stands_and_the_others_follow_from_it() -> None:
    players = pro_set()
    players[2] = At(0.0, players[2].off_yd, role="C")  # unbalanced: two men of the line to his right, four to his left
    formation = build(players)
    assert roles(formation.offense)[:7] == ["T", "G", "C", "G", "T", "TE", "WR"]
    assert not formation.players[2].inferred
    assert formation.players[1].inferred


def test_a_split_end_on_the_line_is_wide() -> None:
    players = pro_set()
    players[0] = At(0.0, -20.0)
    assert roles(build(players).offense)[0] == "WR"


def test_the_five_closest_players_are_the_line() -> None:
    split = [At(0.0, -12.0), At(0.0, -9.0), *(At(0.0, 1.0 + 2.8 * i) for i in range(5))]
    assert roles(build([*split, At(6.0, 6.6)]).offense) == ["WR", "WR", "T", "G", "C", "G", "T", "QB"]


@pytest.mark.parametrize(
    ("named", "role"),
    [("LT", "T"), ("rg", "G"), ("HB", "RB"), ("LB", "LB"), ("RB", "RB"), ("TTQB", "QB"), ("SS", "DB"), ("ROT", "T"),
     ("", ""), ("NG", "NT"), ("T", "T"), ("LOLB", "LB"), ("C", "C")],
)  # fmt: skip
def test_roles_have_one_spelling(named: str, role: str) -> None:
    assert canonical_role(named) == role


def test_a_player_counts_when_any_part_of_his_base_is_on_the_field() -> None:
    out_y = -BASE.width_mm / 2
    just_in = figure("x", "dark", 300.0, out_y + 0.1)
    just_out = figure("y", "dark", 300.0, out_y - 0.1)
    far = figure("z", "dark", 300.0, -80.0)
    formation = build([], extra=[just_in, just_out, far])
    assert [player.id for player in formation.players] == ["x"]
    assert [player.id for player in formation.beside] == ["y"]


def test_a_figure_that_is_not_in_the_roster_is_refused_by_name() -> None:
    scene = Scene(0, 0, "off", (figure("ghost", "dark", 100.0, 100.0),))
    with pytest.raises(InputError, match="ghost"):
        build_formation(scene, (), FIELD, offense="dark", direction=1, line_yd=35.0)


@given(turned=st.floats(-180, 180), line_yd=st.floats(20, 80), off=st.floats(-15, 15))
def test_a_play_rotated_by_180_degrees_is_the_same_formation(turned: float, line_yd: float, off: float) -> None:
    players = [*pro_set(), At(7.0, off, turned_deg=turned)]
    a = build(players, front_seven(), line_yd=line_yd)
    b = build(players, front_seven(), line_yd=FIELD.length_yd - line_yd, direction=-1)
    assert roles(a.players) == roles(b.players)
    for player, rotated in zip(a.players, b.players, strict=True):
        for name in ("v_mm", "upfield_mm", "downfield_mm", "low_mm", "high_mm", "inside_mm"):
            assert getattr(player, name) == pytest.approx(getattr(rotated, name), abs=1e-6)
        assert a.own_yd(player.upfield_mm) == pytest.approx(b.own_yd(rotated.upfield_mm), abs=1e-6)


@given(turned=st.floats(-180, 180), direction=st.sampled_from([1, -1]))
def test_extents_are_those_of_the_outline(turned: float, direction: int) -> None:
    formation = build([At(3.0, 2.0, turned_deg=turned)], direction=direction)  # type: ignore[arg-type]
    player, outline = formation.players[0], formation.players[0].figure.footprint
    line_mm = formation.line_yd * FIELD.mm_per_yd_x
    assert player.downfield_mm == pytest.approx(outline.reach_mm(0 if direction == 1 else 180) - direction * line_mm)
    assert player.high_mm - player.low_mm == pytest.approx(outline.reach_mm(90) + outline.reach_mm(-90))
