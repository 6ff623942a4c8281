"""How figures moved in a game: one pass over its scenes, whose length does not matter for memory."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from downfield.core.field.model import FieldModel
from downfield.core.scene import Figure, Jersey, Scene

HEAT_CELL_YD: Final = 2.5  # Side of a cell of a heat map


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What counts as movement."""

    # A figure has moved once it is this far from where it last had: a standing one trembles by less
    step_mm: float = 4.0
    speed_span_ns: int = 250_000_000  # Speeds are over this time: long against the errors of two positions
    moves_in: tuple[str, ...] = ("upright",)  # Postures whose movement is the figure's own


_LIMITS: Final = RunLimits()


@dataclass(slots=True)
class Run:
    """A figure's way in one play."""

    jersey: Jersey
    # where it began, and every place where it had moved a step further; board mm
    points_mm: list[tuple[float, float]] = field(default_factory=list)
    distance_mm: float = 0.0  # along these
    top_speed_mm_s: float = 0.0  # over a quarter of a second
    fell: bool = False  # whether it fell
    _from: tuple[int, float, float] | None = None

    def see(self, figure: Figure, t_ns: int) -> None:
        """Follow the figure to where it is in the next frame."""
        self.fell = self.fell or figure.posture == "fallen"
        if figure.posture not in _LIMITS.moves_in or figure.lost:
            self._from = None
            return
        here = (figure.x_mm, figure.y_mm)
        if not self.points_mm:
            self.points_mm.append(here)
        step_mm = math.dist(here, self.points_mm[-1])
        if step_mm >= _LIMITS.step_mm:
            self.points_mm.append(here)
            self.distance_mm += step_mm
        if self._from is None:
            self._from = (t_ns, *here)
        elif t_ns - self._from[0] >= _LIMITS.speed_span_ns:
            moved_mm = math.dist(here, self._from[1:])
            if moved_mm >= _LIMITS.step_mm:
                self.top_speed_mm_s = max(self.top_speed_mm_s, moved_mm / (t_ns - self._from[0]) * 1e9)
            self._from = (t_ns, *here)

    @property
    def straight_mm(self) -> float:
        """How far it came, as the crow flies."""
        return math.dist(self.points_mm[0], self.points_mm[-1]) if self.points_mm else 0.0


@dataclass(frozen=True, slots=True)
class Movement:
    """How the figures of a game moved."""

    runs: tuple[dict[str, Run], ...]  # by play, from 0, and roster id; plays without a scene are empty
    # frames spent by a color class in a cell, by jersey, column and row of cells of `HEAT_CELL_YD`, while the board ran
    heat: dict[Jersey, dict[tuple[int, int], int]]


def movement_of(scenes: Iterable[Scene], snaps_ns: Sequence[int], field_model: FieldModel) -> Movement:
    """Return how the figures moved while the board ran, play by play.

    Args:
        scenes: in order of time.
        snaps_ns: the snap of each play, rising.
    """
    runs: tuple[dict[str, Run], ...] = tuple({} for _ in snaps_ns)
    heat: dict[Jersey, dict[tuple[int, int], int]] = {"dark": {}, "light": {}}
    for scene in scenes:
        play = bisect_right(snaps_ns, scene.t_ns) - 1
        if play < 0 or scene.board != "on":
            continue
        for figure in scene.figures:
            if figure.posture == "lifted" or figure.lost:
                continue
            runs[play].setdefault(figure.id, Run(figure.jersey)).see(figure, scene.t_ns)
            cell = (
                math.floor(figure.x_mm / field_model.mm_per_yd_x / HEAT_CELL_YD),
                math.floor(figure.y_mm / field_model.mm_per_yd_y / HEAT_CELL_YD),
            )
            counts = heat[figure.jersey]
            counts[cell] = counts.get(cell, 0) + 1
    return Movement(runs, heat)
