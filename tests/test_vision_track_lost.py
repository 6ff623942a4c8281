"""Who is not seen for a while on a board that is on, with no hand near."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tracked_tables import Place, Table, Tracked, standing, tracked


def found_again(away_s: float, way_mm: float) -> Tracked:
    """The last frame, of one who was not seen for so long and then is so far off."""
    back_s = 0.5 + away_s

    def path(t_s: float) -> Place:
        return (200 if t_s < 1.0 else 200 + way_mm, 200, 0.0)

    def gone(id_: str, t_s: float) -> bool:
        return id_ == "dark-1" and 0.5 < t_s < back_s

    others: dict[str, Callable[[float], Place]] = {
        id_: standing(480, y) for id_, y in (("dark-2", 100), ("light-1", 200), ("light-2", 300))
    }
    return tracked(Table({"dark-1": path, **others}, back_s + 0.6, gone=gone))[-1]


@pytest.mark.parametrize(("way_mm", "sure"), [(40.0, True), (90.0, False)])
def test_who_is_found_further_off_than_most_walk_is_in_doubt(way_mm: float, sure: bool) -> None:
    last = found_again(2.0, way_mm)
    assert last.error_mm("dark-1") < 2.0
    assert last.seen["dark-1"].sure == sure


def test_who_is_looked_for_is_not_found_further_off_than_anybody_walks() -> None:
    last = found_again(0.7, 130.0)
    assert last.error_mm("dark-1") > 100
    assert last.seen["dark-1"].posture == "unseen"
