"""The truth of rendered pictures: base tops from the renderer joined with events from the physics."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from downfield.core.frame import Pixel
from downfield.core.scene import Scene
from downfield.twin.physics.truth_file import FigureTruth, TruthEvent, TruthFrame
from downfield.twin.render.renderer import BaseTop, RenderedFrame
from downfield.twin.snapshot import Quaternion, Snapshot


def truth_frame(frame: int, rendered: RenderedFrame, snapshot: Snapshot, events: Sequence[TruthEvent]) -> TruthFrame:
    """Return the truth of one picture.

    Args:
        frame: its index in the clip.
        rendered: the picture.
        snapshot: that it was rendered from.
        events: since the picture before, as of `truth.by_frame`.

    """
    tilts = {figure.id: _tilt_deg(figure.rotation) for figure in snapshot.figures}
    figures = tuple(
        FigureTruth(top.id, tilts[top.id], top.corners_visible, top.visible, _pixels(top)) for top in rendered.base_tops
    )
    return TruthFrame(frame, rendered.t_ns, rendered.camera, figures, tuple(events))


def as_seen(scene: Scene, rendered: RenderedFrame) -> Scene:
    """Return the scene with the visible share of every base's top in a picture."""
    visible = {top.id: min(max(top.visible, 0.0), 1.0) for top in rendered.base_tops}
    figures = tuple(dataclasses.replace(figure, visible=visible[figure.id]) for figure in scene.figures)
    return dataclasses.replace(scene, figures=figures)


def _tilt_deg(rotation: Quaternion) -> float:
    return math.degrees(2 * math.asin(min(1.0, math.hypot(rotation[1], rotation[2]))))


def _pixels(top: BaseTop) -> tuple[Pixel, Pixel, Pixel, Pixel] | None:
    if not np.isfinite(top.corners_px).all():
        return None
    a, b, c, d = ((float(x), float(y)) for x, y in top.corners_px)
    return a, b, c, d
