"""The league's policies: what may be done with calls of a kind without a person, set from how such calls fared."""

from __future__ import annotations

from typing import Annotated, get_args

from fastapi import APIRouter, Path
from pydantic import Field

from downfield.api.context.access_control import RepeatableRoute
from downfield.api.context.context import GameServiceDep, ReviewerDep
from downfield.api.routes.review.rulings import PersonName, signed
from downfield.api.security.roles import allow
from downfield.game.records.models import RequestModel, TopicModel
from downfield.game.service import GameService
from downfield.officiating.calls import CallKind, Policy

router = APIRouter(prefix="/api/policies", tags=["games"], route_class=RepeatableRoute)

Kind = Annotated[CallKind, Path(description="Kind of call.")]


class PolicyView(TopicModel):
    """What may be done with calls of one kind without a person."""

    kind: CallKind
    policy: Policy = Field(
        description="auto: the rulebook calls; propose: a person confirms each; log: only noted. From the next game on."
    )
    rulebook_policy: Policy = Field(description="What the rulebook says by itself.")
    set_by: str = Field(default="", description="Who set it; empty where it is the rulebook's.")
    set_ms: int | None = Field(default=None, description="Wall clock, ms since 1970.")


class PolicyRequest(RequestModel):
    """A policy for a kind of call."""

    policy: Policy | None = Field(description="null for what the rulebook says.")
    name: PersonName = ""


@router.get("", summary="What may be done with calls without a person, by kind")
@allow("viewer")
def policies(game_service: GameServiceDep) -> list[PolicyView]:
    """As it is for games that are started from now on; a game's journal holds what it was played under."""
    return _views(game_service)


@router.put("/{kind}", summary="Set what may be done with calls of a kind without a person")
@allow("operator")
def set_policy(
    game_service: GameServiceDep, principal: ReviewerDep, kind: Kind, request: PolicyRequest
) -> list[PolicyView]:
    """From the next game on; kept with who set it. For those who may reopen finished games."""
    game_service.policies.set(kind, request.policy, signed(request.name, principal))
    return _views(game_service)


def _views(game_service: GameService) -> list[PolicyView]:
    latest, rulebook = game_service.policies.latest(), game_service.rulebook
    found = []
    for kind in get_args(CallKind):
        own, change = rulebook.policy(kind), latest.get(kind)
        if change is None or change.policy is None:
            found.append(PolicyView(kind=kind, policy=own, rulebook_policy=own))
        else:
            found.append(
                PolicyView(
                    kind=kind,
                    policy=change.policy,
                    rulebook_policy=own,
                    set_by=change.by,
                    set_ms=change.at_ns // 1_000_000,
                )
            )
    return found
