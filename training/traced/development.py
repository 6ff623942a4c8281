"""What a camera makes of traced light, on the device that traced it: `twin.film` in torch, for windows of pictures.

Blur, vignette, flicker, exposure, noise that neighbors share, the camera's own processing, and JPEG (8 x 8 blocks,
quantized by the tables of ITU-T T.81, annex K; colors at half size). Each window has a sensor of its own: the same
light seen by another camera is another picture to train on.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from downfield.twin.table.appearance import Processing, Sensor

LOSSLESS_QUALITY: Final = 99.5  # from this quality on nothing is lost

_LUMA: Final = (
    "16 11 10 16 24 40 51 61 12 12 14 19 26 58 60 55 14 13 16 24 40 57 69 56 14 17 22 29 51 87 80 62 "
    "18 22 37 56 68 109 103 77 24 35 55 64 81 104 113 92 49 64 78 87 103 121 120 101 72 92 95 98 112 100 103 99"
)
_CHROMA: Final = (
    "17 18 24 47 99 99 99 99 18 21 26 66 99 99 99 99 24 26 56 99 99 99 99 99 47 66 99 99 99 99 99 99 " + "99 " * 32
)


def through_jpeg(pictures: Tensor, quality: Tensor) -> Tensor:
    """Return pictures as a JPEG of each one's quality keeps them.

    Args:
        pictures: red green blue, 0..255, float (n, 3, height, width); a block begins at the first pixel.
        quality: 1..100, shape (n,), as libjpeg counts it.
    """
    height, width = pictures.shape[2:]
    x = functional.pad(pictures, (0, -width % 16, 0, -height % 16), mode="replicate")
    dct, luma, chroma = _tables(x.device)
    bounded = quality.clamp(1, 100)
    scale = torch.where(bounded < 50, 5000 / bounded, 200 - 2 * bounded)[:, None, None] / 100
    luma_steps, chroma_steps = ((table * scale).round().clamp(1, 255) for table in (luma, chroma))
    y = 0.299 * x[:, 0] + 0.587 * x[:, 1] + 0.114 * x[:, 2]
    colors = torch.stack([(x[:, 2] - y) * 0.564, (x[:, 0] - y) * 0.713], dim=1)
    y = _quantized(y[:, None] - 128, luma_steps, dct)[:, 0] + 128
    colors = _quantized(functional.avg_pool2d(colors, 2), chroma_steps, dct)
    blue, red = functional.interpolate(colors, scale_factor=2, mode="bilinear", align_corners=False).unbind(dim=1)
    kept = torch.stack([y + 1.403 * red, y - 0.344 * blue - 0.714 * red, y + 1.773 * blue], dim=1)
    return torch.where((quality >= LOSSLESS_QUALITY)[:, None, None, None], pictures, kept[:, :, :height, :width])


def _quantized(planes: Tensor, steps: Tensor, dct: Tensor) -> Tensor:
    """Return planes (n, c, height, width) without what the steps, (n, 8, 8), leave out of their blocks."""
    n, c, height, width = planes.shape
    blocks = planes.reshape(n, c, height // 8, 8, width // 8, 8).permute(0, 1, 2, 4, 3, 5)
    size = steps[:, None, None, None]
    kept = ((dct @ blocks @ dct.T) / size).round() * size
    return (dct.T @ kept @ dct).permute(0, 1, 2, 4, 3, 5).reshape(n, c, height, width)


@lru_cache(maxsize=8)
def _tables(device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return the matrix of the cosine transform, and the steps of quality 50 for brightness and color."""
    k = np.arange(8)
    dct = np.sqrt(2 / 8) * np.cos((2 * k[None] + 1) * k[:, None] * np.pi / 16)
    dct[0] /= np.sqrt(2)
    steps = [np.array(text.split(), dtype=np.float32).reshape(8, 8) for text in (_LUMA, _CHROMA)]
    matrix, luma, chroma = (torch.from_numpy(table.astype(np.float32)).to(device) for table in (dct, *steps))
    return matrix, luma, chroma


FIELDS: Final = (
    *("blur_px", "vignette", "red", "green", "blue", "noise", "flicker", "flicker_px", "flicker_phase", "jpeg"),
    *("sharpen", "sharpen_px", "contrast", "gamma", "black", "saturation", "hue", "denoise", "fringe"),
    *("width", "height"),
)
"""Columns of sensors; lengths in pixels of the frame, angles in radians."""


# Measures of a camera's pictures that its sensor does not name.
_DISPLAY_GAMMA: Final = 1 / 2.2  # exponent from light to display values
_SHARED_PX: Final = 0.45  # reach over which pixels share noise, since color is interpolated from a mosaic
_SHOT_SHARE: Final = 0.6  # share of the noise's variance at mid gray that comes from photons, as in `twin.film`
_SMOOTHING_PX: Final = 0.9  # reach of a camera's smoothing
_EDGE: Final = 0.11  # difference of display values from which smoothing spares an edge
_TAPS: Final = 9  # width of blurs, px
_NEUTRAL: Final = Processing()


def sensor_row(sensor: Sensor, size_px: tuple[int, int], phase: float) -> NDArray[np.float32]:
    """Return a sensor as a row of `FIELDS`, float32.

    Args:
        size_px: of its whole picture.
        phase: of the lamps' flicker at the first row, radians.
    """
    own = sensor.processing or _NEUTRAL
    red, green, blue = (sensor.gain * factor for factor in sensor.white_balance)
    # A picture is read in `rolling_ms` and lamps swing twice a mains period; a global shutter sees no swing.
    swings = 2 * sensor.mains_hz * sensor.rolling_ms * 1e-3
    evened = sensor.flicker * float(np.sinc(2 * sensor.mains_hz * sensor.exposure_ms * 1e-3))
    values = (
        *(sensor.blur_px, sensor.vignette, red, green, blue, sensor.noise / 255),
        *(evened, size_px[1] / max(swings, 1e-3), phase, sensor.jpeg),
        *(own.sharpen, own.sharpen_px, own.contrast, own.gamma, own.black, own.saturation, math.radians(own.hue_deg)),
        *(own.denoise, own.aberration_px, size_px[0], size_px[1]),
    )
    return np.array(values, dtype=np.float32)


def develop(light: Tensor, sensors: Tensor, inverses: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """Return pictures as cameras deliver them, uint8 blue green red, shape (n, height, width, 3).

    Args:
        light: linear, red green blue, float (n, height, width, 3).
        sensors: rows of `FIELDS`, float (n, columns), on the same device.
        inverses: affine matrices from each window's pixels to its frame's, shape (n, 2, 3), on that device: blur,
            noise, fringes and vignette follow them.
        generator: of the noise, on that device.
    """
    field = {name: sensors[:, column, None, None, None] for column, name in enumerate(FIELDS)}
    origins, steps = inverses[:, :, 2], torch.linalg.det(inverses[:, :, :2]).abs().sqrt()
    step = steps[:, None, None, None]
    x = blurred(light.permute(0, 3, 1, 2), (sensors[:, FIELDS.index("blur_px")] / steps).clamp(min=0.05))
    gains = torch.cat([field["red"], field["green"], field["blue"]], dim=1)
    x = (x * gains * _evenness(field, origins, step, x.shape[2:])).clamp(min=1e-5)
    # The shoulder of a sensor near its full scale, then the display curve.
    x = torch.where(x > 0.8, 0.8 + 0.2 * (1 - torch.exp((0.8 - x) / 0.2)), x) ** _DISPLAY_GAMMA
    x = _noisy(x, field["noise"], steps, generator).clamp(0, 1)
    x = _fringed(x, field, inverses)
    x = _processed(x, field, steps)
    x = through_jpeg(255 * x, field["jpeg"][:, 0, 0, 0])
    return x.round().clamp(0, 255).to(torch.uint8).flip(1).permute(0, 2, 3, 1).contiguous()


def blurred(planes: Tensor, sigma_px: Tensor) -> Tensor:
    """Return pictures (n, c, height, width), each blurred by its own Gaussian, shape (n,)."""
    n, c, height, width = planes.shape
    reach = _TAPS // 2
    taps = torch.arange(-reach, reach + 1, device=planes.device, dtype=torch.float32)
    kernel = torch.exp(-0.5 * (taps[None] / sigma_px[:, None]) ** 2)
    kernel = (kernel / kernel.sum(dim=1, keepdim=True)).repeat_interleave(c, 0)
    flat = functional.pad(planes.reshape(1, n * c, height, width), (reach,) * 4, mode="replicate")
    flat = functional.conv2d(flat, kernel[:, None, None, :], groups=n * c)
    return functional.conv2d(flat, kernel[:, None, :, None], groups=n * c).reshape(n, c, height, width)


def _evenness(field: dict[str, Tensor], origins: Tensor, step: Tensor, shape: torch.Size) -> Tensor:
    """Return the share of light by vignette and flicker, shape (n, 1, height, width)."""
    height, width = shape
    x = origins[:, 0, None, None, None] + step * torch.arange(width, device=origins.device)
    y = origins[:, 1, None, None, None] + step * torch.arange(height, device=origins.device)[:, None]
    half = field["width"] / 2
    u, v = (x - half) / half, (y - field["height"] / 2) / half
    off = (u * u + v * v) / (1 + (field["height"] / field["width"]) ** 2)
    swing = torch.sin(2 * math.pi * y / field["flicker_px"] + field["flicker_phase"])
    return (1 - field["vignette"] * off).clamp(min=0.0) * (1 + field["flicker"] * swing)


def _noisy(x: Tensor, noise: Tensor, steps: Tensor, generator: torch.Generator | None) -> Tensor:
    """Return display values with noise as `twin.film` has it: a pixel of a smaller picture averages several."""
    field = torch.randn(x.shape, device=x.device, generator=generator)
    kept = (_SHARED_PX / steps).clamp(min=0.05)
    field = blurred(field, kept)
    field = field / field.std(dim=(1, 2, 3), keepdim=True).clamp(min=1e-3)
    level = (2 * x).clamp(min=4 / 128)
    light, slope = level ** (1 / _DISPLAY_GAMMA), level ** (1 - 1 / _DISPLAY_GAMMA)
    spread = slope * torch.sqrt(_SHOT_SHARE * light + 1 - _SHOT_SHARE)
    return x + field * noise * spread.clamp(max=3.0) / steps.clamp(min=1.0)[:, None, None, None]


def _fringed(x: Tensor, field: dict[str, Tensor], inverses: Tensor) -> Tensor:
    """Return pictures with red larger and blue smaller about their frames' middle, as `twin.film.sensor_effects`."""
    middle = torch.cat([field["width"], field["height"]], dim=1)[:, :, 0, 0] / 2 - 0.5
    share = field["fringe"][:, 0, 0, 0] / middle.norm(dim=1)
    if not bool(share.any()):
        return x
    # A growth about a point stays one, about that point's place, in every window.
    place = torch.linalg.solve(inverses[:, :, :2], middle - inverses[:, :, 2])
    sides = x.new_tensor([x.shape[3] - 1, x.shape[2] - 1])
    planes = []
    for channel, way in enumerate((1, 0, -1)):
        shrink = 1 / (1 + way * share)
        matrix = torch.zeros(len(x), 2, 3, device=x.device)
        matrix[:, 0, 0] = matrix[:, 1, 1] = shrink
        matrix[:, :, 2] = (1 - shrink)[:, None] * (2 * place / sides - 1)
        plane = x[:, channel : channel + 1]
        grid = functional.affine_grid(matrix, list(plane.shape), align_corners=True)
        planes.append(functional.grid_sample(plane, grid, padding_mode="border", align_corners=True) if way else plane)
    return torch.cat(planes, dim=1)


def _processed(x: Tensor, field: dict[str, Tensor], steps: Tensor) -> Tensor:
    """Return what the camera makes of its picture, as `twin.film.sensor_effects`, once its lens has fringed it."""
    smooth = blurred(x, (_SMOOTHING_PX / steps).clamp(min=0.3))
    spared = torch.exp(-(((smooth - x) / _EDGE) ** 2))
    x = x + field["denoise"] * spared * (smooth - x)
    x = x.clamp(min=1e-5) ** field["gamma"]
    x = x + field["contrast"] * (x * x * (3 - 2 * x) - x)
    x = field["black"] + (1 - field["black"]) * x
    luma = (x * x.new_tensor([0.299, 0.587, 0.114])[:, None, None]).sum(dim=1, keepdim=True)
    red, blue = x[:, :1] - luma, x[:, 2:] - luma
    cos, sin = field["saturation"] * torch.cos(field["hue"]), field["saturation"] * torch.sin(field["hue"])
    red, blue = cos * red - sin * blue, sin * red + cos * blue
    green = -(0.299 * red + 0.114 * blue) / 0.587
    x = (luma + torch.cat([red, green, blue], dim=1)).clamp(0, 1)
    soft = blurred(x, (field["sharpen_px"][:, 0, 0, 0] / steps).clamp(min=0.3))
    return (x + field["sharpen"] * (x - soft)).clamp(0, 1)
