"""TLS certificates: one that the rig makes for itself, or one named in the settings.

A browser warns of a certificate that nobody it knows has signed. The person at the phone can compare the fingerprint
that the rig shows, and accepts it once; it stays the same until the rig's addresses change or it nears its end.
"""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from downfield.core.errors import InputError
from downfield.core.files.private_files import make_private_folder, replace_private_file
from downfield.core.platform.clock import CLOCK_WAS_SET_NS

VALID: Final = datetime.timedelta(days=397)  # Browsers accept no longer-lived certificate of a server

RENEW_BEFORE: Final = datetime.timedelta(days=30)

_CLOCK_WAS_SET: Final = datetime.datetime.fromtimestamp(CLOCK_WAS_SET_NS / 1e9, datetime.UTC)

_CERTIFICATE: Final = "tls.crt"
_KEY: Final = "tls.key"
_BEFORE: Final = "before-"
"""Begins the names of the certificate and the key in use before: what a clock that was wrong for a moment put away."""


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """A certificate and its private key, in PEM."""

    certificate: Path  # the file of the certificate, and of those that signed it
    key: Path  # the file of the private key, without a password
    fingerprint: str  # SHA-256 of the certificate, in pairs of hexadecimal digits as browsers show it

    @classmethod
    def named(cls, certificate: str, key: str) -> CertificateFiles:
        """Return the files named in the settings.

        Raises:
            InputError: one is missing, can't be read, or they do not belong together.
        """
        files = Path(certificate).expanduser(), Path(key).expanduser()
        if not certificate or not key:
            raise InputError("service.certificate and service.private_key belong together: set both, or neither.")
        for file in files:
            if not file.is_file():
                raise InputError(f"{file} is not a file. service.certificate and service.private_key name PEM files.")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(*files, password=lambda: "")
            found = x509.load_pem_x509_certificates(files[0].read_bytes())[0]
        except (OSError, ValueError) as error:
            raise InputError(f"{files[0]} and {files[1]} are not a certificate and its key in PEM ({error}).") from None
        return cls(*files, _fingerprint(found))


def own_certificate(folder: Path, hosts: Iterable[str], now: datetime.datetime | None = None) -> CertificateFiles:
    """Return the rig's own certificate, made anew if it does not name every host or is near its end.

    Before the computer's clock was set, nothing tells how old a certificate is: the one that phones know is kept. One
    that was put away because of its dates is taken again once they fit, so that phones are not asked again.

    Args:
        folder: where it is kept, for its owner only.
        hosts: addresses and names of this computer, besides its host name and loopback.
        now: the time; None for the computer's.

    Raises:
        InputError: it can't be written.
    """
    now = now or datetime.datetime.now(datetime.UTC)
    names = _subject_names(hosts)
    certificate_file, key_file = folder / _CERTIFICATE, folder / _KEY
    before = folder / f"{_BEFORE}{_CERTIFICATE}", folder / f"{_BEFORE}{_KEY}"
    kept, earlier = _kept(certificate_file, key_file), _kept(*before)
    good = [one for one in (kept, earlier) if one is not None and _is_good(one, names, now)]
    made = max(good, key=lambda one: one.not_valid_after_utc, default=None)
    if made is not None and made is kept:
        return CertificateFiles(certificate_file, key_file, _fingerprint(kept))
    try:
        if made is not None:
            key_pem = before[1].read_bytes()
        else:
            key = ec.generate_private_key(ec.SECP256R1())
            made = _make(key, names, _latest_known(folder) if now < _CLOCK_WAS_SET else now)
            form = serialization.PrivateFormat.PKCS8
            key_pem = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
        make_private_folder(folder)
        if kept is not None:
            replace_private_file(before[1], key_file.read_bytes())
            replace_private_file(before[0], certificate_file.read_bytes())
        replace_private_file(key_file, key_pem)
        replace_private_file(certificate_file, made.public_bytes(serialization.Encoding.PEM))
    except OSError as error:
        raise InputError(
            f"{folder} can't hold the certificate ({error.strerror}). Set `data` to a folder of yours."
        ) from None
    return CertificateFiles(certificate_file, key_file, _fingerprint(made))


def is_out_of_date(folder: Path, now: datetime.datetime | None = None) -> bool:
    """Return whether browsers refuse the rig's own certificate for its dates, by the clock as it is now.

    That of a rig which was started with a wrong clock is, as soon as the clock is set.
    """
    now = now or datetime.datetime.now(datetime.UTC)
    kept = _kept(folder / _CERTIFICATE, folder / _KEY)
    return kept is not None and now >= _CLOCK_WAS_SET and not _is_dated_for(kept, now)


def _latest_known(folder: Path) -> datetime.datetime:
    """Return the latest time that is known without the computer's clock: by the program's and the folder's files."""
    dates = [_CLOCK_WAS_SET.timestamp()]
    for path in (Path(__file__), *(folder.iterdir() if folder.is_dir() else ())):
        with suppress(OSError):
            dates.append(path.stat().st_mtime)
    return datetime.datetime.fromtimestamp(max(dates), datetime.UTC)


def _subject_names(hosts: Iterable[str]) -> list[x509.GeneralName]:
    own = socket.gethostname()
    texts = dict.fromkeys([*hosts, own, f"{own.split('.', 1)[0]}.local", "localhost", "127.0.0.1", "::1"])
    names: list[x509.GeneralName] = []
    for text in texts:
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(text)))
        except ValueError:
            if text.isascii():  # others are not host names
                names.append(x509.DNSName(text.lower()))
    return list(dict.fromkeys(names))


def _make(key: ec.EllipticCurvePrivateKey, names: list[x509.GeneralName], now: datetime.datetime) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Downfield")])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # a phone's clock may be behind
        .not_valid_after(now + VALID - datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )


def _kept(certificate_file: Path, key_file: Path) -> x509.Certificate | None:
    """Return the certificate that was made before; None if there is none, or it does not belong to its key."""
    try:
        certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
        key = serialization.load_pem_private_key(key_file.read_bytes(), None)
    except (OSError, ValueError, TypeError):
        return None
    return certificate if certificate.public_key() == key.public_key() else None


def _is_good(certificate: x509.Certificate, names: list[x509.GeneralName], now: datetime.datetime) -> bool:
    try:
        named = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return False
    if not set(names) <= set(named):
        return False
    return now < _CLOCK_WAS_SET or _is_dated_for(certificate, now, RENEW_BEFORE)


def _is_dated_for(
    certificate: x509.Certificate, now: datetime.datetime, margin: datetime.timedelta = datetime.timedelta()
) -> bool:
    return certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc - margin


def _fingerprint(certificate: x509.Certificate) -> str:
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()
