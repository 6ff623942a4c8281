"""A performed play: its frames, its truth, its declarations, and the expected calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from downfield.core.field.model import FieldModel
from downfield.core.scene import Scene
from downfield.officiating.calls import CallKind, Verdict
from downfield.officiating.events import Event
from downfield.twin.physics.truth_file import TruthEvent
from downfield.twin.plays.script import Script
from downfield.twin.snapshot import Snapshot

RulebookName = Literal["tap", "efl", "lions-den", "nfl-strategy"]


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that a rulebook should make of a play.

    Attributes:
        kind: of the call.
        players: roster ids that must be among the call's players.
        spot_yd: field yards along x and y of the board; None where the call has no spot or any spot is accepted.
        spot_tolerance_yd: largest error of the spot along each axis.
        t_ns: first and last instant the call may be about; None for any.
        clauses: catalog ids that must be among the call's clauses.
        verdict: as in `Call`; None for any.

    """

    kind: CallKind
    players: tuple[str, ...] = ()
    spot_yd: tuple[float, float] | None = None
    spot_tolerance_yd: float = 0.1
    t_ns: tuple[int, int] | None = None
    clauses: tuple[str, ...] = ()
    verdict: Verdict | None = "called"


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expected calls of a play, by rulebook.

    Attributes:
        calls: by rulebook, the calls that must be made; others may be made too unless they are absent.
        absent: by rulebook, the kinds of calls that must not be made.
        refused: by rulebook, the types of declarations that it does not allow here.

    """

    calls: Mapping[RulebookName, tuple[ExpectedCall, ...]] = dataclasses.field(default_factory=dict)
    absent: Mapping[RulebookName, tuple[CallKind, ...]] = dataclasses.field(default_factory=dict)
    refused: Mapping[RulebookName, tuple[str, ...]] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlayRecording:
    """A play after it was performed.

    Attributes:
        script: the script that was played.
        seed: of its randomness.
        field: the printed field.
        snapshots: one per frame.
        scenes: the truth of each frame, same order.
        events: what was declared.
        happened: all events, such as contacts and falls, with their exact instants.
        marks: instants that the script recorded, ns.
        expected, absent, refused: as in `Expectation`.

    """

    script: Script
    seed: int
    field: FieldModel
    snapshots: tuple[Snapshot, ...]
    scenes: tuple[Scene, ...]
    events: tuple[Event, ...]
    happened: tuple[TruthEvent, ...]
    marks: Mapping[str, int]
    expected: Mapping[RulebookName, tuple[ExpectedCall, ...]] = dataclasses.field(default_factory=dict)
    absent: Mapping[RulebookName, tuple[CallKind, ...]] = dataclasses.field(default_factory=dict)
    refused: Mapping[RulebookName, tuple[str, ...]] = dataclasses.field(default_factory=dict)
