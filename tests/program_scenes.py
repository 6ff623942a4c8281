"""A filmed table for the program feed: figures that walk over painted lines, and which pixels they truly cover."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.broadcast.program.board_painter import BoardPainter
from downfield.broadcast.program.board_shapes import BoardShape
from downfield.calibration.camera import Camera
from downfield.calibration.online.shake import MovingCamera, ShakeTracker
from downfield.core.arrays import Array, Image
from downfield.core.field.model import preset
from downfield.core.footprint import BaseSize
from downfield.core.scene import Figure, Player, Scene
from downfield.twin.randomization.tables import draw_table
from downfield.twin.render.compositor import Compositor, SolidPainter
from downfield.twin.table.snapshot import FigurePose, Snapshot
from downfield.twin.table.solids import SolidPlacer, settle

FIELD: Final = preset("tudor-620")
SIZE_PX: Final = (1920, 1080)
FPS: Final = 30
BASE: Final = BaseSize(30.0, 18.0, 5.5, 1.0)

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ProgramFrame:
    """One frame.

    Attributes:
        scene: what is seen in it, exactly.
        image: the picture, with a camera's noise.
        camera: where the camera truly is.
        figures: which pixels figures truly cover, shape (height, width).
    """

    scene: Scene
    image: Image
    camera: Camera
    figures: Mask


def players(count: int = 10) -> tuple[Player, ...]:
    """A roster of both teams."""
    return tuple(
        Player(f"{jersey}-{number}", jersey, str(number), base=BASE)
        for number in range(1, count // 2 + 1)
        for jersey in ("dark", "light")
    )


def filmed(
    seed: int, times_s: list[float], shake_px: float = 0.0, size_px: tuple[int, int] = SIZE_PX
) -> Iterator[ProgramFrame]:
    """Yield a table at some instants.

    Args:
        seed: of its looks.
        times_s: instants.
        shake_px: amplitude of the camera's shake in the picture.
        size_px: of the pictures.
    """
    roster = players()
    look = draw_table(seed, roster, field=FIELD, size=size_px, fps=FPS)
    renderer, placer = Compositor(look, roster), SolidPlacer(look)
    noise = np.random.default_rng(seed)
    for t_s in times_s:
        snapshot = Snapshot(round(t_s * 1e9), True, tuple(_pose(place, one, t_s) for place, one in enumerate(roster)))
        camera = shaken(look.camera, t_s, shake_px)
        image = renderer.render(snapshot, camera, t_ns=snapshot.t_ns).image
        settled = settle(snapshot, look.field, look.board.bow_mm)
        placed = placer.place(settled)
        grounds = [np.full_like(image, level) for level in (0, 255)]
        for ground in grounds:
            SolidPainter(look, camera, ground).paint(placed, roster, settled)
        clear = grounds[1].astype(int).max(axis=2) - grounds[0].astype(int).max(axis=2)
        noisy = image + noise.normal(0, 2.5, image.shape)
        camera_image = np.clip(noisy, 0, 255).astype(np.uint8)
        _, jpeg = cv2.imencode(".jpg", camera_image, [cv2.IMWRITE_JPEG_QUALITY, 85])
        decoded = cv2.imdecode(jpeg, cv2.IMREAD_COLOR)
        assert decoded is not None
        scene = Scene(
            round(t_s * FPS), snapshot.t_ns, "on", tuple(_figure(place, one, t_s) for place, one in enumerate(roster))
        )
        yield ProgramFrame(scene, np.asarray(decoded, np.uint8), camera, clear < 128)


def shaken(camera: Camera, t_s: float, shake_px: float) -> Camera:
    """Return a camera that shakes as a table does that a board hums on."""
    if not shake_px:
        return camera
    x, y = (shake_px / camera.lens.focal_px[0] * math.sin(2 * math.pi * hz * t_s + hz) for hz in (7.3, 11.1))
    turn = np.asarray(cv2.Rodrigues(np.array([y, x, 0.0]))[0])
    rotation = turn @ np.asarray(cv2.Rodrigues(np.array(camera.rotation))[0])
    shift = turn @ np.array(camera.translation_mm)
    a, b, c = np.asarray(cv2.Rodrigues(rotation)[0]).ravel().tolist()
    tx, ty, tz = shift.tolist()
    return dataclasses.replace(camera, rotation=(a, b, c), translation_mm=(tx, ty, tz))


def tracked_cameras(seed: int, frames: list[ProgramFrame]) -> list[Camera]:
    """Return where the rig believes the camera to be in each frame."""
    size_px = frames[0].camera.lens.size_px
    camera = nominal_camera(seed, size_px)
    reference = next(filmed(seed, [0.0], size_px=size_px)).image
    tracker, moving = ShakeTracker(reference, camera, FIELD), MovingCamera(camera, FIELD)
    return [moving.at(tracker.track(frame.image)) for frame in frames]


def nominal_camera(seed: int, size_px: tuple[int, int] = SIZE_PX) -> Camera:
    """Return the camera of a table as it is calibrated."""
    return draw_table(seed, players(), field=FIELD, size=size_px, fps=FPS).camera


def lines() -> list[BoardShape]:
    """Two wide lines that the figures walk over."""
    made = []
    for x_yd in (44.0, 56.0):
        x, y = x_yd * FIELD.mm_per_yd_x, np.linspace(0, FIELD.width_mm, 30)
        left, right = np.column_stack([np.full(30, x - 12), y]), np.column_stack([np.full(30, x + 12), y])
        made.append(BoardShape((np.concatenate([left, right[::-1]]),), (255, 0, 255), 1.0))
    return made


def painter(seed: int, size_px: tuple[int, int] = SIZE_PX) -> BoardPainter:
    """Return a painter for a table."""
    made = BoardPainter(nominal_camera(seed, size_px), FIELD)
    made.use_roster(players())
    return made


def painted_area(camera: Camera) -> Mask:
    """Return the pixels inside the lines, shape (height, width)."""
    width, height = camera.lens.size_px
    area = np.zeros((height, width), np.uint8)
    for shape in lines():
        for outline in shape.outlines_mm:
            pixels = camera.to_pixels(np.column_stack([outline, np.zeros(len(outline))]))
            cv2.fillPoly(area, [np.round(pixels).astype(np.int32)], 1)
    return cv2.erode(area, np.ones((3, 3), np.uint8)).astype(bool)


def edge_errors_px(painted: Mask, frame: ProgramFrame, area: Mask) -> Array:
    """Return how far every edge pixel of figures on the paint is from where it should be, both ways.

    Args:
        painted: where paint is seen.
        frame: the truth.
        area: where paint would be without figures.
    """
    truth, found = frame.figures & area, ~painted & area
    edges = [_edges(one, area) for one in (truth, found)]
    errors = []
    for these, those in (edges, edges[::-1]):
        distance = cv2.distanceTransform((~those).astype(np.uint8), cv2.DIST_L2, 5)
        errors.append(distance[these])
    return np.concatenate(errors).astype(np.float64)


def paint_seen(before: Image, after: Image) -> Mask:
    """Return where a picture was painted more than half."""
    changed = np.abs(after.astype(int) - before.astype(int)).max(axis=2)
    wanted = np.abs(np.array((255, 0, 255)) - before.astype(int)).max(axis=2)
    return np.asarray(changed > 0.3 * wanted)


def _edges(mask: Mask, area: Mask) -> Mask:
    inner = cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
    return np.asarray(mask & ~inner & cv2.erode(area.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool))


def _place(place: int, t_s: float) -> tuple[float, float, float]:
    """Return where a figure is: all walk to and fro across the lines, each at its own pace."""
    lane = (place + 0.7) / 10.4 * FIELD.width_mm
    swing = 0.5 * FIELD.length_mm + 150 * math.sin(0.55 * t_s + 0.9 * place)
    heading = 25 * math.sin(0.8 * t_s + place) + (180 if place % 2 else 0)
    return swing, lane, heading


def _pose(place: int, player: Player, t_s: float) -> FigurePose:
    x, y, heading = _place(place, t_s)
    half = math.radians(heading) / 2
    return FigurePose(player.id, (x, y, 0.0), (math.cos(half), 0.0, 0.0, math.sin(half)))


def _figure(place: int, player: Player, t_s: float) -> Figure:
    x, y, heading = _place(place, t_s)
    heading = (heading + 180) % 360 - 180
    return Figure(player.id, player.jersey, x, y, heading, BASE.length_mm, BASE.width_mm, BASE.corner_mm)
