"""The rig's key: made once for its owner only, never overwritten, and what it signs can be checked by anyone."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.errors import InputError
from downfield.store.sealing.signing import RigKey, is_public_key, verify_signature

KEY = RigKey.generate()


def test_the_key_is_made_once_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "data" / "rig.key"
    first, second = RigKey.load_or_create(path), RigKey.load_or_create(path)
    assert first.public_text == second.public_text
    assert verify_signature(second.public_text, b"head", first.sign(b"head"))
    assert RigKey.load_or_create(tmp_path / "other" / "rig.key").public_text != first.public_text


def test_the_key_is_for_its_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        RigKey.load_or_create(tmp_path / "data" / "rig.key")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "data" / "rig.key").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["rig.key"]


def test_of_many_that_make_the_key_at_once_all_have_the_same(tmp_path: Path) -> None:
    found: list[str] = []
    barrier = threading.Barrier(8)

    def load() -> None:
        barrier.wait()
        found.append(RigKey.load_or_create(tmp_path / "rig.key").public_text)

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


RSA = generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize("content", [b"", b"\0" * 119, b"-----BEGIN PRIVATE KEY-----\n", RSA, b"a" * 100_000])
def test_a_file_that_is_no_key_is_refused_in_one_line_and_stays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rig.key"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not the rig's key") as refused:
        RigKey.load_or_create(path)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == content


def test_a_pipe_in_the_key_s_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rig.key")
    with pytest.raises(InputError, match="is a pipe, not a file"):
        RigKey.load_or_create(tmp_path / "rig.key")


def test_a_folder_in_the_key_s_place_or_a_file_in_its_folder_s_is_named(tmp_path: Path) -> None:
    (tmp_path / "rig.key").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"rig\.key: is a folder, not a file"):
        RigKey.load_or_create(tmp_path / "rig.key")
    with pytest.raises(InputError, match=r"rig\.key: the rig's key can't be read"):
        RigKey.load_or_create(tmp_path / "file" / "rig.key")


@given(data=st.binary(), other=st.binary(), flipped=st.integers(0, 511))
def test_a_signature_holds_for_its_data_and_key_alone(data: bytes, other: bytes, flipped: int) -> None:
    signature = KEY.sign(data)
    altered = bytearray(signature)
    altered[flipped // 8] ^= 1 << flipped % 8
    assert verify_signature(KEY.public_text, data, signature)
    assert verify_signature(KEY.public_text, other, signature) == (data == other)
    assert not verify_signature(KEY.public_text, data, bytes(altered))
    assert not verify_signature(RigKey.generate().public_text, data, signature)


@given(text=st.text() | st.text(alphabet="aA-_=+/é\n").map("ed25519:".__add__), signature=st.binary(max_size=80))
def test_no_other_text_is_a_public_key(text: str, signature: bytes) -> None:
    assert not is_public_key(text)
    assert not verify_signature(text, b"", signature)


def test_a_public_key_has_one_form() -> None:
    assert is_public_key(KEY.public_text)
    assert not any(is_public_key(KEY.public_text + more) for more in ("=", "A", "\n", " "))
