"""The parts a running service is made of, and the dependencies that give them to its endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from downfield.api.feed.hub import Hub
from downfield.api.feed.latest_picture import LatestPicture
from downfield.game.evidence import EvidenceFinder
from downfield.game.footage import Footage
from downfield.game.service import GameService
from downfield.game.store import Store


@dataclass(frozen=True, slots=True)
class AppContext:
    """What the endpoints work with.

    Attributes:
        game_service: runs the game.
        hub: the current value of every topic, and the feed of their changes.
        picture: the camera's annotated picture.
        store: games, teams, devices.
        footage: the pictures calls were made from; None where none are kept.

    """

    game_service: GameService
    hub: Hub
    picture: LatestPicture
    store: Store
    footage: Footage | None = None


async def _context(connection: HTTPConnection) -> AppContext:
    context: AppContext = connection.app.state.parts
    return context


AppContextDep = Annotated[AppContext, Depends(_context)]


async def _hub(context: AppContextDep) -> Hub:
    return context.hub


async def _game_service(context: AppContextDep) -> GameService:
    return context.game_service


async def _store(context: AppContextDep) -> Store:
    return context.store


async def _picture(context: AppContextDep) -> LatestPicture:
    return context.picture


async def _evidence(connection: HTTPConnection) -> EvidenceFinder:
    finder: EvidenceFinder = connection.app.state.evidence
    return finder


HubDep = Annotated[Hub, Depends(_hub)]
GameServiceDep = Annotated[GameService, Depends(_game_service)]
StoreDep = Annotated[Store, Depends(_store)]
PictureDep = Annotated[LatestPicture, Depends(_picture)]
EvidenceFinderDep = Annotated[EvidenceFinder, Depends(_evidence)]
