"""Pictures of one drawn table for a data set by its recipe: arranged, viewed, drawn and labeled."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Literal

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel
from downfield.core.records import check, record
from downfield.core.scene import Player
from downfield.twin.film.film import expose
from downfield.twin.film.sensor_effects import SensorEffects
from downfield.twin.physics.body import Placement, Trait
from downfield.twin.physics.world import World
from downfield.twin.randomization.deck import SPLITS, Split
from downfield.twin.randomization.tables import Variety, draw_players, draw_table
from downfield.twin.render.renderer import BaseTop, RenderedFrame, Renderer
from downfield.twin.render.renderers import RendererName, open_renderer
from downfield.twin.sets.arrange import Arranger, Mix, obstacles_on, without_obstacles
from downfield.twin.sets.labels import Labeler, Sample
from downfield.twin.table.appearance import Appearance, Sensor
from downfield.twin.table.snapshot import BallKind, Snapshot
from downfield.twin.table.solids import as_calibrated

PLAYS = 0.35  # share of tables with a play of the physics; the others are arranged

_CORNERS = 3  # parts of the picture tried; the fullest is kept
_PLAY_S = (0.2, 4.0)  # time range of the pictures of a play
_MAGNET_EVERY = 4  # one table in this many plays with the magnetic ball
_MIXES = {
    "foam": Mix(carried_chance=0.6, magnetic_chance=0.0, loose_chance=0.35),
    "magnetic": Mix(carried_chance=0.0, magnetic_chance=0.9, loose_chance=0.0),
}

Moment = tuple[Snapshot, Snapshot, Snapshot]


@record
class Recipe:
    """The settings of a split. Raises InputError: a value is out of its range."""

    split: Split  # training, validation or test
    seed: int = 0  # of all draws, 0 or more
    renderer: RendererName = "compositor"  # name of the renderer
    size_px: tuple[int, int] = (1920, 1080)  # width and height of the camera's picture, 64 or more
    scale: float = 1.0  # at which it is drawn, above 0 to 1: 0.5 gives half its width and height
    crop_px: int = 0  # side of the square parts cut out of it, 32 or more; 0 for whole pictures
    per_table: int = 4  # number of pictures of one table, 1 or more
    carriers: float = 0.0  # share of the figures that hold a ball of their own, 0..1
    strewn: float = 0.0  # share of them with a ball on the board beside them, 0..1 - `carriers`
    fallers: float = 0.0  # share of figures that lie, also near others, 0..1; 0 for a few isolated ones now and then
    image_format: Literal["jpg", "png"] = "jpg"  # of the pictures' files
    samples: int | None = None  # paths per pixel where they are traced; None for the tracer's own number
    variety: Variety | None = None  # how widely tables differ; None for wide where they are traced, else usual
    format: Literal["downfield.dataset"] = "downfield.dataset"
    version: Literal[2] = 2

    def __post_init__(self) -> None:
        check(self.seed >= 0, InputError, f"the seed can't be negative ({self.seed})")
        check(min(self.size_px) >= 64, InputError, f"a picture is at least 64 px wide and high, not {self.size_px}")
        check(0 < self.scale <= 1, InputError, f"the scale must be above 0 and at most 1, not {self.scale:g}")
        smallest = int(min(self.size_px) * self.scale)
        check(
            self.crop_px == 0 or 32 <= self.crop_px <= smallest,
            InputError,
            f"the crop must be 0 (whole pictures) or 32..{smallest} px, not {self.crop_px}",
        )
        check(0 <= self.carriers <= 1, InputError, f"the share of carriers must be 0..1, not {self.carriers:g}")
        check(
            0 <= self.strewn <= 1 - self.carriers,
            InputError,
            f"the share of strewn balls must be 0..1 and leave room for the carriers', not {self.strewn:g}",
        )
        check(0 <= self.fallers <= 1, InputError, f"the share of fallers must be 0..1, not {self.fallers:g}")
        check(self.per_table > 0, InputError, f"there must be at least 1 picture of a table, not {self.per_table}")


def table_pictures(recipe: Recipe, table: int, count: int) -> Iterator[tuple[Image, Sample]]:
    """Yield the first pictures of one table with their samples; the writer sets the samples' image paths.

    Args:
        table: number of the table, which is a function of this number, the recipe's seed and its split alone.
    """
    split = recipe.split
    table_seed = int(np.random.SeedSequence([SPLITS.index(split), recipe.seed, table]).generate_state(1)[0])
    ball: BallKind = "magnetic" if table % _MAGNET_EVERY == 0 else "foam"
    # Only the path tracer shows materials and rooms; the compositor draws them plainly.
    variety: Variety = recipe.variety or ("wide" if recipe.renderer == "traced" else "usual")
    players = draw_players(table_seed, variety=variety, split=split)
    appearance = draw_table(
        table_seed,
        players,
        variety=variety,
        split=split,
        size=recipe.size_px,
        ball=ball,
        carriers=recipe.carriers,
        strewn=recipe.strewn,
    )
    appearance = _scaled(appearance, recipe.scale)
    rng = np.random.default_rng([table_seed, 0xA3])
    is_play = bool(rng.random() < PLAYS)
    if variety == "wide" and is_play:
        appearance = without_obstacles(appearance)
    mix = dataclasses.replace(_MIXES[ball], fallers=recipe.fallers)
    if is_play:
        mix = dataclasses.replace(
            mix, fallers=0.0, fallen_chance=0.0, hand_chance=0.0, stick_chance=0.0, walking_chance=0.0
        )
    on_board = obstacles_on(appearance.field, appearance.clutter) if variety == "wide" else None
    arranger, step_ns = Arranger(appearance, players, rng, mix, on_board), round(1e9 / appearance.sensor.fps)
    if is_play:
        moments = _play(appearance.field, players, rng, count, step_ns, arranger.arrange(0, step_ns)[1])
    else:
        moments = [arranger.arrange((i + 1) * 1_000_000_000, step_ns) for i in range(count)]
    labeler = Labeler(appearance, players)
    renderer = open_renderer(recipe.renderer, appearance, players, samples=recipe.samples)
    for number, moment in enumerate(moments):
        frame = _taken(renderer, moment, recipe, np.random.default_rng([table_seed, number, 0xF0]))
        camera = as_calibrated(frame.camera, appearance.field, appearance.board.bow_mm)
        sample = Sample(
            index=table * recipe.per_table + number,
            image="",
            split=split,
            table=table,
            play=is_play,
            renderer=recipe.renderer,
            power=moment[1].power,
            calibration=Calibration(appearance.field, camera, "truth"),
            labels=labeler.label(moment[1], frame),
        )
        yield frame.image, sample


def crop_camera(camera: Camera, left_top_px: tuple[float, float], scale: float, size_px: tuple[int, int]) -> Camera:
    """Return a camera whose picture is a part of another's, enlarged or reduced.

    Args:
        left_top_px: outer corner of the part in the whole picture (the whole's own is -0.5, -0.5).
        scale: pixels of the part per pixel of the whole.
    """
    lens = camera.lens
    x, y = ((c - edge) * scale - 0.5 for c, edge in zip(lens.center_px, left_top_px, strict=True))
    focal = (lens.focal_px[0] * scale, lens.focal_px[1] * scale)
    return dataclasses.replace(
        camera, lens=dataclasses.replace(lens, size_px=size_px, focal_px=focal, center_px=(x, y))
    )


def _scaled(appearance: Appearance, scale: float) -> Appearance:
    """Return the appearance for a camera with fewer pixels: blur and movement in pixels shrink too."""
    if scale == 1:
        return appearance
    lens = appearance.camera.lens
    size = (round(lens.size_px[0] * scale), round(lens.size_px[1] * scale))
    sensor: Sensor = dataclasses.replace(
        appearance.sensor,
        blur_px=appearance.sensor.blur_px * scale,
        shake_px=appearance.sensor.shake_px * scale,
        buzz_px=appearance.sensor.buzz_px * scale,
        noise=appearance.sensor.noise * scale,  # shrinking averages the noise
    )
    camera = crop_camera(appearance.camera, (-0.5, -0.5), scale, size)
    return dataclasses.replace(appearance, camera=camera, sensor=sensor)


def _play(
    field: FieldModel, players: tuple[Player, ...], rng: np.random.Generator, count: int, step_ns: int, start: Snapshot
) -> list[Moment]:
    """Return instants of a play that starts from the figures' present places."""
    placements, traits = {}, {}
    for pose in start.figures:
        w, z = pose.rotation[0], pose.rotation[3]
        placements[pose.id] = Placement(*pose.position_mm[:2], float(np.degrees(2 * np.arctan2(z, w))))
        traits[pose.id] = Trait(
            speed_mm_s=float(rng.uniform(20, 110)),
            curl_deg_s=float(rng.normal(0, 12)),
            com_mm=float(rng.uniform(11, 16)),
        )
    world = World(players, placements, traits, field=field, seed=int(rng.integers(2**31)))
    if start.ball is not None and start.ball.carrier is not None:
        world.give_ball(start.ball.carrier)
    elif start.ball is not None:
        world.put_ball(start.ball.kind, *start.ball.position_mm[:2])
    world.power(True)
    moments = []
    for t_s in np.sort(rng.uniform(*_PLAY_S, count)) + 2e-9 * step_ns * np.arange(count):
        moment = []
        for lag in (-1, 0, 1):
            world.step_to(max(round(t_s * 1e9) + lag * step_ns, world.t_ns))
            moment.append(world.snapshot())
        moments.append((moment[0], moment[1], moment[2]))
    return moments


def _taken(renderer: Renderer, moment: Moment, recipe: Recipe, rng: np.random.Generator) -> RenderedFrame:
    nominal, side = renderer.appearance.camera, recipe.crop_px
    corner = _corner(moment[1], nominal, side, rng) if side else (0, 0)
    # The compositor draws a part of a picture by itself.
    is_part = side > 0 and recipe.renderer == "compositor"
    camera = crop_camera(nominal, (corner[0] - 0.5, corner[1] - 0.5), 1.0, (side, side)) if is_part else nominal
    effects = SensorEffects(renderer.appearance.sensor, camera.lens.size_px, int(rng.integers(2**31)))
    frame = expose(renderer, effects, camera, moment, 1)
    return _cut(frame, corner, side) if side and not is_part else frame


def _corner(snapshot: Snapshot, camera: Camera, side_px: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return the upper left pixel of a part of the picture around a figure, the ball or a hand: the fullest of some."""
    spots = [pose.position_mm for pose in snapshot.figures]
    rare = [hand.fingertip_mm for hand in snapshot.hands] + ([snapshot.ball.position_mm] if snapshot.ball else [])
    rare += [pose.position_mm for pose in snapshot.figures if abs(pose.rotation[1]) + abs(pose.rotation[2]) > 0.5]
    spots = rare if rare and rng.random() < 0.5 else spots
    figures_px = camera.to_pixels(np.array([pose.position_mm for pose in snapshot.figures]))
    spot_px = camera.to_pixels(np.array(spots[int(rng.integers(len(spots)))]))
    room = np.maximum(np.array(camera.lens.size_px) - side_px, 0)
    corners = spot_px - (0.5 + rng.uniform(-0.4, 0.4, (_CORNERS, 2))) * side_px
    corners = np.clip(np.nan_to_num(corners), 0, room).astype(int)
    inside = ((figures_px[None] > corners[:, None]) & (figures_px[None] < corners[:, None] + side_px)).all(axis=2)
    x, y = corners[int(inside.sum(axis=1).argmax())].tolist()
    return (x, y)


def _cut(frame: RenderedFrame, corner: tuple[int, int], side_px: int) -> RenderedFrame:
    x, y = corner
    camera = crop_camera(frame.camera, (x - 0.5, y - 0.5), 1.0, (side_px, side_px))
    tops = tuple(_moved(top, corner, side_px) for top in frame.base_tops)
    image = np.ascontiguousarray(frame.image[y : y + side_px, x : x + side_px])
    return RenderedFrame(frame.t_ns, camera, image, tops)


def _moved(top: BaseTop, corner: tuple[int, int], side_px: int) -> BaseTop:
    """Return a base top in a part of the picture; the area that is cut off still counts as visible."""
    corners = top.corners_px - corner
    a, b, c, d = (np.array(top.corners_visible) & ((corners >= -0.5) & (corners < side_px - 0.5)).all(axis=1)).tolist()
    return dataclasses.replace(top, corners_px=corners, corners_visible=(a, b, c, d))
