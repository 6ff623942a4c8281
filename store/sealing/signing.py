"""The rig's key: an Ed25519 key pair (RFC 8032) whose signatures say that something came from this rig.

The private key never leaves the rig's data folder. Anyone can check a signature with the public key, which is written
as ``ed25519:`` and its 32 bytes in URL-safe base64 without padding.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from downfield.core.errors import InputError
from downfield.core.files.input_files import open_input
from downfield.core.files.private_files import create_private_file

PUBLIC_PREFIX: Final = "ed25519:"  # Begins the text of every public key

MAX_KEY_BYTES: Final = 4096  # A key file is 119 bytes; nothing larger is read


class RigKey:
    """A rig's private key.

    Attributes:
        public_text: the public key as text, 51 characters.
    """

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public_text = _text_of(private.public_key())

    @classmethod
    def generate(cls) -> RigKey:
        """Return a new key, which is kept nowhere."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load_or_create(cls, path: Path) -> RigKey:
        """Return the key in a file, which is created for its owner only when there is none.

        A file that is there is never overwritten: a rig with another key is another rig to everyone who knows it.

        Args:
            path: PKCS #8 in PEM, without a password.

        Raises:
            InputError: the file can't be read or created, or holds no such key.
        """
        try:
            if not path.exists():
                cls.generate().keep(path)
            with open_input(path) as file:
                text = file.read(MAX_KEY_BYTES + 1)
        except OSError as error:
            raise InputError(
                f"{path}: the rig's key can't be read or created: {error.strerror}. Let this user read it and write in"
                " its folder."
            ) from None
        try:
            key = load_pem_private_key(text, password=None)
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise InputError(
                f"{path}: this is not the rig's key, or it is damaged. Put the file back from a copy; or move it away,"
                " and the rig makes a new key, which nobody knows yet."
            )
        return cls(key)

    def keep(self, path: Path) -> None:
        """Write it for its owner only, PKCS #8 in PEM; a file that is there stays. Raises OSError: it can't be."""
        create_private_file(path, self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))

    def sign(self, data: bytes) -> bytes:
        """Return the signature of data, 64 bytes."""
        return self._private.sign(data)

    def sign_text(self, data: bytes) -> str:
        """Return the signature as text, base64."""
        return base64.b64encode(self.sign(data)).decode()


def verify_signature(public_text: str, data: bytes, signature: bytes) -> bool:
    """Return whether a signature of data was made with the private key of a public one; other texts verify nothing."""
    try:
        _public_key(public_text).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_signed_text(public_text: str, data: bytes, signature: str | bytes) -> bool:
    """Return whether data have a signature by a key, which `RigKey.sign_text` returned; malformed ones are none."""
    try:
        return verify_signature(public_text, data, base64.b64decode(signature, validate=True))
    except ValueError:
        return False


def is_public_key(text: str) -> bool:
    """Return whether a text is a public key in the one form that `RigKey.public_text` has."""
    try:
        return _text_of(_public_key(text)) == text
    except ValueError:
        return False


def _text_of(public: Ed25519PublicKey) -> str:
    return PUBLIC_PREFIX + base64.urlsafe_b64encode(public.public_bytes_raw()).decode().rstrip("=")


def _public_key(text: str) -> Ed25519PublicKey:
    """Return the public key of a text; ValueError where it is none."""
    if not text.startswith(PUBLIC_PREFIX):
        raise ValueError("no public key")
    try:
        raw = base64.b64decode(text.removeprefix(PUBLIC_PREFIX) + "=", altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError("no public key") from None
    return Ed25519PublicKey.from_public_bytes(raw)
