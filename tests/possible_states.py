"""What a game's state can be at all: scores, downs, clocks."""

from __future__ import annotations

import math

from downfield.officiating.state.game_state import GameState, Phase

LONGEST_CLOCK_S = 4 * 3600.0


def assert_possible(state: GameState) -> None:
    """No number of a game is one that no board, clock or scoreboard shows."""
    assert 0 < state.los_yd < state.length_yd
    assert state.lateral_yd is None or 0 <= state.lateral_yd <= state.width_yd
    left_s = state.clock.left_at_s(state.now_ns)
    assert left_s is None or 0 <= left_s <= LONGEST_CLOCK_S
    assert min(state.score) >= 0
    assert 1 <= state.down <= 4
    assert (state.try_for is None) == (state.due not in {"extra_point", "two_point"})
    assert state.phase is not Phase.STOPPED or state.play.stoppage is not None
    assert state.play.ball_mm is None or all(math.isfinite(mm) for mm in state.play.ball_mm)
    if state.due == "scrimmage" and state.phase in {Phase.BETWEEN_PLAYS, Phase.LINE_UP, Phase.SET}:
        assert 0 < state.distance_yd <= state.length_yd
