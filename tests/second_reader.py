"""A second reader of the books: series, spots and scores of chains of possession, told from the books' text alone.

It was written from the books by somebody who had not read the engine, and shares no code with it. A chain is what
happens in one down: how it begins, who loses and gains the ball where, and where it is dead. Home has the ball at the
snap and goes toward larger x; spots are field yards along x of the board.

What the books say: the side that has the ball after it changed hands, or after a kick, has a first down where it is
dead (TAP: "the offense takes over", "gets possession", "the defense takes over"; Gunderson 5b "then you will turn the
ball over", 8b "the possession will start at that yardage mark"; Reardon: interceptor, recoverer and returner
become the ball carrier). Reardon calls a safety on any ball carrier tackled behind his own goal line, and on who
recovers a fumble there at once; TAP and the EFL leave that to common football, where whoever was given the ball behind
his line by the other side and never brought it out has a touchback. Brought out, fumbled back and recovered by a man of
his own side, it is a safety. TAP's coin leaves the ball where it was fumbled: heads, it is dead there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from declared_game import DeclaredGame

from downfield.core.scene import Player
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call
from downfield.officiating.declarations import (
    Carrier,
    ChoiceMade,
    Coin,
    KickDeclared,
    KickEnded,
    LineUpDeclared,
    Pitch,
    PlayEnded,
    Roll,
    SetUp,
    Side,
    Switch,
)
from downfield.officiating.events import Ruling
from downfield.officiating.sides import SIDES
from downfield.officiating.unseen_declarations import CardPlayed, ReturnPlayed

Begins = Literal["scrimmage", "lateral", "kickoff", "punt", "block", "try"]
How = Literal["interception", "fumble"]
Teller = Literal["calls", "hand"]
HOWS: Final[tuple[How, ...]] = get_args(How)
TELLERS: Final[tuple[Teller, ...]] = get_args(Teller)
LINE_X: Final = 40.0
"""Where home snaps the ball, third and eight."""
MIDDLE: Final = 20.0
FIELD_YD: Final = 100.0


@dataclass(frozen=True)
class Gain:
    """One change of hands: how, to whom, where the ball was lost and where gained, along x."""

    how: How
    side: Side
    lost_x: float
    x_yd: float


@dataclass(frozen=True)
class Chain:
    """One down.

    Attributes:
        begins: with what.
        landed_x: where a kick came down; None for a snap.
        gains: who got the ball after that, in order.
        dead_x: where it was dead.
    """

    begins: Begins
    landed_x: float | None
    gains: tuple[Gain, ...]
    dead_x: float


@dataclass(frozen=True)
class Reading:
    """What a book makes of a chain: the side that has the ball, down and place; None where that is not decided."""

    score: tuple[int, int]
    side: Side
    due: str
    down: int | None = None
    x_yd: float | None = None


def other(side: Side) -> Side:
    """Return the other side."""
    return "away" if side == "home" else "home"


def own(side: Side, x_yd: float) -> float:
    """Return a place in a side's own yards, 0 at its goal line; and back again."""
    return x_yd if side == "home" else FIELD_YD - x_yd


def points(side: Side, scored: int) -> tuple[int, int]:
    """Return a score of one side alone."""
    return (scored, 0) if side == "home" else (0, scored)


def read(book: str, chain: Chain) -> Reading:
    """Return what a book says of a chain."""
    turned = chain.begins in {"kickoff", "punt", "block"}
    held: Side = "away" if chain.begins in {"punt", "block"} else "home"
    at = LINE_X if chain.landed_x is None else chain.landed_x
    given = turned and own(held, at) <= 0  # by the other side, behind the line, and not brought out yet
    for gain in chain.gains:
        if own(held, at) >= FIELD_YD:
            break
        if chain.begins == "try" and gain.side == "away":
            return Reading((6, 0), "home", "kickoff")  # a try is the scorer's alone
        given = given and own(held, gain.lost_x) <= 0
        if book == "tap" and gain.how == "fumble" and gain.side == held:
            return _dead(book, chain, held, gain.lost_x, turned=turned, given=given)
        if gain.side != held:
            turned, held, given = True, gain.side, own(gain.side, gain.x_yd) <= 0
        at = gain.x_yd
        if book == "lions-den" and gain.how == "fumble" and own(held, at) < 0:
            return Reading(points(other(held), 2), held, "free_kick")
        given = given and own(held, at) <= 0
    return _dead(book, chain, held, max(chain.dead_x, at, key=_past(held)), turned=turned, given=given)


def _past(side: Side) -> Any:
    """Return a key by which a place past the goal line that a side attacks comes before where the ball was dead."""
    return lambda x_yd: own(side, x_yd) >= FIELD_YD


def _dead(book: str, chain: Chain, held: Side, x_yd: float, *, turned: bool, given: bool) -> Reading:
    """Return what follows from a ball dead in a side's hands."""
    trying = chain.begins == "try"
    if own(held, x_yd) >= FIELD_YD:
        return Reading((8, 0), "home", "kickoff") if trying else Reading(points(held, 6), held, "extra_point")
    if trying:
        return Reading((6, 0), "home", "kickoff")
    if own(held, x_yd) < 0 and given and book != "lions-den":
        return Reading((0, 0), held, "scrimmage", 1, own(held, 20.0) if book == "tap" else None)
    if own(held, x_yd) < 0:
        return Reading(points(other(held), 2), held, "free_kick")
    if turned:
        return Reading((0, 0), held, "scrimmage", 1, x_yd)
    return Reading((0, 0), held, "scrimmage", 1 if x_yd >= LINE_X + 8.0 else 4, x_yd)


LOST: Final = (-2.0, 4.0, 55.0)
"""Where a ball is fumbled, in the yards of who had it: behind his goal line, in front of it, in midfield."""
GAINED: Final = (-4.0, 3.0, 60.0, 104.0)
"""Where somebody gains it, in his own yards: in his end zone, before it, in midfield, past the other one."""
DEAD: Final = (-2.0, 12.0, 46.0, 88.0, 101.0)
"""Where it is dead, in its holder's own yards; past the other goal line it is no tackle but a touchdown."""
BEGUN: Final[dict[str, tuple[tuple[Begins, tuple[float | None, ...]], ...]]] = {
    "tap": (
        ("scrimmage", (None,)),
        ("lateral", (None,)),
        ("try", (None,)),
        ("kickoff", (0.0,)),  # after which the returner is put on the goal line
        ("punt", (85.0, 103.0)),
    ),
    "lions-den": (
        ("scrimmage", (None,)),
        ("lateral", (None,)),
        ("kickoff", (-3.0, 15.0)),
        ("punt", (85.0, 103.0)),
        ("block", (62.0, 30.0, -3.0)),
    ),
    "efl": (("scrimmage", (None,)), ("try", (None,)), ("kickoff", (30.0, -3.0))),
}


def chains(book: str, links: int) -> Iterator[Chain]:
    """Yield every chain of a book with so many changes of hands after its beginning."""
    begun = ((begins, landed) for begins, places in BEGUN[book] for landed in places)
    for (begins, landed), hows in itertools.product(begun, itertools.product(HOWS, repeat=links)):
        # A ball is passed once, from scrimmage, by the offense.
        thrown = hows[:1] == ("interception",)
        if "interception" in hows[1:] or (thrown and begins not in {"scrimmage", "try"}):
            continue
        held: Side = "away" if begins in {"punt", "block"} else "home"
        for sides in itertools.product(SIDES, repeat=links):
            if not thrown or sides[0] == "away":
                for gains in _gains(book, hows, sides, held):
                    last = gains[-1].side if gains else held
                    yield from (Chain(begins, landed, gains, own(last, at)) for at in DEAD)


def _gains(book: str, hows: tuple[How, ...], sides: tuple[Side, ...], held: Side) -> Iterator[tuple[Gain, ...]]:
    """Yield the changes of hands of so many kinds, to these sides, in all places."""
    if not hows:
        yield ()
        return
    how, side = hows[0], sides[0]
    for lost_x in (LINE_X,) if how == "interception" else tuple(own(held, at) for at in LOST):
        coin = book == "tap" and how == "fumble"  # the ball stays where it was lost
        for x_yd in (lost_x,) if coin else tuple(own(side, at) for at in GAINED):
            for more in _gains(book, hows[1:], sides[1:], side):
                yield (Gain(how, side, lost_x, x_yd), *more)


TEAM: Final = (
    Player("dark-10", "dark", role="QB"),
    Player("dark-22", "dark", role="RB"),
    Player("light-50", "light", role="LB"),
)
MAN: Final[dict[Side, str]] = {"home": "dark-22", "away": "light-50"}


def play(book: str, chain: Chain, teller: Teller = "calls") -> Reading:
    """Return what the engine makes of a chain that a person calls link by link, or tells by how the play went."""
    game = _begun(book, chain)
    for gain in chain.gains:
        if _is_over(game):
            break
        if gain.how == "fumble":
            _declare_fumble(game, gain, teller)
            continue
        detail = "lost" if gain.side != game.state.play.ball_side else "kept"
        game.declare(_called("interception", gain.side, MAN[gain.side], gain.x_yd, game, detail))
    if not _is_over(game):
        _declare_dead(game, chain.dead_x, teller)
    while game.state.wait is not None and game.state.wait.kind == "roll" and game.state.wait.purpose == "penalty":
        game.declare(Roll((5, 5, 1)))
    return reading_of(game)


def _declare_fumble(game: DeclaredGame, gain: Gain, teller: Teller) -> None:
    """Enter a fumble and who gains it."""
    holder = game.state.play.ball_side
    if teller == "hand":
        game.declare(PlayEnded("fumble", (gain.lost_x, MIDDLE)))
    else:
        game.declare(_called("fumble", holder, game.state.play.carrier, gain.lost_x, game))
    if _is_over(game):
        return
    if teller == "hand" and game.state.wait is not None and game.state.wait.kind == "coin":
        game.declare(Coin(heads=gain.side == holder))
    elif teller == "hand":
        game.declare(PlayEnded("recovered", (gain.x_yd, MIDDLE), by=gain.side))
    else:
        detail = "lost" if gain.side != holder else "kept"
        game.declare(_called("fumble_recovery", gain.side, MAN[gain.side], gain.x_yd, game, detail))


def _declare_dead(game: DeclaredGame, x_yd: float, teller: Teller) -> None:
    """Enter where the ball was dead: a tackle, or past the goal line a touchdown."""
    holder = game.state.play.ball_side
    scored = own(holder, x_yd) >= FIELD_YD
    if teller == "hand":
        game.declare(PlayEnded("touchdown") if scored else PlayEnded("tackle", (x_yd, MIDDLE)))
    elif scored:
        game.declare(_called("touchdown", holder, MAN[holder], x_yd, game))
    else:
        game.declare(_called("tackle", None, None, x_yd, game))


def reading_of(game: DeclaredGame) -> Reading:
    """Return what has become of a game."""
    state = game.state
    side = state.kicking if state.due in {"free_kick", "kickoff"} and state.kicking is not None else state.offense
    scrimmage = state.due == "scrimmage"
    down, x_yd = (state.down, state.los_yd) if scrimmage else (None, None)
    return Reading(state.score, side, state.due, down, x_yd)


def _is_over(game: DeclaredGame) -> bool:
    return game.state.play.snap_ns is None and game.state.play.hold is None


def _called(
    kind: CallKind, side: Side | None, man: str | None, x_yd: float, game: DeclaredGame, detail: str = ""
) -> Ruling:
    players = () if man is None else (man,)
    spot = None if kind in {"touchdown"} else (x_yd, MIDDLE)
    t_ns = game.state.now_ns + 500_000_000
    call = Call("", kind, t_ns, "", (), "called", kind, players, spot, side=side, detail=detail)
    return Ruling("", "manual", call)


def _begun(book: str, chain: Chain) -> DeclaredGame:
    game = DeclaredGame(book)
    game.declare(LineUpDeclared(TEAM, "dark"))
    if book == "lions-den":
        rated = ("kicker", "punter", "quarterback_1", "quarterback_2", "quarterback_3")
        game.declare(*(Roll((4, 5), name, side) for name in rated for side in SIDES))
    if chain.begins == "try":
        game.declare(SetUp("home", 1, due="two_point", score=(6, 0)), Carrier("dark-22"), Switch(True))
        return game
    if chain.begins == "kickoff":
        game.declare(SetUp("home", 1, due="kickoff"))
        return _kicked(game, book, "home", chain.landed_x or 0.0)
    game.declare(SetUp("home", 1, LINE_X, 3, 8.0))
    if chain.begins == "scrimmage":
        game.declare(Carrier("dark-22"), Switch(True))
        return game
    if chain.begins == "lateral":  # pitched back to a man who may not pass any more
        game.declare(Carrier("dark-10"), Switch(True), Switch(False), Pitch("dark-22"))
        if game.state.wait is not None:
            game.declare(Roll((1,)))
        game.declare(Switch(True))
        return game
    return _kicked(game, book, "away", chain.landed_x or 0.0, punt=True)


def _kicked(game: DeclaredGame, book: str, side: Side, x_yd: float, *, punt: bool = False) -> DeclaredGame:
    """Return the game with a kick in its returner's hands, by the call that every camera's game has."""
    spot = (x_yd, MIDDLE)
    t_ns = game.state.now_ns + 500_000_000
    detail = {"tap": "punt", "efl": "live", "lions-den": "returned"}[book]
    if punt and book == "tap":
        game.declare(KickDeclared("punt", ("dark-22",), "light-50"), Switch(True), Switch(False))
        game.declare(KickEnded("touched", x_yd, MIDDLE, by="away"))
        if game.state.wait is not None:
            game.declare(ChoiceMade("return"))
        game.declare(Switch(True))
        return game
    if book == "tap":
        game.declare(KickDeclared("kickoff", returner="dark-22"), Switch(True), Switch(False), ChoiceMade("return"))
        game.declare(Switch(True))
        return game
    if not punt:
        game.declare(KickDeclared("kickoff"))
    else:
        game.declare(Switch(True))
    call = Call("", "kick", t_ns, "", (), "called", "kick", (MAN[side],), spot, side=side, detail=detail)
    game.declare(Ruling("", "manual", call))
    return game


@dataclass(frozen=True)
class CardChain:
    """One down of NFL Strategy: a play's card, a return and who recovers a fumble."""

    card: str
    shown: str
    back: str = ""
    recovered_by_offense: bool | None = None


def card_chains() -> Iterator[CardChain]:
    """Yield plays of every kind: kicks and punts with their returns, blocks, interceptions, fumbles."""
    for shown in ("40", "62", "68"):
        for back in ("12", "-14", "2F", "-14F", "99"):
            yield from _with_recoveries(CardChain("kickoff", shown, back))
    for shown in ("35", "50", "63"):
        for back in ("12", "-14", "-2F", "-14F", "99", "30F"):
            yield from _with_recoveries(CardChain("punt", shown, back))
    for back in ("5", "35"):
        yield CardChain("punt", "blocked", back)
    for yards in ("9i", "-12i", "61i", "65i", "72i", "-40i"):
        yield CardChain("pass", yards)
    for yards in ("3F", "9F", "-5F", "60F", "-40F"):
        yield from _with_recoveries(CardChain("run", yards))


def _with_recoveries(chain: CardChain) -> Iterator[CardChain]:
    if "F" not in chain.shown + chain.back:
        yield chain
        return
    for kept in (True, False):
        yield CardChain(chain.card, chain.shown, chain.back, kept)


def read_card(chain: CardChain) -> Reading:
    """Return what NFL Strategy says of a play from home's 40, third and eight, or of away's kickoff to home."""
    yards = "".join(c for c in chain.shown if c in "-0123456789")
    number = float(yards) if yards else 0.0
    if chain.card in {"kickoff", "punt"}:
        return _read_return(chain, number)
    end = LINE_X + number
    if chain.shown.endswith("i"):
        if end >= FIELD_YD + 10.0:
            return Reading((0, 0), "home", "scrimmage", 4, LINE_X)
        if end >= FIELD_YD:
            return Reading((0, 0), "away", "scrimmage", 1)
        if end <= 0:
            return Reading((0, 6), "away", "extra_point")
        return Reading((0, 0), "away", "scrimmage", 1, end)
    if end >= FIELD_YD:
        return Reading((6, 0), "home", "extra_point")
    if end <= 0:
        kept = chain.recovered_by_offense
        return Reading((0, 2), "home", "free_kick") if kept else Reading((0, 6), "away", "extra_point")
    if chain.recovered_by_offense:
        return Reading((0, 0), "home", "scrimmage", 1 if number >= 8 else 4, end)
    return Reading((0, 0), "away", "scrimmage", 1, end)


def _read_return(chain: CardChain, length: float) -> Reading:
    by: Side = "home" if chain.card == "kickoff" else "away"
    from_own = FIELD_YD - 35.0 if chain.card == "kickoff" else FIELD_YD - LINE_X
    start = from_own - length
    if chain.shown == "blocked":
        start = FIELD_YD - (LINE_X - 10.0)
    elif start <= -10.0:
        return Reading((0, 0), by, "scrimmage", 1)
    end = start + float(chain.back.rstrip("F"))
    if end >= FIELD_YD:
        return Reading(points(by, 6), by, "extra_point")
    kept = chain.recovered_by_offense in {None, True}
    if end <= 0:
        if not kept:
            return Reading(points(other(by), 6), other(by), "extra_point")
        if start > 0:
            return Reading(points(other(by), 2), by, "free_kick")
        return Reading((0, 0), by, "scrimmage", 1)
    return Reading((0, 0), by if kept else other(by), "scrimmage", 1, own(by, end))


def play_card(chain: CardChain) -> Reading:
    """Return what the engine makes of it."""
    game = DeclaredGame("nfl-strategy")
    if chain.card == "kickoff":
        game.declare(SetUp("home", 1, due="kickoff"))
    else:
        game.declare(SetUp("home", 1, LINE_X, 3, 8.0))
    card: Any = CardPlayed(chain.card, shown=chain.shown, dot="red", roll=60)  # type: ignore[arg-type]
    game.declare(card)
    if chain.back:
        game.declare(ReturnPlayed(chain.back))
    if chain.recovered_by_offense is not None and game.state.wait is not None and game.state.wait.purpose == "fumble":
        game.declare(Roll((90,) if chain.recovered_by_offense else (10,)))
    while game.state.wait is not None and game.state.wait.purpose in {"interception_return", "fumble_return"}:
        game.declare(Roll((100,)))
    return reading_of(game)


def differences(
    book: str, links: int, teller: Teller = "calls", every: int = 1
) -> list[tuple[Chain, Reading, Reading]]:
    """Return the chains of a book, with so many changes of hands, of which engine and reader do not say the same.

    Of all chains every so-manieth is read. By hand a try is told as a whole: good or not.
    """
    read_by_both = (
        (chain, read(book, chain), play(book, chain, teller))
        for chain in itertools.islice(chains(book, links), 0, None, every)
        if teller == "calls" or chain.begins != "try"
    )
    return [(chain, told, made) for chain, told, made in read_by_both if not agrees(told, made)]


def card_differences() -> list[tuple[CardChain, Reading, Reading]]:
    """Return the card plays of which engine and reader do not say the same."""
    read_by_both = ((chain, read_card(chain), play_card(chain)) for chain in card_chains())
    return [(chain, told, made) for chain, told, made in read_by_both if not agrees(told, made)]


def agrees(told: Reading, made: Reading) -> bool:
    """Return whether the engine agrees with the reader, where he says something."""
    if (told.score, told.side, told.due) != (made.score, made.side, made.due):
        return False
    if told.down is not None and told.down != made.down:
        return False
    return told.x_yd is None or (made.x_yd is not None and abs(told.x_yd - made.x_yd) < 0.02)
