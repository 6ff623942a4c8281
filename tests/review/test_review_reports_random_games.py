"""The box score is what a person counts on paper, over random games of every book and way of telling."""

from __future__ import annotations

import pytest
from counted_games import WAYS, CountedGame, Way

from downfield.officiating import declarations as d
from downfield.officiating.sides import SIDES
from downfield.officiating.unseen_declarations import OvertimeSetUp
from downfield.review.reports.statistics import drives_of, team_lines

NAMES = ("plays", "first_downs", "touchdowns", "field_goals", "turnovers")


@pytest.mark.parametrize(("book", "way"), WAYS)
@pytest.mark.parametrize("seed", range(5))
def test_the_box_score_is_what_was_counted_on_paper(book: str, way: Way, seed: int) -> None:
    game = CountedGame(book, way, seed).play(80)
    plays, paper = game.plays(), game.paper
    lines = team_lines(plays, game.game.rulebook.system.consequences)
    for line, side, score in zip(lines, SIDES, game.state.score, strict=True):
        counted = {name: getattr(line, name) for name in NAMES} | {"yards": round(10 * line.yards)}
        assert counted == {name: paper.of(side, name) for name in counted}, side
        assert sum(points for play in plays for scorer, points in play.points if scorer == side) == score
        if book != "nfl-strategy":
            assert line.sacks == paper.of(side, "sacks")
            assert line.fumbles == paper.of(side, "fumbles")
        if way == "cards":
            assert (line.passes, line.completions) == (paper.of(side, "passes"), paper.of(side, "completions"))
            assert line.fumbles == paper.of(side, "fumbles")
    yards = sum(drive.yards for drive in drives_of(plays))
    assert round(yards, 1) == round(sum(line.yards for line in lines), 1)


def test_a_touchdown_in_an_overtime_of_yards_gives_no_points_anywhere() -> None:
    game = CountedGame("tap", "ends", 1)
    game.declare(d.SetUp("home", 1, 50.0, score=(7, 7), overtime=OvertimeSetUp("home")), d.PlayEnded("touchdown"))
    (play,) = game.plays()
    assert (game.state.score, play.result, play.points) == ((7, 7), "Touchdown", ())
    assert [line.touchdowns for line in team_lines([play])] == [0, 0]
