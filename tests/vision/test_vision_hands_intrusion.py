"""Intrusions are found whatever they are, where they are, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np
import pytest

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Image
from downfield.core.field.model import preset
from downfield.vision.hands import Intrusion, IntrusionDetector, outline_contains

FIELD = preset("ultimate")
SIZE_PX = (960, 540)
CAMERA = Camera(Lens(SIZE_PX, (750.0, 750.0), (480.0, 270.0)), (np.pi, 0.0, 0.0), (-495.0, 290.0, 1400.0))
KNOWN = 30  # frames after which the table is known


def px(*places_mm: tuple[float, float]) -> np.ndarray:
    return CAMERA.to_pixels(np.array([(*place, 0.0) for place in places_mm]))


def table() -> Image:
    """A board with lines on a table."""
    image = np.full((*SIZE_PX[::-1], 3), (90, 120, 150), np.uint8)
    x_low, y_low, x_high, y_high = FIELD.board_mm
    rim = px((x_low, y_low), (x_high, y_low), (x_high, y_high), (x_low, y_high))
    cv2.fillPoly(image, [rim.astype(np.int32)], (40, 110, 40))
    for x in np.linspace(0, FIELD.length_mm, 21):
        cv2.polylines(image, [px((x, 0.0), (x, FIELD.width_mm)).astype(np.int32)], False, (230, 230, 230), 2)
    return image


def arm(image: Image, to_mm: tuple[float, float], color: tuple[int, int, int] = (140, 170, 220)) -> Image:
    """An arm from the nearer side that ends at a place."""
    out = image.copy()
    x, y = px(to_mm)[0]
    start = (int(x) + 30, -100 if to_mm[1] > FIELD.width_mm / 2 else 650)
    cv2.line(out, start, (int(x), int(y)), color, 42, cv2.LINE_AA)
    return out


def figures(image: Image, seed: int, count: int = 22) -> Image:
    """Bases with figures here and there, some in a pile."""
    out, rng = image.copy(), np.random.default_rng(seed)
    for k in range(count):
        place = (500 + 25 * (k % 4), 260 + 30 * (k // 4)) if k < 10 else rng.uniform((60, 60), (930, 520))
        box = cv2.boxPoints((px((float(place[0]), float(place[1])))[0], (16, 10), float(rng.uniform(0, 180))))
        cv2.fillPoly(out, [box.astype(np.int32)], tuple(rng.integers(0, 255, 3).tolist()))
    return out


def seen(frames: Iterable[Image], frame_ns: int = 33_333_333) -> list[tuple[Intrusion, ...]]:
    """What is found in each frame, after the table was shown for a while."""
    detector, rng, out = IntrusionDetector(FIELD), np.random.default_rng(0), []
    noise = [rng.normal(0, 4.0, (*SIZE_PX[::-1], 3)).astype(np.int16) for _ in range(3)]
    for i, frame in enumerate([figures(table(), 1)] * KNOWN + list(frames)):
        shown = np.clip(frame + noise[i % 3], 0, 255).astype(np.uint8)
        out.append(detector.update(shown, CAMERA, i * frame_ns))
    return out[KNOWN:]


@pytest.mark.parametrize("to_mm", [(500.0, 300.0), (120.0, 500.0), (900.0, 150.0)])
@pytest.mark.parametrize("color", [(140, 170, 220), (30, 30, 60), (200, 60, 40)])
def test_an_arm_of_any_color_is_found_where_it_is(to_mm: tuple[float, float], color: tuple[int, int, int]) -> None:
    *_, last = seen([arm(figures(table(), 1), to_mm, color)] * 4)
    (intrusion,) = last
    assert np.hypot(*np.subtract(intrusion.tip_mm, to_mm)) < 70.0
    assert outline_contains(intrusion.outline_mm, to_mm)
    away = (to_mm[0] + (-300 if to_mm[0] > 450 else 300), to_mm[1])
    assert not outline_contains(intrusion.outline_mm, away)


def test_an_arm_that_left_is_gone() -> None:
    bare = figures(table(), 1)
    found = seen([arm(bare, (500.0, 300.0))] * 30 + [bare] * 10)
    assert found[20]
    assert not found[-1]


def test_figures_in_a_pile_are_no_intrusion() -> None:
    assert not any(seen([figures(table(), seed) for seed in range(2, 12)]))


def flickering(image: Image, k: int, least: float, mains_hz: float = 50.0) -> Image:
    """A picture under lamps that flicker while its rows are read."""
    phase = 2 * np.pi * 2 * mains_hz * (k / 30 + np.linspace(0, 0.03, len(image)))
    light = least + (1 - least) * (0.5 + 0.5 * np.cos(phase))
    return (image * light[:, None, None]).astype(np.uint8)


@pytest.mark.parametrize("least", [0.85, 0.6, 0.33])
@pytest.mark.parametrize("mains_hz", [25.0, 50.0, 53.0])
def test_lamps_that_flicker_are_no_intrusion_and_hide_none(least: float, mains_hz: float) -> None:
    bare = figures(table(), 1)
    reached = arm(bare, (500.0, 300.0), (60, 60, 220))
    shown = [flickering(bare, k, least, mains_hz) for k in range(40)]
    found = seen([*shown, *(flickering(reached, k, least, mains_hz) for k in range(40, 46))])
    assert not any(found[:40])
    assert any(found[40:])


def test_moving_shadows_are_no_intrusion() -> None:
    bare, across = figures(table(), 1), np.arange(SIZE_PX[0]) / SIZE_PX[0]
    fan = [
        (bare * (1 - 0.4 * (np.abs((across - 0.04 * k) % 1 - 0.5) < 0.09))[:, None]).astype(np.uint8) for k in range(60)
    ]
    assert not any(seen(fan))


def test_a_shadow_is_no_intrusion() -> None:
    bare = figures(table(), 1)
    shaded = arm(np.zeros_like(bare), (500.0, 300.0)).max(axis=2, keepdims=True) > 0
    dark = np.where(shaded, bare * 0.55, bare)
    assert not any(seen([dark.astype(np.uint8)] * 6))


@pytest.mark.parametrize("light", [0.5, 1.3, 0.02])
def test_a_change_of_light_is_no_intrusion(light: float) -> None:
    other = np.clip(figures(table(), 1) * light, 0, 255).astype(np.uint8)
    assert not any(seen([other] * 20 + [figures(table(), 1)] * 20))


def test_what_stays_becomes_background_in_the_end() -> None:
    found = seen([arm(figures(table(), 1), (500.0, 300.0))] * 150, 200_000_000)
    assert found[10]
    assert not found[-1]


def test_what_lies_beside_the_board_is_no_intrusion() -> None:
    beside = figures(table(), 1)
    cv2.rectangle(beside, (0, 0), (960, 30), (20, 20, 200), -1)
    assert not any(seen([beside] * 6))


def box(*places_mm: tuple[float, float]) -> list[float]:
    corners = px(*places_mm)
    return [*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist()]


HAND = box((430.0, 230.0), (570.0, 370.0))  # where `arm` to the middle ends


def watched(
    frames: Iterable[Image], hands_px: Iterable[list[float]] = (), frame_ns: int = 50_000_000
) -> IntrusionDetector:
    """After these frames, with boxes that the network takes for hands in every one."""
    detector, boxes = IntrusionDetector(FIELD), list(hands_px)
    for i, frame in enumerate(frames):
        detector.update(frame, CAMERA, i * frame_ns, boxes)
    return detector


def logo(image: Image) -> Image:
    """A print in midfield that may be taken for a hand."""
    out = image.copy()
    cv2.circle(out, px((500.0, 300.0))[0].astype(int).tolist(), 40, (140, 170, 220), -1)
    return out


def test_a_print_is_no_hand_and_an_arm_over_it_is() -> None:
    printed = figures(logo(table()), 1)
    assert not watched([printed] * KNOWN, [HAND]).may_cover(HAND)
    assert watched([*[printed] * KNOWN, arm(printed, (500.0, 300.0), (60, 60, 90))], [HAND]).may_cover(HAND)


def test_a_print_that_figures_walk_over_is_no_hand() -> None:
    walked = [figures(logo(table()), 1, count=22 - k // 20) for k in range(5 * KNOWN)]
    assert not watched(walked, [HAND]).may_cover(HAND)


@pytest.mark.parametrize("frames", [0, 3])
def test_before_the_background_is_known_anything_may_be_a_hand(frames: int) -> None:
    assert watched([table()] * frames).may_cover(HAND)


def test_while_the_light_changes_anything_may_be_a_hand() -> None:
    gray = np.full_like(table(), 128)
    assert watched([*[table()] * KNOWN, gray]).may_cover(HAND)


def test_a_resting_hand_never_becomes_background() -> None:
    resting = [arm(figures(table(), 1), (500.0, 300.0))] * 150
    frames = [*[figures(table(), 1)] * KNOWN, *resting]
    assert watched(frames, [HAND], 400_000_000).may_cover(HAND)
    assert not watched(frames, [], 400_000_000).may_cover(HAND), "a hand the network does not see does in the end"
