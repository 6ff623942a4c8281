"""Serves games for review: a rig's own pages and API, on this computer alone, and nobody can change anything."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from downfield.api.context.context import RigParts
from downfield.broadcast.latest_picture import LatestPicture
from downfield.calibration.calibration import Calibration
from downfield.capture.footage import Footage
from downfield.core.errors import RefusedError
from downfield.core.field.model import preset
from downfield.game.published.hub import Hub
from downfield.game.records.commands import RigCommand, Settings
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.settings import ServiceSettings
from downfield.rig.web_service import Service
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store


class ReviewRig:
    """Stands in for a rig where there is none; see `RigControl`.

    Args:
        calibration: of the camera; None where none is known.
        values: the configuration that the games were played with.

    """

    def __init__(self, calibration: Calibration | None, values: Mapping[str, Any]) -> None:
        self._calibration, self._values = calibration, values

    def do(self, command: RigCommand) -> str:
        """Refuse a command.

        Raises:
            RefusedError: always.

        """
        raise RefusedError(f"This is a review: no camera is connected to {command.command.replace('_', ' ')}.")

    def calibration(self) -> Calibration | None:
        """Return the calibration of the camera."""
        return self._calibration

    def settings(self) -> Settings:
        """Return the configuration that the games were played with."""
        return Settings(version=version("downfield"), values=dict(self._values), origins={})


class ReviewService:
    """Serves games until it is closed.

    Args:
        store: of the games.
        footage: their pictures; None where there are none.
        rig: stands in for theirs.
        port: to serve at; 0 for any free one.
        folder: for temporary files.

    Raises:
        InputError: the port can't be opened.

    """

    def __init__(self, store: Store, footage: Footage | None, rig: ReviewRig, port: int, folder: Path) -> None:
        hub = Hub()
        calibration = rig.calibration()
        field = preset("ultimate") if calibration is None else calibration.field
        self._game_service = GameService(StoredJournals(store), hub, rig, field, load_rulebook())
        context = RigParts(self._game_service, hub, LatestPicture(), store, footage, only_games=True)
        # Without trust in this computer everyone is a visitor, who may look at everything and change nothing.
        settings = ServiceSettings(port=port, trust_local=False, open_viewing=True)
        self._service = Service(context, settings, folder)

    @property
    def address(self) -> str:
        """The address of the service on this computer."""
        return self._service.address

    def close(self) -> None:
        """End the service."""
        self._service.close()
        self._game_service.close()
