"""Motion JPEG as cameras send it: dialects, and a server on the loopback interface that speaks them."""

from __future__ import annotations

import contextlib
import hashlib
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

REALM, NONCE = "camera", "0123456789abcdef"
_TLS = b"\x16"  # with which a client begins TLS


@dataclass(frozen=True)
class Dialect:
    """How a camera writes its stream.

    Attributes:
        announced: the boundary in the response's header.
        written: the boundary lines in the stream.
        newline: ends of lines.
        preamble: what comes before everything.
        first_boundary: whether a boundary comes before the first picture.
        length: Content-Length of a part: none, right, short, long or no number.
        padding: what follows a picture.
        sound: whether parts with sound come between.
        chunked: whether the body is sent in chunks.
        whole_length: Content-Length of the whole answer; empty for none, as is right.
    """

    announced: str = "frame"
    written: str = "--frame"
    newline: bytes = b"\r\n"
    preamble: bytes = b""
    first_boundary: bool = True
    length: str = "right"
    padding: bytes = b"\r\n"
    sound: bool = False
    chunked: bool = False
    whole_length: str = ""

    def body(self, pictures: list[bytes]) -> bytes:
        """Return the stream with these pictures."""
        parts = [self.preamble]
        for number, picture in enumerate(pictures):
            if number or self.first_boundary:
                parts.append(self._head(b"image/jpeg", picture))
            parts += [picture, self.padding]
            if self.sound:
                noise = hashlib.sha512(bytes([number])).digest() * 9
                parts += [self._head(b"audio/basic", noise), noise, self.newline]
        return b"".join(parts)

    def _head(self, kind: bytes, content: bytes) -> bytes:
        lengths = {"right": b"%d" % len(content), "short": b"7", "long": b"%d" % (3 * len(content)), "no number": b"x"}
        lines = [self.written.encode(), b"Content-Type: " + kind]
        if self.length != "none":
            lines.append(b"Content-Length: " + lengths[self.length])
        return self.newline.join([*lines, b"", b""])


def dialects() -> st.SearchStrategy[Dialect]:
    """Return every dialect."""
    return st.builds(
        Dialect,
        announced=st.sampled_from(["frame", "--frame", '"frame"', '"--frame"', "other", "", "a b"]),
        written=st.sampled_from(["--frame", "frame", "----frame", "--wrong", ""]),
        newline=st.sampled_from([b"\r\n", b"\n"]),
        preamble=st.sampled_from([b"", b"\r\n", b"\n\n", b"preamble\r\n\r\n", b"\xff\xd8\xff\x00junk", b"\0" * 3000]),
        first_boundary=st.booleans(),
        length=st.sampled_from(["none", "right", "short", "long", "no number"]),
        padding=st.sampled_from([b"", b"\r\n", b"\n", b"\0" * 500, b"\xff" * 5, b"\r\n\r\n"]),
        sound=st.booleans(),
        chunked=st.booleans(),
        whole_length=st.sampled_from(["", "0", "7", "999999999", "-1", "none"]),
    )


class DialectServer:
    """Answers requests with what a function returns for them, and then ends the connection.

    Args:
        answer: returns the bytes of the whole answer to a request's head.
        tls: with a certificate, for ``https``; None for ``http``.
    """

    def __init__(self, answer: Callable[[str], bytes], tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[str] = []
        self._answer, self._tls = answer, tls
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._run, daemon=True).start()

    def __enter__(self) -> DialectServer:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = self._listening.accept()
                with accepted, contextlib.suppress(OSError), self._encrypted(accepted) as client:
                    head = b""
                    while b"\r\n\r\n" not in head and not head.startswith(_TLS) and (more := client.recv(4096)):
                        head += more
                    self.requests.append(head.decode(errors="replace"))
                    client.sendall(self._answer(self.requests[-1]))

    def _encrypted(self, accepted: socket.socket) -> socket.socket:
        return accepted if self._tls is None else self._tls.wrap_socket(accepted, server_side=True)


def streamed(dialect: Dialect, pictures: list[bytes]) -> bytes:
    """Return the whole answer of a camera that sends these pictures."""
    body = dialect.body(pictures)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary={dialect.announced}\r\n"
    if dialect.whole_length:
        head += f"Content-Length: {dialect.whole_length}\r\n"
    if dialect.chunked:
        pieces = [body[at : at + 700] for at in range(0, len(body), 700)]
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
        return head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    return head.encode() + b"\r\n" + body


def digest_accepts(head: str, user: str, password: str, algorithm: str, qop: str = "auth") -> bool:
    """Return whether a request carries the right digest (RFC 7616), with this quality of protection; empty for none."""
    line = next((line for line in head.splitlines() if line.lower().startswith("authorization: digest")), "")
    values = dict(part.strip().split("=", 1) for part in line.partition("Digest ")[2].split(",") if "=" in part)
    values = {key: value.removeprefix('"').removesuffix('"').replace('\\"', '"') for key, value in values.items()}
    if not values or values.get("qop", "") != qop:
        return False
    name = algorithm.removesuffix("-sess").replace("-", "").replace("SHA512", "SHA512_").strip("_")

    def hexed(text: str) -> str:
        return hashlib.new(name, text.encode()).hexdigest()

    first, asked = hexed(f"{user}:{REALM}:{password}"), f"GET:{head.split()[1]}"
    if algorithm.endswith("-sess"):
        first = hexed(f"{first}:{NONCE}:{values.get('cnonce')}")
    if qop == "auth-int":
        asked += ":" + hexed("")
    middle = f"{NONCE}:{values.get('nc')}:{values.get('cnonce')}:{qop}" if qop else NONCE
    expected = hexed(f"{first}:{middle}:{hexed(asked)}")
    return values.get("username") == user and values.get("response") == expected
