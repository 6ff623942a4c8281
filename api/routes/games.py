"""The games in the store: listed, read back, exported, verified; and beginning one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from downfield.api.feed.hub import Hub
from downfield.api.problems import ProblemError, refusal_problem
from downfield.api.requests import GameId, IdempotencyKey
from downfield.api.security.roles import PrincipalDep, allow
from downfield.api.services import AppContextDep, GameServiceDep, HubDep, StoreDep
from downfield.core.records import to_json
from downfield.game.commands import NewGame
from downfield.game.history import GameDetails, GameSummary, History, PlayDetails, listed
from downfield.game.published.game_topics import CallView, DeclarationView, GameView, TopicModel
from downfield.game.receipts import Accepted, Refused, Said
from downfield.game.store import GameRow, Store
from downfield.officiating.events import Event, EventsHeader

router = APIRouter(prefix="/api/games", tags=["games"])

Limit = Annotated[int, Query(ge=1, le=1000, description="The latest so many.")]


class VerificationResult(TopicModel):
    """Whether a journal is as it was written."""

    intact: bool
    entries: int = Field(description="Entries found sound, or the place of the first that is not.")
    head: str = Field(description="Digest of the last sound entry.")
    problem: str = Field(description="What is wrong and where; empty when nothing is.")


@router.get("", summary="Games, the latest first")
@allow("viewer")
def games(
    store: StoreDep,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before_ms: Annotated[int | None, Query(ge=0, le=9_000_000_000_000, description="Only those begun earlier.")] = None,
) -> list[GameSummary]:
    """To go on, give the last one's `began_ms` as `before_ms`."""
    before_ns = None if before_ms is None else before_ms * 1_000_000
    return [listed(row) for row in store.games(limit, before_ns)]


@router.post("", summary="Begin a game")
@allow("operator")
def begin(game_service: GameServiceDep, caller: PrincipalDep, asked: NewGame, key: IdempotencyKey = None) -> Accepted:
    """The game in play is ended; the line-up stays."""
    receipt = game_service.command(asked, Said(caller.name, key))
    if isinstance(receipt, Refused):
        raise refusal_problem(receipt)
    return receipt


@router.get("/{game}", summary="One game")
@allow("viewer")
def one(parts: AppContextDep, game: GameId) -> GameDetails:
    """With the digest that proves its journal."""
    return _history(parts.store, parts.hub, game).read()


@router.get("/{game}/calls", summary="A game's calls")
@allow("viewer")
def calls(store: StoreDep, hub: HubDep, game: GameId, limit: Limit = 200) -> list[CallView]:
    """As they stand, in the order they were made."""
    return _history(store, hub, game).calls()[-limit:]


@router.get("/{game}/plays", summary="A game's plays")
@allow("viewer")
def plays(store: StoreDep, hub: HubDep, game: GameId, limit: Limit = 200) -> list[PlayDetails]:
    """Each with the calls from its snap to the next."""
    return _history(store, hub, game).plays()[-limit:]


@router.get("/{game}/events", summary="A game's declarations and rulings")
@allow("viewer")
def events(store: StoreDep, hub: HubDep, game: GameId, limit: Limit = 200) -> list[DeclarationView]:
    """In order."""
    return _history(store, hub, game).declared()[-limit:]


@router.get(
    "/{game}/events.jsonl",
    summary="A game's events as a file",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/jsonl": {"schema": {"type": "string"}}}}},
)
@allow("viewer")
def events_file(store: StoreDep, hub: HubDep, game: GameId) -> StreamingResponse:
    """For `downfield judge --events`, under this rulebook or another."""
    history = _history(store, hub, game)
    name = f'attachment; filename="{history.row.id}.events.jsonl"'
    return StreamingResponse(_lines(history), media_type="application/jsonl", headers={"Content-Disposition": name})


@router.get("/{game}/verification", summary="Whether a game's journal is unaltered")
@allow("viewer")
def verification(
    store: StoreDep,
    hub: HubDep,
    game: GameId,
    head: Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}$", description="A digest kept from before.")] = None,
) -> VerificationResult:
    """Checks the hash chain from the first entry to the last."""
    found = store.verify(row_of(store, hub, game).id, head)
    return VerificationResult(intact=not found.problem, entries=found.entries, head=found.head, problem=found.problem)


def _history(store: Store, hub: Hub, game: str) -> History:
    return History(store, row_of(store, hub, game))


def row_of(store: Store, hub: Hub, game: str) -> GameRow:
    """A game of the store, or ``"current"``.

    Raises:
        ProblemError: there is none.

    """
    if game == "current":
        now: GameView | None = hub.value("game")
        game = "" if now is None else now.game
    row = store.game(game)
    if row is None:
        raise ProblemError(404, "no game of that id is in the store; see GET /api/games")
    return row


def _lines(history: History) -> Iterator[str]:
    yield to_json(EventsHeader, EventsHeader(history.row.id)) + "\n"
    for event, _ in history.events:
        yield to_json(Event, event) + "\n"
