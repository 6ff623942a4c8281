"""The desk sees every table by the broker's feed: at once, signed, and lost within five seconds."""

from __future__ import annotations

import asyncio
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from broker_server import BrokerServer
from waiting import WAIT_S, wait_until

from downfield.core.errors import FormatError, NotFoundError, RefusedError
from downfield.core.field.model import preset
from downfield.desk.tables.address_book import TableStatus
from downfield.desk.tables.broker_tables import STREAM, BrokerTables
from downfield.game.records.commands import NewGame, TeamSheet
from downfield.game.records.owner import rig_id
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper
from downfield.rig.tournament.broker import DESK_SUBJECT
from downfield.rig.tournament.broker_thread import BrokerThread, open_broker
from downfield.rig.tournament.journal_sender import APPEND_SUBJECT, POSITIONS_SUBJECT
from downfield.rig.tournament.push_payloads import PUSH_SUBJECT
from downfield.rig.tournament.table_feed import (
    ABOUT,
    FEED_TOPICS,
    SIGNATURE_HEADER,
    TableMessage,
    opened_message,
    sealed_message,
    subject_of,
)
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.replication import BatchReply

pytestmark = pytest.mark.usefixtures("short_pauses")

KEY = RigKey.generate()
RIG = rig_id(KEY.public_text)
SAID = TableMessage(KEY.public_text, "Table 3", "health", {"level": "ok"})


@contextmanager
def following(brokering: BrokerServer) -> Iterator[Callable[[], list[TableStatus]]]:
    """A desk's tables, followed for a while."""
    tables = BrokerTables()
    thread = BrokerThread(brokering.access("desk"), (tables.run,), "desk")
    thread.start()
    try:
        yield lambda: tables.statuses(thread.problem)
    finally:
        thread.close()


@contextmanager
def keeping(folder: Path, brokering: BrokerServer, table: str) -> Iterator[Scorekeeper]:
    given = {
        "data": str(folder),
        "rig.table": table,
        "service.port": 0,
        "tournament.servers": [f"nats://127.0.0.1:{brokering.port}"],
        "tournament.credentials": str(brokering.files.tables[0]),
    }
    game = NewGame(home=TeamSheet(name="River City", short="RIV"))
    keeper = Scorekeeper(load(environment={}, command_line=given), preset("ultimate"), game)
    try:
        yield keeper
    finally:
        keeper.close()


def needs(statuses: list[TableStatus]) -> dict[str, str]:
    return {status.name: status.need for status in statuses}


def test_tables_appear_by_themselves_are_lost_within_five_seconds_and_come_back(
    tmp_path: Path, brokering: BrokerServer
) -> None:
    with following(brokering) as statuses, keeping(tmp_path / "one", brokering, "Table 1") as one:
        with keeping(tmp_path / "two", brokering, "Table 2"):
            wait_until(lambda: needs(statuses()) == {"Table 1": "playing", "Table 2": "playing"}, "both play")
            home, address = "River City", one.service.address
            wait_until(lambda: (home, address) in [(status.home, status.address) for status in statuses()], "its facts")
        began_s = time.monotonic()
        wait_until(lambda: needs(statuses())["Table 2"] == "lost", "a table that is gone is not seen")
        assert time.monotonic() - began_s < 6.0, "a lost table is seen too late"
        assert needs(statuses())["Table 1"] == "playing"
        brokering.kill()
        wait_until(lambda: needs(statuses())["Table 1"] == "lost", "a lost broker is not seen")
        assert "broker" in next(status.text for status in statuses() if status.name == "Table 1")
        brokering.start()
        # Nobody receives journals here, so its health may have become a warning meanwhile.
        back = {"playing", "warning"}
        wait_until(lambda: needs(statuses())["Table 1"] in back, "a table that is back is not seen")


def test_a_desk_that_starts_late_knows_what_tables_said_last_and_that_they_are_lost(
    tmp_path: Path, brokering: BrokerServer
) -> None:
    with following(brokering) as statuses, keeping(tmp_path / "one", brokering, "Table 1"):
        wait_until(lambda: needs(statuses()) == {"Table 1": "playing"}, "the table plays")
    brokering.kill()
    brokering.start()
    with following(brokering) as statuses:
        wait_until(lambda: [status.home for status in statuses()] == ["River City"], "what was kept is not shown")
        assert needs(statuses()) == {"Table 1": "lost"}


async def _hear_health(brokering: BrokerServer) -> None:
    """Wait until a rig publishes, without having the broker keep it."""
    async with open_broker(brokering.access("desk")) as connection:
        heard = await connection.client.subscribe("downfield.feed.*.health")
        await heard.next_msg(timeout=WAIT_S)


def test_the_first_desk_of_a_broker_and_those_after_it_see_the_tables_that_were_there_before(
    tmp_path: Path, brokering: BrokerServer
) -> None:
    with keeping(tmp_path / "one", brokering, "Table 1") as one:
        facts = [("River City", one.service.address)]

        def shown(statuses: Callable[[], list[TableStatus]]) -> bool:
            return [(status.home, status.address) for status in statuses()] == facts

        asyncio.run(_hear_health(brokering))
        with following(brokering) as statuses:
            wait_until(lambda: shown(statuses), "the table that was there before the broker's first desk is not shown")
        with following(brokering) as statuses:
            wait_until(lambda: shown(statuses), "a second desk does not show it")
            brokering.kill()
            shutil.rmtree(brokering.files.configuration.parent / "jetstream")
            brokering.start()
            wait_until(lambda: needs(statuses())["Table 1"] != "lost", "the table is not seen again")
        with following(brokering) as statuses:
            wait_until(lambda: shown(statuses), "a broker that lost its disk does not get everything again")


async def _publish(brokering: BrokerServer, subject: str, content: bytes, headers: dict[str, str]) -> None:
    async with open_broker(brokering.access("rig")) as connection:
        await connection.publish(subject, content, headers)
        await connection.client.flush()


def test_what_another_rig_says_in_a_tables_name_is_not_shown(brokering: BrokerServer) -> None:
    content, headers = sealed_message(KEY, SAID)
    with following(brokering) as statuses:
        for subject, said, signed in (
            (subject_of("a" * 16, "health"), content, headers),
            (subject_of(RIG, "game"), content, headers),
            (subject_of(RIG, "health"), content.replace(b"Table 3", b"Table 4"), headers),
            (subject_of(RIG, "health"), content, {}),
            (subject_of(RIG, "health"), b"{", headers),
        ):
            asyncio.run(_publish(brokering, subject, said, signed))
        asyncio.run(_publish(brokering, subject_of(RIG, "health"), content, headers))
        wait_until(statuses, "the one that is signed is shown")
        assert needs(statuses()) == {"Table 3": "idle"}


def test_a_message_is_opened_by_its_rigs_subject_alone() -> None:
    content, headers = sealed_message(KEY, SAID)
    assert opened_message(subject_of(RIG, "health"), content, headers[SIGNATURE_HEADER]) == SAID
    with pytest.raises(FormatError, match="not signed"):
        opened_message(subject_of(RIG, "game"), content, headers[SIGNATURE_HEADER])
    with pytest.raises(FormatError, match="not signed"):
        opened_message(subject_of(RIG, "health"), content, "no base64")


def test_a_table_can_be_forgotten_once_its_rig_is_gone_and_only_then() -> None:
    now_ns = [0]
    tables = BrokerTables(lambda: now_ns[0])
    with pytest.raises(NotFoundError):
        tables.forget(RIG)
    tables.note(SAID)
    with pytest.raises(RefusedError, match="Table 3 is connected"):
        tables.forget(RIG)
    now_ns[0] = 5_000_000_000
    tables.forget(RIG)
    assert tables.statuses() == []


def test_what_the_broker_has_kept_neither_replaces_what_is_live_nor_counts_as_heard() -> None:
    tables = BrokerTables(lambda: 0)
    tables.note(SAID, live=False)
    assert tables.statuses()[0].need == "lost"
    tables.note(replace(SAID, data={"level": "alarm", "text": "now"}))
    tables.note(SAID, live=False)
    assert tables.statuses()[0].text == "now"


@pytest.mark.parametrize("address", ["javascript:alert(1)", 7, None, "file:///etc"])
def test_an_address_that_is_no_page_is_no_link(address: object) -> None:
    tables = BrokerTables()
    tables.note(replace(SAID, topic="about", data={"address": address}))
    assert tables.statuses()[0].address == ""


def test_the_page_of_topics_has_every_subject_and_status() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tournament-topics.md").read_text()
    subjects = [subject_of("RIG", topic) for topic in (ABOUT, *FEED_TOPICS)]
    assert re.findall(r"^\| `(downfield\.\S+)`", page, re.MULTILINE) == [
        *subjects,
        APPEND_SUBJECT,
        POSITIONS_SUBJECT,
        DESK_SUBJECT,
        PUSH_SUBJECT,
    ]
    statuses = get_args(get_type_hints(BatchReply)["status"])
    assert tuple(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == statuses
    for name in (STREAM, SIGNATURE_HEADER):
        assert f"`{name}`" in page
