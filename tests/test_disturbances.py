"""Faults of pictures and their times that people reported, over a recorded tackle, as a file and as a live camera."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
import pytest
from disturbance_kinds import KINDS, Kind, Shot
from disturbances import Mode, Table, plays, run, sampled, summary


@cache
def _table() -> tuple[Table, list[Shot]]:
    """A play, and its pictures, which are decoded once."""
    table = Table(next(play for play in plays(None) if play.name == "bundled-1 from its stop on"))
    shots = list(table.shots())
    for shot in shots:
        shot.image.flags.writeable = False
    return table, shots


@lru_cache(maxsize=1)
def _altered(name: str, strength: int) -> tuple[Kind, list[Shot]]:
    """A kind, and its pictures, which both modes show, one after the other."""
    (table, undisturbed), kind = _table(), next(kind for kind in KINDS if kind.name == name)
    rng = np.random.default_rng([len(name), strength])
    return kind, list(kind.alter(undisturbed, kind.strengths[strength], rng, table.when))


@pytest.mark.parametrize(
    ("name", "strength", "made", "mode"),
    [
        ("each picture twice, 60 in 30", 1, 1, "file"),
        ("each picture twice, 60 in 30", 1, 1, "live"),
        ("each picture again, bit for bit", 0, 1, "file"),
        ("each picture again, bit for bit", 0, 1, "live"),
        ("each picture again, compressed", 0, 1, "file"),
        ("each picture again, compressed", 0, 1, "live"),
        ("bursts", 1, 1, "file"),
        ("bursts", 1, 1, "live"),
        ("bursts", 2, None, "file"),
        ("bursts", 2, None, "live"),
        # The others leave the times of pictures alone, which are all that a live camera's differ in.
        ("lamps of 50 Hz, bands", 2, None, "file"),
        ("bump at the decision", 0, 1, "live"),
        ("bump at the decision", 2, None, "file"),
        ("slip", 0, 1, "file"),
    ],
)
def test_a_fault_makes_calls_wait_for_the_right_reason_and_never_wrong(
    name: str, strength: int, made: int | None, mode: Mode
) -> None:
    (table, _), (kind, shots) = _table(), _altered(name, strength)
    came = summary(table, kind, strength, mode, run(table, iter(shots), mode))
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
