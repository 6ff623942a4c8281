"""Liveness, readiness, metrics, and who the rig is."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final, Literal

from fastapi import Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import AppContextDep, HubDep, RigPartsDep
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import sends
from downfield.game.published.board_topics import HealthStatus
from downfield.game.records.models import TopicModel

STALE_S: Final = 5.0  # Health is published once a second; after this long its publisher has died

router = AuthorizedRouter(tags=["health"])


class ServiceStatus(TopicModel):
    """The service is well."""

    status: Literal["ok"] = "ok"


class AboutRig(TopicModel):
    """Which program this is, and the key that its signatures are checked with."""

    version: str = Field(description="Of Downfield.")
    public_key: str = Field(description="The rig's Ed25519 key: `ed25519:` and 32 bytes in URL-safe base64.")


@router.get("/about", "anyone", summary="The version, and the rig's public key")
def about(rig: RigPartsDep) -> AboutRig:
    """Compare the key with what `downfield verify` names: it says which rig a bundle comes from."""
    return AboutRig(version=version("downfield"), public_key=rig.rig_key.public_text)


@router.get("/healthz", "anyone", summary="Whether the process answers")
def healthz() -> ServiceStatus:
    """Nothing else is checked."""
    return ServiceStatus()


@router.get("/readyz", "anyone", summary="Whether calls can be made now")
def readyz(hub: HubDep) -> ServiceStatus:
    """Needs fresh frames, a calibration, and disk space; 503 with the reasons if something is missing."""
    health = hub.value("health")
    if not isinstance(health, HealthStatus) or hub.age_s("health") > STALE_S:
        raise ProblemError(503, f"The rig has not reported its health for {STALE_S:.0f} s.", "no_health")
    if health.level == "alarm" or health.calls == "suspended":
        reasons = "; ".join(reason.text for reason in health.reasons) or health.text or "Calls are suspended."
        raise ProblemError(503, reasons, next((reason.code for reason in health.reasons), "suspended"))
    return ServiceStatus()


@router.get("/metrics", "viewer", summary="Metrics for Prometheus", **sends("text/plain"))
def metrics(context: AppContextDep) -> Response:
    """Frames, latency, calls by kind and verdict, open feeds, responses by status."""
    return Response(context.metrics.text(), media_type=CONTENT_TYPE_LATEST)
