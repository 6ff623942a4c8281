"""Traces pictures of scenes on the processor or, with `DOWNFIELD_TRACER=cuda`, on a CUDA device."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.twin.tracing import launch
from downfield.twin.tracing import layout as at
from downfield.twin.tracing.print_texture import PrintTexture
from downfield.twin.tracing.scene import TracedScene, view_row
from downfield.twin.tracing.target import ON_CUDA

_THREADS: Final = 128
_COARSE_FROM_PX: Final = 1.9
"""Print pixels per picture pixel from which the print's half size is read."""


class Tracer:
    """The tracer of one print.

    Args:
        texture: the print of all scenes.

    """

    def __init__(self, texture: PrintTexture) -> None:
        self._texture = texture
        self._raster = _sent(texture.raster)

    def light(self, scene: TracedScene, camera: Camera, samples: int, seed: int = 0) -> NDArray[np.float32]:
        """Return the linear light of a camera's picture, red green blue, float32 (height, width, 3).

        Args:
            scene: the table.
            camera: lens and pose.
            samples: paths per pixel; the noise falls with its square root.
            seed: of the samples: the same seed gives the same picture.

        """
        width, height = camera.lens.size_px
        padded = (1, -(-height // 4) * 4, -(-width // 8) * 8, 3)
        jobs = np.zeros((1, at.JOB_COLUMNS), dtype=np.float32)
        jobs[0, :6], jobs[0, at.J_FOOT] = (1, 0, 0, 0, 1, 0), 1.0
        mm_per_px = float(camera.position_mm[2]) / max(camera.lens.focal_px)
        coarse = mm_per_px * self._texture.px_per_mm > _COARSE_FROM_PX
        info = np.array([[0, (seed * 40_503 + 12_345) % (1 << 32), coarse]], dtype=np.int64)
        out = np.zeros(padded, dtype=np.float32)
        mask = (1 << max(samples - 1, 0).bit_length()) - 1
        traced = _launched(
            launch.trace, out.size // 3, (jobs, info, *_tables(scene, camera)), (self._raster, samples, mask), out
        )
        return np.asarray(traced[0, :height, :width], dtype=np.float32)

    def owners(self, scene: TracedScene, camera: Camera, places_px: Array) -> NDArray[np.int32]:
        """Return the row of the figure at each place of a picture, -1 for none, int32 (n,).

        Args:
            scene: the table.
            camera: lens and pose.
            places_px: shape (n, 2).

        """
        places = np.ascontiguousarray(places_px, dtype=np.float32)
        rows, out = np.zeros(len(places), dtype=np.int64), np.zeros(len(places), dtype=np.int32)
        shown = _launched(launch.owners, len(places), (places, rows, *_tables(scene, camera)), (), out)
        return np.asarray(shown, dtype=np.int32) - 1


def _tables(scene: TracedScene, camera: Camera) -> tuple[NDArray[Any], ...]:
    """Return the arguments common to all kernels: views, their scenes, then the scene's arrays."""
    parts = (scene.solids, scene.groups, scene.members, scene.cells, scene.lists)
    return (view_row(camera)[None], np.zeros(1, dtype=np.int64), scene.head[None], scene.counts[None], *parts)


def _launched(
    kernel: Any, count: int, arrays: tuple[NDArray[Any], ...], rest: tuple[Any, ...], out: NDArray[Any]
) -> NDArray[Any]:
    """Return the output of a kernel, on the processor."""
    if not ON_CUDA:
        kernel(*arrays, *rest, out)
        return out
    on_device = _sent(out)
    kernel[-(-count // _THREADS), _THREADS](*map(_sent, arrays), *rest, on_device)
    copied: NDArray[Any] = on_device.copy_to_host()
    return copied


def _sent(array: NDArray[Any]) -> Any:
    """Return an array in the memory of the target."""
    if not ON_CUDA:
        return array
    from numba import cuda

    return cuda.to_device(array)
