"""Sentences of the four sources, each as a game told by declarations: the situation and score that it leads to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from card_games import CardGameTable, run
from ended_plays import NO_PENALTY, table, waits_for

from downfield.core.errors import RefusedError
from downfield.officiating.calls import Call
from downfield.officiating.declarations import (
    Carrier,
    ChoiceMade,
    Claim,
    ClockSet,
    Coin,
    FoulDeclared,
    KickDeclared,
    KickEnded,
    PassDeclared,
    PassEnded,
    PlayEnded,
    Roll,
    Separated,
    Switch,
)
from downfield.officiating.events import Ruling
from downfield.officiating.unseen_declarations import CardPlayed, ReturnPlayed

PASSER, RUNNER = (Carrier("dark-7"), Switch(True)), (Carrier("dark-22"), Switch(True))
THROWN = (*PASSER, Switch(False), PassDeclared("dark-80"))
ACCEPT, DECLINE = ChoiceMade("accept"), ChoiceMade("decline")


def leads_to(book: str, setting: dict[str, Any], told: tuple[Any, ...]) -> tuple[str, tuple[int, int]]:
    game = table(book, **setting)
    game.declare(*told)
    return game.state.situation, game.state.score


def cards(spot: float, down: int = 1, distance: float = 10.0, *, running: bool = False) -> CardGameTable:
    return CardGameTable().at(spot, down, distance).running(running)


def flagged(kind: Any, shown: str, *fouls: Any) -> tuple[Any, ...]:
    return (CardPlayed(kind, shown, roll=11, reroll=60), *fouls)


def kicked(kind: Any, shown: str) -> CardPlayed:
    return CardPlayed(kind, shown, roll=60)


TOUCHDOWN, SCORED = PlayEnded("touchdown"), run("5")
D5, D15, O5, O10 = (
    FoulDeclared("away", 5, "D5"),
    FoulDeclared("away", 15, "D15"),
    FoulDeclared("home", 5, "O5", automatic=True),
    FoulDeclared("home", 10, "O10"),
)
LOST_DOWN = FoulDeclared("home", 10, "O10 loss dwn inc", loss_of_down=True)

# TAP


@pytest.mark.parametrize(("setting", "told", "situation", "score"), [
    # Touchbacks: the 25 before the kick, the 20 after three seconds of it.
    ({"due": "kickoff"}, (ChoiceMade("touchback", "home"),), "1st & 10 at H 25", (0, 0)),
    ({"due": "kickoff"}, (KickDeclared("kickoff"), Switch(True), Switch(False), ChoiceMade("touchback", "home")),
     "1st & 10 at H 20", (0, 0)),
    # "If the dice is less than a 10, ... the return team gets the ball at that location."
    *[({"due": "kickoff", "score": (7, 0)}, (KickDeclared("onside"), Roll(dice)), f"1st & 10 at A {30 + sum(dice)}",
       (7, 0)) for dice in ((1, 1), (3, 2), (6, 3))],
    *[({"due": "kickoff", "score": (7, 0)}, (KickDeclared("onside"), Roll(dice)), f"onside from A {30 + sum(dice)}",
       (7, 0)) for dice in ((4, 6), (5, 6), (6, 6))],
    # The chart of field goals at the ends of its rows.
    *[({"spot_yd": spot, "down": 4}, (KickDeclared("field_goal"), Roll(dice)), situation, score)
      for spot, dice, situation, score in (
        (60.0, (3, 4), "kickoff from H 30", (3, 0)), (60.0, (4, 4), "1st & 10 at A 40", (0, 0)),
        (64.0, (4, 4), "1st & 10 at A 36", (0, 0)), (65.0, (4, 4), "kickoff from H 30", (3, 0)),
        (70.0, (4, 5), "kickoff from H 30", (3, 0)), (75.0, (5, 5), "kickoff from H 30", (3, 0)),
        (85.0, (5, 6), "kickoff from H 30", (3, 0)), (99.0, (6, 6), "1st & 10 at A 1", (0, 0)),
      )],
    # "The offensive coach may elect to go for a two-point conversion from the five-yard line."
    ({"spot_yd": 97.0}, (*RUNNER, TOUCHDOWN, ChoiceMade("two_point", "home")), "two point from A 5", (6, 0)),
    ({"spot_yd": 97.0}, (*RUNNER, TOUCHDOWN, ChoiceMade("two_point", "home"), *RUNNER, TOUCHDOWN),
     "kickoff from H 30", (8, 0)),
    ({"spot_yd": 97.0}, (*RUNNER, TOUCHDOWN, ChoiceMade("extra_point", "home"), Roll((1, 1))),
     "kickoff from H 30", (6, 0)),
    # A fumble: "heads the offense keeps it, tails the defense takes over".
    ({"spot_yd": 2.0}, (*RUNNER, PlayEnded("fumble", (-2.0, 20.0), "light-21"), Coin(True)),
     "free kick from H 20", (0, 2)),
    ({"spot_yd": 30.0, "down": 4}, (*RUNNER, PlayEnded("fumble", (33.0, 20.0), "light-21"), Coin(True)),
     "1st & 10 at H 33", (0, 0)),
    # Every end of a pass and of a run.
    ({"spot_yd": 30.0, "down": 4}, (*THROWN, PassEnded("incomplete")), "1st & 10 at H 30", (0, 0)),
    ({"spot_yd": 70.0}, (*THROWN, PassEnded("intercepted", "light-21", (103.0, 20.0)),
                         PlayEnded("tackle", (104.0, 20.0))), "1st & 10 at A 20", (0, 0)),
    ({"spot_yd": 3.0}, (*PASSER, PlayEnded("out_of_bounds", (-2.0, 0.0))), "free kick from H 20", (0, 2)),
])  # fmt: skip
def test_tap(setting: dict[str, Any], told: tuple[Any, ...], situation: str, score: tuple[int, int]) -> None:
    assert leads_to("tap", setting, told) == (situation, score)


@pytest.mark.parametrize(("offender", "claims", "situation"), [
    ("Home", "away", "1st & 15 at H 25"), ("Away", "home", "1st & 5 at H 35"),
])  # fmt: skip
def test_tap_too_many_men_is_claimed_where_no_camera_counts(offender: str, claims: Any, situation: str) -> None:
    game = table("tap", spot_yd=30.0)
    (claimed,) = game.declare(Claim("too_many_men", claims))
    assert (claimed.verdict, game.state.situation) == ("proposed", "1st & 10 at H 30")
    assert f"no camera has counted {offender}" in claimed.text
    game.declare(Ruling(claimed.id, "confirm"))
    assert game.state.situation == situation


@pytest.mark.parametrize(("setting", "claims", "situation"), [
    ({"spot_yd": 30.0}, "away", "1st & 15 at H 25"), ({"spot_yd": 30.0}, "home", "1st & 5 at H 35"),
    ({"spot_yd": 4.0, "down": 2}, "away", "2nd & 12 at H 2"),
    ({"due": "two_point", "score": (6, 0)}, "away", "two point from A 10"),
])  # fmt: skip
def test_tap_delay_is_claimed_where_nobody_started_a_clock(
    setting: dict[str, Any], claims: Any, situation: str
) -> None:
    game = table("tap", **setting)
    (claimed,) = game.declare(Claim("delay_of_game", claims))
    assert claimed.verdict == "proposed"
    assert "nobody has started" in claimed.text
    game.declare(Ruling(claimed.id, "confirm"))
    assert game.state.situation == situation


def test_tap_delay_is_not_claimed_of_a_defense_whose_clock_has_not_begun() -> None:
    game = table("tap", spot_yd=30.0)
    game.declare(*RUNNER, PlayEnded("tackle", (33.0, 20.0)), Separated())
    with pytest.raises(RefusedError, match="no clock is running for Away"):
        game.declare(Claim("delay_of_game", "home"))


@pytest.mark.parametrize("named", [None, "light-21"])
def test_tap_interference_that_no_camera_saw_says_where_it_is_spotted_and_what_gives_another_spot(named: Any) -> None:
    game = table("tap", spot_yd=40.0, down=3)
    game.declare(*THROWN)
    (claimed,) = game.declare(Claim("defensive_pass_interference", "home", named))
    assert claimed.text.endswith("spotted at the line of scrimmage; a call by hand may give another spot")
    foul = Call("hand", "penalty", 0, "tap", (), "called", "interference", side="home", spot_yd=(62.0, 20.0))
    game.declare(Ruling("", "manual", replace(foul, detail="defensive_pass_interference")))
    assert game.state.situation == "1st & 10 at A 38"


@pytest.mark.parametrize(("setting", "told", "reason"), [
    ({"due": "kickoff"}, KickDeclared("onside"), "not trailing"),
    ({"spot_yd": 59.5, "down": 4}, KickDeclared("field_goal"), "the chart ends at 40"),
    ({"spot_yd": 30.0, "down": 4}, KickDeclared("punt"), "one or two gunners"),
    ({"spot_yd": 30.0}, Claim("time_out", "home"), "running game clock"),
    ({"spot_yd": 30.0}, PlayEnded("touchback"), "touchback"),
])  # fmt: skip
def test_tap_refuses(setting: dict[str, Any], told: Any, reason: str) -> None:
    game = table("tap", **setting)
    with pytest.raises(RefusedError, match=reason):
        game.declare(told)


# EFL

LATE = {"period": 4, "clock_s": 200.0}
LATE_KICK = {"due": "kickoff", "score": (7, 0), **LATE}
FIELD_GOAL, PUNT = KickDeclared("field_goal"), KickDeclared("punt")
KICKOFF = KickDeclared("kickoff")


@pytest.mark.parametrize(("setting", "told", "situation", "score"), [
    ({"spot_yd": 60.0, "down": 4}, (FIELD_GOAL, KickEnded("no_good")), "1st & 10 at A 40", (0, 0)),
    ({"spot_yd": 60.0, "down": 4}, (FIELD_GOAL, KickEnded("good")), "kickoff from H 35", (3, 0)),
    ({"due": "kickoff"}, (KICKOFF, KickEnded("out_of_bounds", 10.0, 0.0)), "1st & 10 at H 25", (0, 0)),
    *[({"due": "kickoff"}, (KICKOFF, KickEnded("touched", x_yd, 20.0, by="home")), f"1st & 10 at H {start}", (0, 0))
      for x_yd, start in ((-3.0, 25), (5.0, 25), (24.0, 25), (25.0, 25), (30.0, 30))],
    (LATE_KICK, (KickDeclared("onside"), KickEnded("out_of_bounds", 50.0, 0.0)), "1st & 10 at H 25", (7, 0)),
    ({"spot_yd": 30.0, "down": 4}, (PUNT, KickEnded("touched", 70.0, 20.0, by="away")), "1st & 10 at A 30", (0, 0)),
    ({"spot_yd": 30.0, "down": 4}, (PUNT, KickEnded("out_of_bounds", 104.0, 0.0)), "1st & 10 at A 20", (0, 0)),
    # "You can try up to 3 times to complete a pass": three incompletions are one down.
    ({"spot_yd": 30.0}, (*THROWN, *(PassEnded("incomplete"), PassDeclared("dark-80")) * 2, PassEnded("incomplete")),
     "2nd & 10 at H 30", (0, 0)),
    # "If the pass is intercepted on any try, then you will turn the ball over."
    ({"spot_yd": 30.0}, (*THROWN, PassEnded("incomplete"), PassDeclared("dark-80"),
                         PassEnded("intercepted", "light-21", (45.0, 20.0)), PlayEnded("tackle", (44.0, 20.0))),
     "1st & 10 at H 44", (0, 0)),
    ({"spot_yd": 30.0}, (*THROWN, PassEnded("complete", "dark-80", (103.0, 20.0))), "extra point", (6, 0)),
])  # fmt: skip
def test_efl(setting: dict[str, Any], told: tuple[Any, ...], situation: str, score: tuple[int, int]) -> None:
    assert leads_to("efl", setting, told) == (situation, score)


@pytest.mark.parametrize(("setting", "kick", "must"), [
    ({"spot_yd": 50.0, "distance_yd": 8.0}, FIELD_GOAL, "a punt"),
    ({"spot_yd": 50.0, "distance_yd": 1.0}, PUNT, "the passing quarterback"),
    ({"spot_yd": 40.0, "distance_yd": 1.0}, PUNT, "the passing quarterback"),
    ({"spot_yd": 39.0, "distance_yd": 1.0}, PUNT, None),
    ({"spot_yd": 51.0, "distance_yd": 1.0}, FIELD_GOAL, "the passing quarterback"),
    ({"spot_yd": 51.0, "distance_yd": 2.0}, PUNT, "a field goal"),
    ({"spot_yd": 30.0, "distance_yd": 8.0, "score": (0, 4), **LATE}, PUNT, "the passing quarterback"),
    ({"spot_yd": 30.0, "distance_yd": 8.0, "score": (0, 3), **LATE}, PUNT, None),
    ({"spot_yd": 30.0, "distance_yd": 8.0, "score": (0, 4), "period": 2, "clock_s": 299.0}, PUNT, "the passing"),
    ({"spot_yd": 30.0, "distance_yd": 8.0, "score": (0, 4), "period": 1, "clock_s": 200.0}, PUNT, None),
    ({"due": "kickoff", "score": (7, 0), **LATE}, KICKOFF, "kick onside"),
    ({"due": "kickoff", "score": (7, 0), "period": 2, "clock_s": 200.0}, KICKOFF, None),
])  # fmt: skip
def test_efl_prescribes_fourth_downs_and_late_kickoffs(setting: dict[str, Any], kick: Any, must: str | None) -> None:
    down = {} if setting.get("due") else {"down": 4}
    prescribed = [call.text for call in table("efl", **down, **setting).declare(kick)]
    assert len(prescribed) == (must is not None)
    assert must is None or must in prescribed[0]


@pytest.mark.parametrize("kick", ["field_goal", "extra_point"])
def test_efl_a_kick_told_as_no_good_says_no_more_than_that(kick: str) -> None:
    near = {"spot_yd": 60.0, "down": 4} if kick == "field_goal" else {"spot_yd": 95.0}
    before = (FIELD_GOAL,) if kick == "field_goal" else (*RUNNER, TOUCHDOWN)
    game = table("efl", **near)
    game.declare(*before)
    missed = game.declare(KickEnded("no_good"))[0]
    assert missed.text == f"{kick.replace('_', ' ')} no good"


# Lion's Den

KICK_GOAL = (FIELD_GOAL, Roll((9, 9)))
TACKLED = (*RUNNER, PlayEnded("tackle", (44.0, 20.0)))
MISSED = (*PASSER, PassDeclared("dark-80", 10.0), Roll((4, 6)))


@pytest.mark.parametrize(("setting", "told", "situation", "score"), [
    ({"spot_yd": 70.0, "down": 4}, (*KICK_GOAL, NO_PENALTY), "1st & 10 at A 30", (0, 0)),
    ({"spot_yd": 70.0, "down": 4}, (FIELD_GOAL, Roll((1, 1)), NO_PENALTY), "kickoff from H 35", (3, 0)),
    # "06-10 Holding. Offense, 10 yards; Defense, 5 yards"
    ({"spot_yd": 40.0}, (*TACKLED, Roll((0, 6, 8)), ACCEPT), "1st & 20 at H 30", (0, 0)),
    ({"spot_yd": 40.0}, (*TACKLED, Roll((1, 0, 3)), ACCEPT), "1st & 5 at H 45", (0, 0)),
    ({"spot_yd": 40.0}, (*TACKLED, Roll((1, 0, 3)), DECLINE), "2nd & 6 at H 44", (0, 0)),
    ({"spot_yd": 40.0}, (*TACKLED, Roll((1, 1, 3))), "2nd & 6 at H 44", (0, 0)),
    ({"spot_yd": 40.0}, (*TACKLED, Roll((9, 0, 8))), "2nd & 6 at H 44", (0, 0)),
    # "91-95 Pass Interference if Pass. Defense: 15 yards ..., Automatic 1st down. Offense: 5 yards. Illegal Block if
    # Run, 10 yards"
    ({"spot_yd": 40.0}, (*TACKLED, Roll((9, 1, 8)), ACCEPT), "1st & 20 at H 30", (0, 0)),
    ({"spot_yd": 40.0}, (*TACKLED, Roll((9, 5, 3)), ACCEPT), "1st & 10 at 50", (0, 0)),
    ({"spot_yd": 40.0}, (*MISSED, Roll((9, 5, 3)), ACCEPT), "1st & 10 at A 45", (0, 0)),
    ({"spot_yd": 40.0}, (*MISSED, Roll((9, 1, 8)), ACCEPT), "1st & 15 at H 35", (0, 0)),
    # "96-00 Personal Foul-Unsportsmanlike Conduct, 10 yards."
    ({"spot_yd": 40.0}, (*TACKLED, Roll((9, 6, 8)), ACCEPT), "1st & 20 at H 30", (0, 0)),
    ({"spot_yd": 40.0}, (*TACKLED, Roll((0, 0, 3)), ACCEPT), "1st & 10 at 50", (0, 0)),
    ({"spot_yd": 40.0}, (*MISSED, NO_PENALTY), "2nd & 10 at H 40", (0, 0)),
    # A safety of who recovers behind his own goal line, a touchdown in the opponent's end zone.
    ({"spot_yd": 97.0}, (*RUNNER, PlayEnded("fumble", (99.0, 20.0)),
                         PlayEnded("recovered", (102.0, 20.0), "light-21", "away"), NO_PENALTY),
     "free kick from A 20", (2, 0)),
    ({"spot_yd": 97.0}, (*RUNNER, PlayEnded("fumble", (99.0, 20.0)),
                         PlayEnded("recovered", (102.0, 20.0), "dark-80", "home"), NO_PENALTY), "extra point", (6, 0)),
    ({"spot_yd": 2.0}, (*RUNNER, PlayEnded("tackle", (-1.0, 20.0)), NO_PENALTY), "free kick from H 20", (0, 2)),
])  # fmt: skip
def test_lions_den(setting: dict[str, Any], told: tuple[Any, ...], situation: str, score: tuple[int, int]) -> None:
    assert leads_to("lions-den", setting, told) == (situation, score)


@pytest.mark.parametrize(("touching", "die", "picked_off"), [((), 9, False), ((), 10, True), (("light-21",), 6, False),
                                                             (("light-21",), 7, True)])  # fmt: skip
def test_lions_den_a_caught_pass_may_still_be_intercepted(
    touching: tuple[str, ...], die: int, picked_off: bool
) -> None:
    game = table("lions-den", spot_yd=40.0)
    game.declare(*PASSER, PassDeclared("dark-80", 10.0, ("light-21",), touching), Roll((4, 5)))
    assert waits_for(game) == "interception"
    game.declare(Roll((die,)))
    assert (game.state.play.ball_side == "away") == picked_off


# NFL Strategy


@pytest.mark.parametrize(("game", "told", "situation", "score"), [
    # "An interception ten yards beyond the goal line ... is ruled incomplete."
    (cards(90, 3), (CardPlayed("pass", "20i", roll=60),), "4th & goal at A 10", (0, 0)),
    (cards(90, 3), (CardPlayed("pass", "19i", roll=60), Roll((99,))), "1st & 10 at A 20", (0, 0)),
    (cards(30, 3), (CardPlayed("pass", "-17i", roll=60), Roll((99,))), "1st & 10 at H 13", (0, 0)),
    (cards(30, 3), (CardPlayed("pass", "13i", roll=60, return_to=20), Roll((20,))), "try", (0, 6)),
    (cards(30, 3), (CardPlayed("pass", "13i", roll=60, return_to=20), Roll((21,))), "1st & 10 at H 43", (0, 0)),
    # Fumbles at the goal lines, and a hair before one.
    (cards(3, 2), (run("-3F"), Roll((41,))), "free kick from H 20", (0, 2)),
    (cards(3, 2), (run("-3F"), Roll((40,))), "try", (0, 6)),
    (cards(90), (run("9F"), Roll((40,))), "1st & 10 at A 1", (0, 0)),
    (cards(90), (run("10F"),), "try", (6, 0)),
    # "A team chooses to run out of bounds": five yards less, also of a touchdown's length, never of a touchdown.
    (cards(40), (run("9", dot="black", ran_out=True),), "2nd & 6 at H 44", (0, 0)),
    (cards(40), (run("2", dot="blue", ran_out=True),), "2nd & 13 at H 37", (0, 0)),
    (cards(95), (run("7", dot="blue", ran_out=True),), "try", (6, 0)),
    # "If a kick-off goes OB, receiving team takes over 30 yards from the spot of the kick-off", free kicks too.
    (cards(2, 2), (run("-3"), kicked("kickoff", "40OB")), "1st & 10 at 50", (0, 2)),
    (cards(2, 2), (run("-3"), kicked("punt", "45"), ReturnPlayed("6", 60)), "1st & 10 at A 41", (0, 2)),
    (cards(2, 2), (run("-3"), kicked("onside", "12"), ReturnPlayed("3", 60)), "1st & 10 at H 29", (0, 2)),
    # Penalties on returns: from the middle against the returners, from the end against the kickers, half yards dropped.
    (cards(30, 4), (kicked("punt", "40"), ReturnPlayed("6", 11, 60), FoulDeclared("away", 10, "D10"), ACCEPT),
     "1st & 10 at A 23", (0, 0)),
    (cards(30, 4), (kicked("punt", "40"), ReturnPlayed("7", 11, 60), FoulDeclared("away", 10, "D10"), ACCEPT),
     "1st & 10 at A 24", (0, 0)),
    (cards(30, 4), (kicked("punt", "40"), ReturnPlayed("6", 11, 60), FoulDeclared("home", 15, "O15"), ACCEPT),
     "1st & 10 at H 49", (0, 0)),
    # Running into the kicker: five yards from the line, or from the end of the return.
    (cards(30, 4, 4), (kicked("punt", "40"), ReturnPlayed("6", 11, 60),
                       FoulDeclared("away", 5, "D5", on_kicker=True), ACCEPT), "1st & 10 at H 35", (0, 0)),
    (cards(30, 4), (kicked("punt", "40"), ReturnPlayed("6", 11, 60),
                    FoulDeclared("away", 5, "D5", on_kicker=True), DECLINE), "1st & 10 at A 31", (0, 0)),
    # "15 yard penalties on the defense on a field goal or touchdown, or any penalty by the defense on a successful
    # extra point, or 2 pt conversion are enforced on the ensuing kick-off", and it is shown from there.
    (cards(70, 4), (*flagged("field_goal", "good", D15), ACCEPT), "kickoff from 50", (3, 0)),
    (cards(95), (SCORED, *flagged("extra_point", "good", D5), ACCEPT), "kickoff from H 40", (7, 0)),
    (cards(95), (SCORED, *flagged("two_point", "3", D5), ACCEPT), "kickoff from H 40", (8, 0)),
    (cards(95), (*flagged("run", "5", D15), ACCEPT, kicked("extra_point", "good")), "kickoff from 50", (7, 0)),
    (cards(95), (SCORED, *flagged("extra_point", "no good", D5), ACCEPT), "extra point from A 1", (6, 0)),
    (cards(95), (SCORED, *flagged("two_point", "3", O10), ACCEPT), "two point from A 12", (6, 0)),
    # Penalties that lead to a safety: incomplete passes only where the down is lost.
    (cards(3, 2), (*flagged("pass", "inc", LOST_DOWN), ACCEPT), "free kick from H 20", (0, 2)),
    (cards(3, 2), (*flagged("pass", "8", LOST_DOWN), ACCEPT), "3rd & 11 at H 2", (0, 0)),
    (cards(40, 2), (*flagged("pass", "inc", LOST_DOWN), ACCEPT), "3rd & 20 at H 30", (0, 0)),
    # A turnover on a two-point try "may be returned the length of the field for 2 pts".
    (cards(95), (SCORED, CardPlayed("two_point", "2i", roll=60, return_to=50), Roll((30,))), "kickoff from H 35",
     (6, 2)),
    (cards(5, 4), (kicked("punt", "blocked"), ReturnPlayed("0", 60)), "try", (0, 6)),
    (cards(98, 4), (kicked("field_goal", "no good"),), "1st & 10 at A 9", (0, 0)),
])  # fmt: skip
def test_nfl_strategy(game: CardGameTable, told: tuple[Any, ...], situation: str, score: tuple[int, int]) -> None:
    game.declare(*told)
    assert (game.state.situation, game.state.score) == (situation, score)


@pytest.mark.parametrize(("told", "lines", "runs_on"), [
    ((run("5"),), 86, True), ((CardPlayed("pass", "inc", roll=60),), 86, False), ((kicked("punt", "40FC"),), 86, False),
    ((run("3F"), Roll((40,))), 86, False), ((run("3F"), Roll((41,))), 86, True), ((CardPlayed("kneel"),), 86, True),
    ((CardPlayed("spike"),), 90, False), ((ChoiceMade("hurry_up", "home"), run("5")), 88, True),
    ((run("9", dot="black", ran_out=True),), 86, False), ((*flagged("run", "5", O10), DECLINE), 86, False),
    (flagged("run", "5", O5), 87, False), ((ChoiceMade("hurry_up", "home"), *flagged("run", "5", O5)), 89, False),
    ((Claim("time_out", "home"), run("5")), 89, True), ((ClockSet(False), CardPlayed("kneel")), 90, True),
])  # fmt: skip
def test_nfl_strategy_moves_its_clock(told: tuple[Any, ...], lines: int, runs_on: bool) -> None:
    game = cards(40, running=True)
    game.declare(*told)
    assert (game.lines, game.clock_runs) == (lines, runs_on)


@pytest.mark.parametrize(("game", "card", "reason"), [
    *[(cards(85), CardPlayed("pass", "12", roll=60, play=name), "NFLS-084")
      for name in ("X Fly", "x fly", "Z-POST", " u  fly", "54 y go")],
    *[(cards(50), run("2", defense=name), "NFLS-085") for name in ("Short Yardage", "short-yardage ", "SHORT YARDAGE")],
    (cards(40), CardPlayed("kneel", "-2"), "NFLS-014"), (cards(40, running=True), CardPlayed("spike", "5"), "NFLS-014"),
    (cards(40), run("9", dot="red", ran_out=True), "NFLS-026"), (cards(40), CardPlayed("spike"), "NFLS-017"),
    (cards(30, 4), CardPlayed("punt", "40", roll=11, reroll=50), "NFLS-061"),
    (cards(30, 3), CardPlayed("fair_catch_kick", "60", roll=20), "NFLS-043"),
])  # fmt: skip
def test_nfl_strategy_refuses(game: CardGameTable, card: CardPlayed, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        game.declare(card)
    assert game.state.situation.startswith(("1st", "3rd", "4th"))


@pytest.mark.parametrize("name", ["X Fly", "Z Post"])
def test_nfl_strategy_long_passes_are_allowed_from_the_21(name: str) -> None:
    game = cards(79)
    game.declare(CardPlayed("pass", "12", roll=60, play=name))
    assert game.state.situation == "1st & goal at A 9"
