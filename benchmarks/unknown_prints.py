"""Measures calibrations on boards that no code of the product knows, at four levels of what a person tells of them.

Run: python benchmarks/unknown_prints.py --count N --split development|held [--first N] [--given file,one,two,none]

Boards of `unknown_makers.py` are photographed by `unknown_cameras.py`. Of each a person gives: `file`, a field file as
measured with a tape; `one`, the length from goal line to goal line; `two`, the one from sideline to sideline as well;
`none`. The held split has makers of its own: look at its figures, never at its pictures or refusals one by one.

A picture is right where base tops are nowhere off by 0.3 yd; without any length, where the paint is nowhere: base tops
then need millimeters. It is wrong and sure where a place is off by that and by four standard deviations; wrong and not
sure where the stated error says so. Errors are those of 231 corners of base tops all over the field, of 3 to 6 mm high.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from unknown_cameras import KINDS, Photograph, photograph
from unknown_makers import MAKERS, Split

from downfield.calibration.calibration import Calibration
from downfield.calibration.field.measurements import FieldMeasurements
from downfield.calibration.field.proposal import propose_field
from downfield.calibration.field.solution import AmbiguousField
from downfield.calibration.field.solver import solve_field
from downfield.core.arrays import Array
from downfield.core.errors import CalibrationError, InputError

Given = Literal["file", "one", "two", "none"]
Outcome = Literal["right", "wrong and sure", "wrong, not sure", "asked", "refused"]

GIVEN: Final[tuple[Given, ...]] = ("file", "one", "two", "none")
OUTCOMES: Final[tuple[Outcome, ...]] = ("right", "wrong and sure", "wrong, not sure", "asked", "refused")
_OFF_YD: Final = 0.3
_SURE: Final = 4.0  # standard deviations
_TAPE_MM: Final = 1.2
_TILT_STEP_DEG: Final = 5
_TILTS: Final = tuple(f"{low} to {low + _TILT_STEP_DEG} degrees" for low in range(0, 25, _TILT_STEP_DEG))


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one picture at one level."""

    given: Given
    lens: str
    maker: int
    tilt: str
    outcome: Outcome
    seconds: float
    off_yd: Array
    sigmas: Array


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--split", choices=tuple(MAKERS), default="development")
    parser.add_argument("--given", default=",".join(GIVEN))
    options = parser.parse_args()
    levels = [given for given in GIVEN if given in options.given.split(",")]
    results, drawing = [], []
    for number in range(options.first, options.first + options.count):
        begin = time.process_time()
        photo = photograph(options.split, number)
        drawing.append(time.process_time() - begin)
        results += [_measured(photo, given, number, options.split) for given in levels]
    print(f"\n{options.split}: {options.count} pictures, drawn in {np.median(drawing):.1f} CPU s each")
    for given in levels:
        _print_row(given, [result for result in results if result.given == given])
    for name, kinds in (("lens", KINDS), ("tilt", _TILTS), ("maker", range(len(MAKERS[options.split])))):
        for kind in kinds:
            for given in levels:
                some = [result for result in results if result.given == given and getattr(result, name) == kind]
                if some:
                    _print_row(f"{name} {kind}, {given}", some)


def _measured(photo: Photograph, given: Given, number: int, split: Split) -> Result:
    """Solve a picture, print what came of it, and return that."""
    none = np.zeros((0, 2))
    rng = np.random.default_rng([number, GIVEN.index(given), 29])
    begin = time.process_time()
    outcome: Outcome
    try:
        calibration = _solved(photo, given, rng)
        seconds, text = time.process_time() - begin, ""
    except AmbiguousField as several:
        seconds, outcome, off, sigmas = time.process_time() - begin, "asked", none, none
        text = " | ".join(reading.label for reading in several.readings)
    except (CalibrationError, InputError) as error:
        seconds, outcome, off, sigmas, text = time.process_time() - begin, "refused", none, none, str(error)
    else:
        off, sigmas = _errors(photo, calibration, photo.top_mm)
        paint, _ = _errors(photo, calibration, 0.0) if given == "none" else (off, sigmas)
        far = np.linalg.norm(paint, axis=1).max() >= _OFF_YD
        sure = bool(((np.linalg.norm(off, axis=1) >= _OFF_YD) & (np.abs(sigmas).max(axis=1) > _SURE)).any())
        outcome = "wrong and sure" if sure else "wrong, not sure" if far else "right"
        text = (
            f"base tops p95 {_high(off):.3f} yd, at most {np.linalg.norm(off, axis=1).max():.3f}, within 2 sigma"
            f" {(np.abs(sigmas) < 2).mean():.2f}"
        )
    view, kind = photo.view, photo.view.optics.kind
    if split == "held" and outcome in {"asked", "refused"}:
        text = ""  # nobody tunes on what these say
    print(
        f"{number:4d} {given:4s} {kind:7s} tilt {view.tilt_deg:4.1f} maker {photo.board.maker} {outcome:15s} {text},"
        f" {seconds:.1f} s",
        flush=True,
    )
    tilt = _TILTS[min(int(view.tilt_deg / _TILT_STEP_DEG), len(_TILTS) - 1)]
    return Result(given, kind, photo.board.maker, tilt, outcome, seconds, off, sigmas)


def _solved(photo: Photograph, given: Given, rng: np.random.Generator) -> Calibration:
    """Calibrate from a picture and what a person gives.

    Raises:
        AmbiguousField: there are several readings.
        CalibrationError: it is refused.
    """
    board = photo.board
    if given == "file":
        return solve_field([photo.image], [board.described(rng)]).calibration()
    long_mm = board.length_yd * board.yard_mm[0] + rng.normal(0, _TAPE_MM)
    wide_mm = board.width_yd * board.yard_mm[1] + rng.normal(0, _TAPE_MM)
    if given == "none":
        return propose_field([photo.image]).solution.calibration()
    lengths = FieldMeasurements(long_mm, wide_mm if given == "two" else None)
    return propose_field([photo.image], measurements=lengths).solution.calibration()


def _errors(photo: Photograph, calibration: Calibration, height_mm: float) -> tuple[Array, Array]:
    """Return errors over the field, yards, and in standard deviations, both (n, 2); a half turn is the same field."""
    true_yd, board = photo.places_yd(), photo.board
    found_mm, covariance = calibration.to_board_with_cov(photo.places_px(height_mm), height_mm)
    found_yd = calibration.field.to_yards(found_mm)
    turned = np.array([board.length_yd, board.width_yd]) - true_yd
    both = (np.nan_to_num(found_yd - true_yd, nan=99.0), np.nan_to_num(found_yd - turned, nan=99.0))
    off = min(both, key=lambda error: float(np.abs(error).mean()))
    sigma_yd = np.sqrt(np.einsum("nii->ni", covariance)) / calibration.field.mm_per_yd
    return off, off / np.maximum(np.nan_to_num(sigma_yd, nan=1e-9), 1e-9)


def _high(off_yd: Array) -> float:
    return float(np.percentile(np.linalg.norm(off_yd, axis=1), 95))


def _print_row(name: str, results: list[Result]) -> None:
    tally: dict[str, int] = defaultdict(int)
    for result in results:
        tally[result.outcome] += 1
    counts = ", ".join(f"{outcome} {tally[outcome]}" for outcome in OUTCOMES)
    right = [result for result in results if result.outcome == "right"]
    text = ""
    if right:
        off, sigmas = np.concatenate([r.off_yd for r in right]), np.concatenate([r.sigmas for r in right])
        text = f"; base tops p95 {_high(off):.3f} yd, 2 sigma hold {(np.abs(sigmas) < 2).mean():.1%}"
    seconds = [result.seconds for result in results]
    print(
        f"{name:22s} {len(results):3d}: {counts} ({tally['right'] / len(results):.0%} right){text};"
        f" {np.median(seconds):.1f} CPU s (median), {max(seconds):.1f} (longest)"
    )


if __name__ == "__main__":
    main()
