"""What may be said in a state of a game, and a check that nothing else is accepted."""

from __future__ import annotations

from downfield.core.scene import Player
from downfield.officiating.declarations import Side
from downfield.officiating.state.game_state import GameState, Phase

FIGURES = ("dark-7", "dark-22", "dark-60", "light-50", "light-7")
ROSTER = tuple(
    Player(name, "dark" if name.startswith("dark") else "light", role=role)
    for name, role in zip(FIGURES, ("QB", "RB", "G", "LB", "QB"), strict=True)
)
SIDES: tuple[Side, ...] = ("home", "away")


def assert_legal(state: GameState, before: GameState) -> None:
    """No declaration takes a score back, or leaves a down, distance or wait that cannot be."""
    assert all(now >= then for now, then in zip(state.score, before.score, strict=True))
    assert sum(state.score) - sum(before.score) in {0, 1, 2, 3, 6}
    assert 1 <= state.down <= 4
    assert (state.wait is None) == (state.phase not in {Phase.PENDING_ROLL, Phase.PENDING_CHOICE})
    if state.due == "scrimmage" and state.phase is Phase.BETWEEN_PLAYS:
        assert 0 < state.progress_yd(state.los_yd) < state.length_yd
        assert 0 < state.distance_yd <= state.length_yd
    assert state.time_outs is None or min(state.time_outs) >= 0
