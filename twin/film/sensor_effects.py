"""Effects of a real camera on an ideal picture, in the order in which they act on the light.

The mount's slow sway and, while the board is on, its buzz move the camera, also during the exposure; defocus blurs; the
lens darkens its corners; lamps flicker from row to row; exposure and white balance scale; photons and the chip add
noise; the camera may process and sharpen its picture (`process`); its JPEG quantizes it. Light factors are raised to
1/2.2, since they act on light and the picture's values are display values.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image, Plane
from downfield.twin.render.renderer import BaseTop, RenderedFrame
from downfield.twin.table.appearance import Processing, Sensor

_SWAY_HZ = np.array([0.23, 0.61, 1.3, 2.9])
_SWAY_SHARE = np.array([0.7, 0.5, 0.4, 0.3])  # the squares sum to about 1
_BUZZ_SHARE = np.array([1.0, 0.35])  # of the mains frequency and twice it: an electromagnet pulls twice a period
_PATH_POINTS = 9  # through one exposure

_LUMA: Final = np.array([0.114, 0.587, 0.299], dtype=np.float32)  # blue green red
_SMOOTH_SPREAD: Final = 28.0  # levels: what differs by more is an edge

_GAMMA = 2.2  # display values to light
_STILL_PX = 0.05  # smaller movements are invisible
_NOISE_SPARE = 96  # the noise is shifted by up to this many pixels from frame to frame
_SHOT_SHARE = 0.6  # share of the noise's variance at mid gray that comes from photons
_ODD_ROWS = 61  # rows at which the rolling shutter's offset is computed; the others are interpolated


class Sway:
    """The movement of one camera that nobody bumps: smooth functions of time with seeded phases.

    Any instant can be evaluated: a row's, or one within an exposure.

    Args:
        sensor: gives shake, buzz and the mains' frequency.
        seed: of the phases of sway and buzz.
    """

    def __init__(self, sensor: Sensor, seed: int) -> None:
        rng = np.random.default_rng([seed, 0x5FA7])
        self._sensor = sensor
        self._sway_phase = rng.uniform(0, 2 * np.pi, (2, len(_SWAY_HZ)))
        self._buzz_phase = rng.uniform(0, 2 * np.pi, (2, len(_BUZZ_SHARE)))
        self._buzz_side = rng.uniform(0.4, 1.0, (2, 1))
        self._buzz_hz = sensor.mains_hz * np.array([1.0, 2.0])

    def offset_px(self, t_s: ArrayLike, *, power: bool) -> Array:
        """Return the picture's offset, px along image x and y: shape (...) to (..., 2)."""
        t = np.asarray(t_s, dtype=np.float64)[..., None, None]
        # Square root of 2: a sine's standard deviation to its amplitude.
        sway = np.sin(2 * np.pi * _SWAY_HZ * t + self._sway_phase) * (_SWAY_SHARE * np.sqrt(2) * self._sensor.shake_px)
        offset: Array = sway.sum(axis=-1)
        if power:
            buzz = np.sin(2 * np.pi * self._buzz_hz * t + self._buzz_phase) * self._buzz_side * _BUZZ_SHARE
            offset = offset + self._sensor.buzz_px * buzz.sum(axis=-1)
        return offset

    def path_px(self, t_s: float, *, power: bool) -> Array:
        """Return the offsets through one exposure around its middle, px, shape (n, 2)."""
        half = self._sensor.exposure_ms / 2000
        return self.offset_px(t_s + np.linspace(-half, half, _PATH_POINTS), power=power)

    def camera(self, nominal: Camera, t_s: float, *, power: bool) -> Camera:
        """Return the camera at an exposure's middle: the nominal camera turned by the mean of its path."""
        x, y = self.path_px(t_s, power=power).mean(axis=0)
        if x == 0 and y == 0:
            return nominal
        focal = nominal.lens.focal_px
        # Turning the camera about its own center moves the whole picture nearly uniformly.
        turn = cv2.Rodrigues(np.array([-y / focal[1], x / focal[0], 0.0]))[0] @ nominal.board_to_camera
        (a, b, c), at = np.asarray(cv2.Rodrigues(turn)[0]).ravel(), -turn @ nominal.position_mm
        return dataclasses.replace(
            nominal, rotation=(float(a), float(b), float(c)), translation_mm=(float(at[0]), float(at[1]), float(at[2]))
        )


def process(image: Image, processing: Processing) -> Image:
    """Return a picture as the camera makes it, uint8 blue green red, same shape."""
    if processing.aberration_px > 0:
        image = _fringed(image, processing.aberration_px)
    if processing.denoise > 0:
        smooth = cv2.bilateralFilter(image, 5, _SMOOTH_SPREAD, 1.6)
        image = np.asarray(
            cv2.addWeighted(smooth, processing.denoise, image, 1 - processing.denoise, 0), dtype=np.uint8
        )
    colors = np.asarray(cv2.LUT(image, _levels(processing)), dtype=np.float32)
    colors = np.asarray(cv2.transform(colors, color_matrix(processing.saturation, processing.hue_deg)), np.float32)
    if processing.sharpen > 0:
        soft = cv2.GaussianBlur(colors, (0, 0), processing.sharpen_px)
        colors = np.asarray(
            cv2.addWeighted(colors, 1 + processing.sharpen, soft, -processing.sharpen, 0), dtype=np.float32
        )
    out: Image = np.clip(colors + 0.5, 0, 255).astype(np.uint8)
    return out


def color_matrix(saturation: float, hue_deg: float) -> Plane:
    """Return the matrix on blue, green, red that saturates colors and turns them about gray, shape (3, 3)."""
    cos, sin = saturation * math.cos(math.radians(hue_deg)), saturation * math.sin(math.radians(hue_deg))
    to_blue, to_red = np.array([1.0, 0, 0]) - _LUMA, np.array([0, 0, 1.0]) - _LUMA
    red, blue = cos * to_red - sin * to_blue, sin * to_red + cos * to_blue
    green = -(0.299 * red + 0.114 * blue) / 0.587
    return np.asarray(_LUMA + np.stack([blue, green, red]), dtype=np.float32)


def _levels(processing: Processing) -> Plane:
    x = (np.arange(256) / 255) ** processing.gamma
    x = x + processing.contrast * (x * x * (3 - 2 * x) - x)
    return np.asarray(255 * np.clip(processing.black + (1 - processing.black) * x, 0, 1), dtype=np.float32)


def _fringed(image: Image, corner_px: float) -> Image:
    """Return the picture with red larger and blue smaller by a shift at its corners."""
    height, width = image.shape[:2]
    middle = ((width - 1) / 2, (height - 1) / 2)
    blue, green, red = cv2.split(image)
    share = corner_px / math.hypot(*middle)
    moved = [_grown(np.asarray(plane, np.uint8), 1 + way * share, middle) for plane, way in ((blue, -1), (red, 1))]
    return np.asarray(cv2.merge([moved[0], green, moved[1]]), dtype=np.uint8)


def _grown(plane: Image, scale: float, middle: tuple[float, float]) -> Image:
    matrix = np.array([[scale, 0, (1 - scale) * middle[0]], [0, scale, (1 - scale) * middle[1]]])
    size = plane.shape[1::-1]
    return np.asarray(cv2.warpAffine(plane, matrix, size, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8)


class SensorEffects:
    """One camera's sensor; deterministic by its seed and each frame's time. `seed`: of noise, shake and flicker."""

    def __init__(self, sensor: Sensor, size_px: tuple[int, int], seed: int) -> None:
        self._sensor = sensor
        self._size_px = size_px
        self._seed = seed
        self._sway = Sway(sensor, seed)
        self._light = self._even_light()
        self._noise = self._noise_field() if sensor.noise > 0 else None
        self._noise_by_level = _noise_by_level(sensor.noise)

    def camera(self, nominal: Camera, t_ns: int, *, power: bool) -> Camera:
        """Return the camera at a frame's mid exposure, from the camera as it is mounted."""
        return self._sway.camera(nominal, t_ns * 1e-9, power=power)

    def develop(self, frame: RenderedFrame, *, power: bool) -> RenderedFrame:
        """Return the picture as the camera delivers it, with its truth moved by the rolling shutter.

        Args:
            frame: an ideal picture taken with `camera` at the same time.
        """
        t_s = frame.t_ns * 1e-9
        image = self._moved(frame.image, t_s, power=power)
        rows_px = self._row_offsets(t_s, power=power)
        tops = frame.base_tops
        if np.abs(rows_px).max() > _STILL_PX:
            image = _rolled(image, rows_px)
            tops = tuple(_rolled_top(top, rows_px) for top in tops)
        lit: Plane = np.asarray(cv2.multiply(image, self._light, dtype=cv2.CV_32F), dtype=np.float32)
        if self._sensor.flicker > 0:
            lit *= self._flicker(t_s)[:, None, None]
        image = self._noisy(lit, frame.t_ns)
        if self._sensor.processing is not None:
            image = process(image, self._sensor.processing)
        if self._sensor.jpeg < 100:
            image = _through_jpeg(image, self._sensor.jpeg)
        return dataclasses.replace(frame, image=image, base_tops=tops)

    def _moved(self, image: Image, t_s: float, *, power: bool) -> Image:
        """Return the picture blurred by defocus and by the camera's own movement during the exposure."""
        path = self._sway.path_px(t_s, power=power)
        path = path - path.mean(axis=0)
        if np.abs(path).max() <= _STILL_PX:
            if self._sensor.blur_px <= 0:
                return image
            return np.asarray(cv2.GaussianBlur(image, (0, 0), self._sensor.blur_px), dtype=np.uint8)
        return np.asarray(cv2.filter2D(image, -1, _smear(path, self._sensor.blur_px)), dtype=np.uint8)

    def _row_times(self, t_s: float, rows: int) -> Array:
        """Return the mid exposure times of the rows, s; the picture's middle row has t_s."""
        lag: Array = t_s + np.linspace(-0.5, 0.5, rows) * self._sensor.rolling_ms * 1e-3
        return lag

    def _row_offsets(self, t_s: float, *, power: bool) -> Array:
        """Return the offset of every row that is exposed earlier or later, px, shape (rows, 2)."""
        if self._sensor.rolling_ms <= 0:
            return np.zeros((1, 2))
        # A blur by the exposure comes first: the row's own mean over its exposure, to a few points.
        times = self._row_times(t_s, _ODD_ROWS)
        half = self._sensor.exposure_ms / 2000
        through = times[:, None] + np.linspace(-half, half, 5)
        offsets = self._sway.offset_px(through, power=power).mean(axis=1)
        offsets = offsets - self._sway.path_px(t_s, power=power).mean(axis=0)
        rows = np.linspace(0, _ODD_ROWS - 1, self._size_px[1])
        return np.column_stack([np.interp(rows, np.arange(_ODD_ROWS), offsets[:, axis]) for axis in range(2)])

    def _flicker(self, t_s: float) -> Plane:
        """Return the brightness of every row under lamps on mains, shape (rows,)."""
        hz = 2 * self._sensor.mains_hz
        phase = np.random.default_rng([self._seed, 0xF11C]).uniform(0, 2 * np.pi)
        evened = np.sinc(hz * self._sensor.exposure_ms * 1e-3)  # a long exposure evens it out
        swing = self._sensor.flicker * evened
        light = 1 + swing * np.sin(2 * np.pi * hz * self._row_times(t_s, self._size_px[1]) + phase)
        return np.asarray(light ** (1 / _GAMMA), dtype=np.float32)

    def _even_light(self) -> Plane:
        """Return vignette, exposure and white balance as factors on display values, shape (rows, columns, 3)."""
        width, height = self._size_px
        x = (np.arange(width) - (width - 1) / 2) / (width / 2)
        y = (np.arange(height) - (height - 1) / 2) / (width / 2)
        off = (x[None] ** 2 + y[:, None] ** 2) / (1 + (height / width) ** 2)
        vignette = 1 - self._sensor.vignette * off
        factors = np.array(self._sensor.white_balance[::-1]) * self._sensor.gain
        return np.asarray((vignette[:, :, None] * factors) ** (1 / _GAMMA), dtype=np.float32)

    def _noise_field(self) -> Plane:
        width, height = self._size_px
        rng = np.random.default_rng([self._seed, 0x4015E])
        shape = (height + _NOISE_SPARE, width + _NOISE_SPARE, 3)
        field = rng.standard_normal(shape, dtype=np.float32)
        # Cameras interpolate color from a mosaic, so neighboring pixels share some of their noise.
        soft = np.asarray(cv2.GaussianBlur(field, (3, 3), 0.45), dtype=np.float32)
        return np.asarray(soft / soft.std(), dtype=np.float32)

    def _noisy(self, lit: Plane, t_ns: int) -> Image:
        """Return the picture with shot and read noise, quantized to 8 bits."""
        if self._noise is None:
            return np.asarray(cv2.convertScaleAbs(lit), dtype=np.uint8)
        rng = np.random.default_rng([self._seed, t_ns])
        down, right = rng.integers(0, _NOISE_SPARE, 2)
        height, width = lit.shape[:2]
        noise = self._noise[down : down + height, right : right + width]
        levels = cv2.LUT(cv2.convertScaleAbs(lit), self._noise_by_level)
        return np.asarray(cv2.add(lit, cv2.multiply(levels, noise), dtype=cv2.CV_8U), dtype=np.uint8)


def _noise_by_level(noise: float) -> Plane:
    """Return the standard deviation of the noise at every display value, shape (256,).

    Photon noise grows with the root of the light, and the display curve flattens what is bright.
    """
    level = np.maximum(np.arange(256), 4.0) / 128
    light = level**_GAMMA
    slope = level ** (1 - _GAMMA)
    shot, read = _SHOT_SHARE * light, 1 - _SHOT_SHARE
    return np.minimum(noise * slope * np.sqrt(shot + read), 3 * noise).astype(np.float32)


def _smear(path_px: Array, blur_px: float) -> Plane:
    """Return the point spread of a movement with defocus: a kernel with sum 1, its center of mass in the middle."""
    reach = int(np.ceil(np.abs(path_px).max() + 3 * blur_px + 0.5))
    grid = np.arange(-reach, reach + 1)
    sigma = max(blur_px, 0.35)  # a pixel's own width
    spread = np.exp(-0.5 * ((grid[None] - path_px[:, :1]) / sigma) ** 2)
    fall = np.exp(-0.5 * ((grid[None] - path_px[:, 1:]) / sigma) ** 2)
    kernel = np.einsum("ky,kx->yx", fall, spread)
    # filter2D correlates: a kernel turned by half a turn convolves.
    return np.ascontiguousarray(kernel[::-1, ::-1] / kernel.sum(), dtype=np.float32)


def _rolled(image: Image, rows_px: Array) -> Image:
    height, width = image.shape[:2]
    x = np.arange(width, dtype=np.float32)[None] - rows_px[:, :1].astype(np.float32)
    y = np.arange(height, dtype=np.float32)[:, None] - rows_px[:, 1:].astype(np.float32)
    maps = cv2.convertMaps(x, np.ascontiguousarray(np.broadcast_to(y, x.shape)), cv2.CV_16SC2)
    return np.asarray(cv2.remap(image, *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8)


def _rolled_top(top: BaseTop, rows_px: Array) -> BaseTop:
    rows = np.clip(top.corners_px[:, 1], 0, len(rows_px) - 1)
    moved = [np.interp(rows, np.arange(len(rows_px)), rows_px[:, axis]) for axis in range(2)]
    return dataclasses.replace(top, corners_px=top.corners_px + np.column_stack(moved))


def _through_jpeg(image: Image, quality: int) -> Image:
    _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)
