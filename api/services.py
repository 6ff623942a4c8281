"""The parts a running service is made of, and how its endpoints get at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from downfield.api.feed.hub import Hub
from downfield.api.feed.latest_picture import LatestPicture
from downfield.game.footage import Footage
from downfield.game.receipts import Desk
from downfield.game.store import Store


@dataclass(frozen=True, slots=True)
class AppContext:
    """What the service serves.

    Attributes:
        game_service: who runs the game.
        hub: what is true now.
        picture: the camera's annotated picture.
        store: games, teams, devices.
        footage: the pictures calls were made from; None where none are kept.

    """

    game_service: Desk
    hub: Hub
    picture: LatestPicture
    store: Store
    footage: Footage | None = None


def _parts(connection: HTTPConnection) -> AppContext:
    parts: AppContext = connection.app.state.parts
    return parts


AppContextDep = Annotated[AppContext, Depends(_parts)]


def _hub(parts: AppContextDep) -> Hub:
    return parts.hub


def _game_service(parts: AppContextDep) -> Desk:
    return parts.game_service


def _store(parts: AppContextDep) -> Store:
    return parts.store


def _picture(parts: AppContextDep) -> LatestPicture:
    return parts.picture


HubDep = Annotated[Hub, Depends(_hub)]
GameServiceDep = Annotated[Desk, Depends(_game_service)]
StoreDep = Annotated[Store, Depends(_store)]
PictureDep = Annotated[LatestPicture, Depends(_picture)]
