"""Measures the speed of the twin's physics and truth, and how the height of the center of mass affects falls.

python benchmarks/twin_physics.py [seconds [plays]]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from downfield.core.field.model import preset
from downfield.core.scene import Player
from downfield.twin.physics.body import Placement, Trait
from downfield.twin.physics.truth import Truth
from downfield.twin.physics.world import World

FPS = 60
S = 1_000_000_000
PLAYERS = tuple(Player(f"{jersey}-{i}", jersey) for jersey in ("dark", "light") for i in range(11))


def scrimmage(seed: int, com_mm: float) -> World:
    """Return a world with two teams of eleven that walk into each other."""
    rng = np.random.default_rng(seed)
    placements, traits = {}, {}
    for index, player in enumerate(PLAYERS):
        row, dark = index % 11, player.jersey == "dark"
        x = 300 - row % 3 * 45 if dark else 380 + row % 4 * 45
        heading = (0 if dark else 180) + rng.uniform(-20, 20)
        placements[player.id] = Placement(x, 30 + 44 * row + (0 if dark else rng.uniform(-8, 8)), heading)
        traits[player.id] = Trait(rng.uniform(50, 90), rng.uniform(-20, 20), com_mm=com_mm)
    return World(PLAYERS, placements, traits, field=preset("tudor-620"), seed=seed)


def speed(seconds: int) -> None:
    """Print the time of the physics, of timing contacts and falls, and of the scenes."""
    bare, _ = _timed(scrimmage(1, 14.0), None, seconds)
    world = scrimmage(1, 14.0)
    truth = Truth(world)
    watched, scenes = _timed(world, truth, seconds)
    print(f"22 figures for {seconds} s of play at {FPS} frames/s, CPU time of one process")
    print(f"  physics alone                  {seconds / bare:5.1f} x real time")
    print(f"  with contacts and falls timed  {seconds / watched:5.1f} x real time")
    print(f"  a scene                        {scenes / (FPS * seconds) * 1e3:5.2f} ms")
    print(f"  contacts, partings and falls   {len(truth.events):5d}")


def falls(plays: int) -> None:
    """Print how many of 22 figures fall in a play of six seconds."""
    print(f"fallen of 22 after 6 s, {plays} plays each")
    for com_mm in (9.0, 11.0, 13.0, 15.0, 17.0, 20.0):
        fallen = []
        for seed in range(plays):
            world = scrimmage(seed, com_mm)
            world.power(True)
            world.step_to(6 * S)
            fallen.append(int((world.poses().tilt_deg > 45).sum()))
        print(f"  center of mass at {com_mm:4.1f} mm: {np.mean(fallen):4.1f}  {fallen}")


def _timed(world: World, truth: Truth | None, seconds: int) -> tuple[float, float]:
    """Return the CPU seconds for stepping and for making a scene of every frame."""
    world.power(True)
    stepping = scenes = 0.0
    for frame in range(1, FPS * seconds + 1):
        start = time.process_time()
        world.step_to(frame * S // FPS)
        stepped = time.process_time()
        stepping += stepped - start
        if truth is not None:
            truth.scene(world.snapshot(), frame)
            scenes += time.process_time() - stepped
    return stepping, scenes


if __name__ == "__main__":
    speed(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
    falls(int(sys.argv[2]) if len(sys.argv) > 2 else 5)
