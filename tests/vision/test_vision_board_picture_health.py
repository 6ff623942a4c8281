"""The picture health monitor names every way in which pictures go wrong, and leaves good ones alone."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from downfield.core.footprint import BaseSize, Footprint
from downfield.core.frame import TIME_UNKNOWN_NS, Frame
from downfield.vision.board.picture_health import PictureHealth, PictureHealthMonitor
from downfield.vision.measuring.estimate import Estimate

FRAME_NS = 33_333_333
_RNG = np.random.default_rng(5)
_PRINT = cv2.resize(_RNG.integers(40, 200, (68, 120, 3), dtype=np.uint8), (960, 544), interpolation=cv2.INTER_NEAREST)
_GRAIN = _RNG.normal(0, 2, (544 + 64, 960 + 64, 3)).astype(np.float32)  # each picture has the noise of another place


def picture(*, brightness: float = 1.0, blur: float = 0.0) -> NDArray[np.uint8]:
    """A printed field with a sensor's noise, new every time."""
    image = np.asarray(_PRINT, dtype=np.float32) * np.float32(brightness)
    if blur:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), blur), dtype=np.float32)
    x, y = _RNG.integers(0, 64, 2)
    return np.asarray(np.clip(image + _GRAIN[y : y + 544, x : x + 960], 0, 255), np.uint8)


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


def test_pictures_that_come_in_bursts_are_not_counted_as_dropped() -> None:
    shown = [
        replace(frame, t_ns=(frame.index // 3) * 3 * FRAME_NS + frame.index % 3 * 1_000_000)
        for frame in frames([picture() for _ in range(20)])
    ]
    assert not any("dropped" in text for health in watch(shown) for text in health.warnings)


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


def test_a_picture_that_was_never_sharp_is_blurred_and_one_without_an_edge_is_not_called_so() -> None:
    assert any("blurred" in warning for warning in watch(frames([picture(blur=4.0)]))[0].poor)
    plain = np.full((544, 960, 3), 120, np.uint8)
    assert not any("blurred" in warning for warning in watch(frames([plain]))[0].poor)


def test_glare_on_the_field_is_told_and_a_white_sheet_beside_it_is_not() -> None:
    field_px = np.array([(300.0, 100.0), (900.0, 100.0), (900.0, 500.0), (300.0, 500.0)])
    for left, told in ((400, True), (20, False)):
        image = picture()
        image[200:400, left : left + 200] = 255
        poor = PictureHealthMonitor(field_px=field_px).step(frames([image])[0]).poor
        assert told == any("overexposed" in warning for warning in poor)


def test_a_field_that_is_too_bright_altogether_is_told_and_white_lines_are_not() -> None:
    field_px = np.array([(0.0, 0.0), (960.0, 0.0), (960.0, 544.0), (0.0, 544.0)])
    lined = picture()
    lined[:, ::59] = 255
    for image, told in ((picture(brightness=1.8), True), (lined, False)):
        poor = PictureHealthMonitor(field_px=field_px).step(frames([image])[0]).poor
        assert told == any("overexposed" in warning for warning in poor)


@pytest.mark.parametrize(("brightness", "levels", "told"), [(1.0, 3.0, False), (1.0, 10.0, True), (0.5, 6.0, True)])
def test_noise_is_told_by_its_share_of_what_the_picture_shows(brightness: float, levels: float, told: bool) -> None:
    shown = [
        np.clip(picture(brightness=brightness) + _GRAIN[k : k + 544, k : k + 960] * (levels / 2), 0, 255)
        for k in range(8)
    ]
    warnings = watch(frames([image.astype(np.uint8) for image in shown]))[-1].warnings
    assert told == any("noisy" in text for text in warnings)


def test_a_dim_field_is_told_beside_a_bright_rim_and_a_dark_room_beside_a_bright_field_is_not() -> None:
    field_px = np.array([(300.0, 100.0), (700.0, 100.0), (700.0, 500.0), (300.0, 500.0)])
    for field, around, told in ((0.3, 1.8, True), (1.0, 0.05, False)):
        image = np.clip(picture() * around, 0, 255).astype(np.uint8)
        image[100:500, 300:700] = picture()[100:500, 300:700] * field
        health = PictureHealthMonitor(field_px=field_px).step(frames([image])[0])
        assert told == any("dim" in warning for warning in health.warnings)
        assert not any("dark" in reason for reason in health.unfit)


def test_figures_that_are_not_seen_in_a_poor_picture_are_first_looked_for_in_the_picture() -> None:
    fogged = (picture() // 4 + 120).astype(np.uint8)
    unfit = watch(frames([fogged]), figures(8))[0].unfit
    assert "little contrast" in unfit[0]
    assert "not visible" in unfit[1]


def test_figures_that_are_not_seen_in_pictures_sent_again_are_first_looked_for_in_their_source() -> None:
    shown = [image for image in [picture() for _ in range(12)] for _ in range(2)]
    unfit = watch(frames(shown), figures(8))[-1].unfit
    assert "show anything new" in unfit[0]
    assert "not visible" in unfit[1]


def test_pictures_in_the_wrong_order_are_told_and_their_times_are_a_picture_off() -> None:
    shown = [np.array(_PRINT, np.uint8) for _ in range(40)]
    order = sorted(range(40), key=lambda k: k + (1.5 if k % 10 == 5 else 0.0))
    for image, k in zip(shown, order, strict=True):
        cv2.rectangle(image, (100 + 6 * k, 100), (160 + 6 * k, 160), (20, 20, 20), -1)
    health, step_ns = watch(frames(shown))[-1], frames(shown)[-1].t_ns - frames(shown)[-2].t_ns
    assert any("in the wrong order" in text for text in health.warnings)
    assert health.t_sigma_ns == pytest.approx(step_ns, rel=0.01)  # each may be its neighbor
    in_order = [image for _, image in sorted(zip(order, shown, strict=True), key=lambda one: one[0])]
    health = watch(frames(in_order))[-1]
    assert not any("in the wrong order" in text for text in health.warnings)
    assert health.t_sigma_ns == 0


@pytest.mark.parametrize(("step", "told"), [(1, False), (2, False), (4, True)])
def test_too_few_pictures_a_second_are_told(step: int, told: bool) -> None:
    shown = [replace(frame, t_ns=frame.t_ns * step) for frame in frames([picture() for _ in range(12)])]
    health = watch(shown)[-1]
    assert any("Only 8 pictures come a second" in text for text in health.warnings) is told
    assert not health.unfit


def test_a_picture_that_may_have_been_held_up_is_told() -> None:
    shown = frames([picture() for _ in range(30)])
    assert not watch(shown)[-1].warnings
    shown[20] = replace(shown[20], t_sigma_ns=TIME_UNKNOWN_NS)
    assert any("stayed away for a moment and came late" in text for text in watch(shown)[-1].warnings)


def test_too_few_figures_are_unfit() -> None:
    assert "not visible" in watch(frames([picture()]), figures(8))[0].unfit[0]


def lit(k: int, least: float, rows_read_s: float) -> NDArray[np.uint8]:
    """A picture under lamps of 50 Hz, whose rows are read one after the other."""
    image = picture()
    phase = 2 * np.pi * 100 * (k / 30 + np.linspace(0, rows_read_s, len(image)))
    return (image * (least + (1 - least) * (0.5 + 0.5 * np.cos(phase)))[:, None, None]).astype(np.uint8)


@pytest.mark.parametrize("rows_read_s", [0.0, 0.03], ids=["whole pictures", "bands"])
@pytest.mark.parametrize(("least", "fit"), [(0.8, True), (0.33, False)])
def test_lamps_that_flicker_are_named_and_stop_calls_where_figures_can_not_be_told(
    rows_read_s: float, least: float, fit: bool
) -> None:
    last = watch(frames([lit(k, least, rows_read_s) for k in range(30)]))[-1]
    assert any("lamps flicker" in text for text in (last.warnings if fit else last.unfit))
    assert fit == (not last.unfit)


def test_a_lamp_that_is_switched_and_one_that_pumps_do_not_flicker() -> None:
    switched = [picture(brightness=1.0 if k < 20 else 0.6) for k in range(40)]
    pumping = [picture(brightness=1 + 0.3 * np.sin(k / 7)) for k in range(60)]
    for shown in (switched, pumping):
        texts = {text for health in watch(frames(shown)) for text in (*health.warnings, *health.unfit)}
        assert not any("flicker" in text for text in texts)


@pytest.mark.parametrize("times", [2, 3])
def test_pictures_sent_again_are_told_with_the_share_that_is_new(times: int) -> None:
    images = [picture() for _ in range(40 // times)]
    last = watch(frames([image for image in images for _ in range(times)]))[-1]
    assert not last.unfit
    assert any(f"some {round(10 / times) * 10} % of the pictures" in text for text in last.warnings)


@pytest.mark.parametrize(("error_ms", "told"), [(0, ""), (2, ""), (20, "to 20 ms only"), (1000, "are not known")])
def test_frames_whose_times_are_not_known_are_told(error_ms: int, told: str) -> None:
    shown = [replace(frame, t_sigma_ns=error_ms * 1_000_000) for frame in frames([picture() for _ in range(8)])]
    texts = [text for text in watch(shown)[-1].warnings if "unevenly" in text]
    assert bool(texts) == bool(told)
    assert not told or told in texts[0]
