"""Figures that leap all at once, as where a recording was cut, are no longer stated as sure."""

from __future__ import annotations

import pytest
from tracked_tables import Path, Table, Tracked, standing, switches, tracked, walking

CUT_S = 0.7


def cut(path: Path, length_s: float) -> Path:
    """The same way, with a part of it missing."""
    return lambda t_s: path(t_s if t_s < CUT_S else t_s + length_s)


def teams(speed_mm_s: float = 60.0) -> dict[str, Path]:
    """Two lines that walk through each other, and two figures that stand."""
    paths = {
        f"{team}-{i}": walking(300 + 220 * (team == "light"), 60 + 42 * i + 20 * (team == "light"), heading, speed_mm_s)
        for team, heading in (("dark", 0.0), ("light", 180.0))
        for i in range(6)
    }
    behind = {f"dark-b{i}": walking(225, 60 + 42 * i, 0, speed_mm_s + 20) for i in range(3)}
    return {**paths, **behind, "dark-s": standing(150, 200), "light-s": standing(700, 200, 180)}


def after(frames: list[Tracked]) -> list[Tracked]:
    return [frame for frame in frames if frame.t_s >= CUT_S]


@pytest.mark.parametrize("length_s", [0.2, 0.4, 0.8, 1.5])
def test_no_figure_is_stated_as_sure_where_another_stands_after_a_cut(length_s: float) -> None:
    paths = {id_: cut(path, length_s) for id_, path in teams().items()}
    frames = tracked(Table(paths, 1.6))
    for frame in after(frames):
        wrong = {id_ for id_ in switches([frame]) if frame.seen[id_].sure and frame.seen[id_].posture != "unseen"}
        assert not wrong, f"{frame.t_s:.2f} s: {sorted(wrong)}"


def test_after_a_cut_all_that_walked_are_unsure_and_found_at_once_and_who_stood_is_sure() -> None:
    paths = {id_: cut(path, 0.5) for id_, path in teams().items()}
    frame = after(tracked(Table(paths, 1.2)))[1]
    assert {id_ for id_, figure in frame.seen.items() if figure.sure} == {"dark-s", "light-s"}
    assert sum(figure.posture != "unseen" for figure in frame.seen.values()) >= len(paths) - 1


def test_who_is_not_found_after_a_short_cut_is_unsure_and_who_hardly_moved_is_sure() -> None:
    slow = teams(12.0)
    slow |= {f"dark-b{i}": walking(225, 60 + 42 * i, 0, 12.0) for i in range(3)}
    slow["dark-7"] = walking(600, 30, 0, 60.0)
    paths = {id_: cut(path, 0.6) for id_, path in slow.items()}
    frame = after(tracked(Table(paths, 1.2)))[4]
    assert {id_ for id_, figure in frame.seen.items() if not figure.sure} == {"dark-7"}


@pytest.mark.parametrize("factor", [0.0, 2.2], ids=["stop", "faster"])
def test_figures_that_stop_or_speed_up_together_have_not_leaped(factor: float) -> None:
    def changed(path: Path) -> Path:
        return lambda t_s: path(min(t_s, CUT_S) + factor * max(t_s - CUT_S, 0.0))

    paths = {id_: changed(path) for id_, path in teams().items() if id_[0] == "d"}
    assert all(figure.sure for frame in tracked(Table(paths, 1.4)) for figure in frame.seen.values())


def test_dropped_frames_that_are_known_by_their_times_are_no_leap() -> None:
    table = Table({id_: path for id_, path in teams().items() if id_[0] == "d"}, 1.4, lost=lambda t_s: 0.7 < t_s < 0.9)
    assert all(figure.sure for frame in tracked(table) for figure in frame.seen.values())
