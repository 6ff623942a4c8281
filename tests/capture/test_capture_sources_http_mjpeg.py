"""Motion JPEG in every dialect of the field, behind redirects and passwords, from real servers."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback_streams import jpeg
from mjpeg_dialects import NONCE, REALM, Dialect, DialectServer, dialects, digest_accepts, streamed

from downfield.capture.source import CaptureClock
from downfield.capture.sources.http_mjpeg import HttpMjpeg, JpegScanner, StreamedJpeg
from downfield.core.errors import SourceError
from downfield.rig.service.certificate import own_certificate

PICTURES = [jpeg(value, (32, 16)) for value in range(1, 5)]


def received(url: str, count: int = len(PICTURES)) -> list[bytes]:
    source = HttpMjpeg(url, CaptureClock(), timeout_s=5)
    frames = list(islice(source.frames(), count))
    source.close()
    return [frame.packet.data for frame in frames if frame.packet]


@settings(max_examples=60)
@given(dialects())
def test_every_dialect_delivers_exactly_its_pictures(dialect: Dialect) -> None:
    with DialectServer(lambda _: streamed(dialect, PICTURES)) as server:
        assert received(f"http://{server.place}/") == PICTURES


@pytest.mark.parametrize("kind", ["video/x-motion-jpeg", "image/jpeg", "application/octet-stream", "multipart/mixed"])
def test_the_media_type_need_not_be_the_right_one(kind: str) -> None:
    answer = f"HTTP/1.0 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() + b"".join(PICTURES)
    with DialectServer(lambda _: answer) as server:
        assert received(f"http://{server.place}/") == PICTURES


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("200 OK\r\nContent-Type: text/html\r\n", "sends text/html, not a motion-JPEG stream"),
        ("200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: 5\r\n", "sends a single picture"),
        ("200 OK\r\nContent-Encoding: gzip\r\n", r"compressed \(gzip\)"),
        ("404 Not Found\r\n", "answered 404 Not Found"),
        ("302 Found\r\nLocation: file:///etc/passwd\r\n", "redirects to 'file:///etc/passwd', which is no address"),
        ("302 Found\r\nLocation: http://u:pass@\x1b[2J/\r\n", "redirects to 'http://u@.u001b.2J/', which is no"),
        ("302 Found\r\nLocation: rtsp://elsewhere/x\r\n", "redirects to rtsp://, which is not followed"),
        ("302 Found\r\nLocation: /again\r\n", "does not open after 8 redirects"),
        ("401 Unauthorized\r\nWWW-Authenticate: Basic\r\n", "wants a user name and a password"),
    ],
)
def test_what_is_no_stream_is_refused_with_the_reason(head: str, message: str) -> None:
    with DialectServer(lambda _: f"HTTP/1.1 {head}\r\n".encode()) as server, pytest.raises(SourceError, match=message):
        HttpMjpeg(f"http://{server.place}/", CaptureClock())


def needs_basic(head: str) -> bool:
    return f"Authorization: Basic {base64.b64encode(b'coach:p://w').decode()}" in head


@pytest.mark.parametrize(
    ("challenges", "accepts"),
    [
        (['Basic realm="camera"'], needs_basic),
        ([], needs_basic),
        (
            [f'Digest realm="{REALM}", nonce="{NONCE}", qop="auth"'],
            lambda head: digest_accepts(head, "coach", "p://w", "MD5"),
        ),
        (
            ['Basic realm="camera"', f'Digest realm="{REALM}", nonce="{NONCE}", qop="auth", algorithm=SHA-256'],
            lambda head: digest_accepts(head, "coach", "p://w", "SHA-256"),
        ),
        (
            [f'Basic realm="a", Digest realm="{REALM}", nonce="{NONCE}", qop="auth", Basic realm="b"'],
            lambda head: digest_accepts(head, "coach", "p://w", "MD5"),
        ),
        ([f'Digest realm="{REALM}", nonce="{NONCE}", qop="other"', "Digest", 'Basic realm="\xfc"'], needs_basic),
        (['NTLM, Negotiate TlRMTVNTUAAB==, basic realm = "x, Digest"'], needs_basic),
        *(
            (
                [f'Digest realm="{REALM}",nonce="{NONCE}"{asked}, opaque="a,b", algorithm={algorithm}'],
                partial(digest_accepts, user="coach", password="p://w", algorithm=algorithm, qop=qop),
            )
            for asked, qop in (("", ""), (', qop="auth-int"', "auth-int"), (" , qop = auth", "auth"))
            for algorithm in ("MD5", "MD5-sess", "SHA-512-256", "SHA-256-sess")
        ),
    ],
)
def test_a_password_is_sent_in_the_way_the_camera_asks_for(
    challenges: list[str], accepts: Callable[[str], bool]
) -> None:
    refusal = "".join(f"WWW-Authenticate: {challenge}\r\n" for challenge in challenges)

    def answer(head: str) -> bytes:
        if accepts(head):
            return streamed(Dialect(), PICTURES)
        return f"HTTP/1.1 401 Unauthorized\r\n{refusal}\r\n".encode()

    with DialectServer(answer) as server:
        assert received(f"http://coach:p://w@{server.place}/live?x=1") == PICTURES
        assert "Authorization" not in server.requests[0]
        with pytest.raises(SourceError, match="refuses the user name or the password"):
            HttpMjpeg(f"http://coach:wrong@{server.place}/live?x=1", CaptureClock())


def test_a_password_is_not_sent_in_a_way_that_the_camera_does_not_offer() -> None:
    """Basic would send it in the open to whoever listens, where the camera is set to accept digests alone."""
    refusal = b'HTTP/1.1 401 No\r\nWWW-Authenticate: NTLM\r\nWWW-Authenticate: Digest qop="x", nonce="1"\r\n\r\n'
    with (
        DialectServer(lambda _: refusal) as server,
        pytest.raises(SourceError, match=r"does not know \(ntlm, digest\)") as refused,
    ):
        HttpMjpeg(f"http://coach:secret@{server.place}/", CaptureClock())
    assert all("Authorization" not in request for request in server.requests)
    assert "secret" not in str(refused.value)


def test_a_password_is_sent_again_with_the_nonce_that_follows_an_old_one() -> None:
    user, password = 'тренер "A"', "sürü:п"
    old = f'Digest realm="{REALM}", nonce="old", qop="auth"'
    new = f'Digest realm="{REALM}", nonce="{NONCE}", qop="auth", stale=TRUE'

    def answer(head: str) -> bytes:
        if digest_accepts(head, user, password, "MD5"):
            return streamed(Dialect(), PICTURES)
        return f"HTTP/1.1 401 No\r\nWWW-Authenticate: {new if 'old' in head else old}\r\n\r\n".encode()

    with DialectServer(answer) as server:
        assert received(f"http://{user}:{password}@{server.place}/a b?q='x'") == PICTURES
    assert len(server.requests) == 3


def test_a_redirect_to_another_host_does_not_take_the_password_along() -> None:
    with DialectServer(lambda _: b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\n\r\n") as thief:
        moved = f"HTTP/1.1 307 Moved\r\nLocation: http://localhost:{thief.place.partition(':')[2]}/\r\n\r\n".encode()
        with DialectServer(lambda _: moved) as server, pytest.raises(SourceError):
            HttpMjpeg(f"http://coach:secret@{server.place}/", CaptureClock())
        assert all("Authorization" not in request for request in thief.requests)


def test_a_certificate_that_is_not_known_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = own_certificate(tmp_path, ["127.0.0.1"])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(made.certificate, made.key)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with DialectServer(lambda _: streamed(Dialect(), PICTURES), tls) as server:
        with pytest.raises(SourceError, match=r"not trusted here: self-signed certificate\. Write http://, or name"):
            HttpMjpeg(f"https://{server.place}/", CaptureClock())
        monkeypatch.setenv("SSL_CERT_FILE", str(made.certificate))
        assert received(f"https://{server.place}/") == PICTURES
    with (
        DialectServer(lambda _: b"HTTP/1.1 200 OK\r\n\r\n") as server,
        pytest.raises(SourceError, match=r"does not speak TLS .* Write http:// if it has no https"),
    ):
        HttpMjpeg(f"https://{server.place}/", CaptureClock())


def test_a_picture_that_breaks_off_is_left_out_and_the_next_ones_arrive() -> None:
    cut = PICTURES[0][: len(PICTURES[0]) // 2]
    with DialectServer(lambda _: streamed(Dialect(), [cut, *PICTURES, cut, *PICTURES])) as server:
        assert received(f"http://{server.place}/", 2 * len(PICTURES)) == [*PICTURES, *PICTURES]


def fed(stream: bytes, steps: list[int]) -> list[StreamedJpeg]:
    """Return what is found in a stream that arrives in pieces of these sizes, over and over."""
    scanner, at = JpegScanner(), 0
    found: list[StreamedJpeg] = []
    for step in cycle(steps):
        if at >= len(stream):
            return found
        found += scanner.feed(stream[at : at + step])
        at += step
    return found


@settings(max_examples=60)
@given(dialects(), st.lists(st.integers(1, 900), min_size=1, max_size=9))
def test_every_dialect_is_read_however_its_bytes_arrive(dialect: Dialect, steps: list[int]) -> None:
    assert [picture.data for picture in fed(dialect.body(PICTURES), steps)] == PICTURES


@settings(max_examples=150)
@given(
    st.lists(st.integers(40, 400), min_size=1),
    st.text(st.characters(codec="ascii")),
    st.integers(20, len(PICTURES[0]) - 1),
)
def test_a_picture_cut_behind_its_first_segment_costs_no_other_one(steps: list[int], text: str, cut: int) -> None:
    between = text.encode()
    stream = PICTURES[0][:cut] + between + between.join(PICTURES) + between
    assert [picture.data for picture in fed(stream, steps)][-3:] == PICTURES[1:]
    assert fed(stream, steps) == fed(stream, [len(stream)])


def test_pictures_that_break_off_leave_a_gap_in_the_numbers() -> None:
    cut = PICTURES[0][:-20]
    numbers = [picture.number for picture in fed(b"".join([*PICTURES, cut, *PICTURES]), [700])]
    assert numbers == [0, 1, 2, 3, 5, 6, 7, 8]


def test_a_thumbnail_within_a_picture_is_no_picture() -> None:
    thumbnail = b"\xff\xe1" + (len(PICTURES[0]) + 2).to_bytes(2, "big") + PICTURES[0]
    whole = PICTURES[1][:2] + thumbnail + PICTURES[1][2:]
    assert [picture.data for picture in fed(whole + whole, [100])] == [whole, whole]


@pytest.mark.parametrize(
    ("line", "stamp_ns"),
    [
        (b"X-Timestamp: 12.5\r\n", 12_500_000_000),
        (b"x-timestamp:3\n", 3_000_000_000),
        (b"X-Timestamp: 1\r\nX-Timestamp: 2\r\n", 2_000_000_000),
        (b"X-Timestamp: yesterday\r\n", None),
        (b"X-Timestamp: 1e400\r\n", None),
        (b"\n" * 4000, None),
    ],
)
def test_time_stamps_are_read_before_a_picture(line: bytes, stamp_ns: int | None) -> None:
    (picture,) = fed(b"--frame\r\n" + line + b"\r\n" + PICTURES[0], [10_000])
    assert picture.stamp_ns == stamp_ns


@settings(max_examples=200)
@given(st.binary(max_size=2000), st.integers(1, 50))
def test_any_bytes_are_read_without_an_error(data: bytes, step: int) -> None:
    assert fed(data, [step]) == fed(data, [2000])


@pytest.mark.parametrize(("begin", "message"), [(b"", "no JPEG picture"), (b"\xff\xd8\xff\xda\0\2", "has no end")])
def test_endless_bytes_without_a_picture_fill_no_memory(begin: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fed(begin + bytes(40 << 20), [1 << 20])


def test_a_picture_cut_in_its_first_segment_costs_64_kilobytes_at_most() -> None:
    stream = PICTURES[0][:4] + b"\xff" + PICTURES[1] * (70_000 // len(PICTURES[1])) + PICTURES[2]
    assert fed(stream, [1000])[-1].data == PICTURES[2]
