"""Named plays of falls: who falls in a tackle, who falls alone, and a ball that drops."""

from __future__ import annotations

import pytest
from twin_recordings import figure, happened, recorded, touched_by_opponent

from downfield.twin.plays.formations import RB, RCB


@pytest.mark.parametrize("name", ["broken-tackle", "broken-tackle-physics"])
def test_in_a_broken_tackle_only_the_tackler_falls(name: str) -> None:
    recording = recorded(name)
    touch, fall = happened(recording, "touched", RCB)[0], happened(recording, "fell", RCB)[0]
    assert 0 < fall - touch < 500_000_000
    assert not happened(recording, "fell", RB)
    x_mm = [figure(scene, RB).x_mm for scene in recording.scenes if scene.t_ns >= touch]
    assert x_mm[-1] - x_mm[0] > 40.0  # he runs on


def test_a_second_tackler_stands_while_the_first_falls() -> None:
    recording = recorded("second-tackler")
    assert happened(recording, "fell", RCB)
    (call,) = recording.expected["tap"]
    assert call.kind == "tackle"
    assert call.players[1] != RCB
    assert not happened(recording, "fell", call.players[1])


@pytest.mark.parametrize("name", ["both-fall", "both-fall-physics"])
def test_both_fall_soon_after_the_touch(name: str) -> None:
    recording = recorded(name)
    touch = min(set(happened(recording, "touched", RCB)) & set(happened(recording, "touched", RB)))
    for player in (RB, RCB):
        assert 0 < happened(recording, "fell", player)[0] - touch < 500_000_000


@pytest.mark.parametrize("name", ["fumble", "fumble-tails", "fumble-physics"])
def test_in_a_fumble_only_the_runner_falls(name: str) -> None:
    recording = recorded(name)
    touch = min(set(happened(recording, "touched", RCB)) & set(happened(recording, "touched", RB)))
    assert 0 < happened(recording, "fell", RB)[0] - touch < 500_000_000
    assert not happened(recording, "fell", RCB)
    assert recording.events[-1].body.type == "coin"


@pytest.mark.parametrize("name", ["falls-alone", "falls-alone-physics"])
def test_a_runner_who_falls_alone_was_not_touched(name: str) -> None:
    recording = recorded(name)
    fall = happened(recording, "fell", RB)[0]
    assert not [t for t in happened(recording, "touched", RB) if t < fall]


def test_the_fallen_defender_lay_long_before_the_touch() -> None:
    recording = recorded("fallen-defender")
    assert happened(recording, "touched", RCB)[0] - happened(recording, "fell", RCB)[0] > 1_000_000_000
    assert "tackle" in recording.absent["tap"]
    assert [call.kind for call in recording.expected["lions-den"]] == ["tackle"]


def test_a_lost_ball_is_a_fumble_only_where_the_ball_counts() -> None:
    recording = recorded("ball-lost")
    assert [scene.ball.state for scene in recording.scenes if scene.ball][-1] == "loose"
    assert not touched_by_opponent(recording, RB)
    assert recording.expected["tap"] == ()
    assert recording.expected["lions-den"][0].kind == "fumble"
