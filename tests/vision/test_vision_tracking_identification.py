"""Past formations are recognized further up the field and turned around."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.arrays import Array
from downfield.core.field.model import preset
from downfield.core.scene import SURE_IDENTITY, Player
from downfield.core.track_files import Roster, RosterSpot
from downfield.vision.tracking.identification import IDENTIFICATION_LIMITS, identify, misfit_mm, recall_formation

WEDGE = np.array([[0.0, 0.0], [40.0, 30.0], [40.0, -35.0], [95.0, 5.0], [150.0, 80.0]])
LINE = np.array([[0.0, 0.0], [0.0, 45.0], [5.0, 90.0], [0.0, 140.0], [10.0, 190.0]])
ALIKE = np.zeros((5, 5))
AHEAD = np.array([300.0, 0.0])
EVERY_OTHER = np.array([0, 1, 0, 1, 0])


def unlike(jerseys: Array, others: Array) -> Array:
    """The distance added to stands that show another jersey."""
    return np.where(jerseys[:, None] != others[None], 400.0, 0.0)


@given(
    st.permutations(range(5)),
    st.tuples(st.floats(-600, 600), st.floats(-300, 300)),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_a_formation_is_recognized_wherever_it_stands_and_whichever_way_it_faces(
    order: list[int], move: tuple[float, float], turned: bool, seed: int
) -> None:
    """Every figure stands within a few millimeters of its place, in any order."""
    stands = WEDGE * (-1 if turned else 1) + move + np.random.default_rng(seed).uniform(-3, 3, WEDGE.shape)
    places = recall_formation([LINE, WEDGE], stands[order], ALIKE)
    assert places is not None
    assert np.linalg.norm(places - stands, axis=1).max() < 8


def test_a_player_unseen_in_the_past_formation_has_no_place_now() -> None:
    known = WEDGE.copy()
    known[2] = np.nan
    places = recall_formation([known], WEDGE + AHEAD, ALIKE)
    assert places is not None
    assert np.isnan(places).any(axis=1).tolist() == [False, False, True, False, False]
    assert places[[0, 1, 3, 4]] == pytest.approx(WEDGE[[0, 1, 3, 4]] + AHEAD)


def test_jerseys_distinguish_a_formation_from_the_same_one_turned_around() -> None:
    """Of two figures behind each other either may be the front one, but not if one is dark and one light."""
    two = np.array([[0.0, 0.0], [50.0, 0.0]])
    dark_ahead = recall_formation([two], two, unlike(np.array([0, 1]), np.array([1, 0])))
    assert dark_ahead is not None
    assert dark_ahead == pytest.approx(two[::-1])


def test_without_a_past_formation_there_are_no_places() -> None:
    assert recall_formation([], WEDGE, ALIKE) is None
    assert recall_formation([np.full((5, 2), np.nan)], WEDGE, ALIKE) is None


def test_a_formation_stays_where_it_was_if_the_other_team_stands_in_all_places() -> None:
    places = recall_formation([WEDGE], WEDGE + AHEAD, np.full((5, 5), 400.0))
    assert places is not None
    assert misfit_mm(places, WEDGE + AHEAD, np.full((5, 5), 400.0)) == 5 * IDENTIFICATION_LIMITS.elsewhere_mm


def test_the_misfit_is_the_total_distance_with_a_limit_per_figure() -> None:
    stands = WEDGE.copy()
    stands[0] += (3.0, 4.0)
    assert misfit_mm(WEDGE, stands, ALIKE) == pytest.approx(5.0)
    stands[4] += (900.0, 0.0)
    assert misfit_mm(WEDGE, stands, ALIKE) == pytest.approx(5.0 + IDENTIFICATION_LIMITS.elsewhere_mm)
    assert misfit_mm(WEDGE, stands[:4], ALIKE[:, :4]) == pytest.approx(5.0 + IDENTIFICATION_LIMITS.elsewhere_mm)


@pytest.mark.parametrize(("beside_mm", "sure"), [(0.0, True), (11.0, False)])
def test_a_figure_that_may_be_one_who_was_not_found_is_not_sure(beside_mm: float, sure: bool) -> None:
    players = tuple(Player(f"dark-{place}", "dark") for place in range(5))
    field, places = preset("ultimate"), 300 + LINE
    places[4] = places[3] + (0.0, 24.0)
    spots = tuple(
        RosterSpot(player.id, *(place / field.mm_per_yd)) for player, place in zip(players, places, strict=True)
    )
    stands = places[:4].copy()  # the last one is not found, and the one before it stands some way toward its place
    stands[3, 1] += beside_mm
    named = identify(Roster(players, spots), (), field, stands, np.full(4, -5.0), teams_known=True, tracked=None)
    assert named.rows == [0, 1, 2, 3, None]
    assert bool(named.probability[3] >= SURE_IDENTITY) is sure


def test_where_all_walked_on_who_stands_in_a_place_of_the_line_up_is_not_surely_its_player() -> None:
    players = tuple(Player(f"dark-{row}", "dark") for row in range(5))
    field = preset("ultimate")
    spots = tuple(
        RosterSpot(player.id, *(field.to_yards(LINE + AHEAD)[row].tolist())) for row, player in enumerate(players)
    )
    elsewhere = LINE + AHEAD + np.array([[190.0, 20.0], [280.0, -10.0], [310.0, 15.0], [195.0, 5.0], [2.0, 14.0]])
    for stands, sure in ((LINE + AHEAD, True), (elsewhere, False)):
        named = identify(Roster(players, spots), (), field, stands, np.full(5, -5.0), teams_known=True, tracked=None)
        assert bool(named.probability[4] >= SURE_IDENTITY) is sure
