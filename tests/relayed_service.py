"""A service whose feed is read over real sockets."""

from __future__ import annotations

from pathlib import Path

from served_games import FakeRig

from downfield.api.context.context import RigParts
from downfield.broadcast.latest_picture import LatestPicture
from downfield.core.field.model import preset
from downfield.game.published.hub import Hub
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.settings import ServiceSettings
from downfield.rig.service.web_service import Service
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store


class RelayedService:
    """A service and nothing else."""

    def __init__(self, path: Path, settings: ServiceSettings | None = None) -> None:
        self.store, self.hub = Store.at(path), Hub()
        self.game_service = GameService(
            StoredJournals(self.store), self.hub, FakeRig(None), preset("tudor-620"), load_rulebook("tap")
        )
        context = RigParts(self.game_service, self.hub, LatestPicture(), self.store)
        self.service = Service(context, settings or ServiceSettings(port=0), path.parent)
        self.relay = self.service.relay

    @property
    def subscribers(self) -> tuple[int, int]:
        """How many subscribers this process serves, and how many the second."""
        here = self.hub.local_subscribers
        return here, self.hub.subscribers - here

    def end(self) -> None:
        self.service.close()
        self.game_service.close()
        self.store.close()
