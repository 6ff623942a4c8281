"""Bodies painted over a clip's figures cover them, move with their bases, and leave what lies as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pasted_bodies import PastedBodies
from twin_tables import camera_over

from downfield.core.frame import Frame
from downfield.core.scene import Figure, Scene

CAMERA = camera_over((1280, 720), tilt_deg=8.0)
BLANK = np.zeros((720, 1280, 3), dtype=np.uint8)


def painted(figure: Figure, seed: int = 3) -> np.ndarray:
    """A black picture in which only this figure's body is painted."""
    frame = PastedBodies(CAMERA, seed).paint(Frame(0, 0, BLANK), Scene(0, 0, "on", (figure,)))
    return frame.image


def middle(image: np.ndarray) -> np.ndarray:
    """The middle of what is painted, px."""
    y, x = np.nonzero(image.any(axis=2))
    return np.array([x.mean(), y.mean()])


STANDING = Figure("dark-1", "dark", 300.0, 200.0, 0.0, 30.0, 18.0)


def test_the_body_is_over_the_base_and_moves_with_it() -> None:
    place, moved = ((x, 200.0, 0.0) for x in (300.0, 340.0))
    image, other = painted(STANDING), painted(replace(STANDING, x_mm=340.0))
    there, then = CAMERA.to_pixels(np.array([place, moved]))
    reach = float(np.linalg.norm(then - there)) / 40 * 25
    assert np.linalg.norm(middle(image) - there) < reach
    assert np.allclose(middle(other) - middle(image), then - there, atol=0.1 * reach)


def test_a_body_is_the_same_in_every_frame_and_another_for_another_figure_or_seed() -> None:
    image = painted(STANDING)
    assert np.array_equal(image, painted(STANDING))
    assert not np.array_equal(image, painted(replace(STANDING, id="dark-2")))
    assert not np.array_equal(image, painted(STANDING, seed=4))


def test_figures_that_lie_or_are_in_a_hand_stay_as_they_are() -> None:
    assert not painted(replace(STANDING, posture="fallen")).any()
    assert not painted(replace(STANDING, posture="lifted")).any()
