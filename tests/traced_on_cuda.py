"""Print the light of a tiny traced picture, for comparison between targets; see `test_twin_tracing_tracer.py`."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from twin_tables import appearance_of, base_solid, camera_over, players, standing, with_board

from downfield.twin.table.appearance import FigureAppearance, Material, SkyLobe, Surroundings
from downfield.twin.tracing.scene import PrintTexture, SceneBuilder
from downfield.twin.tracing.tracer import Tracer


def main() -> None:
    """Trace 16 x 8 pixels with two samples each."""
    places = np.array([[350.0, 150.0, 20.0]])
    appearance = appearance_of((FigureAppearance((base_solid(),)),), camera_over((16, 8), tilt_deg=6.0))
    appearance = with_board(appearance, grass=((0.3, 0.6, 0.3),))
    ring = Material(pattern="rim", second=(0.9, 0.1, 0.1), values=(5.0, 0.0, 0.0, 0.0))
    base = dataclasses.replace(base_solid(), material=ring)
    lobes = (SkyLobe((0.6, 0.0, 0.8), 4.0, (1.0, 0.5, 0.2)),)
    appearance = dataclasses.replace(
        appearance,
        figures=(FigureAppearance((base,)),),
        ambient=0.3,
        lamps=(dataclasses.replace(appearance.lamps[0], position_mm=(200.0, 100.0, 900.0), half_mm=(200.0, 90.0)),),
        surroundings=Surroundings(table_top="cloth", sky_rise=0.5, lobes=lobes),
    )
    texture = PrintTexture(appearance)
    scene = SceneBuilder(appearance, players(1), texture).build(standing(places))
    for row in Tracer(texture).light(scene, appearance.camera, 2, seed=3).reshape(-1, 3).tolist():
        sys.stdout.write(" ".join(map(str, row)) + "\n")


if __name__ == "__main__":
    main()
