"""A table at one instant as the tracer's arrays: print, solids in groups, the grid of groups, lamps, materials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.core.scene import Player
from downfield.twin.table.appearance import PATTERNS, TABLE_TOPS, Appearance, Material, Solid, Surroundings
from downfield.twin.table.board_print import paint
from downfield.twin.table.snapshot import Snapshot
from downfield.twin.table.solids import hand_solids, stick_solid
from downfield.twin.tracing.kernels import layout as at

_FINER: Final = 1.3  # pixels of the print per pixel of the picture: more would alias, fewer would blur
_CELL_MM: Final = 22.0  # side of the grid's cells: about a base's width
_ROOM_MM: Final = 320.0  # solids farther than this from the board are not traced
_TABLE_BELOW_BOW_MM: Final = 2.0  # the least distance from a sagging board's lowest point to the table
_ROUGH: Final = 0.5  # roughness of painted plastic
_ROUGH_PARTS: Final = {"base": 0.35, "helmet": 0.28}  # roughness of molded bases and of helmets
_ROUGH_BOARD: Final = 0.8  # roughness of a matt board; a glossy one is smoother by `_SMOOTHER_BY_GLOSS`
_SMOOTHER_BY_GLOSS: Final = 0.6  # reduction of the roughness by a gloss of 1
_THING_MM: Final = 60.0  # solids of clutter listed one after another are one thing up to this far from its first
_REFLECTANCE: Final = 0.04  # reflectance of plastic and paint at normal incidence
_CLEAR_IOR: Final = 1.49  # refractive index of clear bases: acrylic
_BEVEL_MM: Final = 0.4  # width of the shaded rim of a base
_DIRECTIONS: Final = 64  # in which the ambient light is averaged


class PrintTexture:
    """The print of one appearance.

    Attributes:
        raster: both sizes, uint8, flat, blue green red.
        px_per_mm: of the larger.
    """

    def __init__(self, appearance: Appearance) -> None:
        camera = appearance.camera
        self.px_per_mm = _FINER * max(camera.lens.focal_px) / max(float(camera.position_mm[2]), 1.0)
        painted = paint(appearance.field, appearance.board, self.px_per_mm)
        rows, columns = (side // 2 * 2 for side in painted.image.shape[:2])
        image = np.ascontiguousarray(painted.image[:rows, :columns])
        half = cv2.resize(image, (columns // 2, rows // 2), interpolation=cv2.INTER_AREA)
        self._shape, self._origin_mm = (rows, columns), painted.origin_mm
        self.raster: NDArray[np.uint8] = np.concatenate([image.ravel(), np.asarray(half, dtype=np.uint8).ravel()])

    def describe(self, head: Array, counts: NDArray[np.int64]) -> None:
        """Write where the print lies, and how large it is, into a scene's floats and integers."""
        rows, columns = self._shape
        head[at.PX_PER_MM], head[at.PX_PER_MM + 1] = self.px_per_mm, self.px_per_mm / 2
        head[at.RASTER_X], head[at.RASTER_Y] = self._origin_mm
        sizes = (0, rows, columns, rows * columns * 3, rows // 2, columns // 2)
        counts[at.I_RASTER : at.I_RASTER + 2 * at.RASTER_SIZE] = sizes


@dataclass(frozen=True, slots=True)
class TracedScene:
    """One table at one instant, as `layout` describes."""

    head: NDArray[np.float32]  # floats of the scene, float32 (HEAD_COLUMNS,)
    counts: NDArray[np.int64]  # integers of the scene, int64 (COUNT_COLUMNS,)
    solids: NDArray[np.float32]  # float32 (n, SOLID_COLUMNS), board frame
    groups: NDArray[np.float32]  # float32 (m, 4)
    members: NDArray[np.int32]  # first and last row of each group's solids, int32 (m, 2)
    cells: NDArray[np.int32]  # where each cell's list begins in `lists`, int32 (cells + 1,)
    lists: NDArray[np.int16]  # groups in each cell, int16


class SceneBuilder:
    """Turns snapshots of one appearance into scenes. `players`: the roster, for the bases' corners."""

    def __init__(self, appearance: Appearance, players: Sequence[Player], texture: PrintTexture) -> None:
        self._appearance = appearance
        self._figures = [_rows(figure.solids) for figure in appearance.figures]
        for rows, player in zip(self._figures, players, strict=True):
            rows[rows[:, at.IS_BASE] > 0, at.CORNER] = player.base.corner_mm
        self._ball = _rows(appearance.ball.solids)
        plain = Surroundings(board_roughness=_ROUGH_BOARD - _SMOOTHER_BY_GLOSS * appearance.board.gloss)
        around = appearance.surroundings or plain
        table_z = min(around.table_z_mm, -appearance.board.bow_mm - _TABLE_BELOW_BOW_MM)
        self._still = [*(row[None] for row in _rail(appearance, table_z)), *_groups_of(_rows(appearance.clutter))]
        self._head, self._counts = _head(appearance, around, table_z), np.zeros(at.COUNT_COLUMNS, dtype=np.int64)
        texture.describe(self._head, self._counts)
        self._counts[at.I_LAMPS] = min(len(appearance.lamps), at.MOST_LAMPS)

    def build(self, snapshot: Snapshot) -> TracedScene:
        """Return the scene of a snapshot whose figures already rest on the bowed surface."""
        groups = [
            _placed(rows, pose.rotation, pose.position_mm)
            for rows, pose in zip(self._figures, snapshot.figures, strict=True)
        ]
        if snapshot.ball is not None and len(self._ball):
            groups.append(_placed(self._ball, snapshot.ball.rotation, snapshot.ball.position_mm))
        groups += [_rows(hand_solids(hand, self._appearance.skin, self._appearance.sleeve)) for hand in snapshot.hands]
        groups += [_rows([stick_solid(stick)]) for stick in snapshot.sticks]
        return self._assembled([rows for rows in (*groups, *self._still) if len(rows)])

    def _assembled(self, parts: list[Array]) -> TracedScene:
        parts = parts or [np.zeros((1, at.SOLID_COLUMNS))]  # an empty table: one solid without extent
        if len(parts) > at.MOST_GROUPS:  # clutter beside the board comes last: one group for the rest of it
            parts = [*parts[: at.MOST_GROUPS - 1], np.concatenate(parts[at.MOST_GROUPS - 1 :])]
        sizes = [len(rows) for rows in parts]
        starts = np.cumsum([0, *sizes])
        solids = np.concatenate(parts)
        solids[:, at.REACH] = _reach_mm(solids)
        center, extent = solids[:, at.CENTER : at.CENTER + 3], _extent_mm(solids)
        low = np.minimum.reduceat(center - extent, starts[:-1])
        high = np.maximum.reduceat(center + extent, starts[:-1])
        middle = (low + high) / 2
        away = np.linalg.norm(center - np.repeat(middle, sizes, axis=0), axis=1) + solids[:, at.REACH]
        radius = np.minimum(np.maximum.reduceat(away, starts[:-1]), np.linalg.norm(high - low, axis=1) / 2 + 1e-3)
        head, counts = self._head.copy(), self._counts.copy()
        cells, lists = _grid(low, high, head, counts)
        return TracedScene(
            head.astype(np.float32),
            counts,
            solids.astype(np.float32),
            np.column_stack([middle, radius]).astype(np.float32),
            np.stack([starts[:-1], starts[1:]], axis=1).astype(np.int32),
            cells,
            lists,
        )


def view_row(camera: Camera) -> NDArray[np.float32]:
    """Return a camera as a row of views, float32 (VIEW_COLUMNS,)."""
    row = np.zeros(at.VIEW_COLUMNS, dtype=np.float32)
    lens = camera.lens
    row[at.V_TURN : at.V_TURN + 9] = camera.board_to_camera.ravel()
    row[at.V_EYE : at.V_EYE + 3] = camera.position_mm
    row[at.V_FOCAL : at.V_FOCAL + 2], row[at.V_CENTER : at.V_CENTER + 2] = lens.focal_px, lens.center_px
    row[at.V_DISTORTION : at.V_DISTORTION + 5], row[at.V_SIZE : at.V_SIZE + 2] = lens.distortion, lens.size_px
    return row


def to_light(color: Any) -> Array:
    """Return display values, 0..1, as linear light: sRGB's curve to a percent, as in the kernels."""
    c = np.asarray(color, dtype=np.float64)
    light: Array = c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878)
    return light


def _rows(solids: Sequence[Solid]) -> Array:
    """Return solids as rows, in their own frame; shape (n, SOLID_COLUMNS)."""
    out = np.zeros((len(solids), at.SOLID_COLUMNS))
    if not len(solids):
        return out
    out[:, at.KIND] = [at.KINDS[solid.kind] for solid in solids]
    out[:, at.SIZE : at.SIZE + 3] = [solid.size_mm for solid in solids]
    out[:, at.CENTER : at.CENTER + 3] = [solid.position_mm for solid in solids]
    turns = Rotation.from_quat([solid.rotation for solid in solids], scalar_first=True).as_matrix()
    out[:, at.TURN : at.TURN + 9] = turns.reshape(-1, 9)
    out[:, at.COLOR : at.COLOR + 3] = to_light([solid.color for solid in solids])
    out[:, at.OPACITY] = [solid.opacity for solid in solids]
    out[:, at.ROUGH] = [_ROUGH_PARTS.get(solid.part, _ROUGH) for solid in solids]
    out[:, at.F0] = _REFLECTANCE
    out[:, at.IS_BASE] = [solid.part == "base" for solid in solids]
    out[:, at.BEVEL] = _BEVEL_MM * out[:, at.IS_BASE]
    out[:, at.IOR] = np.where(out[:, at.OPACITY] < 1, _CLEAR_IOR, 1.0)
    for row, solid in zip(out, solids, strict=True):
        if solid.material is not None:
            _cover(row, solid.material)
    return out


def _cover(row: Array, material: Material) -> None:
    """Write a material into a solid's row; what it leaves open stays as it is."""
    row[at.F0], row[at.CORNER] = material.reflectance, material.corner_mm
    for column, value in ((at.ROUGH, material.roughness), (at.BEVEL, material.bevel_mm)):
        if value is not None:
            row[column] = value
    if material.refraction is not None and row[at.OPACITY] < 1:
        row[at.IOR] = material.refraction
    row[at.PATTERN], row[at.SECOND : at.SECOND + 3] = PATTERNS.index(material.pattern), to_light(material.second)
    row[at.VALUES : at.VALUES + 4] = material.values


def _placed(rows: Array, rotation: Sequence[float], position_mm: Sequence[float]) -> Array:
    out, turn = rows.copy(), Rotation.from_quat(rotation, scalar_first=True).as_matrix()
    out[:, at.CENTER : at.CENTER + 3] = rows[:, at.CENTER : at.CENTER + 3] @ turn.T + np.asarray(position_mm)
    out[:, at.TURN : at.TURN + 9] = (turn @ rows[:, at.TURN : at.TURN + 9].reshape(-1, 3, 3)).reshape(-1, 9)
    return out


def _reach_mm(rows: Array) -> Array:
    """Return the radii of spheres around solids, mm, shape (n,)."""
    a, b, c = rows[:, at.SIZE], rows[:, at.SIZE + 1], rows[:, at.SIZE + 2]
    kinds = [rows[:, at.KIND] == kind for kind in (at.BOX, at.ELLIPSOID, at.CAPSULE)]
    radii = [np.sqrt(a * a + b * b + c * c), np.maximum(np.maximum(a, b), c), a + b]
    reach: Array = np.select(kinds, radii, np.hypot(a, b)) + 1e-3
    return reach


def _extent_mm(rows: Array) -> Array:
    """Return the extents of placed solids from their centers along x, y and z, mm, shape (n, 3)."""
    turns = rows[:, at.TURN : at.TURN + 9].reshape(-1, 3, 3)
    size = rows[:, at.SIZE : at.SIZE + 3]
    a, b, axis = size[:, :1], size[:, 1:2], np.abs(turns[:, :, 2])
    box = (np.abs(turns) @ size[:, :, None])[:, :, 0]
    ellipsoid = np.sqrt((turns**2) @ (size**2)[:, :, None])[:, :, 0]
    cylinder = axis * b + a * np.sqrt(np.maximum(1 - axis**2, 0))
    kind = rows[:, at.KIND, None]
    extent: Array = np.select(
        [kind == at.BOX, kind == at.ELLIPSOID, kind == at.CAPSULE], [box, ellipsoid, axis * b + a], cylinder
    )
    return extent


def _rail(appearance: Appearance, table_z: float) -> Array:
    """Return the rail's four sides, down to the table; none when it has no height."""
    height, width = appearance.board.rail_mm
    if height <= 0:
        return np.zeros((0, at.SOLID_COLUMNS))
    x_low, y_low, x_high, y_high = appearance.field.board_mm
    half, z = (height - table_z) / 2, (height + table_z) / 2
    long, short = (x_high - x_low) / 2 + width, (y_high - y_low) / 2
    x, y = (x_low + x_high) / 2, (y_low + y_high) / 2
    sides = (
        *(((long, width / 2, half), (x, edge, z)) for edge in (y_low - width / 2, y_high + width / 2)),
        *(((width / 2, short, half), (edge, y, z)) for edge in (x_low - width / 2, x_high + width / 2)),
    )
    return _rows([Solid("box", size, place, color=appearance.board.rail, part="other") for size, place in sides])


def _groups_of(rows: Array) -> list[Array]:
    """Return rows of clutter as things: consecutive ones near the first of them."""
    if not len(rows):
        return []
    starts, first = [], None
    for number, place in enumerate(rows[:, at.CENTER : at.CENTER + 3]):
        if first is None or np.linalg.norm(place - first) > _THING_MM:
            starts.append(number)
            first = place
    return np.split(rows, starts[1:])


def _head(appearance: Appearance, around: Surroundings, table_z: float) -> Array:
    """Return the scene's floats that do not depend on the snapshot."""
    head, board = np.zeros(at.HEAD_COLUMNS), appearance.board
    head[at.X_LOW : at.Y_HIGH + 1], head[at.BOW], head[at.TABLE_Z] = appearance.field.board_mm, board.bow_mm, table_z
    head[at.TABLE_COLOR : at.TABLE_COLOR + 3], head[at.GRAIN] = to_light(appearance.table), around.grain
    head[at.TABLE_ROUGH], head[at.TABLE_F0] = around.table_roughness, _REFLECTANCE
    head[at.TABLE_TOP] = TABLE_TOPS.index(around.table_top)
    head[at.BOARD_ROUGH], head[at.BOARD_F0] = around.board_roughness, around.board_reflectance
    _light_sky(head, around, appearance.ambient)
    middle = np.array([appearance.field.length_mm / 2, appearance.field.width_mm / 2, 0.0])
    lamps = sorted(appearance.lamps, key=lambda lamp: -lamp.strength)[: at.MOST_LAMPS]
    picks = np.cumsum([lamp.strength for lamp in lamps]) / sum(lamp.strength for lamp in lamps)
    for number, (lamp, pick) in enumerate(zip(lamps, picks, strict=True)):
        toward = middle - np.array(lamp.position_mm)
        distance = float(np.linalg.norm(toward))
        u = np.cross(toward / distance, [0.0, 0.0, 1.0])
        u = u / np.linalg.norm(u) if np.linalg.norm(u) > 1e-3 else np.array([1.0, 0.0, 0.0])
        v = np.cross(toward / distance, u)
        # A level surface at the middle gets the lamp's strength: cosine over squared distance, undone.
        bright = lamp.strength * distance**3 / max(lamp.position_mm[2], 1.0)
        row = head[at.LAMPS + number * at.LAMP_SIZE : at.LAMPS + (number + 1) * at.LAMP_SIZE]
        row[at.LAMP_PLACE : at.LAMP_PLACE + 3], row[at.LAMP_PICK] = lamp.position_mm, pick
        wide, tall = lamp.half_mm or (lamp.radius_mm, lamp.radius_mm)
        row[at.LAMP_U : at.LAMP_U + 3], row[at.LAMP_V : at.LAMP_V + 3] = u * wide, v * tall
        row[at.LAMP_ROUND] = lamp.half_mm is None
        row[at.LAMP_COLOR : at.LAMP_COLOR + 3] = bright * np.asarray(lamp.color)
    return head


def _light_sky(head: Array, around: Surroundings, ambient: float) -> None:
    """Write the ambient light: a level surface gets `ambient` of it, however it is spread."""
    share, turn = (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS, 2 * np.pi * ((np.arange(_DIRECTIONS) * 0.618034) % 1)
    aside = np.sqrt(share)
    above = np.stack([aside * np.cos(turn), aside * np.sin(turn), np.sqrt(1 - share)], axis=1)
    mean = np.mean(np.asarray(around.sky) * (1 + around.sky_rise * above[:, 2:]), axis=0)
    lobes = head[at.LOBES : at.LOBES + at.MOST_LOBES * at.LOBE_SIZE].reshape(at.MOST_LOBES, at.LOBE_SIZE)
    for row, lobe in zip(lobes, around.lobes, strict=False):
        row[at.LOBE_TOWARD : at.LOBE_TOWARD + 3], row[at.LOBE_POWER] = lobe.toward, lobe.power
        mean = mean + np.mean(np.clip(above @ lobe.toward, 0, None) ** lobe.power) * np.asarray(lobe.color)
    scale = ambient / float(mean.mean())
    head[at.SKY : at.SKY + 3], head[at.SKY_RISE] = scale * np.asarray(around.sky), around.sky_rise
    for row, lobe in zip(lobes, around.lobes, strict=False):
        row[at.LOBE_COLOR : at.LOBE_COLOR + 3] = scale * np.asarray(lobe.color)


def _grid(
    low: Array, high: Array, head: Array, counts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Return the groups in each cell of a grid over the board; its measures are written into head and counts."""
    x_low, y_low, x_high, y_high = head[at.X_LOW : at.Y_HIGH + 1]
    left, down = max(low[:, 0].min(), x_low - _ROOM_MM), max(low[:, 1].min(), y_low - _ROOM_MM)
    right, up = min(high[:, 0].max(), x_high + _ROOM_MM), min(high[:, 1].max(), y_high + _ROOM_MM)
    nx, ny = (max(int(np.ceil(span / _CELL_MM)), 1) for span in (right - left, up - down))
    spans = np.floor((np.stack([low[:, :2], high[:, :2]], axis=1) - (left, down)) / _CELL_MM)
    corners = np.clip(spans, 0, (nx - 1, ny - 1)).astype(int)
    inside: list[list[int]] = [[] for _ in range(nx * ny)]
    for group, ((first, bottom), (last, top)) in enumerate(corners.tolist()):
        for row in range(bottom, top + 1):
            for column in range(first, last + 1):
                inside[row * nx + column].append(group)
    head[at.TOP_Z], head[at.CELL] = high[:, 2].max() + 0.01, _CELL_MM
    head[at.GRID_X], head[at.GRID_Y] = left, down
    counts[at.I_NX], counts[at.I_NY] = nx, ny
    cells = np.cumsum([0, *map(len, inside)]).astype(np.int32)
    return cells, np.array([group for cell in inside for group in cell] or [0], dtype=np.int16)
