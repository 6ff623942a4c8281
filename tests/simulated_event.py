"""An event with tables that are cut off, tickets that come late, corrections and a desk that is killed, all by a seed.

Every table keeps the journals of its games; the desk knows of each a part that only grows. What a test or a benchmark
checks after each step: no match decided by another's game, no result lost, every order of arrival ends alike.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from desk_events import coaches

from downfield.core.errors import RefusedError
from downfield.core.field.model import preset
from downfield.desk.event.keeper import EventKeeper, Request
from downfield.desk.event.operations import assign_game, draw, draw_lots, enter_result, take_back, withdraw
from downfield.desk.event.outcomes import Waiting, outcomes
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Match, Result, Rules
from downfield.desk.event.state import TableGame, TournamentEvent
from downfield.desk.event.swiss import pair_round
from downfield.desk.event.tickets import ticket_for
from downfield.desk.replication.result_taker import table_game
from downfield.game.records.commands import MatchTicket
from downfield.game.records.entries import Content, GameEnded, GameReopened, GameStarted, record_of
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import GameRow
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.sealing.signing import RigKey

DESK_KEY = RigKey.generate()
DIRECTOR = Request("the director", confirmed=True)
TABLES = 3
RULEBOOK = record_of(load_rulebook("tap"))


def started(ticket: MatchTicket | None) -> GameStarted:
    """Return the first entry of a game."""
    return GameStarted(RULEBOOK, preset("tudor-620"), match=ticket)


@dataclass(slots=True)
class Played:
    """A game at a table: its journal, and how much of it the desk has."""

    row: GameRow
    contents: list[Content]
    delivered: int = 0
    ended: bool = False

    def report(self, count: int) -> TableGame | None:
        """Return what the first entries of its journal say."""
        return table_game(self.row, list(enumerate(self.contents[:count], start=1)))


@dataclass(slots=True)
class SimulatedEvent:
    """An event over a folder, driven by a seed.

    Attributes:
        games: at the tables, whether the desk knows of them or not.
    """

    folder: Path
    seed: int
    games: list[Played] = field(default_factory=list)
    chance: random.Random = field(init=False)
    keeper: EventKeeper = field(init=False)
    tickets: list[MatchTicket] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.keeper = EventKeeper(self.folder / f"event-{self.seed}.json")
        count, pools, swiss = self.chance.choice([(4, 0, 0), (6, 2, 0), (5, 1, 0), (8, 2, 0), (6, 0, 0), (7, 0, 3)])
        elimination = self.chance.choice(["single", "double"])
        rules = Rules(pools=pools, advance=2, elimination=elimination, swiss=swiss)  # type: ignore[arg-type]
        fresh = TournamentEvent("Cup", rules, entrants=tuple(coaches(count)))
        self.keeper.change(DIRECTOR, "made the draw", lambda _, by: draw(fresh, by))

    @property
    def event(self) -> TournamentEvent:
        """The event as the desk has it."""
        return self.keeper.event

    def step(self) -> None:
        """Have something happen."""
        steps = [
            *[self._begin] * 4,
            *[self._end] * 4,
            *[self._deliver] * 6,
            self._reopen,
            self._enter,
            self._remove,
            self._withdraw,
            self._lots,
            self._undo,
            self._choose,
            self._restart,
            self._kill,
            self._pair,
        ]
        with suppress(RefusedError):  # a director is told why
            self.chance.choice(steps)()

    def deliver_all(self) -> None:
        """Have the desk get everything."""
        for game in self.games:
            game.delivered = len(game.contents)
            self._report(game)

    def faults(self) -> list[str]:
        """Return what is wrong with the event as it stands; nothing where all holds."""
        return event_faults(self.event, self.keeper.outcomes.waiting)

    def _begin(self) -> None:
        for match in self.event.matches:  # the desk hands out what it can; a table may use it much later
            home, away = Progress(self.event).sides(match)
            if home is not None and away is not None and match.result is None:
                ticket = ticket_for(self.event, match, "rig", (home, away), DESK_KEY)
                if ticket is not None and ticket not in self.tickets:
                    self.tickets.append(ticket)
        unused = [one for one in self.tickets if all(one != game_ticket(game) for game in self.games)]
        if not unused:
            return
        ticket = self.chance.choice(unused)
        names = ticket.names if self.chance.random() < 0.9 else ticket.names[::-1]
        if self.chance.random() < 0.1:
            names = (names[0], "Strangers")
        number = len(self.games)
        row = GameRow(f"g{number}", number, "", *names, "tap", "rig", f"Table {1 + number % TABLES}")
        self.games.append(Played(row, [started(None if self.chance.random() < 0.1 else ticket)]))

    def _end(self) -> None:
        playing = [game for game in self.games if not game.ended]
        if not playing:
            return
        game = self.chance.choice(playing)
        self._close(game, (self.chance.choice([0, 7, 14, 21]), self.chance.choice([3, 10, 17, 21])))

    def _close(self, game: Played, score: tuple[int, int]) -> None:
        if self.chance.random() < 0.9:
            game.contents += [ScoreSigned("home", "Ann", score, "", ""), ScoreSigned("away", "Bo", score, "", "")]
        game.contents.append(GameEnded("over", score, "both coaches"))
        game.ended = True

    def _reopen(self) -> None:
        over = [game for game in self.games if game.ended]
        if not over:
            return
        game = self.chance.choice(over)
        game.contents.append(GameReopened("a referee", "a wrong spot"))
        game.ended = False
        if self.chance.random() < 0.5:
            before = next(one.score for one in reversed(game.contents) if isinstance(one, GameEnded))
            score = before if self.chance.random() < 0.4 else (before[0] + 7, before[1])
            game.contents.append(GameEnded("over", score, "a referee"))
            game.ended = True

    def _deliver(self) -> None:
        behind = [game for game in self.games if game.delivered < len(game.contents)]
        if not behind:
            return
        game = self.chance.choice(behind)
        game.delivered = self.chance.randint(game.delivered + 1, len(game.contents))
        self._report(game)
        if self.chance.random() < 0.3:  # a batch whose answer was lost comes again, an old one as well
            again = game.report(self.chance.randint(1, game.delivered))
            self.keeper.report([] if again is None else [again])

    def _report(self, game: Played) -> None:
        report = game.report(game.delivered)
        self.keeper.report([] if report is None else [report])

    def _enter(self) -> None:
        ready = [match for match in self.event.matches if None not in Progress(self.event).sides(match)]
        match = self.chance.choice(ready)
        result = Result(self.chance.choice([0, 14, 21]), self.chance.choice([3, 10]))
        self._change("entered", lambda event, by: enter_result(event, match.id, result, by))

    def _remove(self) -> None:
        match: Match = self.chance.choice(self.event.matches)
        self._change("removed", lambda event, by: enter_result(event, match.id, None, by))

    def _withdraw(self) -> None:
        entrant = self.chance.choice(self.event.entrants)
        operation = take_back if entrant.withdrawn else withdraw
        self._change("left", lambda event, by: operation(event, entrant.id, by))

    def _lots(self) -> None:
        order = [entrant.id for entrant in self.event.entrants]
        self.chance.shuffle(order)
        self._change("drew lots", lambda event, by: draw_lots(event, order, by))

    def _undo(self) -> None:
        if len(self.event.undo) > 1:  # not the draw
            self.keeper.undo(DIRECTOR)

    def _choose(self) -> None:
        open_choices = [(one, choice) for one in self.keeper.outcomes.waiting for choice in one.choices]
        if not open_choices:
            return
        waiting, choice = self.chance.choice(open_choices)
        if choice.result is not None:
            result = choice.result
            self._change("chose", lambda event, by: enter_result(event, choice.match, result, by))
        else:
            self._change(
                "assigned", lambda event, by: assign_game(event, waiting.game, choice.match, choice.turned, by)
            )

    def _restart(self) -> None:
        self.keeper = EventKeeper(self.folder / f"event-{self.seed}.json")

    def _kill(self) -> None:
        """Kill the desk in the middle of a change: before its file was replaced, or before anybody was answered."""
        file, delivered = self.folder / f"event-{self.seed}.json", [game.delivered for game in self.games]
        content = file.read_bytes()
        with suppress(RefusedError):
            self.chance.choice([self._deliver, self._deliver, self._enter, self._choose, self._withdraw])()
        if self.chance.random() < 0.5:
            file.write_bytes(content)
            for game, count in zip(self.games, delivered, strict=True):
                game.delivered = count
        self._restart()

    def _pair(self) -> None:
        self._change("paired", pair_round)

    def _change(self, text: str, operation: object) -> None:
        self.keeper.change(DIRECTOR, text, operation)  # type: ignore[arg-type]


def event_faults(event: TournamentEvent, waiting: Sequence[Waiting]) -> list[str]:
    """Return what is wrong with an event: a match decided by another's game, a result that is lost."""
    found: list[str] = []
    result_of = {match.id: match for match in event.matches}
    progress = Progress(event)
    for match in event.matches:
        if match.result is not None and match.dispute:
            found.append(f"{match.id} has a result though it is stopped")
        if match.result is not None and None in progress.sides(match):
            found.append(f"{match.id} is decided before its sides are")
        decided_by = None if match.result is None or not match.result.game else event.games[match.result.game]
        if decided_by is not None:
            meant, played_by = assigned_match(event, decided_by)
            if meant != match.id or set(played_by) != set(progress.sides(match)):
                found.append(f"{match.id} is decided by {decided_by.game}, which was played for {meant}")
    listed, stopped = {one.game for one in waiting}, {one.match for one in waiting if one.kind == "dispute"}
    aside = {one.game for one in event.assignments if not one.match}
    for known in event.games.values():
        if known.state == "in_play" or known.game in listed or known.game in aside:
            continue
        named, played_by = assigned_match(event, known)
        meant_for = result_of.get(named)
        if meant_for is None:
            found.append(f"{known.text} is lost: it is for no match, and not listed")
            continue
        sides = progress.sides(meant_for)
        if set(played_by) != set(sides):
            found.append(f"{known.text} is lost: others play {named}, and it is not listed")
            continue
        result = meant_for.result
        known_then = any(known.key in one.over for one in event.decisions if set(one.sides) == set(sides))
        agrees = result is not None and sorted((result.home, result.away)) == sorted(known.score)
        unsigned = known.state == "ended" and result is not None
        if named not in stopped and not (known_then or agrees or unsigned):
            found.append(f"{known.text} is lost: {named} is {result}")
    return found


def game_ticket(game: Played) -> MatchTicket | None:
    """Return what a game was started for."""
    return next((one.match for one in game.contents if isinstance(one, GameStarted)), None)


def assigned_match(event: TournamentEvent, game: TableGame) -> tuple[str, tuple[str | None, str | None]]:
    """Return the match that a game counts for, by a person or by its ticket, and who played it; empty for none."""
    by_hand = next((one for one in reversed(event.assignments) if one.game == game.game), None)
    if by_hand is not None:
        return by_hand.match, by_hand.sides
    return ("", (None, None)) if game.ticket is None else (game.ticket.match, game.ticket.sides)


def in_another_order(simulated: SimulatedEvent, chance: random.Random) -> TournamentEvent:
    """Return the event with the same entries, which arrived in another order, some of them twice and in parts."""
    known = simulated.event
    event = replace(known, games={}, decisions=(), assignments=())
    reports = [(game, count) for game in simulated.games for count in range(1, game.delivered + 1)]
    kept = [pair for pair in reports if pair[1] == pair[0].delivered or chance.random() < 0.5]
    arrivals: list[object] = [*kept, *known.decisions, *known.assignments]
    chance.shuffle(arrivals)
    decisions = iter(known.decisions)  # the desk made them one after the other
    for arrival in arrivals:
        if isinstance(arrival, tuple):
            played, count = arrival
            report = played.report(count)
            before = event.games.get(played.row.id)
            if report is not None and (before is None or before.seq < report.seq):
                event = replace(event, games={**event.games, report.game: report})
        elif arrival in known.decisions:
            event = replace(event, decisions=(*event.decisions, next(decisions)))
        else:
            event = replace(event, assignments=(*event.assignments, arrival))  # type: ignore[arg-type]
        event = outcomes(event).event
    return event
