"""What a game is played with: teams, rulebooks, calibration, configuration."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Response
from pydantic import Field

from downfield.api.drawings.field import field_picture
from downfield.api.drawings.residuals import residual_picture
from downfield.api.problems import ProblemError, refusal_problem
from downfield.api.requests import IdempotencyKey, TeamId, TeamRequest
from downfield.api.security.principal import PrincipalDep
from downfield.api.security.roles import allow
from downfield.api.services import GameServiceDep, StoreDep
from downfield.calibration.calibration import Calibration
from downfield.game.commands import Settings, UseCalibration
from downfield.game.published.game_topics import TopicModel
from downfield.game.receipts import Accepted, Refused, Said
from downfield.officiating.rulebooks.clauses import catalog, catalogs
from downfield.officiating.rulebooks.rulebook import bundled_rulebooks, load_rulebook

router = APIRouter(prefix="/api")

MOST_TEAMS = 500


class TeamRead(TeamRequest):
    """A team with its roster."""

    id: str


class RulebookListed(TopicModel):
    """A rulebook."""

    name: str
    title: str


class ParamRead(TopicModel):
    """One parameter of a rulebook."""

    name: str
    value: Any
    unit: str
    reason: str
    changed: bool = Field(description="Whether the rulebook sets it, instead of its system.")


class ClauseRead(TopicModel):
    """One clause of a rulebook."""

    id: str
    topic: str
    text: str
    how: str = Field(description="measured, declared, checked or outside.")


class RulebookRead(RulebookListed):
    """A rulebook with its parameters and clauses."""

    params: tuple[ParamRead, ...]
    clauses: tuple[ClauseRead, ...]


@router.get("/teams", tags=["teams"], summary="Teams with their rosters")
@allow("viewer")
def teams(store: StoreDep) -> list[TeamRead]:
    """In the order of their ids."""
    return [_team(team, content) for team, content in store.teams().items()]


@router.get("/teams/{team}", tags=["teams"], summary="One team")
@allow("viewer")
def team(store: StoreDep, team: TeamId) -> TeamRead:
    """With its roster, ready for a line-up."""
    content = store.teams().get(team)
    if content is None:
        raise ProblemError(404, f"no team is kept as {team!r}")
    return _team(team, content)


@router.put("/teams/{team}", tags=["teams"], summary="Keep a team")
@allow("operator")
def keep_team(store: StoreDep, team: TeamId, asked: TeamRequest) -> TeamRead:
    """In place of one of the same id."""
    ids = [player.id for player in asked.players]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        raise ProblemError(422, "players: two have the same id; every figure needs its own")
    if len(store.teams()) >= MOST_TEAMS and team not in store.teams():
        raise ProblemError(409, f"{MOST_TEAMS} teams are kept already: remove one", "not_now")
    store.keep_team(team, asked.model_dump_json(), time.time_ns())
    return _team(team, asked.model_dump_json())


@router.delete("/teams/{team}", tags=["teams"], summary="Remove a team", status_code=204)
@allow("operator")
def drop_team(store: StoreDep, team: TeamId) -> Response:
    """Games that were played with it are not touched."""
    if not store.drop_team(team):
        raise ProblemError(404, f"no team is kept as {team!r}")
    return Response(status_code=204)


@router.get("/rulebooks", tags=["rulebooks"], summary="The rulebooks that come with Downfield")
@allow("viewer")
def rulebooks() -> list[RulebookListed]:
    """House rules are files at the rig and are not listed."""
    return [RulebookListed(name=name, title=load_rulebook(name).title) for name in bundled_rulebooks()]


@router.get("/rulebooks/{name}", tags=["rulebooks"], summary="One rulebook")
@allow("viewer")
def rulebook(name: Annotated[str, Path(pattern=r"^[a-z0-9-]{1,40}$", examples=["tap"])]) -> RulebookRead:
    """Every parameter with its reason, every clause with how it is decided."""
    if name not in bundled_rulebooks():
        raise ProblemError(404, f"no rulebook is called {name!r}; there are {', '.join(bundled_rulebooks())}")
    book = load_rulebook(name)
    params = tuple(
        ParamRead(
            name=param.name,
            value=book.params[param.name],
            unit=param.unit,
            reason=param.reason,
            changed=param.name in book.values,
        )
        for param in book.params.definitions.values()
    )
    known = catalog(book.system.name).clauses if book.system.name in catalogs() else {}
    clauses = tuple(
        ClauseRead(id=name, topic=clause.topic, text=clause.text, how=clause.how) for name, clause in known.items()
    )
    return RulebookRead(name=name, title=book.title, params=params, clauses=clauses)


@router.get("/calibration", tags=["rig"], summary="The calibration in use")
@allow("viewer")
def calibration(game_service: GameServiceDep) -> Calibration:
    """As its file, `docs/formats.md`."""
    return _calibration(game_service)


@router.get(
    "/calibration/picture.svg",
    tags=["rig"],
    summary="The calibration's residuals, drawn",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}},
)
@allow("viewer")
def calibration_picture(game_service: GameServiceDep) -> Response:
    """The field in cells, each with its residual in millimeters."""
    return Response(residual_picture(_calibration(game_service)), media_type="image/svg+xml")


@router.get(
    "/calibration/field.svg",
    tags=["rig"],
    summary="The calibrated field as the camera sees it",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}},
)
@allow("viewer")
def calibrated_field(game_service: GameServiceDep) -> Response:
    """The printed lines where the calibration puts them, to lie over the camera's picture."""
    return Response(field_picture(_calibration(game_service)), media_type="image/svg+xml")


@router.put("/calibration", tags=["rig"], summary="Use a calibration made elsewhere")
@allow("admin")
def use_calibration(
    game_service: GameServiceDep,
    caller: PrincipalDep,
    asked: Annotated[Calibration, Body()],
    key: IdempotencyKey = None,
) -> Accepted:
    """A `*.calibration.json` as it is."""
    receipt = game_service.command(UseCalibration(calibration=asked), Said(caller.name, key))
    if isinstance(receipt, Refused):
        raise refusal_problem(receipt)
    return receipt


@router.get("/configuration", tags=["rig"], summary="The configuration in force")
@allow("admin")
def configuration(game_service: GameServiceDep) -> Settings:
    """Without secrets."""
    return game_service.settings()


def _team(team: str, content: str) -> TeamRead:
    return TeamRead(id=team, **TeamRequest.model_validate_json(content).model_dump())


def _calibration(game_service: GameServiceDep) -> Calibration:
    found = game_service.calibration()
    if found is None:
        raise ProblemError(404, "the camera is not calibrated yet: POST /api/commands with recalibrate")
    return found
