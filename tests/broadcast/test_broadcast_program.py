"""The program feed: paint lies under the figures and stays on the board, tags cover nobody, unwatched it is idle."""

from __future__ import annotations

import threading
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from program_scenes import (
    FIELD,
    edge_errors_px,
    filmed,
    lines,
    nominal_camera,
    paint_seen,
    painted_area,
    painter,
    players,
    shaken,
)
from waiting import WAIT_S

from downfield.broadcast.program.board_shapes import ELEMENTS, ShapeMaker
from downfield.broadcast.program.empty_board import PictureMotion
from downfield.broadcast.program.figure_volume import figure_volumes
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.broadcast.program.program_painter import FieldView, NameTag, ProgramMoment, ProgramPainter, TagPlacer
from downfield.calibration.calibration import Calibration
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.game.published.stream_topics import ProgramElement, ProgramOptions

SMALL = (960, 540)
LEARNED_S = [0.0, 1.5, 3.0, 4.5, 6.0]


@pytest.mark.parametrize("shake_px", [0.0, 1.5])
def test_paint_lies_under_the_figures(shake_px: float) -> None:
    frames = list(filmed(3, [*LEARNED_S, 7.6], shake_px, SMALL))
    program = painter(3, SMALL)
    for frame in frames:
        painted = program.paint(frame.image, frame.scene, lines(), frame.camera).image
    last = frames[-1]
    area = painted_area(last.camera)
    seen = paint_seen(last.image, painted)
    errors = edge_errors_px(seen, last, area)
    assert len(errors) > 100
    assert (errors <= 2).mean() >= 0.95
    assert seen[area & ~last.figures].mean() > 0.97  # and everywhere else there is paint
    outside = ~cv2.dilate(area.astype(np.uint8), np.ones((9, 9), np.uint8)).astype(bool)
    assert (painted[outside] == last.image[outside]).all()


def test_stretched_arms_are_within_a_figures_reach_and_tags_stand_nearer() -> None:
    frame = next(filmed(3, [0.0], 0.0, SMALL))
    volumes = figure_volumes(frame.scene.figures, {}, frame.camera)
    assert len(volumes) == len(frame.scene.figures)
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    hands_mm = 25.0 * np.column_stack([np.cos(turn), np.sin(turn)])  # a player of 52 mm spans 52 mm
    for figure in frame.scene.figures:
        volume = volumes[figure.id]
        hands = np.column_stack([hands_mm + np.array([figure.x_mm, figure.y_mm]), np.full(24, 40.0)])
        outline = volume.reach_px.astype(np.float32)
        for x, y in frame.camera.to_pixels(hands).tolist():
            assert cv2.pointPolygonTest(outline, (x, y), measureDist=False) >= 0
        outer, inner = (np.reshape(box, (2, 2)) for box in (volume.box, volume.middle_box))
        assert (outer[0] <= inner[0]).all()
        assert (inner[1] <= outer[1]).all()
        assert np.ptp(outer, axis=0).prod() > 1.2 * np.ptp(inner, axis=0).prod()


def test_before_the_board_is_known_bases_still_cover_the_paint() -> None:
    frame = next(filmed(3, [0.0], 0.0, SMALL))
    painted = painter(3, SMALL).paint(frame.image, frame.scene, lines(), frame.camera).image
    area = painted_area(frame.camera)
    assert paint_seen(frame.image, painted)[area & frame.figures].mean() < 0.15


@pytest.mark.parametrize("level", [40, 200, 249, 255])
def test_paint_on_an_empty_board_has_its_color_however_bright_the_print_is(level: int) -> None:
    program = painter(3, SMALL)
    image = np.full((SMALL[1], SMALL[0], 3), level, np.uint8)
    for number in range(2):
        painted = program.paint(image, Scene(number, number * 1_000_000_000, "on", ()), lines()).image
    seen = cv2.erode(painted_area(nominal_camera(3, SMALL)).astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
    assert np.abs(painted[seen].astype(int) - (255, 0, 255)).max() <= 8


@given(st.floats(0, 3), st.floats(0, 20))
def test_the_pictures_movement_is_that_of_the_board(shake_px: float, t_s: float) -> None:
    camera = nominal_camera(3)
    moved = shaken(camera, t_s, shake_px)
    move = PictureMotion(camera, FIELD).to(moved)
    points = np.array([(x, y, 0.0) for x in (0, 300, FIELD.length_mm) for y in (0, 200, FIELD.width_mm)])
    before, now = camera.to_pixels(points), moved.to_pixels(points)
    if move is None:
        assert np.abs(now - before).max() < 0.1
    else:
        left = np.abs(before @ move[:, :2].T + move[:, 2] - now).max()
        assert left < 0.02 + 0.2 * np.abs(now - before).max()  # a tilted camera's picture is not moved quite alike


def test_the_view_of_the_field_is_to_scale_and_steady_while_the_camera_shakes() -> None:
    camera = nominal_camera(3, SMALL)
    view, motion = FieldView(camera, FIELD), PictureMotion(camera, FIELD)
    corners = np.array([(x, y, 0.0) for x in (0.0, FIELD.length_mm) for y in (0.0, FIELD.width_mm)])
    images = []
    for t_s, shake_px in ((0.0, 0.0), (0.31, 3.0)):
        frame = next(filmed(3, [t_s], shake_px, SMALL))
        images.append(view.show(frame.image, motion.to(frame.camera)))
        assert np.allclose(
            view.pixels(frame.camera.to_pixels(corners), frame.camera), view.region.pixels(corners[:, :2]), atol=0.05
        )
    shift, _ = cv2.phaseCorrelate(*(cv2.cvtColor(one, cv2.COLOR_BGR2GRAY).astype(np.float32) for one in images))
    assert np.linalg.norm(shift) < 0.5


def game(**changes: Any) -> Any:
    values = {
        "game": "g", "offense": "home", "due": "scrimmage", "phase": "live", "spot_yd": 34.0, "to_gain_yd": 44.0,
        "goal_to_go": False, "direction": 1,
    }  # fmt: skip
    return SimpleNamespace(**values | changes)


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 2),
        ({"goal_to_go": True, "spot_yd": 96.0, "to_gain_yd": 100.0}, 2),  # scrimmage and red zone, no line to gain
        ({"spot_yd": 81.0, "to_gain_yd": 91.0}, 3),
        ({"spot_yd": 19.0, "to_gain_yd": 9.0, "direction": -1}, 3),
        ({"due": "kickoff"}, 0),
        ({"phase": "over"}, 0),
    ],
)
def test_the_board_shows_what_the_down_asks_for(changes: dict[str, Any], count: int) -> None:
    scene = Scene(0, 0, "on", ())
    made = ShapeMaker(FIELD).shapes(scene, game(**changes), None, ELEMENTS, "broadcast")
    assert len(made) == count
    assert ShapeMaker(FIELD).shapes(scene, game(**changes), None, (), "broadcast") == []


DRIVE: tuple[ProgramElement, ...] = ("drive",)


def test_the_drive_begins_where_possession_did_and_the_trail_is_the_carriers_own() -> None:
    maker = ShapeMaker(FIELD)
    frames = [next(filmed(3, [0.0], 0.0, (64, 36))).scene]
    scene = frames[0]
    maker.shapes(scene, game(), None, DRIVE, "chalk")
    (drive,) = maker.shapes(scene, game(spot_yd=60.0), None, DRIVE, "chalk")
    xs = drive.outlines_mm[0][:, 0] / FIELD.mm_per_yd_x
    assert (xs.min(), xs.max()) == (pytest.approx(34), pytest.approx(60))
    assert maker.shapes(scene, game(offense="away", spot_yd=60.0), None, DRIVE, "chalk") == []


BOXES = st.tuples(st.integers(0, 1700), st.integers(0, 900), st.integers(20, 120), st.integers(20, 120)).map(
    lambda box: (box[0], box[1], box[0] + box[2], box[1] + box[3])
)


@given(st.lists(BOXES, min_size=1, max_size=22))
def test_a_tag_covers_no_figure_and_no_other_tag(boxes: list[tuple[int, int, int, int]]) -> None:
    figures = {f"dark-{number}": box for number, box in enumerate(boxes)}
    tags = [NameTag(name, name, (0, 0, 200), (255, 255, 255)) for name in figures]
    placer, placed = TagPlacer(), []
    original = placer._place

    def noting(*arguments: Any) -> Any:
        found = original(*arguments)
        placed.append(None if found is None else found[1])
        return found

    vars(placer)["_place"] = noting
    placer.draw(np.zeros((1080, 1920, 3), np.uint8), tags, figures)
    shown = [box for box in placed if box is not None]
    for a, b in [*combinations(shown, 2), *((tag, box) for tag in shown for box in boxes)]:
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_nothing_is_drawn_while_nobody_watches_and_a_failure_is_told() -> None:
    failures: list[str] = []
    told = threading.Event()

    def failed(cause: str) -> None:
        failures.append(cause)
        told.set()

    def moment() -> ProgramMoment:
        raise ZeroDivisionError("no moment")

    drawer = ProgramDrawer(moment, failed=failed)
    drawer.use(ProgramOptions(view="field"))
    frame = next(filmed(3, [0.0], 0.0, SMALL))
    drawer.calibrate(Calibration(FIELD, nominal_camera(3, SMALL), "truth"))
    drawer.scene_ready(Frame(0, 0, frame.image), frame.scene)
    assert len(drawer._newest) == 0
    drawer.picture._watchers.add((None, None))  # type: ignore[arg-type]
    drawer.scene_ready(Frame(1, 1, frame.image), frame.scene)
    assert told.wait(WAIT_S)
    assert failures == ["ZeroDivisionError: no moment"]
    drawer.picture._watchers.clear()
    painter = ProgramPainter()
    painter.calibrate(drawer._calibration)
    moment_shown = ProgramMoment(None, "dark-1", players())
    drawn = painter.draw(frame.image, frame.scene, frame.camera, moment_shown, drawer.options)
    assert drawn.shape == frame.image.shape
    assert not np.array_equal(drawn, frame.image)
    drawer.close()
