"""What lenses of webcams are like, against lenses that their owners measured and published."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from webcam_lenses import PUBLISHED, PublishedLens

from downfield.calibration.camera import Lens
from downfield.calibration.field.verification import VERIFICATION_LIMITS
from downfield.calibration.lens.prior import MeasuredLens, TypicalLens, strain
from downfield.core.arrays import Array


def parameters(lens: PublishedLens) -> Array:
    return np.array([*lens.focal_px, *lens.center_px, *lens.distortion])


@pytest.mark.parametrize("lens", PUBLISHED, ids=lambda lens: lens.camera)
def test_lenses_of_webcams_are_ordinary_ones(lens: PublishedLens) -> None:
    assert strain(TypicalLens(lens.size_px), parameters(lens)) < VERIFICATION_LIMITS.max_strain


@pytest.mark.parametrize(
    "spoiled",
    [
        {"focal_px": (700.0, 7000.0)},
        {"focal_px": (1300.0, 1330.0)},
        {"center_px": (1100.0, 400.0)},
        {"distortion": (1.6, 0.0, 0.0, 0.0, 0.0)},
        {"distortion": (0.0, 0.0, 0.03, 0.03, 0.0)},
    ],
)
def test_what_no_webcam_has_is_not_ordinary(spoiled: dict[str, tuple[float, ...]]) -> None:
    lens = {"focal_px": (1400.0, 1400.0), "center_px": (960.0, 540.0), "distortion": (0.0,) * 5} | spoiled
    values = np.array([*lens["focal_px"], *lens["center_px"], *lens["distortion"]])
    assert strain(TypicalLens((1920, 1080)), values) > VERIFICATION_LIMITS.max_strain


def test_a_fisheye_is_as_likely_as_fisheyes_are_and_not_as_webcams() -> None:
    fisheye = Lens((1920, 1080), (960.0, 960.0), (959.5, 539.5), projection="equidistant")
    webcam = dataclasses.replace(fisheye, projection="perspective")
    assert TypicalLens.of(fisheye).focal_cost(0.5) < TypicalLens.of(fisheye).focal_cost(0.9)
    assert TypicalLens.of(webcam) == TypicalLens((1920, 1080))


def test_a_measured_lens_is_strained_by_its_own_deviations() -> None:
    mean = parameters(PUBLISHED[0])
    prior = MeasuredLens(mean, np.diag(1 / np.array([2.0, 2.0, 3.0, 3.0, 0.01, 0.01, 0.001, 0.001, 0.01])))
    assert strain(prior, mean) == 0.0
    off = mean.copy()
    off[0] += 6.0
    assert strain(prior, off) == pytest.approx(1.0)
