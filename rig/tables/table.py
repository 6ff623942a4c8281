"""Opens the table: the source, the calibration of its camera, and the vision stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from downfield.calibration.calibration import Calibration
from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock, FrameSource, SourceWithTruth
from downfield.capture.sources.camera_request import CameraControls, CameraRequest, HeldValuesFile
from downfield.capture.sources.file_sources import RecordedClip, bundled_demo, open_clip, read_declarations, tracks_path
from downfield.capture.sources.scenes import above
from downfield.capture.sources.source_opening import open_source, reopen_source
from downfield.capture.sources.source_types import SourceChoice, is_recording, type_of
from downfield.core.errors import CalibrationError, DownfieldError, InputError
from downfield.core.field.model import FieldModel
from downfield.core.strip import load_strip
from downfield.core.track_files import read_roster
from downfield.game.published.board_topics import HealthReason
from downfield.officiating.declarations import LineUpDeclared
from downfield.officiating.events import Event
from downfield.rig.configuration.settings import RigSettings, data_folder, tables_folder
from downfield.rig.live.connections import VisionStage
from downfield.rig.live.strip_game import StripReadings, StripVision
from downfield.rig.live.vision_stages import RecordedVision, SentVision, UncalibratedVision
from downfield.rig.tables.profile import TableFolder
from downfield.rig.tables.table_calibration import calibration_beside, candidate_fields, check_view, find_calibration

UNCALIBRATED: Final = "the camera is not calibrated"

NO_CALIBRATION: Final = "no_calibration"  # Code of the problem that the first calibration, or a new one, failed

MakeVision = Callable[[Calibration], VisionStage]


class OpenVision(Protocol):
    """Opens a vision stage for a calibration and, if there is one, a roster file."""

    def __call__(
        self, settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool
    ) -> VisionStage:
        """See `vision_stages.open_vision`."""


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """A table with a camera over it, or a recording of one."""

    source: FrameSource
    # calibration of the camera; None while a live camera can't be calibrated from its pictures
    calibration: Calibration | None
    field: FieldModel  # the printed field; one of the candidates while it is unknown
    vision: VisionStage
    make_vision: MakeVision | None  # opens a vision stage for another calibration; None if recorded scenes are shown
    events: tuple[Event, ...]
    text: str
    readings: StripReadings | None = None  # of the strip that the camera looks at; None over a table

    @property
    def has_camera(self) -> bool:
        """Whether pictures come from a camera now, and not scenes of another program or a recording."""
        return self.source.facts.live and self.make_vision is not None


def source_choice(settings: RigSettings, *, paced: bool, is_set_up: bool = False) -> SourceChoice:
    """Return the configured source; recordings play at their own pace if paced.

    Args:
        is_set_up: whether its camera is being set up, so that it is held from now on at what it is at then.
    """
    source = settings.source
    controls = CameraControls(source.exposure, source.focus, source.white_balance)
    held = HeldValuesFile(data_folder(settings) / "cameras.json", begins_anew=is_set_up)
    request = CameraRequest(source.size, source.fps, controls, held)
    return SourceChoice(source.name or str(bundled_demo()), request, paced, source.microphone)


def open_table(
    settings: RigSettings, clock: CaptureClock, problems: ActiveProblems, open_vision: OpenVision, *, paced: bool = True
) -> OpenedTable:
    """Open the configured table.

    A clip with tracks beside it is shown with these tracks, if so configured; every other source is tracked.

    Args:
        paced: whether recordings play at their own pace; otherwise as fast as they are processed.

    Raises:
        InputError: a configured file or source does not exist or can't be read.
        SourceError: the source can't be opened.
        CalibrationError: no calibration is configured, and a recording can't be calibrated from its pictures. A live
            camera is opened without a calibration, since its picture is needed to aim it.
    """
    choice = source_choice(settings, paced=paced)
    clip = Path(choice.text)
    tracks = tracks_path(clip) if clip.is_file() and tracks_path(clip).is_file() else None
    if tracks is not None and settings.source.shows_tracks:
        return _with_recorded_scenes(open_clip(clip), choice, clock, problems)
    named = type_of(choice.text)
    if named is not None and named.sends_scenes:
        return _with_sent_scenes(settings, open_source(choice, clock, problems))
    if named is not None and named.knows_truth:
        source = open_source(choice, clock, problems)
        if not isinstance(source, SourceWithTruth):
            raise TypeError(f"{choice.text}: its type says that it knows the truth, and its source has none")
        calibration, events = source.calibration, source.events
        if settings.source.shows_tracks:
            recorded = RecordedVision(source.scenes)
            return OpenedTable(source, calibration, calibration.field, recorded, None, events, source.facts.name)
    else:
        try:
            tables = TableFolder(tables_folder(settings))
            calibration = find_calibration(settings.calibration, choice, clock, problems, tables)
        except CalibrationError as error:
            return _without_calibration(settings, choice, clock, problems, open_vision, error)
        events = read_declarations(clip)
        named_file = settings.calibration.file or calibration_beside(choice.text).is_file()
        if is_recording(choice.text) and named_file and not settings.calibration.strip:
            check_view(open_source(replace(choice, paced=False), clock, problems), calibration)
        source = reopen_source(choice, clock, problems)
    _check_size(source, calibration)
    readings = StripReadings() if settings.calibration.strip else None
    make_vision = _vision_opener(settings, open_vision, tracks, readings, live=source.facts.live)
    vision, name = make_vision(calibration), source.facts.name
    return OpenedTable(source, calibration, calibration.field, vision, make_vision, events, name, readings)


def no_calibration(error: DownfieldError, tried: str = "") -> HealthReason:
    """Return the problem "the camera is not calibrated", with how long it has been tried."""
    again = f"Downfield tries again every few seconds{f' ({tried})' if tried else ''}"
    remedy = f"Aim the camera by its picture and light the board evenly. {again}"
    return HealthReason(code=NO_CALIBRATION, level="alarm", text=f"{UNCALIBRATED}: {error}", remedy=remedy)


def _check_size(source: FrameSource, calibration: Calibration) -> None:
    size_px, sent_px = calibration.camera.lens.size_px, source.facts.size_px
    if size_px != sent_px:
        source.close()
        raise InputError(
            f"The calibration is for pictures of {size_px[0]}x{size_px[1]}, but {source.facts.name} sends"
            f" {sent_px[0]}x{sent_px[1]}. Calibrate again, or request that size from the camera."
        )


def _vision_opener(
    settings: RigSettings, open_vision: OpenVision, tracks: Path | None, readings: StripReadings | None, *, live: bool
) -> MakeVision:
    if readings is not None:
        strip = load_strip(settings.calibration.strip)
        return lambda calibration: StripVision(strip, calibration, readings, live=live)
    roster = Path(settings.game.roster) if settings.game.roster else tracks
    return lambda calibration: open_vision(settings, calibration, roster, live=live)


def _without_calibration(
    settings: RigSettings,
    choice: SourceChoice,
    clock: CaptureClock,
    problems: ActiveProblems,
    open_vision: OpenVision,
    error: CalibrationError,
) -> OpenedTable:
    """Open a live camera without a calibration; recordings are refused, since their pictures won't change."""
    source = reopen_source(choice, clock, problems)
    if not source.facts.live:
        source.close()
        raise error
    problems.report(no_calibration(error))
    field = candidate_fields(settings.calibration)[0]
    readings = StripReadings() if settings.calibration.strip else None
    make_vision = _vision_opener(settings, open_vision, None, readings, live=True)
    vision = UncalibratedVision(UNCALIBRATED)
    return OpenedTable(source, None, field, vision, make_vision, (), source.facts.name, readings)


def _with_sent_scenes(settings: RigSettings, source: FrameSource) -> OpenedTable:
    """Open scenes that another program sends; of the printed field they say nothing."""
    fields = candidate_fields(settings.calibration)
    if len(fields) > 1:
        source.close()
        raise InputError(
            "Scenes of another program say nothing of the printed field. Name it: --set calibration.field=ultimate."
        )
    calibration = above(fields[0])
    roster = read_roster(Path(settings.game.roster)).players if settings.game.roster else ()
    vision = SentVision(fields[0], roster)
    return OpenedTable(source, calibration, fields[0], vision, None, (), source.facts.name)


def _with_recorded_scenes(
    clip: RecordedClip, choice: SourceChoice, clock: CaptureClock, problems: ActiveProblems
) -> OpenedTable:
    declares_line_up = any(isinstance(event.body, LineUpDeclared) for event in clip.events)
    players = () if declares_line_up else clip.tracks.header.players
    source = open_source(choice, clock, problems)
    text = f"{clip.path.name}: {clip.tracks.header.source}"
    vision = RecordedVision(clip.tracks, players)
    return OpenedTable(source, clip.calibration, clip.calibration.field, vision, None, clip.events, text)
