"""The admin key and the overlay key of a rig, kept in its data folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from downfield.api.security.secret_file import ADMIN_KEY, OVERLAY_KEY, SecretFile
from downfield.core.errors import InputError


@dataclass(frozen=True, slots=True)
class AccessKeys:
    """The keys that open the service.

    Attributes:
        admin: makes a browser the admin's.
        overlay: lets a program watch.

    """

    admin: SecretFile
    overlay: SecretFile

    @classmethod
    def of(cls, folder: Path, *, must_be_kept: bool) -> AccessKeys:
        """Return the keys in a data folder, made for its owner only when there are none.

        Args:
            folder: the data folder.
            must_be_kept: whether it is an error when they can't be; otherwise they then hold for this run only.

        Raises:
            InputError: they can't be read or created.

        """
        try:
            return cls(SecretFile(folder / ADMIN_KEY), SecretFile(folder / OVERLAY_KEY))
        except InputError:
            if must_be_kept:
                raise
            return cls(SecretFile(), SecretFile())
