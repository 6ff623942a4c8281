"""Named plays of kicks: where the returner stands, and where a punt comes down."""

from __future__ import annotations

import pytest
from twin_recordings import FIELD, figure, recorded

from downfield.twin.plays.formations import FL, RB, SE, SS


def test_the_returner_comes_three_seconds_late() -> None:
    recording = recorded("kickoff-return")
    first_on = next(scene.t_ns for scene in recording.scenes if scene.board == "on")
    seen = next(scene for scene in recording.scenes if any(one.id == RB for one in scene.figures))
    assert seen.t_ns - first_on >= 3_000_000_000
    assert recording.expected["tap"][0].players == (RB, SS)


def test_the_punt_comes_down_ten_yards_past_the_deeper_gunner() -> None:
    recording = recorded("punt")
    last = recording.scenes[-1]
    deepest = max(figure(last, id_).footprint.reach_mm(0.0) for id_ in (SE, FL)) / FIELD.mm_per_yd_x
    (call,) = recording.expected["tap"]
    assert call.spot_yd is not None
    assert call.spot_yd[0] == pytest.approx(deepest + 10.0)
