"""What may be declared now, by whom and with which limits, found by trying declarations on the pure engine.

A declaration is legal exactly when the engine accepts it: the same handlers decide both, so the two can't disagree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, get_args, get_type_hints

from downfield.core.errors import RefusedError
from downfield.core.records import record
from downfield.officiating import declarations as d
from downfield.officiating.checks.pivots import PivotLimit, pivot_limits
from downfield.officiating.consequences.board import ANY_NUMBER
from downfield.officiating.consequences.set_ups import as_it_stands
from downfield.officiating.consequences.told_plays import WITHOUT_SPOT
from downfield.officiating.declarations import Declaration, Side
from downfield.officiating.engine.engine_state import EngineState
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event, Tick
from downfield.officiating.sides import SIDES
from downfield.officiating.state.dice import DiceDue
from downfield.officiating.state.facts import FACT_LIMITS
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import RuleSystem
from downfield.officiating.unseen_declarations import CardKind, PlayEnd

BY: Final[tuple[d.Side | None, ...]] = (None, *SIDES)
PASS_YD: Final = 10.0  # length of the pass that is tried where a person measures it

CARDS: Final[dict[str, str]] = {
    **dict.fromkeys(("kneel", "spike"), ""),
    **dict.fromkeys(("field_goal", "fair_catch_kick", "extra_point"), "good"),
    **dict.fromkeys(("run", "pass", "two_point"), "1"),
    **dict.fromkeys(("punt", "touch_punt"), "20"),
    **dict.fromkeys(("kickoff", "onside"), "20"),
}
"""What a card may show, by the kind of play."""


@dataclass(frozen=True, slots=True)
class TriedDeclaration:
    """A declaration to try."""

    body: d.Declaration  # the declaration, with numbers that stand for any
    word: str = ""  # what it declares within its type, such as `"punt"` for a kick; empty where there is but one
    by: d.Side | None = None  # the side whose coach makes it; None where that is left open
    player: str | None = None  # roster id of the figure it names


Build = Callable[[GameState, RuleSystem], Iterable[TriedDeclaration]]


def candidates(game: GameState, system: RuleSystem) -> Iterator[TriedDeclaration]:
    """Yield declarations of every type that a rulebook knows: each word, side and figure that could matter."""
    for kind in system.handlers:
        yield from BUILDERS[kind](game, system)


def _words(kind: type[Any], name: str) -> tuple[Any, ...]:
    return get_args(get_type_hints(kind)[name])


def _pass(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for player in (None, *_ids(game)):
        yield TriedDeclaration(d.PassDeclared(player), player=player)
        yield TriedDeclaration(d.PassDeclared(player, PASS_YD), player=player)


def _kick(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for kick in _words(d.KickDeclared, "kick"):
        yield TriedDeclaration(d.KickDeclared(kick), kick)
        for player in _ids(game) if kick == "punt" else ():
            yield TriedDeclaration(d.KickDeclared(kick, (player,)), kick, player=player)


def _roll(game: GameState, system: RuleSystem) -> Iterator[TriedDeclaration]:
    wait = game.wait
    if wait is not None and wait.kind == "roll":
        rule = system.dice.get(wait.purpose)
        count = 1 if rule is None else rule.due(game, wait.purpose, wait.by).count
        for by in BY:
            yield TriedDeclaration(d.Roll((1,) * count, wait.purpose, by), wait.purpose, by)
    else:
        yield TriedDeclaration(d.Roll((1, 1)))
    for purpose in system.dice_anytime:
        for by in BY:
            count = system.dice[purpose].due(game, purpose, by).count
            yield TriedDeclaration(d.Roll((1,) * count, purpose, by), purpose, by)


def _pass_ended(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for end in _words(d.PassEnded, "end"):
        for player in (None,) if end == "incomplete" else (None, *_ids(game)):
            yield TriedDeclaration(d.PassEnded(end, player), end, player=player)


def _kick_ended(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    x_yd = game.length_yd / 2
    for end in _words(d.KickEnded, "end"):
        yield TriedDeclaration(d.KickEnded(end, x_yd), end)
        if end == "touched":
            for by in SIDES:
                yield TriedDeclaration(d.KickEnded(end, x_yd, by=by), end, by)
            for player in _ids(game):
                yield TriedDeclaration(d.KickEnded(end, x_yd, player=player), end, player=player)


def _play_ended(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    middle = (game.length_yd / 2, game.width_yd / 2)
    for kind in get_args(PlayEnd):
        for by in SIDES:
            yield TriedDeclaration(d.PlayEnded(kind, None if kind in WITHOUT_SPOT else middle, by=by), kind, by)


def _ids(game: GameState) -> list[str]:
    return [player.id for player in game.players]


def _of(*bodies: d.Declaration) -> list[TriedDeclaration]:
    return [TriedDeclaration(body) for body in bodies]


def _for_players(game: GameState, make: Callable[[str], d.Declaration]) -> list[TriedDeclaration]:
    return [TriedDeclaration(make(player), player=player) for player in _ids(game)]


BUILDERS: Final[dict[type[Any], Build]] = {
    d.LineUpDeclared: lambda game, _: _of(d.LineUpDeclared(game.players)),
    d.SetUp: lambda game, _: _of(as_it_stands(game), d.SetUp(game.offense, game.direction, game.length_yd / 2)),
    d.Separated: lambda *_: _of(d.Separated()),
    d.OffenseSet: lambda *_: _of(d.OffenseSet()),
    d.FrontDeclared: lambda game, _: _for_players(game, lambda player: d.FrontDeclared(player, 0.0)),
    d.IdentitiesDeclared: lambda *_: _of(d.IdentitiesDeclared()),
    d.Carrier: lambda game, _: _for_players(game, d.Carrier),
    d.Switch: lambda *_: [
        TriedDeclaration(d.Switch(on, by), "on" if on else "off", by) for on in (True, False) for by in BY
    ],
    d.PassDeclared: _pass,
    d.Pitch: lambda game, _: _for_players(game, d.Pitch),
    d.PivotsDone: lambda *_: [TriedDeclaration(d.PivotsDone(by), by=by) for by in SIDES],
    d.BaseSwap: lambda game, _: _for_players(game, lambda player: d.BaseSwap(player, True)),
    d.KickDeclared: _kick,
    d.ChoiceMade: lambda *_: [
        TriedDeclaration(d.ChoiceMade(choice, by), choice, by) for choice in get_args(d.Choice) for by in BY
    ],
    d.Roll: _roll,
    d.Coin: lambda *_: _of(d.Coin(True)),
    d.Claim: lambda *_: [
        TriedDeclaration(d.Claim(claim, by), claim, by) for claim in _words(d.Claim, "claim") for by in SIDES
    ],
    d.ClockSet: lambda game, _: [
        TriedDeclaration(d.ClockSet(word == "start", None if game.clock.left_s is not None else 60.0), word)
        for word in ("start", "stop")
    ],
    d.BallPlaced: lambda game, _: _of(d.BallPlaced(game.length_yd / 2, game.width_yd / 2)),
    d.PassEnded: _pass_ended,
    d.KickEnded: _kick_ended,
    d.PlayEnded: _play_ended,
    d.CardPlayed: lambda *_: [TriedDeclaration(d.CardPlayed(kind, CARDS[kind]), kind) for kind in get_args(CardKind)],
    d.ReturnPlayed: lambda *_: _of(d.ReturnPlayed("1")),
    d.FoulDeclared: lambda *_: [TriedDeclaration(d.FoulDeclared(by, 5), by=by) for by in SIDES],
}
"""What is tried of each type of declaration."""


@record
class LegalDeclaration:
    """One thing that can be declared, and whether it may be declared now.

    Attributes:
        type: the declaration's type.
        word: what it declares within its type, such as ``"punt"`` for a kick; empty where there is but one.
        allowed: whether it may be declared now.
        reason: why not; empty when it may.
        by: the sides whose coaches may; empty where the declaration names no side.
        players: roster ids of the figures that may be named; empty where it names none.
        example: a declaration that would be accepted now, numbers in it stand for the real ones; None for none.
    """

    type: str
    word: str
    allowed: bool
    reason: str = ""
    by: tuple[Side, ...] = ()
    players: tuple[str, ...] = ()
    example: Declaration | None = None


@record
class LegalDeclarations:
    """What may be declared now.

    Attributes:
        declarations: everything that the rulebook knows, allowed now or not.
        dice: the dice that are due, None when none are.
        pivots: how many figures each coach may pivot, the offense's first; empty unless the board is stopped.
        stoppages_left: stoppages that the offense has left in this play; None for any number.
    """

    declarations: tuple[LegalDeclaration, ...]
    dice: DiceDue | None = None
    pivots: tuple[PivotLimit, ...] = ()
    stoppages_left: int | None = None

    def find(self, type_: str, word: str = "") -> LegalDeclaration | None:
        """Return one thing that can be declared, None where the rulebook does not know it."""
        return next((entry for entry in self.declarations if (entry.type, entry.word) == (type_, word)), None)


def legal(engine: RulesEngine, state: EngineState) -> LegalDeclarations:
    """Return what may be declared in a state. Pure: the state stays as it is."""
    system = engine.rulebook.system
    t_ns = _now_ns(state) + FACT_LIMITS.coast_ns
    game = engine.step(state, Event("rest", t_ns, "clock", Tick()))[0].game  # a declared switch takes effect at rest
    # A step for each; a list of what is legal in which state would be a second set of rules, and differ some day.
    groups: dict[tuple[str, str], list[tuple[TriedDeclaration, str]]] = {}
    for candidate in candidates(game, system):
        key = (candidate.body.type, candidate.word)
        groups.setdefault(key, []).append((candidate, _refusal(engine, state, candidate.body)))
    wait = game.wait
    rule = system.dice.get(wait.purpose) if wait is not None and wait.kind == "roll" else None
    return LegalDeclarations(
        tuple(_summary(type_, word, tried) for (type_, word), tried in groups.items()),
        None if rule is None or wait is None else rule.due(game, wait.purpose, wait.by),
        pivot_limits(game, engine.rulebook.params),
        _stoppages_left(game, engine),
    )


def _refusal(engine: RulesEngine, state: EngineState, body: Declaration) -> str:
    try:
        engine.step(state, Event("legal", _now_ns(state), "operator", body))
    except RefusedError as error:
        return str(error)
    return ""


def _now_ns(state: EngineState) -> int:
    return max(state.game.now_ns, state.event_ns or 0)


def _summary(type_: str, word: str, tried: list[tuple[TriedDeclaration, str]]) -> LegalDeclaration:
    accepted = [candidate for candidate, refusal in tried if not refusal]
    if not accepted:
        reasons = Counter(refusal for _, refusal in tried)  # some are about one side or figure only
        return LegalDeclaration(type_, word, False, reasons.most_common(1)[0][0])
    return LegalDeclaration(
        type_,
        word,
        True,
        by=tuple(dict.fromkeys(candidate.by for candidate in accepted if candidate.by is not None)),
        players=tuple(dict.fromkeys(candidate.player for candidate in accepted if candidate.player is not None)),
        example=accepted[0].body,
    )


def _stoppages_left(game: GameState, engine: RulesEngine) -> int | None:
    params = engine.rulebook.params
    if "stoppage.allowed" not in params.definitions or params.count("stoppage.allowed") == ANY_NUMBER:
        return None
    if game.play.line_reached_ns is not None and not params.flag("stoppage.after_line"):
        return 0
    return max(0, params.count("stoppage.allowed") - game.play.stoppages_used)
