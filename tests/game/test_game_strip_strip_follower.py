"""Following a game by its strip: agreement, questions with both answers, and what the strip alone declares."""

from __future__ import annotations

from typing import Any

import pytest
from strip_readings import FollowedTable

from downfield.core.errors import RefusedError
from downfield.core.records import adapter
from downfield.game.strip.strip_moves import StripFacts
from downfield.officiating.declarations import Declaration, FoulDeclared, SetUp
from downfield.officiating.unseen_declarations import CardPlayed


def table_at(spot: float = 36.0, *, down: int = 1, **options: Any) -> FollowedTable:
    table = FollowedTable(**options)
    table.declare(SetUp("home", 1, spot, down=down, clock_s=900.0))
    return table


def answer(table: FollowedTable, label: str) -> Declaration:
    question = table.view.question
    assert question is not None
    body = next(answer.declaration for answer in question.answers if answer.label.startswith(label))
    return adapter(Declaration).validate_python(body)  # type: ignore[no-any-return]


def test_a_strip_that_says_what_the_game_says_agrees() -> None:
    table = table_at()
    view = table.shows(table.agreed())
    assert (view.status, view.question) == ("agrees", None)
    assert (view.slide_yd, view.third, view.numbers["down"]) == (36, "center", 1)


def test_a_slide_two_yards_off_is_asked_about_with_both_answers() -> None:
    table = table_at(36.0)
    view = table.shows(table.agreed(spot_yd=34.0))
    assert view.status == "differs"
    assert view.question is not None
    assert view.question.text == "The slide says H 34; the game says H 36: which?"
    assert [answer.label for answer in view.question.answers][-2:] == ["Slide: H 34 (Away ball)", "Game: H 36"]


def test_the_slides_answer_moves_the_game_there() -> None:
    table = table_at(36.0, down=2)
    table.shows(table.agreed(spot_yd=34.0))
    table.declare(answer(table, "Slide: H 34"))
    assert (table.state.los_yd, table.state.down, table.state.distance_yd) == (34.0, 2, 12.0)
    assert table.shows(table.agreed()).question is None


def test_the_games_answer_is_asked_again_only_when_something_changes() -> None:
    table = table_at(36.0)
    view = table.shows(table.agreed(spot_yd=34.0))
    assert view.question is not None
    table.follower.keep_game(view.question.id)
    assert table.shows(table.agreed(spot_yd=34.0), 30).question is None
    assert table.shows(table.agreed(spot_yd=33.0)).question is not None


def test_an_answer_to_a_question_that_is_gone_is_refused() -> None:
    table = table_at(36.0)
    view = table.shows(table.agreed(spot_yd=34.0))
    assert view.question is not None
    table.shows(table.agreed())
    with pytest.raises(RefusedError, match="not open"):
        table.follower.keep_game(view.question.id)


def test_a_strip_not_yet_set_after_a_play_is_waited_for_before_anybody_is_asked() -> None:
    table = table_at(36.0)
    before = table.agreed()
    table.shows(before)
    table.declare(CardPlayed("run", "5", roll=60, dot="black"))
    assert table.shows(before, 15).question is None
    assert table.shows(before, 8).question is not None


def test_nobody_is_asked_while_the_coach_still_sets_the_strip() -> None:
    table = table_at(36.0)
    for yard in (30.0, 32.0, 34.0, 31.0):
        assert table.shows(table.agreed(spot_yd=yard), 2.0).question is None


def test_a_hand_over_the_strip_takes_the_question_back() -> None:
    table = table_at(36.0)
    assert table.shows(table.agreed(spot_yd=34.0)).question is not None
    assert table.shows(table.agreed(spot_yd=34.0), 0.4, settled=False).question is None


@pytest.mark.parametrize("sure", [0.5, 0.89])
def test_what_is_not_read_for_sure_is_no_difference(sure: float) -> None:
    table = table_at(36.0)
    assert table.shows(table.agreed(spot_yd=34.0, home=21), sure=sure).question is None


def test_a_third_that_the_card_left_open_is_taken_from_the_strip() -> None:
    table = table_at(36.0)
    table.declare(CardPlayed("run", "5", roll=60))
    running = table.state.system
    view = table.shows(table.agreed(third="right"))
    assert (table.state.hash, view.question, view.status) == ("right", None, "agrees")
    assert table.state.system == running, "the clock goes on as it did"


def test_a_third_that_the_card_told_is_asked_about() -> None:
    table = table_at(36.0)
    table.declare(CardPlayed("run", "5", roll=60, dot="black"))
    view = table.shows(table.agreed(third="right"))
    assert table.state.hash == "left"
    assert view.question is not None


@pytest.mark.parametrize("option", ["accept", "decline"])
def test_a_penalty_is_taken_or_declined_as_the_strip_was_set(option: str) -> None:
    table = table_at(36.0)
    table.declare(CardPlayed("run", "7", roll=11, reroll=60, dot="red"), FoulDeclared("home", 10))
    spot, down = (43.0, 2) if option == "decline" else (26.0, 1)
    facts = table.agreed(spot_yd=spot, third="center", down=down, minutes=14, seconds=50)
    view = table.shows(facts)
    assert table.state.wait is None
    assert (table.state.los_yd, table.state.down, view.status) == (spot, down, "agrees")


def test_a_move_without_a_card_is_asked_about_as_a_play() -> None:
    table = table_at(36.0)
    view = table.shows(table.agreed(spot_yd=41.0, third="left", down=2, minutes=14, seconds=50))
    assert view.question is not None
    assert view.question.answers[0].label == "The play ended at H 41, Home ball"
    table.declare(answer(table, "The play ended"))
    assert (table.state.los_yd, table.state.down, table.state.hash) == (41.0, 2, "left")
    assert table.shows(table.agreed()).status == "agrees"


def test_a_move_that_one_play_explains_is_declared_where_that_is_configured() -> None:
    table = table_at(36.0, declares=True)
    view = table.shows(table.agreed(spot_yd=41.0, third="left", down=2, minutes=14, seconds=50))
    assert (table.state.los_yd, table.state.down, view.question) == (41.0, 2, None)
    assert [event.origin for event in table.taken] == ["vision"]


def test_a_first_down_that_either_side_may_have_is_asked_about_all_the_same() -> None:
    table = table_at(36.0, declares=True)
    view = table.shows(table.agreed(spot_yd=60.0, third="left", minutes=14, seconds=50))
    assert view.question is not None
    assert {answer.label for answer in view.question.answers} >= {
        "The play ended at A 40, Home ball",
        "The play ended at A 40, Away ball",
    }


def test_an_incomplete_pass_and_a_run_for_no_gain_look_alike_and_are_asked_about() -> None:
    table = table_at(36.0, declares=True)
    view = table.shows(table.agreed(down=2, minutes=14, seconds=50))
    assert table.state.down == 1
    assert view.question is not None
    assert {answer.label for answer in view.question.answers} >= {
        "Incomplete pass",
        "The play ended at H 36, Home ball",
    }


def test_a_touchdown_is_declared_from_the_dials() -> None:
    table = table_at(90.0, declares=True)
    table.shows(table.agreed(home=6, minutes=14, seconds=50))
    assert table.state.score == (6, 0)
    assert table.state.wait is not None
    table.shows(table.agreed(home=7))
    assert (table.state.score, table.state.due) == ((7, 0), "kickoff")


def test_dice_that_are_due_are_not_guessed_from_the_strip() -> None:
    table = table_at(36.0, declares=True)
    table.declare(CardPlayed("run", "5F", roll=60, dot="red"))
    assert table.state.wait is not None
    view = table.shows(StripFacts(41.0, "center", {**table.agreed().numbers, "down": 2}), 30)
    assert (view.question, table.taken) == (None, [])


def test_a_game_under_another_rulebook_is_left_alone() -> None:
    table = FollowedTable("tap")
    view = table.shows(StripFacts(34.0, "left", {"home": 3}), 30)
    assert (view.status, view.question, table.taken) == ("other", None, [])


def test_nothing_is_published_again_while_nothing_changes() -> None:
    table = table_at()
    table.shows(table.agreed(), 10)
    assert len(table.views) == 1


def test_a_recording_shown_again_is_followed_from_its_beginning() -> None:
    table = table_at(36.0)
    assert table.shows(table.agreed(spot_yd=34.0)).question is not None
    table.now_ns = 0
    assert table.shows(table.agreed(spot_yd=34.0), 1.0).question is None
    assert table.shows(table.agreed(spot_yd=34.0)).question is not None
