"""What a table's credentials let it do at the broker: hear its own answers, and nothing that is for others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from broker_server import BrokerServer
from waiting import WAIT_S

from downfield.core.errors import FormatError
from downfield.core.records import from_json, to_json
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.game.records.owner import rig_id
from downfield.rig.tournament.broker import BrokerConnection, broker_access
from downfield.rig.tournament.broker_thread import open_broker
from downfield.rig.tournament.push_payloads import (
    PUSH_SUBJECT,
    Announcement,
    PushList,
    PushReport,
    signed_list,
    signed_report,
)
from downfield.store.sealing.signing import RigKey

pytestmark = pytest.mark.usefixtures("short_pauses")

TABLE, OTHER = RigKey.generate(), RigKey.generate()


def as_table(brokering: BrokerServer, number: int, work: Callable[[BrokerConnection], Awaitable[None]]) -> None:
    """Do something as a table's rig."""
    credentials = str(brokering.files.tables[number - 1])

    async def run() -> None:
        async with open_broker(broker_access((f"nats://127.0.0.1:{brokering.port}",), credentials, "t")) as connection:
            await work(connection)

    asyncio.run(asyncio.wait_for(run(), WAIT_S))


@pytest.mark.parametrize(
    "subject", ["_INBOX.>", "_INBOX.table-2.>", "_INBOX.desk.>", "downfield.push.get", ">", "_INBOX.*.*"]
)
def test_a_table_hears_nothing_that_is_for_others(brokering: BrokerServer, subject: str) -> None:
    async def listen(connection: BrokerConnection) -> None:
        heard = await connection.client.subscribe(subject)
        own = await connection.client.subscribe("_INBOX.table-1.here")
        await connection.client.flush()  # the broker has both before anything is sent
        async with open_broker(brokering.access("desk")) as desk:
            for to in ("_INBOX.table-2.x", "_INBOX.desk.x", "downfield.push.get", "_INBOX.table-1.here"):
                await desk.publish(to, b"secret")
        await own.next_msg(WAIT_S)  # it was sent last
        assert heard.pending_msgs == 0

    as_table(brokering, 1, listen)


def test_answers_come_to_the_rig_that_asked_under_names_that_nobody_can_guess(brokering: BrokerServer) -> None:
    keeper = PushKeeper()
    keeper.send("Dee", "", Announcement("for all"))
    keeper.send("Dee", "", Announcement("for the other"), (rig_id(OTHER.public_text),))
    replies: list[str] = []

    async def ask(connection: BrokerConnection) -> None:
        async with open_broker(brokering.access("desk")) as desk:
            answering = asyncio.create_task(keeper.run(desk))
            watched = await desk.client.subscribe(PUSH_SUBJECT)
            await desk.client.flush()
            for _ in range(2):
                report = signed_report(TABLE, "Table 1", {})
                answer = b""
                while not answer:  # the desk subscribes in a task of its own
                    answer = await connection.request(PUSH_SUBJECT, to_json(PushReport, report).encode())
                found = from_json(PushList, answer, path="an answer")
                assert found.fault(rig_id(TABLE.public_text), report.nonce) == ""
                assert [push.payload for push in found.pushes] == [Announcement("for all")]
                replies.append((await watched.next_msg(WAIT_S)).reply)
            elsewhere = await desk.client.subscribe("downfield.push.changed")
            forged = to_json(PushReport, signed_report(TABLE, "Table 1", {})).encode()
            await connection.client.publish(PUSH_SUBJECT, forged, reply="downfield.push.changed")
            await connection.request(PUSH_SUBJECT, forged)  # is answered after it
            await desk.client.flush()
            told = [(await elsewhere.next_msg(WAIT_S)).data for _ in range(elsewhere.pending_msgs)]
            assert not any(told), "the desk writes where a table tells it to"
            answering.cancel()

    as_table(brokering, 1, ask)
    assert all(reply.startswith("_INBOX.table-1.") for reply in replies)
    assert len({reply[:-8] for reply in replies}) == 2, "the next one follows from the one before"


def test_a_receiver_takes_no_answer_that_is_for_another_old_or_not_signed() -> None:
    key, rig = RigKey.generate(), rig_id(TABLE.public_text)
    answer = signed_list(key, rig, "nonce", ())
    assert answer.fault(rig, "nonce") == ""
    assert "another table" in answer.fault(rig_id(OTHER.public_text), "nonce")
    assert "earlier question" in answer.fault(rig, "another")
    for altered in (
        replace(answer, signature=""),
        replace(answer, key=OTHER.public_text),
        replace(answer, signature="?"),
    ):
        assert "has not signed" in altered.fault(rig, "nonce")


def test_the_desk_takes_no_report_that_its_rig_has_not_signed() -> None:
    report = signed_report(TABLE, "Table 1", {})
    for altered in (replace(report, key=OTHER.public_text), replace(report, nonce="other"), replace(report, table="T")):
        with pytest.raises(FormatError, match="not signed by its rig"):
            PushKeeper().list_for(altered)
