"""Signed files with what was made of a journal: caches that are read back or made anew, never the truth.

A file names the game, the entry of its journal that it stands at with that entry's digest, and the code that made it,
and is signed with the rig's key. One that is damaged, another rig's or of other code is not read. States are pickles,
as only pickle keeps every rulebook's own state; they are unpacked after the signature was checked, to records alone.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import io
import json
import pickle
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, TypeVar

from downfield.core.errors import FormatError
from downfield.core.files.input_files import special_kind
from downfield.core.files.private_files import replace_private_file
from downfield.core.records import from_json, record, to_json
from downfield.game.records.keeping import JournalPosition
from downfield.store.sealing.signing import RigKey, is_signed_text

State = TypeVar("State")

JUDGING_CODE: Final = ("core", "game", "officiating")  # Packages whose code decides what a game becomes

_PLAIN: Final = frozenset({"bytes", "dict", "frozenset", "list", "set", "tuple"})


@record
class SignedHeader:
    """First line of a file."""

    game: str
    seq: int  # number of the entry it stands at
    digest: str  # of that entry
    code: str  # SHA-256 of the code that made it
    content: str  # SHA-256 of what follows
    key: str  # the rig's public key
    signature: str = ""  # of the line without it, Ed25519, base64


@dataclass(frozen=True, slots=True)
class SignedContent:
    """What a file holds whose signature was checked."""

    game: str
    position: JournalPosition
    content: bytes


@dataclass(frozen=True, slots=True)
class StateSeal:
    """How files of one kind are signed."""

    key: RigKey
    signed_as: bytes  # begins what is signed, so that no file passes for one of another kind
    code: str  # SHA-256 of the code that makes and reads them
    max_bytes: int  # no larger file is read

    def read(self, path: Path) -> SignedContent:
        """Return what a file holds. Raises OSError: unreadable; FormatError: damaged, of another rig or other code."""
        kind = special_kind(path)
        if kind is not None:
            raise FormatError(str(path), f"it is {kind}, not a file")
        if path.stat().st_size > self.max_bytes:
            raise FormatError(str(path), "it is too large")
        line, _, content = path.read_bytes().partition(b"\n")
        header = from_json(SignedHeader, line, path=str(path))
        if header.key != self.key.public_text:
            raise FormatError(str(path), "another rig made it")
        if not is_signed_text(header.key, self._signed(header), header.signature):
            raise FormatError(str(path), "its signature is not that of this rig")
        if hashlib.sha256(content).hexdigest() != header.content:
            raise FormatError(str(path), "it is damaged")
        if header.code != self.code:
            raise FormatError(str(path), "another version of Downfield made it")
        return SignedContent(header.game, JournalPosition(header.seq, header.digest), content)

    def write(self, path: Path, game: str, position: JournalPosition, content: bytes) -> None:
        """Write a file; who reads it finds all of it or what was there before. Raises OSError: it can't be written."""
        digest = hashlib.sha256(content).hexdigest()
        header = SignedHeader(game, position.seq, position.digest, self.code, digest, self.key.public_text)
        signature = self.key.sign_text(self._signed(header))
        line = to_json(SignedHeader, replace(header, signature=signature)).encode()
        replace_private_file(path, line + b"\n" + content)

    def _signed(self, header: SignedHeader) -> bytes:
        return self.signed_as + to_json(SignedHeader, replace(header, signature="")).encode()


def unpack_state(content: bytes, kind: type[State], packages: tuple[str, ...] = JUDGING_CODE) -> State:
    """Return a state that was packed with pickle.

    Args:
        content: the pickle, from a file whose signature was checked.
        kind: what it is to be.
        packages: below `downfield`, whose records it may be made of.

    Raises:
        FormatError: it can't be unpacked, or is something else.
    """
    try:
        state = _Unpacker(io.BytesIO(content), packages).load()
    except Exception as error:  # whatever an unpickler comes to with data that it does not expect
        raise FormatError("checkpoint", f"it can't be unpacked: {type(error).__name__}: {error}") from None
    if not isinstance(state, kind):
        raise FormatError("checkpoint", "it holds no game")
    return state


@cache
def code_digest(packages: tuple[str, ...] = JUDGING_CODE) -> str:
    """Return the SHA-256 of the code of packages below `downfield`, by default of what decides what a game becomes."""
    digest = hashlib.sha256()
    for package in packages:
        files = [resources.files(f"downfield.{package}")]
        while files:
            found = files.pop()
            if found.is_dir():
                files += sorted(found.iterdir(), key=lambda file: file.name)
            elif found.name.endswith((".py", ".toml")):
                digest.update(json.dumps([package, found.name]).encode() + found.read_bytes())
    return digest.hexdigest()


class _Unpacker(pickle.Unpickler):
    """Unpacks a game into the records it is made of, and nothing else."""

    def __init__(self, file: io.BytesIO, packages: tuple[str, ...]) -> None:
        super().__init__(file)
        self._packages = packages

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of the program's own records, or a plain collection."""
        if module == "builtins" and name in _PLAIN:
            return getattr(builtins, name)
        if (module, name) == ("builtins", "getattr"):
            return _enum_member
        if module.split(".")[:2] in [["downfield", package] for package in self._packages]:
            found = getattr(importlib.import_module(module), name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a game")


def _enum_member(kind: object, name: str) -> Enum:
    """Return a member of an enumeration: early versions of Python 3.11 (Debian 12) pack it as `getattr`."""
    if isinstance(kind, type) and issubclass(kind, Enum) and name in kind.__members__:
        return kind[name]
    raise pickle.UnpicklingError(f"{name} is no part of a game")
