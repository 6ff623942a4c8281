"""Tables to trace for training, made in worker processes: scenes, cameras and windows, without pictures.

Nothing here needs torch or a device. The same draw of tables, arrangements and labels as for traced data sets serves
endlessly: table i is a function of the seed and i alone. Of each camera's view windows are planned: crops for the
detector, patches for the refiner, with their labels.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.core.scene import Player
from downfield.training.data.objects import INPUT_WIDTH_PX, Objects, draw_cut, moved, padded, parse_objects, with_room
from downfield.training.data.places import balls_in_patches, patch_labels, place_patches
from downfield.training.traced.development import sensor_row
from downfield.twin.randomization import tables
from downfield.twin.randomization.cameras import SIZES_PX, draw_view, draw_webcam
from downfield.twin.randomization.deck import Deck
from downfield.twin.render.renderer import RenderedFrame, base_tops
from downfield.twin.sets.arrange import Arranger, Mix, obstacles_on
from downfield.twin.sets.labels import LEAST_SHOWN, Labeler, Labels, yolo_lines
from downfield.twin.table.appearance import Appearance
from downfield.twin.table.snapshot import BallKind, Snapshot
from downfield.twin.table.solids import SolidPlacer, settle
from downfield.twin.tracing.scene import PrintTexture, SceneBuilder, TracedScene

_STEP_NS: Final = 33_333_333
_FPS: Final = 30.0

_CARRIERS: Final = 0.25  # share of the figures with a ball of their own in hands or arms
_STREWN: Final = 0.25  # share of them with a ball nearby
_NUMBERS: Final = 4  # yard numbers of a table that patches are cut about
_LYING: Final = 0.4  # share of the tables on which many figures lie


@dataclass(frozen=True, slots=True)
class TracedView:
    """The camera over one of a table's scenes."""

    camera: Camera
    objects: Objects  # in its picture, which is not drawn
    shown: Array  # visible share of figures' base tops and of balls and hands, shape (n,)
    distractors_px: Array  # places that may be taken for a ball or a figure, shape (k, 2)


@dataclass(frozen=True, slots=True)
class TracedTable:
    """One table, ready to trace: its print, scenes and cameras."""

    texture: PrintTexture
    scenes: tuple[TracedScene, ...]
    views: tuple[TracedView, ...]  # one of each scene


def draw_table(seed: int, number: int, scene_count: int) -> TracedTable:
    """Return a table of the training split; painting it takes longest, so it serves several scenes and windows."""
    table_seed = int(np.random.SeedSequence([seed, number, 0x7AB1E]).generate_state(1)[0])
    rng = np.random.default_rng([table_seed, 1])
    players = tables.draw_players(table_seed, variety="wide")
    ball: BallKind = "magnetic" if rng.random() < 0.4 else "foam"
    appearance = tables.draw_table(
        table_seed, players, variety="wide", size=max(SIZES_PX), ball=ball, carriers=_CARRIERS, strewn=_STREWN
    )
    texture = PrintTexture(appearance)
    builder, labeler = (
        SceneBuilder(appearance, players, texture),
        _ViewLabeler(appearance, players, np.random.default_rng([table_seed, 2])),
    )
    mix = _mix(rng, ball)
    arranger = Arranger(appearance, players, rng, mix, obstacles_on(appearance.field, appearance.clutter))
    scenes, views = [], []
    for scene in range(scene_count):
        snapshot = arranger.arrange(2 * _STEP_NS, _STEP_NS)[1]
        settled = settle(snapshot, appearance.field, appearance.board.bow_mm)
        scenes.append(builder.build(settled))
        deck = Deck("train", table_seed, 0x71E3, scene, 0)
        camera = draw_view(deck, appearance.field, appearance.board, deck.choice(SIZES_PX))
        views.append(labeler.label_view(snapshot, settled, camera))
    return TracedTable(texture, tuple(scenes), tuple(views))


def _mix(rng: np.random.Generator, ball: BallKind) -> Mix:
    foam = ball == "foam"
    return Mix(
        fallers=float(rng.uniform(0.08, 0.5)) if rng.random() < _LYING else 0.0,
        carried_chance=0.55 if foam else 0.0,
        magnetic_chance=0.0 if foam else 0.9,
        loose_chance=0.4 if foam else 0.0,
        hand_chance=0.5,
        piled=True,
    )


class _ViewLabeler:
    """Labels what cameras see of one table."""

    def __init__(self, appearance: Appearance, players: tuple[Player, ...], rng: np.random.Generator) -> None:
        self._players, self._labeler, self._placer = players, Labeler(appearance, players), SolidPlacer(appearance)
        # Things no larger than a base, and some of the yard numbers.
        small = [solid.position_mm for solid in appearance.clutter if max(solid.size_mm) < 40]
        field, numbers = appearance.field, appearance.field.numbers()
        chosen = rng.permutation(len(numbers))[:_NUMBERS].tolist()
        at_yd = [(numbers[k].x_yd, numbers[k].y_yd, 0.0) for k in chosen]
        printed = np.array(at_yd).reshape(-1, 3) * (field.mm_per_yd_x, field.mm_per_yd_y, 1.0)
        self._distractors = np.concatenate([np.array(small).reshape(-1, 3), printed])

    def label_view(self, snapshot: Snapshot, settled: Snapshot, camera: Camera) -> TracedView:
        """Return what a camera sees of a scene."""
        tops = base_tops(self._players, settled, self._placer.place(settled), camera)
        frame = RenderedFrame(snapshot.t_ns, camera, np.zeros((0, 0, 3), dtype=np.uint8), tops)
        labels = self._labeler.label(snapshot, frame)
        size = camera.lens.size_px
        objects = parse_objects("\n".join(yolo_lines(labels, size)), size)
        distractors = [self._distractors, *(np.array([(*stick.start_mm[:2], 0.0)]) for stick in snapshot.sticks)]
        distractors_px = camera.to_pixels(np.concatenate(distractors))
        inside = (
            np.isfinite(distractors_px).all(axis=1)
            & (distractors_px > -0.5).all(axis=1)
            & (distractors_px < size).all(axis=1)
        )
        return TracedView(camera, objects, _shown(labels), distractors_px[inside])


def _shown(labels: Labels) -> Array:
    """Return the visible shares of the objects that `yolo_lines` writes, in its order."""
    figures = [figure.visible for figure in labels.figures if figure.shown >= LEAST_SHOWN]
    return np.array(figures + [thing.shown for thing in labels.things if thing.shown >= LEAST_SHOWN])


FOOT_PX: Final = 1.5
"""Side of the square of a frame from which a pixel of a patch gathers light: a pixel's own, cut bilinearly."""


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """Windows of one table, all of one size."""

    table: TracedTable  # with its scenes and views
    views: NDArray[np.int64]  # number of the view of each window, shape (n,)
    inverses: Array  # affine matrices from a window's pixels to its frame's, shape (n, 2, 3)
    feet_px: Array  # see `downfield.twin.tracing.tracer.Windows`
    sensors: NDArray[np.float32]  # rows of `development.FIELDS` for each webcam and window, float32 (k, n, columns)
    truth: tuple[NDArray[np.float32], ...]  # arrays of the samples in their order, without pictures; see `samples`


def plan_crops(table: TracedTable, per_view: int, rng: np.random.Generator, *, webcams: int = 1) -> WindowPlan:
    """Return crops at the detector's scale; truth: kinds, points, boxes, shown, in rows of as many objects."""
    inverses, views, found = [], [], []
    for number, view in enumerate(table.views):
        scale = INPUT_WIDTH_PX / view.camera.lens.size_px[0]
        objects = with_room(_scaled(view.objects, scale))
        height, shift = round(scale * view.camera.lens.size_px[1]), 0.5 * scale - 0.5
        scaling = np.array([[scale, 0, shift], [0, scale, shift], [0, 0, 1.0]])  # the same on homogeneous pixels
        for _ in range(per_view):
            matrix, mirrored = draw_cut(objects, (INPUT_WIDTH_PX, height), rng)
            inside, kept = moved(objects, matrix, mirrored=mirrored)
            found.append((inside, view.shown[kept]))
            inverses.append(_inverse(matrix @ scaling))
            views.append(number)
    stacked = np.array(inverses)
    feet = np.linalg.norm(stacked[:, :, 0], axis=1)
    return _planned(table, np.array(views), stacked, feet, padded(found), rng, webcams)


def plan_patches(table: TracedTable, rng: np.random.Generator, *, webcams: int = 1) -> WindowPlan:
    """Return patches at guessed figures and empty places; truth: points, flags, flip, fallen, figure, ball."""
    matrices, views, truths = [], [], []
    for number, view in enumerate(table.views):
        places = place_patches(view.objects, view.camera.lens.size_px, rng, distractors=view.distractors_px)
        if not len(places.transforms):
            continue
        matrices.append(places.transforms)
        views.append(np.full(len(places.transforms), number))
        balls = balls_in_patches(view.objects, view.shown, places.transforms)
        truths.append((*patch_labels(places), balls))
    if not matrices:  # no camera shows a figure
        return WindowPlan(table, np.zeros(0, np.int64), np.zeros((0, 2, 3)), np.zeros(0), np.zeros((1, 0, 0), "f4"), ())
    inverses = np.array([_inverse(matrix) for matrix in np.concatenate(matrices)])
    truth = tuple(np.concatenate(parts).astype(np.float32) for parts in zip(*truths, strict=True))
    feet = np.full(len(inverses), FOOT_PX)
    return _planned(table, np.concatenate(views), inverses, feet, truth, rng, webcams)


def _planned(
    table: TracedTable,
    views: NDArray[np.int64],
    inverses: Array,
    feet_px: Array,
    truth: tuple[NDArray[np.float32], ...],
    rng: np.random.Generator,
    webcams: int,
) -> WindowPlan:
    """Return a plan whose windows are seen by so many cameras of their own each."""
    sizes = [table.views[number].camera.lens.size_px for number in views.tolist()]
    rows = []
    for _ in range(webcams):
        deck = Deck("train", int(rng.integers(2**31)), 0x5E50)
        sensors = [draw_webcam(deck, _FPS, size) for size in sizes]
        phases = [float(rng.uniform(0, 2 * np.pi)) for _ in sizes]
        rows.append(np.stack([sensor_row(*each) for each in zip(sensors, sizes, phases, strict=True)]))
    return WindowPlan(table, views, inverses, feet_px, np.stack(rows), truth)


def _scaled(objects: Objects, scale: float) -> Objects:
    """Return objects in the pixels of a picture scaled about its outer corner."""
    points = objects.points.copy()
    points[..., :2] = (points[..., :2] + 0.5) * scale - 0.5
    return dataclasses.replace(objects, boxes=(objects.boxes + 0.5) * scale - 0.5, points=points)


def _inverse(matrix: Array) -> Array:
    """Return the inverse of an affine matrix, shape (2, 3)."""
    back = np.linalg.inv(matrix[:, :2])
    return np.column_stack([back, -back @ matrix[:, 2]])
