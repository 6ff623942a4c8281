"""What the desk takes from a rig's feed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from downfield.core.errors import SourceError
from downfield.desk.tables.address_book import TableEntry
from downfield.desk.tables.rig_client import RigRefusedError, follow


class Rig(BaseHTTPRequestHandler):
    """Answers with the feed that the table's token names."""

    def do_GET(self) -> None:
        feed = self.headers["Authorization"].removeprefix("Bearer ")
        self.send_response(403 if feed == "revoked" else 200)
        self.end_headers()
        self.wfile.write("".join(f"{line}\n" for line in feed.split("|")).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Rig) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def table(address: str, *lines: str) -> TableEntry:
    return TableEntry("00000001", "Table 1", address, "|".join(lines))


def test_a_snapshot_replaces_all_and_a_change_its_topic(address: str) -> None:
    feed = follow(
        table(
            address,
            'data: {"topic": "snapshot", "data": {"health": {"level": "ok"}, "line_up": {}}}',
            ": alive",
            'data: {"topic": "game", "data": {"score": [7, 0]}}',
        )
    )
    assert next(feed) == {"game": None, "health": {"level": "ok"}, "questions": None, "source": None}
    assert next(feed) == {"game": {"score": [7, 0]}}
    with pytest.raises(SourceError, match="fallen silent"):
        next(feed)


@pytest.mark.parametrize("line", ["data: {", 'data: {"data": 1}', "data: []", 'data: {"topic": "snapshot", "data": 3}'])
def test_what_is_no_feed_is_said_to_be_none(address: str, line: str) -> None:
    with pytest.raises(SourceError, match="no feed of a rig"):
        next(follow(table(address, line)))


def test_a_revoked_desk_is_told_to_pair_again(address: str) -> None:
    with pytest.raises(RigRefusedError, match="Pair with it again"):
        next(follow(table(address, "revoked")))
