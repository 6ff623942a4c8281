"""A rig's link to its tournament, in a thread beside the game: nothing in the rig ever waits for it.

What it has not sent is in the rig's own store, so it needs no memory of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

from downfield.core.errors import DownfieldError
from downfield.game.records.keeping import EntryRow
from downfield.game.service import GameService
from downfield.rig.tournament.broker import BrokerAccess, BrokerConnection
from downfield.rig.tournament.broker_thread import BrokerThread, Work
from downfield.rig.tournament.identity_watch import IdentityWatch
from downfield.rig.tournament.journal_sender import SENDER_LIMITS, JournalSender
from downfield.rig.tournament.link_state import LinkState
from downfield.rig.tournament.push_receiver import PushReceiver
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store


class TournamentLink:
    """Copies this rig's journals to its tournament until it is closed.

    Args:
        access: to the broker.
        store: the rig's own.
        rig: the rig's id.
        key: signs the journals.
        works: what else is done with each connection.
        pushes: applies what the desk sends; its work is one of them. None for nothing.
        identity: hears of other computers that are this rig; None for nothing.

    """

    def __init__(
        self,
        access: BrokerAccess,
        store: Store,
        rig: str,
        key: RigKey,
        works: Sequence[Work] = (),
        pushes: PushReceiver | None = None,
        identity: IdentityWatch | None = None,
    ) -> None:
        self._pushes, self._identity = pushes, identity
        self._sender = JournalSender(store, rig, key)
        self._grown = asyncio.Event()
        self._problem = ""
        self._thread = BrokerThread(access, (self._send_journals, *works), "tournament")
        store.follow(self._note)
        self._thread.start()

    def state(self) -> LinkState:
        """Return whether the broker is reached, and how far the tournament's store is behind."""
        other = None if self._identity is None else self._identity.other
        return LinkState(self._thread.is_connected, self._thread.problem or self._problem, self._sender.state(), other)

    def attach(self, game: GameService) -> None:
        """Apply what the desk sends to a game service; a copy of a rig starts no games in it."""
        if self._identity is not None:
            game.require_startable = self._identity.require_first
        if self._pushes is not None:
            self._pushes.attach(game)

    def close(self) -> None:
        """End the link; what is not sent yet is sent after the next start."""
        self._thread.close()

    def _note(self, entry: EntryRow) -> None:
        self._sender.note(entry)
        self._thread.call_soon(self._grown.set)

    async def _send_journals(self, connection: BrokerConnection) -> None:
        self._grown = asyncio.Event()
        self._sender.begin()
        while True:
            try:
                await self._sender.compare(connection.request)
                self._problem = ""
                await self._send_until_compared(connection)
            except DownfieldError as error:  # whoever is behind the broker is away, or the rig's own disk
                self._problem = str(error)
                await asyncio.sleep(SENDER_LIMITS.pause_s)

    async def _send_until_compared(self, connection: BrokerConnection) -> None:
        due_s = time.monotonic() + SENDER_LIMITS.compare_s
        while (left_s := due_s - time.monotonic()) > 0:
            self._grown.clear()
            if await self._sender.send_next(connection.request, connection.max_bytes):
                continue
            if self._sender.state().problem:
                await asyncio.sleep(SENDER_LIMITS.pause_s)
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._grown.wait(), left_s)
