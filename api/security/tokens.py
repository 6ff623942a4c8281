"""Who has been let in: one-time pairing codes, and the tokens of paired devices.

A code is short-lived, good once, and only in memory. A token is 256 random bits; the store keeps its SHA-256.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from dataclasses import dataclass
from typing import Final

from downfield.api.security.roles import Role
from downfield.core.errors import RefusedError
from downfield.game.store import DeviceRow, Store

CODE_S: Final = 180.0
"""A code is good for as long as it takes to hold up a phone, and not for the next visitor."""

CODE_LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH: Final = 10
"""30 letters that are not mistaken for one another, ten of them: 49 bits, tried at most 60 times a minute."""

MOST_CODES: Final = 20
MOST_DEVICES: Final = 200
PAIRED_NS: Final = 90 * 86_400 * 1_000_000_000
"""A device stays paired for a season's stretch of 90 days."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A code that waits to be redeemed.

    Attributes:
        id: names it; no secret.
        code: the secret.
        role: what the device will be.
        until: monotonic time it ends at.

    """

    id: str
    code: str
    role: Role
    until: float


class TokenStore:
    """Pairs devices and knows them again.

    Args:
        store: keeps the devices.

    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._pairings: dict[str, Pairing] = {}
        self._devices = {device.token_sha256: device for device in store.devices()}

    def pair(self, role: Role) -> Pairing:
        """A new one-time code for a device of a role.

        Raises:
            RefusedError: too many codes wait already.

        """
        code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
        pairing = Pairing(secrets.token_hex(8), code, role, time.monotonic() + CODE_S)
        with self._lock:
            self._forget_old()
            if len(self._pairings) >= MOST_CODES:
                raise RefusedError(f"{MOST_CODES} codes wait to be used already: use one, or wait {CODE_S:.0f} s")
            self._pairings[pairing.id] = pairing
        return pairing

    def pairing(self, name: str) -> Pairing | None:
        """A code that still waits, by its id."""
        with self._lock:
            self._forget_old()
            return self._pairings.get(name)

    def redeem(self, code: str, name: str) -> tuple[str, DeviceRow] | None:
        """Pair a device.

        Args:
            code: as it was shown; case, spaces and dashes don't matter.
            name: what to call the device.

        Returns:
            Its token and the device; None when no such code waits.

        Raises:
            RefusedError: too many devices are paired already.

        """
        given = code.upper().replace(" ", "").replace("-", "").encode()
        with self._lock:
            self._forget_old()
            waiting = list(self._pairings.values())
            found = [one for one in waiting if secrets.compare_digest(one.code.encode(), given)]
            if not found:
                return None
            self._drop_expired()
            if len(self._devices) >= MOST_DEVICES:
                raise RefusedError(f"{MOST_DEVICES} devices are paired already: revoke one")
            del self._pairings[found[0].id]
            token, now_ns = secrets.token_urlsafe(32), time.time_ns()
            role = found[0].role
            device = DeviceRow(secrets.token_hex(6), name, role, _sha256(token), now_ns, now_ns + PAIRED_NS)
            self._store.keep_device(device)
            self._devices[device.token_sha256] = device
        return token, device

    def device(self, token: str) -> DeviceRow | None:
        """The device of a token; None when it is not known or has expired."""
        with self._lock:
            device = self._devices.get(_sha256(token))
        return None if device is None or device.expires_ns < time.time_ns() else device

    def devices(self) -> list[DeviceRow]:
        """Every paired device, in the order they were paired."""
        with self._lock:
            return sorted(self._devices.values(), key=lambda device: device.paired_ns)

    def revoke(self, device: str) -> bool:
        """Let a device's token count no more; whether there was one."""
        with self._lock:
            self._devices = {key: one for key, one in self._devices.items() if one.id != device}
            return self._store.drop_device(device)

    def _forget_old(self) -> None:
        now = time.monotonic()
        self._pairings = {name: one for name, one in self._pairings.items() if one.until > now}

    def _drop_expired(self) -> None:
        now_ns = time.time_ns()
        for device in [one for one in self._devices.values() if one.expires_ns < now_ns]:
            del self._devices[device.token_sha256]
            self._store.drop_device(device.id)


def role_of(device: DeviceRow) -> Role | None:
    """A device's role; None for one this version does not know."""
    known: dict[str, Role] = {"viewer": "viewer", "operator": "operator", "admin": "admin"}
    return known.get(device.role)


def _sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
