"""The photoreal renderer: Blender's Cycles path tracer on the CPU, for training and evaluation pictures.

Blender's ``bpy`` needs its own versions of packages, so it has an environment of its own and draws there
(`twin.render.blender_worker`); this module sends it orders and resamples its pinhole picture through the lens. An
optional extra: neither the rig nor the tests need it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError, InputError
from downfield.core.records import adapter
from downfield.core.scene import Player
from downfield.twin.appearance import Appearance
from downfield.twin.randomization.board_print import paint
from downfield.twin.render.pinhole import covering, through_lens
from downfield.twin.render.renderer import RenderedFrame
from downfield.twin.render.solids import SolidPlacer, loose_solids, rail_solids
from downfield.twin.render.surface import settle, surface_mm
from downfield.twin.render.visibility import base_tops
from downfield.twin.snapshot import Snapshot

PYTHON_VARIABLE = "DOWNFIELD_BLENDER_PYTHON"
"""Environment variable that names the Python that has ``bpy``."""

SAMPLES = 5
"""Paths per pixel: few are enough with Blender's denoiser, and render time is proportional to them."""

_PRINT_PX = 2.0  # print pixels per picture pixel, so that paint stays sharp
_SURFACE_STEPS = (41, 25)


class BlenderRenderer:
    """Draws pictures of one appearance in another process.

    Args:
        appearance: of the table.
        players: the roster, in the appearance's order.
        python: path of the Python with ``bpy``; by default from the environment variable `PYTHON_VARIABLE`.
        samples: paths per pixel.

    Raises:
        InputError: no such Python, or it has no ``bpy``.

    """

    def __init__(
        self, appearance: Appearance, players: Sequence[Player], *, python: str | None = None, samples: int = SAMPLES
    ) -> None:
        self._appearance, self._players = appearance, tuple(players)
        self._placer = SolidPlacer(appearance)
        self._pinhole = covering(appearance.camera.lens)
        self._folder = Path(tempfile.mkdtemp(prefix="downfield-blender-"))
        self._process = _start(python or os.environ.get(PYTHON_VARIABLE))
        self._ask(self._building(samples))

    @property
    def appearance(self) -> Appearance:
        """The appearance that it draws."""
        return self._appearance

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        """Return the ideal picture of one instant; see `twin.render.renderer.Renderer`."""
        settled = settle(snapshot, self._appearance.field, self._appearance.board.bow_mm)
        placed = self._placer.place(settled)
        picture = self._folder / "picture.png"
        self._ask(
            {
                "order": "render",
                "figures": [dataclasses.asdict(pose) for pose in settled.figures],
                "ball": settled.ball and dataclasses.asdict(settled.ball),
                "loose": [dataclasses.asdict(solid) for solid in loose_solids(self._appearance, settled)],
                "board_to_camera": camera.board_to_camera.tolist(),
                "translation_mm": camera.translation_mm,
                "picture": str(picture),
            }
        )
        ideal = cv2.imread(str(picture), cv2.IMREAD_COLOR)
        if ideal is None:
            raise DownfieldError(f"Blender wrote no picture to {picture}")
        image: Image = through_lens(np.asarray(ideal, dtype=np.uint8), self._pinhole, camera.lens)
        return RenderedFrame(t_ns, camera, image, base_tops(self._players, settled, placed, camera))

    def close(self) -> None:
        """End the other process."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _building(self, samples: int) -> dict[str, Any]:
        field = self._appearance.field
        x_low, y_low, x_high, _ = field.board_mm
        corners = self._appearance.camera.to_pixels(np.array([[x_low, y_low], [x_high, y_low]]))
        px_per_mm = _PRINT_PX * float(np.linalg.norm(corners[1] - corners[0])) / (x_high - x_low)
        board = paint(field, self._appearance.board, px_per_mm)
        path = self._folder / "print.png"
        cv2.imwrite(str(path), board.image)
        rows, columns = board.image.shape[:2]
        left, top = board.origin_mm
        extent = (left, top - rows / px_per_mm, left + columns / px_per_mm, top)
        x, y = np.meshgrid(
            np.linspace(extent[0], extent[2], _SURFACE_STEPS[0]), np.linspace(extent[1], extent[3], _SURFACE_STEPS[1])
        )
        return {
            "order": "build",
            "appearance": json.loads(adapter(Appearance).dump_json(self._appearance)),
            "players": [{"id": p.id, "base": dataclasses.asdict(p.base)} for p in self._players],
            "still": [
                dataclasses.asdict(solid) for solid in (*self._appearance.clutter, *rail_solids(self._appearance))
            ],
            "print": str(path),
            "board_mm": extent,
            "surface_shape": _SURFACE_STEPS,
            "surface_mm": surface_mm(field, self._appearance.board.bow_mm, np.stack([x, y], axis=-1)).ravel().tolist(),
            "pinhole": dataclasses.asdict(self._pinhole),
            "samples": samples,
            "threads": os.cpu_count() or 1,
        }

    def _ask(self, order: dict[str, Any]) -> None:
        if self._process.stdin is None or self._process.stdout is None:
            raise DownfieldError("Blender's process has no pipes")
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise DownfieldError("Blender's process ended before it could draw") from None
        answer = self._process.stdout.readline()
        if not answer:
            raise DownfieldError("Blender's process ended without an answer")
        reply = json.loads(answer)
        if "error" in reply:
            raise DownfieldError(f"Blender: {reply['error']}")


def _start(python: str | None) -> subprocess.Popen[str]:
    how = f"install the extra 'photoreal' into its own environment and set its Python in {PYTHON_VARIABLE}"
    if not python:
        raise InputError(f"the photoreal renderer needs a Python that has bpy: {how}")
    try:
        found = subprocess.run([python, "-c", "import bpy"], capture_output=True, check=False)  # noqa: S603
    except OSError as error:
        raise InputError(f"{python}: can't be run ({error.strerror}): {how}") from None
    if found.returncode:
        raise InputError(f"{python}: has no bpy: {how}")
    return subprocess.Popen(  # noqa: S603
        [python, str(Path(__file__).with_name("blender_worker.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
