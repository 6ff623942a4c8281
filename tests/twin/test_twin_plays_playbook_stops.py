"""Named plays of stoppages, line-ups and runners who turn back."""

from __future__ import annotations

import itertools
import math

import pytest
from twin_recordings import FIELD, figure, happened, recorded

from downfield.core.footprint import signed_gap
from downfield.core.mathematics import difference_deg
from downfield.twin.plays.formations import FB, FL, QB, RB, RCB, C
from downfield.twin.plays.playbook.stops import pivots


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
