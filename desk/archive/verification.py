"""Checks items of an archive: every byte as it was added, every bundle as its rig signed it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from downfield.core.errors import DownfieldError
from downfield.desk.archive.archive_files import ArchiveFiles, StorageError
from downfield.desk.archive.items import ArchivedItem
from downfield.desk.archive.judging import fetch_file, verified_manifest
from downfield.rig.trusted_keys import TrustedKeys


@dataclass(frozen=True, slots=True)
class CheckedItem:
    """What the check of an item found.

    Attributes:
        good: whether it is as it was added and, where it is signed, not by a foreign rig.
        text: in words.

    """

    good: bool
    text: str


def check_item(files: ArchiveFiles, item: ArchivedItem, trusted: TrustedKeys) -> CheckedItem:
    """Check an item.

    Args:
        files: of the archive.
        item: the item.
        trusted: keys of rigs that this computer trusts; where it trusts none, every rig passes.

    Raises:
        StorageError: the archive can't be read.

    """
    with tempfile.TemporaryDirectory(prefix="downfield-archive-") as temporary:
        try:
            for file in item.files:
                path = fetch_file(files, item, file, Path(temporary))
                if item.kind == "bundle":
                    verified_manifest(path, item)
        except StorageError:
            raise
        except DownfieldError as error:
            return CheckedItem(good=False, text=f"NOT IN ORDER: {error}")
    if item.kind == "recording":
        return CheckedItem(good=True, text="as it was added; recordings are not signed")
    name = trusted.names.get(item.public_key)
    if name is not None:
        return CheckedItem(good=True, text=f"unaltered, signed by {name or 'a trusted rig'}")
    if trusted.names:
        return CheckedItem(good=False, text=f"FOREIGN KEY: signed with {item.public_key}")
    return CheckedItem(good=True, text=f"unaltered, signed with {item.public_key}, of a rig not known here")
