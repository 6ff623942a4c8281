"""Write the page of what Python programs may use: ``python docs/library_page.py docs/library.md``.

Signatures and texts are those of the code, so the page can't drift from it; a test holds the committed page against
what this module writes and runs its examples.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import downfield
from downfield.calibration import calibration
from downfield.capture.sources import file_sources
from downfield.core import errors, footprint, track_files
from downfield.core.records import write_text
from downfield.models import detector, loading
from downfield.officiating import events, scenes
from downfield.officiating.engine import recording
from downfield.officiating.rulebooks import rulebook


@dataclasses.dataclass(frozen=True, slots=True)
class Chapter:
    """One use.

    Attributes:
        title: what it is for.
        example: a program that runs as it stands.
        members: what it uses, with everything public in it.
    """

    title: str
    example: str
    members: tuple[Callable[..., Any], ...]


CHAPTERS = (
    Chapter(
        "In a few lines",
        """
import itertools

import cv2

import downfield
from downfield.capture.sources.file_sources import bundled_demo

video = bundled_demo()
read, picture = cv2.VideoCapture(str(video)).read()
print(downfield.__version__, len(downfield.detect(picture)), "figures, balls and hands")
for scene in itertools.islice(downfield.track(video), 3):
    print(scene.t_ns, scene.unfit)
judgment = downfield.judge(video.with_suffix(".tracks.jsonl"), video.with_suffix(".events.jsonl"), "tap")
print(judgment.state.text)
""",
        (downfield.calibrate, downfield.detect, downfield.track, downfield.judge, downfield.follow),
    ),
    Chapter(
        "Judge a recorded game",
        """
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.capture.sources.file_sources import bundled_demo, open_clip

clip = open_clip(bundled_demo())
header = clip.tracks.header
judgment = judge_recording(clip.tracks, clip.events, load_rulebook("tap"), header.field, players=header.players)
for call in judgment.calls:
    print(f"{call.t_ns / 1e9:6.2f} s  {call.kind}: {call.text}")
print(judgment.state.text)
""",
        (
            file_sources.open_clip,
            file_sources.RecordedClip,
            track_files.TrackFile,
            events.read_events,
            rulebook.load_rulebook,
            recording.judge_recording,
            recording.Judgment,
            recording.compare_calls,
        ),
    ),
    Chapter(
        "Write a case of a rulebook by hand",
        """
from downfield.officiating.declarations import Carrier, LineUpDeclared, SetUp
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.scenes import FIELD, KeyFrame, ScriptedFigure, along, film, stands

runner = ScriptedFigure("dark-22", along(KeyFrame(0.5, 41, 26), KeyFrame(2.0, 53, 26)), role="RB")
tackler = ScriptedFigure("light-50", stands(48, 26, heading=180), role="LB")
case = film([runner, tackler], seconds=3.0, on=((0.5, 2.5),))

declared = (SetUp("home", 1, 40.0), LineUpDeclared(case.players, "dark"), Carrier("dark-22"))
events = [Event(f"e{n}", 0, "operator", body) for n, body in enumerate(declared)]
judgment = judge_recording(case.scenes, events, load_rulebook("tap"), FIELD)
for call in judgment.calls:
    if call.verdict == "called":
        print(f"{call.kind}: {call.text}")
""",
        (scenes.ScriptedFigure, scenes.stands, scenes.runs, scenes.KeyFrame, scenes.along, scenes.film, scenes.Film),
    ),
    Chapter(
        "Measure between two bases",
        """
from downfield.core.footprint import BaseSize, Footprint, PoseError, signed_gap

size = BaseSize(length_mm=38.0, width_mm=19.0, corner_mm=2.0)
carrier = Footprint(100.0, 50.0, 0.0, size)
tackler = Footprint(139.0, 52.0, 175.0, size)
gap = signed_gap(carrier, tackler)
errors = [PoseError((base.x_mm, base.y_mm), sigma_mm=(0.3, 0.3), sigma_deg=0.5) for base in (carrier, tackler)]
print(f"{gap.gap_mm:.2f} mm between them, give or take {gap.sigma_mm(*errors):.2f}")
""",
        (footprint.BaseSize, footprint.Footprint, footprint.signed_gap, footprint.Gap, footprint.PoseError),
    ),
    Chapter(
        "From pixels to yards",
        """
from downfield.capture.sources.file_sources import bundled_demo, open_clip

table = open_clip(bundled_demo()).calibration
places_mm, covariances = table.to_board_with_cov([(960.0, 540.0)], height_mm=6.0)  # on top of a base
x_yd, y_yd = places_mm[0] / (table.field.mm_per_yd_x, table.field.mm_per_yd_y)
print(f"{x_yd:.2f} yd along the field, {y_yd:.2f} yd across; {covariances[0, 0, 0] ** 0.5:.2f} mm sure along")
""",
        (calibration.read_calibration, calibration.Calibration, calibration.Certificate, calibration.Quality),
    ),
    Chapter(
        "See figures in a picture",
        """
import cv2

from downfield.models.loading import open_detector
from downfield.capture.sources.file_sources import bundled_demo

read, picture = cv2.VideoCapture(str(bundled_demo())).read()
figures = [found for found in open_detector().detect(picture) if found.kind in {"upright", "fallen"}]
print(f"{len(figures)} figures; corners of the surest: {figures[0].corners_px}")
""",
        (loading.open_detector, detector.Detector),
    ),
    Chapter(
        "Errors",
        """
from pathlib import Path

from downfield.calibration.calibration import read_calibration
from downfield.core.errors import DownfieldError

try:
    read_calibration(Path("no such table.calibration.json"))
except DownfieldError as error:
    print(error)
""",
        (errors.DownfieldError, errors.InputError, errors.FormatError, errors.OutputError),
    ),
)

_HEAD = """# In Python

Made from the code by `make docs`; a test holds this page against it, and runs the examples.

What programs may use of Downfield without the rig around it. `import downfield` costs nothing and has `__version__`,
`calibrate`, `detect`, `track`, `judge`, `follow`, `read_calibration`, `load_rulebook`, `TrackFile`, `DownfieldError`.
These names, and those below, keep their meaning as [Versions and compatibility](compatibility.md) says; others may
change at any time. For programs in other languages there are the [service](service.md) and the
[file formats](formats.md).
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for chapter in CHAPTERS:
        parts.append(f"\n## {chapter.title}\n\n```python{chapter.example.rstrip()}\n```\n")
        parts.extend(_describe(member) for member in chapter.members)
    return "".join(parts)


def _describe(member: Callable[..., Any]) -> str:
    name = member.__qualname__
    parts = [f"\n### `{name}`\n\n`from {member.__module__} import {name}`\n\n"]
    if inspect.isfunction(member):
        parts.append(_signature(name, member))
    parts.append(_text(inspect.getdoc(member) or ""))
    if inspect.isclass(member):
        for method_name, method in _methods(member):
            kind = "property" if isinstance(method, property) else _short_signature(method)
            summary = (inspect.getdoc(method) or "").split("\n\n")[0].replace("\n", " ")
            label = method_name if isinstance(method, property) else f"{method_name}{kind}"
            parts.append(f"- `{label}`: {_cell(summary)}\n")
    return "".join(parts)


def _methods(kind: type) -> list[tuple[str, Any]]:
    """Return the public methods and properties that a class itself documents, in their order."""
    found = []
    for name, value in vars(kind).items():
        method = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        is_member = isinstance(method, property) or inspect.isfunction(method)
        if is_member and not name.startswith("_") and inspect.getdoc(method):
            found.append((name, method))
    return found


def _signature(name: str, member: Callable[..., Any]) -> str:
    signature = inspect.signature(member)
    parameters = [_parameter(parameter) for parameter in signature.parameters.values()]
    star = next(
        (at for at, each in enumerate(signature.parameters.values()) if each.kind is inspect.Parameter.KEYWORD_ONLY),
        None,
    )
    if star is not None:
        parameters.insert(star, "*")
    returns = "" if signature.return_annotation is inspect.Signature.empty else f" -> {signature.return_annotation}"
    one_line = f"{name}({', '.join(parameters)}){returns}"
    if len(one_line) > 100:
        one_line = f"{name}(\n" + "".join(f"    {parameter},\n" for parameter in parameters) + f"){returns}"
    return f"```python\n{one_line}\n```\n\n"


def _parameter(parameter: inspect.Parameter) -> str:
    text = f"{parameter.name}: {parameter.annotation}"
    if parameter.default is inspect.Parameter.empty:
        return text
    default = repr(parameter.default)
    return f"{text} = {'...' if default.startswith('<') or len(default) > 40 else default}"


def _short_signature(method: Callable[..., Any]) -> str:
    names = [name for name in inspect.signature(method).parameters if name not in {"self", "cls"}]
    return f"({', '.join(names)})"


def _text(doc: str) -> str:
    """Return a docstring as Markdown: its sections as bold words, their entries as lists."""
    out: list[str] = []
    in_section = False
    for line in doc.splitlines():
        if re.fullmatch(r"(Args|Attributes|Returns|Raises|Yields):", line):
            in_section = True
            out += ["", f"**{line.removesuffix(':')}**", ""]
        elif in_section and line.strip():
            entry = re.match(r"^    (\w[\w, ]*): (.*)$", line)
            if entry:
                out.append(f"- `{entry[1]}`: {_cell(entry[2])}")
            elif line.startswith("        ") or (out and out[-1].startswith("- ")):
                out[-1] += f" {_cell(line.strip())}"
            else:
                out.append(_cell(line.strip()))
        else:
            out.append(_cell(line))
    text = "\n".join(out).strip()
    return re.sub(r"\n{3,}", "\n\n", text) + "\n\n"


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("<", "&lt;")


def main() -> None:
    """Write the page to the file that is named."""
    write_text(Path(sys.argv[1]), [page().rstrip() + "\n"])


if __name__ == "__main__":
    main()
