"""The cheap renderer: the lit board that all renderers share, and every solid as a shaded sub-pixel polygon.

Base tops and sides are placed as exactly as by the other renderers; round bodies are only suggested. It needs
no OpenGL, and draws a part of a picture at any scale when its appearance's camera is made by `crop_camera`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from downfield.calibration.camera import Camera
from downfield.core.scene import Player
from downfield.twin.appearance import Appearance
from downfield.twin.render.board_layer import BoardLayer
from downfield.twin.render.board_light import BoardLight
from downfield.twin.render.renderer import RenderedFrame
from downfield.twin.render.solid_painter import SolidPainter
from downfield.twin.render.solids import SolidPlacer
from downfield.twin.render.surface import settle
from downfield.twin.render.visibility import base_tops
from downfield.twin.snapshot import Snapshot


class Compositor:
    """Draws pictures of one appearance by layers.

    Args:
        appearance: of the table.
        players: the roster, for the bases' sizes.

    """

    def __init__(self, appearance: Appearance, players: Sequence[Player]) -> None:
        self._appearance = appearance
        self._players = tuple(players)
        self._placer = SolidPlacer(appearance)
        self._board = BoardLayer(appearance)
        self._light = BoardLight(appearance)

    @property
    def appearance(self) -> Appearance:
        """The appearance that it draws."""
        return self._appearance

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        """Return the ideal picture of one instant, with the visible part of every base."""
        settled = settle(snapshot, self._appearance.field, self._appearance.board.bow_mm)
        placed = self._placer.place(settled)
        image = self._light.shine(self._board.draw(camera), placed, camera)
        SolidPainter(self._appearance, camera, image).paint(placed, self._players, settled)
        return RenderedFrame(t_ns, camera, image, base_tops(self._players, settled, placed, camera))

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


def crop_camera(camera: Camera, left_top_px: tuple[float, float], scale: float, size_px: tuple[int, int]) -> Camera:
    """Return a camera whose picture is a part of another's, enlarged or reduced.

    Args:
        camera: the whole picture's.
        left_top_px: outer corner of the part in the whole picture (the whole's own is -0.5, -0.5).
        scale: pixels of the part per pixel of the whole.
        size_px: width and height of the part's picture.

    """
    lens = camera.lens
    x, y = ((c - edge) * scale - 0.5 for c, edge in zip(lens.center_px, left_top_px, strict=True))
    focal = (lens.focal_px[0] * scale, lens.focal_px[1] * scale)
    return dataclasses.replace(
        camera, lens=dataclasses.replace(lens, size_px=size_px, focal_px=focal, center_px=(x, y))
    )
