"""The feed of a table on the tournament's broker, who publishes it, and the watch for a copy of this very rig.

The broker keeps the newest message of each topic only once a desk has told it to. So a desk announces itself as soon as
the broker keeps the feed, and every rig publishes everything again.

Every run of a rig tells with its address which run it is and for how long it has gone on, and hears what others tell in
the rig's name. They answer each other, so a copy is known for as long as it is there and no longer. Of two the one
that began later is the copy that must become a rig of its own: no clock of two computers is compared for that.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Literal

from downfield.core.errors import FormatError, RefusedError
from downfield.core.records import from_json, record, to_json
from downfield.game.published.hub import SNAPSHOT, Hub, encode_value
from downfield.game.records.owner import GameOwner, rig_id
from downfield.rig.tournament.broker import DESK_SUBJECT, BrokerConnection, DeskConnection
from downfield.store.sealing.signing import RigKey, is_signed_text

FEED_SUBJECT: Final = "downfield.feed"  # Begins the subject of a topic of a table: ``downfield.feed.RIG.TOPIC``

ABOUT: Final = "about"  # The topic with a table's address; the others are those of the rig's own feed

FEED_TOPICS: Final = ("game", "health", "questions", "source")  # What the desk shows of each table

SIGNATURE_HEADER: Final = "Downfield-Signature"
"""Header with the signature of the message as it was sent, Ed25519, base64."""

_SIGNED_AS: Final = b"downfield.feed\n"


@record
class TableMessage:
    """The newest value of one topic of a table."""

    key: str  # public key of its rig
    table: str
    topic: str  # ``"about"``, ``"game"``, ``"health"``, ``"questions"`` or ``"source"``
    data: dict[str, Any]  # the topic's value, an object
    format: Literal["downfield.feed"] = "downfield.feed"
    version: Literal[1] = 1


def subject_of(rig: str, topic: str) -> str:
    """Return the subject of a topic of a table."""
    return f"{FEED_SUBJECT}.{rig}.{topic}"


def sealed_message(key: RigKey, message: TableMessage) -> tuple[bytes, dict[str, str]]:
    """Return a message as it is sent, and the headers with its signature."""
    content = to_json(TableMessage, message).encode()
    return content, {SIGNATURE_HEADER: key.sign_text(_SIGNED_AS + content)}


def opened_message(subject: str, content: bytes, signature: str) -> TableMessage:
    """Return the message that was sent to a subject. Raises FormatError: malformed, or not signed by its rig."""
    message = from_json(TableMessage, content, path=subject)
    is_own = subject == subject_of(rig_id(message.key), message.topic)
    if not is_own or not is_signed_text(message.key, _SIGNED_AS + content, signature):
        raise FormatError(subject, "the message is not signed by the rig that the subject names")
    return message


if TYPE_CHECKING:
    from nats.aio.msg import Msg

ANSWER_S: Final = 2.0
"""Time between two answers to another run, and of silence after which one's own run is told of again."""

GONE_S: Final = 10.0
"""A run that was not heard of for this long is over: a rig that was killed and started again is no copy."""

REMEDY: Final = (
    "Stop it on the computer that has the copy, delete rig.key in the data folder there, and start it again:"
    " it is a rig of its own then"
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OtherRun:
    """Another run of this rig, which goes on now."""

    where: str  # address of its pages, else its table
    began_first: bool  # whether it began before this one

    @property
    def text(self) -> str:
        """What is wrong, one sentence without its full stop."""
        return (
            f"Another computer referees as this rig, {self.where}: its data folder is a copy of this one, or this of it"
        )


class IdentityWatch:
    """Knows whether another run of this rig goes on. Callable from any thread.

    Its own monotonic clock is never compared with another computer's.
    """

    def __init__(self, rig: str, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._rig, self._monotonic_s = rig, monotonic_s
        self._run, self._began_s = secrets.token_hex(8), monotonic_s()
        self._lock = threading.Lock()
        self._others: dict[str, tuple[float, OtherRun]] = {}
        self._told_s = -GONE_S
        self._is_answer_due = False

    def about(self) -> dict[str, Any]:
        """Return what is told of this run with the rig's address; nothing more is due until another is heard of."""
        with self._lock:
            self._told_s, self._is_answer_due = self._monotonic_s(), False
            return {"run": self._run, "running_s": round(self._told_s - self._began_s, 1)}

    @property
    def is_answer_due(self) -> bool:
        """Whether another run has been heard of and is to hear of this one."""
        with self._lock:
            return self._is_answer_due and self._monotonic_s() - self._told_s >= ANSWER_S

    @property
    def other(self) -> OtherRun | None:
        """Another run of this rig that goes on now; None where there is none."""
        with self._lock:
            now_s = self._monotonic_s()
            self._others = {run: heard for run, heard in self._others.items() if now_s - heard[0] < GONE_S}
            return next((other for _, other in self._others.values()), None)

    def require_first(self) -> None:
        """Refuse, by a RefusedError, what only the run may do that began first."""
        other = self.other
        if other is not None and other.began_first:
            raise RefusedError(f"{other.text}. {REMEDY}.")

    def hear(self, message: TableMessage) -> None:
        """Note what was told in the name of this rig; runs of versions that do not tell which they are say nothing."""
        run, running_s = message.data.get("run"), message.data.get("running_s")
        if not isinstance(run, str) or not isinstance(running_s, int | float) or run == self._run:
            return
        address = message.data.get("address")
        with self._lock:
            now_s = self._monotonic_s()
            is_first = (float(running_s), run) > (now_s - self._began_s, self._run)
            where = address if isinstance(address, str) and address else message.table
            if run not in self._others:
                _log.warning("Another run of this rig is on the tournament's broker: %s", where)
            self._others[run] = (now_s, OtherRun(where, is_first))
            self._is_answer_due = True

    async def follow(self, connection: BrokerConnection) -> None:
        """Hear what is told in the name of this rig, for as long as a connection lasts."""
        if not isinstance(connection, DeskConnection):  # on one computer two runs can't have one data folder
            await connection.client.subscribe(subject_of(self._rig, ABOUT), cb=self._take)

    async def _take(self, message: Msg) -> None:
        try:
            signature = (message.headers or {}).get(SIGNATURE_HEADER, "")
            self.hear(opened_message(message.subject, message.data, signature))
        except FormatError as error:
            _log.warning("%s", error)


PAUSE_S: Final = 0.1  # Between two rounds: what changes more often is sent as it is by then


class FeedPublisher:
    """Publishes the topics of a table.

    Args:
        address: returns the address of the rig's pages, as other computers reach it; empty for none.
        identity: hears of other computers that are this rig, and tells them of this one.
    """

    def __init__(
        self, hub: Hub, owner: GameOwner, key: RigKey, address: Callable[[], str], identity: IdentityWatch
    ) -> None:
        self._hub, self._owner, self._key, self._address = hub, owner, key, address
        self._identity = identity

    async def run(self, connection: BrokerConnection) -> None:
        """Publish for as long as a connection lasts, or until the hub is closed."""
        announced = await connection.follow(DESK_SUBJECT)  # before anything is published: no desk is missed
        await self._identity.follow(connection)
        about = ""
        async with aclosing(self._hub.subscribe(FEED_TOPICS)) as batches:
            async for messages in batches:  # the health wakes this every second
                everything = announced.is_set() or any(message.topic == SNAPSHOT for message in messages)
                announced.clear()
                if everything or not about or self._identity.is_answer_due:  # pages are served a moment after the start
                    about = self._address()
                    if everything or about or self._identity.is_answer_due:
                        told = {"address": about, "version": version("downfield"), **self._identity.about()}
                        await self._publish(connection, ABOUT, told)
                values = {message.topic: message.data for message in messages}
                if everything:
                    values = self._hub.snapshot(FEED_TOPICS).data
                for topic, value in values.items():
                    await self._publish(connection, topic, value)
                await asyncio.sleep(PAUSE_S)

    async def _publish(self, connection: BrokerConnection, topic: str, value: Any) -> None:
        data = json.loads(encode_value(value))
        message = TableMessage(self._key.public_text, self._owner.table, topic, data)
        content, headers = sealed_message(self._key, message)
        await connection.publish(subject_of(self._owner.rig, topic), content, headers)
