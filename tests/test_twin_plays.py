"""Named plays: each truly contains what its name says, and expects the calls that follow from it."""

from __future__ import annotations

import itertools
import math
from typing import get_args

import pytest
from twin_recordings import recorded

from downfield.core.angles import difference_deg
from downfield.core.errors import ScriptError
from downfield.core.field import preset
from downfield.core.footprint import signed_gap
from downfield.core.scene import Contact, Figure, Scene
from downfield.twin.plays.boundaries import goal_line_stop, sideline_graze
from downfield.twin.plays.demo import demo
from downfield.twin.plays.formations import FB, FL, QB, RB, RCB, SE, SS, C
from downfield.twin.plays.library import PLAYS, named
from downfield.twin.plays.recording import PlayRecording, RulebookName
from downfield.twin.plays.stops import pivots
from downfield.twin.plays.tackles import corner_hit, near_miss

FIELD = preset("ultimate")
EXACT = [name for name, make in PLAYS.items() if make().script.motion == "exact"]
PHYSICS = [name for name in PLAYS if name not in EXACT]


def figure(scene: Scene, id_: str) -> Figure:
    return next(one for one in scene.figures if one.id == id_)


def contacts(recording: PlayRecording, a: str, b: str) -> list[Contact]:
    pair = tuple(sorted((a, b)))
    return [one for scene in recording.scenes for one in scene.contacts if (one.a, one.b) == pair]


def happened(recording: PlayRecording, what: str, player: str) -> list[int]:
    return [e.t_ns for e in recording.happened if e.type == what and player in (e.player, e.other)]


def touched_by_opponent(recording: PlayRecording, player: str) -> bool:
    return any(
        event.type == "touched" and player in (event.player, event.other) and event.player[0] != (event.other or "")[0]
        for event in recording.happened
    )


@pytest.mark.parametrize("name", PLAYS)
def test_every_named_play_runs_and_has_expected_calls(name: str) -> None:
    recording = recorded(name)
    assert set(recording.expected) == set(get_args(RulebookName)) or name in EXACT
    assert recording.expected or recording.absent
    first, last = recording.scenes[0].t_ns, recording.scenes[-1].t_ns
    for book, calls in recording.expected.items():
        assert book in get_args(RulebookName)
        for call in calls:
            assert call.kind not in recording.absent.get(book, ())
            assert call.clauses
            assert call.t_ns is None or first <= call.t_ns[0] < call.t_ns[1] <= last + 500_000_000
            assert {*call.players} <= {player.id for player in recording.script.players}
    assert {player.id for player in recording.script.players} >= {one.id for one in recording.scenes[-1].figures}


@pytest.mark.parametrize("name", EXACT)
def test_upright_bases_never_overlap_on_exact_paths(name: str) -> None:
    for scene in recorded(name).scenes[::3]:
        upright = {one.id for one in scene.figures if one.posture == "upright"}
        tipping = {event.player for event in recorded(name).happened if event.type == "fell"}
        for contact in scene.contacts:
            if {contact.a, contact.b} <= upright - tipping:
                assert contact.gap_mm >= -1e-6


@pytest.mark.parametrize("name", ["clean-tackle", "reception", "broken-tackle-physics"])
def test_a_play_is_the_same_every_time(name: str) -> None:
    again = named(name).record()
    assert again.snapshots == recorded(name).snapshots
    assert again.scenes == recorded(name).scenes
    assert again.events == recorded(name).events


def test_an_unknown_play_is_refused_with_the_known_names() -> None:
    with pytest.raises(ScriptError, match="no play is named 'hail-mary'; there are: ball-lost"):
        named("hail-mary")


@pytest.mark.parametrize(
    ("name", "runner", "defender", "angle_deg"),
    [
        ("clean-tackle", "front", "front", 0.0),
        ("side-hit", "left", "front", 0.0),
        ("into-side", "front", "left", 0.0),
        ("from-behind", "rear", "front", 0.0),
        ("into-back", "front", "rear", 0.0),
        ("side-rub", "left", "left", 0.0),
        ("corner-hit", "front", "corner", 40.0),
        ("nearly-square-hit", "front", "front", 5.0),
    ],
)
def test_the_runner_is_hit_as_the_name_says(name: str, runner: str, defender: str, angle_deg: float) -> None:
    recording = recorded(name)
    first = next(one for one in contacts(recording, RB, RCB) if one.since_ns is not None)
    assert (first.face_a, first.face_b) == (runner, defender)
    assert first.angle_deg == pytest.approx(angle_deg, abs=0.01)
    if angle_deg == 0.0 and name != "side-rub":
        assert first.overlap_mm == pytest.approx(18.0, abs=0.5)
    assert not happened(recording, "fell", RB)
    assert not happened(recording, "fell", RCB)


def test_only_square_hits_are_tackles_under_the_efl() -> None:
    by_efl = {
        name: bool(recorded(name).expected["efl"])
        for name in ("clean-tackle", "side-hit", "into-side", "from-behind", "into-back", "side-rub", "corner-hit")
    }
    assert by_efl == {
        "clean-tackle": True,
        "side-hit": True,
        "into-side": True,
        "from-behind": True,
        "into-back": False,
        "side-rub": False,
        "corner-hit": False,
    }


@pytest.mark.parametrize("miss_mm", [0.1, 0.2, 0.5, 1.0])
def test_a_near_miss_misses_by_its_distance(miss_mm: float) -> None:
    recording = recorded(f"near-miss-{miss_mm:g}")
    gaps = [one.gap_mm for one in contacts(recording, RB, RCB)]
    assert min(gaps) == pytest.approx(miss_mm, abs=0.02)
    assert not touched_by_opponent(recording, RB)
    assert recording.expected["tap"] == recording.expected["lions-den"] == ()
    assert "tackle" in recording.absent["tap"]


@pytest.mark.parametrize("short_mm", [0.1, 0.5])
def test_a_runner_stopped_short_stands_that_far_away(short_mm: float) -> None:
    recording = recorded(f"stopped-short-{short_mm:g}")
    last = recording.scenes[-1]
    assert last.board == "off"
    gap = signed_gap(figure(last, RB).footprint, figure(last, RCB).footprint).gap_mm
    assert gap == pytest.approx(short_mm, abs=0.02)
    assert not touched_by_opponent(recording, RB)


@pytest.mark.parametrize("angle_deg", [3.0, 31.0, 44.0])
def test_a_corner_hit_has_the_given_angle(angle_deg: float) -> None:
    recording = corner_hit(angle_deg).record()
    first = next(one for one in contacts(recording, RB, RCB) if one.since_ns is not None)
    assert first.angle_deg == pytest.approx(angle_deg, abs=0.01)


def test_the_spot_of_a_tackle_is_where_the_base_was_at_the_touch() -> None:
    recording = recorded("clean-tackle")
    (call,) = recording.expected["tap"]
    (hand,) = recording.expected["lions-den"]
    runner = figure(recording.scenes[-1], RB)  # who has stood since the touch
    assert call.spot_yd is not None
    assert hand.spot_yd is not None
    assert call.spot_yd[0] * FIELD.mm_per_yd_x == pytest.approx(runner.x_mm + 15.0, abs=0.05)
    assert hand.spot_yd[0] * FIELD.mm_per_yd_x == pytest.approx(runner.x_mm + 11.0, abs=0.05)
    assert hand.spot_yd[1] * FIELD.mm_per_yd_y == pytest.approx(runner.y_mm - 4.0, abs=0.05)


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


@pytest.mark.parametrize(("offense", "defense"), [(2, 3), (1, 3), (0, 1), (0, 0)])
def test_the_given_number_of_figures_is_pivoted(offense: int, defense: int) -> None:
    recording = pivots(offense, defense).record()
    off = [scene for scene in recording.scenes if scene.board == "off" and scene.t_ns > 500_000_000]
    turned = [
        one.jersey for one in off[-1].figures if difference_deg(one.heading_deg, figure(off[0], one.id).heading_deg) > 3
    ]
    assert (turned.count("dark"), turned.count("light")) == (offense, defense)
    legal = defense <= (offense + 1 if offense else 0)
    assert bool(recording.expected["tap"]) != legal


def test_the_engaged_pivot_turns_an_engaged_figure() -> None:
    recording = recorded("engaged-pivot")
    held = next(scene for scene in recording.scenes if figure(scene, C).posture == "lifted")
    before = recording.scenes[held.frame - 5]
    assert any(one.since_ns is not None and C in (one.a, one.b) for one in before.contacts)


def test_the_moved_pivot_moves_the_figure() -> None:
    recording = recorded("moved-pivot")
    off = [scene for scene in recording.scenes if scene.board == "off" and scene.t_ns > 500_000_000]
    assert figure(off[-1], FB).x_mm - figure(off[0], FB).x_mm == pytest.approx(8.0)


@pytest.mark.parametrize(("name", "count"), [("three-stops", 3), ("four-stops", 4)])
def test_the_board_is_stopped_the_given_number_of_times(name: str, count: int) -> None:
    power = [scene.board for scene in recorded(name).scenes]
    assert sum(a == "on" and b == "off" for a, b in itertools.pairwise(power)) == count


def test_each_wrong_line_up_has_its_one_fault() -> None:
    first = {name: recorded(name).scenes[0] for name in ("six-on-line", "wide-off-line", "no-separation", "too-deep")}
    line_mm = 40.0 * FIELD.mm_per_yd_x
    on_line = [one for one in first["six-on-line"].figures if abs(one.footprint.reach_mm(0.0) - line_mm) < 1.0]
    assert len([one for one in on_line if one.jersey == "dark"]) == 6
    off_yd = (line_mm - figure(first["wide-off-line"], FL).footprint.reach_mm(0.0)) / FIELD.mm_per_yd_x
    assert off_yd == pytest.approx(3.0)
    backs = (figure(first["no-separation"], id_).footprint for id_ in (QB, FB))
    assert 0 < signed_gap(*backs).gap_mm < 30.0
    deep_yd = (line_mm - figure(first["too-deep"], RB).footprint.reach_mm(0.0)) / FIELD.mm_per_yd_x
    assert deep_yd == pytest.approx(21.0)


def test_twelve_players_are_called_only_when_claimed() -> None:
    for name, calls in (("twelve-men", 1), ("twelve-men-unclaimed", 0)):
        recording = recorded(name)
        assert len([one for one in recording.scenes[0].figures if one.jersey == "dark"]) == 12
        assert len(recording.expected["tap"]) == calls


@pytest.mark.parametrize(("name", "times"), [("turned-back", 1), ("turned-back-twice", 2)])
def test_the_runner_turns_back_the_given_number_of_times(name: str, times: int) -> None:
    recording = recorded(name)
    marks = [t_ns for mark, t_ns in recording.marks.items() if mark.startswith("turned")]
    assert len(marks) == times
    for t_ns in marks:
        scene = next(scene for scene in recording.scenes if scene.t_ns >= t_ns)
        later = recording.scenes[min(scene.frame + 12, len(recording.scenes) - 1)]
        assert abs(figure(scene, RB).heading_deg) > 85.0
        assert figure(later, RB).x_mm < figure(scene, RB).x_mm


def test_the_pushed_runner_faces_ahead_and_goes_back() -> None:
    recording = recorded("pushed-back")
    touch = min(set(happened(recording, "touched", RCB)) & set(happened(recording, "touched", RB)))
    scenes = [scene for scene in recording.scenes if scene.t_ns < touch]
    furthest = max(figure(scene, RB).x_mm for scene in scenes)
    assert all(math.isclose(figure(scene, RB).heading_deg, 0.0, abs_tol=1e-6) for scene in scenes[-30:])
    assert furthest - figure(scenes[-1], RB).x_mm > 20.0


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


def test_the_demonstration_is_two_plays_with_a_tackle_and_a_fumble() -> None:
    recording = demo().record()
    assert 15.0 < recording.scenes[-1].t_ns / 1e9 < 25.0
    assert [call.kind for call in recording.expected["tap"]] == [
        "line_of_scrimmage",
        "tackle",
        "line_of_scrimmage",
        "fumble",
    ]
    assert any(snapshot.hands for snapshot in recording.snapshots)
    assert {one.jersey for one in recording.scenes[0].figures} == {"dark", "light"}
    assert len(recording.scenes[0].figures) == len(recording.scenes[-1].figures) == 22
    assert [event.body.type for event in recording.events].count("line_up") == 2
    assert happened(recording, "fell", QB)
    assert not happened(recording, "fell", RB)


def test_a_near_miss_by_zero_touches() -> None:
    assert touched_by_opponent(near_miss(0.0).record(), RB)
