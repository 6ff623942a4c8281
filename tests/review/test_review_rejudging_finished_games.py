"""A finished game: read-only until it is reopened; a ruling judges it again as if it had been ruled so at the table."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from played_table import Table
from served_games import FakeRig
from waiting import WAIT_S

from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.core.errors import BusyError, NotFoundError, RefusedError
from downfield.core.scene import Scene
from downfield.game.disputes import Decision, Disputes
from downfield.game.published.hub import Hub
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame
from downfield.game.records.entries import GameEnded
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import GameRow
from downfield.game.service import GameService
from downfield.officiating.events import Event, Ruling, Undo
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.catalog import GameCatalog, challenge_statistics
from downfield.review.rejudging import rejudging as judging_again
from downfield.review.rejudging import standings, worker
from downfield.review.rejudging.changes import CallBrief, CallChange, _without_twins
from downfield.review.rejudging.finished_games import FinishedGames, LateRuling, audit_trail
from downfield.review.rejudging.rejudging import Difference, JudgedAgain, Way, judge_again, judge_on
from downfield.review.rejudging.worker import JudgingWorker, Pause
from downfield.store.database.reader import StoreReader
from downfield.store.history import History
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store


class Desk:
    """A finished game with a tackle, another game in play, and the reviewer's means."""

    def __init__(self, path: Path) -> None:
        self.table = Table(path)
        self.game = self.table.begin()
        self.table.play()
        self.tackle = self.table.call("tackle")
        self.live = self.table.game_service.start_game(NewGame(title="next"))
        self.worker = JudgingWorker()
        self.finished = FinishedGames(self.table.store, lambda: self.table.game_service.game_id, self.worker)

    @property
    def row(self) -> GameRow:
        return self.row_of(self.game)

    def row_of(self, game: str) -> GameRow:
        row = self.table.store.game(game)
        assert row is not None
        return row

    def history(self) -> History:
        return History(self.table.store, self.row)

    def close(self) -> None:
        self.table.close()
        self.worker.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    opened = Desk(tmp_path / "games.db")
    yield opened
    opened.close()


def strike(desk: Desk, key: str | None = None) -> LateRuling:
    return LateRuling(Ruling(desk.tackle, "strike", note="lifted off"), "Ann", key)


def test_a_closed_game_takes_no_ruling_and_a_game_in_play_none_here(desk: Desk) -> None:
    head = desk.history().head
    with pytest.raises(RefusedError, match="Reopen it first"):
        desk.finished.rule(desk.row, strike(desk))
    with pytest.raises(RefusedError, match="Reopen it first"):
        desk.finished.close(desk.row, "Ann")
    with pytest.raises(RefusedError, match="in play"):
        desk.finished.reopen(desk.row_of(desk.live), "Ann", "why not")
    assert desk.history().head == head


def test_a_game_that_may_be_in_play_at_another_table_is_left_alone(desk: Desk) -> None:
    elsewhere = FinishedGames(desk.table.store, lambda: "", desk.worker)  # a rig that shares the store
    with pytest.raises(RefusedError, match="another table"):
        elsewhere.reopen(desk.row_of(desk.live), "Ann", "film")
    with pytest.raises(RefusedError, match="another table"):
        elsewhere.rule(desk.row_of(desk.live), strike(desk))
    with pytest.raises(RefusedError, match="another table"):
        elsewhere.close(desk.row_of(desk.live), "Ann")


@pytest.mark.parametrize(("rig", "later_s"), [("", 3700), ("rig-1", 0)])
def test_a_game_left_unfinished_is_finished_and_then_ruled_on(desk: Desk, rig: str, later_s: int) -> None:
    """By the rig that played it, or by any once nothing has been entered for an hour."""
    row = dataclasses.replace(desk.row_of(desk.live), owner=rig)
    now_ns = History(desk.table.store, row).last_at_ns + later_s * 1_000_000_000
    finished = FinishedGames(desk.table.store, lambda: "", desk.worker, rig=rig, now_ns=lambda: now_ns)
    finished.close(row, "Ann")
    history = History(desk.table.store, row)
    assert (history.ended, history.late[-1].content) == (True, GameEnded(history.text, history.score, "Ann"))
    with pytest.raises(RefusedError, match="Reopen it first"):
        finished.close(row, "Ann")
    finished.reopen(row, "Ann", "film")


def test_a_struck_call_changes_what_followed_and_the_journal_stays_whole(desk: Desk) -> None:
    before = desk.history()
    desk.finished.reopen(desk.row, "Ann", "seen on the film")
    changes = desk.finished.rule(desk.row, strike(desk))
    assert changes.lines[0] == "No longer called: dark 22 tackled by light 50."
    assert changes.note == ""
    desk.finished.close(desk.row, "Ann")
    after = desk.history()
    assert (after.ended, after.reopened) == (True, False)
    assert desk.tackle in {call.id for call in before.calls()}
    assert desk.tackle not in {call.id for call in after.calls()}
    assert [call.id for call in after.struck()] == [desk.tackle]
    assert after.text == changes.text != before.text
    found = verify_journal(desk.game, desk.table.store.entries(desk.game), before.head)
    assert (found.problem, found.entries) == ("", before.entries + 3)


def test_a_ruling_after_the_game_is_the_ruling_during_the_game(tmp_path: Path) -> None:
    """The same calls, state and declarations stand, whenever it was ruled so."""
    later = Desk(tmp_path / "later.db")
    try:
        table = Table(tmp_path / "live.db")
        game = table.begin()
        table.play()
        table.game_service.rule(Ruling(table.call("tackle"), "strike"), Submission())
        table.game_service.start_game(NewGame())
        row = table.store.game(game)
        assert row is not None
        live = History(table.store, row)
        table.close()
        later.finished.reopen(later.row, "Ann", "film")
        later.finished.rule(later.row, strike(later))
        ruled = later.history()
        assert [(call.id, call.text) for call in ruled.calls()] == [(call.id, call.text) for call in live.calls()]
        assert (ruled.text, ruled.score) == (live.text, live.score)
        assert ruled.snaps() == live.snaps()
    finally:
        later.close()


def test_an_undo_brings_the_call_back(desk: Desk) -> None:
    before = desk.history()
    desk.finished.reopen(desk.row, "Ann", "film")
    ruled = desk.finished.rule(desk.row, strike(desk))
    undone = desk.finished.rule(desk.row, LateRuling(Undo(ruled.event), "Bob"))
    assert undone.lines[0] == "Now called: dark 22 tackled by light 50."
    assert [call.id for call in desk.history().calls()] == [call.id for call in before.calls()]
    assert desk.history().text == before.text
    with pytest.raises(RefusedError, match="undone already"):
        desk.finished.rule(desk.row, LateRuling(Undo(ruled.event), "Bob"))


def test_a_preview_writes_nothing_and_says_what_the_ruling_then_does(desk: Desk) -> None:
    head = desk.history().head
    tried = desk.finished.preview(desk.row, strike(desk))
    assert desk.history().head == head
    desk.finished.reopen(desk.row, "Ann", "film")
    done = desk.finished.rule(desk.row, strike(desk))
    assert done.model_copy(update={"event": ""}) == tried


def test_a_ruling_sent_twice_counts_once(desk: Desk) -> None:
    desk.finished.reopen(desk.row, "Ann", "film")
    first = desk.finished.rule(desk.row, strike(desk, "tap-1"))
    assert desk.finished.rule(desk.row, strike(desk, "tap-1")) == first
    with pytest.raises(RefusedError, match="key"):
        desk.finished.rule(desk.row, LateRuling(Ruling(desk.tackle, "confirm"), "Ann", "tap-1"))
    assert sum(event.body.type == "ruling" for event in desk.history().events) == 1


def test_what_the_game_does_not_have_is_refused(desk: Desk) -> None:
    desk.finished.reopen(desk.row, "Ann", "film")
    with pytest.raises(NotFoundError):
        desk.finished.rule(desk.row, LateRuling(Ruling("tackle:1:nobody", "strike"), "Ann"))
    with pytest.raises(NotFoundError):
        desk.finished.rule(desk.row, LateRuling(Undo("op-99"), "Ann"))
    with pytest.raises(RefusedError, match="already"):
        desk.finished.reopen(desk.row, "Bob", "again")


def test_the_game_in_play_goes_on_untouched(desk: Desk) -> None:
    before = desk.table.game()
    calls = desk.table.game_service.calls()
    desk.finished.reopen(desk.row, "Ann", "film")
    desk.finished.rule(desk.row, strike(desk))
    assert (desk.table.game_service.game_id, desk.table.game()) == (desk.live, before)
    assert desk.table.game_service.calls() == calls


def test_a_reopened_game_is_never_resumed_at_the_table(tmp_path: Path) -> None:
    table = Table(tmp_path / "games.db")
    game = table.begin()
    table.play()
    for side in ("home", "away"):
        Disputes(table.game_service).sign(ScoreSigned(side, "Coach", (0, 0), "", "phone"))
    table.game_service.close()
    worker = JudgingWorker()
    row = table.store.game(game)
    assert row is not None
    FinishedGames(table.store, lambda: "", worker).reopen(row, "Ann", "film")
    assert table.game_service.resume() is None
    worker.close()
    table.close()


def test_a_challenge_after_the_game_is_decided_in_its_journal_and_counted(desk: Desk) -> None:
    with pytest.raises(RefusedError, match="Reopen it first"):
        desk.finished.raise_challenge(desk.row, "home", desk.tackle, "never touched", "Ann")
    desk.finished.reopen(desk.row, "Ann", "film")
    view = desk.finished.raise_challenge(desk.row, "home", desk.tackle, "never touched", "Ann")
    assert view.counts.under_review == 1
    assert GameCatalog(desk.table.store).line(desk.row).under_review == 1
    decision = Decision("overturned", "no contact", "Referee")
    changes = desk.finished.rule_challenge(desk.row, "challenge-1", decision)
    assert changes is not None
    assert changes.lines[0].startswith("No longer called")
    with pytest.raises(RefusedError, match="decided by Referee"):
        desk.finished.rule_challenge(desk.row, "challenge-1", decision)
    statistics = challenge_statistics(desk.table.store)
    assert (statistics.games, statistics.all.overturned, statistics.by_kind["tackle"].raised) == (1, 1, 1)
    (disputed,) = statistics.disputed
    assert (disputed.game, disputed.challenge.call) == (desk.row.id, desk.tackle)
    assert (disputed.challenge.decision, disputed.challenge.ruled_by) == ("overturned", "Referee")
    assert GameCatalog(desk.table.store).line(desk.row).under_review == 0
    assert [line.text.split(":")[0] for line in audit_trail(desk.history())] == [
        "Ended",
        "Reopened",
        "Challenge by the home coach of dark 22 tackled by light 50",
        "Ruling",
        "Challenge decided, overturned",
    ]


def test_of_two_decisions_of_a_challenge_at_once_only_one_rules_on_the_call(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.finished.reopen(desk.row, "Ann", "film")
    desk.finished.raise_challenge(desk.row, "home", desk.tackle, "never touched", "Ann")
    judge, overtaken = desk.finished._judge, Decision("upheld", "touched", "Late")

    def judge_slowly(history: History, event: Event) -> tuple[JudgedAgain, JudgedAgain]:
        monkeypatch.setattr(desk.finished, "_judge", judge)
        desk.finished.rule_challenge(desk.row, "challenge-1", Decision("overturned", "no contact", "First"))
        return judge(history, event)

    monkeypatch.setattr(desk.finished, "_judge", judge_slowly)
    with pytest.raises(RefusedError, match="decided by First: overturned"):
        desk.finished.rule_challenge(desk.row, "challenge-1", overtaken)
    assert [view.ruling.decision for view in desk.history().struck() if view.ruling is not None] == ["overturn"]
    assert desk.tackle not in {call.id for call in desk.history().calls()}


def test_a_game_is_not_closed_while_a_challenge_is_under_review(desk: Desk) -> None:
    desk.finished.reopen(desk.row, "Ann", "film")
    desk.finished.raise_challenge(desk.row, "home", desk.tackle, "never touched", "Ann")
    with pytest.raises(RefusedError, match="Decide it before the game is closed"):
        desk.finished.close(desk.row, "Ann")
    desk.finished.rule_challenge(desk.row, "challenge-1", Decision("too_close", "hidden", "Ann"))
    desk.finished.close(desk.row, "Ann")
    assert not desk.history().reopened


def test_trying_several_rulings_judges_the_game_as_it_stands_only_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[int] = []

    def counted(
        store: StoreReader, game: str, ways: Sequence[Way], pause: Pause, *, keep: bool = False
    ) -> tuple[JudgedAgain, ...]:
        judged.append(len(ways))
        return judge_again(store, game, ways, pause, keep=keep)

    monkeypatch.setattr(standings, "judge_again", counted)
    desk.finished.reopen(desk.row, "Ann", "why not")
    tried = [desk.finished.preview(desk.row, strike(desk)) for _ in range(2)]
    made = desk.finished.rule(desk.row, strike(desk))
    assert judged == [1]
    assert {tuple(one.lines) for one in (*tried, made)} == {made.lines}
    again = desk.finished.preview(desk.row, LateRuling(Ruling(desk.tackle, "confirm", note="no"), "Ann"))
    assert any("Now called" in line for line in again.lines)
    desk.finished.raise_challenge(desk.row, "home", desk.history().calls()[0].id, "let go before", "Ann")
    desk.finished.preview(desk.row, LateRuling(Undo(made.event), "Ann"))
    assert judged == [1], "what a ruling leads to was judged when it was made, and a challenge changes no call"


def test_a_game_judged_on_from_a_checkpoint_comes_to_the_same_as_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging_again, "REJUDGING_LIMITS", judging_again.RejudgingLimits(apart_ns=0))
    clip, store = open_clip(bundled_demo()), Store.at(tmp_path / "games.db")
    game_service = GameService(
        StoredJournals(store), Hub(), FakeRig(None), clip.tracks.header.field, load_rulebook("tap")
    )
    game = game_service.start_game(NewGame())
    for entry in sorted([*clip.events, *clip.tracks], key=lambda entry: (entry.t_ns, isinstance(entry, Scene))):
        game_service.take(entry)
    game_service.start_game(NewGame())
    game_service.close()
    row = store.game(game)
    assert row is not None
    history = History(store, row)
    (before,) = judge_again(store, game, [Way.of(history.events)], lambda: None, keep=True)
    assert len(before.checkpoints) > 10
    skipped = 0
    judged: dict[str, int] = {"confirm": 0, "overturn": 0, "strike": 0}
    for call in before.calls:
        for decision in ("confirm", "overturn", "strike"):
            ruling = Event("late", before.state.now_ns, "referee", Ruling(call.id, decision))
            way = Way.of(history.events, more=(ruling,))
            (whole,) = judge_again(store, game, [way], lambda: None)
            scenes: list[None] = []
            difference = Difference(call.t_ns, call.id)
            on = judge_on(store, game, way, partial(scenes.append, None), before, difference)
            assert dataclasses.replace(on, checkpoints=()) == whole, (call.id, decision)
            again = Event("again", before.state.now_ns, "referee", Undo("late"))
            back = Way.of([*history.events, ruling], more=(again,))
            assert judge_on(store, game, back, lambda: None, on, difference).calls == before.calls, (call.id, decision)
            judged[decision] += len(scenes)
        skipped += any(one.state.game.now_ns < call.t_ns - 3e9 for one in before.checkpoints)
    assert skipped > 3
    assert judged["confirm"] < judged["strike"], "a game that goes on as before is not judged to its end"
    store.close()


def test_a_ruling_that_takes_long_goes_on_and_is_there_when_it_is_tried_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, judged = threading.Event(), []

    def slow(
        store: StoreReader, game: str, ways: Sequence[Way], pause: Pause, *, keep: bool = False
    ) -> tuple[JudgedAgain, ...]:
        assert go.wait(WAIT_S)
        judged.append(len(ways))
        return judge_again(store, game, ways, pause, keep=keep)

    monkeypatch.setattr(standings, "judge_again", slow)
    monkeypatch.setattr(worker, "JUDGING_LIMITS", worker.JudgingLimits(wait_s=0.01))
    desk.finished.reopen(desk.row, "Ann", "why not")  # begins to judge it in the background
    for _ in range(2):
        with pytest.raises(BusyError, match="still being judged"):
            desk.finished.rule(desk.row, strike(desk))
    go.set()
    monkeypatch.setattr(worker, "JUDGING_LIMITS", worker.JudgingLimits())
    assert desk.finished.rule(desk.row, strike(desk)).lines
    assert judged == [1]
    assert len([event for event in desk.history().events if isinstance(event.body, Ruling)]) == 1


def test_while_a_ruling_is_judged_somebody_else_can_close_the_game(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    go, waits, refused = threading.Event(), threading.Event(), []

    def slow(
        store: StoreReader, game: str, ways: Sequence[Way], pause: Pause, *, keep: bool = False
    ) -> tuple[JudgedAgain, ...]:
        assert go.wait(WAIT_S)
        return judge_again(store, game, ways, pause, keep=keep)

    def waiting(history: History) -> JudgedAgain:
        waits.set()
        return judged_now(history)

    def rule() -> None:
        try:
            desk.finished.rule(desk.row, strike(desk))
        except RefusedError as error:
            refused.append(str(error))

    kept = desk.finished._standings
    judged_now = kept.of
    monkeypatch.setattr(kept, "of", waiting)
    monkeypatch.setattr(standings, "judge_again", slow)
    desk.finished.reopen(desk.row, "Ann", "film")
    ruling = threading.Thread(target=rule)
    ruling.start()
    assert waits.wait(WAIT_S)
    desk.finished.close(desk.row, "Bob")
    closed_first = not go.is_set()
    go.set()
    ruling.join(WAIT_S)
    assert closed_first
    assert refused == ["This game is closed. Reopen it first, with a reason."]
    assert desk.tackle in {call.id for call in desk.history().calls()}


def test_a_call_that_is_made_again_in_the_same_words_is_no_change_to_tell() -> None:
    def brief(number: int, text: str) -> CallBrief:
        return CallBrief(id=f"call:{number}", kind="tackle", verdict="called", text=text, spot_yd=None)

    calls = [
        CallChange(before=brief(1, "dark-7 reaches the line"), after=None),
        CallChange(before=brief(2, "dark-7 reaches the line"), after=None),
        CallChange(before=None, after=brief(3, "dark-7 reaches the line")),
        CallChange(before=None, after=brief(4, "first down")),
    ]
    told = list(_without_twins(calls))
    assert [change.before and change.before.id for change in told] == ["call:2", None]
    assert told[1].after is not None
    assert told[1].after.text == "first down"
