"""A game of cards under NFL Strategy, for its tests."""

from __future__ import annotations

from typing import Any

from declared_game import DeclaredGame

from downfield.officiating.declarations import ClockSet
from downfield.officiating.rulebooks.nfl_strategy.play import card_game
from downfield.officiating.unseen_declarations import CardPlayed


class CardGameTable(DeclaredGame):
    """A game of cards."""

    def __init__(self) -> None:
        super().__init__("nfl-strategy")

    def at(self, spot: float, down: int = 1, distance: float = 10.0, **more: Any) -> CardGameTable:
        super().at(spot, down, distance, **more)
        return self

    def running(self, running: bool = True) -> CardGameTable:
        self.declare(ClockSet(running))
        return self

    @property
    def lines(self) -> int:
        return card_game(self.state).lines.left

    @property
    def clock_runs(self) -> bool:
        return card_game(self.state).lines.running


def run(shown: str, **more: Any) -> CardPlayed:
    return CardPlayed("run", shown, **{"roll": 60, **more})
