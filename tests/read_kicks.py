"""What the books say of kicks, tries and cards as they end: the second reader's word on every row of their tables.

Like `second_reader` it was written from the books' text and shares no code with the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from declared_game import DeclaredGame
from second_reader import FIELD_YD, LINE_X, MIDDLE, TEAM, Reading, agrees, reading_of

from downfield.officiating.declarations import (
    ChoiceMade,
    Declaration,
    KickDeclared,
    KickEnded,
    LineUpDeclared,
    Roll,
    SetUp,
    Side,
    Switch,
)
from downfield.officiating.unseen_declarations import CardPlayed, ReturnPlayed


class EndedKick(NamedTuple):
    """A kick, try or card from a set-up on, and what the book says of it."""

    book: str
    set_up: SetUp
    told: tuple[Declaration, ...]
    reading: Reading


KICKOFF: Final = SetUp("home", 1, due="kickoff")
TRY: Final = SetUp("home", 1, due="extra_point", score=(6, 0))
TWO: Final = SetUp("home", 1, due="two_point", score=(6, 0))
FREE: Final = SetUp("home", 1, due="free_kick", score=(2, 0))
TAP_GOAL: Final = ((85, 11), (84, 10), (75, 10), (74, 9), (70, 9), (69, 8), (65, 8), (64, 7), (60, 7))
"""Lines of scrimmage, and up to which sum of two dice the field goal is good from there."""
EFL_GOAL: Final = ((91, 21, 26), (81, 31, 36), (71, 41, 46), (61, 51, 56), (51, 61, 66))
"""The farthest line from which the rolls in between are good."""


def series(side: Side, x_yd: float, down: int = 1, score: tuple[int, int] = (0, 0)) -> Reading:
    """Return a down of a side at a place."""
    return Reading(score, side, "scrimmage", down, x_yd)


def kicks_off(home: int, away: int = 0) -> Reading:
    """Return home's kickoff at a score."""
    return Reading((home, away), "home", "kickoff")


def at(line: float, distance: float = 8.0, down: int = 4) -> SetUp:
    """Return home's ball at a line of scrimmage, to the goal line where the distance would reach it."""
    return SetUp("home", 1, line, down, distance if line + distance < FIELD_YD else 0.0)


def efl_kicks() -> Iterator[EndedKick]:
    """Yield 7c, 7d, 8b, 9, 10 and 14 of Gunderson's rules."""
    for own_yd, start_yd in ((30, 30), (26, 26), (20, 25), (5, 25), (-3, 25)):
        touched = KickEnded("touched", float(own_yd), MIDDLE, by="home")
        yield EndedKick("efl", KICKOFF, (KickDeclared("kickoff"), touched), series("home", start_yd))
    out = KickEnded("out_of_bounds", 10.0, MIDDLE)
    yield EndedKick("efl", KICKOFF, (KickDeclared("kickoff"), out), series("home", 25))
    for x_yd in (70.0, 88.0, 95.0):
        for end in (KickEnded("touched", x_yd, MIDDLE, by="away"), KickEnded("out_of_bounds", x_yd, MIDDLE)):
            yield EndedKick("efl", at(LINE_X), (KickDeclared("punt"), end), series("away", x_yd))
    goal, extra = KickDeclared("field_goal"), KickDeclared("extra_point")
    yield EndedKick("efl", at(60.0), (goal, KickEnded("good")), kicks_off(3))
    for missed in (KickEnded("no_good"), KickEnded("blocked")):
        yield EndedKick("efl", at(60.0), (goal, missed), series("away", 60))
        yield EndedKick("efl", TRY, (extra, missed), kicks_off(6))
    yield EndedKick("efl", TRY, (extra, KickEnded("good")), kicks_off(7))
    for line, low, high in EFL_GOAL:
        for rolled in (low, high):
            dice = Roll(divmod(rolled, 10))
            yield EndedKick("efl", at(line), (goal, dice), kicks_off(3))
            if line > 51:
                yield EndedKick("efl", at(line - 1), (goal, dice), series("away", line - 1))
    for rolled in (11, 12, 13, 14, 15, 16):
        yield EndedKick("efl", at(95.0), (goal, Roll(divmod(rolled, 10))), series("away", 95))


def tap_kicks() -> Iterator[EndedKick]:
    """Yield the two touchbacks, short onside kicks, and the dice of field goals and extra points."""
    kick = KickDeclared("kickoff", returner="dark-22")
    touchback, ran = ChoiceMade("touchback"), (Switch(True), Switch(False))
    yield EndedKick("tap", KICKOFF, (kick, touchback), series("home", 25))
    yield EndedKick("tap", KICKOFF, (kick, *ran, touchback), series("home", 20))
    punt = (KickDeclared("punt", ("dark-22",), "light-50"), *ran, KickEnded("touched", 103.0, MIDDLE, by="away"))
    yield EndedKick("tap", at(LINE_X), (*punt, touchback), series("away", 80))
    for total in range(2, 10):
        told = (KickDeclared("onside"), Roll((total // 2, total - total // 2)))
        ahead = SetUp("home", 1, due="kickoff", score=(7, 0))
        yield EndedKick("tap", ahead, told, series("home", 70 - total, score=(7, 0)))
    for line, highest in TAP_GOAL:
        for total in (2, highest, highest + 1):
            told = (KickDeclared("field_goal"), Roll((total // 2, total - total // 2)))
            yield EndedKick("tap", at(line), told, kicks_off(3) if total <= highest else series("away", line))
    for total in range(2, 13):
        told = (KickDeclared("extra_point"), Roll((total // 2, total - total // 2)))
        yield EndedKick("tap", TRY, told, kicks_off(6 if total == 2 else 7))


def card(kind: Any, shown: str, back: str | None = None) -> tuple[Declaration, ...]:
    """Return a card, and the return of its kick."""
    played = CardPlayed(kind, shown=shown, dot="red", roll=60)
    return (played,) if back is None else (played, ReturnPlayed(back))


def played_cards() -> Iterator[EndedKick]:
    """Yield cards of NFL Strategy, beside those of its chains."""
    scored = Reading((0, 6), "away", "extra_point")
    for set_up, told, reading in (
        (at(70.0), card("field_goal", "good"), kicks_off(3)),
        (at(70.0), card("field_goal", "no good"), series("away", 63)),  # seven yards back
        (at(70.0), card("field_goal", "blocked", "5"), series("away", 60)),  # returned from five behind the line
        (at(70.0), card("field_goal", "blocked", "64"), series("away", 1)),
        (at(70.0), card("field_goal", "blocked", "65"), scored),
        (TRY, card("extra_point", "good"), kicks_off(7)),
        (TRY, card("extra_point", "no good"), kicks_off(6)),
        (TRY, card("extra_point", "blocked", "5"), kicks_off(6)),
        (TRY, card("extra_point", "blocked", "99"), kicks_off(6, 2)),
        (TWO, card("two_point", "2"), kicks_off(8)),
        (TWO, card("two_point", "1"), kicks_off(6)),
        (TWO, card("two_point", "inc"), kicks_off(6)),
        (KICKOFF, card("kickoff", "60OB"), series("home", 35)),  # thirty yards from the kick
        (KICKOFF, card("kickoff", "75"), series("home", 20)),
        (KICKOFF, card("onside", "12OB"), series("home", 53)),
        (KICKOFF, card("kickoff", "50", "85"), Reading((6, 0), "home", "extra_point")),
        (FREE, card("punt", "50", "10"), series("home", 40, score=(2, 0))),
        (FREE, card("kickoff", "50", "10"), series("home", 40, score=(2, 0))),
        (at(LINE_X), card("punt", "40OB"), series("away", 80)),
        (at(LINE_X), card("punt", "40DN"), series("away", 80)),
        (at(LINE_X), card("punt", "40FC"), series("away", 80)),
        (at(LINE_X), card("punt", "60TB"), series("away", 80)),
        (at(LINE_X), card("punt", "blocked", "29"), series("away", 1)),  # returned from ten behind the line
        (at(LINE_X), card("punt", "blocked", "30"), scored),
        (at(60.0), card("touch_punt", "30", "5"), series("away", 85)),
        (at(50.0), card("touch_punt", "30DN"), series("away", 80)),
        (at(LINE_X), card("pass", "inc"), series("away", LINE_X)),
        (at(LINE_X), card("run", "7"), series("away", 47)),
        (at(LINE_X), card("run", "8"), series("home", 48)),
        (at(LINE_X), card("run", "60"), Reading((6, 0), "home", "extra_point")),
        (at(3.0, down=1), card("run", "-3"), Reading((0, 2), "home", "free_kick")),
        (at(3.0, down=1), card("pass", "-7"), Reading((0, 2), "home", "free_kick")),
        (at(90.0, 10.0, 1), card("pass", "19i"), series("away", 80)),
        (at(90.0, 10.0, 1), card("pass", "20i"), series("home", 90, 2)),  # out of the end zone
        (at(90.0, 10.0, 1), card("run", "10F"), Reading((6, 0), "home", "extra_point")),
    ):
        yield EndedKick("nfl-strategy", set_up, told, reading)


def kick_cases() -> tuple[EndedKick, ...]:
    """Return them all."""
    return (*efl_kicks(), *tap_kicks(), *played_cards())


def kick_differences() -> list[tuple[EndedKick, Reading]]:
    """Return those of which the engine says something else."""
    made = ((kick, _play(kick)) for kick in kick_cases())
    return [(kick, reading) for kick, reading in made if not agrees(kick.reading, reading)]


def _play(kick: EndedKick) -> Reading:
    game = DeclaredGame(kick.book)
    if kick.book != "nfl-strategy":
        game.declare(LineUpDeclared(TEAM, "dark"))
    game.declare(kick.set_up, *kick.told)
    while game.state.wait is not None and game.state.wait.kind == "roll":
        game.declare(Roll((100,)))  # no return for a touchdown
    return reading_of(game)
