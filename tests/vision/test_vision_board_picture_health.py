"""The picture health monitor names every way in which pictures go wrong, and leaves good ones alone."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.footprint import BaseSize, Footprint
from downfield.core.frame import Frame
from downfield.vision.board.picture_health import PictureHealth, PictureHealthMonitor
from downfield.vision.measuring.estimate import Estimate

FRAME_NS = 33_333_333
_RNG = np.random.default_rng(5)
_PRINT = cv2.resize(_RNG.integers(40, 200, (68, 120, 3), dtype=np.uint8), (960, 544), interpolation=cv2.INTER_NEAREST)


def picture(*, brightness: float = 1.0, blur: float = 0.0) -> NDArray[np.uint8]:
    """A printed field with a sensor's noise, new every time."""
    image = np.asarray(_PRINT, dtype=np.float64) * brightness
    if blur:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), blur), dtype=np.float64)
    return np.clip(image + _RNG.normal(0, 2, image.shape), 0, 255).astype(np.uint8)


def frames(images: list[NDArray[np.uint8]]) -> list[Frame]:
    """Pictures in time."""
    return [Frame(i, i * FRAME_NS, image) for i, image in enumerate(images)]


def watch(shown: list[Frame], estimates: tuple[Estimate, ...] = ()) -> list[PictureHealth]:
    """The health at each frame."""
    monitor = PictureHealthMonitor()
    return [monitor.step(frame, estimates) for frame in shown]


def figures(seen: int, of: int = 22) -> tuple[Estimate, ...]:
    """A roster of which some are seen."""
    at = Footprint(0.0, 0.0, 0.0, BaseSize())
    return tuple(Estimate(f"dark-{i}", "dark", at, np.eye(3), np.zeros(3), seen=i < seen) for i in range(of))


def test_good_pictures_are_ok() -> None:
    assert set(watch(frames([picture() for _ in range(12)]), figures(22))) == {PictureHealth()}


def test_a_repeated_picture_is_marked_and_a_frozen_stream_is_unfit() -> None:
    live = [picture() for _ in range(5)]
    seen = watch(frames(live + [live[-1]] * 12))
    assert not seen[4].repeated
    assert seen[5].repeated
    assert not seen[5].unfit
    assert not seen[5].warnings
    assert "has not changed for" in seen[-1].unfit[0]


def test_a_stream_that_goes_on_is_fit_at_once() -> None:
    live = [picture() for _ in range(3)]
    assert watch(frames([*live, *[live[-1]] * 12, picture()]))[-1].unfit == ()


def test_dropped_frames_are_counted_by_index_and_by_time() -> None:
    images = [picture() for _ in range(12)]
    by_index = [replace(frame, index=frame.index + 4) if frame.index > 8 else frame for frame in frames(images)]
    assert "4 frames were dropped" in watch(by_index)[-1].warnings[0]
    by_time = [replace(frame, t_ns=frame.t_ns + 4 * FRAME_NS) if frame.index > 8 else frame for frame in frames(images)]
    last = watch(by_time)[-1]
    assert not last.unfit
    assert "4 frames were dropped" in last.warnings[0]


def test_a_long_interruption_is_unfit() -> None:
    shown = frames([picture() for _ in range(6)])
    shown[-1] = replace(shown[-1], t_ns=shown[-1].t_ns + 2_000_000_000)
    assert "No frames came for" in watch(shown)[-1].unfit[0]


def test_a_change_of_light_is_unfit_until_it_settles() -> None:
    shown = [picture() for _ in range(6)] + [picture(brightness=0.1) for _ in range(6)] + [picture() for _ in range(20)]
    seen = watch(frames(shown))
    assert not seen[5].unfit
    assert "dark" in seen[8].unfit[0]
    assert seen[12].unfit
    assert not seen[-1].unfit


def test_a_blurred_picture_gives_a_warning() -> None:
    seen = watch(frames([picture() for _ in range(4)] + [picture(blur=4.0) for _ in range(3)]))
    assert not seen[3].warnings
    assert any("blurred" in warning for warning in seen[-1].warnings)


def test_too_few_figures_are_unfit() -> None:
    assert "not visible" in watch(frames([picture()]), figures(8))[0].unfit[0]
