"""The path tracer: geometry, light, shadows and clear bases against what is known; CUDA in numba's simulator."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from twin_tables import FIELD, SQUARE, appearance_of, base_solid, camera_over, players, standing, with_board

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.twin.render.renderer import top_corners_mm
from downfield.twin.render.traced_renderer import TracedRenderer
from downfield.twin.sets.table_frames import Recipe, table_pictures
from downfield.twin.table.appearance import Appearance, FigureAppearance, Material, SkyLobe, Surroundings
from downfield.twin.table.solids import settle
from downfield.twin.tracing.scene import PrintTexture, SceneBuilder, TracedScene
from downfield.twin.tracing.tracer import Tracer, Windows

SIZE = (320, 180)
PLACES = np.array([[200.0, 100.0, 25.0], [350.0, 180.0, -70.0], [500.0, 90.0, 160.0]])


def table(places: Array = PLACES, *, opacity: float = 1.0, barrel: float = 0.04) -> Appearance:
    """White bases on a black board under one lamp straight above."""
    figures = tuple(FigureAppearance((base_solid(opacity=opacity),)) for _ in places)
    return appearance_of(figures, camera_over(SIZE, tilt_deg=6.0, barrel=barrel))


def picture(appearance: Appearance, places: Array = PLACES, *, samples: int = 8, t_ns: int = 0) -> NDArray[np.uint8]:
    """A traced picture of bases at some places."""
    renderer = TracedRenderer(appearance, players(len(places)), samples=samples)
    return renderer.render(standing(places), appearance.camera, t_ns=t_ns).image


def bases_at(tracer: Tracer, scene: TracedScene, camera: Camera, places_px: Array) -> NDArray[np.bool_]:
    """Whether a white base is seen at each place of a picture, shape (n, 2) to (n,)."""
    inverses = np.zeros((len(places_px), 2, 3))  # every pixel of a window shows the same place
    inverses[:, :, 2] = places_px
    points = Windows(np.zeros(len(places_px), dtype=np.int64), inverses, np.zeros(len(places_px)), (8, 4))
    light = tracer.windows([scene], [(0, camera)], points, 4)
    seen: NDArray[np.bool_] = np.asarray(light).mean(axis=(1, 2, 3)) > 0.2
    return seen


@pytest.mark.parametrize("bow_mm", [0.0, 3.0])
def test_a_base_is_seen_exactly_within_its_projected_outline(bow_mm: float) -> None:
    appearance = with_board(table(), bow_mm=bow_mm)
    roster, camera = players(len(PLACES)), appearance.camera
    settled = settle(standing(PLACES), FIELD, bow_mm)
    texture = PrintTexture(appearance)
    scene, tracer = SceneBuilder(appearance, roster, texture).build(settled), Tracer(texture)
    for corners_mm in top_corners_mm(roster, settled)[0]:
        top = camera.to_pixels(corners_mm).astype(np.float32)
        middle = top.mean(axis=0)
        within, beyond = middle + 0.97 * (top - middle), middle + 1.6 * (top - middle)
        assert bases_at(tracer, scene, camera, within).all()
        assert not bases_at(tracer, scene, camera, beyond).any()
        side = np.linspace(0.02, 0.98, 25)[:, None]
        edge = np.concatenate([a + side * (b - a) for a, b in zip(top, np.roll(top, -1, axis=0), strict=True)])
        outside = edge + 0.08 * (edge - middle) / np.linalg.norm(edge - middle, axis=1, keepdims=True)
        inside = edge - 0.08 * (edge - middle) / np.linalg.norm(edge - middle, axis=1, keepdims=True)
        assert bases_at(tracer, scene, camera, inside).all()
        below_mm = corners_mm - [0.0, 0.0, SQUARE.height_mm]
        whole = camera.to_pixels(np.concatenate([corners_mm, below_mm])).astype(np.float32)
        hull = cv2.convexHull(whole)
        free = [cv2.pointPolygonTest(hull, (float(x), float(y)), True) < -0.05 for x, y in outside]
        assert not bases_at(tracer, scene, camera, outside[free]).any()


def test_a_level_white_surface_has_the_brightness_of_lamp_and_ambient_light() -> None:
    appearance = dataclasses.replace(with_board(table(), grass=((1.0, 1.0, 1.0),)), ambient=0.15)
    empty = np.zeros((0, 3))
    appearance = dataclasses.replace(appearance, figures=())
    between_lines = np.array([[0.525 * FIELD.length_mm, 0.5 * FIELD.width_mm]])
    x, y = appearance.camera.to_pixels(between_lines)[0].round().astype(int)
    image = picture(appearance, empty, samples=4)
    patch = image[y - 2 : y + 3, x - 2 : x + 3].astype(np.float64).mean() / 255
    light = patch * (patch * (patch * 0.305306011 + 0.682171111) + 0.012522878)
    assert light == pytest.approx(0.95, abs=0.06)  # the lamp's 0.8 and 0.15, less what plastic mirrors elsewhere


def test_a_base_throws_its_shadow_away_from_the_lamp() -> None:
    place = np.array([[350.0, 150.0, 0.0]])
    appearance = with_board(table(place, barrel=0.0), grass=((0.6, 0.6, 0.6),))
    lamp = dataclasses.replace(appearance.lamps[0], position_mm=(350.0 - 900.0, 150.0, 500.0), radius_mm=5.0)
    appearance = dataclasses.replace(appearance, lamps=(lamp,))
    image = picture(appearance, place, samples=8)
    beside = (
        appearance.camera.to_pixels(np.array([[350.0 - 20.0, 150.0, 0.0], [350.0 + 20.0, 150.0, 0.0]]))
        .round()
        .astype(int)
    )
    lit, shaded = (float(image[y, x].mean()) for x, y in beside)
    assert shaded < 0.4 * lit


def test_the_board_is_seen_through_a_clear_base() -> None:
    place = np.array([[350.0, 150.0, 0.0]])
    turf = with_board(table(place, opacity=0.25), grass=((0.1, 0.8, 0.1),))
    opaque = with_board(table(place), grass=((0.1, 0.8, 0.1),))
    x, y = turf.camera.to_pixels(np.array([[350.0, 150.0, 5.5]]))[0].round().astype(int)
    clear, white = picture(turf, place, samples=8)[y, x], picture(opaque, place, samples=8)[y, x]
    assert int(clear[1]) > int(clear[0]) + 30  # green shows
    assert abs(int(white[1]) - int(white[0])) < 10


@pytest.mark.parametrize(
    ("material", "second_at_mm"),
    [
        (Material(pattern="rim", values=(3.0, 0.0, 0.0, 0.0), second=(1.0, 0.0, 0.0)), (13.6, 0.0)),
        (Material(pattern="sticker", values=(-0.6, 0.0, 0.3, 0.6), second=(1.0, 0.0, 0.0)), (-9.0, 0.0)),
        (Material(pattern="stripe", values=(0.4, 0.0, 0.0, 0.0), second=(1.0, 0.0, 0.0)), (6.0, 0.0)),
    ],
)
def test_a_pattern_shows_its_second_color_where_it_is(material: Material, second_at_mm: tuple[float, float]) -> None:
    place = np.array([[350.0, 150.0, 0.0]])
    plain = table(place, barrel=0.0)
    solid = dataclasses.replace(base_solid(), material=material)
    patterned = dataclasses.replace(plain, figures=(FigureAppearance((solid,)),))
    image = picture(patterned, place, samples=8)
    other_mm = (3.0, 0.0) if material.pattern != "stripe" else (6.0, 6.5)
    spots = np.array([[350.0 + x, 150.0 + y, 5.5] for x, y in (second_at_mm, other_mm)])
    (x, y), (u, w) = patterned.camera.to_pixels(spots).round().astype(int)
    second, first = image[y, x].astype(int), image[w, u].astype(int)
    assert second[2] > second[0] + 40, "red"
    assert abs(first[2] - first[0]) < 15, "white"


def test_a_window_lights_a_table_as_brightly_as_a_lamp_of_its_strength() -> None:
    lit = dataclasses.replace(with_board(table(), grass=((0.5, 0.5, 0.5),)), figures=())
    lamp = dataclasses.replace(lit.lamps[0], position_mm=(350.0, 180.0, 1500.0), radius_mm=200.0)
    levels = []
    for half_mm in (None, (250.0, 180.0)):
        one = dataclasses.replace(lit, lamps=(dataclasses.replace(lamp, half_mm=half_mm),))
        levels.append(float(picture(one, np.zeros((0, 3)), samples=4)[60:120, 120:200].mean()))
    assert levels[0] == pytest.approx(levels[1], rel=0.03)


def test_bright_surroundings_change_where_the_light_comes_from_but_not_how_much() -> None:
    plain = dataclasses.replace(with_board(table(), grass=((0.5, 0.5, 0.5),)), figures=(), ambient=0.8)
    lamp = dataclasses.replace(plain.lamps[0], strength=0.01)
    plain = dataclasses.replace(plain, lamps=(lamp,))
    lobes = (SkyLobe((0.0, 0.6, 0.8), 3.0, (2.0, 2.0, 2.0)),)
    walled = dataclasses.replace(plain, surroundings=Surroundings(sky_rise=0.4, lobes=lobes))
    empty = np.zeros((0, 3))
    even, bright = (picture(one, empty, samples=8)[60:120, 120:200].mean() for one in (plain, walled))
    assert even == pytest.approx(bright, rel=0.06)


def test_the_same_instant_is_the_same_picture_and_another_has_other_noise() -> None:
    appearance = dataclasses.replace(with_board(table(), grass=((0.5, 0.5, 0.5),)), ambient=0.3)
    one, again, later = (picture(appearance, samples=2, t_ns=t_ns) for t_ns in (7, 7, 8))
    assert (one == again).all()
    assert (one != later).any()


def test_more_samples_are_less_noise() -> None:
    appearance = dataclasses.replace(with_board(table(), grass=((0.5, 0.5, 0.5),)), ambient=0.5)
    noise = []
    for samples in (1, 8):
        one, other = (picture(appearance, samples=samples, t_ns=t_ns).astype(float) for t_ns in (1, 2))
        noise.append((one - other).std())
    assert noise[1] < 0.5 * noise[0]


def test_the_cuda_source_traces_the_same_picture() -> None:
    """In numba's simulator, which runs one thread after another: a tiny picture takes seconds."""
    script = Path(__file__).parents[1] / "traced_on_cuda.py"
    pictures = []
    for target, simulate in (("cpu", "0"), ("cuda", "1")):
        environment = {**os.environ, "DOWNFIELD_TRACER": target, "NUMBA_ENABLE_CUDASIM": simulate}
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        pictures.append(np.array([[float(v) for v in line.split()] for line in done.stdout.splitlines()]))
    assert pictures[0].shape == pictures[1].shape
    assert np.abs(pictures[0] - pictures[1]).max() < 2e-3
    assert pictures[0].std() > 0.01


def test_a_cuda_device_without_the_package_that_compiles_for_it_is_refused_in_a_sentence() -> None:
    hidden = "import importlib.util as u; find = u.find_spec\n"
    hidden += "u.find_spec = lambda name, *rest: None if name == 'numba_cuda' else find(name, *rest)\n"
    environment = {**os.environ, "DOWNFIELD_TRACER": "cuda", "NUMBA_ENABLE_CUDASIM": "0"}
    done = subprocess.run(
        [sys.executable, "-c", f"{hidden}import downfield.twin.tracing.kernels.target"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 1
    assert "Tracing on a CUDA device needs numba-cuda" in done.stderr


def test_a_traced_data_set_shows_varied_tables_with_labels_where_the_bases_are() -> None:
    recipe = Recipe("val", seed=6, renderer="traced", size_px=(256, 144))
    (first, _), (second, _) = pictures = [next(table_pictures(recipe, table, 1)) for table in (0, 1)]
    assert first.shape == second.shape == (144, 256, 3)
    assert abs(first.mean(axis=(0, 1)) - second.mean(axis=(0, 1))).max() > 4, "two tables, two looks"
    for image, sample in pictures:
        assert image.std() > 10
        assert len(sample.labels.figures) >= 4
        camera = sample.calibration.camera
        for figure in sample.labels.figures:
            if figure.tilt_deg < 1 and not figure.in_hand:
                middle = np.array([*figure.position_mm[:2], figure.position_mm[2] + figure.base_mm[2]])
                seen = np.array(figure.corners_px).mean(axis=0)
                assert np.linalg.norm(camera.to_pixels(middle) - seen) < 0.7  # the rolling shutter moves it a little
