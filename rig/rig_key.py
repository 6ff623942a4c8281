"""The rig's key, kept in its data folder, with which it signs what it publishes of its games."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from downfield.core.errors import InputError
from downfield.store.sealing.signing import RigKey

RIG_KEY: Final = "rig.key"
"""Name of its file in the data folder."""


def open_rig_key(folder: Path, *, must_be_kept: bool) -> RigKey:
    """Return the rig's key in a data folder, made for its owner only when there is none.

    Args:
        folder: the data folder.
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
