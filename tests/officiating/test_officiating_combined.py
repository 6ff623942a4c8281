"""Things that come together: a foul and a score, the end of a half and points, a ruling after a try, dice, overtime."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from declared_game import DeclaredGame

from downfield.officiating import declarations as d
from downfield.officiating.calls import Call
from downfield.officiating.events import Ruling, Tick
from downfield.officiating.rulebooks.rulebook import parse_rulebook

MIDDLE = 26.0
SKILLED = ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter")
NO_ROLLS = ("[penalty]", "rolled = false")
DICE = ("[tackle]", "fumble_sums = [2, 12]")
SERIES = ("[overtime]", "series_from_yd = 25")
KICKED = ("[kickoff]", "kicked = true", "[punt]", "kicked = true")
Step = Any
"""A declaration, or a function that does something with a table."""


def at(x_yd: float, down: int = 2, distance: float = 8.0, **more: Any) -> d.SetUp:
    """Home's ball toward larger x."""
    return d.SetUp("home", 1, x_yd, down, distance, **more)


def end(kind: Any, x_yd: float | None = None, by: Any = None) -> d.PlayEnded:
    """A play told by its end, in the middle of the field."""
    return d.PlayEnded(kind, None if x_yd is None else (x_yd, MIDDLE), by=by)


def claims(claim: Any, by: Any) -> Callable[[DeclaredGame], None]:
    """A foul that a coach claims and a person confirms."""

    def act(table: DeclaredGame) -> None:
        (penalty,) = [call for call in table.declare(d.Claim(claim, by)) if call.kind == "penalty"]
        table.declare(Ruling(penalty.id, "confirm"))

    return act


def rules(of: str, decision: Any, place: int = -1, **instead: Any) -> Callable[[DeclaredGame], None]:
    """A ruling about a call of a kind, with what is different in the call that replaces it."""

    def act(table: DeclaredGame) -> None:
        call: Call = [call for call in table.game.calls if call.kind == of][place]
        table.declare(Ruling(call.id, decision, replace(call, **instead) if instead else None))

    return act


def rolled(number: int, guilty: int) -> d.Roll:
    """Lion's Den's dice after a down."""
    return d.Roll((*divmod(number, 10), guilty), "penalty")


def played(book: str, lines: tuple[str, ...], steps: tuple[Step, ...]) -> DeclaredGame:
    """A game under a book with some parameters of a league, after some steps."""
    table = DeclaredGame(parse_rulebook("\n".join([f'base = "{book}"', *lines]), "league"))
    if book == "lions-den":
        table.declare(*(d.Roll((4, 5), skill, side) for skill in SKILLED for side in ("home", "away")))
    for step in steps:
        if callable(step):
            step(table)
        else:
            table.declare(step)
    return table


def found(table: DeclaredGame, names: tuple[str, ...]) -> dict[str, Any]:
    """What a game has of some names."""
    state = table.state
    all_of_it = {
        "score": state.score,
        "ball": state.offense,
        "due": state.due,
        "line": round(state.los_yd, 2),
        "down": state.down,
        "to_go": round(state.distance_yd, 2),
        "period": state.period,
        "phase": str(state.phase),
        "waits": state.wait.purpose if state.wait else None,
        "winner": state.winner,
        "kicks": state.kicking,
    }
    return {name: all_of_it[name] for name in names}


PASS = (d.Switch(True), d.Switch(False), d.PassDeclared())
OPI, DPI = "offensive_pass_interference", "defensive_pass_interference"
TIME_UP = d.ClockSet(False, 0.0)
LATE = d.ClockSet(True, 0.5)
EFL_TIE = (at(40.0, period=4, score=(7, 7)), TIME_UP, d.KickDeclared("kickoff"), d.Roll((1, 4)))
EFL_FIELD_GOAL = (end("tackle", 80.0), d.KickDeclared("field_goal"), d.Roll((6, 1)))
EFL_ANSWER = (d.KickDeclared("kickoff"), d.Roll((1, 4)))
TIE = (at(40.0, score=(7, 7), opening_kicker="home"), TIME_UP)
YARDS = (at(40.0, score=(7, 7)), TIME_UP, d.ChoiceMade("offense_first", "home"))
KICKOFF = (d.SetUp("home", 1, due="kickoff"), d.KickDeclared("kickoff"))
RUN = (d.Switch(True), d.Switch(False), d.ChoiceMade("return"), d.Switch(True))
CARD = d.CardPlayed


def foul(by: Any, yards: int, choice: Any, *, card: str, kind: Any = "run") -> tuple[Step, ...]:
    """A card with a penalty, and what the other side chooses."""
    name = f"{'O' if by == 'home' else 'D'}{yards}"
    return (CARD(kind, card, roll=11, reroll=60), d.FoulDeclared(by, yards, name), d.ChoiceMade(choice))


CASES: dict[str, tuple[str, tuple[str, ...], tuple[Step, ...], dict[str, Any]]] = {
    # fouls and scores
    "interference wipes out the touchdown it led to": (
        "tap",
        (),
        (at(80.0), *PASS, d.PassEnded("complete", spot_yd=(95.0, MIDDLE)), end("touchdown"), claims(OPI, "away")),
        {"score": (0, 0), "ball": "home", "line": 65.0, "down": 3, "due": "scrimmage", "waits": None},
    ),
    "interference takes back an interception returned for a touchdown": (
        "tap",
        (),
        (
            at(50.0, 3),
            *PASS,
            d.PassEnded("intercepted", spot_yd=(60.0, MIDDLE)),
            end("touchdown", by="away"),
            claims(DPI, "home"),
        ),
        {"score": (0, 0), "ball": "home", "line": 50.0, "down": 1},
    ),
    "interference on fourth down gives the ball away 15 yards back": (
        "tap",
        (),
        (at(50.0, 4), *PASS, d.PassEnded("incomplete"), claims(OPI, "away")),
        {"ball": "away", "line": 35.0, "down": 1},
    ),
    "a punt returned for a touchdown past a gunner who was fouled": (
        "tap",
        (),
        (
            at(40.0, 4),
            d.KickDeclared("punt"),
            *PASS[:2],
            d.KickEnded("touched", 80.0, by="away"),
            end("touchdown", by="away"),
            claims("gunner_interference", "home"),
        ),
        {"score": (0, 0), "ball": "home", "line": 50.0, "down": 1},
    ),
    "interference on a good try fails it": (
        "tap",
        (),
        (
            at(90.0),
            end("touchdown"),
            d.ChoiceMade("two_point"),
            *PASS,
            d.PassEnded("complete", spot_yd=(98.0, MIDDLE)),
            end("touchdown"),
            claims(OPI, "away"),
        ),
        {"score": (6, 0), "due": "kickoff", "kicks": "home"},
    ),
    "interference on a failed try has it tried again": (
        "tap",
        (),
        (at(90.0), end("touchdown"), d.ChoiceMade("two_point"), *PASS, d.PassEnded("incomplete"), claims(DPI, "home")),
        {"score": (6, 0), "due": "two_point", "ball": "home"},
    ),
    "interference in the last play of a game is walked off in it": (
        "tap",
        (),
        (at(50.0, 4, score=(0, 3)), LATE, *PASS, d.PassEnded("incomplete"), claims(DPI, "home")),
        {"ball": "home", "line": 50.0, "down": 1, "winner": None},
    ),
    "holding by the scorers is accepted": (
        "lions-den",
        (),
        (at(40.0), end("touchdown"), rolled(7, 8), d.ChoiceMade("accept")),
        {"score": (0, 0), "ball": "home", "line": 30.0, "down": 2, "due": "scrimmage"},
    ),
    "holding by the scorers is declined by nobody's mistake": (
        "lions-den",
        (),
        (at(40.0), end("touchdown"), rolled(7, 8), d.ChoiceMade("decline")),
        {"score": (6, 0), "waits": "extra_point"},
    ),
    "holding on fourth down repeats it": (
        "lions-den",
        (),
        (at(40.0, 4), end("tackle", 41.0), rolled(7, 2), d.ChoiceMade("accept")),
        {"ball": "home", "line": 45.0, "down": 4, "to_go": 3.0},
    ),
    "holding on fourth down reaches the line": (
        "lions-den",
        (),
        (at(40.0, 4, 3.0), end("tackle", 41.0), rolled(7, 2), d.ChoiceMade("accept")),
        {"ball": "home", "line": 45.0, "down": 1},
    ),
    "15 yards on a touchdown are walked off on the kickoff": (
        "nfl-strategy",
        (),
        (at(40.0), *foul("away", 15, "accept", card="70"), CARD("extra_point", "good", roll=60)),
        {"score": (7, 0), "due": "kickoff", "line": 50.0},
    ),
    "15 yards on a field goal too": (
        "nfl-strategy",
        (),
        (at(80.0, 4), *foul("away", 15, "accept", card="good", kind="field_goal")),
        {"score": (3, 0), "due": "kickoff", "line": 50.0},
    ),
    "10 yards of the scorers take a touchdown back": (
        "nfl-strategy",
        (),
        (at(40.0), *foul("home", 10, "accept", card="70")),
        {"score": (0, 0), "line": 30.0, "down": 2},
    ),
    "15 yards take an interception back": (
        "nfl-strategy",
        (),
        (at(40.0), *foul("away", 15, "accept", card="-45i", kind="pass")),
        {"score": (0, 0), "ball": "home", "line": 55.0, "down": 1},
    ),
    "half the distance on a whole yard": (
        "nfl-strategy",
        (),
        (at(9.0), *foul("home", 10, "accept", card="0")),
        {"line": 5.0, "down": 2},
    ),
    # ends of halves
    "a safety as the half ends has no free kick": (
        "tap",
        ("[clock]", "periods = 2"),
        (*KICKOFF, *RUN, end("tackle", 30.0), LATE, end("safety"), Tick()),
        {"period": 2, "due": "kickoff", "kicks": "home", "score": (0, 2)},
    ),
    "a touchdown as the half ends has its try": (
        "tap",
        ("[clock]", "periods = 2"),
        (
            *KICKOFF,
            *RUN,
            end("tackle", 30.0),
            LATE,
            end("touchdown"),
            d.ChoiceMade("extra_point"),
            d.Roll((4, 4)),
            Tick(),
        ),
        {"period": 2, "due": "kickoff", "kicks": "home", "score": (7, 0)},
    ),
    "a try that is missed loses the game": (
        "tap",
        (),
        (at(40.0, score=(0, 7)), LATE, end("touchdown"), d.ChoiceMade("extra_point"), d.Roll((1, 1))),
        {"score": (6, 7), "phase": "over", "winner": "away"},
    ),
    "a try that is good makes overtime": (
        "tap",
        (),
        (at(40.0, score=(0, 7)), LATE, end("touchdown"), d.ChoiceMade("extra_point"), d.Roll((4, 4))),
        {"score": (7, 7), "waits": "overtime"},
    ),
    "a last touchdown ties, and the visitors kick to the home team": (
        "efl",
        (),
        (at(40.0, period=4, clock_s=1.5, score=(0, 7)), d.ClockSet(True), end("touchdown"), Tick(), d.Roll((2, 1))),
        {"score": (7, 7), "period": 5, "due": "kickoff", "kicks": "away", "ball": "home"},
    ),
    "a kickoff that is due outlasts a quarter": (
        "efl",
        (),
        (at(90.0, 4, 3.0), d.KickDeclared("field_goal"), d.Roll((6, 1)), TIME_UP),
        {"period": 2, "due": "kickoff", "kicks": "home", "score": (3, 0)},
    ),
    "a down goes on in the next quarter": (
        "efl",
        (),
        (at(40.0), end("tackle", 43.0), TIME_UP),
        {"period": 2, "down": 3, "ball": "home", "due": "scrimmage"},
    ),
    "the rolls after a down come before the half ends": (
        "lions-den",
        (),
        (at(40.0, opening_kicker="away"), d.ClockSet(True, 1.0), end("tackle", 45.0), rolled(50, 3), Tick()),
        {"period": 2, "due": "kickoff", "kicks": "home"},
    ),
    "an extra point follows the half's last play": (
        "nfl-strategy",
        (),
        (
            at(40.0, period=2, clock_s=10.0, opening_kicker="away"),
            CARD("run", "70", roll=60),
            CARD("extra_point", "good", roll=60),
        ),
        {"period": 3, "score": (7, 0), "due": "kickoff", "kicks": "home"},
    ),
    "a defense scores on a blocked try": (
        "nfl-strategy",
        (),
        (at(40.0), CARD("run", "70", roll=60), CARD("extra_point", "blocked", roll=60), d.ReturnPlayed("99")),
        {"score": (6, 2)},
    ),
    # overtimes
    "more yards win": ("tap", (), (*YARDS, end("tackle", 56.5), end("tackle", 43.6)), {"winner": "home"}),
    "fewer lost yards win nothing": (
        "tap",
        (),
        (*YARDS, end("tackle", 48.0), end("tackle", 52.0)),
        {"winner": None, "ball": "home"},
    ),
    "a fumble lost is no gain": (
        "tap",
        (),
        (*YARDS, end("fumble", 60.0), d.Coin(False), end("stopped", 70.0, "away"), end("tackle", 49.0)),
        {"winner": "away"},
    ),
    "a fumble kept is one": (
        "tap",
        (),
        (*YARDS, end("fumble", 60.0), d.Coin(True), end("tackle", 41.0)),
        {"winner": "home"},
    ),
    "a fumble by dice is no gain either": (
        "tap",
        DICE,
        (
            *YARDS,
            end("tackle", 56.0),
            d.Roll((1, 1)),
            d.Coin(False),
            end("stopped", 60.0, "away"),
            end("tackle", 49.0),
            d.Roll((3, 3)),
        ),
        {"winner": "away"},
    ),
    "a safety on the first possession ends it": (
        "efl",
        (),
        (*EFL_TIE, end("safety")),
        {"winner": "away", "score": (7, 9)},
    ),
    "a touchdown answers a field goal": (
        "efl",
        (),
        (*EFL_TIE, *EFL_FIELD_GOAL, *EFL_ANSWER, end("touchdown")),
        {"winner": "away"},
    ),
    "a field goal ties a field goal": (
        "efl",
        (),
        (*EFL_TIE, *EFL_FIELD_GOAL, *EFL_ANSWER, end("tackle", 20.0), *EFL_FIELD_GOAL[1:]),
        {"score": (10, 10), "due": "kickoff", "winner": None},
    ),
    "downs lost after a field goal lose": (
        "efl",
        (),
        (*EFL_TIE, *EFL_FIELD_GOAL, *EFL_ANSWER, *[end("incomplete")] * 4),
        {"winner": "home", "phase": "over"},
    ),
    "after an interception the first score wins": (
        "efl",
        (),
        (*EFL_TIE, end("stopped", 20.0, "away"), *EFL_FIELD_GOAL[1:]),
        {"winner": "away", "score": (7, 10)},
    ),
    "series: field goals on both sides make another round": (
        "tap",
        SERIES,
        (*TIE, *[d.KickDeclared("field_goal"), d.Roll((1, 1))] * 2),
        {"score": (10, 10), "ball": "away", "line": 25.0},
    ),
    "series: a punt gives nothing but the other's series": (
        "tap",
        SERIES,
        (*TIE, d.KickDeclared("punt"), d.KickEnded("touched", 95.0, by="away"), end("stopped", 93.0)),
        {"ball": "away", "line": 25.0, "score": (7, 7)},
    ),
    "series: a fumble returned for a touchdown ends the game": (
        "tap",
        SERIES,
        (*TIE, end("fumble", 80.0), d.Coin(False), end("touchdown", by="away")),
        {"winner": "away", "score": (7, 13)},
    ),
    "series: a first down in one": (
        "tap",
        SERIES,
        (*TIE, end("tackle", 86.0)),
        {"ball": "home", "line": 86.0, "down": 1, "period": 2},
    ),
    # dice after a tackle, real kicks
    "dice: the fumble on fourth down is kept short": (
        "tap",
        DICE,
        (at(40.0, 4), end("tackle", 45.0), d.Roll((1, 1)), d.Coin(True)),
        {"ball": "away", "line": 45.0, "down": 1},
    ),
    "dice: the fumble is returned for a touchdown": (
        "tap",
        DICE,
        (at(40.0), end("tackle", 45.0), d.Roll((1, 1)), d.Coin(False), end("touchdown", by="away")),
        {"score": (0, 6), "waits": "try"},
    ),
    "dice: no fumble behind the goal line is a safety": (
        "tap",
        DICE,
        (at(5.0), end("tackle", -1.0), d.Roll((3, 3))),
        {"score": (0, 2), "due": "free_kick"},
    ),
    "dice: a tackle on a try needs none": (
        "tap",
        DICE,
        (at(90.0), end("touchdown"), d.ChoiceMade("two_point"), end("tackle", 97.0)),
        {"score": (6, 0), "due": "kickoff"},
    ),
    "dice: the last play of a game": (
        "tap",
        DICE,
        (at(40.0, score=(0, 3)), LATE, end("tackle", 45.0), d.Roll((3, 3)), Tick()),
        {"phase": "over", "winner": "away"},
    ),
    "dice: two tackles and two rolls in one down": (
        "lions-den",
        DICE,
        (
            at(40.0),
            end("tackle", 45.0),
            d.Roll((6, 6)),
            end("recovered", 44.0, "away"),
            end("tackle", 40.0, "away"),
            d.Roll((3, 4)),
            rolled(50, 3),
        ),
        {"ball": "away", "line": 40.0, "down": 1, "waits": None},
    ),
    "a kicked kickoff is fumbled away": (
        "tap",
        KICKED,
        (
            *KICKOFF,
            d.KickEnded("touched", 8.0, by="home"),
            end("fumble", 20.0),
            d.Coin(False),
            end("stopped", 15.0, "away"),
        ),
        {"ball": "away", "line": 15.0, "down": 1},
    ),
    "a kicked kickoff never comes out of the end zone": (
        "tap",
        KICKED,
        (*KICKOFF, d.KickEnded("touched", -4.0, by="home"), d.ChoiceMade("return"), end("tackle", -2.0)),
        {"ball": "home", "line": 20.0, "score": (0, 0)},
    ),
    "a kicked free kick is returned": (
        "tap",
        KICKED,
        (
            at(4.0),
            end("safety"),
            d.KickDeclared("free_kick"),
            d.KickEnded("touched", 70.0, by="away"),
            end("tackle", 60.0),
        ),
        {"ball": "away", "line": 60.0, "score": (0, 2)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_comes_together_ends_as_the_books_say(name: str) -> None:
    book, lines, steps, expected = CASES[name]
    assert found(played(book, lines, steps), tuple(expected)) == expected


BOOKS: dict[str, tuple[tuple[str, ...], tuple[Step, ...]]] = {
    "tap": ((), (d.ChoiceMade("extra_point"), d.Roll((4, 4)))),
    "efl": ((), (d.Roll((2, 1)),)),
    "lions-den": (NO_ROLLS, (d.Roll((0, 1)),)),
}
RULED: dict[str, tuple[tuple[Step, ...], dict[str, Any]]] = {
    "a touchdown was a tackle, its try is gone": (
        (
            at(90.0),
            end("touchdown"),
            "try",
            rules("touchdown", "overturn", kind="tackle", spot_yd=(97.0, MIDDLE), text="tackled"),
        ),
        {"score": (0, 0), "ball": "home", "line": 97.0, "down": 3, "waits": None},
    ),
    "a struck extra point is tried again": (
        (at(90.0), end("touchdown"), "try", rules("extra_point", "strike")),
        {"score": (6, 0), "waits": "extra_point"},
    ),
    "a spot of the play before last": (
        (at(40.0), end("tackle", 47.0), end("tackle", 49.0), rules("tackle", "overturn", 0, spot_yd=(48.5, MIDDLE))),
        {"ball": "home", "line": 49.0, "down": 2},
    ),
    "downs that were not lost": (
        (at(40.0, 4), end("tackle", 47.0), rules("tackle", "overturn", spot_yd=(48.5, MIDDLE))),
        {"ball": "home", "line": 48.5, "down": 1},
    ),
    "a safety that was none": (
        (at(4.0), end("safety"), rules("safety", "overturn", kind="tackle", spot_yd=(1.0, MIDDLE), side="home")),
        {"score": (0, 0), "ball": "home", "line": 1.0, "down": 3, "due": "scrimmage"},
    ),
    "an interception returned that was incomplete": (
        (
            at(40.0),
            end("touchdown", by="away"),
            rules("touchdown", "overturn", kind="incomplete", spot_yd=None, side=None),
        ),
        {"score": (0, 0), "ball": "home", "line": 40.0, "down": 3},
    ),
}


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("name", RULED)
def test_a_ruling_takes_back_what_followed(book: str, name: str) -> None:
    lines, tried = BOOKS[book]
    steps, expected = RULED[name]
    all_steps = tuple(step for one in steps for step in (tried if one == "try" else (one,)))
    assert found(played(book, lines, all_steps), tuple(expected)) == expected
