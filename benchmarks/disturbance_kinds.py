"""Kinds of disturbances of a camera's pictures and of their times, each at three strengths.

A kind takes the pictures of a play in the order of time and yields what a camera, a stream or a recorder would have
sent instead. Nothing is drawn at random but by a seed. What a person should read while it lasts is part of a kind.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

import cv2
import numpy as np
from numpy.typing import ArrayLike

from downfield.core.arrays import Array, Image
from downfield.core.frame import Frame

T = TypeVar("T")
Rng = np.random.Generator


@dataclass(frozen=True)
class Shot:
    """A picture with its times.

    Attributes:
        index: as the source numbers it.
        taken_ns: when it was really taken.
        stamp_ns: what is written on it.
        arrived_ns: when it arrived.
        sigma_ns: error of the stamp, where whoever received it says so.
    """

    index: int
    image: Image
    taken_ns: int
    stamp_ns: int
    arrived_ns: int
    sigma_ns: int | None = None


@dataclass(frozen=True)
class Occasion:
    """When things happen in the play that is disturbed.

    Attributes:
        begins_ns: of its first picture.
        decided_ns: of the contact or line that decides it.
    """

    begins_ns: int
    decided_ns: int


Alter = Callable[[Iterable[Shot], float, Rng, Occasion], Iterator[Shot]]


@dataclass(frozen=True)
class Kind:
    """A kind of disturbance.

    Attributes:
        name: in the table.
        strengths: mild, middle, strong: what `alter` gets.
        alter: makes the pictures.
        reason: what any reason for suspended or open calls must match, a regular expression.
    """

    name: str
    strengths: tuple[float, float, float]
    alter: Alter
    reason: str


_TRANSIT_NS: Final = 4_000_000  # from a picture to its arrival
_BEFORE_NS: Final = 450_000_000  # before the decision, where a fault is to strike in the middle of an approach


def _each(change: Callable[[Image, float, float, Rng], Image]) -> Alter:
    """Return the kind that changes every picture by itself: picture, seconds since the start, strength, chance."""

    def alter(shots: Iterable[Shot], strength: float, rng: Rng, when: Occasion) -> Iterator[Shot]:
        for shot in shots:
            t_s = (shot.taken_ns - when.begins_ns) / 1e9
            yield dataclasses.replace(shot, image=change(shot.image, t_s, strength, rng))

    return alter


def _late(change: Callable[[Image, float, float, Rng], Image], before_ns: int = 0) -> Alter:
    """Return the same from the decision of the play on, or from a while before."""

    def alter(shots: Iterable[Shot], strength: float, rng: Rng, when: Occasion) -> Iterator[Shot]:
        for shot in shots:
            since_ns = shot.taken_ns - (when.decided_ns - before_ns)
            image = shot.image if since_ns < 0 else change(shot.image, since_ns / 1e9, strength, rng)
            yield dataclasses.replace(shot, image=image)

    return alter


def _scaled(image: Image, factor: ArrayLike) -> Image:
    return np.asarray(np.clip(image * np.asarray(factor, np.float32), 0, 255), np.uint8)


def _rows(image: Image) -> Array:
    return np.linspace(0.0, 1.0, image.shape[0], endpoint=False)


def _dim(image: Image, _t: float, left: float, rng: Rng) -> Image:
    return _noisy(_scaled(image, left), _t, 2.0, rng)


def _noisy(image: Image, _t: float, levels: float, rng: Rng) -> Image:
    small = rng.normal(0, levels, (image.shape[0] // 2, image.shape[1] // 2)).astype(np.float32)
    grain = cv2.resize(small, (image.shape[1], image.shape[0]), interpolation=cv2.INTER_NEAREST)
    return np.asarray(np.clip(image + grain[..., None], 0, 255), np.uint8)


def _contrast(image: Image, _t: float, share: float, _rng: Rng) -> Image:
    return np.asarray(np.clip(128 + (image.astype(np.float32) - 128) * share, 0, 255), np.uint8)


def _gamma(image: Image, _t: float, power: float, _rng: Rng) -> Image:
    return np.asarray(cv2.LUT(image, (255 * (np.arange(256) / 255) ** power).astype(np.uint8)), np.uint8)


def _blur(image: Image, _t: float, sigma_px: float, _rng: Rng) -> Image:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma_px), np.uint8)


def _smear(image: Image, _t: float, length_px: float, _rng: Rng) -> Image:
    length = round(length_px)
    return np.asarray(cv2.filter2D(image, -1, np.full((1, length), 1 / length, np.float32)), np.uint8)


def _fog(image: Image, _t: float, share: float, _rng: Rng) -> Image:
    return np.asarray(cv2.addWeighted(image, 1 - share, np.full_like(image, 200), share, 0), np.uint8)


def _bands(mains_hz: float, rows_read_s: float) -> Callable[[Image, float, float, Rng], Image]:
    def change(image: Image, t_s: float, least: float, _rng: Rng) -> Image:
        phase = 2 * math.pi * mains_hz * (t_s + _rows(image) * rows_read_s)
        light = least + (1 - least) * (0.5 + 0.5 * np.cos(phase))
        return _scaled(image, light[:, None, None])

    return change


def _glare(image: Image, _t: float, radius: float, _rng: Rng) -> Image:
    height, width = image.shape[:2]
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    off = np.hypot(x - 0.45 * width, y - 0.5 * height) / (radius * width)
    added = 230 * np.exp(-0.5 * off**2)
    return np.asarray(np.clip(image + added[..., None], 0, 255), np.uint8)


def _tint(image: Image, _t: float, strength: float, _rng: Rng) -> Image:
    return _scaled(image, np.array([1 - strength, 1.0, 1 + strength / 2]))


def _shade(image: Image, _t: float, left: float, _rng: Rng) -> Image:
    across = np.arange(image.shape[1]) / image.shape[1]
    light = np.where(across < 0.5, 1.0, left)
    return _scaled(image, cv2.blur(light[None].astype(np.float32), (61, 1))[..., None])


def _fan(image: Image, t_s: float, left: float, _rng: Rng) -> Image:
    across = np.arange(image.shape[1]) / image.shape[1]
    light = 1 - (1 - left) * (np.abs((across - 1.3 * t_s) % 1.0 - 0.5) < 0.09)
    return _scaled(image, cv2.blur(light[None].astype(np.float32), (41, 1))[..., None])


def _jpeg(image: Image, _t: float, quality: float, _rng: Rng) -> Image:
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, round(quality)])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def _small(image: Image, _t: float, width_px: float, _rng: Rng) -> Image:
    height, width = image.shape[:2]
    size = (round(width_px), round(width_px * height / width))
    return np.asarray(cv2.resize(cv2.resize(image, size, interpolation=cv2.INTER_AREA), (width, height)), np.uint8)


def _vignette(image: Image, _t: float, left: float, _rng: Rng) -> Image:
    height, width = image.shape[:2]
    x, y = np.meshgrid(np.linspace(-1, 1, width), np.linspace(-1, 1, height))
    return _scaled(image, (1 - (1 - left) * np.clip(np.hypot(x, y) / 1.3, 0, 1) ** 2)[..., None])


def _gray(image: Image, _t: float, share: float, _rng: Rng) -> Image:
    gray = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    return np.asarray(cv2.addWeighted(image, 1 - share, gray, share, 0), np.uint8)


def _dirt(image: Image, _t: float, radius: float, _rng: Rng) -> Image:
    out = image.copy()
    height, width = image.shape[:2]
    for x, y in ((0.35, 0.4), (0.62, 0.62), (0.8, 0.3)):
        cv2.circle(out, (round(x * width), round(y * height)), round(radius * width), (70, 75, 80), -1)
    return np.asarray(cv2.addWeighted(cv2.GaussianBlur(out, (0, 0), 9), 0.8, image, 0.2, 0), np.uint8)


def _covered(image: Image, _t: float, share: float, _rng: Rng) -> Image:
    out = image.copy()
    height, width = image.shape[:2]
    out[: round((0.35 + share) * height), round(0.38 * width) : round((0.38 + share) * width)] = (90, 120, 165)
    return out


def _dark_again(image: Image, t_s: float, left: float, rng: Rng) -> Image:
    return _dim(image, t_s, left, rng) if 0.1 <= t_s < 0.6 else image


def _pumping(image: Image, t_s: float, swing: float, _rng: Rng) -> Image:
    return _scaled(image, 1 + swing * math.sin(2 * math.pi * 0.7 * t_s))


def _blinking(image: Image, t_s: float, left: float, _rng: Rng) -> Image:
    return _scaled(image, left if (t_s * 3) % 1 < 0.5 else 1.0)


def _warped(image: Image, dx: float, dy: float, turn_deg: float = 0.0, zoom: float = 1.0) -> Image:
    height, width = image.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), turn_deg, zoom)
    matrix[:, 2] += np.array([dx, dy])
    return np.asarray(
        cv2.warpAffine(image, matrix, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
        np.uint8,
    )


def _bump(image: Image, t_s: float, px: float, _rng: Rng) -> Image:
    gone = min(1.0, t_s / 0.05 + 0.5)  # over two frames
    return _warped(image, 0.8 * px * gone, -0.6 * px * gone)


def _slip(image: Image, t_s: float, px_s: float, _rng: Rng) -> Image:
    return _warped(image, px_s * t_s, 0.3 * px_s * t_s)


def _sway(image: Image, t_s: float, px: float, _rng: Rng) -> Image:
    return _warped(image, px * math.sin(2 * math.pi * 2.2 * t_s), 0.6 * px * math.sin(2 * math.pi * 3.1 * t_s))


def _turned(image: Image, t_s: float, degrees: float, _rng: Rng) -> Image:
    return _warped(image, 0.0, 0.0, degrees * min(1.0, t_s / 0.1))


def _zoomed(image: Image, t_s: float, percent: float, _rng: Rng) -> Image:
    return _warped(image, 0.0, 0.0, 0.0, 1 + percent / 100 * min(1.0, t_s / 0.1))


def _slots(shots: Iterable[Shot], every: int, again: Callable[[Image, int], Image]) -> Iterator[Shot]:
    """Yield every so many-th picture, in the place of those after it too."""
    held: Shot | None = None
    for number, shot in enumerate(shots):
        if held is None or number % every == 0:
            held = shot
        image = again(held.image, number % every)
        yield dataclasses.replace(shot, image=image, taken_ns=held.taken_ns)


def _repeated(shots: Iterable[Shot], times: float, _rng: Rng, _when: Occasion) -> Iterator[Shot]:
    yield from _slots(shots, round(times), lambda image, _: image)


def _recoded(quality: int) -> Alter:
    def alter(shots: Iterable[Shot], times: float, rng: Rng, _when: Occasion) -> Iterator[Shot]:
        yield from _slots(shots, round(times), lambda image, place: _jpeg(image, 0.0, quality - 7 * place, rng))

    return alter


def _doubled(shots: Iterable[Shot], _: float, _rng: Rng, _when: Occasion) -> Iterator[Shot]:
    """Yield each picture twice, bit for bit, at twice the rate."""
    last: Shot | None = None
    for number, shot in enumerate(shots):
        if last is not None:
            half = (shot.stamp_ns + last.stamp_ns) // 2
            yield dataclasses.replace(last, index=2 * number - 1, stamp_ns=half, arrived_ns=half + _TRANSIT_NS)
        yield dataclasses.replace(shot, index=2 * number)
        last = shot


def _unevenly_repeated(shots: Iterable[Shot], share: float, rng: Rng, _when: Occasion) -> Iterator[Shot]:
    held: Shot | None = None
    for shot in shots:
        if held is None or rng.random() >= share:
            held = shot
        yield dataclasses.replace(shot, image=held.image, taken_ns=held.taken_ns)


def _bursts(shots: Iterable[Shot], length: float, _rng: Rng, _when: Occasion) -> Iterator[Shot]:
    waiting: list[Shot] = []
    for shot in shots:
        waiting.append(shot)
        if len(waiting) == round(length):
            for place, one in enumerate(waiting):
                at = shot.taken_ns + 1_000_000 * place
                yield dataclasses.replace(one, stamp_ns=at, arrived_ns=at + _TRANSIT_NS)
            waiting.clear()


def _jitter(shots: Iterable[Shot], sigma_ms: float, rng: Rng, _when: Occasion) -> Iterator[Shot]:
    last = 0
    for shot in shots:
        last = max(last + 1, shot.taken_ns + round(abs(rng.normal(0, sigma_ms)) * 1e6))
        yield dataclasses.replace(shot, stamp_ns=last, arrived_ns=last + _TRANSIT_NS)


def _stall(shots: Iterable[Shot], length_s: float, _rng: Rng, when: Occasion) -> Iterator[Shot]:
    """Yield what was taken in a stall across the decision all at once, after it."""
    begins_ns = when.decided_ns - round(length_s * 0.5e9)
    ends_ns, place = begins_ns + round(length_s * 1e9), 0
    for shot in shots:
        if begins_ns <= shot.taken_ns < ends_ns:
            place += 1
            at = ends_ns + 1_000_000 * place
            yield dataclasses.replace(shot, stamp_ns=at, arrived_ns=at + _TRANSIT_NS)
        elif shot.taken_ns < begins_ns or shot.taken_ns >= ends_ns + 1_000_000 * (place + 1):
            yield shot


def _gap(shots: Iterable[Shot], length_s: float, _rng: Rng, when: Occasion) -> Iterator[Shot]:
    begins_ns = when.decided_ns - round(length_s * 0.5e9)
    for shot in shots:
        if not begins_ns <= shot.taken_ns < begins_ns + round(length_s * 1e9):
            yield shot


def _dropped(shots: Iterable[Shot], share: float, rng: Rng, _when: Occasion) -> Iterator[Shot]:
    for number, shot in enumerate(shots):
        if number < 12 or rng.random() >= share:
            yield shot


def _dropped_uncounted(shots: Iterable[Shot], share: float, rng: Rng, when: Occasion) -> Iterator[Shot]:
    for number, shot in enumerate(_dropped(shots, share, rng, when)):
        yield dataclasses.replace(shot, index=number)


def _swapped(shots: Iterable[Shot], every: float, _rng: Rng, _when: Occasion) -> Iterator[Shot]:
    """Yield two neighbors in the wrong order now and then, each with the time of the other."""
    held: Shot | None = None
    for number, shot in enumerate(shots):
        if number % round(every) == round(every) - 1 and held is None:
            held = shot
            continue
        if held is not None:
            yield dataclasses.replace(held, image=shot.image, taken_ns=shot.taken_ns)
            yield dataclasses.replace(shot, image=held.image, taken_ns=held.taken_ns)
            held = None
        else:
            yield shot


def _slower(shots: Iterable[Shot], every: float, _rng: Rng, _when: Occasion) -> Iterator[Shot]:
    for number, shot in enumerate(shots):
        if number % round(every) == 0:
            yield dataclasses.replace(shot, index=number // round(every))


def _slower_in_dark(shots: Iterable[Shot], every: float, rng: Rng, when: Occasion) -> Iterator[Shot]:
    """Yield at a lower rate, darker, from a while before the decision on: a camera that exposes for longer."""
    index = 0
    for number, shot in enumerate(shots):
        late = shot.taken_ns > when.decided_ns - _BEFORE_NS
        if not late or number % round(every) == 0:
            image = _dim(shot.image, 0.0, 0.7, rng) if late else shot.image
            yield dataclasses.replace(shot, index=index, image=image)
            index += 1


def _coarse_stamps(shots: Iterable[Shot], step_ms: float, _rng: Rng, _when: Occasion) -> Iterator[Shot]:
    for shot in shots:
        step = round(step_ms * 1e6)
        yield dataclasses.replace(shot, stamp_ns=shot.taken_ns // step * step)


def _frozen(shots: Iterable[Shot], length_s: float, _rng: Rng, when: Occasion) -> Iterator[Shot]:
    """Yield the same picture, bit for bit, across the decision."""
    begins_ns, held = when.decided_ns - round(length_s * 0.5e9), None
    for shot in shots:
        held = shot if held is None or shot.taken_ns < begins_ns else held
        over = shot.taken_ns >= begins_ns + round(length_s * 1e9)
        yield shot if over else dataclasses.replace(shot, image=held.image, taken_ns=held.taken_ns)


def _cut(shots: Iterable[Shot], length_s: float, _rng: Rng, when: Occasion) -> Iterator[Shot]:
    """Leave out a while before the decision and let the times go on as if nothing were missing."""
    ends_ns = when.decided_ns - 100_000_000
    begins_ns, index = ends_ns - round(length_s * 1e9), 0
    for shot in shots:
        if begins_ns <= shot.taken_ns < ends_ns:
            continue
        earlier = round(length_s * 1e9) if shot.taken_ns >= ends_ns else 0
        stamp = shot.taken_ns - earlier
        yield dataclasses.replace(shot, index=index, stamp_ns=stamp, arrived_ns=stamp + _TRANSIT_NS)
        index += 1


_LIGHT: Final = r"dark|dim|light|lamp|expos|not visible|which figure|brighter|contrast"
_LAMPS: Final = r"flicker"
_FOCUS: Final = r"blur|focus|contrast|fog|not visible|which figure"
_COVERED: Final = r"hand|covers|not visible|clear the view|which figure|out of view|field is not in the picture"
_MOVED: Final = r"moved|camera"
_TIMES: Final = r"picture|frame|too close together|came"

KINDS: Final = (
    Kind("darker", (0.7, 0.45, 0.25), _each(_dim), _LIGHT),
    Kind("brighter", (1.3, 1.8, 2.6), _each(lambda image, _t, gain, _rng: _scaled(image, gain)), _LIGHT),
    Kind("less contrast", (0.75, 0.5, 0.3), _each(_contrast), _LIGHT),
    Kind("other gamma", (0.7, 0.5, 0.35), _each(_gamma), _LIGHT),
    Kind("other color of the light", (0.2, 0.4, 0.6), _each(_tint), _LIGHT),
    Kind("half of the table in shade", (0.7, 0.45, 0.3), _each(_shade), _LIGHT + "|shad"),
    Kind("shadows of a fan", (0.8, 0.55, 0.35), _each(_fan), _LIGHT + "|shad|hand"),
    Kind("corners darker", (0.7, 0.45, 0.25), _each(_vignette), _LIGHT),
    Kind("lamps of 50 Hz, bands", (0.85, 0.6, 0.33), _each(_bands(100.0, 0.030)), _LAMPS),
    Kind("lamps of 60 Hz, bands", (0.85, 0.6, 0.33), _each(_bands(120.0, 0.030)), _LAMPS),
    Kind("lamps of 50 Hz, whole picture", (0.85, 0.6, 0.33), _each(_bands(100.0, 0.0)), _LAMPS),
    Kind("light that goes and comes at 50 Hz, bands", (0.85, 0.6, 0.33), _each(_bands(50.0, 0.030)), _LAMPS),
    Kind("a lamp that blinks", (0.85, 0.6, 0.4), _each(_blinking), _LAMPS + "|" + _LIGHT),
    Kind("exposure that pumps", (0.1, 0.25, 0.4), _each(_pumping), _LIGHT),
    Kind("light off for half a second", (0.5, 0.2, 0.05), _late(_dark_again, _BEFORE_NS), _LIGHT),
    Kind("glare", (0.05, 0.1, 0.2), _each(_glare), _LIGHT + "|glare|covers"),
    Kind("fog on the lens", (0.3, 0.5, 0.7), _each(_fog), _FOCUS),
    Kind("dirt on the lens", (0.015, 0.03, 0.06), _each(_dirt), _COVERED + "|lens"),
    Kind("out of focus", (1.2, 2.5, 4.5), _each(_blur), _FOCUS),
    Kind("out of focus from the decision on", (1.5, 3.0, 5.0), _late(_blur, _BEFORE_NS), _FOCUS),
    Kind("smeared by motion", (3, 7, 13), _each(_smear), _FOCUS),
    Kind("noise", (4, 8, 16), _each(_noisy), _LIGHT + "|noise"),
    Kind("dark and noisy", (0.7, 0.55, 0.4), _each(lambda i, t, s, r: _noisy(_scaled(i, s), t, 6.0, r)), _LIGHT),
    Kind(
        "half the contrast, blurred",
        (1.0, 2.5, 4.0),
        _each(lambda i, t, s, r: _blur(_contrast(i, t, 0.5, r), t, s, r)),
        _FOCUS + "|" + _LIGHT,
    ),
    Kind("without color", (0.5, 0.8, 1.0), _each(_gray), "which figure|color|" + _LIGHT),
    Kind("compressed", (60, 30, 12), _each(_jpeg), _FOCUS),
    Kind("fewer pixels", (1280, 960, 640), _each(_small), _FOCUS),
    Kind("bump at the decision", (3, 8, 25), _late(_bump), _MOVED),
    Kind("bump before the decision", (3, 8, 25), _late(_bump, _BEFORE_NS), _MOVED),
    Kind("slip", (2, 6, 15), _each(_slip), _MOVED),
    Kind("sway", (0.8, 1.8, 4.0), _each(_sway), _MOVED),
    Kind("camera turned", (0.2, 0.8, 2.5), _late(_turned, _BEFORE_NS), _MOVED),
    Kind("camera zoomed", (0.3, 1.0, 3.0), _late(_zoomed, _BEFORE_NS), _MOVED),
    Kind("something covers the field", (0.08, 0.15, 0.3), _late(_covered, _BEFORE_NS), _COVERED),
    Kind("each picture twice, 60 in 30", (2, 2, 2), _doubled, _TIMES),
    Kind("each picture again, bit for bit", (2, 3, 4), _repeated, _TIMES),
    Kind("each picture again, compressed", (2, 3, 4), _recoded(92), _TIMES),
    Kind("each picture again, compressed hard", (2, 3, 4), _recoded(70), _TIMES),
    Kind("some pictures again", (0.2, 0.4, 0.6), _unevenly_repeated, _TIMES),
    Kind("bursts", (2, 3, 6), _bursts, _TIMES),
    Kind("jitter of the stamps", (4, 10, 25), _jitter, _TIMES),
    Kind("stall at the decision", (0.12, 0.25, 0.6), _stall, _TIMES),
    Kind("no pictures at the decision", (0.1, 0.25, 0.6), _gap, _TIMES),
    Kind("dropped and counted", (0.15, 0.35, 0.6), _dropped, _TIMES),
    Kind("dropped, not counted", (0.15, 0.35, 0.6), _dropped_uncounted, _TIMES),
    Kind("swapped", (30, 9, 4), _swapped, _TIMES + "|order"),
    Kind("fewer pictures a second", (2, 3, 4), _slower, _TIMES),
    Kind("slower in the dark", (2, 3, 4), _slower_in_dark, _TIMES + "|" + _LIGHT),
    Kind("stamps in coarse steps", (20, 50, 100), _coarse_stamps, _TIMES),
    Kind("frozen at the decision", (0.12, 0.3, 0.7), _frozen, _TIMES),
    Kind("cut before the decision", (0.3, 0.8, 1.5), _cut, "which figure|cut|moved|leap|not visible|line-up"),
)


_INTERVAL_NS: Final = 1_200_000_000  # before the first fault, for the line-up, and between two
_DURATION_NS: Final = 500_000_000
_HALF: Final = 0.5  # share of frames that are dropped
_DARK: Final = 0.03  # share of the light that is left


def disturb(frames: Iterable[tuple[Frame, T]], seed: int = 0) -> Iterator[tuple[Frame, T]]:
    """Yield frames with their data, disturbed for half a second now and then: dropped, frozen, dark, in turn."""
    rng = np.random.default_rng(seed)
    begins_ns: int | None = None
    still: Image | None = None
    for frame, data in frames:
        begins_ns = frame.t_ns if begins_ns is None else begins_ns
        turn, into_ns = divmod(frame.t_ns - begins_ns, _INTERVAL_NS + _DURATION_NS)
        kind = turn % 3 if into_ns >= _INTERVAL_NS else None
        if kind != 1 or still is None:
            still = frame.image
        if kind == 0 and rng.random() < _HALF:
            continue
        image = still if kind == 1 else _dim(frame.image, 0.0, _DARK, rng) if kind == 2 else frame.image
        yield dataclasses.replace(frame, image=image), data
