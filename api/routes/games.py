"""The games in the store: listed, read back, exported, verified; and starting one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Query, Response
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter, PrincipalDep
from downfield.api.context.context import AppContext, GameServiceDep, RigParts, RigPartsDep, StoreDep, part_of_context
from downfield.api.http.problems import ProblemError, accepted
from downfield.api.http.requests import GameId, IdempotencyKey, sends, sent_file
from downfield.core.records import to_json
from downfield.game.published.game_topics import CallView, DeclarationView, GameView
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import NewGame
from downfield.game.records.keeping import GameRow
from downfield.game.records.models import TopicModel
from downfield.officiating.events import Event, EventsHeader
from downfield.store.history import History, RecentHistories
from downfield.store.sealing.hash_chain import verify_journal

router = AuthorizedRouter(prefix="/api/games", tags=["games"])

Limit = Annotated[int, Query(ge=1, le=1000, description="How many; the latest are returned.")]
Around = Annotated[str | None, Query(max_length=200, description="Id of a call: those around it are returned.")]


Struck = Annotated[bool, Query(description="Also the calls that a ruling took away; then in the order of their times.")]


class VerificationResult(TopicModel):
    """Whether a journal is as it was written."""

    intact: bool
    entries: int = Field(description="Intact entries, or the number of the first that is not.")
    head: str = Field(description="Digest of the last intact entry.")
    problem: str = Field(description="What is wrong and where; empty when nothing is.")


def shown_game(rig: RigParts) -> str:
    """Return the id of the game in play, or of the last one until another begins; empty for none."""
    shown = rig.hub.value("game")
    return rig.game_service.game_id or (shown.game if isinstance(shown, GameView) else "")


def _row(rig: RigPartsDep, game: GameId) -> GameRow:
    """Return a game of the store; ``"current"`` is the one that the feed shows. Raises ProblemError: there is none."""
    row = rig.store.game(shown_game(rig) if game == "current" else game)
    if row is None:
        raise ProblemError(404, "No game in the store has that id. See GET /api/games.")
    return row


GameRowDep = Annotated[GameRow, Depends(_row)]


def _history(
    row: GameRowDep, histories: Annotated[RecentHistories, part_of_context(lambda context: context.histories)]
) -> History:
    return histories.of(row)


HistoryDep = Annotated[History, Depends(_history)]


def shown_history(context: AppContext) -> History | None:
    """Return the game that the feed shows, as its journal has it; None for none."""
    row = context.rig.store.game(shown_game(context.rig))
    return None if row is None else context.histories.of(row)


@router.post("", "operator", summary="Start a game")
def start(
    game_service: GameServiceDep, principal: PrincipalDep, request: NewGame, key: IdempotencyKey = None
) -> Accepted:
    """The game in play is ended; the line-up stays."""
    return accepted(game_service.command(request, Submission(principal.name, key, role=principal.role or "")))


@router.get("/{game}/calls", "viewer", summary="A game's calls")
def calls(history: HistoryDep, limit: Limit = 200, around: Around = None, struck: Struck = False) -> list[CallView]:
    """The calls that stand, in the order they were made: the latest, or those before and after one of them."""
    found = history.calls()
    if struck:
        found = sorted([*found, *history.struck()], key=lambda view: view.t_ns)
    if around is None:
        return found[-limit:]
    place = next((place for place, view in enumerate(found) if view.id == around), None)
    if place is None:
        raise ProblemError(404, "No call of this game that stands has that id.")
    first = max(0, place - limit // 2)
    return found[first : first + limit]


@router.get("/{game}/events", "viewer", summary="A game's declarations and rulings")
def events(history: HistoryDep, limit: Limit = 200) -> list[DeclarationView]:
    """In order."""
    return history.declarations()[-limit:]


@router.get("/{game}/events.jsonl", "viewer", summary="A game's events as a file", **sends("application/jsonl"))
def events_file(history: HistoryDep) -> Response:
    """For `downfield judge --events`, under this rulebook or another."""
    return sent_file(f"{history.row.id}.events.jsonl", _lines(history), "application/jsonl")


@router.get("/{game}/verification", "viewer", summary="Whether a game's journal is unaltered")
def verification(
    store: StoreDep,
    row: GameRowDep,
    head: Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}$", description="A digest kept from before.")] = None,
) -> VerificationResult:
    """Checks the hash chain from the first entry to the last."""
    found = verify_journal(row.id, store.entries(row.id, after=None), head)
    return VerificationResult(intact=not found.problem, entries=found.entries, head=found.head, problem=found.problem)


def _lines(history: History) -> Iterator[str]:
    yield to_json(EventsHeader, EventsHeader(history.row.id)) + "\n"
    for event in history.events:
        yield to_json(Event, event) + "\n"
