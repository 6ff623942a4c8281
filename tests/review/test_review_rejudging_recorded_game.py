"""How well a recording is tracked, while it is."""

from __future__ import annotations

from downfield.core.scene import Scene
from downfield.review.rejudging.recorded_game import TrackingCounter


def statuses(*unfit: tuple[int, str]) -> list[str]:
    """The different statuses over frames in a row, so many of each reason; fit ones have none."""
    reasons = [reason for count, reason in unfit for _ in range(count)]
    scenes = [Scene(i, i * 33_000_000, "on", (), unfit=(one,) if one else ()) for i, one in enumerate(reasons)]
    counter, out = TrackingCounter(), [""]
    for _ in counter.counted(scenes):
        out += [counter.status] if counter.status != out[-1] else []
    return out[1:]


def test_while_a_recording_is_tracked_it_is_told_since_which_frame_no_calls_can_be_made_why_and_for_how_many() -> None:
    assert statuses((10, ""), (34, "The lamps flicker by 50%"), (20, "")) == [
        "no calls since frame 10: The lamps flicker by 50%",
        "calls can be made again, after 34 frames",
    ]


def test_a_few_unfit_frames_are_not_told() -> None:
    assert statuses((10, ""), (5, "The light changed"), (20, ""), (9, "The light changed")) == []
