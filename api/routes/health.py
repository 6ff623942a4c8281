"""Liveness, readiness, metrics, and who the rig is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from typing import Final, Literal

from fastapi import Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import AppContextDep, HubDep, RigParts, RigPartsDep
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import sends
from downfield.broadcast.integrations.webhook import STATUSES
from downfield.game.published.board_topics import HealthStatus
from downfield.game.published.game_topics import Questions
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
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Metrics(context.rig, context.responses))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class _Metrics(Collector):
    def __init__(self, rig: RigParts, responses: Counter[tuple[str, int]]) -> None:
        self._rig, self._responses = rig, responses

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        yield from self._collect_health()
        calls = CounterMetricFamily("downfield_calls", "Calls that stand in this game.", labels=["kind", "verdict"])
        made = Counter((call.kind, call.verdict) for call in self._rig.game_service.calls())
        for (kind, verdict), count in made.items():
            calls.add_metric([kind, verdict], count)
        yield calls
        questions = self._rig.hub.value("questions")
        open_questions = len(questions.questions) if isinstance(questions, Questions) else 0
        yield GaugeMetricFamily("downfield_questions", "Questions that wait for a person.", value=open_questions)
        yield GaugeMetricFamily("downfield_feed_subscribers", "Open feeds.", value=self._rig.hub.subscribers)
        yield GaugeMetricFamily("downfield_camera_watchers", "Open camera pictures.", value=self._rig.picture.watchers)
        yield CounterMetricFamily("downfield_feed_messages", "Messages published.", value=self._rig.hub.seq)
        responses = CounterMetricFamily("downfield_http_responses", "HTTP responses.", labels=["method", "status"])
        for (method, status), count in sorted(self._responses.items()):
            responses.add_metric([method, str(status)], count)
        yield responses
        sent = CounterMetricFamily("downfield_webhook_deliveries", "Deliveries.", labels=["to", "status"])
        waiting = GaugeMetricFamily("downfield_webhook_waiting", "Deliveries that wait.", labels=["to"])
        for to in sorted({webhook.to for webhook in self._rig.webhooks}):  # several addresses may be of one host
            there = [webhook for webhook in self._rig.webhooks if webhook.to == to]
            for outcome in STATUSES:
                sent.add_metric([to, outcome], sum(webhook.counts[outcome] for webhook in there))
            waiting.add_metric([to], sum(len(webhook.deliveries()[0]) for webhook in there))
        yield from (sent, waiting)

    def _collect_health(self) -> Iterator[Metric]:
        health = self._rig.hub.value("health")
        if not isinstance(health, HealthStatus):
            return
        level = {"ok": 0, "warning": 1, "alarm": 2}[health.level]
        yield GaugeMetricFamily("downfield_health_level", "0 ok, 1 warning, 2 alarm.", value=level)
        yield GaugeMetricFamily("downfield_calls_on", "1 while the camera makes calls.", value=health.calls == "on")
        yield CounterMetricFamily("downfield_frames", "Captured frames.", value=health.frames)
        yield CounterMetricFamily("downfield_frames_dropped", "Dropped frames.", value=health.dropped)
        yield CounterMetricFamily("downfield_frames_damaged", "Frames that can't be decoded.", value=health.damaged)
        yield GaugeMetricFamily("downfield_recording", "1 while recording.", value=health.recording.on)
        behind = health.store == "behind"
        yield GaugeMetricFamily("downfield_store_behind", "1 while declarations wait for the disk.", value=behind)
        measured = {
            "downfield_frames_per_second": ("Frames per second.", health.fps),
            "downfield_latency_p50_ms": ("Capture-to-publish latency, median, ms.", health.latency_ms),
            "downfield_latency_p99_ms": ("Capture-to-publish latency, 99th percentile, ms.", health.latency_p99_ms),
            "downfield_calibration_rms_px": ("Residual of the calibration, pixels.", health.calibration_rms_px),
            "downfield_disk_free_gb": ("Disk space left for recordings, GB.", health.recording.free_gb),
        }
        for name, (about, value) in measured.items():
            if value is not None:
                yield GaugeMetricFamily(name, about, value=value)
