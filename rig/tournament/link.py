"""A rig's link to its tournament, in a thread beside the game: nothing in the rig ever waits for it.

What it has not sent is in the rig's own store, so it needs no memory of its own. The health says how far it is behind.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from downfield.api.security.grants import GrantedAccess
from downfield.calibration.calibration import Calibration
from downfield.capture.sources.source_types import is_recording
from downfield.core.errors import DownfieldError
from downfield.game.published.board_topics import HealthReason, HealthStatus, ReplicationStatus
from downfield.game.published.hub import Hub
from downfield.game.records.keeping import EntryRow
from downfield.game.records.owner import GameOwner
from downfield.game.service import GameService
from downfield.rig.configuration.settings import RigSettings, data_folder, tables_folder
from downfield.rig.service.web_service import Service
from downfield.rig.tables.profile import TableFolder, new_profile
from downfield.rig.tournament.broker import BrokerAccess, BrokerConnection, broker_access
from downfield.rig.tournament.broker_thread import BrokerThread, Work
from downfield.rig.tournament.journal_sender import SENDER_LIMITS, JournalSender, SenderState
from downfield.rig.tournament.push_receiver import PushedMaterial, PushReceiver, SaveProfile
from downfield.rig.tournament.table_feed import REMEDY, FeedPublisher, IdentityWatch, OtherRun
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store

WARN_AFTER_S: Final = 10.0
"""A cut of a few seconds, as when the desk is started again, does not concern the people at the table."""

_GOES_ON: Final = "The game goes on, and everything is kept on this computer"


@dataclass(frozen=True, slots=True)
class LinkState:
    """How a rig's link to its tournament stands."""

    is_connected: bool
    problem: str  # why the broker or the desk behind it is not; empty where they are
    sender: SenderState  # how far the tournament's store is behind
    other: OtherRun | None = None  # another computer that is this rig; None where there is none


def with_link_state(health: HealthStatus, link: LinkState) -> HealthStatus:
    """Return a rig's health with how far its tournament is behind; a warning where that does not end by itself.

    Another computer that is the same rig is a warning, too.
    """
    if link.other is not None:
        copied = HealthReason(code="rig_copied", level="warning", text=f"{link.other.text}.", remedy=REMEDY)
        health = health.with_reason(copied)
    sender = link.sender
    behind_s = round(sender.stalled_s, 1)
    if sender.refused:
        game, why = sender.refused[-1]
        text = f"The tournament does not take game {game}: {why}. {_GOES_ON}"
        remedy = "Tell the director. Keep this computer's data folder as it is"
        status = ReplicationStatus(state="refused", entries=sender.behind, seconds=behind_s)
        refused = HealthReason(code="replication_refused", level="warning", text=text, remedy=remedy)
        return health.model_copy(update={"replication": status}).with_reason(refused)
    if sender.is_complete and link.is_connected and not link.problem:
        return health.model_copy(update={"replication": ReplicationStatus(state="ok")})
    status = ReplicationStatus(state="behind", entries=sender.behind, seconds=behind_s)
    health = health.model_copy(update={"replication": status})
    if sender.stalled_s <= WARN_AFTER_S:
        return health
    why = link.problem or sender.problem or "nothing was stored there"
    text = f"The tournament is {_entries(sender.behind)} behind for {_time(behind_s)}: {why}. {_GOES_ON}"
    remedy = "See to the network and the director's desk. What is missing follows by itself"
    return health.with_reason(HealthReason(code="replication_behind", level="warning", text=text, remedy=remedy))


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


class TournamentLink:
    """Copies this rig's journals to its tournament until it is closed.

    Args:
        works: what else is done with each connection.
        pushes: applies what the desk sends; its work is one of them. None for nothing.
        identity: hears of other computers that are this rig; None for nothing.
        grants: decides about the grants of the tournament's desk; None where it gives none.
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
        grants: GrantedAccess | None = None,
    ) -> None:
        self._pushes, self._identity, self.grants = pushes, identity, grants
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
                async with asyncio.timeout(left_s):
                    await self._grown.wait()


PUSHES: Final = "tournament-pushes.json"
"""In a rig's data folder: what the desk has sent to it, and what became of that."""

DESKS: Final = "tournament-desks.json"
"""In a rig's data folder: the desks whose passes it takes, and what they have revoked."""


def open_tournament(
    settings: RigSettings, store: Store, owner: GameOwner, key: RigKey, hub: Hub, service: Callable[[], Service | None]
) -> TournamentLink | None:
    """Link a rig to its tournament; None where there is none, or nothing is refereed.

    Raises:
        InputError: the credentials can't be read, or what the desk has sent before, or what is kept of it.
        MissingExtraError: the broker's client is not installed.
    """
    servers = settings.tournament.servers
    if not servers or not owner.rig:
        return None
    access = broker_access(servers, settings.tournament.credentials, f"{owner.table} ({owner.rig})")
    identity = IdentityWatch(owner.rig)
    feed = FeedPublisher(hub, owner, key, lambda: _address(service()), identity)
    grants = GrantedAccess(data_folder(settings) / DESKS, owner.rig, owner.table)
    material = PushedMaterial(store, hub, owner.table, grants, profile_saver(settings, owner.table))
    pushes = PushReceiver(data_folder(settings) / PUSHES, hub, key, owner.table, material)
    return TournamentLink(access, store, owner.rig, key, (feed.run, pushes.run), pushes, identity, grants)


def profile_saver(settings: RigSettings, table: str) -> SaveProfile | None:
    """Return what saves a calibration of the camera in use as its table; None without a live camera."""
    source = settings.source.name
    if not source or is_recording(source):
        return None
    folder = TableFolder(tables_folder(settings))

    def save(calibration: Calibration) -> None:
        known = folder.in_use()
        name = known.name if known is not None and known.source == source else table
        folder.save(new_profile(name, source, calibration))

    return save


def _address(service: Service | None) -> str:
    """Return the address of the rig's pages for other computers; where they are for this one only, its own."""
    if service is None:
        return ""
    return next(iter(service.network_addresses()), service.address)


def with_tournament(health: HealthStatus, link: TournamentLink | None) -> HealthStatus:
    """Return a rig's health with how far its tournament is behind; as it is where there is none."""
    return health if link is None else with_link_state(health, link.state())
