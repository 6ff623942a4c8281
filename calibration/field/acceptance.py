"""Whether a solution may be trusted, and if not, what is wrong with it in words an operator can act on."""

from __future__ import annotations

import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.field.evidence import Evidence
from downfield.calibration.solve import Fit
from downfield.core.arrays import Array
from downfield.core.field import FieldModel

# Of paint looked for, the least that a right solution shows: figures, hands, glare and wear cover the rest.
LEAST_OF_A_SIDELINE = 0.30
LEAST_OF_A_GOAL_LINE = 0.25
LEAST_OF_YARD_LINES = 0.50
LEAST_OF_LINE_ENDS = 0.35
# Of places that must be bare, the most at which paint may seem to be.
MOST_BEYOND = 0.30
MOST_INSIDE = 0.55
LEAST_HASH_CONTRAST = 0.25  # hash marks found, less bare ground taken for them
LARGEST_RESIDUAL_PX = 0.45  # robust rms of paint about the solution
LARGEST_STRAIN = 1.9  # standard deviations from what webcams are like
RIVAL_WITHIN = 0.05  # another solution as good as this leaves the answer open
_OUTSIDE_PX = 2.0


def objections(evidence: Evidence, fit: Fit, field: FieldModel, *, placed: bool = False) -> list[str]:
    """What speaks against a solution, worst first; empty when it may be trusted.

    Args:
        evidence: what the picture shows of it.
        fit: the solution.
        field: the print.
        placed: whether the field was known to lie there to a pixel or two: then no line is mistaken for another, and
            a sideline under feet and hands, or borders beside it, are no reason to distrust it.

    """
    cut = sides_cut(fit.camera, field)
    if cut:
        return [f"the field is cut by the picture's {' and '.join(cut)} edge: move the camera until all of it is seen"]
    found = [
        (not placed and min(evidence.sidelines) < LEAST_OF_A_SIDELINE, "a sideline is not where it should be"),
        (min(evidence.goal_lines) < LEAST_OF_A_GOAL_LINE, "a goal line is not where it should be"),
        (evidence.yard_lines < LEAST_OF_YARD_LINES, "too few of the yard lines are seen"),
        (evidence.line_ends < LEAST_OF_LINE_ENDS, "the yard lines end before the sidelines"),
        (evidence.overrun > MOST_BEYOND, "the yard lines go on beyond the sidelines"),
        (not placed and evidence.beyond > MOST_BEYOND, "there is a line beyond a goal line where the field has none"),
        (not placed and evidence.inside > MOST_INSIDE, "there is a line along a sideline and inside it"),
        (evidence.hash_contrast < LEAST_HASH_CONTRAST, "the hash marks are not where the field model has them"),
    ]
    problems = [text for failed, text in found if failed]
    rms = robust_rms(fit.residual_px)
    if rms > LARGEST_RESIDUAL_PX:
        problems.append(f"the paint lies {rms:.2f} px (rms) off the solution")
    if fit.strain > LARGEST_STRAIN:
        problems.append(
            "no ordinary lens sees it so: the print may be of other proportions (measure it from goal line to goal line"
            " and from sideline to sideline, and give its .toml file to --field)"
        )
    return problems


def sides_cut(camera: Camera, field: FieldModel) -> list[str]:
    """Edges of the picture that the playing field reaches beyond."""
    along, across = np.linspace(0, field.length_mm, 9), np.linspace(0, field.width_mm, 5)
    rim = [(x, y) for x in along for y in (0.0, field.width_mm)] + [
        (x, y) for x in (0.0, field.length_mm) for y in across
    ]
    px = camera.to_pixels(np.array(rim))
    width, height = camera.lens.size_px
    low, high = np.nanmin(px, axis=0), np.nanmax(px, axis=0)
    checks = [
        (low[0] < _OUTSIDE_PX, "left"),
        (high[0] > width - 1 - _OUTSIDE_PX, "right"),
        (low[1] < _OUTSIDE_PX, "upper"),
        (high[1] > height - 1 - _OUTSIDE_PX, "lower"),
    ]
    return [side for beyond, side in checks if beyond]


def robust_rms(residual_px: Array) -> float:
    """Root mean square of residuals, not minding outliers (from their median)."""
    return float(1.4826 * np.median(np.abs(residual_px))) if len(residual_px) else 0.0
