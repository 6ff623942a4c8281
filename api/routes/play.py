"""Running the game: declarations, calls, rulings, taking back, commands."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Body, Query

from downfield.api.problems import ProblemError, refusal_problem
from downfield.api.requests import (
    CallId,
    DeclarationRequest,
    EventId,
    IdempotencyKey,
    ManualCallRequest,
    RulingRequest,
    UndoRequest,
)
from downfield.api.security.roles import PrincipalDep, allow
from downfield.api.services import GameServiceDep, HubDep
from downfield.game.commands import Command
from downfield.game.published.board_topics import SceneView
from downfield.game.published.game_topics import CallView, DeclarationView, GameView, Questions
from downfield.game.receipts import Accepted, Receipt, Refused, Said
from downfield.officiating.calls import Verdict
from downfield.officiating.events import Ruling

router = APIRouter(prefix="/api")


@router.get("/state", tags=["feed"], summary="Everything that is true now")
@allow("viewer")
def state(hub: HubDep) -> dict[str, object]:
    """A snapshot of every topic, as the feed begins with."""
    now = hub.snapshot()
    return {"epoch": now.epoch, "seq": now.seq, "at_ms": now.at_ms, "data": now.data}


@router.get("/game", tags=["play"], summary="The game in play")
@allow("viewer")
def game(hub: HubDep) -> GameView:
    """What a score bug shows."""
    now: GameView | None = hub.value("game")
    if now is None:
        raise ProblemError(404, "no game is being played: begin one with POST /api/games", "no_game")
    return now


@router.get("/scene", tags=["play"], summary="Where everybody is")
@allow("viewer")
def scene(hub: HubDep) -> SceneView:
    """The latest scene."""
    now: SceneView | None = hub.value("scene")
    if now is None:
        raise ProblemError(404, "nothing has been seen yet: see /readyz")
    return now


@router.get("/questions", tags=["play"], summary="What waits for a person")
@allow("viewer")
def questions(hub: HubDep) -> Questions:
    """Calls too close or proposed, with both readings; dice, coins and choices."""
    now: Questions | None = hub.value("questions")
    return now or Questions()


@router.get("/calls", tags=["calls"], summary="The calls of the game in play")
@allow("viewer")
def calls(
    game_service: GameServiceDep,
    verdict: Annotated[Verdict | None, Query(description="Only calls of this verdict.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="The latest so many.")] = 200,
) -> list[CallView]:
    """In the order they were made; the last is the latest."""
    return [call for call in game_service.calls() if verdict is None or call.verdict == verdict][-limit:]


@router.get("/calls/{call}", tags=["calls"], summary="One call")
@allow("viewer")
def call(game_service: GameServiceDep, call: CallId) -> CallView:
    """With its clause, margin, error, readings and ruling."""
    found = next((one for one in game_service.calls() if one.id == call), None)
    if found is None:
        raise ProblemError(404, "no call of this game has that id", "unknown")
    return found


@router.post("/calls", tags=["calls"], summary="Make a call by hand")
@allow("operator")
def make_call(
    game_service: GameServiceDep,
    hub: HubDep,
    caller: PrincipalDep,
    asked: ManualCallRequest,
    key: IdempotencyKey = None,
) -> Accepted:
    """A call the system did not make; it takes effect like any other."""
    now = game(hub)
    name = f"manual:{key or secrets.token_hex(6)}"
    made = asked.made(name, 0, now.rulebook)
    return _answer(game_service.rule(Ruling("", "manual", made, asked.note), Said(caller.name, key, asked.ago_ms)))


@router.post("/calls/{call}/rulings", tags=["calls"], summary="Confirm, overturn or strike one call")
@allow("operator")
def rule(
    game_service: GameServiceDep,
    hub: HubDep,
    caller: PrincipalDep,
    call: CallId,
    asked: RulingRequest,
    key: IdempotencyKey = None,
) -> Accepted:
    """Everything after the call is judged anew; nothing else changes."""
    replacement = None
    if asked.replacement is not None:
        if asked.decision != "overturn":
            raise ProblemError(422, f"{asked.decision}: only what is overturned has a replacement")
        standing = next((one for one in game_service.calls() if one.id == call), None)
        t_ns = 0 if standing is None else standing.t_ns
        replacement = asked.replacement.made(call, t_ns, game(hub).rulebook)
    ruling = Ruling(call, asked.decision, replacement, asked.note)
    return _answer(game_service.rule(ruling, Said(caller.name, key, asked.ago_ms)))


@router.get("/declarations", tags=["play"], summary="What was declared and ruled in the game in play")
@allow("viewer")
def declared(game_service: GameServiceDep, limit: Annotated[int, Query(ge=1, le=1000)] = 200) -> list[DeclarationView]:
    """In order; the last is the latest."""
    return list(game_service.declared())[-limit:]


@router.post("/declarations", tags=["play"], summary="Declare something")
@allow("operator")
def declare(
    game_service: GameServiceDep, caller: PrincipalDep, asked: DeclarationRequest, key: IdempotencyKey = None
) -> Accepted:
    """Who has the ball, set, a pass, a pitch, dice, a coin, the clock, a line-up, a correction of the state..."""
    return _answer(game_service.declare(asked.declaration, Said(caller.name, key, asked.ago_ms)))


@router.post("/events/{event}/undo", tags=["play"], summary="Take back one declaration or ruling")
@allow("operator")
def undo(
    game_service: GameServiceDep,
    caller: PrincipalDep,
    event: EventId,
    asked: UndoRequest | None = None,
    key: IdempotencyKey = None,
) -> Accepted:
    """As if it had never come in, whatever came after it."""
    return _answer(game_service.undo(event, Said(caller.name, key, 0 if asked is None else asked.ago_ms)))


@router.post("/commands", tags=["rig"], summary="Ask something of the rig")
@allow("operator")
def command(
    game_service: GameServiceDep,
    caller: PrincipalDep,
    asked: Annotated[Command, Body(examples=[{"command": "record", "on": True}])],
    key: IdempotencyKey = None,
) -> Accepted:
    """Recalibrate, record, suspend, find the figures, begin a game, set the rulebook."""
    if asked.command == "use_calibration" and caller.role != "admin":
        raise ProblemError(403, "only an admin sets a calibration made elsewhere")
    return _answer(game_service.command(asked, Said(caller.name, key)))


def _answer(receipt: Receipt) -> Accepted:
    if isinstance(receipt, Refused):
        raise refusal_problem(receipt)
    return receipt
