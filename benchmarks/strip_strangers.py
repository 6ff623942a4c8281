"""Accuracy of reading strips that nothing was tuned on: drawn by code of its own, in fonts and proportions of its own.

    python benchmarks/strip_strangers.py --looks 6 --states 12

Each look has its own edition: other places and sizes of the windows (above or below the field), proportions, colors,
stroke fonts instead of the twin's outlines, a slide of another width, another camera (a plain perspective with barrel
distortion), vignette, noise and JPEG. Some states have a half-set dial, a sheen on the slide, or a hand. The sets are
looked at to report, never to tune. Intervals are Wilson's at 95 %.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter

import cv2
import numpy as np
from numpy.typing import NDArray
from strip import Tally, count_reading

from downfield.core.errors import CalibrationError
from downfield.core.strip import DialWindow, SlideShape, StripSet, load_strip
from downfield.twin.strip.look import StripState, turned
from downfield.vision.strip.strip_calibration import calibrate_strip
from downfield.vision.strip.strip_reader import StripReader

Picture = NDArray[np.uint8]
Rng = np.random.Generator

SEED = 91_000
SIZE = (1920, 1080)
PX_PER_MM = 10.0
AROUND_MM = 60.0
STEP_NS = 200_000_000
FONTS = (cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_TRIPLEX, cv2.FONT_HERSHEY_SIMPLEX)
GRASS = ((60, 120, 50), (70, 140, 90), (40, 95, 45), (90, 150, 120))
PANELS = ((60, 40, 30), (150, 150, 150), (40, 40, 110), (110, 80, 30), (200, 210, 215))


@dataclasses.dataclass(frozen=True)
class Stranger:
    """The look of one strip: its edition, colors, and the homography from drawing to picture."""

    strip: StripSet
    grass: tuple[int, int, int]
    panel: tuple[int, int, int]
    font: int
    dark_faces: bool
    place: NDArray[np.float64]
    barrel: float
    noise: float


def draw_stranger(rng: Rng) -> Stranger:
    """Return a look."""
    base = load_strip()
    field = dataclasses.replace(
        base.field,
        mm_per_yd_x=base.field.mm_per_yd_x * rng.uniform(0.985, 1.015),
        mm_per_yd_y=base.field.mm_per_yd_y * rng.uniform(0.985, 1.015),
        line_mm=rng.uniform(0.5, 0.9),
        hash_every_yd=float(rng.choice([0.0, 1.0])),
        sideline_marks=False,
        number_every_yd=0.0,
        margin_mm=(14.0, 46.0),
    )
    above, size, gap = bool(rng.random() < 0.7), rng.uniform(0.9, 1.25), rng.uniform(8, 22)
    low = field.width_mm + gap if above else -gap - 15 * size
    shift = rng.uniform(-4, 4)
    dials = tuple(_moved(dial, shift, low, size) for dial in base.dials)
    slide = dataclasses.replace(SlideShape(), width_mm=rng.uniform(18, 34), line_mm=rng.uniform(1.0, 1.5))
    edition = StripSet("stranger", "A stranger's strip", field, dials, slide)
    return Stranger(
        edition,
        GRASS[int(rng.integers(len(GRASS)))],
        PANELS[int(rng.integers(len(PANELS)))],
        FONTS[int(rng.integers(len(FONTS)))],
        bool(rng.random() < 0.4),
        _placed(field.length_mm, field.width_mm, rng),
        rng.uniform(-0.03, 0.01),
        rng.uniform(1.5, 4.5),
    )


def _moved(dial: DialWindow, shift: float, low: float, size: float) -> DialWindow:
    middle = sum(dial.x_mm) / 2 + shift
    half = (dial.x_mm[1] - dial.x_mm[0]) / 2 * min(size, 1.05)
    return dataclasses.replace(dial, x_mm=(middle - half, middle + half), y_mm=(low, low + 15 * size))


def _placed(length: float, width: float, rng: Rng) -> NDArray[np.float64]:
    """Return the homography from the drawing to the picture of a tilted pinhole camera over the strip."""
    focal = rng.uniform(1300, 2000)
    roll, tilt, pan = np.radians([rng.uniform(-5, 5) + 180 * (rng.random() < 0.3), *rng.uniform(-14, 14, 2)])
    turned_by = cv2.Rodrigues(np.array([tilt, 0, 0]))[0] @ cv2.Rodrigues(np.array([0, pan, 0]))[0]
    rotation = turned_by @ cv2.Rodrigues(np.array([0, 0, roll]))[0]
    away = focal * max((length + 44) / SIZE[0], (width + 100) / SIZE[1]) * rng.uniform(1.08, 1.2)
    lens = np.array([[focal, 0, SIZE[0] / 2], [0, focal, SIZE[1] / 2], [0, 0, 1]])
    to_middle = np.array([[1, 0, -(length / 2 + AROUND_MM)], [0, 1, -(width / 2 + AROUND_MM)], [0, 0, 1]])
    board = np.column_stack([rotation[:, 0], rotation[:, 1], [0, 0, away]])
    place: NDArray[np.float64] = lens @ board @ to_middle @ np.diag([1 / PX_PER_MM, 1 / PX_PER_MM, 1])
    return place


def draw_strip(look: Stranger, state: StripState, rng: Rng, *, sheen: bool, hand: bool) -> Picture:
    """Return a picture of a state."""
    strip, field = look.strip, look.strip.field
    wide, high = (int((side + 2 * AROUND_MM) * PX_PER_MM) for side in (field.length_mm, field.width_mm))
    canvas = np.full((high, wide, 3), (120, 140, 165), np.uint8)
    _box(canvas, strip, (-25, field.length_mm + 25), (-45, field.width_mm + 45), look.panel)
    zone = field.end_zone_yd * field.mm_per_yd_x
    _box(canvas, strip, (-zone, field.length_mm + zone), (0, field.width_mm), look.grass)
    _print(canvas, look)
    for dial, turn in zip(strip.dials, state.dials, strict=True):
        _dial(canvas, look, dial, turn)
    _slide(canvas, look, state, sheen=sheen)
    image = _filmed(canvas, look, rng)
    if hand:
        tip = rng.uniform((500, 350), (1400, 700))
        cv2.line(image, tuple(int(v) for v in tip), (int(tip[0] + 200), SIZE[1] + 50), (110, 140, 200), 90, cv2.LINE_AA)
    return image


def _px(strip: StripSet, x_mm: float, y_mm: float) -> tuple[int, int]:
    return round((x_mm + AROUND_MM) * PX_PER_MM), round((strip.field.width_mm - y_mm + AROUND_MM) * PX_PER_MM)


def _box(canvas: Picture, strip: StripSet, x: tuple[float, float], y: tuple[float, float], color: object) -> None:
    cv2.rectangle(canvas, _px(strip, x[0], y[0]), _px(strip, x[1], y[1]), color, -1)  # type: ignore[call-overload]


def _print(canvas: Picture, look: Stranger) -> None:
    strip, field = look.strip, look.strip.field
    white, half = (235, 240, 240), field.line_mm / 2
    ends = (-field.end_zone_yd, *range(0, round(field.length_yd) + 1, 5), field.length_yd + field.end_zone_yd)
    for yard in ends:
        x = yard * field.mm_per_yd_x
        _box(canvas, strip, (x - half, x + half), (0, field.width_mm), white)
    zone = field.end_zone_yd * field.mm_per_yd_x
    for y in (0.0, field.width_mm):
        _box(canvas, strip, (-zone - half, field.length_mm + zone + half), (y - half, y + half), white)
    if field.hash_every_yd:
        tick = field.hash_length_yd * field.mm_per_yd_y / 2
        for yard in range(1, round(field.length_yd)):
            for row in field.hash_rows_y_yd:
                x, y = yard * field.mm_per_yd_x, row * field.mm_per_yd_y
                _box(canvas, strip, (x - 0.2, x + 0.2), (y - tick, y + tick), white)


def _dial(canvas: Picture, look: Stranger, dial: DialWindow, turn: float) -> None:
    """Draw the faces beside a turn, clipped by the window."""
    left, bottom = _px(look.strip, dial.x_mm[0], dial.y_mm[0])
    right, top = _px(look.strip, dial.x_mm[1], dial.y_mm[1])
    face, ink = ((30, 30, 35), (235, 235, 240)) if look.dark_faces else ((230, 235, 240), (40, 25, 25))
    window = np.full((bottom - top, right - left, 3), face, np.uint8)
    high = bottom - top
    for near in (int(np.floor(turn)), int(np.floor(turn)) + 1):
        text = dial.faces[near % len(dial.faces)]
        scale = 1.0
        (wide, tall), _ = cv2.getTextSize(text, look.font, scale, 2)
        scale = min(0.6 * high / tall, 0.8 * (right - left) / wide)
        thick = max(round(0.09 * high), 2)
        (wide, tall), _ = cv2.getTextSize(text, look.font, scale, thick)
        middle = high / 2 + (near - turn) * high
        cv2.putText(
            window, text, (round((right - left - wide) / 2), round(middle + tall / 2)), look.font, scale, ink, thick,
            cv2.LINE_AA,
        )  # fmt: skip
    canvas[top:bottom, left:right] = window
    cv2.rectangle(canvas, (left, top), (right, bottom), (90, 90, 90), 2)


def _slide(canvas: Picture, look: Stranger, state: StripState, *, sheen: bool) -> None:
    strip, field, slide = look.strip, look.strip.field, look.strip.slide
    x = state.slide_yd * field.mm_per_yd_x
    left, top = _px(strip, x - slide.width_mm / 2, field.width_mm + 4)
    right, bottom = _px(strip, x + slide.width_mm / 2, -4)
    plate = canvas[top:bottom, left:right].astype(np.float32)
    plate = plate * 0.93 + 12
    if sheen:
        band = np.exp(-((np.linspace(0, 1, bottom - top) - 0.3) ** 2) / 0.01)[:, None, None]
        plate = plate + 90 * band
    canvas[top:bottom, left:right] = np.clip(plate, 0, 255).astype(np.uint8)
    _box(canvas, strip, (x - slide.line_mm / 2, x + slide.line_mm / 2), (-3, field.width_mm + 3), (45, 40, 205))
    low, high = int(np.floor(state.ball)), int(np.ceil(state.ball))
    thirds = slide.thirds_y_yd
    y = (thirds[low] + (thirds[high] - thirds[low]) * (state.ball - low)) * field.mm_per_yd_y
    axes = tuple(round(side / 2 * PX_PER_MM) for side in slide.ball_mm)
    cv2.ellipse(canvas, _px(strip, x, y), axes, 0, 0, 360, (40, 70, 130), -1, cv2.LINE_AA)
    cv2.ellipse(canvas, _px(strip, x, y), axes, 0, 0, 360, (225, 225, 225), 3, cv2.LINE_AA)


def _filmed(canvas: Picture, look: Stranger, rng: Rng) -> Picture:
    """Return the drawing as its camera takes it."""
    x, y = np.meshgrid(np.arange(SIZE[0], dtype=np.float64), np.arange(SIZE[1], dtype=np.float64))
    u, v = (x - SIZE[0] / 2) / SIZE[0], (y - SIZE[1] / 2) / SIZE[0]
    far = u * u + v * v
    bent = 1 + look.barrel * 4 * far
    back = np.linalg.inv(look.place)
    points = np.stack([u * bent * SIZE[0] + SIZE[0] / 2, v * bent * SIZE[0] + SIZE[1] / 2, np.ones_like(x)])
    mapped = np.tensordot(back, points, axes=1)
    maps = (mapped[:2] / mapped[2]).astype(np.float32)
    soft = cv2.GaussianBlur(canvas, (0, 0), 1.6)
    image = cv2.remap(soft, maps[0], maps[1], cv2.INTER_LINEAR, borderValue=(120, 140, 165)).astype(np.float32)
    image *= (1 - 0.5 * far)[:, :, None]
    image += rng.normal(0, look.noise, image.shape)
    coded = cv2.imencode(".jpg", np.clip(image, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 88])[1]
    return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), dtype=np.uint8)


def read_look(number: int, states: int, tally: Tally) -> str:
    """Draw and read one look; return how it went."""
    rng = np.random.default_rng([SEED, number])
    look = draw_stranger(rng)
    strip, counts = look.strip, Counter[str]()
    first = draw_strip(look, _state(strip, rng), rng, sheen=False, hand=False)
    try:
        found = calibrate_strip([first], strip)
    except CalibrationError as error:
        return f"not calibrated: {error}"
    reader, t_ns = StripReader(found.strip, found.camera, first), 0
    for place in range(states):
        state = _state(strip, rng)
        if place % 5 == 4:
            index = int(rng.integers(len(strip.dials)))
            state = turned(state, index, state.dials[index] + float(rng.uniform(0.3, 0.7)))
        if place % 3 == 2:
            t_ns += STEP_NS
            seen = reader.read(draw_strip(look, state, rng, sheen=False, hand=True), t_ns)
            counts["HANDS READ THROUGH" if seen.settled else "hands seen"] += 1
        for _ in range(5):
            t_ns += STEP_NS
            reading = reader.read(draw_strip(look, state, rng, sheen=place % 4 == 1, hand=False), t_ns)
        counts["settled" if reading.settled else "never settled"] += 1
        if reading.settled:
            count_reading(tally, strip, reading, state)
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _state(strip: StripSet, rng: Rng) -> StripState:
    dials = tuple(float(rng.integers(len(dial.faces))) for dial in strip.dials)
    return StripState(float(rng.integers(2, 99)) + float(rng.uniform(-0.15, 0.15)), float(rng.integers(3)), dials)


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--looks", type=int, default=6)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--states", type=int, default=12)
    given = parser.parse_args()
    tally = Tally()
    for number in range(given.first, given.first + given.looks):
        print(f"look {number}: {read_look(number, given.states, tally)}", flush=True)
    print(tally.text())


if __name__ == "__main__":
    main()
