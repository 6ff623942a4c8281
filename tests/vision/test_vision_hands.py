"""Hands: where they are, which figures they cover, and when a scene is fit again."""

from __future__ import annotations

import numpy as np
import pytest

from downfield.calibration.camera import Camera, Lens
from downfield.core.footprint import BaseSize, Footprint
from downfield.core.frame import Detection
from downfield.vision.hands import HAND_OVER_FIGURES, HandTracker, Intrusion, VisibleHands, outline_contains
from downfield.vision.measuring.estimate import Estimate

CAMERA = Camera(Lens((1920, 1080), (1600.0, 1600.0), (960.0, 540.0)), (np.pi, 0.0, 0.0), (-300.0, 160.0, 900.0))
FRAME_NS = 16_666_667
UNDER, CLEAR = (200.0, 150.0), (500.0, 150.0)


def figure(id_: str, at: tuple[float, float]) -> Estimate:
    """A figure somewhere."""
    return Estimate(id_, "dark", Footprint(*at, 0.0, BaseSize()), np.eye(3) * 0.01, np.zeros(3))


FIGURES = [figure("dark-1", UNDER), figure("dark-2", CLEAR)]


def hand(score: float = 0.9) -> Detection:
    """A hand from below whose fingertips are over the first figure."""
    tip, wrist = CAMERA.to_pixels(np.array([(*UNDER, 30.0), (180.0, -40.0, 30.0)])).tolist()
    xs, ys = sorted((tip[0], wrist[0])), sorted((tip[1], wrist[1]))
    return Detection("hand", score, (xs[0], ys[0], xs[1], ys[1]), helmet_px=(tip[0], tip[1]), helmet_score=0.9)


def watch(shown: list[list[Detection]]) -> list[VisibleHands]:
    """The hands in frames with these detections."""
    return watch_over(FIGURES, shown)


def watch_over(figures: list[Estimate], shown: list[list[Detection]]) -> list[VisibleHands]:
    """The same, with these figures on the board."""
    hands, out = HandTracker(), []
    for i, detections in enumerate(shown):
        hands.update(detections, CAMERA, i * FRAME_NS)
        out.append(hands.assess(figures, i * FRAME_NS))
    return out


def test_a_hand_covers_the_figures_under_it_and_no_others() -> None:
    (seen,) = watch([[hand()]])
    assert [found.covers for found in seen.hands] == [("dark-1",)]
    assert len(seen.hands[0].outline_mm) >= 3
    assert seen.unfit == (HAND_OVER_FIGURES,)


def test_after_the_hand_is_gone_scenes_are_fit_again_within_half_a_second() -> None:
    seen = watch([[hand()]] * 10 + [[]] * 30)
    assert seen[9 + 8].unfit  # its figures settle first
    assert not seen[-1].unfit
    assert not seen[-1].hands


def test_a_frame_in_which_the_network_misses_the_hand_is_bridged_over() -> None:
    seen = watch([[hand()], [], [hand(0.25)], []])
    assert all(frame.hands and frame.unfit for frame in seen)


def test_a_fading_hand_keeps_its_outline_and_fingertips() -> None:
    hands = HandTracker()
    for i, shown in enumerate([[hand()], [hand(0.25)], []]):
        hands.update(shown, CAMERA, i * FRAME_NS)
        assert any(outline_contains(outline, UNDER) for outline in hands.outlines_mm)
        assert hands.fingertips_mm
    hands.update([], CAMERA, 20 * FRAME_NS)
    assert not hands.outlines_mm
    assert not hands.fingertips_mm


def test_an_intrusion_is_a_hand_though_the_network_sees_none() -> None:
    hands, outline_mm = HandTracker(), np.array([(150.0, -50.0), (250.0, -50.0), (250.0, 170.0), (150.0, 170.0)])
    intrusion = Intrusion(outline_mm, (200.0, 168.0))
    hands.update([], CAMERA, 0, [intrusion])
    assert [found.covers for found in hands.assess(FIGURES, 0).hands] == [("dark-1",)]
    assert hands.fingertips_mm == (intrusion.tip_mm,)


def test_a_detected_hand_and_its_intrusion_are_one_hand() -> None:
    hands, outline_mm = HandTracker(), np.array([(150.0, -50.0), (250.0, -50.0), (250.0, 170.0), (150.0, 170.0)])
    hands.update([hand()], CAMERA, 0, [Intrusion(outline_mm, (200.0, 168.0))])
    (seen,) = hands.assess(FIGURES, 0).hands
    np.testing.assert_allclose(seen.outline_mm, outline_mm)
    ((x, y),) = hands.fingertips_mm
    assert (x, y) == pytest.approx(UNDER, abs=5.0), "the network's fingertips, at the height of some that hold a figure"


def test_a_faint_detection_alone_is_no_hand() -> None:
    (seen,) = watch([[hand(0.25)]])
    assert seen == VisibleHands(())


def test_a_hand_over_no_figure_leaves_the_scene_fit() -> None:
    (away,) = watch_over([figure("dark-2", CLEAR)], [[hand()]])
    assert away.hands
    assert not away.unfit
