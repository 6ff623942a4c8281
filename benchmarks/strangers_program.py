"""Measure what covers the program's paint on clips of strangers, whose figures no code of the program has drawn.

Run: BLENDER_PYTHON=.../python PYTHONPATH=tests python benchmarks/strangers_program.py CLIPS [--clips 4]
    [--frames 3] [--pictures FOLDER]

CLIPS is a folder of `strangers_clips.py`. Two lines are painted where most figures are, as the rig paints, with the
scenes and the camera of the truth. Of some frames in the last part of each clip Blender says which pixels figures,
ball and hands cover; the share of the edge pixels on the paint that are within 2 px of that is printed, both ways.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import av
import cv2
import numpy as np
from pinhole import covering
from program_scenes import ProgramFrame, edge_errors_px, paint_seen
from strangers import lens_maps, plain
from strangers_clips import SAMPLES, SEED, clip_scene

from downfield.broadcast.program.board_painter import BoardPainter
from downfield.broadcast.program.board_shapes import BoardShape
from downfield.calibration.calibration import read_calibration
from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.field.model import FieldModel
from downfield.core.scene import Scene
from downfield.core.track_files import TrackFile

_PAINT: Final = (255, 0, 255)
_LINE_MM: Final = 24.0
_FIRST: Final = 0.6  # share of a clip before the frames that are measured: the board is learned meanwhile


def lines(scene: Scene, field: FieldModel) -> list[BoardShape]:
    """Return two wide lines across the board where most figures are."""
    made = []
    for x_mm in np.percentile([figure.x_mm for figure in scene.figures], (30, 70)):
        y_mm = np.linspace(0, field.width_mm, 30)
        left, right = (np.column_stack([np.full(30, x_mm + side), y_mm]) for side in (-_LINE_MM / 2, _LINE_MM / 2))
        made.append(BoardShape((np.concatenate([left, right[::-1]]),), _PAINT, 1.0))
    return made


def painted_area(shapes: Sequence[BoardShape], camera: Camera) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the pixels inside shapes, shape (height, width)."""
    width, height = camera.lens.size_px
    area = np.zeros((height, width), np.uint8)
    for shape in shapes:
        pixels = camera.to_pixels(np.column_stack([shape.outlines_mm[0], np.zeros(len(shape.outlines_mm[0]))]))
        cv2.fillPoly(area, [np.round(pixels).astype(np.int32)], 1)
    return cv2.erode(area, np.ones((3, 3), np.uint8)).astype(bool)


def covered(number: int, frames: Sequence[int], python: str) -> Iterator[np.ndarray[Any, np.dtype[np.bool_]]]:
    """Yield the pixels that something covers in frames of a clip, shape (height, width)."""
    script = Path(__file__).with_name("strangers_blender.py")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        quality = {"samples": SAMPLES, "threads": os.cpu_count() or 1}
        _, camera, order = clip_scene(number, np.random.default_rng([SEED, number]), folder, quality)
        maps = lens_maps(covering(camera.lens), camera.lens)
        for frame in frames:
            moved = order["frames"][frame]
            figures = [figure | {"pose": pose} for figure, pose in zip(order["figures"], moved["poses"], strict=True)]
            still = {key: value for key, value in order.items() if key != "frames"}
            still |= {"figures": figures, "hands": moved["hands"], "ball": moved["ball"]}
            (folder / "scene.json").write_text(json.dumps(still, default=plain))
            words = (python, str(script), *(str(folder / file) for file in ("scene.json", "ideal.png", "index.npy")))
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if not (folder / "index.npy").is_file():
                raise SystemExit(f"clip {number}: Blender stopped: {done.stderr.strip()[-400:]}")
            index = np.load(folder / "index.npy").astype(np.float32)
            (folder / "index.npy").unlink()
            yield np.asarray(cv2.remap(index, *maps, interpolation=cv2.INTER_NEAREST) > 0)


def measure(clips: Path, number: int, count: int, python: str, pictures: Path | None) -> np.ndarray[Any, Any]:
    """Return how far edge pixels are from where they should be, in some frames of a clip."""
    name = clips / f"{number:02d}"
    calibration = read_calibration(name.with_suffix(".calibration.json"))
    tracks = TrackFile(name.with_suffix(".tracks.jsonl"))
    scenes = list(tracks)
    frames = np.linspace(_FIRST * len(scenes), len(scenes) - 1, count).astype(int).tolist()
    truths = dict(zip(frames, covered(number, frames, python), strict=True))
    painter = BoardPainter(calibration.camera, calibration.field)
    painter.use_roster(tracks.header.players)
    shapes = lines(scenes[frames[0]], calibration.field)
    area, errors = painted_area(shapes, calibration.camera), []
    with av.open(str(name.with_suffix(".mp4"))) as container:
        for place, decoded in enumerate(container.decode(video=0)):
            image: Image = np.asarray(decoded.to_ndarray(format="bgr24"), dtype=np.uint8)
            painted = painter.paint(image, scenes[place], shapes).image
            if place not in truths:
                continue
            truth = ProgramFrame(scenes[place], image, calibration.camera, truths[place])
            errors.append(edge_errors_px(paint_seen(image, painted), truth, area))
            if pictures is not None:
                wrong = (paint_seen(image, painted) == truths[place]) & area
                shown = np.hstack([painted, np.where(wrong[..., None], (0, 255, 255), painted).astype(np.uint8)])
                cv2.imwrite(str(pictures / f"{number:02d}-{place:03d}.png"), shown)
    return np.concatenate(errors)


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clips", type=int, default=4)
    parser.add_argument("--frames", type=int, default=3, help="of each clip")
    parser.add_argument("--pictures", type=Path, help="folder that gets every measured frame, with what is wrong")
    options = parser.parse_args()
    python = os.environ.get("BLENDER_PYTHON")
    if not python:
        parser.error("set BLENDER_PYTHON to a Python that has bpy (strangers.py says how)")
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    cv2.setNumThreads(1)
    every = []
    for number in range(options.clips):
        every.append(measure(options.folder, number, options.frames, python, options.pictures))
        within = 100 * (every[-1] <= 2).mean()
        sys.stdout.write(f"clip {number}: {within:.1f} % of {len(every[-1])} edge pixels within 2 px\n")
        sys.stdout.flush()
    edges = np.concatenate(every)
    share, most = 100 * (edges <= 2).mean(), np.percentile(edges, 95)
    sys.stdout.write(f"all: {share:.1f} % of {len(edges)} within 2 px, 95 % within {most:.1f} px\n")


if __name__ == "__main__":
    main()
