"""Bundles, ``GAME.downfield.zip``: a game in one signed file. What is in one, what may be, and how one is written.

The manifest names every part with its size and SHA-256 and the head of the journal's hash chain; its signature is the
rig's. So a change of any part, and one that is missing, can be told without the rig. The manifest comes last, because
a bundle is written in one go while it is sent: chunk by chunk, with a few entries of the game in memory at a time.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal

from downfield.calibration.calibration import Calibration
from downfield.calibration.calibration import Certificate as CalibrationCertificate
from downfield.core.errors import FormatError
from downfield.core.field.model import FieldModel
from downfield.core.records import record, to_json
from downfield.core.scene import Scene
from downfield.core.track_files import TracksHeader
from downfield.game.records.entries import GameStarted, RulebookRecord
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.officiating.calls import Call, CallsHeader
from downfield.officiating.events import Event, EventsHeader
from downfield.review.reports.game_report import GameReport
from downfield.review.tracks import game_scenes
from downfield.review.zip_container import CHUNK_BYTES, ZipPart, zip_chunks
from downfield.store.database.reader import StoreReader
from downfield.store.history import History
from downfield.store.sealing.signing import RigKey

SUFFIX: Final = ".downfield.zip"  # How the names of bundles end; any name is read

ABOUT, REPORT, JOURNAL, TRACKS = "ABOUT.txt", "report.html", "journal.jsonl", "game.tracks.jsonl"
EVENTS, CALLS, CALIBRATION = "game.events.jsonl", "game.calls.jsonl", "game.calibration.json"
CERTIFICATE, CONFIGURATION, RULEBOOK = "certificate.json", "configuration.json", "rulebook.json"
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"

ABOUT_TEXT: Final = """A game of tabletop electric football, as its automatic referee, Downfield, saw and called it.

report.html     the game in words: open it in a browser
recording/      the camera's own video, if it was kept
the other files what was measured, declared and called, for programs

Check that nothing was changed:  downfield verify FILE.zip
See it all on any computer:      downfield review FILE.zip
"""

PART_NAME: Final = re.compile(
    r"ABOUT\.txt|report\.html|journal\.jsonl|game\.(?:tracks|events|calls)\.jsonl|game\.calibration\.json"
    r"|(?:certificate|configuration|rulebook)\.json"
    r"|recording/\d{6}-\d{8}-\d{6}/\d{4}\.(?:mkv|frames\.jsonl|calibration\.json)"
    r"|recording/clip\.[a-z0-9]{1,5}|recording/clip\.frames\.jsonl"
    r"|call/(?:call\.json|ruling\.html|\d{1,16}\.jpg)"
)
"""Every name that a part may have: none leads out of a folder that a bundle is unpacked into."""

MAX_MANIFEST_BYTES: Final = 16 << 20  # Of a manifest: room for 100,000 parts, 35 days of recording

_SIGNED_AS: Final = b"downfield.bundle.manifest\n"


@record
class BundlePart:
    """One file in a bundle."""

    name: str  # in the bundle
    size: int  # bytes, unpacked
    sha256: str  # of these, hexadecimal


@record
class BundleManifest:
    """``manifest.json``: what a bundle holds. ``manifest.sig`` is its signature, in base64.

    The signature is Ed25519 (RFC 8032) over the line ``downfield.bundle.manifest`` and the bytes of the manifest.
    """

    game: str  # the game's id
    began_ns: int  # when it began, wall clock, ns since 1970
    # title, home, away, rulebook, table: what the store's list of games says of it
    title: str
    home: str
    away: str
    rulebook: str
    table: str
    entries: int  # how many entries its journal has
    head: str  # digest of the last
    made_at: str  # when the bundle was made, ISO 8601 UTC
    made_by: str  # version of the program that made it
    public_key: str  # of the rig that signed it
    parts: tuple[BundlePart, ...]  # every other file in it, in order
    before_sha256: str  # of all bytes of the bundle before those of the manifest
    notes: tuple[str, ...] = ()  # what is not in it, and why, in words
    format: Literal["downfield.bundle"] = "downfield.bundle"
    version: Literal[1] = 1

    @property
    def row(self) -> GameRow:
        """The game as a store lists it: nobody's, so that no rig goes on with it."""
        return GameRow(self.game, self.began_ns, self.title, self.home, self.away, self.rulebook, "", self.table)


def signed_bytes(manifest: bytes) -> bytes:
    """Return what is signed for a manifest: its bytes, marked, so that the signature serves for nothing else."""
    return _SIGNED_AS + manifest


_FPS: Final = 30.0  # Frame rate of a game without scenes; those with scenes carry their own times


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file on disk that goes into a bundle as it is."""

    name: str
    path: Path  # on disk; it may still grow, and what it holds when it is reached is taken


@dataclass(frozen=True, slots=True)
class BundleSource:
    """What a bundle is made of."""

    store: StoreReader
    row: GameRow
    key: RigKey
    calibration: Calibration | None = None  # of the camera; None when it is not known
    # of the rig, without secrets and paths; empty when it is not known
    configuration: Mapping[str, Any] = field(default_factory=dict)
    video: Sequence[BundleFile] = ()
    notes: tuple[str, ...] = ()  # what is missing from these and why


def bundle_chunks(source: BundleSource) -> Iterator[bytes]:
    """Yield the bytes of a game's bundle.

    A game in play may be bundled: the bundle holds what its journal held at the start.

    Raises:
        FormatError: the journal can't be read.
        OutputError: the store can't be read.
    """
    history = History(source.store, source.row)
    if history.started is None:
        raise FormatError(f"game {source.row.id}", "its journal does not start with the start of the game")
    # Before the first part, so that what can't be read is told.
    report = GameReport(source.store, history).html(source.key.public_text)
    notes = list(source.notes)
    yield from signed_chunks(history, source.key, _contents(source, history, history.started, report, notes), notes)


class _Tally:
    """Counts and digests the bytes of a part as they pass."""

    def __init__(self, name: str, chunks: Iterable[bytes]) -> None:
        self._name, self._chunks = name, chunks
        self._size, self._digest = 0, hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._size += len(chunk)
            self._digest.update(chunk)
            yield chunk

    @property
    def part(self) -> BundlePart:
        return BundlePart(self._name, self._size, self._digest.hexdigest())


def _contents(
    source: BundleSource, history: History, started: GameStarted, report: str, notes: list[str]
) -> Iterator[ZipPart]:
    """Yield the parts of a game's bundle but those that sign it; what can't be read is added to the notes."""
    yield ZipPart(ABOUT, [ABOUT_TEXT.encode()])
    yield ZipPart(REPORT, [report.encode()])
    yield ZipPart(JOURNAL, _journal(source, history.entries))
    yield ZipPart(TRACKS, _tracks(source, history, started.field))
    yield ZipPart(EVENTS, _lines((EventsHeader, EventsHeader(history.row.id)), Event, history.events))
    yield ZipPart(
        CALLS,
        _lines(
            (CallsHeader, CallsHeader(history.row.rulebook, TRACKS, history.text, history.score)),
            Call,
            history.standing_calls,
        ),
    )
    yield ZipPart(RULEBOOK, _json(to_json(RulebookRecord, started.rulebook)))
    if source.calibration is not None:
        yield ZipPart(CALIBRATION, _json(to_json(Calibration, source.calibration)))
        if source.calibration.certificate is not None:
            yield ZipPart(CERTIFICATE, _json(to_json(CalibrationCertificate, source.calibration.certificate)))
    if source.configuration:
        yield ZipPart(CONFIGURATION, _json(json.dumps(source.configuration, ensure_ascii=False, sort_keys=True)))
    for file in source.video:
        if not PART_NAME.fullmatch(file.name):
            notes.append(f"{file.name}: left out: no part of a bundle has such a name")
            continue
        try:
            opened = file.path.open("rb")
        except OSError as error:
            notes.append(f"{file.name}: can't be read: {error.strerror}")
            continue
        with opened:
            chunks = iter(partial(opened.read, CHUNK_BYTES), b"")
            yield ZipPart(file.name, chunks, compressed=not file.name.endswith((".mkv", ".mp4")))


def signed_chunks(history: History, key: RigKey, contents: Iterable[ZipPart], notes: Sequence[str]) -> Iterator[bytes]:
    """Yield a zip file of parts, at its end the manifest that names them, with the notes by then, and its signature."""
    whole = hashlib.sha256()
    for chunk in zip_chunks(_signed_parts(history, key, contents, notes, whole)):
        whole.update(chunk)
        yield chunk


def _signed_parts(
    history: History, key: RigKey, contents: Iterable[ZipPart], notes: Sequence[str], whole: Any
) -> Iterator[ZipPart]:
    tallies: list[_Tally] = []
    for part in contents:
        tallies.append(_Tally(part.name, part.chunks))
        yield replace(part, chunks=tallies[-1])
    manifest = _line(
        BundleManifest,
        BundleManifest(
            game=history.row.id,
            began_ns=history.row.began_ns,
            title=history.row.title,
            home=history.row.home,
            away=history.row.away,
            rulebook=history.row.rulebook,
            table=history.row.table,
            entries=history.entries,
            head=history.head,
            made_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            made_by=version("downfield"),
            public_key=key.public_text,
            parts=tuple(tally.part for tally in tallies),
            before_sha256=whole.hexdigest(),
            notes=tuple(notes),
        ),
    )
    yield ZipPart(MANIFEST, [manifest], compressed=False)
    yield ZipPart(SIGNATURE, [f"{key.sign_text(signed_bytes(manifest))}\n".encode()], compressed=False)


def _journal(source: BundleSource, entries: int) -> Iterator[bytes]:
    for row in source.store.entries(source.row.id):
        if row.seq > entries:
            return
        yield _line(EntryRow, row)


def _tracks(source: BundleSource, history: History, field_model: FieldModel) -> Iterator[bytes]:
    last_ns = history.batches[-1].last_ns if history.batches else 0
    header = TracksHeader(field_model, history.players(last_ns), _FPS, f"game {source.row.id}")
    yield _line(TracksHeader, header)
    for scene in game_scenes(source.store, history):
        yield to_json(Scene, scene, defaults=False).encode() + b"\n"


def _lines(header: tuple[type, object], kind: type, records: Iterable[object]) -> Iterator[bytes]:
    yield _line(*header)
    for one in records:
        yield _line(kind, one)


def _line(kind: type, value: object) -> bytes:
    return to_json(kind, value).encode() + b"\n"


def _json(text: str) -> list[bytes]:
    return [text.encode() + b"\n"]
