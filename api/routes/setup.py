"""The setup of games: teams, rulebooks and policies, calibration, configuration."""

from __future__ import annotations

import time
from typing import Annotated, Any, Final, get_args

from fastapi import Body, Path, Response
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import GameServiceDep, ReviewerDep, StoreDep, SubmissionDep
from downfield.api.http.problems import ProblemError, accepted
from downfield.api.http.requests import TeamId, TeamRequest, sends
from downfield.api.routes.rulings import PersonName, signed
from downfield.api.table_setup import draw_field_lines, draw_residuals
from downfield.calibration.calibration import Calibration
from downfield.core.records import made_of
from downfield.game.receipts import Accepted
from downfield.game.records.commands import Settings, UseCalibration
from downfield.game.records.models import RequestModel, TopicModel
from downfield.game.service import GameService
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Policy
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
from downfield.officiating.rulebooks.installed import installed_rulebooks, load_systems
from downfield.officiating.rulebooks.rulebook import load_rulebook

router = AuthorizedRouter(prefix="/api")

MAX_TEAMS: Final = 500


class TeamDetails(TeamRequest):
    """A team with its roster."""

    id: str


class RulebookSummary(TopicModel):
    """A rulebook."""

    name: str
    title: str


class ParameterDetails(TopicModel):
    """A parameter of a rulebook."""

    name: str
    value: Any
    unit: str
    reason: str
    changed: bool = Field(description="Whether the rulebook changes the value of its system.")


class ClauseDetails(TopicModel):
    """A clause of a rulebook."""

    id: str
    topic: str
    text: str
    how: str = Field(description="measured, declared, checked or outside.")


class RulebookDetails(RulebookSummary):
    """A rulebook with its parameters and clauses."""

    params: tuple[ParameterDetails, ...]
    clauses: tuple[ClauseDetails, ...]


@router.get("/teams", "viewer", tags=["teams"], summary="Teams with their rosters")
def teams(store: StoreDep) -> list[TeamDetails]:
    """In the order of their ids."""
    return [_team(team, content) for team, content in store.teams().items()]


@router.get("/teams/{team}", "viewer", tags=["teams"], summary="One team")
def team(store: StoreDep, team: TeamId) -> TeamDetails:
    """With its roster."""
    content = store.teams().get(team)
    if content is None:
        raise ProblemError(404, f"There is no team {team!r}. GET /api/teams lists them.")
    return _team(team, content)


@router.put("/teams/{team}", "operator", tags=["teams"], summary="Save a team")
def save_team(store: StoreDep, team: TeamId, request: TeamRequest) -> TeamDetails:
    """Replaces a team with the same id."""
    ids = [player.id for player in request.players]
    if len(set(ids)) < len(ids):
        raise ProblemError(422, "Two players have the same id. Give each player an id of its own.")
    if len(store.teams()) >= MAX_TEAMS and team not in store.teams():
        raise ProblemError(409, f"{MAX_TEAMS} teams are saved. Remove one first.", "not_now")
    store.keep_team(team, request.model_dump_json(), time.time_ns())
    return _team(team, request.model_dump_json())


@router.delete("/teams/{team}", "operator", tags=["teams"], summary="Remove a team", status_code=204)
def drop_team(store: StoreDep, team: TeamId) -> Response:
    """Games it played stay as they are."""
    if not store.drop_team(team):
        raise ProblemError(404, f"There is no team {team!r}. GET /api/teams lists them.")
    return Response(status_code=204)


@router.get("/rulebooks", "viewer", tags=["rulebooks"], summary="The installed rulebooks")
def rulebooks() -> list[RulebookSummary]:
    """House rules in files of your own are not listed."""
    return [RulebookSummary(name=system.name, title=system.title) for system in load_systems()[0]]


@router.get("/rulebooks/{name}", "viewer", tags=["rulebooks"], summary="One rulebook")
def rulebook(name: Annotated[str, Path(pattern=r"^[a-z0-9-]{1,40}$", examples=[DEFAULT_RULEBOOK])]) -> RulebookDetails:
    """Every parameter with its reason, and every clause with how it is decided."""
    if name not in installed_rulebooks():
        raise ProblemError(404, f"There is no rulebook {name!r}. The rulebooks are {', '.join(installed_rulebooks())}.")
    book = load_rulebook(name)
    params = tuple(
        made_of(ParameterDetails, param, value=book.params[param.name], changed=param.name in book.values)
        for param in book.params.definitions.values()
    )
    clauses = tuple(made_of(ClauseDetails, clause, id=name) for name, clause in book.clauses.items())
    return RulebookDetails(name=name, title=book.title, params=params, clauses=clauses)


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


@router.get("/policies", "viewer", tags=["games"], summary="What may be done with calls without a person, by kind")
def policies(game_service: GameServiceDep) -> list[PolicyView]:
    """As it is for games that are started from now on; a game's journal holds what it was played under."""
    return _views(game_service)


@router.put(
    "/policies/{kind}", "operator", tags=["games"], summary="Set what may be done with calls of a kind without a person"
)
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
        view = PolicyView(kind=kind, policy=own, rulebook_policy=own)
        if change is not None and change.policy is not None:
            update = {"policy": change.policy, "set_by": change.by, "set_ms": change.at_ns // 1_000_000}
            view = view.model_copy(update=update)
        found.append(view)
    return found


@router.get("/calibration", "viewer", tags=["rig"], summary="The calibration in use")
def calibration(game_service: GameServiceDep) -> Calibration:
    """As in its file; see docs/formats.md."""
    return _calibration(game_service)


@router.get(
    "/calibration/residuals.svg",
    "viewer",
    tags=["rig"],
    summary="The calibration's residuals as a drawing",
    **sends("image/svg+xml"),
)
def calibration_residuals(game_service: GameServiceDep) -> Response:
    """The residual of each part of the field, in millimeters."""
    return Response(draw_residuals(_calibration(game_service)), media_type="image/svg+xml")


@router.get(
    "/calibration/field.svg",
    "viewer",
    tags=["rig"],
    summary="The calibrated field as the camera sees it",
    **sends("image/svg+xml"),
)
def calibrated_field(game_service: GameServiceDep) -> Response:
    """The printed lines where the calibration puts them, to be laid over the camera picture."""
    return Response(draw_field_lines(_calibration(game_service)), media_type="image/svg+xml")


@router.put("/calibration", "admin", tags=["rig"], summary="Use a calibration made elsewhere")
def use_calibration(
    game_service: GameServiceDep, by: SubmissionDep, calibration: Annotated[Calibration, Body()]
) -> Accepted:
    """The content of a `*.calibration.json` file."""
    return accepted(game_service.command(UseCalibration(calibration=calibration), by))


@router.get("/configuration", "admin", tags=["rig"], summary="The configuration in force")
def configuration(game_service: GameServiceDep) -> Settings:
    """Without secrets."""
    return game_service.settings()


def _team(team: str, content: str) -> TeamDetails:
    return TeamDetails(id=team, **TeamRequest.model_validate_json(content).model_dump())


def _calibration(game_service: GameServiceDep) -> Calibration:
    calibration = game_service.calibration()
    if calibration is None:
        raise ProblemError(404, "The camera is not calibrated yet. Send the command recalibrate to /api/commands.")
    return calibration
