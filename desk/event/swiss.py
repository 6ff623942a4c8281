"""Swiss rounds: in each everybody plays somebody who has won about as often, and nobody meets twice.

The rounds are one pool, whose next round is paired once the one before is played. With an odd number one has a bye,
which counts as a game won, and nobody has a second one while somebody has had none. As long as there are no more
rounds than half of the entrants, nobody needs to meet twice (Dirac 1952: whoever has still half of the others to play
can be paired); where many leave, as few meet twice as can be found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from downfield.core.errors import InputError, RefusedError
from downfield.desk.event.brackets import elimination
from downfield.desk.event.placing import noted, scheduled
from downfield.desk.event.records import Entrant, KnownEntrant, Match, Rules
from downfield.desk.event.standings import pool_standings
from downfield.desk.event.state import Change, TournamentEvent

SWISS: Final = "Swiss"  # The name of the pool of all


def check_rounds(rules: Rules, entrants: int) -> None:
    """Check that nobody needs to meet twice. Raises InputError: there are too many rounds."""
    most = entrants // 2
    if rules.swiss > most:
        raise InputError(
            f"{entrants} entrants can play {most} Swiss rounds in which nobody meets twice, not {rules.swiss}. For more"
            " games have them play in pools."
        )


def first_round(entrants: Sequence[Entrant]) -> tuple[list[Match], tuple[str, ...]]:
    """Return the first round by seeds, the upper half against the lower, and who has a bye."""
    ids = [entrant.id for entrant in entrants]
    clubs = {entrant.id: entrant.club for entrant in entrants}
    return _round(1, ids, dict.fromkeys(ids, 0.0), {one: set() for one in ids}, clubs, (), {})


def next_round(event: TournamentEvent) -> int:
    """Return the number of the round that is paired next; 0 where none is."""
    played = max((match.round for match in event.matches if match.pool == SWISS), default=0)
    return played + 1 if 0 < played < event.rules.swiss else 0


def pair_round(event: TournamentEvent, by: Change) -> TournamentEvent:
    """Pair the next round, by the standings; after the last one comes the elimination, if there is one.

    Raises:
        RefusedError: there is none, or games of the round before are still to be played.
        InputError: the sessions have no time for it.
    """
    number = next_round(event)
    if not number:
        raise RefusedError("All Swiss rounds are paired." if event.rules.swiss else "This event has no Swiss rounds.")
    own = [match for match in event.matches if match.pool == SWISS]
    open_games = [match.id for match in own if match.result is None]
    if open_games:
        raise RefusedError(f"{', '.join(open_games[:5])} of the round before must be decided first.")
    gone = {entrant.id for entrant in event.entrants if entrant.withdrawn}
    lines = [line for line in pool_standings(event, SWISS) if line.entrant not in gone]
    points = {line.entrant: line.won + line.tied / 2 for line in lines}
    ids = [line.entrant for line in lines]
    met: dict[str, set[str]] = {one: set() for one in event.pools[SWISS]}
    at_home: dict[str, int] = {}
    for home, away in (_sides(match) for match in own):
        met[home].add(away)
        met[away].add(home)
        at_home[home] = at_home.get(home, 0) + 1
        at_home[away] = at_home.get(away, 0) - 1
    if len(ids) < 2:
        raise RefusedError("Nobody is left to play against.")
    clubs = {entrant.id: entrant.club for entrant in event.entrants}
    matches, byes = _round(number, ids, points, met, clubs, event.byes, at_home)
    if number == event.rules.swiss:
        matches += elimination(event.rules, event.entrants, event.pools)
    paired = replace(event, matches=(*event.matches, *matches), byes=(*event.byes, *byes))
    return noted(scheduled(paired) if any(match.slot is not None for match in event.matches) else paired, by)


def _round(
    number: int,
    ids: Sequence[str],
    points: Mapping[str, float],
    met: Mapping[str, set[str]],
    clubs: Mapping[str, str],
    byes: Sequence[str],
    at_home: Mapping[str, int],
) -> tuple[list[Match], tuple[str, ...]]:
    """Return the games of a round, and who has a bye. `ids`: the best first. `at_home`: how much oftener than away."""
    playing = list(ids)
    out: tuple[str, ...] = ()
    if len(playing) % 2:
        last = min(reversed(playing), key=byes.count)
        playing.remove(last)
        out = (last,)
    matches = []
    for place, (one, other) in enumerate(pairs(playing, points, met, clubs), start=1):
        ahead = at_home.get(one, 0) - at_home.get(other, 0)
        home, away = (other, one) if ahead > 0 or (ahead == 0 and (number + place) % 2) else (one, other)
        matches.append(Match(f"S{number}-{place}", "pool", number, KnownEntrant(home), KnownEntrant(away), SWISS))
    return matches, out


def pairs(
    ids: Sequence[str], points: Mapping[str, float], met: Mapping[str, set[str]], clubs: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return who plays whom: the best first, each against whom they have not met, with as many points as can be.

    Among those with equal points the upper half meets the lower, and those of one club meet others first.

    Args:
        ids: an even number, the best first.
        met: whom each has played.
    """
    left, made, stuck = list(ids), [], []
    while left:
        one = left.pop(0)
        level = [other for other in left if points[other] == points[one]]
        half = len(level) // 2  # of those left: the first of the lower half
        unmet = [(place, other) for place, other in enumerate(left) if other not in met[one]]
        if not unmet:
            stuck.append(one)
            continue
        _, other = min(
            unmet,
            key=lambda found: (
                points[one] - points[found[1]],
                bool(clubs[one]) and clubs[one] == clubs[found[1]],
                abs(found[0] - half),
            ),
        )
        left.remove(other)
        made.append((one, other))
    for one, other in zip(stuck[::2], stuck[1::2], strict=True):
        made += _exchanged(one, other, made, met)
    return sorted(made, key=lambda pair: min(ids.index(pair[0]), ids.index(pair[1])))


def _exchanged(one: str, other: str, made: list[tuple[str, str]], met: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """Return the pairs of two who have met, by way of the lowest pair that they can exchange with, which is taken out.

    Two who have at least half of all others to play find one; otherwise they meet again.
    """
    for first, second in reversed(made):
        for third, fourth in ((first, second), (second, first)):
            if third not in met[one] and fourth not in met[other]:
                made.remove((first, second))
                return [(one, third), (other, fourth)]
    return [(one, other)]


def _sides(match: Match) -> tuple[str, str]:
    assert isinstance(match.home, KnownEntrant)
    assert isinstance(match.away, KnownEntrant)
    return match.home.entrant, match.away.entrant
