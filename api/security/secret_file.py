"""The admin key of a rig: a secret in a file that only its owner can read.

Who can read the admin key is the rig's owner: it is what `downfield run` prints in its link and what `downfield admin`
prints again, and what makes a browser the admin's. A connection from this computer proves nothing where a reverse proxy
or a tunnel on it makes such connections for everybody.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError
from downfield.core.files.private_files import create_private_file, make_private_folder, replace_private_file

ADMIN_KEY: Final = "admin.key"  # Name of the file in the data folder

_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{22,64}")
_BYTES: Final = 18  # 144 bits


class SecretFile:
    """A secret that is kept in a file, and read again when the file was replaced. Callable from any thread.

    Raises InputError: the file can't be read or created, or holds something else.

    Args:
        path: the file, created for its owner only when there is none; None to keep the secret in memory.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._secret = ""
        if path is None:
            self._secret = secrets.token_urlsafe(_BYTES)
            return
        try:
            make_private_folder(path.parent)
            if not path.exists():
                create_private_file(path, f"{secrets.token_urlsafe(_BYTES)}\n".encode())
        except OSError as error:
            raise InputError(f"{path} can't be created ({error.strerror}). Set `data` to a folder of yours.") from None
        self._read()
        if not self._secret:
            raise InputError(f"{path} can't be read or holds no key. Delete it; a new one is made at the next start.")

    @property
    def text(self) -> str:
        """The secret as it is in the file now."""
        with self._lock:
            self._read()
            return self._secret

    def matches(self, given: str) -> bool:
        """Return whether a text is the secret; takes the same time whatever it is."""
        return hmac.compare_digest(self.text.encode(), given.strip().encode(errors="replace"))

    def session(self) -> str:
        """Return the token of a browser that has shown the secret; it holds until the secret is renewed."""
        return hmac.new(self.text.encode(), b"browser", hashlib.sha256).hexdigest()

    def is_session(self, token: str) -> bool:
        """Return whether a token is the present one."""
        return hmac.compare_digest(self.session().encode(), token.encode(errors="replace"))

    def renew(self) -> str:
        """Replace the secret by a new one, and return it. Raises OSError: it can't be written, and is as it was."""
        new = secrets.token_urlsafe(_BYTES)
        with self._lock:
            if self._path is not None:
                replace_private_file(self._path, f"{new}\n".encode())
                self._stamp = None
            self._secret = new
        return new

    def _read(self) -> None:
        """Read the file if it has changed; a file that is gone or damaged leaves the secret as it is."""
        if self._path is None:
            return
        with suppress(OSError, ValueError):
            found = self._path.stat()
            stamp = found.st_mtime_ns, found.st_ino
            if stamp == self._stamp:
                return
            with self._path.open(encoding="ascii") as file:
                text = file.read(256).strip()
            if _SECRET.fullmatch(text):
                self._secret, self._stamp = text, stamp
