"""Opens a rig's link to its tournament, where the configuration names one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from downfield.api.security.grants import GrantedAccess
from downfield.calibration.calibration import Calibration
from downfield.capture.sources.source_names import is_recording
from downfield.game.published.board_topics import HealthStatus
from downfield.game.published.hub import Hub
from downfield.game.records.owner import GameOwner
from downfield.rig.configuration.settings import RigSettings, data_folder, tables_folder
from downfield.rig.tables.profile import TableFolder, new_profile
from downfield.rig.tournament.broker import broker_access
from downfield.rig.tournament.feed_publisher import FeedPublisher
from downfield.rig.tournament.identity_watch import IdentityWatch
from downfield.rig.tournament.link import TournamentLink
from downfield.rig.tournament.link_state import with_tournament
from downfield.rig.tournament.push_receiver import PushReceiver
from downfield.rig.tournament.pushed_material import PushedMaterial, SaveProfile
from downfield.rig.web_service import Service
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store

PUSHES: Final = "tournament-pushes.json"
"""In a rig's data folder: what the desk has sent to it, and what became of that."""

DESKS: Final = "tournament-desks.json"
"""In a rig's data folder: the desks whose grants it takes, and what they have revoked."""

WithTournament = Callable[[HealthStatus], HealthStatus]
"""Returns a rig's health with how far its tournament is behind."""


def open_grants(settings: RigSettings, owner: GameOwner) -> GrantedAccess | None:
    """Return what decides about the grants of the tournament's desk; None where there is none.

    Raises:
        InputError: what is kept of the desk can't be read.

    """
    if not settings.tournament.servers or not owner.rig:
        return None
    return GrantedAccess(data_folder(settings) / DESKS, owner.table)


def open_tournament(
    settings: RigSettings,
    store: Store,
    owner: GameOwner,
    key: RigKey,
    hub: Hub,
    service: Callable[[], Service | None],
    grants: GrantedAccess | None = None,
) -> TournamentLink | None:
    """Link a rig to its tournament; None where there is none, or nothing is refereed.

    Args:
        settings: the configuration.
        store: of the rig.
        owner: of the games that are played now.
        key: the rig's.
        hub: publishes the game.
        service: returns what serves the rig's pages; None for nothing.
        grants: as `open_grants` returned it.

    Raises:
        InputError: the credentials can't be read, or what the desk has sent before.
        MissingExtraError: the broker's client is not installed.

    """
    servers = settings.tournament.servers
    if not servers or not owner.rig:
        return None
    access = broker_access(servers, settings.tournament.credentials, f"{owner.table} ({owner.rig})")
    identity = IdentityWatch(owner.rig)
    feed = FeedPublisher(hub, owner, key, lambda: _address(service()), identity)
    material = PushedMaterial(store, hub, owner.table, profile_saver(settings, owner.table), grants)
    pushes = PushReceiver(data_folder(settings) / PUSHES, hub, key, owner.table, material)
    return TournamentLink(access, store, owner.rig, key, (feed.run, pushes.run), pushes, identity)


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


def health_with(link: TournamentLink | None) -> WithTournament:
    """Return what adds the state of a link to a rig's health."""
    return (lambda health: health) if link is None else (lambda health: with_tournament(health, link.state()))
