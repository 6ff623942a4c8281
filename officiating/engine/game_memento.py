"""What a judged game has become at one entry: the checkpoints that rulings go back to, and all of it, to be kept."""

from __future__ import annotations

from dataclasses import dataclass

from downfield.officiating.calls import Call, RefusedEvent
from downfield.officiating.engine.engine_state import EngineState, Snap
from downfield.officiating.events import Ruling


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state to which a ruling can go back.

    Attributes:
        entries: how many entries of the log had been applied.
        state: the engine's state after them.
        calls: how many calls had been made.
        plays: how many plays had begun.
    """

    entries: int
    state: EngineState
    calls: int
    plays: int


@dataclass(frozen=True, slots=True)
class GameMemento:
    """All that a judged game has become, without the scenes of its log.

    Attributes:
        places: of the log, True for each event and False for each scene.
        state: the engine's.
        checkpoints: to which rulings can go back; scenes before the first are not kept.
        calls: that were made, in order.
        plays: how they began, in order.
        log_index: place of the entry that made a call, by the call's id.
        undone: ids of the events that were undone.
        refused: events that no longer apply.
        rulings: that are in force, by call id.
        ruled_ns: when they were made.
        off_since_ns: since when the board has been off.
    """

    places: bytes
    state: EngineState
    checkpoints: tuple[Checkpoint, ...]
    calls: tuple[Call, ...]
    plays: tuple[Snap, ...]
    log_index: dict[str, int]
    undone: frozenset[str]
    refused: tuple[RefusedEvent, ...]
    rulings: dict[str, Ruling]
    ruled_ns: dict[str, int]
    off_since_ns: int | None

    @property
    def kept_from(self) -> int:
        """The place in the log from which on scenes are needed."""
        return self.checkpoints[0].entries
