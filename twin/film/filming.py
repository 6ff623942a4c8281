"""Filming of a recording: the clip and its truth files, side by side under one name.

NAME.mp4                  the picture
NAME.calibration.json     where the camera is mounted; shake moves it about there
NAME.tracks.jsonl         scenes, as a perfect observer would report them
NAME.truth.jsonl          every frame's camera, base tops and their visibility, contacts and falls
NAME.events.jsonl         what was declared
NAME.expected.json        the calls each rulebook should make
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.core.frame import Pixel
from downfield.core.scene import Scene
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.officiating.events import EventsHeader, write_events
from downfield.twin.film.film import ClipWriter, film
from downfield.twin.physics.poses import with_bench
from downfield.twin.physics.truth import by_frame
from downfield.twin.physics.truth_file import FigureTruth, TruthEvent, TruthFrame, TruthHeader, write_truth
from downfield.twin.plays.recording import PlayRecording, expected_of, write_expected
from downfield.twin.render.renderer import BaseTop, RenderedFrame, Renderer
from downfield.twin.table.snapshot import Quaternion, Snapshot
from downfield.twin.table.solids import as_calibrated

_DIGITS = 3

Progress = Callable[[int, int], None]


def truth_frame(frame: int, rendered: RenderedFrame, snapshot: Snapshot, events: Sequence[TruthEvent]) -> TruthFrame:
    """Return the truth of one picture.

    Args:
        snapshot: that it was rendered from.
        events: since the picture before, as of `truth.by_frame`.
    """
    tilts = {figure.id: _tilt_deg(figure.rotation) for figure in snapshot.figures}
    figures = tuple(
        FigureTruth(top.id, tilts[top.id], top.corners_visible, top.visible, _pixels(top)) for top in rendered.base_tops
    )
    return TruthFrame(frame, rendered.t_ns, rendered.camera, figures, tuple(events))


def as_seen(scene: Scene, rendered: RenderedFrame) -> Scene:
    """Return the scene with the visible share of every base's top in a picture."""
    visible = {top.id: min(max(top.visible, 0.0), 1.0) for top in rendered.base_tops}
    figures = tuple(dataclasses.replace(figure, visible=visible[figure.id]) for figure in scene.figures)
    return dataclasses.replace(scene, figures=figures)


def _tilt_deg(rotation: Quaternion) -> float:
    return math.degrees(2 * math.asin(min(1.0, math.hypot(rotation[1], rotation[2]))))


def _pixels(top: BaseTop) -> tuple[Pixel, Pixel, Pixel, Pixel] | None:
    if not np.isfinite(top.corners_px).all():
        return None
    a, b, c, d = ((float(x), float(y)) for x, y in top.corners_px)
    return a, b, c, d


def film_recording(
    recording: PlayRecording,
    renderer: Renderer,
    name: Path,
    *,
    seed: int,
    crf: int = 20,
    progress: Progress | None = None,
) -> None:
    """Film a recording and write the clip with its truth.

    Args:
        renderer: of an appearance of the recording's field and roster.
        name: the files' common name; suffixes are added to it.
        seed: of noise, shake and flicker.
        crf: quality of the clip, see `ClipWriter`.
        progress: called with the number of frames done, and the total.

    Raises:
        OutputError: the place can't be written.
    """
    appearance, field, players = renderer.appearance, recording.field, recording.script.players
    snapshots = [with_bench(snapshot, players, field) for snapshot in recording.snapshots]
    times_ns = [snapshot.t_ns for snapshot in snapshots]
    happened = by_frame(recording.happened, times_ns)
    scenes: list[Scene] = []
    truths: list[TruthFrame] = []
    with ClipWriter(beside(name, ".mp4"), appearance.camera.lens.size_px, recording.script.fps, crf) as clip:
        for index, frame in enumerate(film(renderer, snapshots, seed=seed)):
            clip.add(frame.image, frame.t_ns)
            scenes.append(_rounded(as_seen(recording.scenes[index], frame)))
            truths.append(truth_frame(index, frame, snapshots[index], happened[index]))
            if progress:
                progress(index + 1, len(snapshots))
    fps, play = recording.script.fps, recording.script.name
    camera = as_calibrated(appearance.camera, field, appearance.board.bow_mm)
    write_calibration(beside(name, ".calibration.json"), Calibration(field, camera, "truth"))
    write_tracks(beside(name, ".tracks.jsonl"), TracksHeader(field, players, fps, source=f"twin: {play}"), scenes)
    write_truth(beside(name, ".truth.jsonl"), TruthHeader(field, players, fps, seed), truths)
    write_events(beside(name, ".events.jsonl"), EventsHeader(game=play), recording.events)
    write_expected(beside(name, ".expected.json"), expected_of(recording))


def beside(name: Path, suffix: str) -> Path:
    """Return the path of one of a name's files; the name may contain dots."""
    return name.with_name(name.name + suffix)


def _rounded(value: Any) -> Any:
    """Return a record with all of its numbers rounded, nested ones too."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, tuple):
        return tuple(_rounded(item) for item in value)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {field.name: _rounded(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **changes)
    return value
