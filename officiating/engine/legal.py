"""What may be declared now, by whom and with which limits, found by trying declarations on the pure engine.

A declaration is legal exactly when the engine accepts it: the same handlers decide both, so the two can't disagree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, get_args, get_type_hints

from downfield.core.errors import RefusedError
from downfield.core.records import record
from downfield.officiating import declarations as d
from downfield.officiating.checks.pivots import PivotLimit, pivot_limits
from downfield.officiating.consequences.board import ANY_NUMBER, BOARD_LIMITS
from downfield.officiating.consequences.told_plays import WITHOUT_SPOT
from downfield.officiating.declarations import Declaration, Side
from downfield.officiating.engine.engine_state import EngineState
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event, Tick
from downfield.officiating.sides import SIDES
from downfield.officiating.state.dice import DiceDue
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import RuleSystem
from downfield.officiating.unseen_declarations import CardKind, DuePlay, PlayEnd

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


Build = Callable[[GameState, RuleSystem], Iterator[TriedDeclaration]]


def candidates(game: GameState, system: RuleSystem) -> Iterator[TriedDeclaration]:
    """Yield declarations of every type that a rulebook knows: each word, side and figure that could matter."""
    for kind in system.handlers:
        yield from BUILDERS[kind](game, system)


def _words(kind: type[Any], name: str) -> tuple[Any, ...]:
    return get_args(get_type_hints(kind)[name])


def _one(make: Callable[[GameState], d.Declaration]) -> Build:
    def build(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
        yield TriedDeclaration(make(game))

    return build


def _for_players(make: Callable[[str], d.Declaration]) -> Build:
    def build(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
        for player in game.players:
            yield TriedDeclaration(make(player.id), player=player.id)

    return build


def _set_up(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    yield TriedDeclaration(_as_it_stands(game))
    yield TriedDeclaration(d.SetUp(game.offense, game.direction, game.length_yd / 2))


def _as_it_stands(game: GameState) -> d.SetUp:
    """Return the set-up of a game as it stands now, so that a correction starts from it."""
    due: dict[str, DuePlay] = {"onside": "kickoff", "punt": "scrimmage", "field_goal": "scrimmage"}
    next_play = due.get(game.due) or game.due
    scrimmage = next_play == "scrimmage"
    return d.SetUp(
        game.try_for or game.offense,
        game.direction,
        game.los_yd if scrimmage else None,
        game.down if scrimmage else 1,
        0.0 if game.goal_to_go or not scrimmage else game.distance_yd,
        game.period,
        game.clock.left_at_s(game.now_ns),
        game.score,
        game.hash,
        next_play,  # type: ignore[arg-type]
        game.time_outs,
        opening_kicker=game.opening_kicker,
    )


def _switch(_game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for on in (True, False):
        for by in BY:
            yield TriedDeclaration(d.Switch(on, by), "on" if on else "off", by)


def _pass(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    yield TriedDeclaration(d.PassDeclared())
    yield TriedDeclaration(d.PassDeclared(distance_yd=PASS_YD))
    for player in game.players:
        yield TriedDeclaration(d.PassDeclared(player.id), player=player.id)
        yield TriedDeclaration(d.PassDeclared(player.id, PASS_YD), player=player.id)


def _pivots_done(_game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for by in SIDES:
        yield TriedDeclaration(d.PivotsDone(by), by=by)


def _base_swap(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for player in game.players:
        yield TriedDeclaration(d.BaseSwap(player.id, True), player=player.id)


def _kick(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for kick in _words(d.KickDeclared, "kick"):
        yield TriedDeclaration(d.KickDeclared(kick), kick)
        if kick == "punt":
            for player in game.players:
                yield TriedDeclaration(d.KickDeclared(kick, (player.id,)), kick, player=player.id)


def _choice(_game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for choice in get_args(d.Choice):
        for by in BY:
            yield TriedDeclaration(d.ChoiceMade(choice, by), choice, by)


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


def _claim(_game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for claim in _words(d.Claim, "claim"):
        for by in SIDES:
            yield TriedDeclaration(d.Claim(claim, by), claim, by)


def _clock(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for running in (True, False):
        left_s = None if game.clock.left_s is not None else 60.0
        yield TriedDeclaration(d.ClockSet(running, left_s), "start" if running else "stop")


def _pass_ended(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for end in _words(d.PassEnded, "end"):
        yield TriedDeclaration(d.PassEnded(end), end)
        if end != "incomplete":
            for player in game.players:
                yield TriedDeclaration(d.PassEnded(end, player.id), end, player=player.id)


def _kick_ended(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    x_yd = game.length_yd / 2
    for end in _words(d.KickEnded, "end"):
        yield TriedDeclaration(d.KickEnded(end, x_yd), end)
        if end == "touched":
            for by in SIDES:
                yield TriedDeclaration(d.KickEnded(end, x_yd, by=by), end, by)
            for player in game.players:
                yield TriedDeclaration(d.KickEnded(end, x_yd, player=player.id), end, player=player.id)


def _play_ended(game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    middle = (game.length_yd / 2, game.width_yd / 2)
    for kind in get_args(PlayEnd):
        for by in SIDES:
            yield TriedDeclaration(d.PlayEnded(kind, None if kind in WITHOUT_SPOT else middle, by=by), kind, by)


def _card(_game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for kind in get_args(CardKind):
        yield TriedDeclaration(d.CardPlayed(kind, CARDS[kind]), kind)


def _foul(_game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    for by in SIDES:
        yield TriedDeclaration(d.FoulDeclared(by, 5), by=by)


def _coin(_game: GameState, _system: RuleSystem) -> Iterator[TriedDeclaration]:
    yield TriedDeclaration(d.Coin(True))


BUILDERS: Final[dict[type[Any], Build]] = {
    d.LineUpDeclared: _one(lambda game: d.LineUpDeclared(game.players)),
    d.SetUp: _set_up,
    d.Separated: _one(lambda _: d.Separated()),
    d.OffenseSet: _one(lambda _: d.OffenseSet()),
    d.FrontDeclared: _for_players(lambda player: d.FrontDeclared(player, 0.0)),
    d.IdentitiesDeclared: _one(lambda _: d.IdentitiesDeclared()),
    d.Carrier: _for_players(d.Carrier),
    d.Switch: _switch,
    d.PassDeclared: _pass,
    d.Pitch: _for_players(d.Pitch),
    d.PivotsDone: _pivots_done,
    d.BaseSwap: _base_swap,
    d.KickDeclared: _kick,
    d.ChoiceMade: _choice,
    d.Roll: _roll,
    d.Coin: _coin,
    d.Claim: _claim,
    d.ClockSet: _clock,
    d.BallPlaced: _one(lambda game: d.BallPlaced(game.length_yd / 2, game.width_yd / 2)),
    d.PassEnded: _pass_ended,
    d.KickEnded: _kick_ended,
    d.PlayEnded: _play_ended,
    d.CardPlayed: _card,
    d.ReturnPlayed: _one(lambda _: d.ReturnPlayed("1")),
    d.FoulDeclared: _foul,
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
        example: a declaration that would be accepted now, numbers in it to be replaced by the real ones; None where
            none would.
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
    t_ns = _now_ns(state) + BOARD_LIMITS.coast_ns
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
    """Return why a declaration would be refused, empty when it would not."""
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
