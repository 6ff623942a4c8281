"""Pictures show the whole roster: who is off the board stands beside it."""

from __future__ import annotations

from twin_worlds import FIELD, PAIR

from downfield.core.scene import Player
from downfield.twin.physics.body import Placement
from downfield.twin.physics.poses import with_bench
from downfield.twin.physics.world import World


def test_the_whole_roster_is_in_the_picture_in_order() -> None:
    roster = (Player("c", "light"), *PAIR)
    world = World(roster, {"a": Placement(300, 250)}, {}, field=FIELD, seed=1)
    before = world.snapshot()
    shown = with_bench(before, roster, FIELD)
    assert [figure.id for figure in shown.figures] == ["c", "a", "b"]
    assert shown.figures[1] == before.figures[0]
    _, y_low, _, y_high = FIELD.board_mm
    for figure in (shown.figures[0], shown.figures[2]):
        assert not y_low - 20 < figure.position_mm[1] < y_high + 20
    assert shown.figures[0].position_mm != shown.figures[2].position_mm
    world.place("b", 400, 250, 180)
    assert with_bench(world.snapshot(), roster, FIELD).figures[0] == shown.figures[0]


def test_a_full_board_has_an_empty_bench() -> None:
    world = World(PAIR, {"a": Placement(300, 250), "b": Placement(400, 250)}, {}, field=FIELD, seed=1)
    assert with_bench(world.snapshot(), PAIR, FIELD) == world.snapshot()
