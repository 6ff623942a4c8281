"""The camera: whether it opens, sends JPEGs, and as many as were asked for; and pictures for the others to see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError
from downfield.rig.doctor.report import CheckResult
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.sources.clocks import CaptureClock
from downfield.rig.sources.opening import SourceChoice, open_source
from downfield.rig.sources.source import CapturedFrame, FrameSource, SourceFacts

_LOOK_S: Final = 2.0
_MOST_FRAMES: Final = 60  # of a recording, which comes as fast as it is read
_SETTLING_S: Final = 0.5  # after opening, cameras send irregularly
_RATE_SHORT: Final = 0.95
_KEPT: Final = 5


@dataclass(frozen=True, slots=True)
class CameraExamination:
    """What was seen of a source.

    Attributes:
        findings: about it.
        facts: of it; None when it did not open.
        images: some of its pictures.

    """

    findings: tuple[CheckResult, ...]
    facts: SourceFacts | None = None
    images: tuple[Image, ...] = ()


def look_at_camera(choice: SourceChoice) -> CameraExamination:
    """Open the source and take pictures for two seconds."""
    troubles = ActiveProblems()
    try:
        source = open_source(SourceChoice(choice.text, choice.wanted, paced=False), CaptureClock(), troubles)
    except DownfieldError as error:
        return CameraExamination(
            (CheckResult("camera", "fault", str(error), "Plug it in, or name the right one with --source"),)
        )
    try:
        frames = _shots(source)
        images = tuple(shot.frame().image for shot in frames[:: max(1, len(frames) // _KEPT)][:_KEPT])
    except DownfieldError as error:
        return CameraExamination(
            (CheckResult("camera", "fault", str(error), "Try another cable or port"),), source.facts
        )
    finally:
        source.close()
    if not images:
        return CameraExamination(
            (CheckResult("camera", "fault", "it opens but sends no picture", "Try another cable or port"),)
        )
    facts = source.facts
    findings = [*_of_facts(facts, choice), *(_of_rate(frames, choice) if facts.kind == "camera" else ())]
    return CameraExamination(tuple(findings), facts, images)


def _shots(source: FrameSource) -> list[CapturedFrame]:
    frames: list[CapturedFrame] = []
    for shot in source.frames():
        frames.append(shot)
        enough = shot.t_ns - frames[0].t_ns > (_LOOK_S + _SETTLING_S) * 1e9
        if enough or (not source.facts.live and len(frames) >= _MOST_FRAMES):
            break
    return frames


def _of_facts(facts: SourceFacts, choice: SourceChoice) -> Iterator[CheckResult]:
    packs = f", {facts.codec}" if facts.codec else ""
    yield CheckResult("camera", "ok", f"{facts.name}: {facts.size_px[0]}x{facts.size_px[1]}{packs}")
    for note in facts.notes:
        yield CheckResult("camera", "warning", note, "Ask for what it can do in [source], or use another camera")
    if facts.kind == "camera" and facts.codec != "mjpeg":
        text = f"it does not send MJPEG at {choice.wanted.size_px[0]}x{choice.wanted.size_px[1]}"
        yield CheckResult(
            "camera", "warning", text, "Use a camera that does: raw pictures are slow, and costly to record"
        )


def _of_rate(frames: list[CapturedFrame], choice: SourceChoice) -> Iterator[CheckResult]:
    settled = [shot.t_ns for shot in frames if shot.t_ns - frames[0].t_ns > _SETTLING_S * 1e9]
    if len(settled) < 2:
        yield CheckResult("camera", "fault", "pictures come less than once a second", "Try another cable or port")
        return
    fps = (len(settled) - 1) * 1e9 / (settled[-1] - settled[0])
    if fps < _RATE_SHORT * choice.wanted.fps:
        text = f"{fps:.1f} pictures a second, not {choice.wanted.fps:g}"
        remedy = "More light or a shorter exposure; a USB port of its own; or ask for less with fps in [source]"
        yield CheckResult("camera", "warning", text, remedy)
    else:
        yield CheckResult("camera", "ok", f"{fps:.1f} pictures a second")
