"""Formations and stoppages played on the twin: what should be reported is, and what is legal is left alone."""

from __future__ import annotations

import pytest
from twin_recordings import recorded

from downfield.officiating.calls import Call
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.twin.plays.playbook.stops import FAULTS
from downfield.twin.plays.recording import RulebookName

LEGAL: tuple[tuple[str, RulebookName], ...] = (
    ("legal-line-up", "tap"),
    ("legal-line-up", "lions-den"),
    ("head-up-line-up", "efl"),
    ("pivots", "tap"),
)
BOOKS: tuple[RulebookName, ...] = ("tap", "efl", "lions-den")
REPORTS = ("formation", "pivot", "timing", "stoppage")


def reported(name: str, book: RulebookName) -> list[Call]:
    recording = recorded(name)
    judgment = judge_recording(recording.scenes, recording.events, load_rulebook(book), recording.field)
    return [call for call in judgment.calls if call.kind in REPORTS]


@pytest.mark.parametrize(("name", "book"), LEGAL)
def test_legal_line_ups_are_not_reported(name: str, book: RulebookName) -> None:
    assert [call.text for call in reported(name, book) if call.kind != "stoppage"] == []


def test_reports_have_no_consequence_and_ids_of_their_own() -> None:
    for name in ("pivots-too-many", "stacked-back"):
        for book in BOOKS:
            calls = reported(name, book)
            assert {call.verdict for call in calls} == {"reported"}
            assert len({call.id for call in calls}) == len(calls)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_the_only_thing_tap_reports(fault: str) -> None:
    expected = {clause for call in recorded(fault).expected.get("tap", ()) for clause in call.clauses}
    calls = [call for call in reported(fault, "tap") if call.kind == "formation"]
    behind = {"TAP-041", "TAP-072"} if expected == {"TAP-039"} else set()
    assert all(set(call.clauses) & (expected | behind) for call in calls)
    for call in calls:
        assert call.margin is not None
        assert call.margin > 0
