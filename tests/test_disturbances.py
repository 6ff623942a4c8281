"""Faults of pictures and their times that people reported, over a recorded tackle, as a file and as a live camera."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from disturbance_kinds import KINDS, Shot
from disturbances import Mode, Table, plays, run, sampled, summary


@cache
def _table() -> tuple[Table, list[Shot]]:
    """A play, and its pictures, which are decoded once."""
    table = Table(next(play for play in plays(None) if play.name == "bundled-1 from its stop on"))
    shots = list(table.shots())
    for shot in shots:
        shot.image.flags.writeable = False
    return table, shots


@pytest.mark.parametrize("mode", ["file", "live"])
@pytest.mark.parametrize(
    ("name", "strength", "made"),
    [
        ("each picture twice, 60 in 30", 1, 1),
        ("each picture again, bit for bit", 0, 1),
        ("each picture again, compressed", 0, 1),
        ("bursts", 1, 1),
        ("bursts", 2, None),
        ("lamps of 50 Hz, bands", 2, None),
        ("bump at the decision", 0, 1),
        ("bump at the decision", 2, None),
        ("slip", 0, 1),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_fault_makes_calls_wait_for_the_right_reason_and_never_wrong(
    name: str, strength: int, made: int | None, mode: Mode
) -> None:
    (table, undisturbed), kind = _table(), next(kind for kind in KINDS if kind.name == name)
    rng = np.random.default_rng([len(name), strength])
    shots = kind.alter(undisturbed, kind.strengths[strength], rng, table.when)
    came = summary(table, kind, strength, mode, run(table, shots, mode))
    assert not came["wrong"], came
    assert not came["exchanged"], came
    assert came["right"] is not False, came
    assert made is None or came["made"] == made, came


def test_a_sample_has_each_kind_once_over_the_plays_in_turn() -> None:
    pairs = sampled(plays(None), 3)
    assert sorted(kind.name for _, kind in pairs if kind.reason != "$^") == sorted(kind.name for kind in KINDS)
    assert len({play.name for play, _ in pairs}) == 3
    with pytest.raises(SystemExit, match="There are 3 plays"):
        sampled(plays(None), 9)
