"""A rig's data folder with a recorded game in which the tracker was unsure and people corrected, for contributions."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from played_table import DEFENDER, RUNNER, Table
from recorded_frames import record
from scripted_plays import FIELD, ScriptedFigure, film, opening, runs, stands

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.calibration.camera import Camera, Lens
from downfield.capture.source import CapturedFrame, VideoPacket
from downfield.core.arrays import Image
from downfield.core.scene import Scene
from downfield.game.records.commands import NewGame
from downfield.officiating.declarations import FrontDeclared

SECRET = "Coach-Miller-basement"
"""Stands in every name and note that must not get into a contribution."""

CALIBRATION = Calibration(
    replace(FIELD, title=SECRET, source=SECRET),
    Camera(Lens((640, 360), (520.0, 520.0), (319.5, 179.5)), (np.pi, 0.0, 0.0), (-495.0, 290.0, 1400.0)),
    "field",
    made_at="2027-01-05T18:00:00Z",
    made_from=(f"/home/{SECRET}/board.png",),
)
SURROUNDINGS = (7, 7, 240)
"""Color of everything beside the board."""

TURNED_S, UNSURE_S, END_S = 0.4, 3.0, 6.0
"""When a person turns the defender's front, and from when on nobody knows the runner's."""

PLAY = film(
    [ScriptedFigure(RUNNER, runs(41, speed=1.5), "RB"), ScriptedFigure(DEFENDER, stands(50), "LB")],
    END_S,
    on=((0.5, END_S),),
)


@dataclass(frozen=True)
class ContributedGame:
    """The game.

    Attributes:
        data: the rig's data folder.
        game: the game's id.
    """

    data: Path
    game: str


def contributed_game(data: Path) -> ContributedGame:
    """Play the tackle of `played_table` with doubts and corrections, record it, and end the game."""
    table = Table(data / "downfield.db")
    game = table.begin()
    plays = [unsure(scene) for scene in PLAY.scenes[::3]]
    waiting = [*opening(PLAY, RUNNER), (TURNED_S, FrontDeclared(DEFENDER, facing_deg(PLAY.scenes[0]) + 170.0))]
    for scene in plays:
        table.now_ns = scene.t_ns
        while waiting and waiting[0][0] * 1e9 <= scene.t_ns:
            table.declare(waiting.pop(0)[1], by=SECRET)
        table.game_service.take(scene)
    table.game_service.start_game(NewGame(title=SECRET))
    table.close()
    frames = [
        CapturedFrame(scene.frame, scene.t_ns, time.monotonic_ns(), VideoPacket("mjpeg", jpeg(scene)))
        for scene in plays
    ]
    for video in record(data / "recordings", frames):
        write_calibration(video.with_suffix(".calibration.json"), CALIBRATION)
    return ContributedGame(data, game)


def facing_deg(scene: Scene) -> float:
    """Return where the defender faces."""
    return next(figure for figure in scene.figures if figure.id == DEFENDER).heading_deg


def unsure(scene: Scene) -> Scene:
    """Return a scene as a tracker has it, in the end without the runner's front."""
    late = scene.t_ns >= UNSURE_S * 1e9
    figures = tuple(
        replace(figure, sigma_mm=(0.3, 0.3), sigma_deg=1.0, front=0.5 if late and figure.id == RUNNER else 0.99)
        for figure in scene.figures
    )
    return replace(scene, figures=figures)


def jpeg(scene: Scene) -> bytes:
    """Return the picture of a scene: the board in green, the bases on it, a striking color around."""
    return cv2.imencode(".jpg", picture(scene), [cv2.IMWRITE_JPEG_QUALITY, 92])[1].tobytes()


def picture(scene: Scene) -> Image:
    """Return the picture of a scene, uint8 blue green red."""
    width, height = CALIBRATION.camera.lens.size_px
    image = np.full((height, width, 3), SURROUNDINGS, np.uint8)
    x0, y0, x1, y1 = CALIBRATION.field.board_mm
    board = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], dtype=np.float64)
    _fill(image, board, 0.0, (40, 90, 40))
    for figure in scene.figures:
        color = (120, 60, 20) if figure.jersey == "dark" else (230, 230, 230)
        _fill(image, figure.footprint.corners_mm(), 6.0, color)
    return image


def _fill(image: Image, corners_mm: np.ndarray, height_mm: float, color: tuple[int, int, int]) -> None:
    points = np.column_stack([corners_mm, np.full(len(corners_mm), height_mm)])
    pixels = np.round(CALIBRATION.camera.to_pixels(points) * 16).astype(np.int32)
    cv2.fillPoly(image, [pixels], color, cv2.LINE_AA, 4)
