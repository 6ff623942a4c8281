"""A play of the twin as a frame source: simulated when it is opened, rendered frame by frame."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import Final

from downfield.calibration.calibration import Calibration
from downfield.capture.source import CaptureClock, CapturedFrame, PlaybackPacer, SourceFacts
from downfield.capture.sources.source_types import SourceChoice, SourceType
from downfield.core.scene import Scene
from downfield.officiating.events import Event
from downfield.twin.film.film import film
from downfield.twin.physics.poses import with_bench
from downfield.twin.plays.playbook.index import named
from downfield.twin.plays.recording import PlayRecording
from downfield.twin.randomization.tables import draw_table
from downfield.twin.render.renderers import open_renderer
from downfield.twin.table.appearance import Appearance
from downfield.twin.table.solids import as_calibrated

SEED: Final = 0  # seed of the appearance and the noise: the same play always gives the same film


class PlaySource:
    """A play being filmed, with its calibration, its declarations and its true scenes.

    Args:
        paced: whether frames come in real time, as far as rendering keeps up; else each waits until it is read.
    """

    def __init__(self, recording: PlayRecording, appearance: Appearance, *, paced: bool) -> None:
        script = recording.script
        camera = as_calibrated(appearance.camera, recording.field, appearance.board.bow_mm)
        self.calibration = Calibration(recording.field, camera, "truth")
        self.events: tuple[Event, ...] = tuple(recording.events)
        self.scenes: tuple[Scene, ...] = tuple(recording.scenes)
        self._recording, self._appearance = recording, appearance
        self._pacer = PlaybackPacer(paced=paced)
        self.facts = SourceFacts("twin", script.name, appearance.camera.lens.size_px, script.fps)

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame, stamped with the play's own time."""
        players, field = self._recording.script.players, self._recording.field
        snapshots = [with_bench(snapshot, players, field) for snapshot in self._recording.snapshots]
        renderer = open_renderer("compositor", self._appearance, players)
        for index, frame in enumerate(film(renderer, snapshots, seed=SEED)):
            if not self._pacer.wait_until(frame.t_ns):
                return
            yield CapturedFrame(index, frame.t_ns, time.monotonic_ns(), image=frame.image)

    def close(self) -> None:
        """End the frames, also during a wait for the next one."""
        self._pacer.stop()


def open_play(choice: SourceChoice, _: CaptureClock) -> PlaySource:
    """Return the source that ``twin:PLAY`` names, already simulated. Raises ScriptError: no play has this name."""
    size_px, fps = choice.camera.size_px, choice.camera.fps
    known = named(choice.place)
    recording = dataclasses.replace(known, script=dataclasses.replace(known.script, fps=fps)).record()
    appearance = draw_table(SEED, recording.script.players, field=recording.field, size=size_px, fps=fps)
    return PlaySource(recording, appearance, paced=choice.paced)


TWIN: Final = SourceType(open_play, live=False, knows_truth=True)
