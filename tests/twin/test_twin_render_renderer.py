"""What every renderer shows of a base's top agrees with the pictures, here by the compositor."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from twin_tables import FIELD, appearance_of, base_solid, camera_over, players, standing, with_board

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.twin.render.compositor import Compositor
from downfield.twin.render.renderer import RenderedFrame
from downfield.twin.table.appearance import FigureAppearance, Solid
from downfield.twin.table.snapshot import HandPose, Snapshot, StickPose
from downfield.twin.table.solids import SolidPlacer

_SEEN_AT = np.linspace(0.2, 0.8, 7)


def _spread_out(count: int) -> Array:
    rng = np.random.default_rng(7)
    x_low, y_low, x_high, y_high = FIELD.board_mm
    columns = np.linspace(x_low + 40, x_high - 40, count // 3)
    rows = np.linspace(y_low + 40, y_high - 40, 3)
    places = np.array([[x, y, 0.0] for x in columns for y in rows])
    places[:, :2] += rng.uniform(-8, 8, (len(places), 2))
    places[:, 2] = rng.uniform(-180, 180, len(places))
    return places


def _edge_crossing(image: NDArray[np.float32], at: Array, outward: Array) -> Array:
    """Where brightness along a line across an edge falls to half, shape (2,)."""
    steps = np.arange(-4, 4.01, 0.05)
    points = (at + steps[:, None] * outward).astype(np.float32)
    profile = cv2.remap(image, points[:, None, 0], points[:, None, 1], cv2.INTER_LINEAR).ravel()
    level = np.median(profile[:30]) / 2
    below = int(np.argmax(profile < level))
    share = (profile[below - 1] - level) / (profile[below - 1] - profile[below])
    found: Array = at + (steps[below - 1] + share * 0.05) * outward
    return found


def _drawn_corners(image: Image, expected: Array) -> Array:
    """Corners of a bright quadrilateral as drawn, from lines through its edges; shape (4, 2)."""
    gray = image[..., 1].astype(np.float32)
    center = expected.mean(axis=0)
    lines = []
    for a, b in zip(expected, np.roll(expected, -1, axis=0), strict=True):
        along = (b - a) / np.linalg.norm(b - a)
        outward = np.array([along[1], -along[0]])
        outward *= np.sign(outward @ ((a + b) / 2 - center))
        found = np.array([_edge_crossing(gray, a + share * (b - a), outward) for share in _SEEN_AT])
        middle = found.mean(axis=0)
        direction = np.linalg.svd(found - middle)[2][0]
        lines.append((middle, direction))
    corners = []
    for (p, u), (q, v) in zip([lines[-1], *lines[:-1]], lines, strict=True):
        reach = np.linalg.solve(np.column_stack([u, -v]), q - p)[0]
        corners.append(p + reach * u)
    return np.array(corners)


def _render(snapshot: Snapshot, camera: Camera, figure: FigureAppearance) -> RenderedFrame:
    count = len(snapshot.figures)
    return Compositor(appearance_of((figure,) * count, camera), players(count)).render(snapshot, camera, t_ns=5)


@pytest.mark.parametrize(("size_px", "tilt_deg", "barrel"), [((1280, 720), 0.0, 0.0), ((1920, 1080), 15.0, 0.2)])
def test_truth_corners_lie_on_the_drawn_corners(size_px: tuple[int, int], tilt_deg: float, barrel: float) -> None:
    camera = camera_over(size_px, tilt_deg, barrel)
    frame = _render(standing(_spread_out(21)), camera, FigureAppearance((base_solid(),)))
    whole = [
        top for top in frame.base_tops if (top.corners_px > 6).all() and (top.corners_px < np.array(size_px) - 7).all()
    ]
    assert len(whole) >= 15
    errors = np.array([_drawn_corners(frame.image, top.corners_px) - top.corners_px for top in whole])
    assert np.abs(errors).max() < 0.3
    assert np.abs(errors.mean(axis=(0, 1))).max() < 0.05


def test_a_camera_that_shakes_moves_base_and_paint_alike() -> None:
    still = camera_over((1280, 720), 5.0, 0.1)
    shaken = dataclasses.replace(
        still, rotation=(still.rotation[0] + 0.002, still.rotation[1], still.rotation[2] - 0.002)
    )
    appearance = with_board(appearance_of((FigureAppearance((base_solid(),)),), still), line=(1.0, 1.0, 1.0))
    renderer = Compositor(appearance, players(1))
    frame = renderer.render(standing(np.array([[500.0, 260.0, 20.0]])), shaken, t_ns=0)
    (top,) = frame.base_tops
    assert np.abs(_drawn_corners(frame.image, top.corners_px) - top.corners_px).max() < 0.3
    sideline = np.array([[x, -FIELD.line_mm / 2] for x in (200.0, 400.0, 600.0)])
    for at, mm in zip(shaken.to_pixels(sideline), sideline, strict=True):
        across = shaken.to_pixels(mm + np.array([0.0, 1.0])) - at
        across /= np.linalg.norm(across)
        steps = np.arange(-2.8, 2.81, 0.05)  # short of the marks inside the sideline
        points = (at + steps[:, None] * across).astype(np.float32)
        gray = frame.image[..., 1].astype(np.float32)
        profile = cv2.remap(gray, points[:, None, 0], points[:, None, 1], cv2.INTER_LINEAR).ravel()
        assert (profile * steps).sum() / profile.sum() == pytest.approx(0, abs=0.1)


def test_the_visible_share_of_a_base_agrees_with_the_picture() -> None:
    tall = Solid("capsule", (7.0, 12.0, 0.0), (2.0, 1.0, 20.0), color=(0.0, 0.0, 0.0))
    camera = camera_over((1920, 1080), 6.0, 0.1)
    figure = FigureAppearance((base_solid(), tall))
    snapshot = standing(_spread_out(21))
    frame = _render(snapshot, camera, figure)
    bare = _render(snapshot, camera, FigureAppearance((base_solid(),)))
    for top, whole in zip(frame.base_tops, bare.base_tops, strict=True):
        low = np.floor(top.corners_px.min(axis=0)).astype(int) - 2
        high = np.ceil(top.corners_px.max(axis=0)).astype(int) + 3
        if (low < 0).any() or (high > camera.lens.size_px).any():
            continue
        window = (slice(low[1], high[1]), slice(low[0], high[0]), 1)
        drawn = frame.image[window].astype(float).sum() / bare.image[window].astype(float).sum()
        assert whole.visible == pytest.approx(1.0)
        assert top.visible == pytest.approx(drawn, abs=0.04)
        assert 0.3 < top.visible < 0.9


def test_a_neighbor_and_a_hand_hide_corners() -> None:
    camera = camera_over((1280, 720))
    places = np.array([[400.0, 250.0, 0.0], [431.0, 250.0, 0.0], [700.0, 250.0, 0.0]])
    figure = FigureAppearance((base_solid(),))
    alone = _render(standing(places), camera, figure)
    assert [top.corners_visible for top in alone.base_tops] == [(True,) * 4] * 3
    hand = HandPose((690.0, 250.0, 20.0), (700.0, -300.0, 120.0))
    covered = _render(dataclasses.replace(standing(places), hands=(hand,)), camera, figure)
    assert covered.base_tops[2].visible < 0.8
    assert not all(covered.base_tops[2].corners_visible)
    assert covered.base_tops[0].visible == alone.base_tops[0].visible


def test_a_fallen_figure_shows_no_base_top_from_below() -> None:
    camera = camera_over((1280, 720))
    upright = standing(np.array([[480.0, 260.0, 0.0]]))
    turned = dataclasses.replace(
        upright, figures=(dataclasses.replace(upright.figures[0], rotation=(0.0, 1.0, 0.0, 0.0)),)
    )
    (top,) = _render(turned, camera, FigureAppearance((base_solid(),))).base_tops
    assert top.visible == 0
    assert not any(top.corners_visible)


def test_the_board_shows_through_a_clear_base() -> None:
    camera = camera_over((1280, 720))
    snapshot = standing(np.array([[480.0, 260.0, 0.0]]))
    bright, middle = [], camera.to_pixels(np.array([480.0, 260.0, 5.5])).round().astype(int)
    for grass in ((0.0, 0.0, 0.0), (0.0, 0.6, 0.0)):
        appearance = appearance_of((FigureAppearance((base_solid(opacity=0.5),)),), camera)
        lamp = dataclasses.replace(appearance.lamps[0], position_mm=(1e6, 0.0, 1e6))
        appearance = dataclasses.replace(with_board(appearance, grass=(grass,)), ambient=0.2, lamps=(lamp,))
        renderer = Compositor(appearance, players(1))
        bright.append(renderer.render(snapshot, camera, t_ns=0).image[middle[1], middle[0]].astype(int))
    # Half of its white stays, lit aslant, and half of the (partly shaded) green comes through.
    assert bright[0] == pytest.approx([0.5 * 255 * (0.2 + 0.8 * np.sqrt(0.5))] * 3, abs=4)
    assert bright[1][1] - bright[0][1] > 15
    assert bright[1][0] == bright[0][0]


def test_hands_and_sticks_are_drawn_inside_their_outlines() -> None:
    camera = camera_over((640, 360), 6.0, 0.1)
    hand = HandPose((400.0, 250.0, 30.0), (420.0, -300.0, 150.0), holds="dark-0")
    stick = StickPose((600.0, 200.0, 3.0), (750.0, 300.0, 3.0))
    snapshot = dataclasses.replace(standing(np.empty((0, 3))), hands=(hand,), sticks=(stick,))
    appearance = dataclasses.replace(appearance_of((), camera), sleeve=(0.8, 0.8, 0.8), ambient=0.5)
    renderer = Compositor(appearance, ())
    drawn = renderer.render(snapshot, camera, t_ns=0).image.max(axis=2) > 40
    outlined = np.zeros((360, 640), dtype=np.uint8)
    for points in camera.to_pixels(SolidPlacer(appearance).place(snapshot).points_mm):
        cv2.fillConvexPoly(outlined, cv2.convexHull(np.round(points).astype(np.int32)), (255,))
    both = drawn & (outlined > 0)
    assert both.sum() > 5000
    assert both.sum() / (drawn | (outlined > 0)).sum() > 0.93
