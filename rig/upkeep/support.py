"""A file for a bug report: versions, configuration, checks, the log's end; no secret, path, name or picture."""

from __future__ import annotations

import json
import os
import platform
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final

from downfield.core.errors import DownfieldError, InputError, OutputError
from downfield.core.files.private_files import replace_private_file
from downfield.rig.configuration.display import as_toml
from downfield.rig.configuration.loading import Configuration
from downfield.rig.configuration.scrubbing import scrubber_of
from downfield.rig.configuration.settings import RigSettings, data_folder, logs_folder, store_file
from downfield.rig.upkeep.computer_checks import CheckResult
from downfield.rig.upkeep.log_file import last_lines
from downfield.store.database.opening import open_for_reading

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
    """Write the files of a bug report as one zip, for its owner only.

    Raises:
        OutputError: it can't be written.
    """
    beside = output.with_name(f".{output.name}.part")
    try:
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in parts.items():
                archive.writestr(zipfile.ZipInfo(name), text.encode(errors="backslashreplace"))
        replace_private_file(output, beside.read_bytes())
    except OSError as error:
        raise OutputError(f"{output}: can't be written ({error.strerror})") from None
    finally:
        beside.unlink(missing_ok=True)


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
