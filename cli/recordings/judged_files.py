"""The files that ``downfield judge`` reads: those it is given, or those in a bundle."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from downfield.core.errors import InputError
from downfield.review.bundles import format as names
from downfield.review.bundles.reading import extract_parts
from downfield.review.bundles.verification import is_bundle, verify_bundle


@dataclass(frozen=True, slots=True)
class JudgedFiles:
    """What is judged.

    Attributes:
        tracks: a track file.
        events: the declarations; None for none.
        calibration: the table's certified calibration; None for none.

    """

    tracks: Path
    events: Path | None
    calibration: Path | None


@contextmanager
def judged_files(given: JudgedFiles) -> Iterator[JudgedFiles]:
    """Unpack a bundle in the place of tracks for as long as it is judged; other files stay as they are.

    Args:
        given: by the user; the bundle's own events and certified calibration are used where none are given.

    Raises:
        InputError: the bundle was altered.

    """
    if not is_bundle(given.tracks):
        yield given
        return
    found = verify_bundle(given.tracks)
    if not found.intact or found.manifest is None:
        raise InputError(f"{given.tracks}: was altered, so it is not judged. 'downfield verify' says where.")
    parts = {part.name for part in found.manifest.parts}
    with tempfile.TemporaryDirectory(prefix="downfield-judge-") as temporary:
        folder = Path(temporary)
        extract_parts(given.tracks, found.manifest, (names.TRACKS, names.EVENTS, names.CALIBRATION), folder)
        certified = folder / names.CALIBRATION if names.CERTIFICATE in parts else None
        yield JudgedFiles(folder / names.TRACKS, given.events or folder / names.EVENTS, given.calibration or certified)
