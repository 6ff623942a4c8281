"""The certified error of a table as the least error of any position.

The error of every figure is raised to a floor at which a margin as large as the certified error is just sure enough to
be called under the rulebook; anything finer is too close to call. Gaps between bases keep their own error: two bases
side by side are off by the same amount, which cancels between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final

from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel
from downfield.core.records import check
from downfield.core.scene import Scene

LEAST_SIGMAS: Final = 1.0
"""A rulebook that calls at little more than even odds does not raise the floor above the certified error."""


@dataclass(frozen=True, slots=True)
class ErrorFloor:
    """The least error of a position."""

    sigma_mm: tuple[float, float]  # standard deviation along and across the field

    @staticmethod
    def of(certified_yd: tuple[float, float], field: FieldModel, confidence: float) -> ErrorFloor:
        """Return the floor at which a call finer than a certified error, a 95th percentile, is not sure.

        Raises InputError: a certified error is negative.
        """
        check(min(certified_yd) >= 0, InputError, f"a certified error can't be negative: {certified_yd} yd")
        sigmas = max(NormalDist().inv_cdf(confidence), LEAST_SIGMAS)
        along, across = certified_yd
        return ErrorFloor((along * field.mm_per_yd_x / sigmas, across * field.mm_per_yd_y / sigmas))

    def apply(self, scene: Scene) -> Scene:
        """Return the scene with no position surer than the floor."""
        along, across = self.sigma_mm
        figures = tuple(
            replace(figure, sigma_mm=(max(figure.sigma_mm[0], along), max(figure.sigma_mm[1], across)))
            for figure in scene.figures
        )
        ball = scene.ball and replace(scene.ball, sigma_mm=max(scene.ball.sigma_mm, along, across))
        return replace(scene, figures=figures, ball=ball)
