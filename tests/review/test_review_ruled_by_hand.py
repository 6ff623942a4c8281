"""Calls made by hand and ruled on: score, plays, box score and what is said of them agree, whatever the ruling."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from played_table import Table

from downfield.game.disputes import Decision, Disputes
from downfield.game.receipts import Accepted, Submission
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call
from downfield.officiating.declarations import SetUp, Side
from downfield.officiating.events import Ruling
from downfield.review.reports.statistics import team_lines
from downfield.store.history import History

How = Literal["confirm", "strike", "overturn", "upheld", "too_close", "overturned"]

SET_UPS: Final[dict[CallKind, SetUp]] = {
    "touchdown": SetUp("home", 1, 60.0, 3, 8.0),
    "field_goal": SetUp("home", 1, 80.0, 4, 8.0),
    "safety": SetUp("home", 1, 3.0),
    "two_point": SetUp("home", 1, due="two_point", score=(6, 0)),
    "extra_point": SetUp("home", 1, due="extra_point", score=(6, 0)),
}
POINTS: Final[dict[CallKind, tuple[int, int]]] = {
    "touchdown": (6, 0),
    "field_goal": (3, 0),
    "safety": (0, 2),
    "two_point": (2, 0),
    "extra_point": (1, 0),
}


def by_hand(kind: CallKind, side: Side | None, detail: str = "", spot: tuple[float, float] | None = None) -> Call:
    """A call that a person makes."""
    return Call("manual:1", kind, 0, "tap", (), "called", kind.replace("_", " "), (), spot, side=side, detail=detail)


def instead_of(kind: CallKind) -> Call:
    """What is called instead of a score: the tackle short of the line, or the same kick or try failed."""
    if kind in {"touchdown", "safety"}:
        return by_hand("tackle", None, spot=(70.0 if kind == "touchdown" else 2.0, 20.0))
    return by_hand(kind, "home", "failed" if kind == "two_point" else "missed")


def rule(table: Table, how: How, kind: CallKind) -> None:
    """Rule on the call by hand, at once or by way of a challenge."""
    if how in {"confirm", "strike", "overturn"}:
        decided: Any = how
        ruling = Ruling("manual:1", decided, instead_of(kind) if how == "overturn" else None)
        assert isinstance(table.game_service.rule(ruling, Submission(by="Ann")), Accepted)
        return
    disputes = Disputes(table.game_service)
    raised = disputes.raise_challenge("away", "manual:1", "short", "Bob").challenges[0]
    decision: Any = how
    replacement = instead_of(kind) if how == "overturned" else None
    disputes.rule(raised.id, Decision(decision, "seen again", "Ann", replacement))


@pytest.mark.parametrize("how", ["confirm", "strike", "overturn", "upheld", "too_close", "overturned"])
@pytest.mark.parametrize("kind", SET_UPS)
def test_score_plays_box_score_and_words_agree_about_a_ruled_call(tmp_path: Path, kind: CallKind, how: How) -> None:
    table = Table(tmp_path / "games.db")
    name = table.begin()
    table.declare(SET_UPS[kind])
    table.now_ns = 1_000_000_000
    made = by_hand(kind, "away" if kind == "safety" else "home", "" if kind in {"touchdown", "safety"} else "good")
    assert isinstance(table.game_service.rule(Ruling("", "manual", made), Submission()), Accepted)
    table.now_ns = 2_000_000_000
    before = SET_UPS[kind].score
    rule(table, how, kind)
    view, row = table.game(), table.store.game(name)
    table.close()
    assert row is not None
    history = History(table.store, row)
    stands = how in {"confirm", "upheld", "too_close"}
    points = POINTS[kind] if stands else (0, 0)
    assert (view.home.points, view.away.points) == (before[0] + points[0], before[1] + points[1])
    scored = [one for play in history.plays() for one in play.points]
    assert scored == [(side, number) for side, number in zip(("home", "away"), points, strict=True) if number]
    home, _ = team_lines(history.plays())
    assert (home.touchdowns, home.field_goals) == (int(points[0] == 6), int(points[0] == 3))
    said = [declared.text for declared in history.declarations() if declared.type == "ruling"]
    assert said[0].startswith("called by hand")
    if how == "strike":
        assert said[1:] == [f"removed: {made.text}"]
        assert ([call.kind for call in history.struck()], history.calls(), history.plays()) == ([kind], [], [])
    if how in {"overturn", "overturned"}:
        put_in_place = next(call for call in history.calls() if call.id == "manual:1")
        assert (put_in_place.standing, put_in_place.text) == ("overturned", instead_of(kind).text)
        assert len(history.plays()) == 1
    if stands:
        kept = replace(made, id="manual:1")
        assert [(call.id, call.text) for call in history.calls()] == [(kept.id, kept.text)]
