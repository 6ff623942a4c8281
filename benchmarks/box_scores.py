"""Random games told by hand and by cards: box scores against what was counted on paper, and ways on from every state.

Run as ``python benchmarks/box_scores.py [GAMES] [FIRST]`` for so many games of each rulebook and way of telling, 80
plays each, from a seed on.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from counted_games import WAYS, CountedGame, Way
from legal_engines import BOOKS, begin
from legal_moves import filled, playable

from downfield.officiating.sides import SIDES
from downfield.officiating.state.game_state import Phase
from downfield.review.reports.statistics import team_lines

MOVES, WAY_ON = 40, 120
"""Declarations of a game of anything, and those within which it goes on from there."""
NAMES = ("plays", "first_downs", "touchdowns", "field_goals", "turnovers")


def differences(book: str, way: Way, seed: int) -> list[str]:
    """Return what a game's box score and its paper disagree in."""
    game = CountedGame(book, way, seed).play(80)
    found = []
    plays = game.plays()
    for line, side, score in zip(team_lines(plays), SIDES, game.state.score, strict=True):
        counted = {name: getattr(line, name) for name in NAMES} | {"yards": round(10 * line.yards)}
        found += [f"{side} {name}: {number}" for name, number in counted.items() if number != game.paper.of(side, name)]
        if sum(points for play in plays for scorer, points in play.points if scorer == side) != score:
            found.append(f"{side} points")
    return found


def is_stuck(book: str, seed: int) -> bool:
    """Return whether a game of anything that may be declared comes to a state from which no play can be ended.

    From wherever it is after so many declarations, two more plays are begun and ended by what may be declared there, or
    the game is.
    """
    chance = random.Random(seed)
    table, played = begin(book, line_up=False), 0
    for move in range(MOVES + WAY_ON):
        legal, state = table.game.legal(), table.state
        if state.phase is Phase.OVER or (move >= MOVES and len(table.game.plays) >= played + 2):
            return False
        if move < MOVES:
            played = len(table.game.plays)
        moves = playable(legal)
        if not moves:
            return True
        table.declare(filled(chance.choice(moves), legal, state, chance))
    return True


def main() -> None:
    """Print the counts, and which games they are of."""
    first, games = int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seeds = range(first, first + games)
    for book, way in WAYS:
        wrong = [seed for seed in seeds if differences(book, way, seed)]
        print(f"{book}, {way}: {games} games, {len(wrong)} with differences {wrong[:5]}", flush=True)
    for book in BOOKS:
        stuck = [seed for seed in seeds if is_stuck(book, seed)]
        print(f"{book}: {games} games of anything, {len(stuck)} stuck {stuck[:5]}", flush=True)


if __name__ == "__main__":
    main()
