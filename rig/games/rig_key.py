"""The key with which a rig signs its games, and the keys of the rigs that this computer trusts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError
from downfield.core.files.input_files import read_text
from downfield.core.files.private_files import make_private_folder, replace_private_file
from downfield.store.sealing.signing import RigKey, is_public_key

RIG_KEY: Final = "rig.key"
"""Name of its file in the data folder."""


def open_rig_key(folder: Path, *, must_be_kept: bool) -> RigKey:
    """Return the rig's key in a data folder, made for its owner only when there is none.

    Args:
        must_be_kept: whether it is an error when it can't be; otherwise it then holds for this run only.

    Raises:
        InputError: it can't be read or created.
    """
    try:
        return RigKey.load_or_create(folder / RIG_KEY)
    except InputError:
        if must_be_kept:
            raise
        return RigKey.generate()


TRUSTED_KEYS: Final = "trusted_keys"
"""Name of their file in the data folder: a key a line, and after a space what its rig is called."""

OWN: Final = "this rig"


@dataclass(frozen=True, slots=True)
class TrustedKeys:
    """Public keys and what their rigs are called.

    Attributes:
        names: by key.
    """

    names: dict[str, str]

    @classmethod
    def load(cls, folder: Path) -> TrustedKeys:
        """Return the keys in a data folder; none where there is no such folder.

        Raises:
            InputError: a file of them can't be read, or holds something else.
        """
        names = {}
        own = folder / RIG_KEY
        if own.exists():
            names[RigKey.load_or_create(own).public_text] = OWN
        path = folder / TRUSTED_KEYS
        try:
            lines = read_text(path).splitlines() if path.exists() else []
        except InputError as error:
            raise InputError(f"the trusted keys can't be read: {error}") from None
        for number, line in enumerate(lines, start=1):
            key, _, name = line.strip().partition(" ")
            if not is_public_key(key):
                raise InputError(f"{path}, line {number}: no public key. Delete the line, or the file.")
            names.setdefault(key, name)
        return cls(names)

    def add(self, folder: Path, key: str, name: str) -> None:
        """Trust a key from now on.

        Args:
            name: what the key's rig is called.

        Raises:
            InputError: it can't be kept.
        """
        self.names.setdefault(key, " ".join(name.split()))
        lines = [f"{known} {called}".rstrip() for known, called in self.names.items() if called != OWN]
        try:
            make_private_folder(folder)
            replace_private_file(folder / TRUSTED_KEYS, "".join(f"{line}\n" for line in lines).encode())
        except OSError as error:
            raise InputError(f"{folder}: the trusted keys can't be kept: {error.strerror}") from None
