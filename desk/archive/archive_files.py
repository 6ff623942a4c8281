"""The files of an archive: in a folder or in any store that fsspec knows, such as S3, all written whole or not at all.

A folder gets a file under another name first, which is then renamed. An object store shows an object only when all of
it is there. So nobody reads half a file, and work that was cut off leaves nothing that looks finished.
"""

from __future__ import annotations

import importlib.util
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from downfield.core.addresses import without_password
from downfield.core.errors import DownfieldError, InputError, MissingExtraError, OutputError

_WRITES_WHOLE: Final = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "memory"})
"""Protocols of stores in which an object appears only when all of it was sent."""


class StorageError(OutputError):
    """The archive's storage could not be read or written just now: a network, a server, a disk. It may be later."""


@dataclass(frozen=True, slots=True)
class ArchiveFiles:
    """The files below one address. Cheap to make, so that a worker makes its own.

    Its methods raise StorageError where it can't be read or written, InputError for a name that is not in it.
    """

    url: str  # a folder, or an address such as ``s3://bucket/league``

    @classmethod
    def at(cls, address: str) -> ArchiveFiles:
        """Return the files at an address that a person gave; a folder may be relative.

        Raises:
            InputError: no such kind of store.
            MissingExtraError: what reads it is not installed.
        """
        system, root = cls(address).open()
        files = cls(str(system.unstrip_protocol(root)))
        files.open()
        return files

    @property
    def shown(self) -> str:
        """The address as people write it, without passwords."""
        return without_password(self.url.removeprefix("file://"))

    def names_in(self, folder: str) -> list[str]:
        """Return the names of the files directly in a folder, sorted; empty where there is none."""
        system, root = self.open()
        with _storage(self.shown):
            try:
                found = system.ls(f"{root}/{folder}", detail=False, refresh=True)
            except TypeError:  # a store that remembers nothing has nothing to refresh
                found = system.ls(f"{root}/{folder}", detail=False)
            except FileNotFoundError:
                return []
        return sorted(path.rstrip("/").rpartition("/")[2] for path in found)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        system, root = self.open()
        with _storage(f"{self.shown}/{name}"):
            content: bytes = system.cat_file(f"{root}/{name}")
            return content

    def read_all(self, names: list[str]) -> dict[str, bytes]:
        """Return the contents of files by name, many at a time where the store can. Raises as `read`."""
        if not names:
            return {}
        system, root = self.open()
        with _storage(self.shown):
            found: dict[str, bytes] = system.cat([f"{root}/{name}" for name in names])
        return {name: found[path] for name, path in zip(names, _paths_found(found, root, names), strict=True)}

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""
        with self._whole(name) as (system, path):
            system.pipe_file(path, content)

    def upload(self, name: str, source: Path) -> None:
        """Copy a file of this computer into the archive, whole or not at all."""
        with self._whole(name) as (system, path):
            system.put_file(str(source), path)

    def fetch(self, name: str, folder: Path) -> Path:
        """Return the path of a file here: itself where the archive is a folder, else a copy in a folder that exists."""
        system, root = self.open()
        if "file" in _protocols(system):
            path = Path(f"{root}/{name}")
            if not path.is_file():
                raise InputError(f"{self.shown}/{name}: no such file")
            return path
        copy = folder / name.rpartition("/")[2]
        with _storage(f"{self.shown}/{name}"):
            system.get_file(f"{root}/{name}", str(copy))
        return copy

    def open(self) -> tuple[Any, str]:
        """Return the store and the path in it. Raises InputError, MissingExtraError: as `at`."""
        if importlib.util.find_spec("fsspec") is None:
            raise MissingExtraError("archive", "The archive")
        import fsspec

        try:
            system, root = fsspec.core.url_to_fs(self.url)
        except ImportError as error:
            raise InputError(f"{self.shown}: this kind of store needs another package: {error}") from None
        except ValueError as error:
            raise InputError(f"{self.shown}: is no address of an archive: {error}") from None
        return system, root.rstrip("/")

    @contextmanager
    def _whole(self, name: str) -> Iterator[tuple[Any, str]]:
        """Yield the store and the path to write; after it the file has its name."""
        system, root = self.open()
        target = f"{root}/{name}"
        with _storage(f"{self.shown}/{name}"):
            if _WRITES_WHOLE & set(_protocols(system)):
                yield system, target
                return
            system.makedirs(target.rpartition("/")[0], exist_ok=True)
            part = f"{target}.{uuid.uuid4().hex}.part"
            try:
                yield system, part
                system.mv(part, target)
            except BaseException:
                with suppress(Exception):
                    system.rm_file(part)
                raise


@contextmanager
def _storage(where: str) -> Iterator[None]:
    """Raise what any store raises as an error of Downfield's: each brings exceptions of its own."""
    try:
        yield
    except DownfieldError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{where}: no such file ({_reason(error)})") from None
    except Exception as error:
        raise StorageError(f"{where}: the storage can't be used: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(without_password(str(text)).split()) or type(error).__name__


def _protocols(system: Any) -> tuple[str, ...]:
    named = system.protocol
    return (named,) if isinstance(named, str) else tuple(named)


def _paths_found(found: dict[str, bytes], root: str, names: list[str]) -> Iterator[str]:
    """Yield, for each name, the path under which a store returned it; some leave out what comes before the bucket."""
    for name in names:
        path = f"{root}/{name}"
        yield path if path in found else next(key for key in found if key.endswith(f"/{name}"))
