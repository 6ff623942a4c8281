"""What a file holds that a command is to write over: a result may replace an older one of its kind, nothing else."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError

_HEAD_BYTES: Final = 1 << 20
"""So much of a file is looked at: the first line of tracks, and a whole calibration, are far shorter."""

VIDEO: Final = "a video"
PICTURE: Final = "a picture"
ARCHIVE: Final = "a bundle or another zip file"
_DATABASE: Final = "a database"

_MARKS: Final = (
    (4, b"ftyp", VIDEO),
    (0, b"\x1a\x45\xdf\xa3", VIDEO),
    (8, b"AVI ", VIDEO),
    (0, b"\x89PNG", PICTURE),
    (0, b"\xff\xd8\xff", PICTURE),
    (0, b"GIF8", PICTURE),
    (8, b"WEBP", PICTURE),
    (0, b"PK\x03\x04", ARCHIVE),
    (0, b"SQLite format 3\0", _DATABASE),
)
"""Place and bytes by which a file is known."""

_BY_SUFFIX: Final = {
    **dict.fromkeys((".mp4", ".mkv", ".avi", ".mov", ".webm"), VIDEO),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".gif"), PICTURE),
    ".zip": ARCHIVE,
}


def check_replaced(output: Path, kind: str = "") -> None:
    """Refuse to write over a file that holds something else than what is to be written.

    Args:
        output: the file to write; it need not exist.
        kind: the format that is written, such as ``downfield.calls``, or `ARCHIVE`; empty where the name's ending
            tells it.

    Raises:
        InputError: the file holds something else.

    """
    found = _content_of(output)
    expected = kind or _BY_SUFFIX.get(output.suffix.lower(), ARCHIVE)
    if found and found != expected:
        what = f"a file of the format {found}" if found.startswith("downfield.") else found
        raise InputError(f"{output}: is {what}, which would be lost. Choose another name.")


def _content_of(path: Path) -> str:
    """Return what a file holds; empty where it does not exist, is empty, or is nothing that is known."""
    head = b""
    with suppress(OSError), path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    known = next((kind for at, mark, kind in _MARKS if head[at : at + len(mark)] == mark), "")
    return known or _record_format(head)


def _record_format(head: bytes) -> str:
    """Return the format of a file of Downfield's own, by its first line or, where it has several, all of it."""
    for text in (head.split(b"\n", 1)[0], head):
        with suppress(ValueError, RecursionError):
            content = json.loads(text)
            found = content.get("format") if isinstance(content, dict) else None
            return found if isinstance(found, str) and found.startswith("downfield.") else ""
    return ""
