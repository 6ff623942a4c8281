"""The physics' bodies are what the truth says they are: outlines, weights, one frame for all."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import Polygon

from downfield.core.field.model import preset
from downfield.core.footprint import BaseSize, Footprint
from downfield.core.scene import Player
from downfield.twin.physics.body import build_model, inertia, outline_mm


@given(base=st.builds(BaseSize, st.floats(20, 40), st.floats(12, 22), st.just(5.5), st.just(0.0) | st.floats(0.1, 2)))
def test_outlines_are_those_of_footprints(base: BaseSize) -> None:
    outline = Polygon(outline_mm(base))
    core = Polygon(Footprint(0, 0, 0, base).core_mm())
    exact = core.buffer(base.corner_mm, quad_segs=64) if base.corner_mm else core
    assert outline.is_valid
    assert outline.exterior.is_ccw
    assert outline.hausdorff_distance(exact) < 0.02


def test_the_solid_among_bases_is_that_outline_at_the_bases_height() -> None:
    base = BaseSize(31, 17, 6, 1.5)
    model = build_model([Player("a", "dark", base=base)], preset("mini"))
    (mesh,) = (geom for geom in range(model.ngeom) if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[mesh])
    points = model.mesh_vert @ turn.reshape(3, 3).T + model.geom_pos[mesh]
    assert points.min(axis=0) == pytest.approx((-15.5, -8.5, 0), abs=1e-5)
    assert points.max(axis=0) == pytest.approx((15.5, 8.5, 6), abs=1e-5)
    assert len(points) == 2 * len(outline_mm(base))


def test_weight_is_set_explicitly() -> None:
    base = BaseSize()
    model = build_model([Player("a", "dark", base=base)], preset("mini"))
    assert model.body_mass[1] == 4.0
    assert model.body_ipos[1].tolist() == [0, 0, 11]
    assert model.body_inertia[1].tolist() == pytest.approx(inertia(4.0, base).tolist())
    x, y, z = inertia(4.0, base)
    assert x < y  # it is longer than wide
    assert x + y > z
