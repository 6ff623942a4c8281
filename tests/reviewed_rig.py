"""A rig whose games are reviewed over HTTP."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from asgi_client import AsgiClient
from played_table import Table

from downfield.api.app import create_app
from downfield.api.context.access_control import access_control_of
from downfield.api.context.context import RigParts
from downfield.api.security.access import AccessPolicy, RateLimit, RateLimits
from downfield.broadcast.latest_picture import LatestPicture
from downfield.game.records.commands import NewGame

MANY = RateLimit(1e6, 10**6)
ACCESS = AccessPolicy(trust_local=True, limits=RateLimits(MANY, MANY, MANY))


class Reviewed:
    """A finished game behind the API."""

    def __init__(self, path: Path, *, operators_review: bool = False) -> None:
        self.table = Table(path)
        self.game = self.table.begin()
        self.table.play()
        self.tackle = quote(self.table.call("tackle"))
        self.table.game_service.start_game(NewGame())
        parts = RigParts(
            self.table.game_service,
            self.table.hub,
            LatestPicture(),
            self.table.store,
            operators_review=operators_review,
        )
        app = create_app(parts, ACCESS)
        self.admin = AsgiClient(app)
        tokens = access_control_of(app).token_store
        redeemed = tokens.redeem(tokens.make_code("operator").code, "phone")
        assert redeemed is not None
        self.operator = AsgiClient(app, token=redeemed[0])

    @property
    def path(self) -> str:
        return f"/api/games/{self.game}"

    def close(self) -> None:
        self.table.close()
