"""A rendered clip's truth: pictures joined with the physics, written and read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from twin_tables import camera_over
from twin_worlds import FIELD, MS, PAIR, S

from downfield.twin.film.film import as_seen, truth_frame
from downfield.twin.physics.body import Placement
from downfield.twin.physics.poses import with_bench
from downfield.twin.physics.truth import Truth, by_frame
from downfield.twin.physics.truth_file import TruthFile, TruthHeader, write_truth
from downfield.twin.physics.world import World
from downfield.twin.render.renderer import BaseTop, RenderedFrame

CAMERA = camera_over((640, 360))


def rendered(t_ns: int) -> RenderedFrame:
    corners = np.array([[1.0, 2.0], [3.0, 2.0], [3.0, 8.0], [1.0, 8.0]])
    tops = (
        BaseTop("a", corners, (True, True, False, True), 0.75),
        BaseTop("b", np.full((4, 2), np.nan), (False, False, False, False), 0.0),
    )
    return RenderedFrame(t_ns, CAMERA, np.zeros((360, 640, 3), dtype=np.uint8), tops)


def test_a_clip_has_its_truth(tmp_path: Path) -> None:
    world = World(PAIR, {"a": Placement(300, 250)}, {}, field=FIELD, seed=1)
    truth = Truth(world)
    world.topple("a", 90)
    snapshots, scenes = [], []
    for frame in range(11):
        world.step_to(frame * S // 30)
        snapshots.append(with_bench(world.snapshot(), PAIR, FIELD))
        scenes.append(truth.scene(world.snapshot(), frame))
    times = [snapshot.t_ns for snapshot in snapshots]
    events = by_frame(truth.events, times)
    frames = [truth_frame(i, rendered(times[i]), snapshots[i], events[i]) for i in range(11)]

    path = tmp_path / "clip.truth.jsonl"
    write_truth(path, TruthHeader(FIELD, PAIR, 30.0, 1), frames)
    back = tuple(TruthFile(path))
    assert back == tuple(frames)
    first, last = back[0], back[-1]
    assert (first.figures[0].tilt_deg, first.figures[1].tilt_deg) == (0.0, 0.0)
    assert last.figures[0].tilt_deg == pytest.approx(world.tilt_deg("a"))
    assert last.figures[0].top_px == ((1.0, 2.0), (3.0, 2.0), (3.0, 8.0), (1.0, 8.0))
    assert last.figures[1].top_px is None  # not before the camera
    (fell,) = (event for frame in back for event in frame.events)
    assert fell.type == "fell"
    shown = next(frame for frame in back if frame.events)
    assert 0 <= shown.t_ns - fell.t_ns < 34 * MS

    seen = as_seen(scenes[-1], rendered(times[-1]))
    assert [figure.visible for figure in seen.figures] == [0.75]
    assert scenes[-1].figures[0].visible == 1.0
