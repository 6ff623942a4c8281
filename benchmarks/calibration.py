"""Measures calibrations on tables that nothing was tuned on: correctness, accuracy, error estimates, shake, bumps.

Run: python benchmarks/calibration.py [TABLES] [SPLIT] [figures|tape|alone] [rough|exact]
         (compositor tables, default 40 of the test split; the camera's distance estimated from figures, measured by
         tape with an error of 8 mm, or unknown; the field's file taken for rough, so the print is measured, or exact)
     python benchmarks/calibration.py set FOLDER [SPLIT] [figures|tape|alone] [rough|exact]
         (pictures of `downfield twin dataset`)
     python benchmarks/calibration.py chessboards [FOLDER]  (OpenCV's sample photographs: left01..14.jpg, or .gz)
     python benchmarks/calibration.py shake
     python benchmarks/calibration.py bump
"""

from __future__ import annotations

import dataclasses
import gzip
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import cv2
import numpy as np
from calibration_errors import position_errors
from calibration_tables import RenderedTable, line_up, table

from downfield.calibration.camera import Camera
from downfield.calibration.field.solver import solve_field
from downfield.calibration.lens.lens_calibration import LensView, calibrate_lens
from downfield.calibration.online.calibrator import OnlineCalibrator
from downfield.calibration.online.shake import ShakeTracker
from downfield.core.arrays import Array, Image
from downfield.core.errors import CalibrationError, InputError
from downfield.core.footprint import BASE_TOP_MM
from downfield.rig.tables.table_calibration import lens_from_distance
from downfield.twin.film.film import film
from downfield.twin.randomization.deck import Split, split_named
from downfield.twin.randomization.tables import draw_players, draw_table
from downfield.twin.render.compositor import Compositor
from downfield.twin.sets.dataset import read_samples

_WRONG_YD = 0.5  # a solution further off than this on the paint is wrong, not just inexact
_CHESSBOARDS = Path("/usr/share/doc/opencv-doc/examples/data")
_SQUARE_MM = 25.0
_TAPE_OFF_MM = 8.0


def main() -> None:
    """Run the benchmark that the command line names."""
    what = sys.argv[1] if len(sys.argv) > 1 else "40"
    if what == "shake":
        shake()
    elif what == "bump":
        bump()
    elif what == "chessboards":
        chessboards(Path(sys.argv[2]) if len(sys.argv) > 2 else _CHESSBOARDS)
    else:
        words = sys.argv[2:] if what == "set" else sys.argv[1:]
        split = split_named(words[1] if len(words) > 1 else "test")
        known = words[2] if len(words) > 2 else "figures"
        exact = len(words) > 3 and words[3] == "exact"
        tables = pictures(Path(words[0]), split) if what == "set" else (table(i, split) for i in range(int(what)))
        report(
            tables, f"tables of the {split} split, {known}, {'exact' if exact else 'rough'} file", known, exact=exact
        )


def report(tables: Iterable[RenderedTable], what: str, known: str, *, exact: bool) -> None:
    """Solve tables and compare with the truth."""
    tape = np.random.default_rng(3)
    errors: list[Array] = []
    ratios: list[Array] = []
    right = wrong = 0
    seconds = []
    for count, (image, camera, field) in enumerate(tables):
        begin = time.process_time()
        try:
            height_mm = float(camera.position_mm[2] + tape.normal(0, _TAPE_OFF_MM)) if known == "tape" else None
            distance = None if known == "alone" else lens_from_distance(image, height_mm)
            described = dataclasses.replace(field, measured=exact)
            solution = solve_field([image], [described], distance=distance)
        except CalibrationError as error:
            print(f"{count:4d} {field.name:<10} refused: {error}", flush=True)
            continue
        seconds.append(time.process_time() - begin)
        calibration = solution.calibration()
        paint_yd, _ = position_errors(calibration, camera, field, 0.0)
        error_yd, ratio = position_errors(calibration, camera, field, BASE_TOP_MM)
        is_right = float(np.linalg.norm(paint_yd, axis=1).max()) < _WRONG_YD
        right, wrong = right + is_right, wrong + (not is_right)
        if is_right:
            errors.append(np.linalg.norm(error_yd, axis=1))
            ratios.append(ratio)
        focal = solution.fit.camera.lens.focal_px[0] / camera.lens.focal_px[0]
        off = np.linalg.norm(error_yd, axis=1)
        print(
            f"{count:4d} {field.name:<10} tilt {camera.tilt_deg:4.1f} {'right' if is_right else 'WRONG'} median"
            f" {np.median(off):.3f} p95 {np.percentile(off, 95):.3f} yd, focal x{focal:.3f}, within 2 sigma"
            f" {(np.abs(ratio) < 2).mean():.2f}",
            flush=True,
        )
    pooled, sigmas = np.concatenate(errors), np.concatenate(ratios)
    print(f"\n{count + 1} {what}: right {right}, wrong {wrong}, refused {count + 1 - right - wrong}")
    print(f"base tops, from true pixels: median {np.median(pooled):.4f} yd, p95 {np.percentile(pooled, 95):.4f} yd")
    print(f"2 sigma covers {(np.abs(sigmas) < 2).mean():.1%} of the errors; {np.median(seconds):.1f} CPU s per table")


def pictures(folder: Path, split: Split) -> Iterator[RenderedTable]:
    """Yield pictures of a data set with their truth."""
    for sample in read_samples(folder, split):
        image = cv2.imread(str(folder / sample.image), cv2.IMREAD_COLOR)
        if image is None:
            raise InputError(f"{folder / sample.image}: can't be read")
        yield np.asarray(image, dtype=np.uint8), sample.calibration.camera, sample.calibration.field


def shake() -> None:
    """Move one table's picture by 1 to 3 px and follow it."""
    cv2.setNumThreads(1)
    image, camera, field = table(3, "test")
    tracker = ShakeTracker(image, camera, field)
    rng = np.random.default_rng(1)
    ends = camera.to_pixels(field.to_mm(np.array([(0, 0), (0, 1), (1, 0), (1, 1)]) * [field.length_yd, field.width_yd]))
    off, seconds = [], []
    for _ in range(60):
        toward, far = rng.uniform(0, 2 * np.pi), rng.uniform(1, 3)
        move = np.array([[1.0, 0.0, far * np.cos(toward)], [0.0, 1.0, far * np.sin(toward)]])
        moved = cv2.warpAffine(image, move, image.shape[1::-1], flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        noisy = np.clip(moved + rng.normal(0, 2, image.shape), 0, 255).astype(np.uint8)
        begin = time.process_time()
        found = tracker.track(noisy).move
        seconds.append(time.process_time() - begin)
        wanted = ends + move[:, 2]
        off.append(np.linalg.norm(ends @ found[:, :2].T + found[:, 2] - wanted, axis=1).max())
    milliseconds = 1e3 * float(np.median(seconds))
    print(
        f"shake of 1-3 px at the field's corners: p95 error {np.percentile(off, 95):.3f} px, {milliseconds:.1f} CPU ms"
    )


def bump(tables: int = 6, fps: int = 30) -> None:
    """Bump the cameras of some tables and measure when it is noticed and when it is solved again."""
    cv2.setNumThreads(1)
    noticed_s: list[float] = []
    solved_s: list[float] = []
    off_yd: list[float] = []
    for seed in range(tables):
        players = draw_players(seed, split="test")
        look = draw_table(seed, players, split="test")
        at_rest = line_up(look, players, 1)
        pushed = dataclasses.replace(look, camera=_pushed(look.camera, seed))
        before, after = (next(iter(film(Compositor(view, players), [at_rest], seed=seed))) for view in (look, pushed))
        solution = solve_field([before.image], [look.field])
        known = solution.calibration()
        calibrator, seconds = OnlineCalibrator(known, in_background=False), 0.0
        for i, image in enumerate([before.image] * 5 + [after.image] * 3 * fps):
            begin = time.process_time()
            status = calibrator.update(image, i * 1_000_000_000 // fps)
            cost = time.process_time() - begin
            if status.state == "bumped" and len(noticed_s) == seed:
                noticed_s.append((i - 5) / fps)
            if status.state == "resolving":
                seconds += cost
            if status.solutions:
                solved_s.append((i - 5) / fps + seconds)
                error_yd, _ = position_errors(status.calibration, after.camera, look.field, 0.0)
                off_yd.append(float(np.percentile(np.linalg.norm(error_yd, axis=1), 95)))
                break
    print(
        f"{tables} bumped cameras, {len(solved_s)} solved again: noticed after {max(noticed_s):.2f} s, solved"
        f" {np.median(solved_s):.2f} s (median), {max(solved_s):.2f} s (longest) after they are still, to"
        f" {max(off_yd):.3f} yd on the paint (p95, worst)"
    )


def _pushed(camera: Camera, seed: int) -> Camera:
    """Return the camera after a push of some ten pixels."""
    rng = np.random.default_rng([seed, 0xB0])
    rx, ry, rz = (np.array(camera.rotation) + rng.normal(0, 0.004, 3)).tolist()
    tx, ty, tz = (np.array(camera.translation_mm) + rng.normal(0, 4, 3)).tolist()
    return dataclasses.replace(camera, rotation=(rx, ry, rz), translation_mm=(tx, ty, tz))


def detect_chessboard(image: Image, columns: int, rows: int, square_mm: float) -> LensView | None:
    """Detect the inner corners of a plain chessboard in a gray picture: all of them, or None.

    Args:
        image: gray, shape (height, width).
        columns: inner corners along its longer side.
        rows: inner corners along its shorter side.
        square_mm: side of a square.
    """
    seen, found = cv2.findChessboardCorners(image, (columns, rows))
    if not seen:
        return None
    rough = np.asarray(found, dtype=np.float32).reshape(rows, columns, 2)
    nearest = min(np.linalg.norm(np.diff(rough, axis=axis), axis=2).min() for axis in (0, 1))
    # As much of the four edges that make a corner as there is, without reaching the next corner.
    window = int(np.clip(0.4 * nearest, 3, 7))
    steps = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 60, 1e-4)
    exact = cv2.cornerSubPix(image, rough.reshape(-1, 1, 2), (window, window), (-1, -1), steps)
    points = np.zeros((rows * columns, 3), dtype=np.float32)
    points[:, :2] = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2) * square_mm
    return LensView(points, np.asarray(exact, dtype=np.float32).reshape(-1, 2))


def chessboards(folder: Path) -> None:
    """Measure the lens from OpenCV's sample photographs, and the plane error of corners held out of each pose."""
    views = []
    size = (0, 0)
    for path in sorted(folder.glob("left[0-9][0-9].jpg*")):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE)
        if image is None:
            continue
        size = (image.shape[1], image.shape[0])
        view = detect_chessboard(np.asarray(image, dtype=np.uint8), 9, 6, _SQUARE_MM)
        if view is not None:
            views.append(view)
    lens = calibrate_lens(views, size)
    (fx, fy), (cx, cy) = lens.lens.focal_px, lens.lens.center_px
    matrix = np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])
    errors = np.concatenate([_held_out(view, matrix, np.array(lens.lens.distortion)) for view in views])
    print(
        f"{len(views)} photographs: rms {lens.rms_px:.3f} px; held-out corners {errors.mean():.3f} mm mean on the plane"
    )


def _held_out(view: LensView, matrix: Array, distortion: Array) -> Array:
    """Return the plane errors of half of the corners, mm, with the pose from the other half."""
    used = np.arange(len(view.px)) % 2 == 0
    _, turn, shift = cv2.solvePnP(view.points_mm[used], view.px[used], matrix, distortion)
    rx, ry, rz = np.asarray(turn, dtype=np.float64).ravel().tolist()
    rotation = np.asarray(cv2.Rodrigues(np.array([rx, ry, rz]))[0], dtype=np.float64)
    plane = np.column_stack([rotation[:, 0], rotation[:, 1], np.asarray(shift, dtype=np.float64).ravel()])
    flat = cv2.undistortPoints(view.px[~used].reshape(-1, 1, 2), matrix, distortion).reshape(-1, 2)
    at = np.column_stack([flat, np.ones(len(flat))]) @ np.linalg.inv(plane).T
    error: Array = np.linalg.norm(at[:, :2] / at[:, 2:] - view.points_mm[~used, :2], axis=1)
    return error


if __name__ == "__main__":
    main()
