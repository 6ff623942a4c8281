"""A print that the network takes for a hand in every frame, and a real hand in the same place."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from simulated_detector import Faults, ListDetector, SimulatedDetector
from tracked_tables import FIELD, Table, filmed, look_of, roster_of, standing

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Image
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Scene
from downfield.twin.render.renderers import open_renderer
from downfield.vision.hands import HAND_OVER_FIGURES
from downfield.vision.pipeline import Vision

TABLE = Table(
    {
        **{f"dark-{i}": standing(300, 60 + 60 * i, 0) for i in (1, 2, 3, 4)},
        **{f"light-{i}": standing(360, 60 + 60 * i, 180) for i in (1, 2, 3, 4)},
    },
    1.5,
)
LOOK = look_of(TABLE.players)
TIPS_PX = LOOK.camera.to_pixels(np.array([[330.0, 240.0, 20.0]]))[0]  # amid the figures
HAND = Detection(
    "hand",
    0.6,
    (TIPS_PX[0] - 60, TIPS_PX[1] - 60, TIPS_PX[0] + 60, TIPS_PX[1] + 60),
    helmet_px=(float(TIPS_PX[0]), float(TIPS_PX[1])),
)
COMES = 30  # frame at which a real hand comes, long after the table is known


@cache
def picture() -> Image:
    renderer = open_renderer("compositor", LOOK, TABLE.players)
    return renderer.render(TABLE.snapshot(0.0), LOOK.camera, t_ns=0).image


def scenes_with(*, hand: bool) -> list[Scene]:
    """Scenes of frames in all of which the network detects a hand; from `COMES` on there may be one."""
    calm = SimulatedDetector(Faults(false=0.0, double=0.0, flip=0.0), seed=5)
    detections = [(*calm.detect(view), HAND) for view, _, _ in filmed(TABLE)]
    vision = Vision(Calibration(FIELD, LOOK.camera, "truth"), ListDetector(detections), roster_of(TABLE))
    scenes = []
    for number in range(len(detections)):
        image = picture().copy()
        image[:32, :32] = number  # no frame repeats another
        if hand and number >= COMES:
            left, top, right, bottom = (int(value) for value in HAND.box_px)
            image[top:bottom, left:right] = 150, 180, 230
        scenes.append(vision.process(Frame(number, number * 33_333_333, image)))
    return scenes


def test_a_print_that_looks_like_a_hand_leaves_scenes_fit() -> None:
    scenes = scenes_with(hand=False)
    assert any(scene.figures for scene in scenes)
    assert not any(scene.hands for scene in scenes[COMES:])
    assert not any(scene.unfit for scene in scenes[COMES:])


@pytest.mark.parametrize("number", [0, 3, 10])
def test_a_hand_over_a_print_that_looks_like_one_is_reported(number: int) -> None:
    scene = scenes_with(hand=True)[COMES + number]
    assert scene.hands
    assert HAND_OVER_FIGURES in scene.unfit
