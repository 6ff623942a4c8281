"""Every check of `downfield doctor`: one that is added to `run_checks` is run, and is in bug reports.

`write_support_file` makes the file for one: versions, configuration, checks, the log's end; no secret, path or picture.
"""

from __future__ import annotations

import io
import json
import math
import os
import platform
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final

import cv2

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.calibration.picture_match import PICTURE_MATCH_LIMITS, match_picture
from downfield.calibration.pictures import check_picture, is_blurred
from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock, CapturedFrame, FrameSource, SourceFacts
from downfield.capture.sources.cameras import FULL_RATE_SHARE
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, DownfieldError, InputError, OutputError, SourceError
from downfield.core.files.private_files import replace_private_file
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.display import as_toml, scrubber_of
from downfield.rig.configuration.loading import Configuration
from downfield.rig.configuration.settings import (
    CalibrationSettings,
    RigSettings,
    data_folder,
    logs_folder,
    recordings_folder,
    store_file,
)
from downfield.rig.tables.table import source_choice
from downfield.rig.tables.table_calibration import calibrate, calibration_beside
from downfield.rig.upkeep.computer_checks import (
    CheckResult,
    check_disk,
    check_network,
    check_port,
    check_store,
    check_time,
)
from downfield.rig.upkeep.log_file import last_lines
from downfield.store.database.opening import open_for_reading

_OTHER_CABLE: Final = "Try another cable or port"
_CAMERA_MOVED: Final = "Calibrate again: the camera or the board was moved"


_CAPTURE_S: Final = 2.0  # Time for which frames are captured
_SETTLING_S: Final = 0.5  # Time after opening during which cameras send irregularly
_RECORDED_FRAMES: Final = 60  # Most frames read of a recording, which come as fast as they are read
_KEPT_FRAMES: Final = 5  # Frames passed on to the other checks
_DIM_LEVEL: Final = 60.0  # Mean gray level below which the sensor's noise begins to show
_OFFSET_PX: Final = 0.7  # Typical offset from which a new calibration is advised: half the offset that stops a game


def check_camera(choice: SourceChoice) -> tuple[list[CheckResult], list[Image]]:
    """Open the source and capture frames for two seconds; return the findings, and some pictures, if any arrived."""
    try:
        source = open_source(SourceChoice(choice.text, choice.camera, paced=False), CaptureClock(), ActiveProblems())
    except DownfieldError as error:
        remedy = "Plug it in, or name the right one with --source" if isinstance(error, SourceError) else ""
        return [_fault(str(error), remedy)], []
    try:
        frames = _capture(source)
        step = max(1, len(frames) // _KEPT_FRAMES)
        images = [frame.decode().image for frame in frames[::step][:_KEPT_FRAMES]]
    except DownfieldError as error:
        return [_fault(str(error), _OTHER_CABLE)], []
    finally:
        source.close()
    if not images:
        return [_fault("the camera opens but sends no picture", _OTHER_CABLE)], []
    facts = source.facts
    return [*_check_facts(facts, choice), *(_check_rate(frames, choice) if facts.is_plugged_in else ())], images


def check_light(image: Image) -> CheckResult:
    """Check whether there is enough light, and not too much."""
    try:
        check_picture(image)
    except CalibrationError as error:
        text, _, remedy = str(error).partition(". ")
        return CheckResult("light", "fault", text, remedy.rstrip("."))
    mean = float(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).mean())
    if mean < _DIM_LEVEL:
        remedy = "Add light. A longer exposure would blur the shaking board"
        return CheckResult("light", "warning", f"the picture is dim (mean gray level {mean:.0f} of 255)", remedy)
    return CheckResult("light", "ok", f"mean gray level {mean:.0f} of 255")


def check_focus(image: Image) -> CheckResult:
    """Check whether edges are sharp."""
    if is_blurred(image):
        remedy = "Focus on the board, hold the focus (focus in [source]), and clean the lens"
        return CheckResult("focus", "fault", "even the sharpest edges of the picture are soft", remedy)
    return CheckResult("focus", "ok", "edges are sharp")


def check_calibration(settings: CalibrationSettings, images: list[Image], beside: Path) -> Iterator[CheckResult]:
    """Check whether the calibration fits the pictures; without one, whether the camera can be calibrated from them."""
    try:
        if settings.file or beside.is_file():
            calibration = read_calibration(Path(settings.file) if settings.file else beside)
            yield _check_fit(calibration, images[0])
        else:
            calibration = calibrate(settings, images, "camera")
            text = f"the field '{calibration.field.name}' was found in the picture"
            yield CheckResult("calibration", "ok", text)
    except DownfieldError as error:
        remedy = "Clear the board, light it evenly, and keep the whole field in view; or calibrate by hand"
        yield CheckResult("calibration", "fault", str(error), remedy)
        return
    if calibration.certificate is None:
        text = "the accuracy of this table has not been measured"
        yield CheckResult("calibration", "warning", text, "Measure it once: downfield certify")
    else:
        yield CheckResult("calibration", "ok", f"certified to {max(calibration.certificate.p95_yd):.3f} yd")


def _capture(source: FrameSource) -> list[CapturedFrame]:
    frames: list[CapturedFrame] = []
    for frame in source.frames():
        frames.append(frame)
        enough = frame.t_ns - frames[0].t_ns > (_CAPTURE_S + _SETTLING_S) * 1e9
        if enough or (not source.facts.live and len(frames) >= _RECORDED_FRAMES):
            break
    return frames


def _check_facts(facts: SourceFacts, choice: SourceChoice) -> Iterator[CheckResult]:
    codec = f", {facts.codec}" if facts.codec else ""
    yield CheckResult("camera", "ok", f"{facts.name}: {facts.size_px[0]}x{facts.size_px[1]}{codec}")
    for note in facts.notes:
        yield CheckResult("camera", "warning", note, "Request a mode of the camera in [source], or use another camera")
    if facts.is_plugged_in and facts.codec != "mjpeg":
        size_px = choice.camera.size_px
        text = f"the camera does not send MJPEG at {size_px[0]}x{size_px[1]}"
        remedy = "Use a camera that does: raw pictures are slow, and costly to record"
        yield CheckResult("camera", "warning", text, remedy)


def _check_rate(frames: list[CapturedFrame], choice: SourceChoice) -> Iterator[CheckResult]:
    settled = [frame.t_ns for frame in frames if frame.t_ns - frames[0].t_ns > _SETTLING_S * 1e9]
    if len(settled) < 2:
        yield _fault("the camera sends less than one frame per second", _OTHER_CABLE)
        return
    fps = (len(settled) - 1) * 1e9 / (settled[-1] - settled[0])
    if fps < FULL_RATE_SHARE * choice.camera.fps:
        text = f"the camera sends {fps:.1f} frames/s, not {choice.camera.fps:g}"
        remedy = "Add light or shorten the exposure; use a USB port of its own; or request less with fps in [source]"
        yield CheckResult("camera", "warning", text, remedy)
    else:
        yield CheckResult("camera", "ok", f"{fps:.1f} frames/s")


def _check_fit(calibration: Calibration, image: Image) -> CheckResult:
    size_px = calibration.camera.lens.size_px
    if (image.shape[1], image.shape[0]) != size_px:
        sent = f"{image.shape[1]}x{image.shape[0]}"
        text = f"the calibration is for pictures of {size_px[0]}x{size_px[1]}; the camera sends {sent}"
        return CheckResult("calibration", "fault", text, "Calibrate again, or request that size from the camera")
    match = match_picture(image, calibration)
    if match.found_share < PICTURE_MATCH_LIMITS.found_share or not math.isfinite(match.typical_px):
        text = f"only {match.found_share:.0%} of the yard lines are where the calibration has them"
        return CheckResult("calibration", "fault", text, _CAMERA_MOVED)
    found = f"{match.found_share:.0%} of the yard lines found"
    text = f"lines are {match.typical_px:.2f} px from where the calibration has them; {found}"
    if not match.is_same_view:
        return CheckResult("calibration", "fault", text, _CAMERA_MOVED)
    if match.typical_px > _OFFSET_PX:
        return CheckResult("calibration", "warning", text, "Calibrate again before the game")
    return CheckResult("calibration", "ok", text)


def check_rulebook(name: str) -> CheckResult:
    """Check whether the configured rulebook can be played."""
    try:
        return CheckResult("rulebook", "ok", load_rulebook(name).title)
    except DownfieldError as error:
        return CheckResult("rulebook", "fault", str(error), "Name another in game.rulebook")


def _fault(text: str, remedy: str) -> CheckResult:
    return CheckResult("camera", "fault", text, remedy)


def run_checks(settings: RigSettings) -> Iterator[CheckResult]:
    """Run all checks, one after the other, and yield their results as they come."""
    choice = source_choice(settings, paced=False)
    results, images = check_camera(choice)
    yield from results
    if images:
        yield check_light(images[-1])
        yield check_focus(images[-1])
        yield from check_calibration(settings.calibration, images, calibration_beside(choice.text))
        yield check_network(settings.network, images[-1])
    yield check_rulebook(settings.game.rulebook)
    yield check_disk(recordings_folder(settings), settings.recording)
    yield check_store(settings)
    yield check_port(settings.service)
    yield check_time()


_LOG_LINES: Final = 2000
_MOST_GAMES: Final = 100_000


def support_parts(configuration: Configuration, checks: Iterable[CheckResult]) -> dict[str, str]:
    """Return the files of a bug report, by name, already without secrets, paths and addresses."""
    settings = configuration.settings
    scrubber = scrubber_of(settings)
    remedies = ((check, f". {check.remedy}." if check.remedy else "") for check in checks)
    found = "\n".join(f"{check.state}: {check.subject}: {check.text}{remedy}" for check, remedy in remedies)
    parts = {
        "versions.txt": _versions(),
        "configuration.toml": "\n".join(as_toml(configuration)),
        "doctor.txt": found,
        "data.txt": _data(settings),
        "log.txt": _log(settings),
    }
    return {name: scrubber.scrub(text) + "\n" for name, text in parts.items()}


def write_support_file(output: Path, parts: dict[str, str]) -> None:
    """Write the files of a bug report as one zip, for its owner only. Raises OutputError: it can't be written."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), text.encode(errors="backslashreplace"))
    try:
        replace_private_file(output, content.getvalue())
    except OSError as error:
        raise OutputError(f"{output}: can't be written ({error.strerror})") from None


def _versions() -> str:
    lines = [
        f"downfield {version('downfield')}",
        f"Python {platform.python_version()} ({platform.python_implementation()})",
        f"{platform.system()} {platform.release()}, {platform.machine()}",
        f"processor: {_processor()}, {os.cpu_count()} cores",
        f"memory: {_memory_gb()} GB",
        "",
    ]
    for requirement in sorted(requires("downfield") or ()):
        name = requirement.split(";")[0].split("[")[0].split(">")[0].split("=")[0].split("<")[0].strip()
        if "extra ==" in requirement:
            continue
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} is missing")
    return "\n".join(lines)


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _memory_gb() -> str:
    with suppress(OSError, ValueError, AttributeError):
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f}"
    return "unknown"


def _data(settings: RigSettings) -> str:
    """Say how much there is of what, without names."""
    folder = data_folder(settings)
    sizes: dict[str, tuple[int, int]] = {}
    for path in folder.rglob("*") if folder.is_dir() else ():
        with suppress(OSError):
            if path.is_file():
                count, size = sizes.get(path.suffix, (0, 0))
                sizes[path.suffix] = (count + 1, size + path.stat().st_size)
    # The ending comes last: what follows "key:" is taken for a secret.
    counted = sorted(sizes.items())
    lines = [f"{count} files, {size / 1e6:.1f} MB, {ending or 'no ending'}" for ending, (count, size) in counted]
    return "\n".join([*lines, _store(store_file(settings))])


def _store(path: Path) -> str:
    if not path.is_file():
        return "no store in the data folder"
    try:
        with open_for_reading(str(path)) as opened:
            games = opened.store.games(limit=_MOST_GAMES)
            entries = sum(last.seq for game in games if (last := opened.store.last_entry(game.id)) is not None)
            counts = {"games": len(games), "entries": entries, "devices": len(opened.store.devices())}
    except DownfieldError as error:
        return f"the store can't be read: {error}"
    return f"store: {json.dumps(counts)} {opened.note}".rstrip()


def _log(settings: RigSettings) -> str:
    try:
        return "\n".join(last_lines(logs_folder(settings), _LOG_LINES))
    except InputError as error:
        return str(error)
