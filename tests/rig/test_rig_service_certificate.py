"""The rig's own certificate: names every address, is kept, and renewed in time."""

from __future__ import annotations

import datetime
import stat
from pathlib import Path

import pytest
from cryptography import x509

from downfield.core.errors import InputError
from downfield.rig.service.certificate import RENEW_BEFORE, VALID, CertificateFiles, is_out_of_date, own_certificate

NOW = datetime.datetime(2027, 1, 5, 18, 0, tzinfo=datetime.UTC)
HOSTS = ["192.168.1.5", "fd00::5", "rig.local"]


def names(files: CertificateFiles) -> set[str]:
    certificate = x509.load_pem_x509_certificate(files.certificate.read_bytes())
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(name.value) for name in found}


def test_it_names_every_address_and_is_for_its_owner_only(tmp_path: Path) -> None:
    files = own_certificate(tmp_path / "data", HOSTS, NOW)
    assert {*HOSTS, "localhost", "127.0.0.1", "::1"} <= names(files)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (files.key, files.certificate)] == [0o600, 0o600]
    assert len(files.fingerprint.split(":")) == 32


def test_it_stays_the_same_so_that_phones_are_not_warned_again(tmp_path: Path) -> None:
    made = own_certificate(tmp_path, HOSTS, NOW)
    again = own_certificate(tmp_path, HOSTS[:1], NOW + VALID - RENEW_BEFORE - datetime.timedelta(days=2))
    assert again.fingerprint == made.fingerprint


@pytest.mark.parametrize(
    ("hosts", "later"),
    [
        ([*HOSTS, "192.168.7.7"], datetime.timedelta()),
        (HOSTS, VALID - RENEW_BEFORE),
        (HOSTS, -datetime.timedelta(days=40)),  # made while the computer's clock was ahead
    ],
    ids=["a new address", "near its end", "not valid yet"],
)
def test_it_is_renewed(tmp_path: Path, hosts: list[str], later: datetime.timedelta) -> None:
    made = own_certificate(tmp_path, HOSTS, NOW)
    renewed = own_certificate(tmp_path, hosts, NOW + later)
    assert renewed.fingerprint != made.fingerprint
    assert set(hosts) <= names(renewed)


@pytest.mark.parametrize("years", [-57, -27, -3])
def test_it_stays_the_same_while_the_clock_of_the_computer_is_not_set(tmp_path: Path, years: int) -> None:
    made = own_certificate(tmp_path, HOSTS, NOW)
    unset = NOW.replace(year=NOW.year + years)
    assert own_certificate(tmp_path, HOSTS, unset).fingerprint == made.fingerprint
    assert own_certificate(tmp_path, HOSTS, NOW).fingerprint == made.fingerprint
    assert own_certificate(tmp_path, [*HOSTS, "192.168.7.7"], unset).fingerprint != made.fingerprint


def test_one_that_is_made_before_the_clock_is_set_is_not_of_1970(tmp_path: Path) -> None:
    made = own_certificate(tmp_path, HOSTS, datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC))
    certificate = x509.load_pem_x509_certificate(made.certificate.read_bytes())
    assert certificate.not_valid_after_utc > datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@pytest.mark.parametrize("damage", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_a_damaged_key_is_replaced_with_its_certificate(tmp_path: Path, damage: bytes) -> None:
    made = own_certificate(tmp_path, HOSTS, NOW)
    made.key.write_bytes(damage)
    renewed = own_certificate(tmp_path, HOSTS, NOW)
    assert CertificateFiles.named(str(renewed.certificate), str(renewed.key)).fingerprint == renewed.fingerprint


def test_files_of_ones_own_must_exist_and_belong_together(tmp_path: Path) -> None:
    one, other = (own_certificate(tmp_path / name, HOSTS, NOW) for name in ("a", "b"))
    for certificate, key, said in (
        (str(one.certificate), "", "belong together"),
        (str(tmp_path / "none.crt"), str(one.key), "is not a file"),
        (str(one.certificate), str(other.key), "are not a certificate and its key"),
        (str(one.key), str(one.key), "are not a certificate and its key"),
    ):
        with pytest.raises(InputError, match=said):
            CertificateFiles.named(certificate, key)


def test_a_clock_that_was_wrong_at_the_start_costs_no_phone_its_certificate(tmp_path: Path) -> None:
    for years in (-57, -1, 1, 2):
        made = own_certificate(tmp_path, HOSTS, NOW)
        wrong = NOW.replace(year=NOW.year + years)
        own_certificate(tmp_path, HOSTS, wrong)
        assert is_out_of_date(tmp_path, NOW) == (years == 2), years
        assert own_certificate(tmp_path, HOSTS, NOW).fingerprint == made.fingerprint, years
        assert not is_out_of_date(tmp_path, NOW), years


def test_one_that_is_made_before_the_clock_is_set_is_valid_when_the_program_was_installed(tmp_path: Path) -> None:
    made = own_certificate(tmp_path, HOSTS, datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC))
    certificate = x509.load_pem_x509_certificate(made.certificate.read_bytes())
    today = datetime.datetime.now(datetime.UTC)
    assert certificate.not_valid_before_utc < today < certificate.not_valid_after_utc
