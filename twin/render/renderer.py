"""The interface of the renderers: from a snapshot and a camera to a picture and the visible part of every base.

A renderer draws the ideal picture: exact geometry through the whole lens, one instant, no noise.
`twin.film.sensor_effects` adds the effects of a real camera; `twin.film.film` films over time.

What is visible of a base's top is the same for every renderer: `base_tops`. A ray from the camera to a point of a top
runs wholly on the camera's side of the top's plane, so exactly the solids on that side and in front of the top occlude
it: solids are cut at the plane and their outlines taken away from the top.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.scene import Player
from downfield.twin.table.appearance import Appearance
from downfield.twin.table.snapshot import Snapshot
from downfield.twin.table.solids import PlacedSolids, SolidPlacer, figure_turns, settle

_FINE = 4  # samples per pixel along each side
_SHIFT = 4  # fractional bits of cv2's polygon corners
_CLEAR_MM = 0.05  # solids that rise less than this over a top do not occlude it
_INSET = 0.06  # a corner is sampled at this share of the way to the top's center


@dataclass(frozen=True, slots=True)
class BaseTop:
    """The top of one base in a picture."""

    id: str  # roster id
    corners_px: Array  # the sharp corners in the order of a footprint, shape (4, 2)
    corners_visible: tuple[bool, bool, bool, bool]  # whether each of them is in the picture and not occluded
    visible: float  # share of the top's area that is seen, 0..1; 0 when it faces away


@dataclass(frozen=True, slots=True)
class RenderedFrame:
    """One picture with its truth."""

    t_ns: int  # mid exposure
    camera: Camera  # lens and pose at that instant, shake included
    image: Image  # uint8 blue green red, shape (height, width, 3)
    base_tops: tuple[BaseTop, ...]  # one per figure, in roster order


class Renderer(Protocol):
    """Draws pictures of one appearance."""

    @property
    def appearance(self) -> Appearance:
        """The appearance that it draws."""
        ...

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        """Return the ideal picture of one instant. `camera`: lens and pose; the same lens size as the appearance's."""
        ...


class TableRenderer(ABC):
    """The part that all renderers share: what a picture shows, and what is visible of every base.

    Args:
        players: the roster, in the appearance's order, for the bases' sizes.
    """

    def __init__(self, appearance: Appearance, players: Sequence[Player]) -> None:
        self.appearance, self._players = appearance, tuple(players)
        self._placer = SolidPlacer(appearance)

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        """Return the ideal picture of one instant, with the visible part of every base."""
        settled = settle(snapshot, self.appearance.field, self.appearance.board.bow_mm)
        placed = self._placer.place(settled)
        image = self._draw(settled, placed, camera, t_ns)
        return RenderedFrame(t_ns, camera, image, base_tops(self._players, settled, placed, camera))

    @abstractmethod
    def _draw(self, snapshot: Snapshot, placed: PlacedSolids, camera: Camera, t_ns: int) -> Image:
        """Return the ideal picture of a settled snapshot, uint8 blue green red, shape (height, width, 3)."""


def base_tops(
    players: Sequence[Player], snapshot: Snapshot, placed: PlacedSolids, camera: Camera
) -> tuple[BaseTop, ...]:
    """Return the visible part of every base top, in roster order.

    Args:
        snapshot: of the table, settled onto the surface by `twin.table.solids.settle`.
    """
    if not players:
        return ()
    corners_mm, normals = top_corners_mm(players, snapshot)
    corners_px = camera.to_pixels(corners_mm)
    points_px = camera.to_pixels(placed.points_mm)
    low, high = points_px.min(axis=1), points_px.max(axis=1)
    facing = np.einsum("ij,ij->i", camera.position_mm - corners_mm[:, 0], normals) > 0
    facing &= np.isfinite(corners_px).all(axis=(1, 2))
    least, most = corners_px.min(axis=1), corners_px.max(axis=1)
    tops = []
    for i, player in enumerate(players):
        if not facing[i]:
            tops.append(BaseTop(player.id, corners_px[i], (False, False, False, False), 0.0))
            continue
        near = np.flatnonzero(((low < most[i]) & (high > least[i])).all(axis=1))
        above = (placed.points_mm[near] - corners_mm[i, 0]) @ normals[i]
        rising = above.max(axis=1) > _CLEAR_MM
        parts_px, over = points_px[near[rising]], above[rising]
        whole = (over > 0).all(axis=1).tolist()
        hiding = [px if wholly else _cut(px, mm) for px, mm, wholly in zip(parts_px, over, whole, strict=True)]
        tops.append(_seen(player.id, corners_px[i], (least[i], most[i]), hiding, camera.lens.size_px))
    return tuple(tops)


def top_corners_mm(players: Sequence[Player], snapshot: Snapshot) -> tuple[Array, Array]:
    """Return the corners of all base tops in the board frame, shape (n, 4, 3), and their unit normals, shape (n, 3)."""
    half = np.array([[p.base.length_mm / 2, p.base.width_mm / 2, p.base.height_mm] for p in players])
    signs = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
    turns = figure_turns(snapshot)
    places = np.array([pose.position_mm for pose in snapshot.figures])
    corners: Array = (half[:, None] * signs) @ turns.transpose(0, 2, 1) + places[:, None]
    return corners, turns[:, :, 2]


def _cut(points_px: Array, above_mm: Array) -> Array:
    """Return the pixels of the part of a solid that rises over a plane, which cuts it, shape (n, 2).

    Where edges cross the plane is found in the picture: over a few millimeters perspective is linear enough.
    """
    over = above_mm > 0
    upper, lower = above_mm[over][:, None], above_mm[~over][None]
    share = (upper / (upper - lower))[:, :, None]
    crossings = points_px[over][:, None] * (1 - share) + points_px[~over][None] * share
    return np.concatenate([points_px[over], crossings.reshape(-1, 2)])


def _seen(
    name: str, corners_px: Array, window_px: tuple[Array, Array], hiding: Sequence[Array], size_px: tuple[int, int]
) -> BaseTop:
    origin = np.floor(window_px[0]) - 1
    cells = np.ceil((window_px[1] - origin + 2) * _FINE).astype(int).tolist()
    # All points are projected in one call.
    sampled = corners_px + _INSET * (corners_px.mean(axis=0) - corners_px)
    frame = np.array([[-0.5, -0.5], [size_px[0] - 0.5, size_px[1] - 0.5]])
    points = np.concatenate([corners_px, sampled, frame, *hiding])
    fixed = np.rint(((points - origin + 0.5) * _FINE - 0.5) * (1 << _SHIFT)).astype(np.int32)
    top = np.zeros((cells[1], cells[0]), dtype=np.uint8)
    cv2.fillConvexPoly(top, fixed[:4], (255,), shift=_SHIFT)
    area = cv2.countNonZero(top)
    # Parts outside the picture are not visible either.
    (left, upper), (right, lower) = np.maximum(fixed[8:10] >> _SHIFT, 0).tolist()  # a slice ends with the array
    framed = np.zeros_like(top)
    framed[upper:lower, left:right] = top[upper:lower, left:right]
    start = 10
    for part in hiding:
        cv2.fillConvexPoly(framed, cv2.convexHull(fixed[start : start + len(part)]), (0,), shift=_SHIFT)
        start += len(part)
    columns, rows = (fixed[4:8] >> _SHIFT).T
    lit = (framed[rows, columns] > 0).tolist()
    visible = cv2.countNonZero(framed) / area if area else 0.0
    return BaseTop(name, corners_px, (lit[0], lit[1], lit[2], lit[3]), visible)
