"""The compositor: base tops lie where the camera model says, in pictures anyone can measure."""

from __future__ import annotations

import dataclasses
import math

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.core.scene import Player
from downfield.twin.randomization.tables import draw_players, draw_table
from downfield.twin.render.compositor import Compositor
from downfield.twin.sets.table_frames import crop_camera
from downfield.twin.table.appearance import Appearance, FigureAppearance
from downfield.twin.table.snapshot import FigurePose, HandPose, Snapshot


def bare(appearance: Appearance, base: tuple[float, float, float]) -> Appearance:
    """The appearance with bare bases of one color on a black board, lit from straight above: only tops show."""
    figures = tuple(
        FigureAppearance(tuple(dataclasses.replace(s, color=base, opacity=1.0) for s in f.solids if s.part == "base"))
        for f in appearance.figures
    )
    black = (0.0, 0.0, 0.0)
    board = dataclasses.replace(
        appearance.board, grass=(black,), line=black, end_zones=(black, black), border=black, emblem=black, gloss=0.0
    )
    overhead = dataclasses.replace(
        appearance.lamps[0],
        position_mm=(appearance.field.length_mm / 2, appearance.field.width_mm / 2, 50_000.0),
        strength=1.0,
    )
    return dataclasses.replace(appearance, figures=figures, board=board, lamps=(overhead,), ambient=0.0, clutter=())


def standing(players: tuple[Player, ...], appearance: Appearance) -> Snapshot:
    """The roster in a loose grid over the whole field, each turned another way."""
    columns = math.ceil(math.sqrt(2 * len(players)))
    poses = []
    for i, player in enumerate(players):
        x = (0.5 + i % columns) / columns * appearance.field.length_mm
        y = (0.5 + i // columns) / math.ceil(len(players) / columns) * appearance.field.width_mm
        half = math.radians(37.0 * i) / 2
        poses.append(FigurePose(player.id, (x, y, 0.0), (math.cos(half), 0.0, 0.0, math.sin(half))))
    return Snapshot(0, False, tuple(poses))


def measured_corners(image: NDArray[np.uint8], near: Array) -> Array:
    """Corners of a bright quadrilateral, found from straight lines fitted to the half-way level of its four sides."""
    gray = cv2.GaussianBlur(image[:, :, 1].astype(np.float32), (0, 0), 0.6)
    middle = near.mean(axis=0)
    sides = []
    for a, b in zip(near, np.roll(near, -1, axis=0), strict=True):
        along = (b - a) / np.linalg.norm(b - a)
        out = np.array([along[1], -along[0]])
        out *= np.sign(out @ (a - middle))
        points = []
        for share in np.linspace(0.25, 0.75, 15):
            reach = np.arange(-4, 4, 0.05)
            path = a + share * (b - a) + reach[:, None] * out
            levels = cv2.remap(
                gray, path[:, None, 0].astype(np.float32), path[:, None, 1].astype(np.float32), cv2.INTER_LINEAR
            ).ravel()
            half = (levels[:20].mean() + levels[-20:].mean()) / 2
            points.append(path[int(np.argmax(levels < half))])
        center = np.mean(points, axis=0)
        direction = np.linalg.svd(np.array(points) - center)[2][0]
        sides.append((center, direction))
    corners = []
    for (p, d), (q, e) in zip(np.roll(np.array(sides), 1, axis=0), sides, strict=True):
        share = np.linalg.solve(np.column_stack([d, -np.asarray(e)]), np.asarray(q) - p)[0]
        corners.append(p + share * d)
    return np.array(corners)


@pytest.mark.parametrize("seed", [3, 8])
def test_base_tops_lie_within_three_tenths_of_a_pixel_of_their_truth(seed: int) -> None:
    players = draw_players(seed)
    appearance = bare(draw_table(seed, players), (1.0, 1.0, 1.0))
    renderer = Compositor(appearance, players)
    frame = renderer.render(standing(players, appearance), appearance.camera, t_ns=5)
    assert frame.t_ns == 5
    off = []
    for player, top in zip(players, frame.base_tops, strict=True):
        assert top.id == player.id
        assert top.visible > 0.99
        off.append(np.linalg.norm(measured_corners(frame.image, top.corners_px) - top.corners_px, axis=1))
    assert np.median(off) < 0.1
    assert np.max(off) < 0.3


def test_a_crop_shows_the_same_tops_enlarged() -> None:
    players = draw_players(5, per_side=2)
    appearance = draw_table(5, players, size=(640, 360))
    snapshot = standing(players, appearance)
    whole = Compositor(appearance, players).render(snapshot, appearance.camera, t_ns=0).base_tops[1]
    corner = tuple(whole.corners_px.min(axis=0) - 10)
    camera = crop_camera(appearance.camera, (corner[0], corner[1]), 2.5, (160, 120))
    part = Compositor(dataclasses.replace(appearance, camera=camera), players).render(snapshot, camera, t_ns=0)
    assert part.image.shape == (120, 160, 3)
    # Pixel centers have whole coordinates, so the outer corner of the first pixel is at -0.5.
    expected = (whole.corners_px - corner) * 2.5 - 0.5
    np.testing.assert_allclose(part.base_tops[1].corners_px, expected, atol=1e-6)


def test_a_hand_over_a_figure_hides_its_base() -> None:
    players = draw_players(6, per_side=1)
    appearance = draw_table(6, players)
    snapshot = standing(players, appearance)
    x, y, _ = snapshot.figures[0].position_mm
    hand = HandPose((x + 50, y + 95, 70.0), (x - 130, y - 300, 120.0))  # its palm is over the figure
    renderer = Compositor(appearance, players)
    before = renderer.render(snapshot, appearance.camera, t_ns=0)
    after = renderer.render(dataclasses.replace(snapshot, hands=(hand,)), appearance.camera, t_ns=0)
    assert before.base_tops[0].visible > 0.3
    assert after.base_tops[0].visible < before.base_tops[0].visible / 2
    left, top = before.base_tops[0].corners_px.min(axis=0).astype(int)
    right, bottom = before.base_tops[0].corners_px.max(axis=0).astype(int)
    window = (slice(top, bottom), slice(left, right))
    changed = np.abs(before.image[window].astype(int) - after.image[window]).max(axis=2) > 5
    assert changed.mean() > 0.7


def test_the_same_snapshot_gives_the_same_picture() -> None:
    players = draw_players(7)
    appearance = draw_table(7, players)
    snapshot = standing(players, appearance)
    pictures = [Compositor(appearance, players).render(snapshot, appearance.camera, t_ns=0).image for _ in range(2)]
    np.testing.assert_array_equal(pictures[0], pictures[1])


def test_a_figure_on_its_face_shows_its_bases_underside_before_its_legs() -> None:
    players = draw_players(9, per_side=1)
    appearance = draw_table(9, players)
    poses = list(standing(players, appearance).figures)
    # Tipped ahead by more than a right angle, the underside looks up.
    half = math.radians(105) / 2
    poses[0] = dataclasses.replace(
        poses[0], rotation=(math.cos(half), 0.0, math.sin(half), 0.0), position_mm=(300.0, 200.0, 16.0)
    )
    figures = list(appearance.figures)
    red, blue = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    figures[0] = FigureAppearance(
        tuple(
            dataclasses.replace(solid, color=red if solid.part == "base" else blue, opacity=1.0)
            for solid in figures[0].solids
        )
    )
    appearance = dataclasses.replace(appearance, figures=tuple(figures))
    frame = Compositor(appearance, players).render(Snapshot(0, False, tuple(poses)), appearance.camera, t_ns=0)
    assert frame.base_tops[0].visible == 0.0
    under = np.array([[x, y, 0.0] for x in (-8.0, 0.0, 8.0) for y in (-5.0, 0.0, 5.0)])
    turn = Rotation.from_quat(poses[0].rotation, scalar_first=True).as_matrix()
    seen = appearance.camera.to_pixels(under @ turn.T + poses[0].position_mm)
    for u, v in np.rint(seen).astype(int):
        blue_level, _, red_level = frame.image[v, u].astype(int)
        assert red_level > 2 * blue_level
