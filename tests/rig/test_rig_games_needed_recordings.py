"""What a dispute may need of recordings: the plays with calls of games in play, signed or challenged, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest
from altered_store import OWNER
from played_table import PLAY, RIVER, RUNNER
from scripted_plays import FIELD, opening
from served_games import FakeRig

from downfield.capture.recording.recording_library import RecordedFrame, RecordingIndexHeader, create_recording
from downfield.core.records import to_json
from downfield.game.published.hub import Hub
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame
from downfield.game.records.final_score import ScoreSigned
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.games.needed_recordings import NeededRecordings
from downfield.store.history import History
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store


def recorded(folder: Path, first_ns: int, last_ns: int) -> Path:
    video = create_recording(folder, "20260101-120000") / "0001.mkv"
    lines = [to_json(RecordingIndexHeader, RecordingIndexHeader("cam", "mjpeg", (160, 90)))]
    lines += [to_json(RecordedFrame, RecordedFrame(index, at)) for index, at in enumerate((first_ns, last_ns))]
    video.with_suffix(".frames.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return video


@pytest.mark.parametrize("is_signed", [False, True])
def test_the_plays_with_calls_of_a_game_are_needed_while_it_is_new_and_always_once_it_is_signed(
    tmp_path: Path, *, is_signed: bool
) -> None:
    store, now_ns = Store.at(tmp_path / "games.db"), [0]
    service = GameService(
        StoredJournals(store), Hub(), FakeRig(None), FIELD, load_rulebook("tap"), clock=lambda: now_ns[0], owner=OWNER
    )
    service.start_game(NewGame(title="semi-final", home=RIVER), PLAY.players)
    waiting = list(opening(PLAY, RUNNER))
    for scene in PLAY.scenes:
        now_ns[0] = scene.t_ns
        while waiting and waiting[0][0] * 1e9 <= scene.t_ns:
            service.declare(waiting.pop(0)[1], Submission())
        service.take(scene)
    if is_signed:
        with service.in_play() as session:
            session.journal.append(ScoreSigned("home", "Ann", (0, 0), "", "phone"))
    row = store.games()[0] if store.games() else None
    service.start_game(NewGame(title="next", home=RIVER))
    row = row or store.games()[1]
    call_ns = History(store, row).calls()[-1].t_ns
    near = recorded(tmp_path, call_ns - 10**9, call_ns + 10**9)
    after, before = recorded(tmp_path, call_ns + 10**11, call_ns + 2 * 10**11), recorded(tmp_path, -(10**12), -(10**11))
    unread = tmp_path / "none.mkv"
    needed = NeededRecordings(store)
    assert [needed(video) for video in (near, after, before, unread)] == [True, False, False, False]
    for title in ("another", "one more"):
        service.start_game(NewGame(title=title, home=RIVER))
    service.close()
    assert NeededRecordings(store)(near) == is_signed
    store.close()
    assert NeededRecordings(store)(near) in {True, is_signed}
