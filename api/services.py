"""The parts a running service is made of, and how its endpoints get at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from downfield.api.feed.hub import Hub
from downfield.api.feed.latest_picture import LatestPicture
from downfield.game.desk import Desk
from downfield.game.footage import Footage
from downfield.game.store import Store


@dataclass(frozen=True, slots=True)
class Parts:
    """What the service serves.

    Attributes:
        desk: who runs the game.
        hub: what is true now.
        picture: the camera's annotated picture.
        store: games, teams, devices.
        footage: the pictures calls were made from; None where none are kept.

    """

    desk: Desk
    hub: Hub
    picture: LatestPicture
    store: Store
    footage: Footage | None = None


def _parts(connection: HTTPConnection) -> Parts:
    parts: Parts = connection.app.state.parts
    return parts


TheParts = Annotated[Parts, Depends(_parts)]


def _hub(parts: TheParts) -> Hub:
    return parts.hub


def _desk(parts: TheParts) -> Desk:
    return parts.desk


def _store(parts: TheParts) -> Store:
    return parts.store


def _picture(parts: TheParts) -> LatestPicture:
    return parts.picture


TheHub = Annotated[Hub, Depends(_hub)]
TheDesk = Annotated[Desk, Depends(_desk)]
TheStore = Annotated[Store, Depends(_store)]
ThePicture = Annotated[LatestPicture, Depends(_picture)]
