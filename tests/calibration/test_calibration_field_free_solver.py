from __future__ import annotations

import numpy as np
import pytest
from print_conventions import PhotographedTable, photograph_table, rough_field

from downfield.calibration.field.proposal import KnownLength, propose_field
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.core.errors import CalibrationError

SEED = 8  # a border of its own color, thick goal lines inside the field, ticks, 50 yards


@pytest.fixture(scope="module")
def table() -> PhotographedTable:
    return photograph_table(SEED)


@pytest.fixture(scope="module")
def solution(table: PhotographedTable) -> FieldSolution:
    return solve_field([table.image], [rough_field(table, SEED)])


def test_a_print_described_roughly_is_solved_with_its_own_proportions(
    table: PhotographedTable, solution: FieldSolution
) -> None:
    rough, found, true = rough_field(table, SEED), solution.field, table.field
    x, y = np.meshgrid(np.linspace(0, true.length_mm, 11), np.linspace(0, true.width_mm, 7))
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    yards = solution.fit.camera.to_board(table.camera.to_pixels(points)) / found.mm_per_yd
    assert np.abs(yards - points / true.mm_per_yd).max() < 0.06
    proportions = true.mm_per_yd_y / true.mm_per_yd_x
    assert found.mm_per_yd_y / found.mm_per_yd_x == pytest.approx(proportions, rel=0.004)
    assert abs(rough.mm_per_yd_y / rough.mm_per_yd_x / proportions - 1) > 0.004


def test_goal_lines_and_border_are_measured_as_they_are_painted(
    table: PhotographedTable, solution: FieldSolution
) -> None:
    true = table.field
    scale = true.mm_per_yd_x / solution.field.mm_per_yd_x
    assert solution.field.goal_line.zero == true.goal_line.zero
    assert solution.field.line_width_mm("goal_line") * scale == pytest.approx(true.line_width_mm("goal_line"), abs=0.3)
    assert solution.field.line_width_mm("sideline") * scale == pytest.approx(true.line_width_mm("sideline"), abs=0.4)
    assert solution.field.number_rows_y_yd == pytest.approx(true.number_rows_y_yd, abs=0.3)


def test_a_mirrored_print_of_another_convention_is_refused(table: PhotographedTable) -> None:
    with pytest.raises(CalibrationError, match="mirrored"):
        solve_field([np.ascontiguousarray(table.image[:, ::-1])], [rough_field(table, SEED)])


def test_a_print_that_nobody_described_is_read_to_the_scale_of_one_length(table: PhotographedTable) -> None:
    true = table.field
    ends_mm = np.array([(10.0, 7.0), (40.0, 7.0)]) * true.mm_per_yd
    (x0, y0), (x1, y1) = table.camera.to_pixels(ends_mm).tolist()
    known = KnownLength(30 * true.mm_per_yd_x, ((x0, y0), (x1, y1)), "a ruler")
    proposal = propose_field([table.image], known)
    found = proposal.field
    assert found.length_yd == true.length_yd
    assert found.mm_per_yd == pytest.approx(true.mm_per_yd, rel=0.006)
    assert found.hash_rows_y_yd == pytest.approx(true.hash_rows_y_yd, abs=0.3)
    assert f"50 yards, {found.mm_per_yd_x:.2f} mm along" in proposal.summary
    assert "a ruler of" in proposal.summary
    goals = np.array([(0.0, 5.0), (50.0, 20.0)])
    seen = proposal.solution.fit.camera.to_board(table.camera.to_pixels(goals * true.mm_per_yd)) / found.mm_per_yd
    assert np.abs(seen - goals).max() < 0.1
