"""The fast renderer: the print through the exact lens, shadows cast by geometry, figures by MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.errors import MissingExtraError
from downfield.core.scene import Player
from downfield.twin.appearance import Appearance
from downfield.twin.render.board_layer import BoardLayer
from downfield.twin.render.board_light import BoardLight
from downfield.twin.render.renderer import RenderedFrame
from downfield.twin.render.solids import SolidPlacer
from downfield.twin.render.surface import settle
from downfield.twin.render.visibility import base_tops
from downfield.twin.snapshot import Snapshot

try:
    from downfield.twin.render.figure_layer import FigureLayer, Layer
except ModuleNotFoundError as error:
    if error.name != "mujoco":
        raise
    raise MissingExtraError("twin", "the fast renderer") from None


class MujocoRenderer:
    """Draws one appearance and roster; holds an OpenGL context until it is closed.

    Raises:
        DownfieldError: this machine has no OpenGL.

    """

    def __init__(self, appearance: Appearance, players: Sequence[Player]) -> None:
        self._appearance = appearance
        self._players = tuple(players)
        self._placer = SolidPlacer(appearance)
        self._board = BoardLayer(appearance)
        self._light = BoardLight(appearance)
        self._figures = FigureLayer(appearance, players)

    @property
    def appearance(self) -> Appearance:
        """The appearance that it draws."""
        return self._appearance

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        """Return the ideal picture of one instant, with the visible part of every base."""
        settled = settle(snapshot, self._appearance.field, self._appearance.board.bow_mm)
        placed = self._placer.place(settled)
        ground = self._light.shine(self._board.draw(camera), placed, camera)
        figures = self._light.dim_bases(self._figures.draw(settled, camera), placed, camera)
        image = _laid_over(ground, figures)
        return RenderedFrame(t_ns, camera, image, base_tops(self._players, settled, placed, camera))

    def close(self) -> None:
        """Release the OpenGL context."""
        self._figures.close()


def _laid_over(ground: Image, layer: Layer) -> Image:
    """Return a premultiplied layer over a picture."""
    through = cv2.cvtColor(255 - layer[:, :, 3], cv2.COLOR_GRAY2BGR)
    image = cv2.multiply(ground, through, scale=1 / 255)
    return np.asarray(cv2.add(image, cv2.cvtColor(layer, cv2.COLOR_BGRA2BGR)), dtype=np.uint8)
