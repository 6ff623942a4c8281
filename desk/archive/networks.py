"""The network of a job: named by its content, and brought to every worker through the archive."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError
from downfield.core.records import record
from downfield.desk.archive.archive_files import ArchiveFiles, file_sha256
from downfield.models.card import bundled_networks, find_network, read_card
from downfield.models.detector import Detector
from downfield.models.loading import open_detector

_LARGEST_BYTES: Final = 2 << 30
"""Of a network's folder; one that is larger holds something else."""


@record
class JobNetwork:
    """A network that a job tracks with.

    Attributes:
        name: as its card says.
        bundled: its name among those that come with Downfield; empty for another.
        digest: SHA-256 of its files.
        files: their names.

    """

    name: str
    bundled: str
    digest: str
    files: tuple[str, ...]


def describe_network(name_or_path: str) -> JobNetwork:
    """Return what a network is.

    Args:
        name_or_path: a bundled network, or the folder of another.

    Raises:
        InputError: there is no such network.
        FormatError: its card breaks the format.

    """
    folder = find_network(name_or_path)
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    if sum(path.stat().st_size for path in paths) > _LARGEST_BYTES:
        raise InputError(f"{folder}: is larger than any network. Give the folder of the network alone.")
    content = json.dumps([[path.name, file_sha256(path)] for path in paths])
    bundled = name_or_path if name_or_path in bundled_networks() else ""
    digest = hashlib.sha256(content.encode()).hexdigest()
    return JobNetwork(read_card(folder).name, bundled, digest, tuple(path.name for path in paths))


def share_network(network: JobNetwork, name_or_path: str, kept: ArchiveFiles) -> None:
    """Put a network where workers find it, unless each has it with its Downfield.

    Raises:
        StorageError: it can't be written.

    """
    if network.bundled:
        return
    there = set(kept.names_in(_folder(network)))
    for name in network.files:
        if name not in there:
            kept.upload(f"{_folder(network)}/{name}", find_network(name_or_path) / name)


def open_shared_network(network: JobNetwork, kept: ArchiveFiles) -> Detector:
    """Return the detector of a network in a worker, for one thread, opened anew so that no game is in its memory.

    Raises:
        InputError: this worker's own is another one, or the files were changed.
        StorageError: it can't be read.

    """
    if network.bundled:
        if describe_network(network.bundled).digest != network.digest:
            raise InputError(f"the worker's bundled network '{network.bundled}' is another one than the command's")
        return open_detector(network.bundled, threads=1)
    with tempfile.TemporaryDirectory(prefix="downfield-network-") as temporary:
        folder = Path(temporary)
        for name in network.files:
            (folder / name).write_bytes(kept.read(f"{_folder(network)}/{name}"))
        if describe_network(str(folder)).digest != network.digest:
            raise InputError("the network was changed where the job keeps it")
        return open_detector(folder, threads=1)


def _folder(network: JobNetwork) -> str:
    return f"networks/{network.digest}"
