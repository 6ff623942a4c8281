"""Opens a rig's link to its tournament, where the configuration names one."""

from __future__ import annotations

from collections.abc import Callable

from downfield.game.owner import GameOwner
from downfield.game.published.board_topics import HealthStatus
from downfield.game.signing import RigKey
from downfield.game.store import Store
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.tournament.broker import broker_access
from downfield.rig.tournament.link import TournamentLink
from downfield.rig.tournament.link_state import with_tournament

WithTournament = Callable[[HealthStatus], HealthStatus]
"""Returns a rig's health with how far its tournament is behind."""


def open_tournament(settings: RigSettings, store: Store, owner: GameOwner, key: RigKey) -> TournamentLink | None:
    """Link a rig to its tournament; None where there is none, or nothing is refereed.

    Args:
        settings: the configuration.
        store: of the rig.
        owner: of the games that are played now.
        key: the rig's.

    Raises:
        InputError: the credentials can't be read.
        MissingExtraError: the broker's client is not installed.

    """
    servers = settings.tournament.servers
    if not servers or not owner.rig:
        return None
    access = broker_access(servers, settings.tournament.credentials, f"{owner.table} ({owner.rig})")
    return TournamentLink(access, store, owner.rig, key)


def health_with(link: TournamentLink | None) -> WithTournament:
    """Return what adds the state of a link to a rig's health."""
    return (lambda health: health) if link is None else (lambda health: with_tournament(health, link.state()))
