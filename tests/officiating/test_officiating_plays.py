"""Every named play of the twin, under every rulebook it has expectations for."""

from __future__ import annotations

import pytest
from twin_recordings import recorded

from downfield.officiating.calls import Call
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.twin.plays.playbook.index import PLAYS
from downfield.twin.plays.recording import ExpectedCall

DECIDED = {"called", "too_close", "proposed"}


def matches(expected: ExpectedCall, call: Call) -> bool:
    """Return whether a call is the expected one."""
    if call.kind != expected.kind or expected.verdict not in {None, call.verdict}:
        return False
    if not set(expected.players) <= set(call.players) or not set(expected.clauses) <= set(call.clauses):
        return False
    if expected.t_ns is not None and not expected.t_ns[0] <= call.t_ns <= expected.t_ns[1]:
        return False
    if expected.spot_yd is None:
        return True
    if call.spot_yd is None:
        return False
    return all(abs(a - b) <= expected.spot_tolerance_yd for a, b in zip(expected.spot_yd, call.spot_yd, strict=True))


@pytest.mark.parametrize("name", PLAYS)
def test_a_named_play_gives_the_expected_calls_and_no_other_decision(name: str) -> None:
    play = recorded(name)
    assert play.expected, "it says nothing"
    for book in sorted({*play.expected, *play.absent}):
        judgment = judge_recording(play.scenes, play.events, load_rulebook(book), play.field)
        calls_made = f"under {book}:\n" + "\n".join(
            f"{call.t_ns} {call.kind} {call.verdict} {call.spot_yd} {call.clauses}" for call in judgment.calls
        )
        for expected in play.expected.get(book, ()):
            assert any(matches(expected, call) for call in judgment.calls), (
                f"{expected}\n{calls_made}\n{judgment.refused}"
            )
        absent = play.absent.get(book, ())
        assert not [call.text for call in judgment.calls if call.kind in absent and call.verdict in DECIDED], calls_made
