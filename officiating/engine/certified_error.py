"""What a table's positions were certified to be worth: no position is taken to be surer than that.

The error of every figure is raised to a floor at which a margin as large as the certified error is only just sure
enough to be called under the rulebook; anything finer comes out as too close. Gaps between bases keep their own error:
two bases side by side are off by the same amount, which cancels between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

from downfield.core.errors import InputError
from downfield.core.field import FieldModel
from downfield.core.records import check
from downfield.core.scene import Scene

_LEAST_SIGMAS = 1.0  # a rulebook that calls on little more than even odds does not lift the floor beyond the error


@dataclass(frozen=True, slots=True)
class ErrorFloor:
    """The least error of a position.

    Attributes:
        sigma_mm: standard deviation along and across.

    """

    sigma_mm: tuple[float, float]

    @staticmethod
    def of(certified_yd: tuple[float, float], field: FieldModel, confidence: float) -> ErrorFloor:
        """The floor under which a call finer than a certified error is not sure.

        Args:
            certified_yd: 95th percentile of the table's errors, along and across.
            field: the printed field.
            confidence: the probability from which the rulebook calls.

        Raises:
            InputError: an error that is not 0 or more.

        """
        check(min(certified_yd) >= 0, InputError, f"a certified error can't be negative {certified_yd}")
        sigmas = max(NormalDist().inv_cdf(confidence), _LEAST_SIGMAS)
        along, across = certified_yd
        return ErrorFloor((along * field.mm_per_yd_x / sigmas, across * field.mm_per_yd_y / sigmas))

    def under(self, scene: Scene) -> Scene:
        """The scene with no position surer than the floor."""
        along, across = self.sigma_mm
        figures = tuple(
            replace(figure, sigma_mm=(max(figure.sigma_mm[0], along), max(figure.sigma_mm[1], across)))
            for figure in scene.figures
        )
        ball = scene.ball and replace(scene.ball, sigma_mm=max(scene.ball.sigma_mm, along, across))
        return replace(scene, figures=figures, ball=ball)
