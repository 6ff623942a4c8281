"""Small worlds for the tests of the twin's physics and truth."""

from __future__ import annotations

import numpy as np

from downfield.core.field.model import preset
from downfield.core.scene import Jersey, Player
from downfield.twin.physics.body import Placement, Trait
from downfield.twin.physics.engine import Vibration
from downfield.twin.physics.world import World

FIELD = preset("tudor-620")
MS = 1_000_000
S = 1_000_000_000
ALONE = (Player("a", "dark"),)
PAIR = (Player("a", "dark"), Player("b", "light"))
STILL = Vibration(rock=0.0, jitter_mm_s2=0.0)


def lone(trait: Trait, heading_deg: float = 0.0, *, vibration: Vibration | None = None) -> World:
    return World(ALONE, {"a": Placement(300, 250, heading_deg)}, {"a": trait}, field=FIELD, seed=1, vibration=vibration)


def scrimmage(seed: int, com_mm: float = 11.0) -> World:
    """Two lines of eleven that walk into each other."""
    rng = np.random.default_rng(seed)
    players, placements, traits = [], {}, {}
    for i in range(11):
        sides: tuple[tuple[Jersey, float, float], ...] = (
            ("dark", 300 - i % 3 * 45, 0),
            ("light", 380 + i % 4 * 45, 180),
        )
        for jersey, x, heading in sides:
            player = Player(f"{jersey}-{i}", jersey)
            players.append(player)
            placements[player.id] = Placement(x, 30 + 44 * i + rng.uniform(-8, 8), heading + rng.uniform(-20, 20))
            traits[player.id] = Trait(rng.uniform(50, 90), rng.uniform(-20, 20), com_mm=com_mm)
    return World(players, placements, traits, field=FIELD, seed=seed)
