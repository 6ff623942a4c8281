"""Measures calibrations on prints of many conventions, drawn by `print_conventions.py`, against their exact truth.

Run: python benchmarks/prints.py [rough|none|mirrored] [COUNT] [FIRST] [ideal]     (default rough 40 0)
     rough: with a field file that has the sizes to 3 % and nothing of the paint; none: without any; mirrored: all of
     them have to be refused or asked about. They are photographed with lenses that owners of webcams published
     (`webcam_lenses.py`), as what is said of errors is said of webcams; ideal: with drawn lenses that have nothing but
     barrel distortion. Tables 0 to 999 are for development; reports are made with 1000 and more, held out.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from calibration_errors import position_errors
from print_conventions import PhotographedTable, photograph_table, rough_field

from downfield.calibration.field.proposal import KnownLength, propose_field
from downfield.calibration.field.solution import AmbiguousField, FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.core.errors import CalibrationError
from downfield.core.footprint import BASE_TOP_MM

_WRONG_YD = 0.5  # a solution further off than this on the paint is wrong, not just inexact


@dataclass
class Tally:
    """What became of the tables so far."""

    count: int = 0
    right: int = 0
    wrong: int = 0
    ambiguous: int = 0

    def text(self) -> str:
        """Return it in one line."""
        refused = self.count - self.right - self.wrong - self.ambiguous
        return (
            f"{self.count} tables: right {self.right} ({self.right / max(self.count, 1):.1%}), several readings"
            f" {self.ambiguous}, refused {refused}, wrong and confident {self.wrong}"
        )


def main() -> None:
    """Run the benchmark that the command line names."""
    mode = sys.argv[1] if len(sys.argv) > 1 else "rough"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    webcam = sys.argv[4:] != ["ideal"]
    tally, errors, ratios, seconds = Tally(), [], [], []
    for seed in range(first, first + count):
        table = photograph_table(seed, mirrored=mode == "mirrored", webcam=webcam)
        tally.count += 1
        begin = time.process_time()
        try:
            solution = _solve(table, mode, seed)
        except AmbiguousField as several:
            tally.ambiguous += 1
            print(f"{seed:4d} several readings: {several}", flush=True)
            continue
        except CalibrationError as error:
            print(f"{seed:4d} refused: {error}", flush=True)
            continue
        finally:
            seconds.append(time.process_time() - begin)
        calibration = solution.calibration()
        paint_yd, _ = position_errors(calibration, table.camera, table.field, 0.0)
        top_yd, ratio = position_errors(calibration, table.camera, table.field, BASE_TOP_MM)
        right = float(np.linalg.norm(paint_yd, axis=1).max()) < _WRONG_YD and mode != "mirrored"
        tally.right, tally.wrong = tally.right + right, tally.wrong + (not right)
        off = np.linalg.norm(top_yd, axis=1)
        if right:
            errors.append(off)
            ratios.append(ratio)
        print(
            f"{seed:4d} {'right' if right else 'WRONG'} tilt {table.camera.tilt_deg:4.1f}, base tops median"
            f" {np.median(off):.3f} p95 {np.percentile(off, 95):.3f} yd, within 2 sigma"
            f" {(np.abs(ratio) < 2).mean():.2f}, {seconds[-1]:.1f} s",
            flush=True,
        )
    print(f"\n{mode}: {tally.text()}; {np.median(seconds):.1f} CPU s a table (median), {max(seconds):.1f} (longest)")
    if errors:
        pooled, sigmas = np.concatenate(errors), np.concatenate(ratios)
        print(f"base tops, from true pixels: median {np.median(pooled):.4f} yd, p95 {np.percentile(pooled, 95):.4f} yd")
        print(f"2 sigma covers {(np.abs(sigmas) < 2).mean():.1%} of the errors")


def _solve(table: PhotographedTable, mode: str, seed: int) -> FieldSolution:
    if mode != "none":
        return solve_field([table.image], [rough_field(table, seed)])
    # A ruler along the field, from the goal to the tenth yard line of five, measured to half a millimeter.
    ends_mm = np.array([(0.0, 0.3), (50.0, 0.3)]) * table.field.mm_per_yd
    ends_mm[:, 1] += 0.2 * table.field.width_mm
    ends = table.camera.to_pixels(ends_mm)
    (x0, y0), (x1, y1) = ends.tolist()
    length = float(np.linalg.norm(ends_mm[1] - ends_mm[0])) + float(np.random.default_rng(seed).normal(0, 0.5))
    return propose_field([table.image], KnownLength(length, ((x0, y0), (x1, y1)), "a ruler")).solution


if __name__ == "__main__":
    main()
