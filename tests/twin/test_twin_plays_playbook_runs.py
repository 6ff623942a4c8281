"""Named plays at the sideline and the goal line."""

from __future__ import annotations

import pytest
from twin_recordings import FIELD, figure, recorded, touched_by_opponent

from downfield.twin.plays.formations import RB
from downfield.twin.plays.playbook.runs import goal_line_stop, sideline_graze


@pytest.mark.parametrize("outside_mm", [-0.4, -0.1, 0.1, 0.4])
def test_the_sideline_is_grazed_by_the_given_distance(outside_mm: float) -> None:
    recording = sideline_graze(outside_mm).record()
    over = max(figure(scene, RB).footprint.reach_mm(90.0) for scene in recording.scenes) - FIELD.width_mm
    assert over == pytest.approx(outside_mm, abs=0.02)
    assert bool(recording.expected["tap"]) == (outside_mm > 0)
    assert ("out_of_bounds" in recording.absent["tap"]) == (outside_mm < 0)


def test_out_of_bounds_is_spotted_at_the_crossing() -> None:
    recording = recorded("out-of-bounds")
    (call,) = recording.expected["tap"]
    (lion,) = recording.expected["lions-den"]
    assert call.spot_yd is not None
    assert lion.spot_yd is not None
    assert call.spot_yd[1] > 50.0
    assert lion.spot_yd[1] == FIELD.hash_rows_y_yd[-1]  # Lion's Den goes back to the in-bounds mark
    assert lion.spot_yd[0] < call.spot_yd[0]  # and spots the ball, not the base


@pytest.mark.parametrize("name", ["touchdown", "touchdown-physics"])
def test_a_touchdown_crosses_the_plane_untouched(name: str) -> None:
    recording = recorded(name)
    assert figure(recording.scenes[-1], RB).footprint.reach_mm(0.0) > FIELD.length_mm
    assert not touched_by_opponent(recording, RB)


@pytest.mark.parametrize("short_mm", [0.3, 1.5])
def test_the_goal_line_stop_is_short_by_the_given_distance(short_mm: float) -> None:
    recording = goal_line_stop(short_mm).record()
    front = max(figure(scene, RB).footprint.reach_mm(0.0) for scene in recording.scenes)
    assert FIELD.length_mm - front == pytest.approx(short_mm, abs=0.02)
    assert touched_by_opponent(recording, RB)


def test_in_a_safety_all_of_the_runner_is_behind_his_goal_line() -> None:
    recording = recorded("safety")
    assert touched_by_opponent(recording, RB)
    assert figure(recording.scenes[-1], RB).footprint.reach_mm(0.0) < 0.0
