"""Tables to trace for training, made in worker processes: scenes, cameras, and what each camera sees, without pictures.

Nothing here needs torch or a device. The same draw of tables, arrangements and labels as for traced data sets serves
endlessly: table i is a function of the seed and i alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.core.scene import Player
from downfield.training.objects import FIGURE_KINDS, Objects, parse_objects
from downfield.twin.randomization import tables
from downfield.twin.randomization.cameras import SIZES_PX, draw_view, draw_webcam
from downfield.twin.randomization.deck import Deck
from downfield.twin.render.renderer import RenderedFrame, base_tops
from downfield.twin.sets.arrange import Arranger, Mix, obstacles_on
from downfield.twin.sets.labels import Labeler, Labels
from downfield.twin.sets.sample import LEAST_SHOWN, yolo_lines
from downfield.twin.table.appearance import Appearance, Sensor, Solid
from downfield.twin.table.snapshot import Snapshot
from downfield.twin.table.solids import SolidPlacer
from downfield.twin.table.surface import settle
from downfield.twin.tracing.scene import PrintTexture, SceneBuilder, TracedScene

_STEP_NS: Final = 33_333_333
_FPS: Final = 30.0
_SURE_BALL: Final = 0.2  # visible share of a ball from which its middle counts as seen


@dataclass(frozen=True, slots=True)
class TableRecipe:
    """What is made of one table: painting it takes longest, so it serves several scenes, cameras and windows.

    Attributes:
        scenes: arrangements of it.
        views: cameras over each.
        carriers: share of the figures with a ball of their own in hands or arms.
        strewn: share of them with a ball nearby.
        lying: share of the tables on which many figures lie.

    """

    scenes: int = 6
    views: int = 2
    carriers: float = 0.12
    strewn: float = 0.08
    lying: float = 0.3


@dataclass(frozen=True, slots=True)
class TracedView:
    """A camera over one of a table's scenes.

    Attributes:
        scene: number of the scene.
        camera: lens and pose.
        objects: in its picture, which is not drawn.
        shown: visible share of figures' base tops and of balls and hands, shape (n,).
        lures_px: places that may be taken for a ball or a figure, shape (k, 2).

    """

    scene: int
    camera: Camera
    objects: Objects
    shown: Array
    lures_px: Array


@dataclass(frozen=True, slots=True)
class TracedTable:
    """One table, ready to trace: its print, scenes and cameras."""

    texture: PrintTexture
    scenes: tuple[TracedScene, ...]
    views: tuple[TracedView, ...]


def draw_table(seed: int, number: int, recipe: TableRecipe) -> TracedTable:
    """Return a table of the training split.

    Args:
        seed: of all tables.
        number: of this one.
        recipe: what is made of it.

    """
    table_seed = int(np.random.SeedSequence([seed, number, 0x7AB1E]).generate_state(1)[0])
    rng = np.random.default_rng([table_seed, 1])
    players = tables.draw_players(table_seed, variety="wide")
    ball: Literal["foam", "magnetic"] = "magnetic" if rng.random() < 0.4 else "foam"
    appearance = tables.draw_table(
        table_seed,
        players,
        variety="wide",
        size=max(SIZES_PX),
        ball=ball,
        carriers=recipe.carriers,
        strewn=recipe.strewn,
    )
    texture = PrintTexture(appearance)
    builder, seen = SceneBuilder(appearance, players, texture), _Witness(appearance, players)
    mix = _mix(rng, ball, recipe)
    arranger = Arranger(appearance, players, rng, mix, obstacles_on(appearance.field, appearance.clutter))
    scenes, views = [], []
    for scene in range(recipe.scenes):
        snapshot = arranger.arrange(2 * _STEP_NS, _STEP_NS)[1]
        settled = settle(snapshot, appearance.field, appearance.board.bow_mm)
        scenes.append(builder.build(settled))
        for view in range(recipe.views):
            deck = Deck("train", table_seed, 0x71E3, scene, view)
            camera = draw_view(deck, appearance.field, appearance.board, deck.choice(SIZES_PX))
            views.append(seen.look(scene, snapshot, settled, camera))
    return TracedTable(texture, tuple(scenes), tuple(views))


def draw_sensors(rng: np.random.Generator, cameras: list[Camera]) -> list[Sensor]:
    """Return a webcam for each camera."""
    deck = Deck("train", int(rng.integers(2**31)), 0x5E50)
    return [draw_webcam(deck, _FPS, camera.lens.size_px) for camera in cameras]


def _mix(rng: np.random.Generator, ball: Literal["foam", "magnetic"], recipe: TableRecipe) -> Mix:
    foam = ball == "foam"
    return Mix(
        fallers=float(rng.uniform(0.08, 0.5)) if rng.random() < recipe.lying else 0.0,
        carried_chance=0.55 if foam else 0.0,
        magnetic_chance=0.0 if foam else 0.9,
        loose_chance=0.4 if foam else 0.0,
    )


class _Witness:
    """Tells what cameras see of one table."""

    def __init__(self, appearance: Appearance, players: tuple[Player, ...]) -> None:
        self._players, self._labeler, self._placer = players, Labeler(appearance, players), SolidPlacer(appearance)
        self._lures = np.array(list(_lures(appearance.clutter))).reshape(-1, 3)

    def look(self, scene: int, snapshot: Snapshot, settled: Snapshot, camera: Camera) -> TracedView:
        """Return what a camera sees of a scene."""
        tops = base_tops(self._players, settled, self._placer.place(settled), camera)
        frame = RenderedFrame(snapshot.t_ns, camera, np.zeros((0, 0, 3), dtype=np.uint8), tops)
        labels = self._labeler.label(snapshot, frame)
        size = camera.lens.size_px
        objects = parse_objects("\n".join(yolo_lines(labels, size)), size)
        shown = _shown(labels)
        hidden = ~np.isin(objects.kinds, FIGURE_KINDS) & (shown < _SURE_BALL) & (objects.points[:, 4, 2] > 0)
        objects.points[hidden, 4, 2] = 1
        lures = [self._lures, *(np.array([(*stick.start_mm[:2], 0.0)]) for stick in snapshot.sticks)]
        lures_px = camera.to_pixels(np.concatenate(lures))
        inside = np.isfinite(lures_px).all(axis=1) & (lures_px > -0.5).all(axis=1) & (lures_px < size).all(axis=1)
        return TracedView(scene, camera, objects, shown, lures_px[inside])


def _shown(labels: Labels) -> Array:
    """Return the visible shares of the objects that `yolo_lines` writes, in its order."""
    figures = [figure.visible for figure in labels.figures if figure.shown >= LEAST_SHOWN]
    return np.array(figures + [thing.shown for thing in labels.things if thing.shown >= LEAST_SHOWN])


def _lures(clutter: tuple[Solid, ...]) -> Iterator[NDArray[np.float64]]:
    """Yield the places of things no larger than a base."""
    for solid in clutter:
        if max(solid.size_mm) < 40:
            yield np.array(solid.position_mm)
