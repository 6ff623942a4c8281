"""The standings of the stream's card: what the finished games of this rig come to, team by team."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from downfield.core.errors import NotFoundError
from downfield.core.text.counted_nouns import counted
from downfield.game.published.stream_topics import GraphicRow, GraphicView

MOST_TEAMS: Final = 12
"""Lines of a card that can be read from a sofa."""


@dataclass(frozen=True, slots=True)
class FinalScore:
    """A finished game.

    Attributes:
        home, away: names of the teams.
        points: home, away.

    """

    home: str
    away: str
    points: tuple[int, int]


@dataclass(slots=True)
class _Line:
    name: str
    won: int = 0
    lost: int = 0
    tied: int = 0
    scored: int = 0
    allowed: int = 0

    def add(self, own: int, other: int) -> None:
        self.won += own > other
        self.lost += own < other
        self.tied += own == other
        self.scored += own
        self.allowed += other

    @property
    def order(self) -> tuple[float, int, int, str]:
        """Best first: share of games won, a tie as half a win; difference of points; points; name."""
        share = (self.won + self.tied / 2) / (self.won + self.lost + self.tied)
        return -share, self.allowed - self.scored, -self.scored, self.name.casefold()

    @property
    def text(self) -> str:
        record = "\u2013".join(map(str, (self.won, self.lost, *([self.tied] if self.tied else []))))
        return f"{record}   {self.scored}:{self.allowed}"


def standings_card(games: Iterable[FinalScore]) -> GraphicView:
    """Return the standings over some games: games won, lost and tied, points scored and allowed.

    Teams are told apart by their names, however they are capitalized.

    Raises:
        NotFoundError: no game is finished.

    """
    lines: dict[str, _Line] = {}
    played = 0
    for game in games:
        played += 1
        home, away = game.points
        for name, own, other in ((game.home, home, away), (game.away, away, home)):
            lines.setdefault(name.casefold().strip(), _Line(name.strip())).add(own, other)
    if not played:
        raise NotFoundError("No game was finished on this rig yet, so there are no standings.")
    best = sorted(lines.values(), key=lambda line: line.order)[:MOST_TEAMS]
    return GraphicView(
        kind="standings",
        title="Standings",
        subtitle=f"After {counted(played, 'game')}",
        rows=tuple(GraphicRow(label=line.name, values=(line.text,)) for line in best),
    )
