"""A service in this process with its roles and pairing, for tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from asgi_client import AsgiClient
from scripted_plays import FIELD
from served_games import FakeRig

from downfield.api.app import create_app
from downfield.api.context.access_control import access_control_of
from downfield.api.context.context import RigParts
from downfield.api.security.access import AccessPolicy, RateLimit, RateLimits, Role
from downfield.api.security.tokens import TokenStore
from downfield.broadcast.latest_picture import LatestPicture
from downfield.game.published.hub import Hub
from downfield.game.records.commands import NewGame
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

PHONE = "192.168.1.20"
RIG = "192.168.1.5:8317"
MANY = RateLimits(RateLimit(1e6, 10**6), RateLimit(1e6, 10**6), RateLimit(1e6, 10**6))


class SecuredService:
    """A service in this process."""

    def __init__(self, path: Path, access: AccessPolicy) -> None:
        self.store, hub = Store.at(path), Hub()
        self.game_service = GameService(StoredJournals(self.store), hub, FakeRig(None), FIELD, load_rulebook("tap"))
        self.game_service.start_game(NewGame())
        self.app = create_app(RigParts(self.game_service, hub, LatestPicture(), self.store), access)
        self.token_store: TokenStore = access_control_of(self.app).token_store

    def phone(self, role: Role | None = None) -> AsgiClient:
        """A client on the network, paired in a role or not."""
        client = AsgiClient(self.app, PHONE, RIG)
        if role is None:
            return client
        redeemed = self.token_store.redeem(self.token_store.make_code(role).code, f"{role}'s phone")
        assert redeemed is not None
        return replace(client, token=redeemed[0])
