"""Tables of the twin's compositor for measuring calibrations: a picture, the camera that took it, and its print."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.field.model import FieldModel
from downfield.core.scene import Player
from downfield.twin.film.film import film
from downfield.twin.randomization.deck import Split
from downfield.twin.randomization.tables import draw_players, draw_table
from downfield.twin.render.compositor import Compositor
from downfield.twin.table.appearance import Appearance
from downfield.twin.table.snapshot import FigurePose, HandPose, Snapshot

RenderedTable = tuple[Image, Camera, FieldModel]


def table(seed: int, split: Split) -> RenderedTable:
    """Render a table with 22 figures, every third with a hand over it; return it with its truth."""
    players = draw_players(seed, split=split)
    look = draw_table(seed, players, split=split)
    frame = next(iter(film(Compositor(look, players), [line_up(look, players, seed)], seed=seed)))
    return frame.image, frame.camera, look.field


def line_up(look: Appearance, players: Sequence[Player], seed: int) -> Snapshot:
    """Place figures mostly near one line, and a hand on every third table."""
    rng = np.random.default_rng([seed, 99])
    field = look.field
    line = rng.uniform(0.15, 0.85) * field.length_mm
    spots: list[tuple[float, float]] = []
    poses = []
    for player in players:
        x = y = 0.0
        for _ in range(200):
            x = line + rng.normal(0, 60) if rng.random() < 0.7 else rng.uniform(0, field.length_mm)
            y = rng.uniform(0.05, 0.95) * field.width_mm
            if 10 < x < field.length_mm - 10 and all(math.hypot(x - a, y - b) > 26 for a, b in spots):
                break
        spots.append((x, y))
        half = rng.uniform(0, math.pi)
        poses.append(FigurePose(player.id, (x, y, 0.0), (math.cos(half), 0.0, 0.0, math.sin(half))))
    hands: tuple[HandPose, ...] = ()
    if seed % 3 == 0:
        x, y = rng.uniform(0.2, 0.8) * field.length_mm, rng.uniform(0.1, 0.6) * field.width_mm
        hands = (HandPose((x, y, 30.0), (x + rng.uniform(-150, 150), -260.0, 120.0)),)
    return Snapshot(0, False, tuple(poses), None, hands)
