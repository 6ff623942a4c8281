"""Standings of a pool or of all games, with tie-breaks that say what decided.

Among entrants with the same percentage the tie-breaks are applied in the event's order; as soon as one separates some
of them, those who are still level begin again with the first, as leagues do it. What nothing separates is decided by
lots; until they are drawn, the place is shared. Who has left the event stands behind all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from downfield.desk.event.records import KnownEntrant, Match, TieBreak
from downfield.desk.event.state import TournamentEvent

_TEXTS: dict[TieBreak, str] = {
    "head_to_head": "games against each other",
    "opponents": "strength of opponents",
    "point_difference": "point difference",
    "points_for": "points scored",
    "points_against": "points allowed",
}


@dataclass(slots=True)
class Standing:
    """One line of a table."""

    entrant: str
    place: int = 0  # from 1; shared by those whom nothing separates
    # won, lost, tied: games
    won: int = 0
    lost: int = 0
    tied: int = 0
    # points_for, points_against: points
    points_for: int = 0
    points_against: int = 0
    difference: int = 0  # of the points, each game limited as the event's rules say
    # what put it ahead of or behind those with the same percentage; empty where that was not needed
    decided_by: str = ""
    against: dict[str, list[float]] = field(default_factory=dict)  # 1 for a game won, 0.5 for a tie, by opponent

    @property
    def percentage(self) -> float:
        """Share of games won, a tie counting half; 0 before the first."""
        played = self.won + self.lost + self.tied
        return (self.won + self.tied / 2) / played if played else 0.0


def pool_standings(event: TournamentEvent, pool: str) -> list[Standing]:
    """Return the standings of a pool, the best first."""
    return standings(event, event.pools[pool], [match for match in event.matches if match.pool == pool])


def standings(event: TournamentEvent, ids: Sequence[str], matches: Iterable[Match]) -> list[Standing]:
    """Return the standings of some entrants over those games whose sides are known, the best first."""
    records = _unordered(ids, matches, event.rules.largest_difference)
    for entrant in event.byes:
        if entrant in records:
            records[entrant].won += 1
    order = _Order(records, event)
    gone = {entrant.id for entrant in event.entrants if entrant.withdrawn and not entrant.keeps_place}
    ranked: list[tuple[list[str], str]] = []
    for group in ([one for one in ids if one not in gone], [one for one in ids if one in gone]):
        for level in _grouped(group, lambda entrant: records[entrant].percentage):
            ranked.extend(order.broken(level, ""))
    out, place = [], 1
    for level, decided_by in ranked:
        for entrant in level:
            line = records[entrant]
            line.place, line.decided_by = place, decided_by if len(level) == 1 else "lots are to be drawn"
            out.append(line)
        place += len(level)
    return out


def _unordered(ids: Sequence[str], matches: Iterable[Match], limit: int) -> dict[str, Standing]:
    records = {entrant: Standing(entrant) for entrant in ids}
    for match in matches:
        result = match.result
        if result is None or not isinstance(match.home, KnownEntrant) or not isinstance(match.away, KnownEntrant):
            continue
        sides = (
            (match.home.entrant, match.away.entrant, result.home, result.away, "home"),
            (match.away.entrant, match.home.entrant, result.away, result.home, "away"),
        )
        for entrant, other, scored, allowed, side in sides:
            found = records.get(entrant)
            if found is None:
                continue
            value = 0.5 if result.winner is None else float(result.winner == side)
            found.won += value == 1
            found.lost += value == 0
            found.tied += value == 0.5
            found.points_for += scored
            found.points_against += allowed
            difference = scored - allowed
            found.difference += max(-limit, min(limit, difference)) if limit else difference
            found.against.setdefault(other, []).append(value)
    return records


class _Order:
    def __init__(self, records: dict[str, Standing], event: TournamentEvent) -> None:
        self._records, self._breaks = records, event.rules.tie_breaks
        self._is_swiss = event.rules.swiss > 0
        self._lots = {entrant: place for place, entrant in enumerate(event.lots)}

    def broken(self, level: list[str], decided_by: str) -> list[tuple[list[str], str]]:
        """Return groups in order, each of entrants that nothing separates, with what decided."""
        if len(level) == 1:
            return [(level, decided_by)]
        for tie_break in self._breaks:
            value = self._value(tie_break, level)
            if value is None:
                continue
            groups = _grouped(level, value)
            if len(groups) > 1:
                return [found for group in groups for found in self.broken(group, _TEXTS[tie_break])]
        if all(entrant in self._lots for entrant in level):
            return [([entrant], "lots") for entrant in sorted(level, key=self._lots.__getitem__)]
        return [(level, decided_by)]

    def _value(self, tie_break: TieBreak, level: Sequence[str]) -> Callable[[str], float] | None:
        """Return what a tie-break compares, the higher the better; None if it can't be applied."""
        records = self._records
        if tie_break == "point_difference":
            return lambda entrant: records[entrant].difference
        if tie_break == "points_for":
            return lambda entrant: records[entrant].points_for
        if tie_break == "opponents":  # Buchholz's sum; where everybody plays everybody it says nothing
            by_opponents = {one: sum(records[other].percentage for other in records[one].against) for one in level}
            return by_opponents.__getitem__ if self._is_swiss else None
        if tie_break == "points_against":
            return lambda entrant: -records[entrant].points_against
        counts = {len(records[one].against.get(other, [])) for one in level for other in level if one != other}
        if len(counts) != 1 or 0 in counts:
            return None  # only fair where all have played each other equally often
        return lambda entrant: sum(sum(records[entrant].against[other]) for other in level if other != entrant)


def _grouped(ids: Iterable[str], value: Callable[[str], float]) -> list[list[str]]:
    """Return groups of equal value, the highest first, each in the order given."""
    by_value: dict[float, list[str]] = {}
    for entrant in ids:
        by_value.setdefault(value(entrant), []).append(entrant)
    return [by_value[key] for key in sorted(by_value, reverse=True)]
