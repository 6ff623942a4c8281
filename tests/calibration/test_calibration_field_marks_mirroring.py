from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, WHITE, board_look, camera_over, photograph

from downfield.calibration.camera import Camera
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.marks.mirroring import match_numbers, refuse_mirrored
from downfield.calibration.field.solver import solve_field
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError
from downfield.core.field.model import FieldModel, preset
from downfield.twin.table.appearance import BoardAppearance

BARE = dataclasses.replace(TUDOR, number_every_yd=0.0)
COUNTING_ON = dataclasses.replace(TUDOR, number_style="through")
DARK = dataclasses.replace(board_look((0.1, 0.1, 0.3)), grass=((0.9, 0.9, 0.85),))


def mirrored(image: Image) -> Image:
    return np.asarray(cv2.flip(image, 1), dtype=np.uint8)


def in_a_mirror(camera: Camera, field: FieldModel) -> Camera:
    """The camera that a mirrored picture's lines suggest: its x runs from the other goal line."""
    lens = camera.lens
    k1, k2, p1, p2, k3 = lens.distortion
    flip = np.diag([-1.0, 1.0, 1.0])
    turn = camera.board_to_camera
    rx, ry, rz = np.asarray(cv2.Rodrigues(flip @ turn @ flip)[0]).ravel().tolist()
    tx, ty, tz = (flip @ (turn @ np.array([field.length_mm, 0.0, 0.0]) + camera.translation_mm)).tolist()
    center = (lens.size_px[0] - 1 - lens.center_px[0], lens.center_px[1])
    turned = dataclasses.replace(lens, center_px=center, distortion=(k1, k2, p1, -p2, k3))
    return Camera(turned, (rx, ry, rz), (tx, ty, tz))


@pytest.mark.parametrize(
    ("field", "look", "roll_deg"),
    [
        (TUDOR, board_look(wear=0.6), 2.0),
        (TUDOR, DARK, -3.0),
        (COUNTING_ON, dataclasses.replace(board_look(), font=3), 2.0),
        (preset("arena-50"), dataclasses.replace(board_look(), font=4), 1.0),
        (preset("canadian"), dataclasses.replace(board_look(), font=7, arrows=True), 2.0),
    ],
)
def test_a_mirrored_picture_is_told_from_a_plain_one(field: FieldModel, look: BoardAppearance, roll_deg: float) -> None:
    scene = photograph(field, camera_over(field, roll_deg=roll_deg), look=look)
    plain = match_numbers(clearest_channel(scene.image), scene.camera, field)
    flipped = match_numbers(clearest_channel(mirrored(scene.image)), in_a_mirror(scene.camera, field), field)
    assert plain.numbers == len(field.numbers())
    assert not plain.is_mirrored
    assert flipped.is_mirrored


@pytest.mark.parametrize("row", [0, 1])
def test_a_row_read_from_the_other_sideline_is_not_mirrored(row: int) -> None:
    scene = photograph()
    plane = clearest_channel(scene.image)
    for number in TUDOR.numbers():
        if number.y_yd == TUDOR.number_rows_y_yd[row]:
            x, y = np.rint(scene.camera.to_pixels(TUDOR.to_mm(np.array([number.x_yd, number.y_yd])))).astype(int)
            part = plane[y - 25 : y + 26, x - 45 : x + 46]
            part[:] = part[::-1, ::-1].copy()
    assert not match_numbers(plane, scene.camera, TUDOR).is_mirrored


def test_a_board_seen_from_its_other_side_is_not_mirrored() -> None:
    scene = photograph(COUNTING_ON)
    lens = scene.camera.lens
    turn = np.diag([-1.0, -1.0, 1.0])
    ends = np.array([COUNTING_ON.length_mm, COUNTING_ON.width_mm, 0.0])
    rx, ry, rz = np.asarray(cv2.Rodrigues(scene.camera.board_to_camera @ turn)[0]).ravel().tolist()
    tx, ty, tz = (scene.camera.board_to_camera @ ends + scene.camera.translation_mm).tolist()
    reading = match_numbers(clearest_channel(scene.image), Camera(lens, (rx, ry, rz), (tx, ty, tz)), COUNTING_ON)
    assert not reading.is_mirrored
    assert reading.as_printed > reading.mirrored + 0.04


@pytest.mark.parametrize("believed", [BARE, TUDOR])
def test_a_field_without_numbers_passes_either_way(believed: FieldModel) -> None:
    scene = photograph(BARE, look=board_look(WHITE))
    refuse_mirrored(clearest_channel(scene.image), scene.camera, believed)
    refuse_mirrored(clearest_channel(mirrored(scene.image)), in_a_mirror(scene.camera, believed), believed)


def test_numbers_beside_the_picture_are_left_out() -> None:
    scene = photograph()
    cut = np.ascontiguousarray(clearest_channel(scene.image)[:, :700])
    assert not match_numbers(cut, scene.camera, TUDOR).is_mirrored


def test_calibration_from_the_field_refuses_a_mirrored_picture() -> None:
    scene = photograph()
    with pytest.raises(CalibrationError, match="switch off mirroring"):
        solve_field([mirrored(scene.image)], [TUDOR])
