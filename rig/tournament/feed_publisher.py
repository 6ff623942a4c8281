"""Publishes what a rig's hub holds to the tournament's broker: everything when connected, then what changes.

The broker keeps the newest message of each topic only once a desk has told it to. So a desk announces itself as soon as
the broker keeps the feed, and every rig publishes everything again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from importlib.metadata import version
from typing import Any, Final

from downfield.game.published.hub import SNAPSHOT, Hub, encode_value
from downfield.game.records.owner import GameOwner
from downfield.rig.tournament.broker import BrokerConnection
from downfield.rig.tournament.identity_watch import IdentityWatch
from downfield.rig.tournament.table_feed import (
    ABOUT,
    DESK_SUBJECT,
    FEED_TOPICS,
    TableMessage,
    sealed_message,
    subject_of,
)
from downfield.store.sealing.signing import RigKey

PAUSE_S: Final = 0.1
"""Between two rounds: what changes more often is sent as it is by then."""


class FeedPublisher:
    """Publishes the topics of a table.

    Args:
        hub: the rig's.
        owner: the rig and its table.
        key: signs what is published.
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
