"""PictureHealth: every way in which pictures go wrong is named, and good ones are left alone."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from downfield.core.footprint import BaseSize, Footprint
from downfield.core.frame import Frame
from downfield.vision.board.health import PictureHealth, PictureHealthMonitor
from downfield.vision.tracking.estimate import Estimate

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
    health = PictureHealthMonitor()
    return [health.step(frame, estimates) for frame in shown]


def figures(seen: int, of: int = 22) -> tuple[Estimate, ...]:
    """A roster of which some are seen."""
    at = Footprint(0.0, 0.0, 0.0, BaseSize())
    return tuple(Estimate(f"dark-{i}", "dark", at, np.eye(3), np.zeros(3), seen=i < seen) for i in range(of))


def test_good_pictures_are_ok() -> None:
    assert {one.level for one in watch(frames([picture() for _ in range(12)]), figures(22))} == {"ok"}


def test_a_repeated_picture_teaches_nothing_and_a_frozen_feed_is_unfit() -> None:
    live = [picture() for _ in range(5)]
    seen = watch(frames(live + [live[-1]] * 12))
    assert not seen[4].repeated
    assert seen[5].repeated
    assert seen[5].level == "ok"
    assert "has not changed" in seen[-1].unfit[0]


def test_a_feed_that_goes_on_is_fit_at_once() -> None:
    live = [picture() for _ in range(3)]
    assert watch(frames([*live, *[live[-1]] * 12, picture()]))[-1].unfit == ()


def test_lost_frames_are_counted_by_index_and_by_time() -> None:
    images = [picture() for _ in range(12)]
    by_index = [replace(one, index=one.index + 4) if one.index > 8 else one for one in frames(images)]
    assert watch(by_index)[-1].lost == 4
    by_time = [replace(one, t_ns=one.t_ns + 4 * FRAME_NS) if one.index > 8 else one for one in frames(images)]
    last = watch(by_time)[-1]
    assert last.lost == 4
    assert last.level == "warn"
    assert "4 frames were lost" in last.warnings[0]


def test_a_long_interruption_is_unfit() -> None:
    shown = frames([picture() for _ in range(6)])
    shown[-1] = replace(shown[-1], t_ns=shown[-1].t_ns + 2_000_000_000)
    assert "no frames came" in watch(shown)[-1].unfit[0]


def test_lights_off_and_on_are_unfit_until_they_settle() -> None:
    shown = [picture() for _ in range(6)] + [picture(brightness=0.1) for _ in range(6)] + [picture() for _ in range(20)]
    seen = watch(frames(shown))
    assert not seen[5].unfit
    assert "dark" in seen[8].unfit[0]
    assert seen[12].unfit
    assert not seen[-1].unfit


def test_a_blurred_picture_is_warned_of() -> None:
    seen = watch(frames([picture() for _ in range(4)] + [picture(blur=4.0) for _ in range(3)]))
    assert seen[-1].sharpness < seen[0].sharpness
    assert any("blurred" in one for one in seen[-1].warnings)


def test_a_roster_that_is_not_there_is_unfit_and_a_doubt_is_named() -> None:
    assert "not seen" in watch(frames([picture()]), figures(8))[0].unfit[0]
    doubted = (replace(figures(1, 1)[0], sure=False), *figures(22)[1:])
    assert "dark-0" in watch(frames([picture()]), doubted)[0].warnings[0]


@pytest.mark.parametrize(("unsure", "fit"), [(2, True), (5, True), (6, False), (22, False)])
def test_when_many_may_be_somebody_else_nothing_can_be_called(unsure: int, fit: bool) -> None:
    men = tuple(replace(one, sure=i >= unsure) for i, one in enumerate(figures(22)))
    (last,) = watch(frames([picture()]), men)
    assert (not last.unfit) == fit
    if not fit:
        assert f"in doubt of {unsure} men" in last.unfit[0]
