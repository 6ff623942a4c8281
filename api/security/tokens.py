"""One-time pairing codes, and the tokens of paired devices.

A code is short-lived, can be used once, and is only in memory. A token is 256 random bits; the store keeps its SHA-256.
"""

from __future__ import annotations

import hashlib
import itertools
import secrets
import threading
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from downfield.api.security.access import RANK, DeviceRole
from downfield.api.security.grants import Admission
from downfield.core.errors import RefusedError
from downfield.core.platform.clock import CLOCK_WAS_SET_NS, RUN_CLOCK
from downfield.game.records.entries import DeviceChanged
from downfield.store.database.reader import DeviceRow
from downfield.store.writing.store import Store

CODE_LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # Letters and digits that are not easily confused


@dataclass(frozen=True, slots=True)
class PairingLimits:
    """Thresholds of pairing."""

    code_length: int = 10  # Ten of 30 letters are 49 bits, of which at most 60 can be tried a minute
    code_valid_s: float = 180.0  # Lifetime of a code: long enough to scan it, too short for the next visitor to use it
    # Lifetime of the code that `downfield run` shows at its start: until the phone of the operator is at hand
    shown_code_valid_s: float = 600.0
    max_codes: int = 20  # Unused codes at once
    max_devices: int = 200  # Paired devices at once
    # Different refusals of grants in the journal, of one run: whoever wants can make any number of them
    max_refusals: int = 100
    # A clock that is further ahead of all games and pairings ends no pairing before the rig has run for so long
    confirmed_after_ns: int = 86_400 * 1_000_000_000
    device_valid_ns: int = 90 * 86_400 * 1_000_000_000  # A device stays paired for 90 days, the stretch of a season


PAIRING_LIMITS: Final = PairingLimits()


@dataclass(frozen=True, slots=True)
class PairingCode:
    """An unused code."""

    id: str  # its name; not secret
    code: str
    role: DeviceRole  # of the device that uses it
    expires_at: float  # monotonic time, s


class TokenStore:
    """Pairs devices and recognizes them by their tokens. Callable from any thread.

    Args:
        on_revoked: called with the id of each device that is revoked or has expired.
        on_changed: called with each device that was paired or revoked, or has expired, after that.
        now_ns: ns since 1970; must not jump when the computer's clock is set.
        wall_ns: the computer's clock, ns since 1970.
    """

    def __init__(
        self,
        store: Store,
        on_revoked: Callable[[str], None] = lambda _: None,
        now_ns: Callable[[], int] = RUN_CLOCK.now_ns,
        on_changed: Callable[[DeviceChanged], None] = lambda _: None,
        wall_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._wall_ns = wall_ns
        self._store, self._on_revoked, self._now_ns, self._on_changed = store, on_revoked, now_ns, on_changed
        self._lock = threading.Lock()
        self._codes: dict[str, PairingCode] = {}
        self._refusals: set[tuple[str, str]] = set()
        self._devices = {device.token_sha256: self._dated(device) for device in store.devices()}
        first_ns = min((device.paired_ns for device in self._devices.values()), default=0)
        self._known_ns = max(first_ns, *store.beginnings(), 0) - time.monotonic_ns()

    def make_code(self, role: DeviceRole, valid_s: float | None = None) -> PairingCode:
        """Make a one-time code for a device of a role, with the usual lifetime or another.

        Raises RefusedError: too many codes are unused.
        """
        valid_s = PAIRING_LIMITS.code_valid_s if valid_s is None else valid_s
        letters = "".join(secrets.choice(CODE_LETTERS) for _ in range(PAIRING_LIMITS.code_length))
        code = PairingCode(secrets.token_hex(8), letters, role, time.monotonic() + valid_s)
        with self._lock:
            self._drop_expired_codes()
            if len(self._codes) >= PAIRING_LIMITS.max_codes:
                raise RefusedError(
                    f"{PAIRING_LIMITS.max_codes} pairing codes are unused."
                    f" Use one, or wait {PAIRING_LIMITS.code_valid_s:.0f} s."
                )
            self._codes[code.id] = code
        return code

    def find_code(self, code_id: str) -> PairingCode | None:
        """Return an unused code by its id; None if there is none."""
        with self._lock:
            self._drop_expired_codes()
            return self._codes.get(code_id)

    def redeem(self, code: str, name: str) -> tuple[str, DeviceRow] | None:
        """Pair a device by a code as it was shown; case, spaces and dashes don't matter.

        Returns its token and the device; None if there is no such unused code. Raises RefusedError: too many are
        paired.
        """
        given = code.upper().replace(" ", "").replace("-", "").encode()
        with self._lock:
            self._drop_expired_codes()
            unused = list(self._codes.values())
            matching = [candidate for candidate in unused if secrets.compare_digest(candidate.code.encode(), given)]
            if not matching:
                return None
            self._refuse_more_devices()
            del self._codes[matching[0].id]
            token, device = self._pair(secrets.token_hex(6), name, matching[0].role, self._now_ns())
        self._on_changed(DeviceChanged("paired", device.id, device.name, device.role))
        return token, device

    def issue(self, name: str, role: DeviceRole, days: int) -> tuple[str, DeviceRow]:
        """Pair a program without a code; return its token and the device. Raises RefusedError: too many are paired."""
        with self._lock:
            self._refuse_more_devices()
            now_ns = self._now_ns()
            token, device = self._pair(secrets.token_hex(6), name, role, now_ns, now_ns + days * _DAY_NS)
        self._on_changed(DeviceChanged("paired", device.id, device.name, device.role))
        return token, device

    def renew(self, device_id: str, by: str) -> str | None:
        """Return another token of a device, for as long as the one before, which is revoked; None if there is none."""
        before = next((device for device in self.devices() if device.id == device_id), None)
        role = None if before is None else role_of(before)
        if before is None or role is None:
            return None
        self.revoke(device_id, by)
        with self._lock:
            now_ns = self._now_ns()
            until_ns = now_ns + before.expires_ns - before.paired_ns
            token, device = self._pair(device_id, before.name, role, now_ns, until_ns)
        self._on_changed(DeviceChanged("paired", device.id, device.name, device.role, by))
        return token

    def adopt(self, device: DeviceRow) -> None:
        """Know a device that was paired while this process played from another store."""
        with self._lock:
            if all(known.id != device.id for known in self._devices.values()):
                self._store.keep_device(device)
                self._devices[device.token_sha256] = device

    def admit(self, admission: Admission) -> tuple[str, DeviceRow]:
        """Pair a phone that the tournament's desk lets in; what it opened here before is no longer paired.

        Returns its token and the device, which has the grant's id. Raises RefusedError: too many devices are paired.
        """
        if any(device.id == admission.id for device in self.devices()):
            self.revoke(admission.id, "the same grant")
        with self._lock:
            self._refuse_more_devices()
            token, device = self._pair(
                admission.id, admission.name, admission.role, self._now_ns(), admission.expires_ns
            )
        self._on_changed(DeviceChanged("paired", device.id, device.name, device.role, "the desk's grant"))
        return token, device

    def note_refused(self, admission: Admission | None, reason: str) -> None:
        """Put a pass that was refused in the journal; the same refusal once, and not without end.

        Whom it would have let in is None for a text that no desk has signed, of which nothing is believed.
        """
        device, name, role = ("", "an unknown device", "")
        if admission is not None:
            device, name, role = admission.id, admission.name, admission.role
        with self._lock:
            if (device, reason) in self._refusals or len(self._refusals) >= PAIRING_LIMITS.max_refusals:
                return
            self._refusals.add((device, reason))
        self._on_changed(DeviceChanged("refused", device, name, role, text=reason))

    def find_device(self, token: str) -> DeviceRow | None:
        """Return the device of a token; None if it is unknown or has expired."""
        with self._lock:
            device = self._devices.get(_sha256(token))
        return None if device is None or device.expires_ns < self._expiry_ns() else device

    def devices(self) -> list[DeviceRow]:
        """Return every paired device, in the order they were paired."""
        with self._lock:
            return sorted(self._devices.values(), key=lambda device: device.paired_ns)

    def revoke(self, device_id: str, by: str = "") -> bool:
        """Make a device's token invalid, as a person or device wishes; return whether there was such a device."""
        with self._lock:
            revoked = [device for device in self._devices.values() if device.id == device_id]
            self._devices = {key: device for key, device in self._devices.items() if device.id != device_id}
        self._on_revoked(device_id)
        for device in revoked:
            self._on_changed(DeviceChanged("revoked", device.id, device.name, device.role, by))
        return self._store.drop_device(device_id)

    def _refuse_more_devices(self) -> None:
        self._drop_expired_devices()
        if len(self._devices) >= PAIRING_LIMITS.max_devices:
            raise RefusedError(f"{PAIRING_LIMITS.max_devices} devices are paired. Revoke one first.")

    def _pair(
        self, identity: str, name: str, role: DeviceRole, now_ns: int, until_ns: int | None = None
    ) -> tuple[str, DeviceRow]:
        now_ns = max(now_ns, *self._store.beginnings(), 0)  # a clock that is behind all games ends no pairing early
        name = self._told_apart(name)
        token, expires_ns = secrets.token_urlsafe(32), now_ns + PAIRING_LIMITS.device_valid_ns
        if until_ns is not None:
            expires_ns = min(expires_ns, until_ns)
        device = DeviceRow(identity, name, role, _sha256(token), now_ns, expires_ns)
        self._store.keep_device(device)
        self._devices[device.token_sha256] = device
        return token, device

    def _told_apart(self, name: str) -> str:
        """Return a device's name, with a number where another has it, or the record uses it for something else."""
        taken = {_compared(device.name) for device in self._devices.values()} | _RESERVED
        numbered = (f"{name[:50]} ({number})" for number in itertools.count(2))
        return name if _compared(name) not in taken else next(one for one in numbered if _compared(one) not in taken)

    def _dated(self, device: DeviceRow) -> DeviceRow:
        """Return a device; one that was paired before the computer's clock was set is dated once it is."""
        now_ns = self._now_ns()
        if device.paired_ns >= CLOCK_WAS_SET_NS or now_ns < CLOCK_WAS_SET_NS:
            return device
        dated = replace(device, paired_ns=now_ns, expires_ns=now_ns + PAIRING_LIMITS.device_valid_ns)
        self._store.drop_device(device.id)
        self._store.keep_device(dated)
        return dated

    def _expiry_ns(self) -> int:
        """Return the time that devices expire by: the earlier one, if the clock was set since the start of the run.

        A computer that starts with its clock years ahead would turn all phones away: that is believed after a day.
        """
        believed_ns = self._known_ns + time.monotonic_ns() + PAIRING_LIMITS.confirmed_after_ns
        return min(self._now_ns(), self._wall_ns(), believed_ns)

    def _drop_expired_codes(self) -> None:
        now = time.monotonic()
        self._codes = {code_id: code for code_id, code in self._codes.items() if code.expires_at > now}

    def _drop_expired_devices(self) -> None:
        now_ns = self._expiry_ns()
        for device in [device for device in self._devices.values() if device.expires_ns < now_ns]:
            del self._devices[device.token_sha256]
            self._on_revoked(device.id)
            self._on_changed(DeviceChanged("expired", device.id, device.name, device.role))
            self._store.drop_device(device.id)


def role_of(device: DeviceRow) -> DeviceRole | None:
    """Return a device's role; None for one this version does not know."""
    return next((role for role in RANK if role == device.role and role != "anyone"), None)


_DAY_NS: Final = 86_400 * 1_000_000_000

_RESERVED: Final = frozenset({"this computer", "the admin", "an unpaired device", "an unknown device", "the desk"})
"""What the record calls those who are no paired device, as `_compared` returns it."""


def _compared(name: str) -> str:
    """Return a name as people compare it: letters that look alike, case and spaces make no difference."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
