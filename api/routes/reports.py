"""Reports of a game, how the calls of all games fared, and the league's policies that are set from it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final, Literal, get_args

from fastapi import Path, Query, Response
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import GameServiceDep, ReviewerDep, RigPartsDep, StoreDep, part_of_context
from downfield.api.http.requests import sends, sent_file
from downfield.api.routes.games import HistoryDep
from downfield.api.routes.rulings import PersonName, signed
from downfield.core.errors import BusyError, NotFoundError
from downfield.core.files.csv_text import csv_text
from downfield.core.records import made_of
from downfield.game.records.models import RequestModel, TopicModel
from downfield.game.service import GameService
from downfield.officiating.calls import CallKind, Policy
from downfield.review.reports.game_report import RecentReport
from downfield.review.reports.shadow import ShadowReport, call_outcomes
from downfield.store.history import History

REPORT_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
"""A report has its style in it, and loads nothing."""

router = AuthorizedRouter(prefix="/api", tags=["games"])

_working = threading.BoundedSemaphore(1)


RecentReportDep = Annotated[RecentReport, part_of_context(lambda context: context.recent_report)]


class CallOutcomesView(TopicModel):
    """How the calls of one kind fared with people."""

    kind: CallKind
    called: int = Field(description="Made by the rulebook alone, and never disputed.")
    confirmed: int
    overturned: int = Field(description="Overturned or struck.")
    too_close: int = Field(description="Too close to call, whoever decided them later.")
    open: int = Field(description="Decided by nobody yet.")
    by_hand: int = Field(description="Made by a person, because the rulebook had not.")
    overturned_share: float | None = Field(description="Of people's decisions; null where there were none.")
    suggestion: Policy | None = Field(description="The policy that this suggests; null for none.")
    why: str = Field(description="Why, in words.")


@router.get("/games/{game}/report.html", "viewer", summary="A game's report for print", **sends("text/html"))
def report(history: HistoryDep, rig: RigPartsDep, recent: RecentReportDep) -> Response:
    """Box score, drives, play by play, figures, heat maps and play diagrams in one file that loads nothing."""
    public_key = "" if rig.bundles is None else rig.rig_key.public_text  # a review signs nothing
    with _alone():
        page = recent.of(rig.store, history).html(public_key)
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


@router.get(
    "/games/{game}/shadow.html",
    "operator",
    summary="The machine's calls in the shadow of a game, compared with what people declared",
    **sends("text/html"),
)
def shadow_report(history: HistoryDep, store: StoreDep) -> Response:
    """By kind and play by play, for print; 404 for a game that was not played in shadow mode."""
    with _alone():
        found = ShadowReport(store, history.row)
        if not found.starts:
            raise NotFoundError(f"Game {history.row.id} was not played in shadow mode.")
        page = found.html()
    return Response(page, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": REPORT_POLICY})


@router.get("/games/{game}/report/{table}.csv", "viewer", summary="One table of a game's report", **sends("text/csv"))
def report_table(
    history: HistoryDep,
    store: StoreDep,
    recent: RecentReportDep,
    table: Literal["plays", "drives", "box", "figures", "calls"],
) -> Response:
    """For spreadsheets: play by play, drive chart, box score, statistics by figure, or how the calls fared."""
    with _alone():
        found = recent.of(store, history).csv(table)
    return sent_file(f"{history.row.id}.{table}.csv", csv_text(found.head, found.rows), "text/csv; charset=utf-8")


@router.get("/call-outcomes", "viewer", summary="How the calls of the latest games fared, by kind")
def outcomes(
    store: StoreDep, games: Annotated[int, Query(ge=1, le=200, description="How many games, the latest.")] = 50
) -> list[CallOutcomesView]:
    """From it a league sets which kinds of calls need no person (policy `auto`), and which do (`propose`).

    `PUT /api/policies/{kind}` sets it.
    """
    with _alone():
        found = call_outcomes(History(store, row) for row in store.games(games))
        return [
            made_of(CallOutcomesView, one, suggestion=one.suggestion.policy, why=one.suggestion.why) for one in found
        ]


@contextmanager
def _alone() -> Iterator[None]:
    """Make one report at a time, so that the referee keeps a core."""
    if not _working.acquire(blocking=False):
        raise BusyError("Another report is being made. Try again in a few seconds.")
    try:
        yield
    finally:
        _working.release()


policy_router = AuthorizedRouter(prefix="/api/policies", tags=["games"])

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


@policy_router.get("", "viewer", summary="What may be done with calls without a person, by kind")
def policies(game_service: GameServiceDep) -> list[PolicyView]:
    """As it is for games that are started from now on; a game's journal holds what it was played under."""
    return _views(game_service)


@policy_router.put("/{kind}", "operator", summary="Set what may be done with calls of a kind without a person")
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
