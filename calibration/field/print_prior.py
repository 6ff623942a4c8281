"""What prints are like before a picture is seen: of which kind, how long, in which proportions, each with its spread.

A field that somebody described is near its description. Of an unknown one there are the kinds that boards have; most
boards are no preset's, so a preset is recognized only by what the picture shows, and lends its size as far as its marks
and proportions make it likelier than any other board.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.field.free_solver import ROUGH, UNKNOWN, OpenProportions, find_candidates, find_goal_rungs
from downfield.calibration.field.lines.matching import MATCHING_LIMITS, NO_RUNG, Candidate, FieldLines
from downfield.calibration.field.lines.rectified_lines import YardLineEnds
from downfield.calibration.field.measurements import FieldMeasurements
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.jacobians import STRETCH
from downfield.calibration.stretch import DescribedProportions, ScaleError
from downfield.core.arrays import Plane
from downfield.core.field.model import FieldModel, preset, preset_names


@dataclass(frozen=True, slots=True)
class PrintPriorLimits:
    """Sizes of what is known of prints beforehand."""

    # usual length of a field from goal line to goal line: boards are sold 24 to 52 inches long, so 500 to 1000 mm
    length_mm: float = 690.0
    length_spread: float = 0.32  # relative standard deviation of that
    yard_ratio: float = 1.1  # usual ratio of a yard across to one along: most boards are printed a little longer across
    rough_scale: float = 0.03  # relative standard deviation of the size of a print described without measuring
    preset_share: float = 0.5  # share of the boards that are printed as one of the presets
    preset_ratio: float = 0.01  # standard deviation of such a board's proportions, log ratio
    same_rows_yd: float = 0.5  # rows of marks and numbers within so many yards of a preset's are the same
    common_rows: float = 0.3  # share of other boards that have the same rows by chance: most follow real fields
    missed_rows: float = 0.1  # share of a preset's boards whose rows are read otherwise


PRINT_PRIOR_LIMITS: Final = PrintPriorLimits()
UNKNOWN_SCALE: Final = ScaleError(PRINT_PRIOR_LIMITS.length_spread)  # of a print of which nothing was measured


@dataclass(frozen=True, slots=True)
class SupposedPrint:
    """Ways to read a picture, and what is known of the print in all of them."""

    options: tuple[Candidate, ...]  # the ways, good to a few pixels
    proportions: DescribedProportions  # of the print, before they are measured
    scale: ScaleError  # how well its size is known


def described_print(plane: Plane, lines: FieldLines, ends: YardLineEnds, field: FieldModel) -> SupposedPrint:
    """Return the ways to read a picture as a field that somebody described: near that, nearer where it was measured."""
    lengths = FieldMeasurements.of(field)
    measured = lengths.ratio_spread() if field.measured else None
    spread = ROUGH.spread if measured is None else measured
    scale = PRINT_PRIOR_LIMITS.rough_scale if measured is None else lengths.error_mm / field.length_mm
    goals = find_goal_rungs(plane, lines, [field], ends)
    options = find_candidates(lines, field, ends, OpenProportions(spread, ROUGH.most_off), goals)
    return SupposedPrint(tuple(options), DescribedProportions.of(field, spread), ScaleError(scale))


def unknown_print(plane: Plane, lines: FieldLines, ends: YardLineEnds) -> SupposedPrint:
    """Return the ways to read a picture as a field of any kind, of any size."""
    kinds, tens = kinds_of_field(), _ten_yard_kinds_of(lines)
    every = (*kinds, *rarer_kinds(), *tens)
    goals = find_goal_rungs(plane, lines, tens, ends)
    # Nine marks between yard lines are also four, so the tens come first.
    likely = tens if goals else every
    goals = goals or find_goal_rungs(plane, lines, kinds, ends)
    suited = [kind for kind in likely if goals and goals.suit(kind)] or (*kinds, *tens)
    options = tuple(option for kind in suited for option in find_candidates(lines, kind, ends, UNKNOWN, goals))
    return SupposedPrint(options, DescribedProportions(PRINT_PRIOR_LIMITS.yard_ratio, UNKNOWN.spread), UNKNOWN_SCALE)


_TEN_YD: Final = 10.0


def kinds_of_field() -> tuple[FieldModel, ...]:
    """Return one field of every kind that the presets have, by its yards, as long as is usual."""
    kinds: dict[tuple[float, float, float], FieldModel] = {}
    for name in preset_names():
        field = preset(name)
        kinds.setdefault((field.length_yd, field.width_yd, field.yard_line_every_yd), field)
    return tuple(_as_kind(field) for field in kinds.values())


def rarer_kinds() -> tuple[FieldModel, ...]:
    """Return kinds of field that no preset has: a print is taken for one only where its one-yard marks show it.

    Youth, eight-man and flag football are played on fields of 80 x 40 and 60 x 30 yards.
    """
    usual, kinds = preset("ultimate"), []
    for length_yd in (80.0, 60.0):
        width_yd, rows = length_yd / 2, (usual.hash_rows_y_yd, usual.number_rows_y_yd)
        hashes, numbers = (tuple(y * length_yd / 2 / usual.width_yd for y in row) for row in rows)
        kind = dataclasses.replace(
            usual, length_yd=length_yd, width_yd=width_yd, hash_rows_y_yd=hashes, number_rows_y_yd=numbers
        )
        kinds.append(_as_kind(kind))
    return tuple(kinds)


def _ten_yard_kinds_of(lines: FieldLines) -> tuple[FieldModel, ...]:
    """Return the kinds that are long enough to be printed with a line every ten yards only, in that print.

    None where there are many more lines than these have.
    """
    tens = tuple(
        dataclasses.replace(
            kind,
            name=f"{kind.name} with a line every ten",
            title=f"{kind.title} with a line every ten",
            yard_line_every_yd=_TEN_YD,
        )
        for kind in kinds_of_field()
        if kind.length_yd >= _TEN_YD * MATCHING_LIMITS.min_rungs and kind.length_yd % _TEN_YD == 0
    )
    rung = lines.ladder.rung
    most = max(round((kind.length_yd + 2 * kind.end_zone_yd) / _TEN_YD) + 1 for kind in tens)
    return tens if len(np.unique(rung[rung != NO_RUNG])) <= most else ()


def _as_kind(field: FieldModel) -> FieldModel:
    along = PRINT_PRIOR_LIMITS.length_mm / field.length_yd
    return dataclasses.replace(
        field,
        name=f"{field.length_yd:g} yards",
        title=f"A field of {field.length_yd:g} yards",
        mm_per_yd_x=along,
        mm_per_yd_y=along * PRINT_PRIOR_LIMITS.yard_ratio,
        line_mm=1.6,
        measured=False,
        source="",
    )


def recognized(solution: FieldSolution, fields: Sequence[FieldModel]) -> FieldSolution:
    """Return a solution of an unknown print with the size that the presets it may be lend it, and the likeliest's name.

    A preset counts by how well its proportions and rows agree with the picture's, against any other board of its kind;
    the size is the mean of all, with their spread.
    """
    field = solution.field
    shares, sizes, spreads = [1 - PRINT_PRIOR_LIMITS.preset_share], [0.0], [PRINT_PRIOR_LIMITS.length_spread]
    alike = []
    for each in fields:
        kind = (each.length_yd, each.width_yd, each.yard_line_every_yd)
        if kind == (field.length_yd, field.width_yd, field.yard_line_every_yd):
            alike.append(each)
            shares.append(PRINT_PRIOR_LIMITS.preset_share / len(fields) * _likelihood_ratio(solution, each))
            sizes.append(math.log(each.mm_per_yd_x / field.mm_per_yd_x))
            spreads.append(PRINT_PRIOR_LIMITS.rough_scale)
    weight = np.array(shares) / sum(shares)
    mean = float(weight @ sizes)
    spread = math.sqrt(float(weight @ (np.square(spreads) + np.square(np.array(sizes) - mean))))
    found = dataclasses.replace(solution.scaled(math.exp(mean)), scale=ScaleError(spread))
    best = int(np.argmax(weight))
    if best == 0:
        return found
    named = alike[best - 1]
    named = dataclasses.replace(found.field, name=named.name, title=named.title, source=named.source)
    return dataclasses.replace(found, field=named)


def _likelihood_ratio(solution: FieldSolution, field: FieldModel) -> float:
    """Return how much likelier the proportions and rows in the picture are of a preset than of any other board."""
    seen, known = solution.field, solution.fit.covariance
    variance = float(known[STRETCH, STRETCH]) if len(known) > STRETCH else 0.0
    ratio = math.log(seen.mm_per_yd_y / seen.mm_per_yd_x)
    wide, usual = UNKNOWN.spread**2 + variance, math.log(PRINT_PRIOR_LIMITS.yard_ratio)
    near = PRINT_PRIOR_LIMITS.preset_ratio**2 + variance
    off = ratio - math.log(field.mm_per_yd_y / field.mm_per_yd_x)
    log = -0.5 * off**2 / near + 0.5 * (ratio - usual) ** 2 / wide + 0.5 * math.log(wide / near)
    for rows, others in ((seen.hash_rows_y_yd, field.hash_rows_y_yd), (seen.number_rows_y_yd, field.number_rows_y_yd)):
        same = len(rows) == len(others) and np.allclose(rows, others, atol=PRINT_PRIOR_LIMITS.same_rows_yd)
        by_chance, missed = PRINT_PRIOR_LIMITS.common_rows, PRINT_PRIOR_LIMITS.missed_rows
        log += math.log((1 - missed) / by_chance if same else missed / (1 - by_chance))
    return math.exp(log)
