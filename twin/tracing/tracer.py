"""Traces pictures of scenes on the processor or, with `DOWNFIELD_TRACER=cuda`, on a CUDA device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.twin.tracing.kernels import layout as at
from downfield.twin.tracing.kernels import pixels
from downfield.twin.tracing.kernels.target import ON_CUDA
from downfield.twin.tracing.scene import PrintTexture, TracedScene, view_row

_THREADS: Final = 128
_COARSE_FROM_PX: Final = 1.9  # print pixels per picture pixel from which the print's half size is read

Arrays = tuple[NDArray[Any], ...]

_IDENTITY: Final = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


@dataclass(frozen=True, slots=True)
class Windows:
    """Parts of pictures, all of one size."""

    views: NDArray[np.int64]  # number of the camera of each, shape (n,)
    inverses: Array  # affine matrices from its pixels to the picture's, shape (n, 2, 3)
    feet_px: Array  # side of the square of the picture from which its pixels gather light, shape (n,)
    size_px: tuple[int, int]  # width, a multiple of 8, and height, of 4, of all of them


class Tracer:
    """The tracer of one print. `texture`: the print of all scenes."""

    def __init__(self, texture: PrintTexture) -> None:
        self._texture = texture
        self._raster = _sent(texture.raster)

    def light(self, scene: TracedScene, camera: Camera, samples: int, seed: int = 0) -> NDArray[np.float32]:
        """Return the linear light of a camera's picture, red green blue, float32 (height, width, 3).

        Args:
            samples: paths per pixel; the noise falls with its square root.
            seed: of the samples: the same seed gives the same picture.
        """
        width, height = camera.lens.size_px
        padded = (-(-width // 8) * 8, -(-height // 4) * 4)
        whole = Windows(np.zeros(1, dtype=np.int64), np.array([_IDENTITY]), np.ones(1), padded)
        traced = _copied(self.windows([scene], [(0, camera)], whole, samples, seed))
        return np.asarray(traced[0, :height, :width], dtype=np.float32)

    def windows(
        self,
        scenes: Sequence[TracedScene],
        views: Sequence[tuple[int, Camera]],
        windows: Windows,
        samples: int,
        seed: int = 0,
    ) -> Any:
        """Return the linear light of parts of several cameras' pictures of several scenes.

        Args:
            views: number of the scene and camera of each view.

        Returns:
            Red green blue, float32 (n, height, width, 3), in the target's memory: an array of numpy's or of a CUDA
            device, which torch takes as it is.
        """
        count, (width, height) = len(windows.views), windows.size_px
        jobs = np.zeros((count, at.JOB_COLUMNS), dtype=np.float32)
        jobs[:, at.J_INVERSE : at.J_INVERSE + 6] = windows.inverses.reshape(count, 6)
        jobs[:, at.J_FOOT] = windows.feet_px
        mm_per_px = np.array([float(camera.position_mm[2]) / max(camera.lens.focal_px) for _, camera in views])
        info = np.zeros((count, 3), dtype=np.int64)
        info[:, 0] = windows.views
        info[:, 1] = (np.arange(count) * 2_654_435_761 + seed * 40_503 + 12_345) % (1 << 32)
        info[:, 2] = mm_per_px[windows.views] * windows.feet_px * self._texture.px_per_mm > _COARSE_FROM_PX
        mask = (1 << max(samples - 1, 0).bit_length()) - 1
        out = _empty((count, height, width, 3), np.float32)
        arrays: Arrays = (jobs, info, *_tables(scenes, views))
        _launch(pixels.trace, count * height * width, arrays, (self._raster, samples, mask), out)
        return out


def _tables(scenes: Sequence[TracedScene], views: Sequence[tuple[int, Camera]]) -> Arrays:
    """Return views, their scenes, then the scenes' arrays, one after another."""
    counts = np.stack([scene.counts for scene in scenes])
    starts = np.cumsum(
        [[len(scene.solids), len(scene.groups), len(scene.cells), len(scene.lists)] for scene in scenes], axis=0
    )
    counts[1:, [at.I_SOLIDS, at.I_GROUPS, at.I_CELLS, at.I_LISTS]] = starts[:-1]
    parts = (
        np.concatenate([getattr(scene, name) for scene in scenes])
        for name in ("solids", "groups", "members", "cells", "lists")
    )
    rows = np.stack([view_row(camera) for _, camera in views])
    numbers = np.array([number for number, _ in views], dtype=np.int64)
    return (rows, numbers, np.stack([scene.head for scene in scenes]), counts, *parts)


def _launch(kernel: Any, count: int, arrays: Arrays, rest: tuple[Any, ...], out: Any) -> None:
    if ON_CUDA:
        kernel[-(-count // _THREADS), _THREADS](*map(_sent, arrays), *rest, out)
    else:
        kernel(*arrays, *rest, out)


def _empty(shape: tuple[int, ...], kind: Any) -> Any:
    """Return an array for a kernel's output in the memory of the target."""
    if not ON_CUDA:
        return np.zeros(shape, dtype=kind)
    from numba import cuda

    return cuda.device_array(shape, dtype=kind)


def _copied(array: Any) -> NDArray[Any]:
    copied: NDArray[Any] = array.copy_to_host() if ON_CUDA else array
    return copied


def _sent(array: NDArray[Any]) -> Any:
    if not ON_CUDA:
        return array
    from numba import cuda

    return cuda.to_device(array)
