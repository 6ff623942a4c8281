from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest
from twin_tables import SQUARE, appearance_of, base_solid, camera_over, standing

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.twin.film.film import film
from downfield.twin.render.renderer import BaseTop, RenderedFrame
from downfield.twin.table.appearance import Appearance, FigureAppearance, Sensor
from downfield.twin.table.snapshot import HandPose, Snapshot

_FRAME_NS = 33_333_333
_SIZE = (640, 360)


class _FlatRenderer:
    """White squares for bases, on black."""

    def __init__(self, appearance: Appearance) -> None:
        self.appearance = appearance
        self.rendered: list[Snapshot] = []

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        self.rendered.append(snapshot)
        image = np.zeros((_SIZE[1], _SIZE[0], 3), dtype=np.uint8)
        tops = []
        for pose in snapshot.figures:
            half = np.array([SQUARE.length_mm, SQUARE.width_mm]) / 2
            around = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]) * half + pose.position_mm[:2]
            corners = camera.to_pixels(around)
            cv2.fillConvexPoly(image, np.round(corners * 16).astype(np.int32), (255, 255, 255), cv2.LINE_AA, 4)
            tops.append(BaseTop(pose.id, corners, (True, True, True, True), 1.0))
        return RenderedFrame(t_ns, camera, image, tuple(tops))

    def close(self) -> None:
        """Nothing is held."""


def _filmed(speed_mm_s: float, exposure_ms: float) -> tuple[list[RenderedFrame], _FlatRenderer]:
    sensor = Sensor(exposure_ms=exposure_ms, noise=0.0, blur_px=0.0, jpeg=100)
    renderer = _FlatRenderer(appearance_of((FigureAppearance((base_solid(),)),), camera_over(_SIZE), sensor))
    places = [np.array([[400.0 + speed_mm_s * k / 30, 260.0, 0.0]]) for k in range(3)]
    snapshots = [standing(place, k * _FRAME_NS) for k, place in enumerate(places)]
    return list(film(renderer, snapshots, seed=1)), renderer


def _edge_width_px(frame: RenderedFrame) -> float:
    row = round(float(frame.base_tops[0].corners_px[:, 1].mean()))
    profile = frame.image[row, :, 1].astype(float) / 255
    rising = np.clip(np.diff(profile), 0, None)
    at = np.arange(len(rising))
    middle: float = (at * rising).sum() / rising.sum()
    return float(np.sqrt(12 * (((at - middle) ** 2) * rising).sum() / rising.sum()))


def test_motion_is_smeared_by_its_path_during_the_exposure_and_centered_on_it() -> None:
    frames, _ = _filmed(speed_mm_s=600.0, exposure_ms=12.0)
    px_per_mm = 0.95 * _SIZE[0] / 1150
    assert _edge_width_px(frames[1]) == pytest.approx(600 * 0.012 * px_per_mm, rel=0.25)
    drawn = frames[1].image[..., 1].astype(float)
    center = (np.arange(_SIZE[0]) * drawn.sum(axis=0)).sum() / drawn.sum()
    assert center == pytest.approx(frames[1].base_tops[0].corners_px[:, 0].mean(), abs=0.1)


def test_a_short_exposure_is_drawn_once() -> None:
    frames, renderer = _filmed(speed_mm_s=80.0, exposure_ms=1.0)
    assert len(renderer.rendered) == len(frames) == 3


def test_frames_carry_the_times_of_their_snapshots() -> None:
    frames, _ = _filmed(0.0, 4.0)
    assert [frame.t_ns for frame in frames] == [0, _FRAME_NS, 2 * _FRAME_NS]


def test_a_relocated_figure_is_not_smeared_across_the_board() -> None:
    frames, renderer = _filmed(speed_mm_s=3000.0, exposure_ms=12.0)
    places = {round(snapshot.figures[0].position_mm[0]) for snapshot in renderer.rendered}
    assert places == {400, 500, 600}
    assert len(frames) == 3


def test_a_moving_hand_is_smeared_too() -> None:
    sensor = Sensor(exposure_ms=10.0, noise=0.0, blur_px=0.0, jpeg=100)
    renderer = _FlatRenderer(appearance_of((FigureAppearance((base_solid(),)),), camera_over(_SIZE), sensor))
    still = standing(np.array([[400.0, 260.0, 0.0]]))
    hands = [HandPose((300.0 + 20 * k, 100.0, 40.0), (300.0, -300.0, 150.0)) for k in range(3)]
    snapshots = [dataclasses.replace(still, t_ns=k * _FRAME_NS, hands=(hand,)) for k, hand in enumerate(hands)]
    list(film(renderer, snapshots, seed=1))
    tips: Array = np.array([snapshot.hands[0].fingertip_mm[0] for snapshot in renderer.rendered])
    assert len(set(tips.round(3))) > 3


def test_filming_twice_gives_the_same_bytes() -> None:
    first, second = (_filmed(200.0, 8.0)[0] for _ in range(2))
    assert all((a.image == b.image).all() for a, b in zip(first, second, strict=True))
