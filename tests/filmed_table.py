"""A small filmed table, its frames and what a simulated detector finds in them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from simulated_detector import Faults, ListDetector, SimulatedDetector
from tracked_tables import FIELD, Table, filmed, look_of, standing

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Image
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Scene
from downfield.core.track_files import Roster
from downfield.twin.render.renderers import open_renderer
from downfield.vision.pipeline import Vision

TABLE = Table(
    {
        **{f"dark-{i}": standing(300, 60 + 60 * i, 0) for i in (1, 2, 3)},
        "dark-4": lambda t_s: (min(280 + 60 * max(t_s, 0.0), 315.0), 300, 0),
        **{f"light-{i}": standing(360, 60 + 60 * i, 180) for i in (1, 2, 3)},
        "light-4": standing(345, 300, 180),
    },
    1.2,
)


@cache
def picture() -> Image:
    """The table at the line-up, rendered; all frames show it, while detections move on."""
    look = look_of(TABLE.players)
    renderer = open_renderer("compositor", look, TABLE.players)
    return renderer.render(TABLE.snapshot(0.0), look.camera, t_ns=0).image


@cache
def detections() -> tuple[tuple[Detection, ...], ...]:
    calm = SimulatedDetector(Faults(false=0.0, double=0.0, flip=0.0), seed=5)
    look = look_of(TABLE.players)
    return tuple(calm.detect(replace(view, camera=look.camera)) for view, _, _ in filmed(TABLE))


def shot(number: int) -> Frame:
    """A frame of the recording: a patch beside the board makes each differ."""
    image = picture().copy()
    image[:32, :32] = number
    return Frame(number, number * 33_333_333, image)


def open_vision(roster: Roster | None = None, *, continuous: bool = True, first: int = 0) -> Vision:
    look = look_of(TABLE.players)
    return Vision(
        Calibration(FIELD, look.camera, "truth"), ListDetector(detections()[first:]), roster, continuous=continuous
    )


def scenes_of(vision: Vision) -> list[Scene]:
    return [vision.process(shot(number)) for number in range(len(detections()))]
