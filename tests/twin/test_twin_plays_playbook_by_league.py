"""Named plays of the EFL, Lion's Den and interference: what their names say is truly in them."""

from __future__ import annotations

import pytest
from twin_recordings import FIELD, contacts, figure, happened, recorded, touched_by_opponent

from downfield.core.footprint import signed_gap
from downfield.twin.plays.formations import QB, RB, RCB, RDE, SE, SS
from downfield.twin.plays.playbook.lions_den import RATING


def test_a_corner_touches_the_passer_far_from_square() -> None:
    first = next(one for one in contacts(recorded("efl-passer-touched"), QB, RDE) if one.since_ns is not None)
    assert first.face_b == "corner" or first.face_a == "corner"
    assert first.angle_deg == pytest.approx(40.0, abs=0.01)


def test_the_rusher_is_behind_the_passer_within_a_handle_and_touches_no_base() -> None:
    recording = recorded("efl-handle")
    last = recording.scenes[-1]
    gap = signed_gap(figure(last, QB).footprint, figure(last, RCB).footprint).gap_mm
    assert gap == pytest.approx(6.0, abs=0.5)
    assert figure(last, RCB).x_mm < figure(last, QB).x_mm
    assert not touched_by_opponent(recording, QB)


@pytest.mark.parametrize(("name", "throws"), [("efl-one-miss", 1), ("efl-three-misses", 3)])
def test_as_many_throws_are_missed_as_the_name_says(name: str, throws: int) -> None:
    told = [event.body.type for event in recorded(name).events]
    assert (told.count("pass"), told.count("pass_ended")) == (throws, throws)


@pytest.mark.parametrize(("name", "near"), [("lions-den-interception", True), ("lions-den-pass", False)])
def test_a_defender_is_within_five_yards_of_the_receiver_or_not(name: str, near: bool) -> None:
    scene = next(scene for scene in recorded(name).scenes if scene.board == "off" and scene.t_ns > 600_000_000)
    gap = signed_gap(figure(scene, SE).footprint, figure(scene, RCB).footprint).gap_mm
    assert (gap < 5.0 * FIELD.mm_per_yd_x) is near


def test_the_quarterback_goes_back_untouched_until_the_ball_is_more_than_ten_yards_deep() -> None:
    recording = recorded("lions-den-too-deep")
    hand_mm = figure(recording.scenes[-1], QB).x_mm + 11.0
    assert hand_mm < 30.0 * FIELD.mm_per_yd_x
    assert not touched_by_opponent(recording, QB)


def test_the_returner_of_a_kick_by_dice_is_put_where_it_comes_down() -> None:
    recording = recorded("lions-den-kickoff")
    (call, _) = recording.expected["lions-den"]
    assert call.spot_yd is not None
    on = next(scene for scene in recording.scenes if scene.board == "on")
    assert figure(on, RB).x_mm / FIELD.mm_per_yd_x == pytest.approx(call.spot_yd[0], abs=0.3)
    assert happened(recording, "touched", SS)


@pytest.mark.parametrize(
    ("name", "touched", "turned"),
    [
        ("interference", True, True),
        ("touch-without-turn", True, False),
        ("turn-without-touch", False, True),
        ("gunner-interference", True, True),
    ],
)
def test_a_man_is_touched_turned_or_both(name: str, touched: bool, turned: bool) -> None:
    recording = recorded(name)
    assert touched_by_opponent(recording, SE) is touched
    assert (abs(figure(recording.scenes[-1], SE).heading_deg) > 30.0) is turned
    if touched and turned:
        touch_ns = happened(recording, "touched", SE)[0]
        soon = next(scene for scene in recording.scenes if scene.t_ns >= touch_ns + 300_000_000)
        assert abs(figure(soon, SE).heading_deg) > 20.0


def test_the_ratings_of_the_dice_are_those_the_plays_count_on() -> None:
    rolls = [event.body for event in recorded("lions-den-pass").events if event.body.type == "roll"]
    first, thrown = rolls[0], rolls[-1]
    assert 40 + sum(first.dice) == RATING
    assert (thrown.purpose, 10 * thrown.dice[0] + thrown.dice[1]) == ("pass", RATING)
