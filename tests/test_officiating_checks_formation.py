"""The play's own frame, who is on the field, and the roles men are given where nobody named them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lineups import BASE, FIELD, At, build, figure, front_seven, pro_set

from downfield.core.errors import InputError
from downfield.core.scene import Scene
from downfield.officiating.checks.formation import build_formation
from downfield.officiating.checks.roles import canonical_role


def roles(men: object) -> list[str]:
    return [man.role for man in men]  # type: ignore[attr-defined]


def test_a_usual_line_up_gets_its_roles() -> None:
    there = build(pro_set(), front_seven())
    assert roles(there.offense) == ["TE", "T", "G", "C", "G", "T", "TE", "QB", "RB", "RB", "WR"]
    assert roles(there.defense) == ["DL", "DL", "NT", "DL", "DL", "LB", "LB", "DB", "DB", "DB", "DB"]
    assert all(man.inferred for man in there.players)


def test_a_named_role_stands_and_others_follow_from_it() -> None:
    men = pro_set()
    men[2] = At(0.0, men[2].off_yd, role="C")  # unbalanced: two men of the line to his right, four to his left
    there = build(men)
    assert roles(there.offense)[:7] == ["T", "G", "C", "G", "T", "TE", "WR"]
    assert not there.players[2].inferred
    assert there.players[1].inferred


def test_a_split_end_on_the_line_is_wide() -> None:
    men = pro_set()
    men[0] = At(0.0, -20.0)
    assert roles(build(men).offense)[0] == "WR"


def test_the_five_that_stand_closest_are_the_line() -> None:
    split = [At(0.0, -12.0), At(0.0, -9.0), *(At(0.0, 1.0 + 2.8 * i) for i in range(5))]
    assert roles(build([*split, At(6.0, 6.6)]).offense) == ["WR", "WR", "T", "G", "C", "G", "T", "QB"]


@pytest.mark.parametrize(
    ("named", "role"),
    [("LT", "T"), ("rg", "G"), ("HB", "RB"), ("LB", "LB"), ("RB", "RB"), ("TTQB", "QB"), ("SS", "DB"), ("ROT", "T"),
     ("", ""), ("NG", "NT"), ("T", "T"), ("LOLB", "LB"), ("C", "C")],
)  # fmt: skip
def test_roles_are_brought_to_one_spelling(named: str, role: str) -> None:
    assert canonical_role(named) == role


def test_a_man_counts_when_any_part_of_his_base_is_in_and_not_from_a_hand() -> None:
    out_y = -BASE.width_mm / 2
    just_in = figure("x", "dark", 300.0, out_y + 0.1)
    just_out = figure("y", "dark", 300.0, out_y - 0.1)
    far = figure("z", "dark", 300.0, -80.0)
    there = build([], extra=[just_in, just_out, far])
    assert [man.id for man in there.players] == ["x"]
    assert [man.id for man in there.beside] == ["y"]


def test_a_figure_that_is_not_in_the_roster_is_named() -> None:
    scene = Scene(0, 0, "off", (figure("ghost", "dark", 100.0, 100.0),))
    with pytest.raises(InputError, match="ghost"):
        build_formation(scene, (), FIELD, offense="dark", direction=1, line_yd=35.0)


@settings(max_examples=40, deadline=None)
@given(turned=st.floats(-180, 180), line_yd=st.floats(20, 80), off=st.floats(-15, 15))
def test_a_half_turned_game_is_the_same_formation(turned: float, line_yd: float, off: float) -> None:
    men = [*pro_set(), At(7.0, off, turned_deg=turned)]
    a = build(men, front_seven(), line_yd=line_yd)
    b = build(men, front_seven(), line_yd=FIELD.length_yd - line_yd, direction=-1)
    assert roles(a.players) == roles(b.players)
    for one, two in zip(a.players, b.players, strict=True):
        for name in ("u_mm", "v_mm", "upfield_mm", "downfield_mm", "low_mm", "high_mm", "inside_mm"):
            assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-6)
        assert a.own_yd(one.u_mm) == pytest.approx(b.own_yd(two.u_mm), abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(turned=st.floats(-180, 180), direction=st.sampled_from([1, -1]))
def test_extents_are_those_of_the_outline(turned: float, direction: int) -> None:
    there = build([At(3.0, 2.0, turned_deg=turned)], direction=direction)  # type: ignore[arg-type]
    man, outline = there.players[0], there.players[0].figure.footprint
    line_mm = there.line_yd * FIELD.mm_per_yd_x
    assert man.downfield_mm == pytest.approx(outline.reach_mm(0 if direction == 1 else 180) - direction * line_mm)
    assert man.high_mm - man.low_mm == pytest.approx(outline.reach_mm(90) + outline.reach_mm(-90))
