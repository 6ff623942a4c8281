"""Measures the frames per second of the twin's renderers on one core: 22 figures, from snapshot to sensor picture.

Run: python benchmarks/twin_renderers.py [SECONDS]

SECONDS are measured of each, or its second frame where that takes longer.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time

import cv2
import numpy as np

from downfield.core.field.model import preset
from downfield.core.footprint import BaseSize
from downfield.core.scene import Player
from downfield.twin.film.film import film
from downfield.twin.randomization.tables import draw_table
from downfield.twin.render.renderer import Renderer
from downfield.twin.render.renderers import RENDERERS, open_renderer
from downfield.twin.table.appearance import Appearance
from downfield.twin.table.snapshot import FigurePose, Snapshot

_SPEED_MM_S = 80.0


def main() -> None:
    """Time both renderers at two sizes and print a table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    cv2.setNumThreads(1)
    players = tuple(
        Player(f"{jersey}-{i}", jersey, base=BaseSize(30, 18, 5.5, 1.0))
        for jersey in ("dark", "light")
        for i in range(11)
    )
    print(f"{'renderer':<12}{'size':<12}{'frames/s':>9}{'frames/cpu-s':>14}  (one core, 22 figures, sensor effects)")
    for size in ((1280, 720), (1920, 1080)):
        look = draw_table(3, players, field=preset("tudor-620"), size=size)
        sensor = dataclasses.replace(
            look.sensor, exposure_ms=4.0, rolling_ms=10.0, flicker=0.05, buzz_px=0.3, shake_px=0.2, noise=2.0, jpeg=90
        )
        look = dataclasses.replace(look, sensor=sensor)
        for name in RENDERERS:
            wall, cpu = _rates(open_renderer(name, look, players), _walk(look, players, round(30 * seconds)), seconds)
            print(f"{name:<12}{f'{size[0]}x{size[1]}':<12}{wall:>9.2f}{cpu:>14.2f}")


def _rates(renderer: Renderer, snapshots: list[Snapshot], seconds: float) -> tuple[float, float]:
    frames = film(renderer, snapshots, seed=1)
    next(frames)
    wall, cpu, count = time.perf_counter(), time.process_time(), 0
    for _ in frames:
        count += 1
        if time.perf_counter() - wall > seconds:
            break
    return count / (time.perf_counter() - wall), count / (time.process_time() - cpu)


def _walk(look: Appearance, players: tuple[Player, ...], count: int) -> list[Snapshot]:
    """Return snapshots of two teams that walk toward each other."""
    out = []
    for frame in range(count):
        figures = []
        for i, player in enumerate(players):
            side = 1 if i < 11 else -1
            x = look.field.length_mm / 2 - side * (25 + (i % 3) * 45 - _SPEED_MM_S * frame / 30)
            y = look.field.width_mm * (0.08 + 0.84 * (i % 11) / 10)
            half = 0.0 if side == 1 else np.pi / 2
            figures.append(FigurePose(player.id, (x, y, 0.0), (float(np.cos(half)), 0.0, 0.0, float(np.sin(half)))))
        out.append(Snapshot(frame * 33_333_333, True, tuple(figures)))
    return out


if __name__ == "__main__":
    main()
