"""Decoding of the detector's head, with cells filled in by hand; and the frame's way into the network and back."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from downfield.core.errors import InputError
from downfield.models.frame_detector import CHANNELS, KEYPOINTS, FrameDetector, Letterbox, decode_head, to_detections

COLUMNS, ROWS = 12, 6
INPUT_PX = (8 * COLUMNS, 8 * ROWS)
LEVEL = np.full(4, 0.3)
BASE = ((2.0, -1.0), (2.0, 1.0), (-2.0, 1.0), (-2.0, -1.0), (0.5, 0.0))  # cells from the cell's center

CENTER = np.array([5.5, 2.5])  # of the cell in column 5, row 2


def empty_head() -> NDArray[np.float32]:
    head = np.zeros((CHANNELS, COLUMNS * ROWS), np.float32)
    head[4:8] = -9.0
    return head


def fill_cell(
    head: NDArray[np.float32],
    column: int,
    row: int,
    kind: int,
    logit: float,
    points: tuple[tuple[float, float], ...] = BASE,
) -> None:
    """Let a cell detect something 4 x 2 cells large, all of its points certainly visible but the third."""
    cell = head[:, row * COLUMNS + column]
    cell[:4] = (2, 1, 2, 1)
    cell[4 + kind] = logit
    for k, (x, y) in enumerate(points):
        cell[8 + 3 * k : 11 + 3 * k] = (x, y, -20.0 if k == 2 else 20.0)


class Canned:
    """A network with the same output for every picture."""

    name = "canned"
    size_px = INPUT_PX

    def __init__(self, head: NDArray[np.float32]) -> None:
        self.head = head
        self.seen: list[NDArray[np.uint8]] = []

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.seen.append(pictures.copy())
        return self.head[None]


def test_one_cell_is_decoded_by_its_numbers() -> None:
    head = empty_head()
    fill_cell(head, 5, 2, kind=1, logit=2.0)
    output = decode_head(head, COLUMNS, LEVEL)
    assert output.kinds.tolist() == [1]
    assert output.scores[0] == pytest.approx(1 / (1 + np.exp(-2.0)))
    np.testing.assert_allclose(output.boxes, [[(5.5 - 2) * 8, (2.5 - 1) * 8, (5.5 + 2) * 8, (2.5 + 1) * 8]])
    np.testing.assert_allclose(output.points[0], (np.array(BASE) + CENTER) * 8)
    np.testing.assert_allclose(output.point_scores[0], [1, 1, 0, 1, 1], atol=1e-6)
    np.testing.assert_allclose(output.spreads[0], np.full((KEYPOINTS, 2), 4.0))  # half a cell


def test_only_cells_above_their_kind_s_threshold_are_decoded_best_first() -> None:
    head = empty_head()
    fill_cell(head, 2, 1, kind=0, logit=0.5)
    fill_cell(head, 9, 4, kind=2, logit=-0.5)
    fill_cell(head, 6, 5, kind=3, logit=1.5)
    assert decode_head(head, COLUMNS, LEVEL).kinds.tolist() == [3, 0, 2]
    assert decode_head(head, COLUMNS, np.array([0.3, 0.3, 0.5, 0.3])).kinds.tolist() == [3, 0]
    assert decode_head(head, COLUMNS, np.full(4, 0.99)).scores.shape == (0,)


def test_a_cell_is_the_kind_that_exceeds_its_own_threshold_by_most() -> None:
    head = empty_head()
    fill_cell(head, 5, 2, kind=0, logit=0.4)
    fill_cell(head, 5, 2, kind=1, logit=0.0)
    assert decode_head(head, COLUMNS, LEVEL).kinds.tolist() == [0]
    assert decode_head(head, COLUMNS, np.array([0.5, 0.2, 0.5, 0.5])).kinds.tolist() == [1]


def test_duplicates_of_a_figure_are_suppressed_and_engaged_figures_are_not() -> None:
    head = empty_head()
    fill_cell(head, 3, 2, kind=0, logit=2.0)
    fill_cell(head, 4, 2, kind=1, logit=1.0)  # a cell away: bases of four cells can't be
    fill_cell(head, 4, 4, kind=0, logit=0.5)  # their sides touch
    fill_cell(head, 3, 1, kind=2, logit=0.0)  # a ball may be anywhere
    detections = to_detections(decode_head(head, COLUMNS, LEVEL), Letterbox(INPUT_PX, INPUT_PX), 1.0)
    assert [detection.kind for detection in detections] == ["upright", "upright", "ball"]


def test_duplicates_of_a_ball_and_a_hand_are_suppressed_and_separate_hands_are_not() -> None:
    head = empty_head()
    for kind, row in ((2, 1), (3, 4)):
        fill_cell(head, 3, row, kind=kind, logit=2.0)
        fill_cell(head, 4, row, kind=kind, logit=1.0, points=tuple((x - 1, y) for x, y in BASE))
    fill_cell(head, 10, 4, kind=3, logit=0.5)
    detections = to_detections(decode_head(head, COLUMNS, LEVEL), Letterbox(INPUT_PX, INPUT_PX), 1.0)
    assert [detection.kind for detection in detections] == ["ball", "hand", "hand"]


def test_detections_are_in_pixels_of_the_frame_and_things_have_no_base() -> None:
    head = empty_head()
    fill_cell(head, 5, 2, kind=0, logit=2.0)
    fill_cell(head, 9, 5, kind=2, logit=1.0)
    figure, ball = to_detections(
        decode_head(head, COLUMNS, LEVEL), Letterbox((4 * INPUT_PX[0], 4 * INPUT_PX[1]), INPUT_PX), sigma_scale=0.5
    )
    np.testing.assert_allclose(figure.corners_px, (np.array(BASE[:4]) + CENTER) * 32 - 0.5)
    np.testing.assert_allclose(figure.helmet_px or (), (6 * 32 - 0.5, 2.5 * 32 - 0.5))
    np.testing.assert_allclose(figure.corner_sigma_px, [8.0] * 4)
    np.testing.assert_allclose(figure.corner_scores, [1, 1, 0, 1], atol=1e-6)
    assert not ball.corners_px
    assert not ball.corner_sigma_px
    np.testing.assert_allclose(ball.helmet_px or (), (10 * 32 - 0.5, 5.5 * 32 - 0.5))


def test_a_detector_takes_frames_of_any_size_one_after_another() -> None:
    head = empty_head()
    fill_cell(head, 5, 2, kind=0, logit=2.0)
    network = Canned(head)
    detector = FrameDetector(network, name="canned", input_px=INPUT_PX, thresholds=(0.3,) * 4)
    small = detector.detect(np.full((ROWS * 8, COLUMNS * 8, 3), 7, np.uint8))[0]
    large = detector.detect(np.full((ROWS * 16, COLUMNS * 16, 3), 7, np.uint8))[0]
    np.testing.assert_allclose(np.array(large.corners_px) + 0.5, 2 * (np.array(small.corners_px) + 0.5))
    tall = detector.detect(np.full((ROWS * 16, COLUMNS * 8, 3), 7, np.uint8))[0]
    np.testing.assert_allclose(tall.corners_px, large.corners_px)
    assert (network.seen[2][0, :, : COLUMNS * 4] == 7).all()
    assert (network.seen[2][0, :, COLUMNS * 4 :] != 7).all()


def test_a_network_with_another_output_is_refused() -> None:
    detector = FrameDetector(Canned(np.zeros((5, 7), np.float32)), name="odd", input_px=INPUT_PX, thresholds=(0.3,) * 4)
    with pytest.raises(InputError, match=r"odd on canned: its output has shape \(1, 5, 7\)"):
        detector.detect(np.zeros((48, 96, 3), np.uint8))


sides = st.integers(16, 4000)


@given(sides, sides, st.tuples(st.floats(-1, 2), st.floats(-1, 2)))
def test_points_of_the_letterbox_map_back(width: int, height: int, share: tuple[float, float]) -> None:
    box = Letterbox((width, height), (960, 544))
    inner = np.array(box.inner_px)
    assert (inner <= box.input_px).all()
    assert (inner == box.input_px).any()
    frame = np.array(share) * (width, height)
    np.testing.assert_allclose(box.to_frame((frame + 0.5) * box.scale), frame, atol=1e-6)


@pytest.mark.parametrize("size", [(1920, 1080), (1280, 720), (640, 480), (3840, 2160)])
def test_a_spot_in_the_frame_lies_in_the_letterbox_where_expected(size: tuple[int, int]) -> None:
    box = Letterbox(size, (960, 544))
    frame = np.zeros((size[1], size[0], 3), np.uint8)
    x, y, half = size[0] // 3, size[1] // 2, size[0] // 40
    frame[y - half : y + half + 1, x - half : x + half + 1] = 255
    into = box.new_input()
    box.fit(frame, into)
    seen = into[0, : box.inner_px[1], : box.inner_px[0], 0].astype(float)
    rows, columns = np.indices(seen.shape)
    middle = np.array([(columns * seen).sum(), (rows * seen).sum()]) / seen.sum() + 0.5
    np.testing.assert_allclose(box.to_frame(middle), (x, y), atol=0.15)


FIT = MappingProxyType({(1920, 1080): (960, 540), (1280, 720): (960, 540), (640, 480): (725, 544)})


def test_the_frame_fills_the_input_as_far_as_its_shape_allows() -> None:
    for frame_px, inner_px in FIT.items():
        assert Letterbox(frame_px, (960, 544)).inner_px == inner_px
