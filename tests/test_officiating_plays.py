"""Every named play of the twin, under every rulebook it has expectations for."""

from __future__ import annotations

from functools import cache

import pytest

from downfield.officiating.calls import Call
from downfield.officiating.engine.replay import judge_recording
from downfield.officiating.rulebooks.rulebook import bundled_rulebooks, load_rulebook
from downfield.twin.plays.library import PLAYS, named
from downfield.twin.plays.recording import ExpectedCall, PlayRecording

DECIDED = {"called", "too_close", "proposed"}


@cache
def recorded(name: str) -> PlayRecording:
    return named(name).record()


def answers(expected: ExpectedCall, call: Call) -> bool:
    """Whether a call is the one expected."""
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


@pytest.mark.parametrize("book", bundled_rulebooks())
@pytest.mark.parametrize("name", PLAYS)
def test_a_named_play_brings_the_calls_it_should_and_none_it_should_not(name: str, book: str) -> None:
    play = recorded(name)
    made = judge_recording(play.scenes, play.events, load_rulebook(book), play.field)
    told = "\n".join(f"{call.t_ns} {call.kind} {call.verdict} {call.spot_yd} {call.clauses}" for call in made.calls)
    for expected in play.expected.get(book, ()):  # type: ignore[call-overload]
        assert any(answers(expected, call) for call in made.calls), f"{expected}\n{told}\n{made.refused}"
    absent = play.absent.get(book, ())  # type: ignore[call-overload]
    assert not [call.text for call in made.calls if call.kind in absent and call.verdict in DECIDED], told
