"""Running the game: declarations, calls, rulings, undo, commands, and photos of play cards as text to check."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Annotated, Final

import numpy as np
from fastapi import Body, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import AppContext, AppContextDep, GameServiceDep, HubDep, SubmissionDep
from downfield.api.http.problems import ProblemError, accepted
from downfield.api.http.requests import (
    PICTURE_BODY,
    CallId,
    DeclarationRequest,
    EventId,
    ManualCallRequest,
    RulingRequest,
    UndoRequest,
)
from downfield.api.routes.games import Limit, Struck, shown_history
from downfield.capture.jpeg import MAX_UPLOAD_BYTES, decode_uploaded
from downfield.game.published.board_topics import SceneView
from downfield.game.published.game_topics import CallView, DeclarationView, GameView, Questions
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import Command
from downfield.game.records.models import TopicModel
from downfield.game.strip.card_lines import unread_text, window_lines
from downfield.officiating.calls import Verdict
from downfield.officiating.engine.legal import LegalDeclarations
from downfield.officiating.events import Ruling
from downfield.review.rejudging.changes import receipt_lines
from downfield.vision.card_photo import CardReading, read_card

router = AuthorizedRouter(prefix="/api")

_KEPT_MS: Final = 5_000  # What is older than this when it arrives was kept on a device without a network


@router.get("/state", "viewer", tags=["feed"], summary="The current value of every topic")
def state(hub: HubDep) -> dict[str, object]:
    """The snapshot that the feed begins with."""
    snapshot = hub.snapshot()
    return {"epoch": snapshot.epoch, "seq": snapshot.seq, "at_ms": snapshot.at_ms, "data": snapshot.data}


@router.get("/game", "viewer", tags=["play"], summary="The game in play")
def game(hub: HubDep) -> GameView:
    """What a score bug shows."""
    value: GameView | None = hub.value("game")
    if value is None:
        raise ProblemError(404, "No game is in play. Start one with POST /api/games.", "no_game")
    return value


@router.get("/scene", "viewer", tags=["play"], summary="Where every figure is")
def scene(hub: HubDep) -> SceneView:
    """The latest scene."""
    value: SceneView | None = hub.value("scene")
    if value is None:
        raise ProblemError(404, "No scene has been published yet. See /readyz.")
    return value


@router.get("/questions", "viewer", tags=["play"], summary="What waits for a person")
def questions(hub: HubDep) -> Questions:
    """Calls too close or proposed, with both readings; dice, coins and choices."""
    value: Questions | None = hub.value("questions")
    return value or Questions()


@router.get("/calls", "viewer", tags=["calls"], summary="The calls of the game in play")
def calls(
    context: AppContextDep,
    verdict: Annotated[Verdict | None, Query(description="Only calls of this verdict.")] = None,
    limit: Limit = 200,
    struck: Struck = False,
) -> list[CallView]:
    """In the order they were made; the last is the latest. Those of a game that has ended stay until another begins."""
    return [call for call in _calls(context, struck=struck) if verdict is None or call.verdict == verdict][-limit:]


def _calls(context: AppContext, *, struck: bool) -> list[CallView]:
    """Return the calls of the game that the feed shows; one that is in play is ahead of its journal."""
    found = list(context.rig.game_service.calls())
    if struck or not context.rig.game_service.game_id:
        history = shown_history(context)
        found = found or ([] if history is None else history.calls())
        if struck and history is not None:
            stand = {view.id for view in found}
            gone = [view for view in history.struck() if view.id not in stand]
            found = sorted([*found, *gone], key=lambda view: view.t_ns)
    return found


@router.get("/calls/{call}", "viewer", tags=["calls"], summary="One call")
def call(context: AppContextDep, call: CallId) -> CallView:
    """With its clause, margin, error, readings and ruling; one that a ruling took away is `struck`."""
    live = context.rig.game_service.calls()
    found = next((view for view in live if view.id == call), None)
    found = found or next((view for view in _calls(context, struck=True) if view.id == call), None)
    if found is None:
        raise ProblemError(404, "No call of this game has that id.", "unknown")
    return found


@router.post("/calls", "operator", tags=["calls"], summary="Make a call by hand")
def make_call(game_service: GameServiceDep, hub: HubDep, by: SubmissionDep, request: ManualCallRequest) -> Accepted:
    """A call the system did not make; it takes effect like any other."""
    call_id = f"manual:{by.key or secrets.token_hex(6)}"
    ruling = Ruling("", "manual", request.call(call_id, 0, game(hub).rulebook, game_service.place), request.note)
    return accepted(game_service.rule(ruling, _made_ago(by, request.ago_ms)))


@router.post("/calls/{call}/rulings", "operator", tags=["calls"], summary="Confirm, overturn or strike one call")
def rule(
    game_service: GameServiceDep, hub: HubDep, by: SubmissionDep, call: CallId, request: RulingRequest
) -> Accepted:
    """Everything after the call is judged again; nothing else changes."""
    replacement = None
    if request.replacement is not None:
        if request.decision != "overturn":
            raise ProblemError(422, f"A ruling to {request.decision} a call takes no replacement; only overturn does.")
        standing = next((view for view in game_service.calls() if view.id == call), None)
        t_ns = 0 if standing is None else standing.t_ns
        replacement = request.replacement.call(call, t_ns, game(hub).rulebook, game_service.place)
    ruling = Ruling(call, request.decision, replacement, request.note)
    return accepted(game_service.rule(ruling, _made_ago(by, request.ago_ms)))


@router.get("/declarations", "viewer", tags=["play"], summary="The declarations and rulings of the game in play")
def declarations(context: AppContextDep, limit: Limit = 200) -> list[DeclarationView]:
    """In order; the last is the latest."""
    history = None if context.rig.game_service.game_id else shown_history(context)
    found = context.rig.game_service.declarations() if history is None else history.declarations()
    return list(found)[-limit:]


@router.get("/legal", "viewer", tags=["play"], summary="What may be declared now")
def legal(game_service: GameServiceDep) -> LegalDeclarations:
    """Everything the rulebook knows: allowed now or why not, by whom, which figures, which dice, how many pivots."""
    found = game_service.legal()
    if found is None:
        raise ProblemError(404, "No game is in play. Start one with POST /api/games.", "no_game")
    return found


@router.post("/declarations", "operator", tags=["play"], summary="Declare something")
def declare(game_service: GameServiceDep, by: SubmissionDep, request: DeclarationRequest) -> Accepted:
    """The carrier, set, a pass, a pitch, dice, a coin, the clock, a line-up, a correction of the state..."""
    declared = request.declared(game_service.place)
    return accepted(game_service.declare(declared, _made_ago(by, request.ago_ms)))


@router.post("/events/{event}/undo", "operator", tags=["play"], summary="Undo one declaration or ruling")
def undo(
    game_service: GameServiceDep, by: SubmissionDep, event: EventId, request: UndoRequest | None = None
) -> Accepted:
    """As if it had never been submitted, whatever came after it."""
    request = request or UndoRequest()
    return accepted(game_service.undo(event, _made_ago(by, request.ago_ms), request.note))


class UndoPreview(TopicModel):
    """What undoing one declaration or ruling would change."""

    lines: tuple[str, ...] = Field(description="All of it in plain words.")
    more: bool = Field(description="Whether anything that was declared or called later goes with it.")


@router.get(
    "/events/{event}/undo", "operator", tags=["play"], summary="What undoing one declaration or ruling would change"
)
def undo_preview(game_service: GameServiceDep, event: EventId) -> UndoPreview:
    """Nothing changes; undo it with a POST."""
    calls, declarations = game_service.calls(), game_service.declarations()
    receipt = game_service.undo_preview(event)
    at_ns = next((view.t_ns for view in declarations if view.id == event), 0)
    later = any(call.id in receipt.withdrawn and call.t_ns > at_ns for call in calls)
    gone = any(view.id in receipt.set_aside and not view.set_aside for view in declarations)
    return UndoPreview(lines=receipt_lines(calls, declarations, receipt), more=later or gone)


@router.post("/commands", "operator", tags=["rig"], summary="Send the rig a command")
def command(
    game_service: GameServiceDep,
    by: SubmissionDep,
    request: Annotated[Command, Body(examples=[{"command": "record", "on": True}])],
) -> Accepted:
    """Recalibrate, record, suspend, find the figures, start a game, set the rulebook."""
    if request.command == "use_calibration" and by.role != "admin":
        raise ProblemError(403, "Only an admin may use a calibration made elsewhere.")
    return accepted(game_service.command(request, by))


def _made_ago(by: Submission, ago_ms: int) -> Submission:
    """Return where something made a while ago comes from; the record says of what a device had to keep when."""
    kept = f" (tapped {ago_ms / 1000:.0f} s before it arrived)" if ago_ms > _KEPT_MS else ""
    return replace(by, by=by.by + kept, ago_ms=ago_ms)


card_router = AuthorizedRouter(tags=["play"])

_NO_PICTURE: Final = (
    f"This is no photo that can be read. Give a PNG, JPEG or WebP file of at most {MAX_UPLOAD_BYTES >> 20} MiB."
)


class CardPhotoView(TopicModel):
    """What a photo of play cards shows."""

    lines: tuple[str, ...] = Field(
        description='The five windows: black, red and blue result, each with its dot, such as "-2 black, 3 red, inc". A'
        " question mark stands for what is not read surely."
    )
    unread: str = Field(description="What a person must fill in; empty when all is read.")


@card_router.post(
    "/api/card-photo", "operator", summary="Read the windows of play cards from a photo", openapi_extra=PICTURE_BODY
)
async def card_photo(request: Request) -> CardPhotoView:
    """A JPEG, PNG or WebP file of at most 1 MiB as the body. Nothing is declared and nothing kept."""
    reading = await run_in_threadpool(_read, await request.body())
    if reading.problem:
        raise ProblemError(422, f"{reading.problem[:1].upper()}{reading.problem[1:]}.")
    return CardPhotoView(lines=window_lines(reading), unread=unread_text(reading))


def _read(data: bytes) -> CardReading:
    photo = decode_uploaded(data)
    if photo is None:
        raise ProblemError(422, _NO_PICTURE)
    return read_card(np.asarray(photo, dtype=np.uint8))
