"""The admin key of a rig, kept in its data folder."""

from __future__ import annotations

from pathlib import Path

from downfield.api.security.secret_file import ADMIN_KEY, SecretFile
from downfield.core.errors import InputError


def open_admin_key(folder: Path, *, must_be_kept: bool) -> SecretFile:
    """Return the admin key in a data folder, made for its owner only when there is none.

    Args:
        folder: the data folder.
        must_be_kept: whether it is an error when it can't be; otherwise it then holds for this run only.

    Raises:
        InputError: it can't be read or created.

    """
    try:
        return SecretFile(folder / ADMIN_KEY)
    except InputError:
        if must_be_kept:
            raise
        return SecretFile()
