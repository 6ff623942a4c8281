"""Measures how long a rig without a calibration takes from the first usable frame of a live camera to its calibration.

Run: OPENBLAS_NUM_THREADS=1 python benchmarks/first_calibration.py [TABLES]     (default 3; `downfield` sets it, too)
     The camera is a table of the compositor at 30 frames a second, 1920 x 1080, with 22 figures; as many frames are
     taken as `downfield run` takes. The field's file is taken for rough, so the print is measured in the picture.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from calibration_tables import table

from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError
from downfield.core.field.model import measured_field_toml
from downfield.rig.configuration.settings import CalibrationSettings
from downfield.rig.live.annotated_picture import CALIBRATION_PICTURES, CALIBRATION_STEP
from downfield.rig.tables.table_calibration import calibrate
from downfield.twin.randomization.deck import split_named

FPS = 30


def main() -> None:
    """Calibrate tables as a rig does when it starts, and print the time of each."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    waiting_s = (CALIBRATION_PICTURES - 1) * CALIBRATION_STEP / FPS
    spent: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(count):
            image, _, field = table(seed, split_named("test"))
            described = Path(folder) / f"{seed}.toml"
            described.write_text(measured_field_toml(field), encoding="utf-8")
            images = list(_frames(image, seed))
            begin, processor = time.perf_counter(), time.process_time()
            try:
                calibrate(CalibrationSettings(field=str(described)), images, "camera")
            except CalibrationError as error:
                print(f"{seed:3d} refused: {error}", flush=True)
                continue
            processor, wall = time.process_time() - processor, time.perf_counter() - begin
            spent.append(processor)
            print(
                f"{seed:3d} {field.name:<10} {waiting_s:.1f} s of frames, then {processor:.1f} s of processor time,"
                f" {wall:.1f} s by the clock",
                flush=True,
            )
    if spent:
        total = waiting_s + float(np.max(spent))
        print(f"\nlongest of {len(spent)}: {total:.1f} s from the first usable frame, one core all to itself")


def _frames(image: Image, seed: int) -> Iterator[Image]:
    """Yield the frames that a calibration is made from: the same table with noise of its own in each."""
    rng = np.random.default_rng(seed)
    for _ in range(CALIBRATION_PICTURES):
        noisy = image.astype(np.int16) + rng.integers(-3, 4, image.shape, dtype=np.int16)
        yield np.clip(noisy, 0, 255).astype(np.uint8)


if __name__ == "__main__":
    main()
