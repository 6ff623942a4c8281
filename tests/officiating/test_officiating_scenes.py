"""Scenes by hand: key frames become places, and what touches is worked out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.errors import InputError
from downfield.core.field.model import preset
from downfield.core.footprint import BaseSize
from downfield.officiating.scenes import BASE, FIELD, KeyFrame, ScriptedFigure, along, film, stands

LENGTH_YD = BASE.length_mm / FIELD.mm_per_yd_x


def test_a_path_goes_straight_and_evenly_and_rests_before_and_after() -> None:
    path = along(KeyFrame(1.0, 10, 20), KeyFrame(2.0, 20, 20), KeyFrame(3.0, 20, 30, 90.0))
    assert path(0.0) == path(1.0) == (10, 20, 0.0)
    assert path(1.5)[:2] == (15.0, 20.0)
    assert path(9.0) == (20, 30, 90.0)


def test_a_turn_takes_the_short_way() -> None:
    path = along(KeyFrame(0.0, 10, 20, 170.0), KeyFrame(1.0, 10, 20, -170.0))
    assert abs(path(0.5)[2]) == pytest.approx(180.0)


@pytest.mark.parametrize("frames", [(), (KeyFrame(1.0, 0, 0), KeyFrame(1.0, 5, 5))])
def test_a_path_without_order_in_time_is_refused(frames: tuple[KeyFrame, ...]) -> None:
    with pytest.raises(InputError, match="key frames"):
        along(*frames)


@settings(max_examples=25)
@given(st.floats(0.55, 1.9))
def test_a_contact_begins_at_the_instant_the_bases_meet(meets_s: float) -> None:
    speed = 10.0
    standing = 40 + LENGTH_YD + speed * (meets_s - 0.5)
    runner = ScriptedFigure("dark-1", along(KeyFrame(0.5, 40, 26), KeyFrame(3.0, 40 + speed * 2.5, 26)))
    shot = film([runner, ScriptedFigure("light-1", stands(standing, 26))], 2.2)
    first = next(contact for scene in shot.scenes for contact in scene.contacts if contact.since_ns is not None)
    assert first.since_ns == pytest.approx(meets_s * 1e9, abs=2e6)
    assert (first.face_a, first.face_b) == ("front", "front")


def test_long_bases_meet_as_far_apart_as_they_are_long() -> None:
    base = BaseSize(60.0, 25.0)
    paths = {"dark-1": stands(40, 26, 0.0), "light-1": stands(40 + (base.length_mm - 0.5) / FIELD.mm_per_yd_x, 26)}
    (contact,) = film([ScriptedFigure(id_, path, base=base) for id_, path in paths.items()], 0.1).scenes[0].contacts
    assert contact.gap_mm == pytest.approx(-0.5)
    assert contact.since_ns == 0


def test_a_contact_after_a_jump_does_not_begin_before_it() -> None:
    near_yd, touching_yd = 43.0 / FIELD.mm_per_yd_x, (BASE.length_mm - 1.0) / FIELD.mm_per_yd_x

    def comes_goes_and_is_put_down(t_s: float) -> tuple[float, float, float]:
        return 40 + (near_yd if t_s < 0.3 else 20.0 if t_s < 1.0 else touching_yd), 26.0, 180.0

    shot = film([ScriptedFigure("dark-1", stands(40, 26, 0.0)), ScriptedFigure("light-1", comes_goes_and_is_put_down)])
    first = next(contact for scene in shot.scenes for contact in scene.contacts if contact.since_ns is not None)
    assert first.since_ns == pytest.approx(1e9, abs=2e7)


def test_figures_stand_where_another_print_has_their_yards() -> None:
    arena = preset("arena-50")
    scene = film([ScriptedFigure("dark-1", stands(25, 10, field=arena), field=arena)], 0.1).scenes[0]
    assert scene.figures[0].x_mm == pytest.approx(25 * arena.mm_per_yd_x)
