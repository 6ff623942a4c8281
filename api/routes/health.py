"""Whether the service lives, whether the rig can judge, and the metrics."""

from __future__ import annotations

from typing import Final, Literal

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from downfield.api.metrics import Metrics
from downfield.api.problems import ProblemError
from downfield.api.security.roles import allow
from downfield.api.services import HubDep
from downfield.game.published.board_topics import HealthStatus
from downfield.game.published.game_topics import TopicModel

STALE_S: Final = 5.0
"""Health is told once a second: after this long whoever tells it has died."""

router = APIRouter(tags=["health"])


class Living(TopicModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


@router.get("/healthz", summary="Whether the process answers")
@allow("anyone")
def healthz() -> Living:
    """Nothing else is looked at."""
    return Living()


@router.get("/readyz", summary="Whether calls can be made now")
@allow("anyone")
def readyz(hub: HubDep) -> Living:
    """A fresh frame, a calibration, room on the disk: 503 with the reasons when something is missing."""
    health = hub.value("health")
    if not isinstance(health, HealthStatus) or hub.age_s("health") > STALE_S:
        raise ProblemError(503, "the rig has told nothing of its health for 5 s", "no_health")
    if health.level == "alarm" or health.calls == "suspended":
        reasons = "; ".join(reason.text for reason in health.reasons) or health.text or "calls are suspended"
        raise ProblemError(503, reasons, next((reason.code for reason in health.reasons), "suspended"))
    return Living()


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
@allow("viewer")
def metrics(request: Request) -> Response:
    """Frames, latency, calls by kind and verdict, feeds, answers by status."""
    measured: Metrics = request.app.state.metrics
    return Response(measured.text(), media_type=CONTENT_TYPE_LATEST)
