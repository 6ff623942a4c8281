"""A performed play: its frames, truth and declarations, and the calls that every rulebook should make of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from downfield.core.field.model import FieldModel
from downfield.core.records import record
from downfield.core.scene import Scene
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Verdict
from downfield.officiating.events import Event
from downfield.twin.physics.truth_file import TruthEvent
from downfield.twin.plays.ground import PlayHistory, check_script
from downfield.twin.plays.script import Script
from downfield.twin.plays.stage import Stage
from downfield.twin.table.snapshot import Snapshot

RulebookName = Literal["tap", "efl", "lions-den", "nfl-strategy"]


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that a rulebook should make of a play."""

    kind: CallKind  # of the call
    players: tuple[str, ...] = ()  # roster ids that must be among the call's players
    # field yards along x and y of the board; None where the call has no spot or any spot is accepted
    spot_yd: tuple[float, float] | None = None
    spot_tolerance_yd: float = 0.1  # largest error of the spot along each axis
    t_ns: tuple[int, int] | None = None  # first and last instant the call may be about; None for any
    clauses: tuple[str, ...] = ()  # catalog ids that must be among the call's clauses
    verdict: Verdict | None = "called"  # as in `Call`; None for any


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expected calls of a play, by rulebook."""

    # by rulebook, the calls that must be made; others may be made too unless they are absent
    calls: Mapping[RulebookName, tuple[ExpectedCall, ...]] = dataclasses.field(default_factory=dict)
    # by rulebook, the kinds of calls that must not be made
    absent: Mapping[RulebookName, tuple[CallKind, ...]] = dataclasses.field(default_factory=dict)
    # by rulebook, the types of declarations that it does not allow here
    refused: Mapping[RulebookName, tuple[str, ...]] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlayRecording:
    """A play after it was performed."""

    script: Script
    field: FieldModel
    snapshots: tuple[Snapshot, ...]  # one per frame
    scenes: tuple[Scene, ...]  # the truth of each frame, same order
    events: tuple[Event, ...]
    happened: tuple[TruthEvent, ...]  # all events, such as contacts and falls, with their exact instants
    marks: Mapping[str, int]  # instants that the script recorded, ns
    # expected, absent, refused: as in `Expectation`
    expected: Mapping[RulebookName, tuple[ExpectedCall, ...]] = dataclasses.field(default_factory=dict)
    absent: Mapping[RulebookName, tuple[CallKind, ...]] = dataclasses.field(default_factory=dict)
    refused: Mapping[RulebookName, tuple[str, ...]] = dataclasses.field(default_factory=dict)


@record
class Expected:
    """Expected calls of a clip."""

    play: str  # summary of the clip
    # by rulebook, the calls that must be made; others may be made too unless they are absent
    calls: Mapping[RulebookName, tuple[ExpectedCall, ...]] = dataclasses.field(default_factory=dict)
    # by rulebook, the kinds of calls that must not be made
    absent: Mapping[RulebookName, tuple[CallKind, ...]] = dataclasses.field(default_factory=dict)
    # by rulebook, the types of declarations that it does not allow here
    refused: Mapping[RulebookName, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    format: Literal["downfield.expected"] = "downfield.expected"
    version: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class ExpectedPlay:
    """A script whose correct calls are known."""

    script: Script
    expect: Callable[[PlayHistory], Expectation]  # returns the calls that it should bring, from the true history
    seed: int = 0

    def record(self) -> PlayRecording:
        """Play the script. Raises ScriptError: it can't be played, or an event that it needs did not happen."""
        recording, history = _perform(self.script, self.seed)
        expectation = self.expect(history)
        return replace(recording, expected=expectation.calls, absent=expectation.absent, refused=expectation.refused)


def play(script: Script, seed: int) -> PlayRecording:
    """Play a script, expecting no calls. Raises InputError: no such field; ScriptError: impossible, or in vain."""
    return _perform(script, seed)[0]


def _perform(script: Script, seed: int) -> tuple[PlayRecording, PlayHistory]:
    field = check_script(script)
    stage = Stage(script, seed, field)
    stage.perform()
    recording = PlayRecording(
        script=script,
        field=field,
        snapshots=tuple(stage.snapshots),
        scenes=tuple(stage.scenes),
        events=tuple(stage.events),
        happened=stage.truth.events,
        marks=dict(stage.marks),
    )
    return recording, stage.history
