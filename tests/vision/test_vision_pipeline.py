"""The pipeline from frames to scenes, with a simulated detector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from filmed_table import TABLE, detections, open_vision, picture, scenes_of, shot
from simulated_detector import ListDetector
from tracked_tables import FIELD, look_of, roster_of

from downfield.calibration.calibration import Calibration
from downfield.calibration.online import calibrator
from downfield.calibration.online.recalibration import recalibrate
from downfield.core.errors import InputError
from downfield.core.frame import Frame
from downfield.core.scene import Player
from downfield.vision.pipeline import Vision


def test_scenes_are_unfit_until_every_figure_stands_and_complete_from_then_on() -> None:
    scenes = scenes_of(open_vision(roster_of(TABLE)))
    assert not scenes[0].figures
    assert any("Waiting for the line-up" in reason for reason in scenes[0].unfit)
    assert not scenes[-1].unfit
    assert [figure.id for figure in scenes[-1].figures] == [player.id for player in TABLE.players]
    known = [scene for scene in scenes if scene.figures]
    assert 6 < len(scenes) - len(known) < 16


def test_the_same_frames_give_the_same_scenes_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrator, "recalibrate", recalibrate)  # each time anew, unlike in other tests
    assert scenes_of(open_vision()) == scenes_of(open_vision())


def test_without_a_roster_teams_are_found_by_color() -> None:
    last = scenes_of(open_vision())[-1]
    assert [figure.id for figure in last.figures] == [player.id for player in TABLE.players]
    places = {figure.id: (figure.x_mm, figure.jersey) for figure in last.figures}
    assert all(
        (x < 355 and id_ != "light-4") == (jersey == "dark") or id_ == "light-4" for id_, (x, jersey) in places.items()
    )


def test_a_figure_that_walks_into_another_is_in_contact_with_it() -> None:
    scenes = scenes_of(open_vision(roster_of(TABLE)))
    pairs = {(contact.a, contact.b): contact for contact in scenes[-1].contacts}
    contact = pairs["dark-4", "light-4"]
    assert contact.face_a == "front"
    assert contact.face_b == "front"
    assert not any((pair.a, pair.b) == ("dark-4", "light-4") for pair in scenes[18].contacts)


def test_single_images_have_figures_at_once_and_no_memory() -> None:
    vision = open_vision(continuous=False)
    frame = Frame(0, 0, picture())
    first, second = vision.process(frame), vision.process(frame)
    for scene in (first, second):
        assert len(scene.figures) == len(TABLE.players)
        assert not scene.unfit
        assert {figure.jersey for figure in scene.figures} == {"dark", "light"}
    near = [min(abs(figure.y_mm - 60 - 60 * i) for i in (1, 2, 3, 4)) for figure in first.figures]
    assert max(near) < 3.0


def test_a_figure_that_stays_keeps_its_id_when_another_line_up_is_declared() -> None:
    vision = open_vision(roster_of(TABLE))
    frames = [shot(i) for i in range(len(detections()))]
    scenes = [vision.process(frame) for frame in frames[:20]]
    there = {figure.id: (figure.x_mm, figure.y_mm) for figure in scenes[-1].figures}
    substitute = Player("dark-99", "dark", base=TABLE.players[0].base)
    vision.line_up((substitute, *TABLE.players[1:]))
    while vision.players[0].id != "dark-99":
        scenes.append(vision.process(frames[len(scenes)]))
    now = {figure.id: (figure.x_mm, figure.y_mm) for figure in scenes[-1].figures}
    assert "dark-1" not in now
    assert np.hypot(*np.subtract(now["dark-99"], there["dark-1"])) < 2.0
    others = [player.id for player in TABLE.players[1:] if player.id != "dark-4"]
    assert all(np.hypot(*np.subtract(now[id_], there[id_])) < 2.0 for id_ in others)


def test_declaring_the_same_line_up_again_makes_every_figure_sure() -> None:
    vision = open_vision(roster_of(TABLE))
    frames = [shot(i) for i in range(len(detections()))]
    for frame in frames[:20]:
        scene = vision.process(frame)
    tracker = vision._tracker
    assert tracker is not None
    tracker._figures.identity[:3] = 0.5
    assert [figure.sure for figure in vision.process(frames[20]).figures[:4]] == [False, False, False, True]
    vision.line_up(TABLE.players)
    after = vision.process(frames[21])
    assert all(figure.sure for figure in after.figures)
    assert [figure.id for figure in after.figures] == [figure.id for figure in scene.figures]


def test_the_search_for_figures_can_be_restarted() -> None:
    vision = open_vision()
    frames = [shot(i) for i in range(len(detections()))]
    for frame in frames[:20]:
        vision.process(frame)
    assert vision.players
    vision.find_figures()
    assert not vision.players
    assert vision.process(frames[20]).figures == ()


@pytest.mark.parametrize("named", [False, True])
def test_figures_set_down_after_the_line_up_was_found_are_counted_and_found_with_one_tap(named: bool) -> None:
    every = detections()[5]
    some = every[:5]
    shown = [*[some] * 16, *[every] * 106]
    calibration = Calibration(FIELD, look_of(TABLE.players).camera, "truth")
    frames = [replace(shot(i % 200), index=i, t_ns=i * 33_333_333) for i in range(len(shown))]
    vision = Vision(calibration, ListDetector(shown))
    more = []
    for frame in frames[:94]:
        if frame.index == 14:  # what is declared to the game comes back as a line-up once a person confirms it
            players = tuple(replace(player, number="7" if named else "") for player in vision.players)
            vision.line_up(players)
        vision.process(frame)
        more.append(0 if vision.health is None else vision.health.more_figures)
    assert len(vision.players) == 5
    assert set(more[:70]) == {0}, "reported before they stand for two seconds"
    assert more[-1] == 3
    vision.find_figures()
    for frame in frames[94:]:
        vision.process(frame)
    assert len(vision.players) == (5 if named else 8), "all are found, unless people named the players"
    assert vision.health is not None
    assert not named or vision.health.more_figures == 0


def test_a_frame_of_another_size_or_an_earlier_time_is_refused() -> None:
    vision = open_vision()
    with pytest.raises(InputError, match="640x480 px, but the calibration is for 960x540"):
        vision.process(Frame(0, 0, np.zeros((480, 640, 3), dtype=np.uint8)))
    vision.process(Frame(0, 10, picture()))
    with pytest.raises(InputError, match="not later than the last frame"):
        vision.process(Frame(1, 10, picture()))


def test_a_frame_without_the_print_is_unfit() -> None:
    dark: Sequence[int] = (540, 960, 3)
    scene = open_vision().process(Frame(0, 0, np.zeros(dark, dtype=np.uint8)))
    assert any("print" in reason for reason in scene.unfit)


def test_a_frozen_picture_moves_no_figure_and_is_reported() -> None:
    vision = open_vision(roster_of(TABLE))
    for number in range(20):
        vision.process(shot(number))
    before = {figure.id: figure.footprint for figure in vision.estimates}
    frozen = shot(20)
    scenes = [vision.process(replace(frozen, index=number, t_ns=number * 33_333_333)) for number in range(20, 32)]
    assert not any(figure.fresh for figure in vision.estimates), "nothing new was measured"
    assert any("not changed" in reason for reason in scenes[-1].unfit)
    for figure in vision.estimates:
        assert abs(figure.footprint.y_mm - before[figure.id].y_mm) < 4 * np.sqrt(figure.covariance[1, 1])


@pytest.mark.parametrize("gap_ns", [600_000_000, 0])
def test_who_is_lost_after_a_time_without_pictures_is_lost_by_it(gap_ns: int) -> None:
    vision = open_vision(roster_of(TABLE))
    for number in range(18):
        vision.process(shot(number))
    for number in range(18, 22):
        tracker, frame = vision._tracker, shot(number)
        assert tracker is not None
        if number > 18:
            tracker._figures.identity[:6] = 0.5
        reasons = vision.process(replace(frame, t_ns=frame.t_ns + gap_ns)).unfit
        assert any("No frames came for 0.6 s" in reason for reason in reasons) == bool(gap_ns), number
    assert reasons[-1] == "Not sure which figure is which for 6 of 8: line them up and tap Set"


def test_who_walks_in_a_picture_whose_time_is_hardly_known_is_as_uncertain_as_his_way_in_that_time() -> None:
    last = 27  # dark 4 walks from the twentieth picture on
    known, unknown = open_vision(roster_of(TABLE)), open_vision(roster_of(TABLE))
    for number in range(last):
        known.process(shot(number))
        unknown.process(shot(number))
    sure = {figure.id: figure for figure in known.process(shot(last)).figures}
    vague = {figure.id: figure for figure in unknown.process(replace(shot(last), t_sigma_ns=50_000_000)).figures}
    (walker,) = (figure for figure in unknown.estimates if figure.id == "dark-4")
    way_mm = 0.05 * abs(float(walker.velocity[0]))
    assert way_mm > 1.0
    assert vague["dark-4"].sigma_mm[0] == pytest.approx(np.hypot(sure["dark-4"].sigma_mm[0], way_mm), rel=0.01)
    assert vague["dark-4"].x_mm == sure["dark-4"].x_mm
    assert vague["dark-1"].sigma_mm[0] == pytest.approx(sure["dark-1"].sigma_mm[0], abs=0.1)


def test_an_empty_board_is_a_scene_without_figures() -> None:
    look = look_of(TABLE.players)
    vision = Vision(Calibration(FIELD, look.camera, "truth"), ListDetector([()] * 3))
    scenes = [vision.process(shot(number)) for number in range(3)]
    assert all(scene.figures == () and scene.unfit for scene in scenes)
    alone = Vision(Calibration(FIELD, look.camera, "truth"), ListDetector([()]), continuous=False)
    assert alone.process(shot(0)).figures == ()
