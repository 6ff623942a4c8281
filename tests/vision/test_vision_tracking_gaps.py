"""Figures that walk on while no pictures come: who is who afterwards is unsure where another may be there."""

from __future__ import annotations

import pytest
from tracked_tables import Table, Tracked, standing, switches, tracked, walking

GAP_S = 0.5


def after_gap(length_s: float, speed_mm_s: float, apart_mm: float = 31.0) -> list[Tracked]:
    """The frames of two rows of teammates that walk one behind the other; pictures are missing for a while."""
    paths = {f"dark-{i}": walking(200 + apart_mm * i, 200, 0, speed_mm_s) for i in range(3)}
    paths |= {f"light-{i}": walking(700 - apart_mm * i, 120, 180, speed_mm_s) for i in range(3)}
    paths |= {"dark-s": standing(150, 60), "light-s": standing(800, 300, 180)}
    table = Table(paths, GAP_S + length_s + 0.7, lost=lambda t_s: GAP_S < t_s < GAP_S + length_s)
    return [frame for frame in tracked(table) if frame.t_s > GAP_S]


@pytest.mark.parametrize(("length_s", "speed_mm_s"), [(0.35, 60.0), (0.45, 70.0), (0.7, 45.0), (0.7, 90.0)])
def test_nobody_is_stated_as_sure_where_the_teammate_ahead_stood_after_a_gap(
    length_s: float, speed_mm_s: float
) -> None:
    for frame in after_gap(length_s, speed_mm_s):
        wrong = {id_ for id_ in switches([frame]) if frame.seen[id_].sure and frame.seen[id_].posture != "unseen"}
        assert not wrong, f"{frame.t_s:.2f} s: {sorted(wrong)}"


def test_after_a_short_gap_or_alone_all_are_sure() -> None:
    short, alone = after_gap(0.1, 60.0)[-1], after_gap(0.35, 60.0, apart_mm=110.0)[-1]
    assert all(figure.sure for figure in (*short.seen.values(), *alone.seen.values()))
    assert not switches([short, alone])
