"""What is drawn on the pictures of a call lies where it was measured, and covers nothing that matters."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from painted_scenes import CARRIER, HITTER, PLAYERS, scene, tackle
from scripted_plays import BASE, FIELD

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.capture.footage import CallMarks
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.arrays import Image
from downfield.game.published.game_topics import ConditionView
from downfield.game.records.entries import Snap
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import CallNumbers
from downfield.review.pictures.drawings import DrawnFigure, FrameDrawing, draw_frame, draw_lines, draw_spot
from downfield.review.pictures.painting import DRAWING_KINDS, PaintedCall, close_up, paint
from downfield.review.pictures.projection import Place, Projection


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return read_calibration(bundled_demo().with_suffix(".calibration.json"))


@pytest.fixture
def projection(calibration: Calibration) -> Projection:
    return Projection(calibration, PLAYERS)


def snap(spot_yd: float = 30.0, direction: int = 1, distance_yd: float = 10.0) -> Snap:
    return Snap("scrimmage", 0, "home", direction, 1, distance_yd, spot_yd, 1, "1st & 10")


def painted(call: PaintedCall) -> Image:
    """Return where anything was painted on a gray picture."""
    gray = np.full((1080, 1920, 3), 90, np.uint8)
    out = paint(gray, call, DRAWING_KINDS)
    assert (gray == 90).all()
    changed: Image = (out[:1080] != gray).any(axis=2).astype(np.uint8)
    return changed


def test_figures_that_are_seen_are_outlined_at_the_height_of_their_base(
    calibration: Calibration, projection: Projection
) -> None:
    drawing = draw_frame(7, CallMarks(tackle(), scene(), PLAYERS), projection)
    assert [figure.id for figure in drawing.figures] == [CARRIER, HITTER, "dark-7"]
    assert [figure.part for figure in drawing.figures] == ["first", "second", "other"]
    changed = painted(PaintedCall(drawing))
    for figure, base_mm in zip(scene().figures, (5.5, 5.5, 0.0), strict=False):
        corners = figure.footprint.corners_mm()
        for x, y in calibration.camera.to_pixels(np.column_stack([corners, np.full(4, base_mm)])):
            assert changed[round(y) - 2 : round(y) + 3, round(x) - 2 : round(x) + 3].any()


def test_the_gap_has_its_ends_its_faces_and_the_error_it_was_judged_with(projection: Projection) -> None:
    judged = draw_frame(7, CallMarks(tackle(), scene(), PLAYERS), projection).gap
    assert judged is not None
    assert (judged.gap_mm, judged.sigma_mm, judged.touching) == (0.4, 0.12, 0.03)
    half = BASE.length_mm / 2
    assert judged.ends[0].mm[0] == pytest.approx(400 + half, abs=0.01)
    assert judged.ends[1].mm[0] == pytest.approx(400 + half + 0.4, abs=0.01)
    for face in judged.faces:
        assert face is not None
        assert abs(face[0].mm[0] - (400 + half)) < 0.5  # the fronts
    alone = draw_frame(7, CallMarks(tackle(), scene(judged=False), PLAYERS), projection).gap
    assert alone is not None
    assert alone.sigma_mm == pytest.approx(0.5, abs=0.01)  # of 0.3 and 0.4 mm along the gap
    assert alone.touching is None


@pytest.mark.parametrize(("measure", "past"), [("line", 0.05), ("short", -0.05)])
def test_a_measured_place_is_drawn_with_its_stake_and_the_gap_between_them(
    projection: Projection, measure: str, past: float
) -> None:
    called = tackle("first_down" if past > 0 else "turnover_on_downs", (40.0 + past, 27.5))
    too_close = called.model_copy(update={"players": ()})
    measured = too_close.model_copy(update={"measure": measure, "margin": 0.05, "sigma": 0.09, "unit": "yd"})
    marks = CallMarks(measured, scene(), PLAYERS, snap(30.0))
    gap = draw_frame(7, marks, projection).gap
    assert gap is not None
    assert [end.mm[0] / FIELD.mm_per_yd_x for end in gap.ends] == pytest.approx([40.0 + past, 40.0], abs=1e-3)
    assert gap.label == ("0.05 yd past" if past > 0 else "0.05 yd short")
    assert gap.text == f"the spot is 0.05 ± 0.09 yd {'past' if past > 0 else 'short of'} the line"
    stake = draw_lines(marks, projection)[-1]
    assert stake.kind == "call"
    assert stake.mm[0][0] / FIELD.mm_per_yd_x == pytest.approx(40.0)
    assert draw_frame(7, replace(marks, call=too_close), projection).gap is None


@pytest.mark.parametrize(
    ("kind", "place", "line"),
    [("safety", -0.2, 0.0), ("touchback", 100.2, 100.0), ("info", 100.2, 100.0), ("touchdown", 100.2, 100.0)],
)
def test_a_place_measured_against_a_goal_line_is_drawn_with_it(
    projection: Projection, kind: CallKind, place: float, line: float
) -> None:
    called = tackle(kind).model_copy(update={"players": (CARRIER,), "margin": 0.2, "sigma": 0.15, "unit": "yd"})
    too_close = called.model_copy(
        update={"measure": "line", "spot_yd": None, "numbers": CallNumbers(measured_yd=(place, 27.5))}
    )
    if kind == "touchdown":  # by camera: millimeters, beside which end of the base is the front
        of_line = ConditionView(measure="line", name="line", words="", probability=0.9, margin=0.2, sigma=0.15)
        scaled = {"margin": 0.2 * FIELD.mm_per_yd_x, "sigma": 0.15 * FIELD.mm_per_yd_x, "unit": "mm"}
        conditions = (of_line.model_copy(update=scaled),)
        told = {"spot_yd": (place, 27.5), "unit": "mm", "margin": None, "sigma": None, "conditions": conditions}
        too_close = called.model_copy(update=told)
    marks = CallMarks(too_close, scene(), PLAYERS, snap(30.0))
    gap = draw_frame(7, marks, projection).gap
    assert gap is not None
    assert [end.mm[0] / FIELD.mm_per_yd_x for end in gap.ends] == pytest.approx([place, line], abs=1e-3)
    assert (gap.label, gap.text) == ("0.20 yd past", "the spot is 0.20 ± 0.15 yd past the line")
    assert draw_lines(marks, projection)[-1].mm[0][0] / FIELD.mm_per_yd_x == pytest.approx(line)


def test_a_frame_without_a_kept_measurement_draws_no_figure(projection: Projection) -> None:
    assert draw_frame(7, CallMarks(tackle(), None, PLAYERS), projection) == FrameDrawing(7, (), None)


def test_without_a_calibration_places_are_on_the_board_only() -> None:
    drawing = draw_frame(7, CallMarks(tackle(), scene(), PLAYERS), Projection(None, PLAYERS))
    assert [len(figure.mm) for figure in drawing.figures] == [4, 4, 4]
    assert [figure.px for figure in drawing.figures] == [(), (), ()]
    assert not painted(PaintedCall(drawing)).any()


def test_the_lines_of_the_play_and_of_the_call_are_drawn(projection: Projection) -> None:
    def lines(kind: CallKind, play: Snap | None = None) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for line in draw_lines(CallMarks(tackle(kind), None, PLAYERS, play), projection):
            assert len(line.px) == 24
            found.setdefault(line.kind, []).append(round(line.mm[0][0] / FIELD.mm_per_yd_x, 2))
        return found

    assert lines("tackle") == {"goal": [0, 100], "call": [41.9]}
    assert lines("tackle", snap()) == {"goal": [0, 100], "scrimmage": [30], "to_gain": [40], "call": [41.9]}
    assert lines("tackle", snap(direction=-1))["to_gain"] == [20]
    assert "to_gain" not in lines("tackle", snap(95.0))  # goal to go
    assert "scrimmage" not in lines("tackle", replace(snap(), kind="kickoff"))
    assert lines("line_of_scrimmage", snap())["call"] == [30]
    assert lines("touchdown")["call"] == [0]
    sideline = draw_lines(CallMarks(tackle("out_of_bounds"), None), projection)[-1]
    assert (sideline.kind, sideline.mm[0][1], sideline.mm[1][1]) == ("call", FIELD.width_mm, FIELD.width_mm)


def test_the_spot_is_marked_where_the_ball_is_spotted(calibration: Calibration, projection: Projection) -> None:
    spot = draw_spot(tackle(), projection)
    assert spot is not None
    changed = painted(PaintedCall(FrameDrawing(7, (), None), spot=spot))
    x, y = calibration.camera.to_pixels(FIELD.to_mm(np.array([41.9, 27.5])))
    ys, xs = np.nonzero(changed)
    assert (abs(xs.mean() - x) < 1, abs(ys.mean() - y) < 1) == (True, True)
    assert draw_spot(tackle(spot_yd=None), projection) is None


def test_names_stand_clear_of_the_figures_and_words_below_the_picture(projection: Projection) -> None:
    drawing = draw_frame(7, CallMarks(tackle(), scene(), PLAYERS), projection)
    gray = np.full((1080, 1920, 3), 90, np.uint8)
    bare = paint(gray, PaintedCall(drawing), {"footprints", "gap", "faces"})
    named = paint(gray, PaintedCall(drawing), {"footprints", "gap", "faces", "names"})
    changed = (bare != named).any(axis=2)
    assert changed.sum() > 200
    for figure in drawing.figures:
        (x0, y0), (x1, y1) = (pick(np.array(figure.px), axis=0) for pick in (np.min, np.max))
        assert not changed[int(y0) : int(y1) + 1, int(x0) : int(x1) + 1].any()
    told = paint(gray, PaintedCall(drawing, caption=("Tackled: gap 0.31 ± 0.12 mm", "Frame 7")), {"footprints"})
    assert told.shape[0] > 1080
    assert told.shape[0] % 2 == 0
    assert np.array_equal(told[:1080], paint(gray, PaintedCall(drawing), {"footprints"}))
    assert (told[1080:] > 200).any()


@pytest.mark.parametrize("width", [160, 480, 640, 960, 1280, 1920])
def test_words_below_a_picture_are_whole_at_every_width_and_leave_its_size_alone(width: int) -> None:
    gray = np.full((width * 9 // 16, width, 3), 90, np.uint8)
    measured = "Frame 277, 23.9 ms after the call; 0.41 ± 0.36 mm into each other"
    told = "tackled by light 24: touched: gap closed at 9.21 s; 1.0 mm past first touch, sure to more than 99 %"
    sizes = set()
    cv2.putText(np.zeros((20, 200, 3), np.uint8), "thin", (5, 15), (255, 255, 255), cv2.FontFace("sans"), 12, 200)
    for name in ("dark 28", "dark 28 of " + "a club with a very long name " * 4):
        framed = paint(gray, PaintedCall(FrameDrawing(7, (), None), caption=(f"{name} {told}", measured)), {"names"})
        sizes.add(framed.shape)
        ink = np.nonzero((framed[len(gray) :] > 200).any(axis=2).any(axis=0))[0]
        # All of the text is inside, with a margin: text that is cut off reaches the edge.
        assert ink.max() < width - 4
        assert ink.max() > width / 3
    assert len(sizes) == 1


def test_a_close_up_holds_the_figures_concerned_in_the_shape_of_the_picture() -> None:
    image = np.arange(1080 * 1920 * 3, dtype=np.uint32).astype(np.uint8).reshape(1080, 1920, 3)

    def drawn(*corners: tuple[float, float], spot: Place | None = None) -> PaintedCall:
        figure = DrawnFigure("dark-28", "dark", "first", "upright", 6.0, (), corners)
        other = DrawnFigure("dark-9", "dark", "other", "upright", 6.0, (), ((5.0, 5.0), (9.0, 9.0)))
        return PaintedCall(FrameDrawing(1, (other, figure), None), spot=spot)

    near = close_up(image, drawn((900.0, 500.0), (960.0, 540.0)))
    assert near.shape == (216, 384, 3)
    assert (near == image[412:628, 738:1122]).all()
    corner = close_up(image, drawn((1900.0, 1070.0), (1915.0, 1079.0)))
    assert (corner == image[864:, 1536:]).all()
    assert close_up(image, drawn((100.0, 100.0), (1700.0, 200.0))).shape == image.shape
    assert close_up(image, drawn((100.0, 100.0), (800.0, 200.0))).shape[1] == round(1920 * 700 * 1.6 / 1920)
    assert close_up(image, drawn(spot=Place((1.0, 1.0), (960.0, 540.0)))).shape == (216, 384, 3)
    assert close_up(image, drawn()).shape == image.shape
