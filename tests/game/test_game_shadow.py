"""In shadow mode people referee by declarations; the machine's calls are in a journal, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from played_table import PLAY, RIVER, RUNNER
from scripted_plays import FIELD, opening
from served_games import FakeRig
from typer.testing import CliRunner

from downfield.cli.main import app
from downfield.core.scene import Scene
from downfield.game.published.game_topics import CallsUpdate, CallView
from downfield.game.published.hub import Hub
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import NewGame
from downfield.game.records.owner import GameOwner
from downfield.game.service import GameService
from downfield.game.shadow import is_shadow
from downfield.officiating.declarations import Declaration, PlayEnded
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.reports.shadow import ShadowReport, by_kind, compare_calls, shadows_of
from downfield.store.history import History
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

TACKLE = PlayEnded("tackle", (48.0, 26.0), RUNNER)
RIG = GameOwner("r" * 16, "hall")


class ShadowTable:
    """A table that people referee, with the machine in the shadow of the game."""

    def __init__(self, path: Path) -> None:
        self.now_ns, self.store, self.hub = 0, Store.at(path), Hub()
        rulebook = load_rulebook("tap")
        self.service = GameService(
            StoredJournals(self.store), self.hub, FakeRig(None), FIELD, rulebook, lambda: self.now_ns, RIG, shadow=True
        )

    def declare(self, declaration: Declaration) -> None:
        receipt = self.service.declare(declaration, Submission())
        assert isinstance(receipt, Accepted), receipt

    def play(self, at_ns: int = 0) -> None:
        """Declare the opening of the play, and see it from an instant on."""
        waiting = list(opening(PLAY, RUNNER))
        for scene in PLAY.scenes:
            self.now_ns = at_ns + scene.t_ns
            while waiting and waiting[0][0] * 1e9 <= scene.t_ns:
                self.declare(waiting.pop(0)[1])
            assert self.service.take(replace(scene, t_ns=at_ns + scene.t_ns)) == ()

    def close(self) -> None:
        self.service.close()
        self.store.close()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[ShadowTable]:
    made = ShadowTable(tmp_path / "downfield.db")
    made.service.start_game(NewGame(home=RIVER), PLAY.players)
    yield made
    made.close()


def test_nothing_of_the_machine_is_on_air_and_everything_in_its_journal(table: ShadowTable) -> None:
    table.play()
    game = table.hub.value("game")
    assert (game.shadow, game.situation, game.down) == (True, "1st & 10 at RIV 40", 1)
    calls = table.hub.value("calls")
    assert calls is None or (isinstance(calls, CallsUpdate) and calls.calls == ())
    assert table.service.calls() == ()
    table.declare(TACKLE)
    assert [call.kind for call in table.service.calls()] == ["tackle"]
    assert table.hub.value("game").down == 2
    row = table.store.game(table.service.game_id)
    table.service.close()
    assert row is not None
    (shadow,) = shadows_of(table.store, row)
    assert (shadow.owner, is_shadow(shadow), is_shadow(row)) == ("", True, False)
    assert verify_journal(shadow.id, table.store.entries(shadow.id)).problem == ""
    history = History(table.store, shadow)
    assert "tackle" in [call.kind for call in history.calls()]
    assert history.ended


def test_the_shadow_is_set_up_as_people_left_the_game_and_never_resumed(table: ShadowTable, tmp_path: Path) -> None:
    table.play()
    table.declare(TACKLE)
    assert table.service._shadow is not None
    assert table.service._shadow._session is not None
    game, shadow = table.service._session, table.service._shadow._session
    assert game is not None
    assert (shadow.state.los_yd, shadow.state.down) == (game.state.los_yd, game.state.down) == (48.0, 2)
    table.play(at_ns=10_000_000_000)
    table.declare(TACKLE)
    table.close()
    again = ShadowTable(tmp_path / "downfield.db")
    assert again.service.resume() == game.game_id
    again.service.close()
    row = again.store.game(game.game_id)
    assert row is not None
    assert len(shadows_of(again.store, row)) == 2
    assert [(one.result, one.kind) for one in ShadowReport(again.store, row).compared] == [("agreed", "tackle")] * 2
    again.store.close()


def test_a_recording_with_declarations_has_a_shadow_too(table: ShadowTable) -> None:
    events = [
        Event(f"e{n}", round(at_s * 1e9), "operator", body) for n, (at_s, body) in enumerate(opening(PLAY, RUNNER))
    ]
    entries: list[Scene | Event] = [*events, *PLAY.scenes]
    for entry in sorted(entries, key=lambda entry: (entry.t_ns, isinstance(entry, Scene))):
        table.service.take(entry)
    row = table.store.game(table.service.game_id)
    table.service.close()
    assert row is not None
    report = ShadowReport(table.store, row)
    assert [(one.result, one.kind) for one in report.compared] == [("extra", "tackle")]


def test_the_command_compares_and_writes_a_report(tmp_path: Path) -> None:
    table = ShadowTable(tmp_path / "downfield.db")
    table.service.start_game(NewGame(home=RIVER, title="<b>final"), PLAY.players)
    table.play()
    table.declare(TACKLE)
    game = table.service.game_id
    table.close()
    run = CliRunner(env={"COLUMNS": "160"}).invoke
    done = run(app, ["shadow", "last", "--set", f"data={tmp_path}"])
    assert done.exit_code == 0, done.output
    assert (
        f"{game}: Of 1 outcomes that people declared, the machine called 1 the same; 0 more only it saw." in done.output
    )
    assert "tackled by light-50" in done.output
    told = json.loads(run(app, ["shadow", game, "--json", "--set", f"data={tmp_path}"]).stdout)
    assert told["game"] == game
    assert told["calls"]
    assert {"Play", "Declared", "Machine"} <= told["calls"][0].keys()
    done = run(app, ["shadow", game, "--report", str(tmp_path / "a.html"), "--set", f"data={tmp_path}"])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "a.html").read_text()
    assert "&lt;b&gt;final" in page
    assert "Play by play" in page


def call(kind: str, t_s: float, verdict: str = "called", x_yd: float = 40.0) -> CallView:
    values = {
        "id": f"{kind}:{t_s}",
        "kind": kind,
        "verdict": verdict,
        "standing": "stands",
        "text": f"{kind} at {t_s}",
        "t_ns": round(t_s * 1e9),
        "clauses": (),
        "players": (),
        "spot_yd": (x_yd, 20.0),
        "spot_text": "",
        "margin": None,
        "sigma": None,
        "unit": "",
        "measured": "",
        "basis": "none",
        "frame_measured": "",
        "words": "",
        "probability": 1.0,
        "readings": (),
        "detail": "",
        "because": (),
    }
    return CallView.model_validate(values)


@pytest.mark.parametrize(
    ("declared", "machine", "expected"),
    [
        ([call("tackle", 10)], [call("tackle", 8, x_yd=42)], [("agreed", "tackle", 2.0)]),
        ([call("tackle", 10)], [call("out_of_bounds", 8)], [("differed", "tackle", 0.0)]),
        ([call("tackle", 10)], [call("tackle", 8, "too_close")], [("undecided", "tackle", 0.0)]),
        ([call("tackle", 10)], [], [("missed", "tackle", None)]),
        ([], [call("fumble", 8)], [("extra", "fumble", None)]),
        ([call("tackle", 10)], [call("tackle", 11.5)], [("agreed", "tackle", 0.0)]),
        ([call("tackle", 10)], [call("tackle", 13)], [("missed", "tackle", None), ("extra", "tackle", None)]),
        (
            [call("tackle", 10), call("touchdown", 30)],
            [call("tackle", 29), call("touchdown", 28)],
            [("missed", "tackle", None), ("agreed", "touchdown", 0.0), ("extra", "tackle", None)],
        ),
        ([call("first_down", 10)], [call("line_of_scrimmage", 8)], []),
    ],
)
def test_outcomes_are_compared_play_by_play(
    declared: list[CallView], machine: list[CallView], expected: list[tuple[str, str, float | None]]
) -> None:
    compared = compare_calls(declared, machine)
    assert [(one.result, one.kind, one.apart_yd) for one in compared] == expected
    assert sum(counts.total() for _, counts in by_kind(compared)) == len(compared)
