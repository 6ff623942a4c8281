"""Who is not seen for a while on a board that is on, with no hand near."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from made_sightings import EXACT, seen
from tracked_tables import LINE_UP_S, Place, Table, Tracked, standing, tracked, tracked_with


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


def test_who_is_hidden_beside_an_arm_is_not_taken_for_another_whom_the_hand_has_moved() -> None:
    """The arm still lies over where the other stood, so that he is not looked for yet."""
    places = {"dark-1": (270.0, 262.0), "dark-2": (300.0, 262.0), "light-1": (480.0, 200.0), "light-2": (480.0, 300.0)}
    table = Table({id_: standing(x, y) for id_, (x, y) in places.items()}, 1.0, power=lambda _: False)
    frames, tracker = tracked_with(table)
    t_ns = round((frames[-1].t_s + LINE_UP_S) * 1e9)
    arm = np.array([(282.0, 280.0), (330.0, 280.0), (330.0, 20.0), (282.0, 20.0)])
    sights = seen(*((x, y, EXACT, 0.95, 0.0) for x, y in ((370.0, 300.0), places["light-1"], places["light-2"])))
    everybody = seen(*((x, y, EXACT, 0.95, 0.0) for x, y in {**places, "dark-2": (370.0, 300.0)}.values()))
    for frame in range(1, 121):
        t_ns += 16_666_667
        there = frame <= 60
        now = tracker.step(
            sights if there else everybody,
            t_ns,
            power="off",
            fingertips_mm=[(290.0, 262.0)] if there else [],
            hands_mm=[arm] if there else [],
        )
        assert now[0].footprint.x_mm < 290, frame
    assert [round(one.footprint.x_mm) for one in now] == [270, 370, 480, 480]


def test_who_walked_on_while_no_picture_came_is_not_taken_for_the_next_in_line() -> None:
    """The board was off when the pictures stopped, and was switched on since."""
    places = {"dark-1": (300.0, 200.0), "dark-2": (331.0, 200.0), "light-1": (480.0, 200.0), "light-2": (480.0, 300.0)}
    table = Table({id_: standing(x, y) for id_, (x, y) in places.items()}, 1.0, power=lambda _: False)
    frames, tracker = tracked_with(table)
    t_ns = round((frames[-1].t_s + LINE_UP_S) * 1e9)
    nobody = seen(*((x, y, EXACT, 0.95, 0.0) for x, y in places.values())).only(np.zeros(4, dtype=bool))
    for _ in range(30):
        t_ns += 16_666_667
        tracker.step(nobody, t_ns, power="off")
    walked = seen(*((x + 22, y, EXACT, 0.95, 0.0) for x, y in places.values()))
    now = tracker.step(walked, t_ns + 16_666_667, power="off")
    assert [round(one.footprint.x_mm) for one in now] == [322, 353, 502, 502]
