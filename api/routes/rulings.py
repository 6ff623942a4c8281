"""Finished games reopened, ruled and closed again, by those who may."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import FinishedGamesDep, ReviewerDep, StoreDep
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import CallId, EventId, IdempotencyKey, Note, RulingRequest
from downfield.api.routes.games import GameRowDep, HistoryDep
from downfield.api.security.access import Principal
from downfield.game.records.keeping import GameRow
from downfield.game.records.models import RequestModel
from downfield.officiating.events import Ruling, Undo
from downfield.review.rejudging.changes import GameChanges
from downfield.review.rejudging.finished_games import AuditLine, LateRuling, audit_trail
from downfield.store.history import History
from downfield.store.writing.store import Store

router = AuthorizedRouter(prefix="/api/games/{game}", tags=["games"])

PersonName = Annotated[str, Field(max_length=60, pattern=r"^[^\x00-\x1f\x7f]*$", description="Who decides.")]
Preview = Annotated[bool, Query(description="Whether only to say what would change; nothing is written.")]


class ReopeningRequest(RequestModel):
    """Why a finished game is reopened."""

    reason: Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S")]
    name: PersonName = ""


class ClosingRequest(RequestModel):
    """Who closes a reopened game."""

    name: PersonName = ""


class LateRulingRequest(RulingRequest):
    """A decision about one call of a finished game."""

    name: PersonName = ""


class LateUndoRequest(RequestModel):
    """Who undoes an event of a finished game, and why."""

    name: PersonName = ""
    note: Note = ""


@router.get("/audit", "viewer", summary="What happened to a game once it was over")
def audit(history: HistoryDep) -> list[AuditLine]:
    """Ended, reopened, ruled, closed again: when, by whom and why, as the journal has it."""
    return audit_trail(history)


@router.post("/reopening", "operator", summary="Reopen a finished game for rulings")
def reopen(
    row: GameRowDep, store: StoreDep, finished: FinishedGamesDep, principal: ReviewerDep, request: ReopeningRequest
) -> list[AuditLine]:
    """For the admin; for operators too where `game.operators_review` is set. A game in play is not touched."""
    finished.reopen(row, signed(request.name, principal), request.reason.strip())
    return _audit(store, row)


@router.post("/closing", "operator", summary="Close a reopened game")
def close(
    row: GameRowDep, store: StoreDep, finished: FinishedGamesDep, principal: ReviewerDep, request: ClosingRequest
) -> list[AuditLine]:
    """For those who may reopen it."""
    finished.close(row, signed(request.name, principal))
    return _audit(store, row)


@router.post("/calls/{call}/rulings", "operator", summary="Confirm, overturn or strike one call of a reopened game")
def rule(
    row: GameRowDep,
    store: StoreDep,
    finished: FinishedGamesDep,
    principal: ReviewerDep,
    call: CallId,
    request: LateRulingRequest,
    key: IdempotencyKey = None,
    preview: Preview = False,
) -> GameChanges:
    """The game is judged again from its journal; the response says what has changed. For those who may reopen it."""
    replacement = None
    if request.replacement is not None:
        if request.decision != "overturn":
            raise ProblemError(422, f"A ruling to {request.decision} a call takes no replacement; only overturn does.")
        history = History(store, row)
        t_ns = next((view.t_ns for view in (*history.calls(), *history.struck()) if view.id == call), 0)
        replacement = request.replacement.call(call, t_ns, row.rulebook, partial(history.place, t_ns=t_ns))
    ruling = Ruling(call, request.decision, replacement, request.note)
    late = LateRuling(ruling, signed(request.name, principal), key)
    return finished.preview(row, late) if preview else finished.rule(row, late)


@router.post("/events/{event}/undo", "operator", summary="Undo one declaration or ruling of a reopened game")
def undo(
    row: GameRowDep,
    finished: FinishedGamesDep,
    principal: ReviewerDep,
    event: EventId,
    request: LateUndoRequest | None = None,
    key: IdempotencyKey = None,
    preview: Preview = False,
) -> GameChanges:
    """As if it had never been submitted; the response says what has changed. For those who may reopen the game."""
    request = request or LateUndoRequest()
    late = LateRuling(Undo(event, request.note), signed(request.name, principal), key)
    return finished.preview(row, late) if preview else finished.rule(row, late)


def signed(name: str, principal: Principal) -> str:
    """Return a person's name with the device it was entered on; the device alone where no name is given."""
    return f"{name.strip()} ({principal.name})" if name.strip() else principal.name


def _audit(store: Store, row: GameRow) -> list[AuditLine]:
    return audit_trail(History(store, row))
