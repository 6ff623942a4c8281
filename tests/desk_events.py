"""Events for tests: coaches, drawn, and played to their end."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from downfield.desk.event.operations import draw, draw_lots, enter_result
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Entrant, KnownEntrant, Result, Rules
from downfield.desk.event.state import Change, TournamentEvent

BY = Change("2026-09-05T09:00:00+02:00", "the director", "test")


def coaches(count: int, *, seeded: bool = True) -> list[Entrant]:
    return [Entrant(f"e{n}", f"Coach {n}", seed=n if seeded else None) for n in range(1, count + 1)]


def sides(count: int) -> list[KnownEntrant]:
    return [KnownEntrant(entrant.id) for entrant in coaches(count)]


def event_of(count: int, rules: Rules) -> TournamentEvent:
    return draw(TournamentEvent("Open", rules, entrants=tuple(coaches(count))), BY)


def better_seed(home: str, away: str) -> Result:
    return Result(7, 0) if int(home[1:]) < int(away[1:]) else Result(0, 7)


def play(event: TournamentEvent, decide: random.Random | None = None) -> TournamentEvent:
    """Play everything that can be played, by seeds or at random; then lots break what nothing else does."""
    if decide is not None:
        event = draw_lots(event, [entrant.id for entrant in event.entrants], BY)
    while True:
        progress = Progress(event)
        match = next((match for match in event.matches if progress.is_ready(match)), None)
        if match is None:
            return event
        home, away = progress.sides(match)
        assert home is not None
        assert away is not None
        assert home != away, f"{match.id}: somebody plays themselves"
        if decide is None:
            result = better_seed(home, away)
        else:
            result = Result(decide.randrange(40), decide.randrange(40))
            if match.stage != "pool" and result.winner is None:
                result = replace(result, home=result.home + 3, overtime=True)
        event = enter_result(event, match.id, result, BY)


def losses(event: TournamentEvent, *stages: str) -> Counter[str]:
    progress, out = Progress(event), Counter[str]()
    for match in event.matches:
        if match.result is not None and match.stage in stages:
            loser = progress.sides(match)[1 if match.result.winner == "home" else 0]
            assert loser is not None
            out[loser] += 1
    return out


# --- pools ---------------------------------------------------------------------------------------------------------
