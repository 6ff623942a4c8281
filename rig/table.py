"""What stands on the table: the source, the calibration of its camera, and the sight over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.calibration.field.solver import solve_field
from downfield.calibration.lens.lens_calibration import read_lens
from downfield.calibration.quality import to_calibration
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, DownfieldError, InputError
from downfield.core.field import FieldModel, load_field, preset, preset_names
from downfield.core.scene import Scene
from downfield.game.published.board_topics import HealthReason
from downfield.officiating.declarations import LineUpDeclared
from downfield.officiating.events import Event
from downfield.rig.configuration.settings import CalibrationSettings, RigSettings
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.live.vision_seam import RecordedVision, UncalibratedVision, VisionStage
from downfield.rig.recording.clip import RecordedClip, bundled_demo, declared, open_clip, tracks_of
from downfield.rig.sources.camera_locks import CameraLocks
from downfield.rig.sources.clocks import CaptureClock
from downfield.rig.sources.opening import TWIN, SourceChoice, open_source
from downfield.rig.sources.source import FrameSource, SourceWithTruth
from downfield.rig.sources.usb_camera import CameraRequest
from downfield.rig.standing_figures import distance_known

LOOKED_AT: Final = 5
"""Frames a calibration is made from: more average noise, and see what a hand covers in one."""

UNCALIBRATED: Final = "the camera is not calibrated"

NO_CALIBRATION: Final = "no_calibration"
"""Code of the reason that tells why there is no calibration, or no newer one."""

_EVERY: Final = 6
"""Of the frames that come, so that those looked at are a tenth of a second apart."""

MakeVision = Callable[[Calibration], VisionStage]


class OpenVision(Protocol):
    """Makes a sight for a calibration and, where there is one, a file with the roster, for a live source or another."""

    def __call__(
        self, settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool
    ) -> VisionStage:
        """As `network_sight.open_vision`."""


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """A table with a camera over it, or a recording of one.

    Attributes:
        source: pictures.
        calibration: of the camera; None while a live camera's pictures allow none.
        field: the printed field; one that it may be while it is not known.
        sight: sees scenes in the pictures.
        make_sight: makes one for another calibration; None for recorded scenes.
        events: recorded declarations.
        text: what it is, for people.

    """

    source: FrameSource
    calibration: Calibration | None
    field: FieldModel
    sight: VisionStage
    make_sight: MakeVision | None
    events: tuple[Event, ...]
    text: str


def source_choice(settings: RigSettings, *, paced: bool) -> SourceChoice:
    """What the configuration says of the source."""
    table = settings.source
    wanted = CameraRequest(table.size, table.fps, CameraLocks(table.exposure, table.focus, table.white_balance))
    return SourceChoice(table.name or str(bundled_demo()), wanted, paced, table.microphone)


def open_table(
    settings: RigSettings,
    clock: CaptureClock,
    troubles: ActiveProblems,
    open_vision: OpenVision,
    *,
    paced: bool = True,
) -> OpenedTable:
    """Open what the configuration names.

    A clip with its tracks beside it is shown with these, if the configuration says so; everything else is looked at.

    Args:
        settings: the configuration.
        clock: of the table.
        troubles: told of what goes wrong with a live source.
        open_vision: makes a sight for a calibration and, where there is one, a file with the roster.
        paced: files at their own pace; else as fast as they go.

    Raises:
        InputError: something named does not exist or can't be read.
        SourceError: the source can't be opened.
        CalibrationError: no calibration is given, and none can be made from a recording's pictures. A live camera is
            opened without: it may have to be aimed first, and that needs its picture.

    """
    choice = source_choice(settings, paced=paced)
    clip = Path(choice.text)
    tracks = tracks_of(clip) if clip.is_file() and tracks_of(clip).is_file() else None
    if tracks is not None and settings.source.shows_tracks:
        return _recorded(open_clip(clip), choice, clock, troubles)
    if choice.text.startswith(TWIN):
        source = open_source(choice, clock, troubles)
        calibration, events, scenes = _known(source)
        if settings.source.shows_tracks:
            sight = RecordedVision(scenes)
            return OpenedTable(source, calibration, calibration.field, sight, None, events, source.facts.name)
    else:
        try:
            calibration, events = find_calibration(settings.calibration, choice, clock, troubles), declared(clip)
        except CalibrationError as error:
            return _uncalibrated(settings, choice, clock, troubles, open_vision, error)
        source = open_source(choice, clock, troubles)
    size_px = calibration.camera.lens.size_px
    if size_px != source.facts.size_px:
        source.close()
        raise InputError(
            f"the calibration is of pictures of {size_px[0]}x{size_px[1]}, but {source.facts.name} sends "
            f"{source.facts.size_px[0]}x{source.facts.size_px[1]}: calibrate anew, or ask the camera for that size"
        )

    make_sight = _sights(settings, open_vision, tracks, live=source.facts.live)
    return OpenedTable(
        source, calibration, calibration.field, make_sight(calibration), make_sight, events, source.facts.name
    )


def _sights(settings: RigSettings, open_vision: OpenVision, tracks: Path | None, *, live: bool) -> MakeVision:
    roster = Path(settings.game.roster) if settings.game.roster else tracks
    return lambda calibration: open_vision(settings, calibration, roster, live=live)


def _uncalibrated(
    settings: RigSettings,
    choice: SourceChoice,
    clock: CaptureClock,
    troubles: ActiveProblems,
    open_vision: OpenVision,
    error: CalibrationError,
) -> OpenedTable:
    """A live camera without a calibration yet; with anything else there is nothing to wait for."""
    source = open_source(choice, clock, troubles)
    if source.facts.kind not in {"camera", "stream"}:
        source.close()
        raise error
    troubles.add(uncalibrated(error))
    sight = UncalibratedVision(UNCALIBRATED)
    name = source.facts.name
    return OpenedTable(
        source, None, fields(settings.calibration)[0], sight, _sights(settings, open_vision, None, live=True), (), name
    )


def uncalibrated(error: DownfieldError) -> HealthReason:
    """Why there is no calibration, for people."""
    remedy = "Aim the camera by its picture, light the board evenly; it is tried again every few seconds"
    return HealthReason(code=NO_CALIBRATION, level="alarm", text=f"{UNCALIBRATED}: {error}", remedy=remedy)


def find_calibration(
    table: CalibrationSettings, choice: SourceChoice, clock: CaptureClock, troubles: ActiveProblems
) -> Calibration:
    """The calibration that is given or lies beside a clip; else one made from the first pictures.

    Raises:
        InputError: the file given can't be read.
        CalibrationError: the printed field is not found, or no answer can be trusted; says what to change.

    """
    beside = Path(choice.text).with_suffix(".calibration.json")
    if table.file:
        return read_calibration(Path(table.file))
    if Path(choice.text).is_file() and beside.is_file():
        return read_calibration(beside)
    source = open_source(SourceChoice(choice.text, choice.wanted, paced=False), clock, troubles)
    try:
        images = first_pictures(source)
    finally:
        source.close()
    return calibrate(table, images, source.facts.name)


def calibrate(table: CalibrationSettings, images: list[Image], name: str) -> Calibration:
    """A calibration from the printed field.

    Raises:
        CalibrationError: the printed field is not found, or no answer can be trusted; says what to change.

    """
    prior = read_lens(Path(table.lens)).prior() if table.lens else None
    distance = distance_known(images[0], table.camera_height_mm or None) if prior is None else None
    try:
        solution = solve_field(images, fields(table), prior=prior, distance=distance)
    except CalibrationError as error:
        raise CalibrationError(f"{name}: no calibration from the printed field: {error}") from None
    return to_calibration(solution.field, solution.fit, solution.observations, method="field", made_from=[name])


def fields(table: CalibrationSettings) -> list[FieldModel]:
    """The printed fields it may be."""
    return [preset(name) for name in preset_names()] if table.field == "auto" else [load_field(table.field)]


def first_pictures(source: FrameSource) -> list[Image]:
    """A few of a source's first pictures.

    Raises:
        SourceError: it ended or broke off before it sent any.

    """
    images: list[Image] = []
    for shot in source.frames():
        if shot.index % _EVERY == 0:
            images.append(shot.frame().image)
            if len(images) == LOOKED_AT:
                break
    return images


def _known(source: object) -> tuple[Calibration, tuple[Event, ...], tuple[Scene, ...]]:
    """What a source of the twin knows of its table."""
    if not isinstance(source, SourceWithTruth):
        raise TypeError("a source of the twin knows its table")
    return source.calibration, source.events, source.scenes


def _recorded(
    recording: RecordedClip, choice: SourceChoice, clock: CaptureClock, troubles: ActiveProblems
) -> OpenedTable:
    named = any(isinstance(event.body, LineUpDeclared) for event in recording.events)
    players = () if named else recording.tracks.header.players
    source = open_source(choice, clock, troubles)
    text = f"{recording.clip.name}: {recording.tracks.header.source}"
    sight = RecordedVision(recording.tracks, players)
    return OpenedTable(source, recording.calibration, recording.calibration.field, sight, None, recording.events, text)
