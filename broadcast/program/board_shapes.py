"""What is painted on the board, as shapes in millimeters: lines, zones, the carrier's ring, trails, the drive."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, get_args

import numpy as np

from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.core.scene import Figure, Scene
from downfield.game.published.game_topics import GameView
from downfield.game.published.stream_topics import ProgramElement, ProgramTheme

Color = tuple[int, int, int]  # Blue, green, red


@dataclass(frozen=True, slots=True)
class ShapeSizes:
    """Sizes of what is painted, and how much of the board it hides."""

    line_mm: float = 5.0  # Width of a line: a little more than a printed yard line
    edge_step_mm: float = 25.0  # Outlines have a point at least this often: a lens bends straight lines
    red_zone_yd: float = 20.0  # Depth of the red zone
    drive_mm: float = 9.0  # Width of the drive's bar along the sideline
    ring_mm: float = 4.0  # Width of the carrier's ring,
    ring_gap_mm: float = 5.0  # and how far outside of the base it begins
    trail_mm: float = 5.0  # Width of a trail where it is newest
    trail_s: float = 2.5  # How long a trail lasts
    line_opacity: float = 0.92  # Of lines and the ring: the grain of the board still shows
    zone_opacity: float = 0.32  # Of areas


SIZES: Final = ShapeSizes()
ELEMENTS: Final[tuple[ProgramElement, ...]] = get_args(ProgramElement)

_COLORS: Final[Mapping[ProgramTheme, Mapping[ProgramElement, Color]]] = {
    "broadcast": {
        "scrimmage": (200, 90, 20),
        "to_gain": (30, 205, 250),
        "red_zone": (50, 40, 210),
        "drive": (200, 90, 20),
        "carrier": (40, 215, 250),
        "trails": (40, 215, 250),
    },
    "chalk": dict.fromkeys(ELEMENTS, (245, 245, 245)),
    "contrast": {
        "scrimmage": (255, 0, 255),
        "to_gain": (0, 255, 255),
        "red_zone": (255, 0, 255),
        "drive": (255, 0, 255),
        "carrier": (0, 255, 255),
        "trails": (0, 255, 255),
    },
}


@dataclass(frozen=True, slots=True)
class BoardShape:
    """One shape on the board."""

    outlines_mm: tuple[Array, ...]  # closed outlines, shape (n, 2) each; a second one is a hole in the first
    color: Color  # of the paint, under the light of the board's brightest part
    opacity: float  # how much of the print it hides, 0..1


class ShapeMaker:
    """Makes the shapes of one frame after another; remembers trails and where the drive began."""

    def __init__(self, field: FieldModel) -> None:
        self._field = field
        self._trail: list[tuple[int, float, float]] = []
        self._carrier: str | None = None
        self._drive: tuple[str, str, float] | None = None

    def shapes(
        self,
        scene: Scene,
        game: GameView | None,
        carrier: str | None,
        elements: Collection[ProgramElement],
        theme: ProgramTheme,
    ) -> list[BoardShape]:
        """Return what is painted in a frame, what lies lowest first; `carrier` is the ball carrier's roster id."""
        colors = _COLORS[theme]
        figure = next((one for one in scene.figures if one.id == carrier and one.posture != "unseen"), None)
        made: dict[ProgramElement, list[BoardShape]] = {name: [] for name in ELEMENTS}
        if game is not None and game.phase != "over":
            made |= self._of_game(game, colors)
        if figure is not None:
            made["carrier"] = [_ring(figure, colors["carrier"])]
        made["trails"] = self._trails(scene.t_ns, figure, colors["trails"])
        return [shape for name in ELEMENTS if name in elements for shape in made[name]]

    def _of_game(
        self, game: GameView, colors: Mapping[ProgramElement, Color]
    ) -> dict[ProgramElement, list[BoardShape]]:
        made: dict[ProgramElement, list[BoardShape]] = {}
        if game.due != "scrimmage":
            self._drive = None
            return made
        made["scrimmage"] = [self._line(game.spot_yd, colors["scrimmage"])]
        if not game.goal_to_go and 0 < game.to_gain_yd < self._field.length_yd:
            made["to_gain"] = [self._line(game.to_gain_yd, colors["to_gain"])]
        goal_yd = self._field.length_yd if game.direction > 0 else 0.0
        if abs(goal_yd - game.spot_yd) <= SIZES.red_zone_yd:
            edge_yd = goal_yd - game.direction * SIZES.red_zone_yd
            made["red_zone"] = [self._box(edge_yd, goal_yd, (0.0, self._field.width_mm), colors["red_zone"])]
        if self._drive is None or self._drive[:2] != (game.game, game.offense):
            self._drive = (game.game, game.offense, game.spot_yd)
        begun_yd = self._drive[2]
        if abs(begun_yd - game.spot_yd) > 0.5:
            made["drive"] = [self._box(begun_yd, game.spot_yd, (0.0, SIZES.drive_mm), colors["drive"], 0.7)]
        return made

    def _line(self, x_yd: float, color: Color) -> BoardShape:
        x, half = x_yd * self._field.mm_per_yd_x, SIZES.line_mm / 2
        return BoardShape((_rectangle(x - half, x + half, 0.0, self._field.width_mm),), color, SIZES.line_opacity)

    def _box(
        self, from_yd: float, to_yd: float, y_mm: tuple[float, float], color: Color, opacity: float = SIZES.zone_opacity
    ) -> BoardShape:
        low, high = sorted((from_yd * self._field.mm_per_yd_x, to_yd * self._field.mm_per_yd_x))
        return BoardShape((_rectangle(low, high, *y_mm),), color, opacity)

    def _trails(self, t_ns: int, figure: Figure | None, color: Color) -> list[BoardShape]:
        if figure is None or figure.id != self._carrier:
            self._carrier, self._trail = (None if figure is None else figure.id), []
        if figure is not None:
            self._trail.append((t_ns, figure.x_mm, figure.y_mm))
        since_ns = t_ns - round(SIZES.trail_s * 1e9)
        self._trail = [point for point in self._trail if since_ns <= point[0] <= t_ns]
        points = _thinned(np.array([point[1:] for point in self._trail], dtype=np.float64).reshape(-1, 2))
        return [] if len(points) < 3 else [BoardShape((_ribbon(points),), color, SIZES.line_opacity)]


def _rectangle(x0: float, x1: float, y0: float, y1: float) -> Array:
    """Return the outline of a rectangle with points often enough for a lens."""
    corners = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)])
    sides = []
    for start, end in pairwise(corners):
        count = max(1, round(float(np.abs(end - start).max()) / SIZES.edge_step_mm))
        sides.append(start + (end - start) * (np.arange(count) / count)[:, None])
    return np.concatenate(sides)


def _ring(figure: Figure, color: Color) -> BoardShape:
    inner = float(np.hypot(figure.length_mm, figure.width_mm)) / 2 + SIZES.ring_gap_mm
    turn = np.linspace(0.0, 2 * np.pi, 48, endpoint=False)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    middle = np.array([figure.x_mm, figure.y_mm])
    outlines = (middle + (inner + SIZES.ring_mm) * circle, middle + inner * circle)
    return BoardShape(outlines, color, SIZES.line_opacity)


def _thinned(points: Array) -> Array:
    """Return points of a way at least 4 mm apart, the newest among them."""
    kept = list(points[-1:])
    for point in points[-2::-1]:
        if float(np.linalg.norm(point - kept[-1])) >= 4.0:
            kept.append(point)
    return np.array(kept[::-1]).reshape(-1, 2)


def _ribbon(points: Array) -> Array:
    """Return the outline of a way that grows toward its newest end."""
    along = np.gradient(points, axis=0)
    length = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-6)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1) / length
    half = np.linspace(0.1, 0.5, len(points))[:, None] * SIZES.trail_mm
    return np.concatenate([points + across * half, (points - across * half)[::-1]])
