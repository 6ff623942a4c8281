"""The photoreal renderer: path tracing on the processor or a CUDA device. Needs the extra `traced`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.scene import Player
from downfield.twin.render.renderer import TableRenderer
from downfield.twin.table.appearance import Appearance
from downfield.twin.table.snapshot import Snapshot
from downfield.twin.table.solids import PlacedSolids
from downfield.twin.tracing.scene import PrintTexture, SceneBuilder, to_light
from downfield.twin.tracing.tracer import Tracer

SAMPLES: Final = 24  # paths per pixel: their noise is below the noise of the simulated cameras

_LEVELS: Final = to_light(np.linspace(0.0, 1.0, 4096))


class TracedRenderer(TableRenderer):
    """Draws pictures of one appearance by path tracing. Raises MissingExtraError: numba is not installed."""

    def __init__(self, appearance: Appearance, players: Sequence[Player], *, samples: int = SAMPLES) -> None:
        super().__init__(appearance, players)
        self._samples = samples
        texture = PrintTexture(appearance)
        self._builder, self._tracer = SceneBuilder(appearance, players, texture), Tracer(texture)

    def _draw(self, snapshot: Snapshot, placed: PlacedSolids, camera: Camera, t_ns: int) -> Image:
        del placed
        seed = (self.appearance.seed + t_ns) % (1 << 31)
        return _displayed(self._tracer.light(self._builder.build(snapshot), camera, self._samples, seed))


def _displayed(light: NDArray[np.float32]) -> Image:
    """Return linear red green blue light as a picture, uint8 blue green red: the inverse of `to_light`."""
    level = np.searchsorted(_LEVELS, np.clip(light[..., ::-1], 0.0, 1.0)) * (255.0 / (len(_LEVELS) - 1))
    return np.ascontiguousarray(np.rint(level).astype(np.uint8))
