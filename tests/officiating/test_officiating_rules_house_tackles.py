"""What leagues add to tackles: yards by the side of a hit, fumbles by dice and hard hits, the pass rush."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from declared_game import DeclaredGame, kinds
from scripted_plays import FIELD, ScriptedFigure, film, judge_play, only_call, stands

from downfield.core.errors import RefusedError, RulebookError
from downfield.game.published.plays import PlayedGame, plays_of
from downfield.game.published.views import CallContext, call_view
from downfield.game.records.entries import GameStarted, record_of
from downfield.officiating.declarations import PassDeclared, PlayEnded, Roll, Switch
from downfield.officiating.rulebooks.rulebook import Rulebook, parse_rulebook
from downfield.officiating.state.game_state import Phase

BOOKS = ("tap", "efl", "lions-den")
Path = Callable[[float], tuple[float, float, float]]


def book(name: str, *lines: str) -> Rulebook:
    """A book with some parameters of a league; Lion's Den without its rolls after a down."""
    rolls = ["[penalty]", "rolled = false"] if name == "lions-den" else []
    return parse_rulebook("\n".join([f'base = "{name}"', *lines, *rolls]), "league")


def gain_yd(table: DeclaredGame) -> float | None:
    """The gain of the last play as everybody reads it."""
    started = GameStarted(record_of(table.game.rulebook), FIELD)
    context = CallContext(started, lambda _: "", frozenset(), {}, {})
    calls = [call_view(call, context) for call in table.game.calls]
    return plays_of(PlayedGame(table.game.plays, calls))[-1].gain_yd


def runs(t_s: float) -> tuple[float, float, float]:
    """A runner from the 41 on at 5 yd/s from 0.5 s on."""
    return 41.0 + 5.0 * max(0.0, t_s - 0.5), 26.0, 0.0


def from_behind(t_s: float) -> tuple[float, float, float]:
    """A chaser, at 9 yd/s from 5 yd behind."""
    return 34.0 + 9.0 * max(0.0, t_s - 0.5), 26.0, 0.0


def from_the_side(t_s: float) -> tuple[float, float, float]:
    """A man who runs with the carrier and closes in on his side at 3 yd/s."""
    return 41.0 + 5.0 * max(0.0, t_s - 0.5), 33.0 - 3.0 * max(0.0, t_s - 0.5), 270.0


def head_on(t_s: float) -> tuple[float, float, float]:
    """A man who comes at the carrier at 5 yd/s."""
    return 54.0 - 5.0 * max(0.0, t_s - 0.5), 26.0, 180.0


BONUS = ("[tackle]", "side_bonus_yd = 2", "rear_bonus_yd = 5")


@pytest.mark.parametrize("name", BOOKS)
@pytest.mark.parametrize(("path", "bonus"), [(head_on, 0.0), (from_the_side, 2.0), (from_behind, 5.0)])
def test_a_hit_gives_the_yards_of_its_side_by_camera(name: str, path: Path, bonus: float) -> None:
    men = [ScriptedFigure("dark-22", runs, "RB"), ScriptedFigure("light-50", path, "LB")]
    shown = film(men, 4.0, on=((0.5, 99.0),))
    plain, league = (judge_play(shown, "dark-22", book=book(name, *lines)) for lines in ((), BONUS))
    before, after = only_call(plain, "tackle"), only_call(league, "tackle")
    assert before.spot_yd is not None
    assert after.spot_yd == pytest.approx((before.spot_yd[0] + bonus, before.spot_yd[1]))
    assert league.state.los_yd == pytest.approx(plain.state.los_yd + bonus)
    assert after.probability == pytest.approx(before.probability)
    assert ("yards for a hit from" in after.text) == (bonus > 0)


@pytest.mark.parametrize("name", BOOKS)
@pytest.mark.parametrize(
    ("hit", "spot", "line"),
    [("front", 44.0, 44.0), ("side", 44.0, 46.0), ("rear", 44.0, 49.0), ("rear", 97.0, 99.0), ("rear", 99.5, 99.5)],
)
def test_a_hit_gives_the_yards_of_its_side_by_hand(name: str, hit: Any, spot: float, line: float) -> None:
    table = DeclaredGame(book(name, *BONUS)).at(40.0)
    table.declare(PlayEnded("tackle", (spot, 26.0), hit=hit))
    assert table.state.los_yd == pytest.approx(line)
    assert gain_yd(table) == pytest.approx(line - 40.0)
    assert table.state.score == (0, 0)


def test_a_hit_behind_the_own_goal_line_is_a_safety_whatever_its_side() -> None:
    table = DeclaredGame(book("tap", *BONUS)).at(4.0)
    table.declare(PlayEnded("tackle", (-1.0, 26.0), hit="rear"))
    assert table.state.score == (0, 2)


def test_only_tackles_hit() -> None:
    with pytest.raises(RefusedError, match="only a tackle has a hit"):
        DeclaredGame(book("tap", *BONUS)).at(40.0).declare(PlayEnded("out_of_bounds", (44.0, 0.0), hit="rear"))


def test_all_mistakes_of_a_league_s_tackles_are_told_at_once() -> None:
    wrong = ("[tackle]", "side_bonus_yd = -1", "hard_hit_mm_s = true", "fumble_sums = [1, 7]", "rear_bonus = 5")
    with pytest.raises(RulebookError) as told:
        book("tap", *wrong)
    for name in ("4 mistakes", "tackle.side_bonus_yd", "tackle.hard_hit_mm_s", "fumble_sums: 1", "rear_bonus_yd"):
        assert name in str(told.value)


DICE = ("[tackle]", "fumble_sums = [2, 12]")


@pytest.mark.parametrize("name", BOOKS)
def test_dice_say_after_a_tackle_whether_it_is_a_fumble(name: str) -> None:
    table = DeclaredGame(book(name, *DICE)).at(40.0)
    table.declare(PlayEnded("tackle", (44.5, 26.0)))
    assert (table.state.phase, table.state.wait and table.state.wait.purpose) == (Phase.PENDING_ROLL, "fumble_dice")
    table.declare(Roll((3, 4)))
    assert (table.state.down, table.state.los_yd, gain_yd(table)) == (2, 44.5, 4.5)
    made = table.declare(PlayEnded("tackle", (47.0, 26.0)), Roll((6, 6)))
    assert kinds(made) == ["tackle", "fumble"]


def test_a_fumble_by_dice_is_lost_or_kept_as_the_book_has_it() -> None:
    lost = DeclaredGame(book("efl", *DICE)).at(40.0)
    lost.declare(PlayEnded("tackle", (44.5, 26.0)), Roll((1, 1)), PlayEnded("recovered", (43.0, 26.0), by="away"))
    lost.declare(PlayEnded("stopped", (30.0, 26.0), by="away"))
    assert (lost.state.offense, lost.state.los_yd, gain_yd(lost)) == ("away", 30.0, 4.5)


@pytest.mark.parametrize("name", BOOKS)
def test_no_dice_are_rolled_where_no_league_asks_nor_for_another_end(name: str) -> None:
    table = DeclaredGame(book(name)).at(40.0)
    table.declare(PlayEnded("tackle", (44.0, 26.0)))
    assert table.state.wait is None
    table = DeclaredGame(book(name, *DICE)).at(40.0)
    table.declare(PlayEnded("out_of_bounds", (44.0, 0.0)))
    assert table.state.wait is None


@pytest.mark.parametrize("name", BOOKS)
@pytest.mark.parametrize(("least", "kind"), [(40, "fumble"), (200, "tackle")])
def test_a_hard_hit_is_a_fumble(name: str, least: int, kind: Any) -> None:
    men = [ScriptedFigure("dark-22", runs, "RB"), ScriptedFigure("light-50", head_on, "LB")]
    shown = film(men, 4.0, on=((0.5, 99.0),))
    judged = judge_play(shown, "dark-22", book=book(name, "[tackle]", f"hard_hit_mm_s = {least}"))
    made = only_call(judged, kind)
    assert made.numbers is not None
    assert made.numbers.closing_mm_s == pytest.approx(10.0 * FIELD.mm_per_yd_x, rel=0.02)


def test_a_hit_as_hard_as_the_limit_is_too_close() -> None:
    men = [ScriptedFigure("dark-22", runs, "RB"), ScriptedFigure("light-50", head_on, "LB")]
    shown = film(men, 4.0, on=((0.5, 99.0),), sigma_gap_mm=0.5)
    limit = f"hard_hit_mm_s = {10.0 * FIELD.mm_per_yd_x:.1f}"
    judged = judge_play(shown, "dark-22", book=book("tap", "[tackle]", limit))
    close = [call for call in judged.calls if call.verdict == "too_close" and call.kind in {"tackle", "fumble"}]
    assert {reading.kind for call in close for reading in call.readings} == {"tackle", "fumble"}


RUSH = ("[pass]", "rush_s = 2")


@pytest.mark.parametrize("name", BOOKS)
def test_a_passer_who_holds_the_ball_too_long_is_sacked(name: str) -> None:
    men = [ScriptedFigure("dark-7", stands(35.0), "QB"), ScriptedFigure("light-50", stands(80.0), "LB")]
    shown = film(men, 5.0, on=((0.5, 1.5), (2.5, 99.0)))
    sack = only_call(judge_play(shown, "dark-7", book=book(name, *RUSH)), "sack")
    assert sack.t_ns / 1e9 == pytest.approx(3.5, abs=0.1)  # a second before the stoppage and one after it
    assert not [call for call in judge_play(shown, "dark-7", book=book(name)).calls if call.kind == "sack"]


@pytest.mark.parametrize("name", BOOKS)
def test_a_runner_is_not_rushed(name: str) -> None:
    men = [ScriptedFigure("dark-22", stands(35.0), "RB"), ScriptedFigure("light-50", stands(80.0), "LB")]
    shown = film(men, 4.0, on=((0.5, 99.0),))
    assert not [c for c in judge_play(shown, "dark-22", book=book(name, *RUSH)).calls if c.kind == "sack"]


def test_a_pass_after_the_rush_is_refused_by_hand() -> None:
    for seconds, refused in ((2, False), (3, True)):
        table = DeclaredGame(book("tap", *RUSH)).at(40.0)
        table.declare(Switch(True))
        for _ in range(seconds - 1):
            next(table._count)  # nothing is declared in these seconds
        table.declare(Switch(False))
        if not refused:
            table.declare(PassDeclared())
            continue
        with pytest.raises(RefusedError, match=r"the board has run 3\.0 s and the rush is in after 2"):
            table.declare(PassDeclared())
        table.declare(PlayEnded("sack", (36.0, 26.0)))
        assert table.state.los_yd == 36.0


@pytest.mark.parametrize("name", BOOKS)
@pytest.mark.parametrize(("front", "told"), [(0.8, "for a hit from behind"), (0.1, "tackled by light-50")])
def test_a_hit_whose_side_nobody_can_tell_waits_for_a_person(name: str, front: float, told: str) -> None:
    men = [ScriptedFigure("dark-22", runs, "RB", front=front), ScriptedFigure("light-50", from_behind, "LB")]
    made = judge_play(film(men, 4.0, on=((0.5, 99.0),)), "dark-22", book=book(name, *BONUS))
    tackle = only_call(made, "tackle")
    assert tackle.verdict == "too_close"
    assert tackle.probability == pytest.approx(max(front, 1.0 - front))
    assert told in tackle.text
    assert {reading.kind for reading in tackle.readings} == {"tackle"}
    alike = judge_play(film(men, 4.0, on=((0.5, 99.0),)), "dark-22", book=book(name, "[tackle]", "side_bonus_yd = 2"))
    assert only_call(alike, "tackle").verdict == "called"  # neither end gives any yards


@pytest.mark.parametrize("name", BOOKS)
@pytest.mark.parametrize(("dice", "phase"), [((3, 4), Phase.BETWEEN_PLAYS), ((6, 6), None)])
def test_dice_after_a_tackle_that_the_camera_saw(name: str, dice: tuple[int, int], phase: Phase | None) -> None:
    men = [ScriptedFigure("dark-22", runs, "RB"), ScriptedFigure("light-50", head_on, "LB")]
    made = judge_play(film(men, 5.0, on=((0.5, 99.0),)), "dark-22", (4.0, Roll(dice)), book=book(name, *DICE))
    assert not made.refused
    if phase is not None:
        assert (made.state.phase, made.state.down) == (phase, 2)
        return
    assert "fumble" in [call.kind for call in made.calls]
    wait = made.state.wait
    assert (wait.purpose if wait else None) == ("fumble" if name == "tap" else None)
