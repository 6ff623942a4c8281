"""Named plays of passes and pitches: who is first to the ball, and where the back stands."""

from __future__ import annotations

import pytest
from twin_recordings import figure, recorded

from downfield.twin.plays.formations import FB, QB, RCB, SE


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("reception", SE),
        ("reception-physics", SE),
        ("interception", RCB),
        ("interception-physics", RCB),
        ("simultaneous", SE),
    ],
)
def test_the_expected_figure_is_first_to_the_ball(name: str, first: str) -> None:
    recording = recorded(name)
    touches = [event for event in recording.happened if event.type == "touched_ball"]
    assert touches[0].player == first
    assert recording.scenes[-1].ball is not None
    assert recording.scenes[-1].ball.touched_by == first
    assert {"pass", "pivots_done", "switch"} <= {event.body.type for event in recording.events}


def test_a_simultaneous_touch_is_within_a_thousandth_of_a_second() -> None:
    touches = {e.player: e.t_ns for e in recorded("simultaneous").happened if e.type == "touched_ball"}
    assert abs(touches[SE] - touches[RCB]) < 1_000_000


def test_in_an_overrun_the_whole_base_is_more_than_its_length_past_the_untouched_ball() -> None:
    recording = recorded("overrun")
    assert not [event for event in recording.happened if event.type == "touched_ball"]
    ball = recording.scenes[-1].ball
    assert ball is not None
    rear = -figure(recording.scenes[-1], SE).footprint.reach_mm(180.0)
    assert rear - ball.x_mm > 30.0


@pytest.mark.parametrize(("name", "behind"), [("pitch", True), ("illegal-pitch", False)])
def test_the_back_of_a_pitch_is_behind_or_not(name: str, behind: bool) -> None:
    recording = recorded(name)
    pitch = next(event for event in recording.events if event.body.type == "pitch")
    scene = next(scene for scene in recording.scenes if scene.t_ns >= pitch.t_ns)
    assert (figure(scene, FB).x_mm < figure(scene, QB).x_mm) == behind
    assert recording.refused.get("tap", ()) == (() if behind else ("pitch",))
