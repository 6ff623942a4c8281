"""The Lion's Den end to end: hand-built plays on the board, and dice."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import pytest
from declared_game import DeclaredGame
from declared_game import kinds as kinds_of
from hand_plays import BASE, FIELD, HALF_YD, MIDDLE_YD, Film, Man, Path, called, film, kinds, runs, stands, the

from downfield.core.errors import RefusedError
from downfield.core.scene import Ball, Player
from downfield.officiating.calls import Call
from downfield.officiating.declarations import (
    Carrier,
    ChoiceMade,
    ClockSet,
    Declaration,
    KickDeclared,
    LineUpDeclared,
    PassDeclared,
    Pitch,
    Roll,
    SetUp,
)
from downfield.officiating.engine.replay import Judgment
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.events import Ruling
from downfield.officiating.rulebooks.lions_den.system import LIONS_DEN
from downfield.officiating.rulebooks.rulebook import Rulebook

RUNNER, PASSER, RECEIVER, HITTER = "dark-22", "dark-7", "dark-80", "light-50"
HAND_MM = (6.0, 8.0)
"""Ahead of the base's center and to its left."""
HAND_YD = HAND_MM[0] / FIELD.mm_per_yd_x


def carried_ball(
    path: Path, carrier: str = RUNNER, ahead_mm: float = HAND_MM[0], until_s: float = math.inf
) -> Callable[[float], Ball]:
    """The ball in a hand that many millimeters ahead; left lying where the carrier was at an instant."""

    def ball(t_s: float) -> Ball:
        x_yd, y_yd, heading = path(min(t_s, until_s))
        turn = math.radians(heading)
        x_mm = x_yd * FIELD.mm_per_yd_x + ahead_mm * math.cos(turn)
        y_mm = y_yd * FIELD.mm_per_yd_y + ahead_mm * math.sin(turn)
        if t_s < until_s:
            return Ball("carried", x_mm, y_mm, carrier)
        return Ball("loose", x_mm, y_mm)

    return ball


def shown(path: Path, *others: Man, seconds: float = 2.0, role: str = "RB", **ball: float) -> Film:
    made = film([Man(RUNNER, path, role), *others], seconds, ball=carried_ball(path, **ball))  # type: ignore[arg-type]
    players = tuple(dataclasses.replace(one, hand_mm=HAND_MM) for one in made.players)
    return dataclasses.replace(made, players=players)


def judged(made: Film, carrier: str = RUNNER, book: str | Rulebook = "lions-den", **line: float) -> Judgment:
    return called(made, carrier, book=book, **line)


def decided(made: Judgment) -> list[str]:
    return [kind for kind in kinds(made) if kind not in {"line_of_scrimmage", "info"}]


# Tackle, hand, ball


def test_any_touch_of_bases_is_a_tackle_under_the_hand() -> None:
    stop = 0.5 + (9 - 2 * HALF_YD) / 10
    made = judged(shown(runs(41, stop_s=stop + 0.02), Man(HITTER, stands(50), "LB")))
    tackle = the(made, "tackle")
    assert tackle.spot_yd is not None
    assert tackle.spot_yd[0] == pytest.approx(50 - 2 * HALF_YD + HAND_YD, abs=0.05)
    assert {"LD-010", "LD-011"} <= set(tackle.clauses)


def test_a_corner_and_a_fallen_defender_tackle_too() -> None:
    beside = MIDDLE_YD + BASE.width_mm / FIELD.mm_per_yd_y
    corner = judged(shown(runs(41), Man(HITTER, stands(48, beside - 0.1, 30.0), "LB")))
    assert "tackle" in decided(corner)
    lying = shown(runs(41, stop_s=1.4), Man(HITTER, stands(50), "LB", falls_s=0.6))
    assert "tackle" in decided(judged(lying))
    ours = Rulebook("ours", "Ours", LIONS_DEN, {"tackle.fallen_tackles": False})
    assert "tackle" not in decided(judged(lying, book=ours))


def test_a_fall_is_nothing_while_the_ball_stays() -> None:
    made = film([Man(RUNNER, runs(41), "RB", falls_s=1.0)], 2.0, ball=carried_ball(runs(41)))
    assert decided(judged(made)) == []


def test_the_ball_makes_the_touchdown_and_not_the_base() -> None:
    tip_yd = HAND_YD + 3.0 / FIELD.mm_per_yd_x
    path = runs(95, speed=8.0, stop_s=0.5 + (5 - tip_yd - 0.05) / 8)
    assert decided(judged(shown(path), line_yd=90.0)) == []
    through = runs(95, speed=8.0, stop_s=0.5 + (5 - tip_yd + 0.05) / 8)
    made = judged(shown(through), line_yd=90.0)
    assert "touchdown" in decided(made)
    assert made.state.wait is not None
    assert made.state.wait.purpose == "extra_point"


def test_out_of_bounds_is_where_the_ball_was_and_comes_back_to_the_mark() -> None:
    path = runs(41, 3.0, 10.0, -30.0)
    made = judged(shown(path, seconds=2.5))
    out = the(made, "out_of_bounds")
    assert made.state.lateral_yd == min(FIELD.hash_rows_y_yd)
    x_yd, _, _ = path(out.t_ns / 1e9)
    assert made.state.los_yd == pytest.approx(x_yd + HAND_YD * math.cos(math.radians(-30)), abs=0.15)


def test_the_ball_over_the_sideline_is_out_when_the_base_is_not() -> None:
    low = (BASE.width_mm / 2 + 2) / FIELD.mm_per_yd_y
    path = runs(41, low)

    def outside(t_s: float) -> Ball:
        x_yd, _, _ = path(t_s)
        return Ball("carried", x_yd * FIELD.mm_per_yd_x, -1.0, RUNNER)

    made = film([Man(RUNNER, path, "RB")], 1.5, ball=outside)
    assert "out_of_bounds" in decided(judged(made))
    inside = film([Man(RUNNER, path, "RB")], 1.5)
    assert "out_of_bounds" not in decided(judged(inside))


# Turning back, the pocket


def turning(*turns: tuple[float, float]) -> Path:
    """A runner at eight yards a second who faces a heading from an instant on."""

    def path(t_s: float) -> tuple[float, float, float]:
        x_yd, heading, at = 50.0, 0.0, 0.5
        for start, new in (*turns, (math.inf, 0.0)):
            run_s = max(0.0, min(t_s, start) - at)
            x_yd += run_s * 8 * math.cos(math.radians(heading))
            if t_s < start:
                return x_yd, MIDDLE_YD, heading
            heading, at = new, start
        return x_yd, MIDDLE_YD, heading

    return path


def test_the_first_turn_back_is_told_and_the_second_ends_the_play() -> None:
    once = judged(shown(turning((1.0, 170.0)), seconds=3.0))
    assert [call.detail for call in once.calls if call.kind == "turned_back"] == ["first"]
    assert once.state.phase is Phase.LIVE
    twice = judged(shown(turning((1.0, 170.0), (1.5, 0.0), (2.2, 180.0)), seconds=3.0))
    assert [call.detail for call in twice.calls if call.kind == "turned_back"] == ["first", "second"]
    second = [call for call in twice.calls if call.kind == "turned_back"][1]
    assert second.t_ns / 1e9 == pytest.approx(2.2, abs=0.05)
    assert twice.state.play.carrier is None


def test_facing_back_without_moving_back_is_no_turn() -> None:
    pushed = runs(50, speed=8.0, facing=180.0)
    assert [call for call in judged(shown(pushed)).calls if call.kind == "turned_back"] == []


def test_a_passer_deeper_than_ten_yards_is_sacked() -> None:
    def drop(to_yd: float) -> Judgment:
        path = runs(38, speed=8.0, heading=180.0, facing=0.0, stop_s=0.5 + (38 - to_yd) / 8)
        made = film([Man(PASSER, path, "QB")], 3.0, ball=carried_ball(path, PASSER))
        players = tuple(dataclasses.replace(one, hand_mm=HAND_MM) for one in made.players)
        return judged(dataclasses.replace(made, players=players), PASSER)

    sack = the(drop(28.0), "sack")
    assert sack.spot_yd is not None
    assert sack.spot_yd[0] == pytest.approx(30.0, abs=0.1)
    assert "sack" not in decided(drop(31.0))


# Fumbles


def test_a_lost_ball_is_a_fumble_and_the_first_to_touch_it_has_it() -> None:
    path = runs(41, stop_s=1.0)
    chaser = runs(56, speed=8.0, heading=180.0)
    ball = carried_ball(path, until_s=1.0, ahead_mm=40.0)
    made = film(
        [Man(RUNNER, path, "RB"), Man(HITTER, chaser, "LB")],
        3.0,
        on=((0.5, 1.1), (1.4, 99.0)),
        ball=ball,
    )
    calls = judged(made)
    # The ball lies right before its old carrier, who tackles the man that picks it up.
    assert decided(calls) == ["fumble", "fumble_recovery", "tackle", "first_down"]
    assert the(calls, "fumble_recovery").players == (HITTER,)
    assert calls.state.offense == "away"


# Dice


def rated(table: DeclaredGame) -> DeclaredGame:
    for side in ("home", "away"):
        for who in ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter"):
            table.say(Roll((5, 5), who, side))
    return table


def game() -> DeclaredGame:
    table = DeclaredGame("lions-den")
    table.say(LineUpDeclared((Player("dark-7", "dark", role="QB"), Player("dark-22", "dark", role="RB")), "dark"))
    return rated(table)


def test_ratings_and_careers_are_rolled_before_the_game() -> None:
    table = DeclaredGame("lions-den")
    with pytest.raises(RefusedError, match="has no rating"):
        table.say(KickDeclared("kickoff"))
    with pytest.raises(RefusedError, match="say for which team"):
        table.say(Roll((5, 5), "kicker"))
    calls = table.say(Roll((10, 10), "quarterback_1", "home"), Roll((3,), "career_quarterback_1", "home"))
    assert [call.text for call in calls] == ["Home, quarterback 1: 60", "Home, quarterback 1: 3 seasons"]


def test_a_kickoff() -> None:
    table = game()
    table.say(KickDeclared("kickoff", returner="dark-22"))
    calls = table.say(Roll((5, 5, 5, 5)))
    assert kinds_of(calls) == ["kick"]
    state = table.state
    assert state.play.carrier == "dark-22"
    assert state.play.landed_yd == state.board_x_yd(100 - (35 + 15 + 20 + 10))
    assert state.phase is Phase.STOPPED
    table = game()
    table.say(KickDeclared("kickoff"), Roll((5, 5, 5, 9)))
    assert (table.state.offense, table.state.progress_yd(table.state.los_yd)) == ("home", 35)
    table = game()
    table.say(KickDeclared("kickoff"), Roll((10, 10, 10, 1)))
    assert table.state.play.landed_yd is not None


def test_a_punt_may_be_blocked_go_out_or_be_returned() -> None:
    table = game().at(30, 4)
    table.say(KickDeclared("punt"))
    assert kinds_of(table.say(Roll((8, 1)))) == ["kick"]
    assert table.state.play.ball_side == "away"
    table = game().at(30, 4)
    table.say(KickDeclared("punt"), Roll((8, 0)), Roll((5, 5, 5, 10)))
    assert (table.state.offense, table.state.los_yd) == ("away", 30 - 7 + 45)
    table = game().at(30, 4)
    table.say(KickDeclared("punt"), Roll((0, 1)), Roll((5, 5, 5, 7)))
    assert table.state.play.ball_side == "away"
    assert table.state.play.landed_yd == 68


@pytest.mark.parametrize(
    ("spot", "dice", "good"), [(80, (8, 0), True), (80, (8, 1), False), (60, (6, 0), True), (60, (6, 1), False)]
)
def test_field_goals_lose_a_per_cent_a_yard(spot: float, dice: tuple[int, int], good: bool) -> None:
    table = game().at(spot, 4)
    table.say(KickDeclared("field_goal"), Roll(dice))
    assert table.state.score == ((3, 0) if good else (0, 0))
    if not good:
        assert (table.state.offense, table.state.los_yd) == ("away", spot)


def by_hand(kind: str, **more: object) -> Ruling:
    call = Call("by hand", kind, 0, "lions-den", (), "called", kind, **more)  # type: ignore[arg-type]
    return Ruling("", "manual", call)


def tackled(table: DeclaredGame, spot: float = 45.0) -> DeclaredGame:
    table.at(40).say(Carrier("dark-22"), by_hand("tackle", players=("dark-22", "light-50"), spot_yd=(spot, 26.0)))
    return table


def penalized(table: DeclaredGame, dice: tuple[int, int, int]) -> GameState:
    table.say(Roll(dice))
    return table.state


def test_a_penalty_is_rolled_after_every_down() -> None:
    table = tackled(game())
    assert table.state.wait is not None
    assert (table.state.wait.purpose, table.state.wait.by) == ("penalty", "away")
    assert penalized(table, (5, 0, 3)).situation == "2nd & 5 at H 45"


@pytest.mark.parametrize(
    ("dice", "situation"),
    [
        ((0, 7, 8), "1st & 20 at H 30"),
        ((0, 7, 2), "1st & 5 at H 45"),
        ((9, 3, 2), "1st & 10 at 50"),
        ((9, 8, 9), "1st & 20 at H 30"),
        ((0, 0, 1), "1st & 10 at 50"),
    ],
)
def test_an_accepted_penalty_takes_the_down_back(dice: tuple[int, int, int], situation: str) -> None:
    table = tackled(game())
    penalized(table, dice)
    table.say(ChoiceMade("accept"))
    assert table.state.situation == situation
    table = tackled(game())
    penalized(table, dice)
    table.say(ChoiceMade("decline"))
    assert table.state.situation == "2nd & 5 at H 45"


def test_the_lost_penalty_row_is_a_persons_or_the_leagues() -> None:
    table = tackled(game())
    calls = table.say(Roll((0, 3, 8)))
    assert [call.detail for call in calls] == ["lost"]
    assert table.state.situation == "2nd & 5 at H 45"
    ours = rated(DeclaredGame(Rulebook("ours", "Ours", LIONS_DEN, {"penalty.first_row": [[5, 5]]})))
    ours.say(LineUpDeclared((Player("dark-22", "dark", role="RB"),), "dark"))
    tackled(ours).say(Roll((0, 3, 8)), ChoiceMade("accept"))
    assert ours.state.situation == "1st & 15 at H 35"


def test_a_sacked_quarterback_rolls_for_injury_first() -> None:
    def sacked() -> DeclaredGame:
        table = game().at(40)
        table.say(Carrier("dark-7"), by_hand("tackle", players=("dark-7", "light-50"), spot_yd=(35.0, 26.0)))
        assert table.state.wait is not None
        assert (table.state.wait.purpose, table.state.wait.by) == ("injury", "home")
        return table

    table = sacked()
    table.say(Roll((8,)))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "penalty"
    table = sacked()
    calls = table.say(Roll((9,)), Roll((1, 2)))
    assert "rests 3 offensive downs" in calls[-1].text
    assert table.state.note("winded_home") == 3
    table = sacked()
    calls = table.say(Roll((10,)), Roll((9,)))
    assert "next two games" in calls[-1].text
    assert table.state.note("lost_home") == 1


def test_an_extra_point_by_percentage() -> None:
    for dice, points in (((8, 0), 7), ((8, 1), 6)):
        table = game().at(95)
        table.say(Carrier("dark-22"), by_hand("touchdown", side="home"), Roll(dice))
        assert table.state.score == (points, 0)


def test_a_safety_is_punted_from_the_twenty() -> None:
    table = game().at(5)
    table.say(Carrier("dark-22"), by_hand("tackle", players=("dark-22",), spot_yd=(-1.0, 26.0)))
    assert (table.state.score, table.state.due, table.state.kicking) == ((0, 2), "free_kick", "home")
    table.say(KickDeclared("punt"), Roll((5, 5, 5, 1)))
    assert table.state.play.landed_yd == 20 + 15 + 20 + 10


def test_a_recovery_behind_ones_own_goal_line_is_a_safety_and_in_the_other_end_zone_a_touchdown() -> None:
    table = game().at(5)
    table.say(Carrier("dark-22"), by_hand("fumble_recovery", players=("dark-22",), spot_yd=(-1.0, 26.0), side="home"))
    assert table.state.score == (0, 2)
    table = game().at(95)
    table.say(Carrier("dark-22"), by_hand("fumble_recovery", players=("dark-22",), spot_yd=(101.0, 26.0), side="home"))
    assert table.state.score == (6, 0)


def test_two_halves() -> None:
    table = game().at(40)
    table.say(ClockSet(False, 0))
    assert (table.state.period, table.state.due) == (2, "kickoff")
    table.at(40, period=2, score=(7, 7))
    assert kinds_of(table.say(ClockSet(False, 0))) == ["period", "game_over"]


# Passes, with the board in view


class Filmed(DeclaredGame):
    """A game that has seen a few frames before its declarations."""

    def __init__(self, *men: Man) -> None:
        super().__init__("lions-den")
        rated(self)
        self.game_film = film(men, 0.2, on=((0.0, 9.0),))
        self.say(SetUp("home", 1, 40.0), LineUpDeclared(self.game_film.players, "dark"), Carrier(PASSER))
        after = 30_000_000_000
        for scene in self.game_film.scenes:
            self.game.apply(dataclasses.replace(scene, t_ns=scene.t_ns + after, frame=scene.frame))
        self._count = iter(range(31, 200))  # type: ignore[assignment]


def passing(receiver_yd: float, *others: Man, heading: float = 0.0) -> Filmed:
    return Filmed(
        Man(PASSER, stands(35, heading=0.0), "QB"), Man(RECEIVER, stands(receiver_yd, heading=heading), "WR"), *others
    )


@pytest.mark.parametrize(("dice", "kind"), [((5, 0), "reception"), ((5, 1), "incomplete")])
def test_a_short_pass_is_caught_at_the_rating_or_less(dice: tuple[int, int], kind: str) -> None:
    table = passing(45)
    assert table.state.phase is Phase.LIVE
    told = table.say(PassDeclared(RECEIVER))
    assert told[0].margin == pytest.approx(10 - 2 * HALF_YD, abs=0.01)
    assert kinds_of(table.say(Roll(dice)))[0] == kind


def test_a_long_pass_loses_a_per_cent_a_yard_past_twenty() -> None:
    table = passing(35 + 2 * HALF_YD + 25.5)
    table.say(PassDeclared(RECEIVER))
    assert kinds_of(table.say(Roll((4, 6))))[0] == "incomplete"
    table = passing(35 + 2 * HALF_YD + 25.5)
    table.say(PassDeclared(RECEIVER))
    assert kinds_of(table.say(Roll((4, 5))))[0] == "reception"


def test_a_defender_within_five_yards_intercepts_on_ten_and_one_that_touches_on_seven() -> None:
    near = Man(HITTER, stands(45 + 2 * HALF_YD + 1), "DB")
    table = passing(45, near)
    table.say(PassDeclared(RECEIVER))
    assert table.say(Roll((0, 1))) == []
    assert table.state.wait is not None
    assert table.state.wait.purpose == "interception"
    calls = table.say(Roll((10,)))
    assert kinds_of(calls) == ["interception"]
    assert (table.state.play.carrier, table.state.play.ball_side) == (HITTER, "away")
    table = passing(45, near)
    table.say(PassDeclared(RECEIVER), Roll((0, 1)))
    assert kinds_of(table.say(Roll((9,)))) == ["reception"]
    touching = Man(HITTER, stands(45 + 2 * HALF_YD - 0.01), "DB")
    table = passing(45, touching)
    table.say(PassDeclared(RECEIVER), Roll((0, 1)))
    assert kinds_of(table.say(Roll((7,)))) == ["interception"]
    far = Man(HITTER, stands(70), "DB")
    table = passing(45, far)
    table.say(PassDeclared(RECEIVER))
    assert kinds_of(table.say(Roll((0, 1)))) == ["reception"]


def test_a_catch_in_the_end_zone_is_a_touchdown() -> None:
    table = Filmed(Man(PASSER, stands(35, heading=0.0), "QB"), Man(RECEIVER, stands(102, heading=0.0), "WR"))
    table.say(PassDeclared(RECEIVER))
    assert kinds_of(table.say(Roll((0, 1)))) == ["reception", "touchdown"]


def test_who_may_not_catch() -> None:
    with pytest.raises(RefusedError, match="LD-047"):
        passing(45, heading=100.0).say(PassDeclared(RECEIVER))
    passing(45, heading=90.0).say(PassDeclared(RECEIVER))
    lineman = Filmed(Man(PASSER, stands(35, heading=0.0), "QB"), Man(RECEIVER, stands(45, heading=0.0), "G"))
    with pytest.raises(RefusedError, match="LD-046"):
        lineman.say(PassDeclared(RECEIVER))
    table = passing(45)
    table.say(by_hand("line_of_scrimmage", players=(PASSER,)))
    with pytest.raises(RefusedError, match="LD-040"):
        table.say(PassDeclared(RECEIVER))


@pytest.mark.parametrize(("dice", "carrier"), [((5, 0), RECEIVER), ((5, 1), PASSER)])
def test_a_pitch_is_rolled_for_too(dice: tuple[int, int], carrier: str) -> None:
    table = passing(33)
    table.say(Pitch(RECEIVER))
    calls = table.say(Roll(dice))
    assert table.state.play.carrier == carrier
    assert [call.verdict for call in calls] == ([] if carrier == RECEIVER else ["proposed"])


def test_refusals_change_nothing() -> None:
    table = game().at(40)
    before = table.state
    bodies: tuple[Declaration, ...] = (
        Roll((5, 5)),
        KickDeclared("onside"),
        KickDeclared("extra_point"),
        ChoiceMade("accept"),
        PassDeclared("dark-22"),
        Pitch("dark-22"),
    )
    for body in bodies:
        with pytest.raises(RefusedError):
            table.say(body)
        assert table.state == before
