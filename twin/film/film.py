"""Filming: snapshots to pictures as a camera delivers them, with blur, shake and faults; and clips with their truth.

A clip is H.264 in MP4, every frame stamped with its capture time to the nanosecond: the track's time base is one
nanosecond, so ``pts * time_base`` is exactly the capture time. No frame is reordered, key frames come every half
second, and the index lies at the front.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import av
import av.error
import numpy as np
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.errors import InputError, OutputError
from downfield.core.frame import Pixel
from downfield.core.records import to_json, write_text
from downfield.core.scene import Scene
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.officiating.events import EventsHeader, write_events
from downfield.twin.film.sensor_effects import SensorEffects
from downfield.twin.physics.poses import with_bench
from downfield.twin.physics.truth import by_frame
from downfield.twin.physics.truth_file import FigureTruth, TruthEvent, TruthFrame, TruthHeader, write_truth
from downfield.twin.plays.recording import Expected, PlayRecording
from downfield.twin.render.renderer import BaseTop, RenderedFrame, Renderer
from downfield.twin.table.snapshot import FigurePose, HandPose, Quaternion, Snapshot, Vector, to_quaternion
from downfield.twin.table.solids import as_calibrated

_SHARP_PX = 1.0  # movement during the exposure that needs no blur: a pixel alone blurs this much
_SMOOTH_PX = 3.0  # movement that three instants render smoothly; above it five
_JUMP_MM = 60.0  # a longer move between two frames means that a hand put the figure elsewhere


_DIGITS = 3

Progress = Callable[[int, int], None]


def truth_frame(frame: int, rendered: RenderedFrame, snapshot: Snapshot, events: Sequence[TruthEvent]) -> TruthFrame:
    """Return the truth of one picture. `events`: since the picture before, as of `truth.by_frame`."""
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
    expected = Expected(play, recording.expected, recording.absent, recording.refused)
    write_text(beside(name, ".expected.json"), [to_json(Expected, expected), "\n"])


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


def film(renderer: Renderer, snapshots: Sequence[Snapshot], *, seed: int) -> Iterator[RenderedFrame]:
    """Yield one picture per snapshot, with the truth at its mid exposure and the camera as a calibration describes it.

    Args:
        snapshots: in order of time; their times become the frames' times.
    """
    appearance = renderer.appearance
    effects = SensorEffects(appearance.sensor, appearance.camera.lens.size_px, seed)
    for index in range(len(snapshots)):
        frame = expose(renderer, effects, appearance.camera, snapshots, index)
        yield dataclasses.replace(frame, camera=as_calibrated(frame.camera, appearance.field, appearance.board.bow_mm))


def expose(
    renderer: Renderer, effects: SensorEffects, nominal: Camera, snapshots: Sequence[Snapshot], index: int
) -> RenderedFrame:
    """Return one picture out of a sequence.

    Args:
        effects: of the camera; made for the size of `nominal`'s picture.
        nominal: where the camera is mounted.
        snapshots: in order of time; movement follows from the neighbors.
    """
    snapshot, appearance = snapshots[index], renderer.appearance
    camera = effects.camera(nominal, snapshot.t_ns, power=snapshot.power)
    px_per_mm = max(nominal.lens.focal_px) / float(nominal.position_mm[2])
    instants = _exposed(snapshots, index, appearance.sensor.exposure_ms, px_per_mm)
    frames = [renderer.render(instant, camera, t_ns=snapshot.t_ns) for instant in instants]
    middle = frames[len(frames) // 2]
    if len(frames) > 1:
        middle = dataclasses.replace(middle, image=_mean([frame.image for frame in frames]))
    return effects.develop(middle, power=snapshot.power)


def _mean(images: Sequence[Image]) -> Image:
    total = np.zeros(images[0].shape, dtype=np.uint16)
    for image in images:
        total += image
    return np.asarray((total + len(images) // 2) // len(images), dtype=np.uint8)


def _exposed(snapshots: Sequence[Snapshot], index: int, exposure_ms: float, px_per_mm: float) -> list[Snapshot]:
    """Return the snapshots that make up one exposure, an odd number around its middle."""
    here = snapshots[index]
    before, after = snapshots[max(index - 1, 0)], snapshots[min(index + 1, len(snapshots) - 1)]
    if before is after:
        return [here]
    exposure_ns = exposure_ms * 1e6
    moved_mm = _furthest_mm(before, after) * exposure_ns / (after.t_ns - before.t_ns)
    if moved_mm * px_per_mm <= _SHARP_PX:
        return [here]
    count = 3 if moved_mm * px_per_mm <= _SMOOTH_PX else 5
    shares = (np.arange(count) + 0.5) / count - 0.5
    instants = []
    for share in shares:
        other = before if share < 0 else after
        lag_ns = abs(share) * exposure_ns
        weight = lag_ns / abs(other.t_ns - here.t_ns) if other is not here else 0.0
        instants.append(_between(here, other, float(min(weight, 1.0))))
    return instants


def _furthest_mm(before: Snapshot, after: Snapshot) -> float:
    """Return the largest movement between two snapshots, mm; figures by their centers, hands by their fingertips."""
    moves = [
        np.linalg.norm(np.subtract(b.position_mm, a.position_mm))
        for a, b in zip(before.figures, after.figures, strict=True)
    ]
    if len(before.hands) == len(after.hands):
        moves += [
            np.linalg.norm(np.subtract(b.fingertip_mm, a.fingertip_mm))
            for a, b in zip(before.hands, after.hands, strict=True)
        ]
    return float(max((move for move in moves if move < 2 * _JUMP_MM), default=0.0))


def _between(here: Snapshot, other: Snapshot, weight: float) -> Snapshot:
    """Return a snapshot interpolated between two; an object that jumps or is not in both stays as in the first."""
    if weight == 0:
        return here
    figures = tuple(_moved(a, b, weight) for a, b in zip(here.figures, other.figures, strict=True))
    ball = here.ball
    if ball and other.ball and not _jumps(ball.position_mm, other.ball.position_mm):
        ball = dataclasses.replace(ball, position_mm=_mixed(ball.position_mm, other.ball.position_mm, weight))
    hands = here.hands
    if len(hands) == len(other.hands):
        hands = tuple(_moved_hand(a, b, weight) for a, b in zip(hands, other.hands, strict=True))
    return dataclasses.replace(here, figures=figures, ball=ball, hands=hands)


def _moved(a: FigurePose, b: FigurePose, weight: float) -> FigurePose:
    if _jumps(a.position_mm, b.position_mm):
        return a
    return dataclasses.replace(
        a, position_mm=_mixed(a.position_mm, b.position_mm, weight), rotation=_turned(a.rotation, b.rotation, weight)
    )


def _moved_hand(a: HandPose, b: HandPose, weight: float) -> HandPose:
    if _jumps(a.fingertip_mm, b.fingertip_mm):
        return a
    return dataclasses.replace(
        a, fingertip_mm=_mixed(a.fingertip_mm, b.fingertip_mm, weight), elbow_mm=_mixed(a.elbow_mm, b.elbow_mm, weight)
    )


def _jumps(a: Vector, b: Vector) -> bool:
    return bool(np.linalg.norm(np.subtract(a, b)) > _JUMP_MM)


def _mixed(a: Vector, b: Vector, weight: float) -> Vector:
    return (a[0] + weight * (b[0] - a[0]), a[1] + weight * (b[1] - a[1]), a[2] + weight * (b[2] - a[2]))


def _turned(a: Quaternion, b: Quaternion, weight: float) -> Quaternion:
    near = np.array(b) if np.dot(a, b) >= 0 else -np.array(b)
    mixed = np.array(a) + weight * (near - a)
    mixed /= np.linalg.norm(mixed)
    return to_quaternion(mixed)


TIME_BASE = Fraction(1, 1_000_000_000)
_KEY_FRAMES_PER_S = 2


class ClipWriter:
    """Writes one MP4, completely or not at all: the file gets its name when the writer is closed without an error.

    It is a context manager.

    Args:
        size_px: picture width and height, both even.
        crf: x264's quality, lower is better; about 18 is hard to tell from the source.

    Raises:
        InputError: an odd size.
        OutputError: the file can't be written.
    """

    def __init__(self, path: Path, size_px: tuple[int, int], fps: float, crf: int = 20) -> None:
        if size_px[0] % 2 or size_px[1] % 2:
            raise InputError(f"a clip's width and height must be even, not {size_px[0]}x{size_px[1]}")
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._size_px = size_px
        rate = Fraction(fps).limit_denominator(1001)
        options = {"movflags": "faststart", "video_track_timescale": str(TIME_BASE.denominator)}
        # Capture times need not start at 0: the edit list gives the offset in the movie's clock, which must be as fine.
        options["movie_timescale"] = str(TIME_BASE.denominator)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._container = av.open(str(self._part), "w", format="mp4", options=options)
        except (OSError, av.error.FFmpegError) as error:
            raise OutputError(f"{path}: can't be written: {_reason(error)}") from None
        self._stream = self._container.add_stream("libx264", rate=rate)
        self._stream.width, self._stream.height = size_px
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": str(crf), "preset": "medium", "bf": "0"}
        context = self._stream.codec_context
        context.time_base = TIME_BASE
        context.gop_size = max(1, round(fps / _KEY_FRAMES_PER_S))
        context.colorspace, context.color_range = Colorspace.ITU709, ColorRange.MPEG
        context.color_primaries, context.color_trc = ColorPrimaries.BT709, ColorTrc.BT709

    def __enter__(self) -> ClipWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._container.close()
            self._part.unlink(missing_ok=True)

    def add(self, image: Image, t_ns: int) -> None:
        """Append a later picture, uint8 BGR, shape (height, width, 3). Raises OutputError: it can't be written."""
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="bgr24")
        frame = frame.reformat(
            format="yuv420p", dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG, threads=1
        )
        frame.pts, frame.time_base = t_ns, TIME_BASE
        self._mux(frame)

    def close(self) -> None:
        """Finish the file and give it its name. Raises OutputError: the place can't be written any more."""
        self._mux(None)
        try:
            self._container.close()
            self._part.replace(self._path)
        except (OSError, av.error.FFmpegError) as error:
            raise OutputError(f"{self._path}: can't be written: {_reason(error)}") from None

    def _mux(self, frame: av.VideoFrame | None) -> None:
        try:
            for packet in self._stream.encode(frame):
                self._container.mux(packet)
        except (OSError, av.error.FFmpegError) as error:
            raise OutputError(f"{self._path}: can't be written: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
