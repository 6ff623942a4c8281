"""Playing scripts: from a script to a recording with its truth, and from a named play to one with its calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from downfield.twin.physics.history import PlayHistory
from downfield.twin.plays.recording import Expectation, PlayRecording
from downfield.twin.plays.script import Script
from downfield.twin.plays.script_check import check_script
from downfield.twin.plays.stage import Stage


@dataclass(frozen=True, slots=True)
class ExpectedPlay:
    """A script whose correct calls are known.

    Attributes:
        script: what happens.
        expect: returns the calls it should bring, from the true history.
        seed: of its randomness.

    """

    script: Script
    expect: Callable[[PlayHistory], Expectation]
    seed: int = 0

    def record(self) -> PlayRecording:
        """Play the script.

        Raises:
            ScriptError: it can't be played, or an event that it needs did not happen.

        """
        recording, history = _perform(self.script, self.seed)
        expectation = self.expect(history)
        return replace(recording, expected=expectation.calls, absent=expectation.absent, refused=expectation.refused)


def play(script: Script, seed: int) -> PlayRecording:
    """Play a script, without any expected calls.

    Raises:
        InputError: no such field.
        ScriptError: the script is impossible, or an event that it waits for did not happen.

    """
    return _perform(script, seed)[0]


def _perform(script: Script, seed: int) -> tuple[PlayRecording, PlayHistory]:
    field = check_script(script)
    stage = Stage(script, seed, field)
    stage.perform()
    recording = PlayRecording(
        script=script,
        seed=seed,
        field=field,
        snapshots=tuple(stage.snapshots),
        scenes=tuple(stage.scenes),
        events=tuple(stage.events),
        happened=stage.truth.events,
        marks=dict(stage.marks),
    )
    return recording, stage.history
