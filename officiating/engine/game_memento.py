"""What a judged game has become at one entry: the checkpoints that rulings go back to, and all of it, to be kept."""

from __future__ import annotations

from dataclasses import dataclass

from downfield.officiating.calls import Call, RefusedEvent
from downfield.officiating.engine.engine_state import EngineState, Snap
from downfield.officiating.events import Ruling


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state to which a ruling can go back."""

    entries: int  # how many entries of the log had been applied
    state: EngineState  # the engine's state after them
    calls: int  # how many calls had been made
    plays: int  # how many plays had begun


@dataclass(frozen=True, slots=True)
class GameMemento:
    """All that a judged game has become, without the scenes of its log."""

    places: bytes  # of the log, True for each event and False for each scene
    state: EngineState  # the engine's
    checkpoints: tuple[Checkpoint, ...]  # to which rulings can go back; scenes before the first are not kept
    calls: tuple[Call, ...]  # that were made, in order
    plays: tuple[Snap, ...]  # how they began, in order
    log_index: dict[str, int]  # place of the entry that made a call, by the call's id
    undone: frozenset[str]  # ids of the events that were undone
    refused: tuple[RefusedEvent, ...]  # events that no longer apply
    rulings: dict[str, Ruling]  # that are in force, by call id
    ruled_ns: dict[str, int]  # when they were made
    off_since_ns: int | None  # since when the board has been off

    @property
    def kept_from(self) -> int:
        """The place in the log from which on scenes are needed."""
        return self.checkpoints[0].entries
