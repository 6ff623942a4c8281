"""Balls drawn into training pictures: each is labeled, where it is; nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from downfield.core.arrays import Array
from downfield.training.data.objects import BALL_KIND, BALL_POINT, Objects
from downfield.training.data.variation import lay_balls

GREEN = (60, 140, 60)


def bases(*middles: tuple[float, float]) -> Objects:
    points = np.zeros((len(middles), 5, 3))
    for row, (x, y) in enumerate(middles):
        points[row, :4, :2] = np.add([(20, -12), (20, 12), (-20, 12), (-20, -12)], (x, y))
        points[row, :, 2] = 2
    boxes = np.array([(x - 25, y - 25, x + 25, y + 25) for x, y in middles]).reshape(-1, 4)
    return Objects(np.zeros(len(middles)), boxes, points)


def drawn(seed: int, objects: Objects, size_px: tuple[int, int] = (400, 300)) -> tuple[Array, Objects]:
    """How far each pixel was changed, and what is in the picture then."""
    board = np.full((size_px[1], size_px[0], 3), GREEN, dtype=np.uint8)
    before = board.copy()
    image, now = lay_balls(board, objects, np.random.default_rng(seed))
    np.testing.assert_array_equal(board, before)
    return np.abs(image.astype(np.float64) - before).max(axis=2), now


def test_every_ball_is_labeled_where_it_changes_the_picture() -> None:
    known = bases((150, 150), (250, 140))
    with_balls = 0
    for seed in range(60):
        change, now = drawn(seed, known)
        balls = now.kinds == BALL_KIND
        with_balls += bool(balls.any())
        rows, columns = np.nonzero(change > 25)
        inside = np.zeros(len(rows), dtype=np.bool_)
        for left, top, right, bottom in now.boxes[balls]:
            here = (columns > left - 4) & (columns < right + 4) & (rows > top - 4) & (rows < bottom + 4)
            assert here.sum() > 8, f"seed {seed}: a ball is labeled where hardly anything was drawn"
            inside |= here
        assert inside.all(), f"seed {seed}: something was drawn that is not labeled"
        np.testing.assert_array_equal(now.points[~balls], known.points)
        assert (now.points[balls, BALL_POINT, 2] == 2).all()
    assert 8 < with_balls < 40


def test_most_balls_are_near_figures_and_all_of_their_scale() -> None:
    known = bases((150, 150), (250, 140))
    middles = known.points[:, :4, :2].mean(axis=1)
    near: list[bool] = []
    for seed in range(80):
        _, now = drawn(seed, known)
        balls = now.kinds == BALL_KIND
        at = now.points[balls, BALL_POINT, :2]
        near += (np.linalg.norm(at[:, None] - middles, axis=2).min(axis=1) < 45).tolist()
        width = now.boxes[balls, 2] - now.boxes[balls, 0]
        assert ((width >= 4) & (width < 0.46 * 40)).all()
    assert 0.5 < np.mean(near) < 1


@pytest.mark.parametrize("objects", [bases(), bases((-300, -300))])
def test_without_room_for_one_the_picture_stays(objects: Objects) -> None:
    for seed in range(20):
        change, now = drawn(seed, objects)
        assert not change.any()
        assert not (now.kinds == BALL_KIND).any()
