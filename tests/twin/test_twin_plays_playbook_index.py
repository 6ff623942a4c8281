"""Named plays: all run the same every time and expect the calls that follow from what is in them."""

from __future__ import annotations

from typing import get_args

import pytest
from twin_recordings import happened, recorded

from downfield.core.errors import ScriptError
from downfield.twin.plays.formations import QB, RB
from downfield.twin.plays.playbook.demo import demo
from downfield.twin.plays.playbook.index import PLAYS, named
from downfield.twin.plays.recording import RulebookName

EXACT = [name for name, make in PLAYS.items() if make().script.motion == "exact"]


@pytest.mark.parametrize("name", PLAYS)
def test_every_named_play_runs_and_has_expected_calls(name: str) -> None:
    recording = recorded(name)
    assert set(recording.expected) == set(get_args(RulebookName)) or name in EXACT
    assert recording.expected or recording.absent
    first, last = recording.scenes[0].t_ns, recording.scenes[-1].t_ns
    for book, calls in recording.expected.items():
        assert book in get_args(RulebookName)
        for call in calls:
            assert call.kind not in recording.absent.get(book, ())
            assert call.clauses
            assert call.t_ns is None or first <= call.t_ns[0] < call.t_ns[1] <= last + 500_000_000
            assert {*call.players} <= {player.id for player in recording.script.players}
    assert {player.id for player in recording.script.players} >= {one.id for one in recording.scenes[-1].figures}


@pytest.mark.parametrize("name", EXACT)
def test_upright_bases_never_overlap_on_exact_paths(name: str) -> None:
    for scene in recorded(name).scenes[::3]:
        upright = {one.id for one in scene.figures if one.posture == "upright"}
        tipping = {event.player for event in recorded(name).happened if event.type == "fell"}
        for contact in scene.contacts:
            if {contact.a, contact.b} <= upright - tipping:
                assert contact.gap_mm >= -1e-6


@pytest.mark.parametrize("name", ["clean-tackle", "reception", "broken-tackle-physics"])
def test_a_play_is_the_same_every_time(name: str) -> None:
    again = named(name).record()
    assert again.snapshots == recorded(name).snapshots
    assert again.scenes == recorded(name).scenes
    assert again.events == recorded(name).events


def test_an_unknown_play_is_refused_with_the_known_names() -> None:
    with pytest.raises(ScriptError, match="no play is named 'hail-mary'; there are: ball-lost"):
        named("hail-mary")


def test_the_demonstration_is_two_plays_with_a_tackle_and_a_fumble() -> None:
    recording = demo().record()
    assert 15.0 < recording.scenes[-1].t_ns / 1e9 < 25.0
    assert [call.kind for call in recording.expected["tap"]] == [
        "line_of_scrimmage",
        "tackle",
        "line_of_scrimmage",
        "fumble",
    ]
    assert any(snapshot.hands for snapshot in recording.snapshots)
    assert {one.jersey for one in recording.scenes[0].figures} == {"dark", "light"}
    assert len(recording.scenes[0].figures) == len(recording.scenes[-1].figures) == 22
    assert [event.body.type for event in recording.events].count("line_up") == 2
    assert happened(recording, "fell", QB)
    assert not happened(recording, "fell", RB)
