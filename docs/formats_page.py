"""Write the page of the public formats from the records themselves: ``python docs/formats_page.py docs/formats.md``.

What a field means is read from the comment beside it, its type from its annotation, so the page can't drift from the
code; a test holds the committed page against what this module writes.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from downfield.calibration.calibration import Calibration
from downfield.calibration.lens.lens_calibration import LensFile
from downfield.capture.recording.recording_library import RecordedFrame, RecordingIndexHeader
from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel
from downfield.core.records import write_text
from downfield.core.scene import Scene, SentScene
from downfield.core.track_files import Roster, TracksHeader
from downfield.game.policies import PoliciesHeader, PolicyChange
from downfield.game.records.keeping import EntryRow
from downfield.models.card import NetworkCard
from downfield.officiating.calls import Call, CallsHeader
from downfield.officiating.events import Event, EventsHeader
from downfield.review.bundles.format import BundleManifest
from downfield.review.tracks import TrackRow
from downfield.rig.games.contribution_file import Contribution
from downfield.twin.physics.truth_file import TruthFrame, TruthHeader
from downfield.twin.plays.recording import Expected
from downfield.twin.plays.script import Script
from downfield.twin.sets.labels import Sample


@dataclasses.dataclass(frozen=True, slots=True)
class Format:
    """One public format.

    Attributes:
        suffix: how its files end.
        title: what it is.
        text: how it is laid out.
        roots: its top-level records, in the order they stand in the file.
    """

    suffix: str
    title: str
    text: str
    roots: tuple[type, ...]


FORMATS = (
    Format(
        "*.calibration.json",
        "Calibration",
        "One JSON object: the printed field, the lens and pose of the camera over it, and how well they fit.",
        (Calibration,),
    ),
    Format(
        "*.lens.json",
        "Lens",
        "One JSON object: a lens measured from views of the printed sheet, for a calibration to start from.",
        (LensFile,),
    ),
    Format(
        "network.json",
        "Network",
        "One JSON object in a folder of its own: which ONNX files beside it make up a network, and how to read them.",
        (NetworkCard,),
    ),
    Format(
        "*.tracks.jsonl",
        "Tracks",
        "A header line, then one scene a line; the times of the scenes rise strictly.",
        (TracksHeader, Scene),
    ),
    Format(
        "scenes://",
        "Scenes of another program",
        "What a tracker of your own sends a rig as `downfield run --source scenes://-` and the like, one scene a line,"
        " without a header: [Scenes of your own program](extend.md#judge-scenes-of-your-own-program).",
        (SentScene,),
    ),
    Format(
        "*.roster.json",
        "Roster",
        "One JSON object: who is on the board, and where each stands at the line-up, as far as somebody says so.",
        (Roster,),
    ),
    Format(
        "*.frames.jsonl",
        "Index of a recording",
        "Beside every recorded `*.mkv`: a header line, then one line per picture in the order of the video.",
        (RecordingIndexHeader, RecordedFrame),
    ),
    Format(
        "*.events.jsonl",
        "Events",
        "A header line, then one event a line: what people, clocks and dice said. The body's `type` tells its kind.",
        (EventsHeader, Event),
    ),
    Format(
        "*.calls.jsonl",
        "Calls",
        "A header line, then one call a line, in the order they were made.",
        (CallsHeader, Call),
    ),
    Format(
        "policies.jsonl",
        "Policies of a league",
        "In a rig's data folder: a header line, then a line for each change. The last one about a kind of call counts.",
        (PoliciesHeader, PolicyChange),
    ),
    Format(
        "*.downfield.zip",
        "Bundles",
        "A game in one zip file: `journal.jsonl` with its journal, one entry a line and no header, "
        "`game.tracks.jsonl`, `game.events.jsonl`, `game.calls.jsonl`, `game.calibration.json`, "
        "`certificate.json`, `configuration.json`, `rulebook.json`, `report.html`, the video under `recording/`, "
        "then `manifest.json` and its signature. Anybody can check it: the signature in `manifest.sig` (base64) "
        "is Ed25519 over the bytes `downfield.bundle.manifest`, a newline and those of `manifest.json`; the "
        "public key is `ed25519:` and its 32 bytes in URL-safe base64 without padding. A part's `sha256` and "
        "`size` are of its bytes. The digest of an entry of the journal is the SHA-256, in hexadecimal, of the "
        "digest before it (64 zeros before the first), a newline and one JSON object in UTF-8: `game`, `seq`, "
        "`kind`, `at_ns`, `key`, `content` (the text as it stands) and `attachment` (the SHA-256 of its bytes, or "
        "null), keys sorted, no spaces, characters as they are. A store, a SQLite file, chains its table "
        "`entries` in the same way. `docs/verify_bundle.py` does all of it in sixty lines, without Downfield.",
        (BundleManifest, EntryRow),
    ),
    Format(
        "downfield-contribution.zip",
        "Contributions",
        "Frames for the training of networks in one zip file: `contribution.json`, and the pictures of its frames in"
        " their order, `frames/0001.jpg` and so on. Times are 0, and figures are only numbered.",
        (Contribution,),
    ),
    Format(
        "*.tracks.csv, *.tracks.parquet",
        "Tables of tracks",
        "One row for each figure in each frame, as `downfield convert`, `downfield export GAME --tracks FILE` and the"
        " service write them."
        " CSV is UTF-8, has a line with the names first (RFC 4180), and an apostrophe before a text that a spreadsheet"
        " would calculate. Unknown values are empty, in Parquet null.",
        (TrackRow,),
    ),
    Format(
        "*.truth.jsonl",
        "Truth",
        "Beside a clip of the digital twin: a header line, then one line a frame with what its scene does not hold.",
        (TruthHeader, TruthFrame),
    ),
    Format(
        "*.expected.json",
        "Expected calls",
        "Beside a clip of the digital twin: one JSON object, the calls every rulebook should make of the play.",
        (Expected,),
    ),
    Format(
        "truth/SPLIT/*.jsonl",
        "Samples",
        "In a data set of the digital twin: one line a picture of a table, without a header.",
        (Sample,),
    ),
    Format(
        "*.toml (fields)",
        "Field models",
        "A printed field, as the bundled presets are written. The same keys stand under `field` in the other files.",
        (FieldModel,),
    ),
    Format(
        "*.toml (plays)",
        "Scripted plays",
        "A play for the digital twin. Lists of tables (`[[steps]]`) hold its steps in order, told apart by `type`.",
        (Script,),
    ),
)

_HEAD = """# File formats

Made from the code by `make docs`; a test holds this page against it.

All files are UTF-8. JSON Lines files (`.jsonl`) hold one JSON object a line and begin with a header that names the
format and its version. Readers refuse unknown keys, missing keys, NaN and infinities, and name the file, the line and
the field. Keys with a default may be left out. Lengths are millimeters on the board, yards are field yards, headings
are degrees counter-clockwise from +x, times are integer nanoseconds on the capture clock. A running service has JSON
Schemas of the files that programs exchange at `/schemas/` ([for programs](service.md#for-programs)).
"""


_COMMON = {
    "format": "names the format.",
    "version": "of the format.",
    "type": "tells this kind from the others.",
    "player": "roster id.",
    "a": "roster id.",
    "b": "roster id.",
    "ahead_yd": "yards ahead of the line of scrimmage.",
    "seconds": "how long.",
    "body": "what is declared.",
    "figures": "every figure in the picture.",
    "things": "everything else in the picture.",
    "toward": "roster id of the figure to turn to.",
    "toward_point": "place to turn to: yards ahead of the line of scrimmage, yards across from the middle.",
    "at": "place: yards ahead of the line of scrimmage, yards across from the middle.",
}
"""What a key means where its record does not say."""

_SAME_AS = re.compile(r"as in `(\w+)`\.")
"""A meaning that another record of the same module gives."""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    described: set[type] = set()
    for form in FORMATS:
        parts.append(f"\n## {form.title}: `{form.suffix}`\n\n{form.text}\n")
        for root in form.roots:
            for kind in _reachable(root):
                if kind not in described:
                    described.add(kind)
                    parts.append(_describe(kind))
    return "".join(parts)


def _describe(kind: type) -> str:
    doc = inspect.getdoc(kind) or ""
    meanings = field_meanings(kind)
    lines = [f"\n### {kind.__name__}\n\n{_summary(doc)}\n"]
    hints = get_type_hints(kind, include_extras=True)
    fields = dataclasses.fields(kind)
    if fields:
        lines.append("\n| key | type | default | meaning |\n|---|---|---|---|\n")
    for field in fields:
        meaning = meanings.get(field.name) or _COMMON[field.name]
        reference = _SAME_AS.fullmatch(meaning)
        if reference:
            described = getattr(sys.modules[kind.__module__], reference[1])
            meaning = field_meanings(described)[field.name]
        lines.append(f"| `{field.name}` | {_type(hints[field.name])} | {_default(field)} | {meaning} |\n")
    return "".join(lines)


def _summary(doc: str) -> str:
    return " ".join(doc.split("\n\n")[0].split())


def field_meanings(kind: type) -> dict[str, str]:
    """What the fields of a record mean, by name: from comments beside them or above, or the docstring's section.

    A comment that begins with several names and a colon describes them all.
    """
    out: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if not dataclasses.is_dataclass(base):
            continue
        out |= _attributes(inspect.getdoc(base) or "")
        above = ""
        for line in inspect.getsource(base).splitlines():
            field = re.match(r"    (\w+): ", line)
            comment = re.search(r"(?:^|  )#\s(.*)$", line.removeprefix("    "))
            if field:
                text = comment[1] if comment else above
                names, _, rest = text.partition(": ")
                shared = names.split(", ") if rest and re.fullmatch(r"\w+(, \w+)+", names) else [field[1]]
                if text:
                    meaning = rest if len(shared) > 1 else text
                    out |= dict.fromkeys(shared, _cell(meaning if meaning.endswith(".") else f"{meaning}."))
            above = f"{above} {comment[1]}".strip() if comment and not field else ""
    return out


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


def _attributes(doc: str) -> dict[str, str]:
    """The ``Attributes:`` section of a docstring, by field name; one entry may describe several fields."""
    section = re.search(r"^Attributes:\n((?:[ \t]+.*\n?|\n)+)", doc, re.MULTILINE)
    if section is None:
        return {}
    out: dict[str, str] = {}
    names: list[str] = []
    for line in section.group(1).splitlines():
        entry = re.match(r"    ((?:\w+, )*\w+): (.*)", line)
        if entry:
            names = entry.group(1).split(", ")
            out.update(dict.fromkeys(names, entry.group(2)))
        elif line.strip():
            out.update({name: f"{out[name]} {line.strip()}" for name in names})
    return {name: _cell(text) for name, text in out.items()}


def _type(hint: Any) -> str:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(args[0])
    if origin is Literal:
        return " \\| ".join(f"`{value!r}`".replace("'", '"') for value in args)
    if origin in (Union, types.UnionType):
        return " \\| ".join(_type(arg) for arg in args)
    if origin is Mapping:
        return f"object of {_type(args[1])}"
    if origin is tuple:
        if args[-1] is Ellipsis:
            return f"array of {_type(args[0])}"
        return "[" + ", ".join(_type(arg) for arg in args) + "]"
    if hint is type(None):
        return "null"
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    names = {float: "number", int: "integer", str: "string", bool: "boolean", bytes: "string"}
    return names.get(hint, getattr(hint, "__name__", str(hint)))


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return f"`{json.dumps(field.default_factory())}`"
    if field.default is dataclasses.MISSING:
        return "required"
    if field.default is None:
        return "none"
    if dataclasses.is_dataclass(field.default):
        return "its defaults"
    return f"`{json.dumps(field.default)}`"


def _reachable(root: type) -> Iterator[type]:
    """A record and the records in its fields, depth first, each once."""
    seen: set[type] = set()

    def walk(hint: Any) -> Iterator[type]:
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            if hint not in seen:
                seen.add(hint)
                yield hint
                for inner in get_type_hints(hint, include_extras=True).values():
                    yield from walk(inner)
            return
        for arg in get_args(hint):
            yield from walk(arg)

    yield from walk(root)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise InputError("usage: python docs/formats_page.py PATH")
    write_text(Path(sys.argv[1]), [page()])
