"""The desk's connection to a rig, and the watch over every table of a hall at once, a thread for each."""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from downfield.core.addresses import Address, split_address, without_password
from downfield.core.errors import DownfieldError, InputError, SourceError
from downfield.core.threads import supervised_thread
from downfield.desk.tables.address_book import TableEntry, TableStatus, status_of

TOPICS: Final = ("game", "health", "questions", "source")  # What the desk follows of each table


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Limits of a connection to a rig."""

    # A rig reports its health every second; after this long without anything the connection is given up
    silent_s: float = 4.0
    line_bytes: int = 1 << 20  # Longest message of the feed
    answer_bytes: int = 1 << 16  # Longest answer to a request
    retry_s: float = 1.0  # Pause before a lost table is tried again for the first time
    longest_retry_s: float = 10.0  # Longest pause between two tries; it doubles from one to the next


_LIMITS: Final = ClientLimits()


class RigRefusedError(SourceError):
    """A rig does not let the desk watch: its key was revoked or has expired."""


def pair_with(address: str, code: str, name: str) -> tuple[str, str, str]:
    """Redeem a pairing code at a rig.

    Args:
        address: of the rig, such as ``192.168.1.43:8317``.
        code: as the rig's start page shows it.
        name: of this desk, as the rig lists it.

    Returns:
        The address of the rig's start page, the token by which it lets the desk watch, and the SHA-256 of a certificate
        that the rig has made itself, hex; empty where there is none.

    Raises:
        InputError: the address or the code is wrong.
        SourceError: no rig answers there.
    """
    place = _split(address)
    connection, certificate = _connect(place, pinned=None)
    body = json.dumps({"code": code.strip(), "name": name[:60]})
    with closing(connection):
        answer = _ask(connection, "POST", f"{place.target}api/session", body)
        content = answer.read(_LIMITS.answer_bytes)
    if answer.status in {401, 429}:
        raise InputError(_text(content, "detail")[:300] or "The rig does not accept this code.")
    token = _text(content, "token") if answer.status == 200 else ""
    if not token:
        raise SourceError(f"{place.place}: this does not answer as a rig does (status {answer.status}).")
    return place.text, token, certificate


def follow(table: TableEntry) -> Iterator[Mapping[str, Any]]:
    """Yield what changes at a table: first the value of every topic, then each that changes, by topic.

    Raises:
        RigRefusedError: the rig does not let the desk watch.
        SourceError: it can't be reached, or has fallen silent.
    """
    place = _split(table.address)
    connection, _ = _connect(place, pinned=table.certificate)
    with closing(connection):
        path = f"{place.target}api/feed?topics={','.join(TOPICS)}"
        answer = _ask(connection, "GET", path, token=table.token)
        if answer.status in {401, 403}:
            raise RigRefusedError(f"{place.place}: the rig does not let this desk watch any more. Pair with it again.")
        if answer.status != 200:
            raise SourceError(f"{place.place}: the rig answers with status {answer.status}.")
        try:
            while line := answer.readline(_LIMITS.line_bytes):
                if line.startswith(b"data: "):
                    yield _message(line[6:], place)
        except (OSError, http.client.HTTPException):
            pass
        raise SourceError(f"{place.place}: the rig has fallen silent.")


def _split(address: str) -> Address:
    text = address.strip()
    if "://" not in text:
        text = f"http://{text}"
    try:
        place = split_address(text)
    except ValueError:
        raise InputError(f"'{without_password(address)}' is no address such as 192.168.1.43:8317.") from None
    if place.scheme not in {"http", "https"}:
        raise InputError(f"A rig is reached by http or https, not {place.scheme}.")
    target = place.target.split("?")[0].split("#")[0]
    return Address(place.scheme, "", "", place.host, place.port, target if target.endswith("/") else f"{target}/")


def _connect(place: Address, pinned: str | None) -> tuple[http.client.HTTPConnection, str]:
    """Connect to a rig; return the connection and the fingerprint of a certificate that nobody vouches for.

    Args:
        pinned: the fingerprint it must have; empty for a certificate that others vouch for; None to accept any, as when
            pairing, where whoever typed the code stands at the rig.
    """
    port = place.port or (443 if place.scheme == "https" else 80)
    try:
        if place.scheme == "http":
            plain = http.client.HTTPConnection(place.host, port, timeout=_LIMITS.silent_s)
            plain.connect()
            return plain, ""
        if not pinned:
            try:
                vouched = http.client.HTTPSConnection(place.host, port, timeout=_LIMITS.silent_s)
                vouched.connect()
            except ssl.SSLCertVerificationError:
                if pinned is not None:
                    raise
            else:
                return vouched, ""
        own = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        own.check_hostname = False
        own.verify_mode = ssl.CERT_NONE  # the fingerprint is compared below
        secure = http.client.HTTPSConnection(place.host, port, timeout=_LIMITS.silent_s, context=own)
        secure.connect()
        assert isinstance(secure.sock, ssl.SSLSocket)
        shown = hashlib.sha256(secure.sock.getpeercert(binary_form=True) or b"").hexdigest()
    except (OSError, ValueError) as error:
        raise SourceError(f"{place.place}: no rig answers there ({_reason(error)}).") from None
    if pinned is not None and shown != pinned:
        secure.close()
        raise RigRefusedError(f"{place.place}: shows another certificate than when it was paired. Pair with it again.")
    return secure, shown


def _ask(
    connection: http.client.HTTPConnection, method: str, path: str, body: str | None = None, token: str = ""
) -> http.client.HTTPResponse:
    headers = {"Accept": "application/json, text/event-stream"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        connection.request(method, path, body, headers)
        return connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        raise SourceError(f"{connection.host}:{connection.port}: no rig answers there ({_reason(error)}).") from None


def _message(line: bytes, place: Address) -> Mapping[str, Any]:
    try:
        message = json.loads(line)
        topic, data = message["topic"], message["data"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SourceError(f"{place.place}: sends something that is no feed of a rig.") from None
    if topic != "snapshot":
        return {topic: data}
    if not isinstance(data, dict):
        raise SourceError(f"{place.place}: sends something that is no feed of a rig.")
    return {name: data.get(name) for name in TOPICS}  # a rig that was started anew may lack what it had before


def _text(content: bytes, name: str) -> str:
    """Return a text of an answer; empty where it has none of that name."""
    try:
        return str(json.loads(content)[name] or "")
    except (ValueError, KeyError, TypeError):
        return ""


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError | socket.timeout):
        return "it takes too long"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


Follow = Callable[[TableEntry], Iterator[Mapping[str, Any]]]


@dataclass(slots=True)
class _Watched:
    entry: TableEntry
    ended: threading.Event = field(default_factory=threading.Event)
    values: dict[str, Any] = field(default_factory=dict)
    heard_ns: int | None = None
    problem: str = ""
    refused: bool = False


class TableWatcher:
    """Watches tables until it is closed. Callable from any thread.

    Args:
        follow_table: yields what changes at a table.
    """

    def __init__(self, follow_table: Follow = follow) -> None:
        self._follow = follow_table
        self._lock = threading.Lock()
        self._tables: dict[str, _Watched] = {}

    def watch(self, entry: TableEntry) -> None:
        """Begin to watch a table; one that is watched already is watched anew."""
        self.forget(entry.id)
        watched = _Watched(entry)
        with self._lock:
            self._tables[entry.id] = watched
        supervised_thread(
            lambda: self._run(watched),
            f"table {entry.name}",
            lambda cause: _note_failure(watched, cause),
            restarts=True,
            closed=watched.ended.is_set,
        ).start()

    def forget(self, identity: str) -> None:
        """Stop watching a table."""
        with self._lock:
            watched = self._tables.pop(identity, None)
        if watched is not None:
            watched.ended.set()

    def close(self) -> None:
        """Stop watching all of them."""
        for identity in list(self._tables):
            self.forget(identity)

    def statuses(self) -> list[TableStatus]:
        """Return what each table is doing now, those that need somebody first."""
        now_ns = time.monotonic_ns()
        with self._lock:
            tables = list(self._tables.values())
        found = [
            status_of(
                watched.entry,
                dict(watched.values),
                None if watched.heard_ns is None else (now_ns - watched.heard_ns) / 1e9,
                watched.problem,
                refused=watched.refused,
            )
            for watched in tables
        ]
        return sorted(found, key=lambda status: status.order)

    def _run(self, watched: _Watched) -> None:
        pause_s = _LIMITS.retry_s
        while not watched.ended.is_set():
            try:
                for values in self._follow(watched.entry):
                    if watched.ended.is_set():
                        return
                    watched.values |= values
                    watched.heard_ns = time.monotonic_ns()
                    watched.problem, watched.refused, pause_s = "", False, _LIMITS.retry_s
            except RigRefusedError as error:
                watched.problem, watched.refused = str(error), True
            except DownfieldError as error:
                watched.problem = str(error)
            watched.ended.wait(pause_s)
            pause_s = min(2 * pause_s, _LIMITS.longest_retry_s)


def _note_failure(watched: _Watched, cause: str) -> None:
    watched.problem = f"Downfield made an error ({cause})"
