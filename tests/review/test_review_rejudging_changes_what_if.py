"""What if: the same game under another rulebook is what judging it under that rulebook gives, and changes nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bundled import bundled_rulebooks
from played_table import PLAY, Table
from reviewed_rig import Reviewed
from scripted_plays import FIELD

from downfield.core.errors import BusyError, NotFoundError, RulebookError
from downfield.game.records.commands import NewGame
from downfield.game.records.keeping import GameRow
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook, parse_rulebook
from downfield.officiating.state.game_state import Team
from downfield.review.rejudging import changes as what_if_module
from downfield.review.rejudging import worker as worker_module
from downfield.review.rejudging.changes import what_if
from downfield.review.rejudging.rejudging import judge_again
from downfield.review.rejudging.worker import JudgingWorker
from downfield.store.history import History


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Table, GameRow]]:
    table = Table(tmp_path_factory.mktemp("table") / "games.db")
    game = table.begin()
    table.play()
    table.game_service.start_game(NewGame())
    row = table.store.game(game)
    assert row is not None
    yield table, row
    table.close()


def compare(finished: tuple[Table, GameRow], rulebook: Rulebook, play: int | None = None) -> Any:
    worker = JudgingWorker()
    try:
        return what_if(finished[0].store, finished[1], rulebook, worker, play)
    finally:
        worker.close()


@pytest.mark.parametrize("name", bundled_rulebooks())
def test_the_other_side_is_the_game_judged_under_that_rulebook(finished: tuple[Table, GameRow], name: str) -> None:
    table, row = finished
    found = compare(finished, load_rulebook(name))
    events = History(table.store, row).events
    teams = (Team("River City", "RIV"), Team("Away", "A"))
    judged = judge_recording(PLAY.scenes, events, load_rulebook(name), FIELD, teams=teams)
    assert (found.there.rulebook, found.there.score) == (name, judged.state.score)
    assert (found.there.text, found.there.calls) == (judged.state.text, len(judged.calls))
    assert found.here.rulebook == "tap"
    if name == "tap":
        assert (found.differences, found.plays, found.unused) == ((), (), ())


def test_house_rules_change_the_call_they_are_about(finished: tuple[Table, GameRow]) -> None:
    lenient = parse_rulebook('base = "tap"\nname = "river"\n[policy]\ntackle = "propose"\n', "river.toml")
    found = compare(finished, lenient)
    (tackle,) = (one for one in found.differences if one.here is not None and one.here.kind == "tackle")
    assert (tackle.play, tackle.here.verdict, tackle.there.verdict) == (1, "called", "proposed")
    assert "TAP-022" in tackle.here_clauses
    assert compare(finished, lenient, play=1).differences == found.differences
    with pytest.raises(NotFoundError, match="no play 2"):
        compare(finished, lenient, play=2)


def test_nothing_is_written(finished: tuple[Table, GameRow]) -> None:
    before = History(finished[0].store, finished[1]).head
    compare(finished, load_rulebook("efl"))
    assert History(finished[0].store, finished[1]).head == before


@pytest.mark.parametrize("text", ["base = ", "[" * 5_000, 'base = "nowhere"', 'base = "tap"\n[tackle]\nteeth = 3\n'])
def test_house_rules_that_are_none_are_told(text: str) -> None:
    with pytest.raises(RulebookError, match="house rules"):
        parse_rulebook(text, "house rules")


def test_a_game_that_takes_too_long_is_stopped(
    finished: tuple[Table, GameRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "JUDGING_LIMITS", worker_module.JudgingLimits(longest_s=0.0))
    with pytest.raises(BusyError, match="was stopped"):
        compare(finished, load_rulebook("tap"))


def test_one_that_takes_long_goes_on_for_whoever_comes_back(
    finished: tuple[Table, GameRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, worker, ended, begun = finished[0].store, JudgingWorker(), threading.Event(), []

    def slow(*given: Any) -> Any:
        begun.append(given)
        ended.wait()
        return judge_again(*given)

    monkeypatch.setattr(what_if_module, "judge_again", slow)
    monkeypatch.setattr(worker_module, "JUDGING_LIMITS", worker_module.JudgingLimits(wait_s=0.01))
    for _ in range(2):
        with pytest.raises(BusyError, match="nothing is lost"):
            what_if(store, finished[1], load_rulebook("efl"), worker)
    ended.set()
    monkeypatch.setattr(worker_module, "JUDGING_LIMITS", worker_module.JudgingLimits())
    for play in (None, 1):  # one play of it needs no judging either
        assert what_if(store, finished[1], load_rulebook("efl"), worker, play).there.rulebook == "efl"
    assert len(begun) == 1
    what_if(store, finished[1], load_rulebook("lions-den"), worker)
    assert len(begun) == 2
    worker.close()


def test_it_is_asked_for_with_a_name_or_a_file_but_not_both(tmp_path: Path) -> None:
    reviewed = Reviewed(tmp_path / "games.db")
    path = f"{reviewed.path}/what-if"
    assert reviewed.operator.post(path, {"rulebook": "efl"}).json["there"]["rulebook"] == "efl"
    house = {"house_rules": 'base = "tap"\nname = "river"\n'}
    assert reviewed.operator.post(path, house).json["differences"] == []
    for body in ({}, {"rulebook": "efl", **house}, {"rulebook": "kangaroo"}, {"house_rules": "base = "}):
        assert reviewed.operator.post(path, body).status == 422, body
    assert reviewed.operator.post(f"{path}?play=9", {"rulebook": "efl"}).status == 404
    reviewed.close()
