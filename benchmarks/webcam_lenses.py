"""Lenses of webcams as their owners measured and published them, to draw cameras from that no prior of ours describes.

What `calibration/lens/prior.py` supposes of webcams is worth something only against webcams. These are the calibrations
of pictures 16 to 9, with distortion, that were found in public repositories: one of each camera, and only those with a
reprojection error of at most a pixel or from somebody who calibrates cameras for others. Their principal points and
tangential distortions contain the errors of these calibrations, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Lens


@dataclass(frozen=True, slots=True)
class PublishedLens:
    """A lens as it was published.

    Attributes:
        camera: what it belongs to, as far as its source says.
        size_px: of the pictures it was measured in.
        focal_px, center_px: along x and y.
        distortion: k1, k2, p1, p2, k3.
    """

    camera: str
    size_px: tuple[int, int]
    focal_px: tuple[float, float]
    center_px: tuple[float, float]
    distortion: tuple[float, float, float, float, float]


PUBLISHED: Final = (
    # teamwebcamcalibrations.xml of the FIRST Tech Challenge's FtcRobotController
    PublishedLens(
        "Logitech C920", (1920, 1080), (1385.92, 1385.92), (951.982, 534.084), (0.117627, -0.248549, 0, 0, 0.107441)
    ),
    PublishedLens(
        "Logitech C310", (640, 360), (715.307, 715.307), (319.759, 188.917), (-0.0258948, 1.06258, 0, 0, -3.40245)
    ),
    # CameraInfo files and files of OpenCV's calibration program
    PublishedLens(
        "Logitech C920, another",
        (1280, 720),
        (932.830, 931.573),
        (637.243, 373.173),
        (0.0222630, -0.0381418, 0.00241119, -0.00380959, -0.209620),
    ),
    PublishedLens(
        "webcam, 2018, error 0.65 px",
        (1920, 1080),
        (1390.243, 1393.183),
        (955.850, 497.206),
        (0.0480074, 0.0631049, -0.00391182, -0.00672774, -0.582530),
    ),
    PublishedLens(
        "webcam, 2018, error 0.06 px",
        (1280, 720),
        (941.947, 943.890),
        (658.848, 379.756),
        (0.152785, -0.251951, 0.00722518, 0.00918043, -0.00869548),
    ),
    PublishedLens(
        "webcam, 2020, error 0.60 px",
        (1280, 720),
        (618.850, 620.187),
        (631.400, 373.372),
        (0.0796429, -0.0578074, 0.00255081, -0.00418417, 0.0243528),
    ),
    PublishedLens(
        "webcam, 2022, error 0.99 px",
        (1920, 1080),
        (1795.984, 1796.991),
        (938.670, 525.558),
        (-0.0265665, -0.300928, -0.00178689, -0.00109309, 0.624462),
    ),
)


def draw_webcam_lens(rng: np.random.Generator, size_px: tuple[int, int]) -> Lens:
    """Return one of the published lenses, scaled to pictures of a size, the sensor turned over or not.

    Autofocus and manufacture change a focal length by a percent or two from one camera to the next.
    """
    one = PUBLISHED[int(rng.integers(len(PUBLISHED)))]
    width, height = size_px
    scale = width / one.size_px[0]
    focal = scale * np.array(one.focal_px) * (1 + rng.normal(0, 0.02))
    x_side, y_side = rng.choice([-1, 1], 2).tolist()
    off = scale * (np.array(one.center_px) - (np.array(one.size_px) - 1) / 2) * (x_side, y_side)
    k1, k2, p1, p2, k3 = one.distortion
    center = ((width - 1) / 2 + float(off[0]), (height - 1) / 2 + float(off[1]))
    return Lens(size_px, (float(focal[0]), float(focal[1])), center, (k1, k2, p1 * y_side, p2 * x_side, k3))
