"""Declarations to try in a state, so that what is legal and what is refused are decided by the same code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, get_args, get_type_hints

from downfield.officiating import declarations as d
from downfield.officiating.card_declarations import CardKind
from downfield.officiating.consequences.told_plays import WITHOUT_SPOT
from downfield.officiating.ended_declarations import PlayEnd
from downfield.officiating.set_up_declaration import DuePlay
from downfield.officiating.sides import SIDES
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import RuleSystem

BY: Final[tuple[d.Side | None, ...]] = (None, *SIDES)
PASS_YD: Final = 10.0
"""Length of the pass that is tried where a person measures it."""

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
    """A declaration to try.

    Attributes:
        body: the declaration, with numbers that stand for any.
        word: what it declares within its type, such as ``"punt"`` for a kick; empty where there is but one.
        by: the side whose coach makes it; None where that is left open.
        player: roster id of the figure it names.
    """

    body: d.Declaration
    word: str = ""
    by: d.Side | None = None
    player: str | None = None


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
