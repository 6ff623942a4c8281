"""Addresses as people write them: read as they are meant, and never shown with a password."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.addresses import host_only, split_address, without_password


@pytest.mark.parametrize(
    ("text", "user", "password", "place", "target"),
    [
        ("http://cam/video", "", "", "cam", "/video"),
        ("HTTP://Cam:8080?x=1", "", "", "Cam:8080", "/?x=1"),
        ("http://user:p://w@host/live", "user", "p://w", "host", "/live"),
        ("rtsp://user:a@b@host:554/live", "user", "a@b", "host:554", "/live"),
        ("rtsp://user:a%40b@host", "user", "a@b", "host", "/"),
        ("http://user:p#w@host:80/x", "user", "p#w", "host:80", "/x"),
        ("http://user:p?w@host:80/x", "user", "p?w", "host:80", "/x"),
        ("http://[fe80::1]:81/x", "", "", "[fe80::1]:81", "/x"),
        ("http://host:8080/picture@2x.mjpg", "", "", "host:8080", "/picture@2x.mjpg"),
    ],
)
def test_an_address_is_read_as_it_is_meant(text: str, user: str, password: str, place: str, target: str) -> None:
    address = split_address(text)
    assert (address.user, address.password, address.place, address.target) == (user, password, place, target)
    again = split_address(address.text)
    assert again == address


@pytest.mark.parametrize("text", ["cam", "http://", "http:///x", "http://host:x/", "http://host:99999/", "://x", ""])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no "):
        split_address(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rtsp://me:secret@host/live", "rtsp://me@host/live"),
        ("user:p://w@host", "user@host"),
        ("http://user:p://w@host/live", "http://user@host/live"),
        ("http://user:12/x@host", "http://user@host"),
        ("http://user:p?w@host", "http://user@host"),
        ("rtsp://user:p@ss/w?@host:554/table", "rtsp://user@host:554/table"),
        ("http://user:secret@host/live?mail=a@b", "http://user@b"),
        ("http://host/live?mail=a@b", "http://host/live?mail=a@b"),
        ("http://host/video?user=me&pwd=secret&x=1", "http://host/video?user=me&pwd=***&x=1"),
        ("http://host/video?loginpas=secret", "http://host/video?loginpas=***"),
        ("srt://host:1?passphrase=secret&streamid=read:table:secret", "srt://host:1?passphrase=***&streamid=***"),
        ("http://host/v?api-key=secret&size=1", "http://host/v?api-key=***&size=1"),
        ("postgresql+psycopg://me:secret@host/downfield", "postgresql+psycopg://me@host/downfield"),
        ("0", "0"),
        ("C270 HD WEBCAM", "C270 HD WEBCAM"),
    ],
)
def test_an_address_is_shown_without_its_password(text: str, shown: str) -> None:
    assert without_password(text) == shown


SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1).map(lambda text: f"Q{text}Q")


@given(SECRETS, st.sampled_from(["http", "rtsp", "postgresql"]), st.sampled_from(["host", "10.0.0.1:8080", "[::1]:80"]))
def test_no_password_is_ever_shown(secret: str, scheme: str, place: str) -> None:
    assert without_password(f"{scheme}://coach:{secret}@{place}/live?size=1") == f"{scheme}://coach@{place}/live?size=1"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://hooks.example/services/T0/secret", "https://hooks.example/***"),
        ("https://me:secret@chat.example:8443/secret?token=secret", "https://me@chat.example:8443/***"),
        ("http://10.0.0.7?secret", "http://10.0.0.7/***"),
        ("http://10.0.0.7:9000/", "http://10.0.0.7:9000/"),
        ("http://10.0.0.7", "http://10.0.0.7"),
    ],
)
def test_an_address_with_a_secret_path_is_shown_by_its_host(text: str, shown: str) -> None:
    assert host_only(text) == shown
