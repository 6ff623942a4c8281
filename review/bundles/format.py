"""Bundles, ``GAME.downfield.zip``: a game in one signed file. What is in one, and what may be.

The manifest names every part with its size and SHA-256 and the head of the journal's hash chain; its signature is the
rig's. So a change of any part, and one that is missing, can be told without the rig. The manifest comes last, because
a bundle is written in one go while it is sent.
"""

from __future__ import annotations

import base64
import re
from typing import Final, Literal

from downfield.core.records import record, to_json
from downfield.game.records.keeping import EntryRow, GameRow

SUFFIX: Final = ".downfield.zip"
"""How the names of bundles end; any name is read."""

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
)
"""Every name that a part may have: none leads out of a folder that a bundle is unpacked into."""

MAX_MANIFEST_BYTES: Final = 16 << 20
"""Of a manifest: room for 100,000 parts, 35 days of recording."""

_SIGNED_AS: Final = b"downfield.bundle.manifest\n"


@record
class BundlePart:
    """One file in a bundle.

    Attributes:
        name: in the bundle.
        size: bytes, unpacked.
        sha256: of these, hexadecimal.
    """

    name: str
    size: int
    sha256: str


@record
class BundleManifest:
    """``manifest.json``: what a bundle holds. ``manifest.sig`` is its signature, in base64.

    The signature is Ed25519 (RFC 8032) over the line ``downfield.bundle.manifest`` and the bytes of the manifest.

    Attributes:
        game: the game's id.
        began_ns: when it began, wall clock, ns since 1970.
        title, home, away, rulebook, table: what the store's list of games says of it.
        entries: how many entries its journal has.
        head: digest of the last.
        made_at: when the bundle was made, ISO 8601 UTC.
        made_by: version of the program that made it.
        public_key: of the rig that signed it.
        parts: every other file in it, in order.
        before_sha256: of all bytes of the bundle before those of the manifest.
        notes: what is not in it, and why, in words.
    """

    game: str
    began_ns: int
    title: str
    home: str
    away: str
    rulebook: str
    table: str
    entries: int
    head: str
    made_at: str
    made_by: str
    public_key: str
    parts: tuple[BundlePart, ...]
    before_sha256: str
    notes: tuple[str, ...] = ()
    format: Literal["downfield.bundle"] = "downfield.bundle"
    version: Literal[1] = 1

    @property
    def row(self) -> GameRow:
        """The game as a store lists it: nobody's, so that no rig goes on with it."""
        return GameRow(self.game, self.began_ns, self.title, self.home, self.away, self.rulebook, "", self.table)


@record
class JournalLine:
    """One line of ``journal.jsonl``: an entry of the game's journal, as the store has it.

    Attributes:
        game: the game's id.
        seq: number of the entry, from 1.
        kind: of entry.
        at_ns: when it was written, wall clock, ns since 1970.
        content: its JSON, as text, because its digest is over exactly these characters.
        digest: of the journal up to and including it.
        key: idempotency key of a submission.
        attachment: bytes that belong to it, in base64; the scenes, compressed by zlib.
    """

    game: str
    seq: int
    kind: str
    at_ns: int
    content: str
    digest: str
    key: str | None = None
    attachment: str | None = None

    @classmethod
    def of(cls, row: EntryRow) -> JournalLine:
        """Return the line of an entry."""
        attachment = None if row.attachment is None else base64.b64encode(row.attachment).decode()
        return cls(row.game, row.seq, row.kind, row.at_ns, row.content, row.digest, row.key, attachment)

    @property
    def row(self) -> EntryRow:
        """The entry.

        Raises:
            ValueError: the attachment is not base64.
        """
        attachment = None if self.attachment is None else base64.b64decode(self.attachment, validate=True)
        return EntryRow(self.game, self.seq, self.kind, self.at_ns, self.key, self.content, attachment, self.digest)


def manifest_bytes(manifest: BundleManifest) -> bytes:
    """Return the bytes of ``manifest.json``."""
    return to_json(BundleManifest, manifest).encode() + b"\n"


def signed_bytes(manifest: bytes) -> bytes:
    """Return what is signed for a manifest: its bytes, marked, so that the signature serves for nothing else."""
    return _SIGNED_AS + manifest
