"""The noise of measured gaps is learned from all pairs for all of them, and from each pair for itself."""

from __future__ import annotations

import numpy as np
import pytest

from downfield.core.footprint import BaseSize, Footprint
from downfield.core.scene import Jersey
from downfield.vision.contacts.gaps import GapNoise, Pair, PairMeasurements, find_near_pairs, measure_pairs
from downfield.vision.measuring.estimate import Estimate

BASE = BaseSize(30.0, 18.0, 5.5, 1.0)
SHAKES_MM = 0.6


def pairs(shaken_mm: dict[str, float], *, seen: bool = True, fresh: bool = True) -> PairMeasurements:
    """Four pairs far from each other, each with a gap of 1 mm plus the jitter of its second figure."""
    covariance, still = np.diag([0.04, 0.04, 1e-4]), np.zeros(3)
    figures = []
    for i in range(4):
        for id_, x in ((f"dark-{i}", 0.0), (f"light-{i}", 31.0 + shaken_mm.get(f"light-{i}", 0.0))):
            at = Footprint(x, 100.0 * i, 0.0, BASE)
            jersey: Jersey = "dark" if id_.startswith("dark") else "light"
            figures.append(Estimate(id_, jersey, at, covariance, still, seen=seen, fresh=fresh))
    return measure_pairs(*find_near_pairs(figures, 12.0), np.zeros((2, 2)))


def noise_mm(noise: GapNoise, shaken: list[dict[str, float]]) -> dict[Pair, float]:
    for jitter in shaken:
        noise.add(pairs(jitter))
    now = pairs({})
    return dict(zip(now.pairs, noise.observations(now).noise_mm.tolist(), strict=True))


def shaking(*ids: str, frames: int = 30) -> list[dict[str, float]]:
    """Figures that jitter to and fro in every frame."""
    return [dict.fromkeys(ids, SHAKES_MM * (-1) ** number) for number in range(frames)]


CALM = noise_mm(GapNoise(), [{}] * 30)


def test_a_jittering_pair_is_noisier_than_steady_ones() -> None:
    found = noise_mm(GapNoise(), shaking("light-2"))
    assert found["dark-2", "light-2"] > 2 * CALM["dark-2", "light-2"]
    assert found["dark-0", "light-0"] == pytest.approx(CALM["dark-0", "light-0"], rel=0.05)


def test_where_most_pairs_jitter_all_are_noisy() -> None:
    found = noise_mm(GapNoise(), shaking("light-0", "light-1", "light-2"))
    assert found["dark-3", "light-3"] > 2 * CALM["dark-3", "light-3"]


def test_noise_falls_again_after_jitter_ends() -> None:
    found = noise_mm(GapNoise(), shaking("light-2") + [{}] * 60)
    assert found["dark-2", "light-2"] < 1.3 * CALM["dark-2", "light-2"]


def test_smooth_movement_is_no_noise() -> None:
    found = noise_mm(GapNoise(), [{"light-2": 0.2 * number} for number in range(30)])
    assert found == CALM


def test_frames_without_detection_teach_nothing() -> None:
    noise = GapNoise()
    for jitter in shaking("light-2"):
        noise.add(pairs({}))
        noise.add(pairs(jitter, fresh=False))
    assert noise_mm(noise, [{}]) == CALM
