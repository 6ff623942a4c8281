"""Which contacts are square hits: faces and angles from real geometry of two bases."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.footprint import BaseSize, Footprint, signed_gap
from downfield.officiating.params import Params
from downfield.officiating.rules.square_tackles import SQUARE_TACKLE_PARAMS, SquareHit, square_hit
from downfield.officiating.state.facts import OpponentContact

BOOK = Params(SQUARE_TACKLE_PARAMS)
SIZE = BaseSize(30.0, 18.0, 5.5, 1.0)
SURE = 0.95


def judge_recording(
    carrier: tuple[float, float, float],
    defender: tuple[float, float, float],
    sigma_deg: float = 0.0,
    params: Params = BOOK,
) -> SquareHit:
    """What a contact of two bases at (x, y, heading) is; the carrier stands anywhere, both of the common size."""
    gap = signed_gap(Footprint(*carrier, SIZE), Footprint(*defender, SIZE))
    assert -2 < gap.gap_mm < 0.5, gap
    touch = OpponentContact(
        "light-50", gap.gap_mm, 0.0, 1.0, gap.face_a, gap.face_b, gap.angle_deg, gap.overlap_mm, since_ns=None
    )
    return square_hit(touch, SIZE.width_mm, sigma_deg, params)


@pytest.mark.parametrize(
    ("defender", "pair"),
    [
        ((30.0, 0.0, 180.0), "front-front"),
        ((0.0, 24.0, -90.0), "front-side"),
        ((0.0, -24.0, 90.0), "front-side"),
        ((-30.0, 0.0, 0.0), "front-rear"),
        ((24.0, 0.0, 90.0), "side-front"),
        ((24.0, 0.0, -90.0), "side-front"),
    ],
)
def test_square_hits_are_tackles(defender: tuple[float, float, float], pair: str) -> None:
    got = judge_recording((0.0, 0.0, 0.0), defender)
    assert got.pair == pair
    assert got.probability == 1.0


@pytest.mark.parametrize(
    ("defender", "pair"),
    [
        ((0.0, 18.0, 0.0), "side-side"),
        ((0.0, -18.0, 180.0), "side-side"),
        ((30.0, 0.0, 0.0), "rear-front"),
        ((-24.0, 0.0, 90.0), "side-rear"),
        ((0.0, 24.0, 90.0), "rear-side"),
        ((-30.0, 0.0, 180.0), "rear-rear"),
    ],
)
def test_other_square_contacts_are_no_tackles(defender: tuple[float, float, float], pair: str) -> None:
    got = judge_recording((0.0, 0.0, 0.0), defender)
    assert got.pair == pair
    assert got.square == 1.0
    assert got.probability == 0.0


@pytest.mark.parametrize("turn", [0.0, 37.0, 90.0, 200.0])
@pytest.mark.parametrize("angle", [0.0, 5.0, 9.5, 12.0, 15.5, 25.0, 29.0, 31.0, 44.0])
def test_the_angle_decides_between_square_and_corner(angle: float, turn: float) -> None:
    spot = _head_on(angle)
    got = judge_recording(_turned((0.0, 0.0, 0.0), turn), _turned(spot, turn))
    if angle <= 10:
        assert got.probability > SURE
    elif angle >= 30:
        assert got.probability < 1 - SURE
    else:
        assert 1 - SURE < got.probability < SURE
    assert (got.probability >= 0.5) is (angle <= 15)


def test_aligned_bases_that_meet_at_their_corners_are_no_tackle() -> None:
    got = judge_recording((0.0, 0.0, 0.0), (29.8, 17.5, 180.0))
    assert got.probability == 0.0


def test_a_corner_into_the_back_is_left_to_a_person() -> None:
    got = judge_recording((0.0, 0.0, 0.0), _behind(40.0))
    assert got.probability < 0.05
    assert got.review
    assert not judge_recording((0.0, 0.0, 0.0), _head_on(40.0)).review


def test_a_doubtful_heading_makes_a_doubtful_hit() -> None:
    assert judge_recording((0.0, 0.0, 0.0), _head_on(8.0)).probability == 1.0
    assert judge_recording((0.0, 0.0, 0.0), _head_on(8.0), sigma_deg=4.0).probability < SURE


def test_a_league_may_let_any_face_tackle() -> None:
    ours = Params(
        SQUARE_TACKLE_PARAMS, {"tackle.pairs": ("side-side",), "tackle.angle_deg": 5.0, "tackle.unsure_from_deg": 5.0}
    )
    assert judge_recording((0.0, 0.0, 0.0), (0.0, 18.0, 0.0), params=ours).probability == 1.0
    assert judge_recording((0.0, 0.0, 0.0), (30.0, 0.0, 180.0), params=ours).probability == 0.0


@given(st.one_of(st.floats(0, 9.9), st.floats(10.1, 29.9), st.floats(30.1, 45)), st.floats(-180, 180))
def test_turning_the_table_changes_nothing(angle: float, turn: float) -> None:
    carrier, defender = (0.0, 0.0, 0.0), _head_on(angle)
    plain, turned = judge_recording(carrier, defender), judge_recording(_turned(carrier, turn), _turned(defender, turn))
    assert turned.probability == pytest.approx(plain.probability, abs=1e-6)


def _head_on(angle: float) -> tuple[float, float, float]:
    """A defender whose front meets the carrier's, turned by an angle, just touching."""
    return _touching(180.0 + angle, 1)


def _behind(angle: float) -> tuple[float, float, float]:
    return _touching(angle, -1)


def _touching(heading: float, ahead: int) -> tuple[float, float, float]:
    low, high = 0.0, 80.0
    for _ in range(25):
        middle = (low + high) / 2
        gap = signed_gap(Footprint(0.0, 0.0, 0.0, SIZE), Footprint(ahead * middle, 0.0, heading, SIZE)).gap_mm
        low, high = (low, middle) if gap > -0.2 else (middle, high)
    return ahead * low, 0.0, heading


def _turned(place: tuple[float, float, float], turn: float) -> tuple[float, float, float]:
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    x, y, heading = place
    return x * cos - y * sin, x * sin + y * cos, heading + turn
