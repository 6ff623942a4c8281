from __future__ import annotations

from dataclasses import replace

import pytest
from scripted_plays import (
    FIELD,
    HALF_YD,
    MIDDLE_YD,
    Film,
    ScriptedFigure,
    TimedEntry,
    film,
    judge_play,
    kinds,
    number_events,
    only_call,
    runs,
    stands,
)

from downfield.core.scene import Ball
from downfield.officiating.declarations import (
    Carrier,
    ChoiceMade,
    Claim,
    ClockSet,
    KickDeclared,
    LineUpDeclared,
    OffenseSet,
    Pitch,
    Roll,
    Separated,
    SetUp,
)
from downfield.officiating.engine.recording import Judgment, judge_recording
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.officiating.rulebooks.tap.system import TAP
from downfield.officiating.state.game_state import Phase

RUNNER, RETURNER, GUNNER, PUNTER, COVER = "dark-22", "dark-1", "dark-88", "dark-7", "light-40"
EMPTY = film([ScriptedFigure(RUNNER, stands(30), "RB"), ScriptedFigure(COVER, stands(70), "LB")], 1.0, on=())


def table(*said: TimedEntry, film: Film = EMPTY, book: str | Rulebook = "tap") -> Judgment:
    """What comes of declarations alone, or with a film."""
    rulebook = load_rulebook(book) if isinstance(book, str) else book
    return judge_recording(film.scenes, number_events((0.0, LineUpDeclared(film.players)), *said), rulebook, FIELD)


def after_touchdown(*more: TimedEntry) -> Judgment:
    """A touchdown at about one second, then what is declared from two seconds on."""
    run = film([ScriptedFigure(RUNNER, runs(95), "RB"), ScriptedFigure(COVER, stands(40), "LB")], 3.0, on=((0.5, 1.5),))
    return judge_play(run, RUNNER, *more, line_yd=94.0)


@pytest.mark.parametrize(("dice", "points"), [((1, 1), 6), ((1, 2), 7), ((6, 6), 7)])
def test_an_extra_point_is_good_on_anything_but_snake_eyes(dice: tuple[int, int], points: int) -> None:
    made = after_touchdown((3.5, ChoiceMade("extra_point")), (4.0, Roll(dice)))
    assert made.refused == ()
    assert made.state.score == (points, 0)
    assert (made.state.due, made.state.kicking, made.state.offense) == ("kickoff", "home", "away")
    assert made.state.direction == -1


def test_a_two_point_try_starts_at_the_five_with_the_clock_stopped() -> None:
    made = after_touchdown((3.2, ClockSet(True, 100.0)), (3.5, ChoiceMade("two_point")))
    assert made.state.situation == "two point from A 5"
    assert not made.state.clock.running
    assert made.state.los_yd == pytest.approx(95.0)


def two_point(men: list[ScriptedFigure]) -> Judgment:
    score = film([ScriptedFigure(RUNNER, runs(95, stop_s=1.2), "RB")], 1.5, on=((0.5, 1.4),))
    again = film(men, 3.0, on=((0.5, 2.5),))
    scenes = (*score.scenes, *(replace(scene, t_ns=scene.t_ns + 4_000_000_000) for scene in again.scenes))
    declarations = number_events(
        (0.0, SetUp("home", 1, 94.0)),
        (0.0, LineUpDeclared(again.players)),
        (0.1, Carrier(RUNNER)),
        (3.0, ChoiceMade("two_point")),
        (3.5, Carrier(RUNNER)),
    )
    return judge_recording(scenes, declarations, load_rulebook("tap"), FIELD)


def test_a_two_point_try_over_the_line_is_two_points_and_a_kickoff() -> None:
    made = two_point([ScriptedFigure(RUNNER, runs(94), "RB"), ScriptedFigure(COVER, stands(60), "LB")])
    assert made.state.score == (8, 0)
    assert made.state.due == "kickoff"
    assert kinds(made).count("touchdown") == 2


def test_a_two_point_try_that_is_tackled_fails() -> None:
    made = two_point(
        [
            ScriptedFigure(RUNNER, runs(93, stop_s=0.5 + 0.1), "RB"),
            ScriptedFigure(COVER, stands(94 + 2 * HALF_YD), "LB"),
        ]
    )
    assert only_call(made, "two_point").detail == "failed"
    assert made.state.score == (6, 0)
    assert made.state.due == "kickoff"


@pytest.mark.parametrize(
    ("line_yd", "dice", "good"),
    [(86.0, (5, 6), True), (84.6, (6, 6), False), (84.6, (5, 5), True), (60.0, (3, 4), True), (60.0, (4, 4), False)],
)
def test_a_field_goal_by_the_chart(line_yd: float, dice: tuple[int, int], good: bool) -> None:
    made = table((0.1, SetUp("home", 1, line_yd, 4, 5)), (0.2, KickDeclared("field_goal")), (0.5, Roll(dice)))
    assert made.refused == ()
    if good:
        assert made.state.score == (3, 0)
        assert (made.state.due, made.state.offense) == ("kickoff", "away")
    else:
        assert made.state.score == (0, 0)
        assert (made.state.offense, made.state.los_yd, made.state.down) == ("away", line_yd, 1)
        assert made.state.direction == -1


def test_a_field_goal_from_beyond_the_forty_and_impossible_dice_are_refused() -> None:
    assert "TAP-129" in table((0.1, SetUp("home", 1, 59.0)), (0.2, KickDeclared("field_goal"))).refused[0].reason
    made = table(
        (0.1, SetUp("home", 1, 80.0)), (0.2, KickDeclared("field_goal")), (0.3, Roll((7, 1))), (0.4, Roll((3,)))
    )
    assert len(made.refused) == 2
    assert made.state.phase is Phase.PENDING_ROLL


def test_a_touchback_is_the_25_before_the_kickoff_and_the_20_after() -> None:
    before = table((0.1, KickDeclared("kickoff")), (0.2, ChoiceMade("touchback")))
    assert before.state.situation == "1st & 10 at H 25"
    ran = film(
        [ScriptedFigure(RETURNER, stands(0), "KR"), ScriptedFigure(COVER, stands(60), "LB")], 5.0, on=((0.5, 3.5),)
    )
    after = table((0.1, KickDeclared("kickoff", returner=RETURNER)), (4.0, ChoiceMade("touchback")), film=ran)
    assert after.refused == ()
    assert after.state.situation == "1st & 10 at H 20"
    assert "TAP-052" in only_call(after, "touchback").clauses


def test_a_kickoff_return_is_tackled_first_and_ten_there() -> None:
    men = [
        ScriptedFigure(RETURNER, runs(0, start_s=5.0, stop_s=5.0 + (30 - 2 * HALF_YD) / 10), "KR"),
        ScriptedFigure(COVER, stands(30), "LB"),
    ]
    ran = film(men, 9.5, on=((0.5, 3.5), (5.0, 9.0)))
    made = table((0.1, KickDeclared("kickoff", returner=RETURNER)), (4.0, ChoiceMade("return")), film=ran)
    assert made.refused == ()
    assert made.state.situation == "1st & 10 at H 28.5"
    assert made.state.offense == "home"


def test_a_kickoff_returned_all_the_way_is_a_touchdown() -> None:
    ran = film(
        [ScriptedFigure(RETURNER, runs(0, speed=40, start_s=5.0), "KR"), ScriptedFigure(COVER, stands(30, 5), "LB")],
        8.0,
        ((0.5, 3.5), (5, 9)),
    )
    made = table((0.1, KickDeclared("kickoff", returner=RETURNER)), (4.0, ChoiceMade("return")), film=ran)
    assert made.state.score == (6, 0)


def test_only_a_trailing_team_may_kick_onside() -> None:
    made = table((0.1, KickDeclared("onside")))
    assert "TAP-058" in made.refused[0].reason
    assert made.state.phase is Phase.BETWEEN_PLAYS


def trailing(*more: TimedEntry, film: Film = EMPTY) -> Judgment:
    """Home has missed its try after a touchdown of away's: no; away leads by a field goal and home kicks off."""
    lead = ((0.05, SetUp("home", 1, 80.0, score=(0, 14))), (0.1, KickDeclared("field_goal")), (0.15, Roll((1, 1))))
    return table(*lead, *more, film=film)


@pytest.mark.parametrize("dice", [(1, 1), (4, 5)])
def test_a_short_onside_roll_gives_the_receivers_the_ball_where_it_went(dice: tuple[int, int]) -> None:
    made = trailing((0.2, KickDeclared("onside")), (0.3, Roll(dice)))
    assert made.refused == ()
    assert (made.state.offense, made.state.situation) == ("away", f"1st & 10 at H {30 + sum(dice)}")


def test_an_onside_kick_in_play_goes_to_the_first_to_touch_it() -> None:
    place = Ball("magnetic", 41 * FIELD.mm_per_yd_x, 20 * FIELD.mm_per_yd_y)
    fight = film(
        [
            ScriptedFigure("light-5", runs(30, 20.0, 8.0), "K"),
            ScriptedFigure("dark-5", runs(50, 20.0, 4.0, 180.0), "KR"),
        ],
        3.0,
        on=((0.5, 9),),
        ball=lambda t_s: place if t_s > 0.4 else None,
    )
    made = trailing((0.2, KickDeclared("onside")), (0.3, Roll((5, 6))), (0.35, Roll((1, 1))), film=fight)
    assert made.refused == ()
    assert only_call(made, "kick").players == ("light-5",)
    assert (made.state.offense, made.state.situation) == ("home", "1st & 10 at H 41")


def punting(gunner_yd: float = 60.0) -> Film:
    men = [
        ScriptedFigure(PUNTER, stands(20, heading=0.0), "P"),
        ScriptedFigure(GUNNER, stands(gunner_yd, 48.0, 0.0), "WR"),
        ScriptedFigure("light-1", stands(105, 2.0), "KR"),
    ]
    return film(men, 4.0, on=((0.5, 1.0), (3.0, 9.0)))


def punt(gunner_yd: float, *more: TimedEntry) -> Judgment:
    declared = (
        (0.1, SetUp("home", 1, 40.0, 4, 10)),
        (0.2, KickDeclared("punt", (GUNNER,), "light-1")),
        (0.3, Carrier(PUNTER)),
        (1.5, ChoiceMade("punt")),
    )
    return table(*declared, *more, film=punting(gunner_yd))


def test_a_punt_comes_down_ten_yards_past_the_front_of_the_deepest_gunner() -> None:
    made = punt(60.0)
    assert made.refused == ()
    kick = only_call(made, "kick")
    assert kick.spot_yd == pytest.approx((60 + HALF_YD + 10, 48.0), abs=0.01)
    assert made.state.play.carrier == "light-1"
    assert made.state.play.ball_side == "away"
    assert made.state.phase is Phase.LIVE


def test_a_punt_into_the_end_zone_may_be_a_touchback() -> None:
    made = punt(95.0, (1.7, ChoiceMade("touchback")))
    assert made.refused == ()
    assert (made.state.offense, made.state.situation) == ("away", "1st & 10 at A 20")
    assert made.state.direction == -1


def test_a_punt_needs_one_or_two_gunners_of_the_right_team() -> None:
    for gunners, reason in (((), "TAP-115"), (("light-1",), "does not play for"), (("dark-0",), "no figure")):
        made = table((0.1, SetUp("home", 1, 40.0)), (0.2, KickDeclared("punt", gunners)), film=punting())
        assert reason in made.refused[0].reason


def test_a_punt_is_no_longer_possible_past_the_line_or_without_a_stoppage() -> None:
    declared = ((0.1, SetUp("home", 1, 40.0)), (0.2, KickDeclared("punt", (GUNNER,))), (0.3, Carrier(PUNTER)))
    assert "punt" in table(*declared, (0.7, ChoiceMade("punt")), film=punting()).refused[0].reason


def test_penalties_are_called_only_when_claimed_in_time() -> None:
    crowd = film([ScriptedFigure(f"light-{n}", stands(60, 3 + 4 * n), "DB") for n in range(12)], 1.0, on=())
    start: tuple[TimedEntry, ...] = ((0.1, SetUp("home", 1, 40.0)),)
    made = table(*start, (0.5, Claim("too_many_men", "home")), film=crowd)
    assert (made.state.situation, made.state.down) == ("1st & 5 at H 45", 1)
    assert "has 0 on the field" in table(*start, (0.5, Claim("too_many_men", "away")), film=crowd).refused[0].reason
    after = judge_play(
        film([ScriptedFigure(RUNNER, stands(30), "RB")], 2.0), RUNNER, (1.5, Claim("too_many_men", "away"))
    )
    assert "before the snap" in after.refused[0].reason


@pytest.mark.parametrize(("seconds", "late"), [(39.9, False), (40.1, True)])
def test_delay_of_game_is_the_opponents_to_claim_after_forty_seconds(seconds: float, late: bool) -> None:
    start: tuple[TimedEntry, ...] = (
        (0.0, SetUp("home", 1, 40.0)),
        (0.1, Carrier(RUNNER)),
        (2.0, ChoiceMade("stop_here")),
        (3.0, Separated()),
        (3.0 + seconds, Claim("delay_of_game", "away")),
    )
    run = film([ScriptedFigure(RUNNER, stands(45), "RB")], 2.0, on=((0.5, 1.5),))
    made = table(*start, film=run)
    assert bool(made.refused) != late
    assert ("penalty" in kinds(made)) == late


def test_time_outs_reviews_and_interference_without_a_pass_are_refused() -> None:
    run = film([ScriptedFigure(RUNNER, stands(30), "RB")], 2.0)
    for claim, reason in (
        ("time_out", "TAP-135"),
        ("review", "no reviews"),
        ("defensive_pass_interference", "TAP-109"),
        ("gunner_interference", "TAP-115"),
    ):
        made = judge_play(run, RUNNER, (1.5, Claim(claim, "home")))  # type: ignore[arg-type]
        assert reason in made.refused[0].reason


def test_declarations_that_do_not_fit_are_refused_and_change_nothing() -> None:
    play = film([ScriptedFigure(RUNNER, stands(30), "RB"), ScriptedFigure(COVER, stands(70), "LB")], 2.0)
    for declaration, reason in (
        (OffenseSet(), "not now"),
        (SetUp("home", 1, 30.0), "not now"),
        (Separated(), "not now"),
        (LineUpDeclared(play.players), "not now"),
        (Carrier(COVER), "not now"),
        (Pitch(RUNNER), "not now"),
        (KickDeclared("kickoff"), "not now"),
        (KickDeclared("field_goal"), "not now"),
        (Roll((1, 2)), "does not wait"),
        (ClockSet(True), "enter how much"),
        (ClockSet(True, -1.0), "negative"),
    ):
        plain, with_it = judge_play(play, RUNNER), judge_play(play, RUNNER, (1.5, declaration))
        assert reason in with_it.refused[0].reason
        assert replace(with_it.state, now_ns=0) == replace(plain.state, now_ns=0)


@pytest.mark.parametrize("spot", [-1.0, 0.0, 100.0, 130.0])
def test_an_impossible_set_up_is_refused(spot: float) -> None:
    assert "on the field" in table((0.1, SetUp("home", 1, spot))).refused[0].reason


def test_overtime_is_one_play_each_and_more_yards_win_if_positive() -> None:
    def play(gain: float) -> list[ScriptedFigure]:
        return [
            ScriptedFigure(RUNNER, runs(49, start_s=0.5, stop_s=0.5 + gain / 10), "RB"),
            ScriptedFigure(COVER, stands(20, 5), "LB"),
        ]

    scenes = []
    for n, gain in enumerate((8.0, 3.0)):
        recorded = film(play(gain), 3.0, on=((0.5, 2.0),))
        scenes += [replace(scene, t_ns=scene.t_ns + (10 + 10 * n) * 1_000_000_000) for scene in recorded.scenes]
    declarations = number_events(
        (0.0, LineUpDeclared(recorded.players)),
        (1.0, SetUp("home", 1, 40.0, score=(7, 7))),
        (2.0, ClockSet(False, 0.0)),
        (3.0, ChoiceMade("offense_first", "home")),
        (9.0, Carrier(RUNNER)),
        (13.5, ChoiceMade("stop_here")),
        (19.0, Carrier(RUNNER)),
        (23.5, ChoiceMade("stop_here")),
    )
    made = judge_recording(scenes, declarations, load_rulebook("tap"), FIELD)
    assert made.refused == ()
    assert made.state.overtime is not None
    # The second side attacks the other way, so its runner, going the same way along the board, loses ground.
    assert made.state.overtime.gains_yd[0] == pytest.approx(49 + 8 + HALF_YD - 50, abs=0.05)
    assert only_call(made, "game_over").side == "home"
    assert made.state.phase is Phase.OVER


def test_a_game_that_is_not_tied_ends_when_time_runs_out() -> None:
    made = table((0.1, SetUp("home", 1, 40.0, score=(7, 10))), (0.5, ClockSet(False, 0.0)))
    assert only_call(made, "game_over").side == "away"


def test_a_league_may_change_the_kickoff_line_and_the_touchbacks() -> None:
    league = Rulebook("league", "", TAP, {"kickoff.touchback_before_yd": 30.0})
    made = table((0.1, KickDeclared("kickoff")), (0.2, ChoiceMade("touchback")), book=league)
    assert made.state.situation == "1st & 10 at H 30"


def test_a_fourth_down_short_is_a_turnover_on_downs() -> None:
    play = film(
        [ScriptedFigure(RUNNER, runs(41, stop_s=0.7), "RB"), ScriptedFigure(COVER, stands(80), "LB")],
        2.0,
        on=((0.5, 1.0),),
    )
    made = judge_play(play, RUNNER, (1.5, ChoiceMade("stop_here")), down=4)
    assert "turnover_on_downs" in kinds(made)
    assert (made.state.offense, made.state.direction, made.state.down) == ("away", -1, 1)
    assert pytest.approx(FIELD.width_yd / 2) == MIDDLE_YD
