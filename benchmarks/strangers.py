"""Make the strangers' set: photoreal pictures of tables whose figures, bases, prints and lamps no training draws.

Run: BLENDER_PYTHON=.../python python benchmarks/strangers.py FOLDER [--count 60]

Bodies are molded from balls (`strangers_bodies.py`), prints have conventions of their own (`strangers_prints.py`),
Blender draws them (`strangers_blender.py`), and a webcam model of its own develops them. FOLDER becomes a data set as
`downfield twin dataset` writes one; measure it with `python benchmarks/network.py --data PARENT`, where FOLDER is
`PARENT/strangers`. The set is looked at to report, never to train or to tune. An interrupted run goes on.

Blender's `bpy` needs versions of packages of its own, so it has an environment of its own:
    python3.11 -m venv blender && blender/bin/pip install bpy==4.5.15
    export BLENDER_PYTHON=$PWD/blender/bin/python
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pinhole import Pinhole, covering
from strangers_prints import Print, draw_print
from strangers_scene import base_corners, draw_camera, draw_scene

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera, Lens
from downfield.core.field.model import FieldModel
from downfield.core.records import to_json
from downfield.twin.sets.labels import FigureLabel, Labels, Sample, ThingLabel

Array = NDArray[np.float64]
Rng = np.random.Generator

SEED = 77_000
SAMPLES = 2
_INSET = 0.06  # a corner is looked at this share of the way to the top's middle, as the twin's labels do


def main() -> None:
    """Make the set, or the missing part of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=60, help="pictures the set is to have")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of the path tracer, per pixel")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    python = os.environ.get("BLENDER_PYTHON")
    if not python:
        parser.error("set BLENDER_PYTHON to a Python that has bpy (see the top of this file)")
    images, truth = options.folder / "images" / "test", options.folder / "truth" / "test"
    images.mkdir(parents=True, exist_ok=True)
    truth.mkdir(parents=True, exist_ok=True)
    for number in range(options.count):
        record = truth / f"{number:05d}.jsonl"
        if not record.is_file():
            sample, picture = make_picture(number, python, options.samples, options.threads)
            cv2.imwrite(str(options.folder / sample.image), picture, (cv2.IMWRITE_JPEG_QUALITY, 94))
            record.write_text(to_json(Sample, sample) + "\n")
            print(f"{number + 1} of {options.count}", flush=True)


def make_picture(number: int, python: str, samples: int, threads: int) -> tuple[Sample, NDArray[np.uint8]]:
    """One picture with its truth; everything about it is a function of its number."""
    rng = np.random.default_rng([SEED, number])
    printed = draw_print(rng)
    camera = draw_camera(rng, printed)
    pinhole = covering(camera.lens)
    scene = draw_scene(rng, printed)
    clear = any(figure["base"]["alpha"] < 1 for figure in scene["figures"])
    scene |= {"pinhole": pinhole_order(pinhole, camera), "samples": samples * (3 if clear else 1), "threads": threads}
    with tempfile.TemporaryDirectory(prefix="strangers-") as folder:
        place = Path(folder)
        cv2.imwrite(str(place / "print.png"), printed.image)
        scene["print"] = str(place / "print.png")
        (place / "scene.json").write_text(json.dumps(scene, default=plain))
        script = Path(__file__).with_name("strangers_blender.py")
        words = (python, str(script), str(place / "scene.json"), str(place / "ideal.png"), str(place / "index.npy"))
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        ideal = cv2.imread(str(place / "ideal.png"), cv2.IMREAD_COLOR)
        if ideal is None or not (place / "index.npy").is_file():
            raise SystemExit(f"picture {number}: Blender drew nothing: {done.stderr.strip()[-400:]}")
        owners = np.load(place / "index.npy")
    maps = lens_maps(pinhole, camera.lens)
    seen = cv2.remap(ideal, *maps, interpolation=cv2.INTER_CUBIC)
    index = cv2.remap(owners.astype(np.float32), *maps, interpolation=cv2.INTER_NEAREST).astype(np.int32)
    labels = label(scene, camera, index)
    sample = Sample(
        number,
        f"images/test/{number:05d}.jpg",
        "test",
        number,
        False,
        "blender",
        False,
        Calibration(field_of(printed), camera, "truth"),
        labels,
    )
    return sample, develop(np.asarray(seen, dtype=np.uint8), rng)


def plain(value: Any) -> Any:
    """A number or array of numpy as JSON has it."""
    return value.tolist()


def label(scene: dict[str, Any], camera: Camera, index: NDArray[np.int32]) -> Labels:
    """The labels of a picture, from geometry and from what each pixel shows."""
    figures = []
    for number, figure in enumerate(scene["figures"]):
        made = _figure_label(number, figure, camera, index)
        if made is not None:
            figures.append(made)
    things = []
    if scene["ball"]:
        at, radii = np.array(scene["ball"]["at"]), scene["ball"]["radii"]
        center = camera.to_pixels(at[None])[0]
        reach = float(radii[0]) * _px_per_mm(camera, at)
        shown = float((index == 5001).sum() / max(math.pi * reach * reach * radii[1] / radii[0], 1.0))
        things.append(
            ThingLabel(
                "ball",
                _box(np.array([center - reach, center + reach]), index),
                _pixel(center),
                min(shown, 1.0),
                "loose",
            )
        )
    for k, hand in enumerate(scene["hands"]):
        where = np.argwhere(index == 6001 + k)
        if len(where) > 200:
            box = np.array([where[:, ::-1].min(axis=0), where[:, ::-1].max(axis=0)], dtype=np.float64)
            tip = camera.to_pixels(np.array([hand["tip"]]))[0]
            things.append(ThingLabel("hand", _box(box, index), _pixel(tip), 1.0))
    return Labels(tuple(figures), tuple(things))


def _figure_label(number: int, figure: dict[str, Any], camera: Camera, index: NDArray[np.int32]) -> FigureLabel | None:
    pose, base = np.array(figure["pose"]), figure["base"]
    corners = base_corners(base)[:4] @ pose[:3, :3].T + pose[:3, 3]
    body = np.array([*figure["shirt"], *figure["pants"], *figure["skin"], figure["helmet"]])
    points = np.concatenate([corners, body[:, :3] @ pose[:3, :3].T + pose[:3, 3]])
    pixels = camera.to_pixels(points)
    high, wide = index.shape
    if not ((pixels > -0.5) & (pixels < (wide - 0.5, high - 0.5))).all(axis=1).any():
        return None
    top = pixels[:4]
    area = abs(float(cv2.contourArea(top.astype(np.float32))))
    faces_up = pose[2, 2] > 0.1
    visible = min(float((index == 10 * number + 1).sum()) / max(area, 1.0), 1.0) if faces_up else 0.0
    inset = top + _INSET * (top.mean(axis=0) - top)
    seen = tuple(_at(index, point) in (10 * number + 1, 10 * number + 2) for point in inset)
    hull = abs(float(cv2.contourArea(cv2.convexHull(pixels.astype(np.float32)))))
    parts = sum(int((index == 10 * number + k).sum()) for k in (1, 2, 3, 4))
    helmet = camera.to_pixels((pose[:3, :3] @ np.array(figure["helmet"][:3]) + pose[:3, 3])[None])[0]
    tilt = math.degrees(math.acos(max(-1.0, min(1.0, float(pose[2, 2])))))
    ahead = pose[:3, 0]
    x, y, z = pose[:3, 3].tolist()
    return FigureLabel(
        f"{'dark' if number % 2 == 0 else 'light'}-{number}",
        "dark" if number % 2 == 0 else "light",
        "fallen" if figure["fallen"] else "upright",
        _box(pixels, index),
        tuple(_pixel(p) for p in top),
        seen,
        visible,
        min(parts / max(0.8 * hull, 1.0), 1.0),
        _pixel(helmet),
        _at(index, helmet) == 10 * number + 4,
        (x, y, z),
        math.degrees(math.atan2(ahead[1], ahead[0])),
        tilt,
        (base["length"], base["width"], base["height"], base["corner"]),
        False,
    )


def _at(index: NDArray[np.int32], point: Array) -> int:
    x, y = round(float(point[0])), round(float(point[1]))
    return int(index[y, x]) if 0 <= y < index.shape[0] and 0 <= x < index.shape[1] else -1


def _box(points: Array, index: NDArray[np.int32]) -> tuple[float, float, float, float]:
    high, wide = index.shape
    left, top = np.clip(points.min(axis=0), -0.5, (wide - 0.5, high - 0.5)).tolist()
    right, bottom = np.clip(points.max(axis=0), -0.5, (wide - 0.5, high - 0.5)).tolist()
    return (left, top, right, bottom)


def _pixel(point: Array) -> tuple[float, float]:
    return (float(point[0]), float(point[1]))


def _px_per_mm(camera: Camera, at: Array) -> float:
    a, b = camera.to_pixels(np.array([at, at + np.array([1.0, 0.0, 0.0])]))
    return float(np.linalg.norm(b - a))


def field_of(printed: Print) -> FieldModel:
    """The field model that describes a print's yards; its lines are not described, nothing here calibrates."""
    return FieldModel(
        "stranger", "A stranger's board", 100.0, 53.333, 10.0, printed.yard_mm[0], printed.yard_mm[1], 2.0
    )


def pinhole_order(pinhole: Pinhole, camera: Camera) -> dict[str, Any]:
    """The camera as the Blender script reads it."""
    return {
        "size": pinhole.size_px,
        "focal": pinhole.focal_px,
        "center": pinhole.center_px,
        "to_camera": camera.board_to_camera.tolist(),
        "eye": camera.position_mm.tolist(),
    }


def lens_maps(pinhole: Pinhole, lens: Lens) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Where each pixel of the lens is in the ideal picture, for `cv2.remap`."""
    wide, high = lens.size_px
    x, y = np.meshgrid(np.arange(wide, dtype=np.float64), np.arange(high, dtype=np.float64))
    rays = lens.undistort(np.stack([x.ravel(), y.ravel()], axis=1)) * pinhole.focal_px + pinhole.center_px
    return rays[:, 0].reshape(high, wide).astype(np.float32), rays[:, 1].reshape(high, wide).astype(np.float32)


@dataclass(frozen=True)
class Webcam:
    """What a webcam makes of an ideal picture.

    Attributes:
        blur_px: of its lens.
        grain: standard deviation of its noise in the dark, gray levels.
        smoothing: strength of its noise reduction, gray levels; None for none.
        sharpening: of edges.
        red, blue: how much larger these colors' pictures are than green's.
        gain: of blue, green and red.
        quality: of its JPEG.
    """

    blur_px: float
    grain: float
    smoothing: float | None
    sharpening: float
    red: float
    blue: float
    gain: Array
    quality: int

    @classmethod
    def draw(cls, rng: Rng, blur_px: float) -> Webcam:
        """A webcam drawn at random."""
        grain = rng.uniform(1, 6)
        smoothing = rng.uniform(8, 30) if rng.random() < 0.6 else None
        sharpening, red, blue = rng.uniform(0, 1.2), 1.0, 1.0
        if rng.random() < 0.5:
            red, blue = 1 + rng.uniform(0, 6e-4), 1 - rng.uniform(0, 6e-4)
        gain = rng.uniform(0.8, 1.2) * np.array([rng.uniform(0.9, 1.1), 1.0, rng.uniform(0.9, 1.1)])
        return cls(blur_px, grain, smoothing, sharpening, red, blue, gain, int(rng.integers(60, 96)))

    def develop(self, image: NDArray[np.uint8], noise: NDArray[np.float32]) -> NDArray[np.uint8]:
        """The picture with defocus, noise and its reduction, sharpening, chromatic aberration, gain and JPEG.

        Args:
            image: ideal, shape (height, width, 3).
            noise: standard normal, same shape.
        """
        out = cv2.GaussianBlur(image.astype(np.float32), (0, 0), self.blur_px)
        out = out + noise * (np.float32(self.grain) + 0.02 * out)
        if self.smoothing is not None:
            out = np.asarray(cv2.bilateralFilter(np.clip(out, 0, 255).astype(np.float32), 5, self.smoothing, 1.6))
        out = out + self.sharpening * (out - np.asarray(cv2.GaussianBlur(out, (0, 0), 1.4)))
        high, wide = out.shape[:2]
        for channel, grow in ((2, self.red), (0, self.blue)):
            if grow != 1.0:
                scale = np.array([[grow, 0, (1 - grow) * wide / 2], [0, grow, (1 - grow) * high / 2]])
                out[:, :, channel] = cv2.warpAffine(
                    out[:, :, channel].copy(), scale, (wide, high), borderMode=cv2.BORDER_REPLICATE
                )
        out = np.clip(out * self.gain.astype(np.float32), 0, 255).astype(np.uint8)
        packed = cv2.imencode(".jpg", out, (cv2.IMWRITE_JPEG_QUALITY, self.quality))[1]
        return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)


def develop(image: NDArray[np.uint8], rng: Rng) -> NDArray[np.uint8]:
    """What a webcam drawn at random makes of an ideal picture."""
    blur_px = rng.uniform(0.4, 1.1)
    noise = rng.normal(0, 1, image.shape).astype(np.float32)
    return Webcam.draw(rng, blur_px).develop(image, noise)


if __name__ == "__main__":
    main()
