"""Metrics for Prometheus, read from the hub, the game and the security middleware on each request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from downfield.broadcast.latest_picture import LatestPicture
from downfield.game.published.board_topics import HealthStatus
from downfield.game.published.game_topics import Questions
from downfield.game.published.hub import Hub
from downfield.game.service import GameService


class PrometheusMetrics(Collector):
    """The service's metrics.

    Args:
        responses: counts responses by method and status.
    """

    def __init__(
        self, game_service: GameService, hub: Hub, picture: LatestPicture, responses: Counter[tuple[str, int]]
    ) -> None:
        self._game_service, self._hub, self._picture, self._responses = game_service, hub, picture, responses
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        yield from self._collect_health()
        calls = CounterMetricFamily("downfield_calls", "Calls that stand in this game.", labels=["kind", "verdict"])
        for (kind, verdict), count in Counter((call.kind, call.verdict) for call in self._game_service.calls()).items():
            calls.add_metric([kind, verdict], count)
        yield calls
        questions = self._hub.value("questions")
        open_questions = len(questions.questions) if isinstance(questions, Questions) else 0
        yield GaugeMetricFamily("downfield_questions", "Questions that wait for a person.", value=open_questions)
        yield GaugeMetricFamily("downfield_feed_subscribers", "Open feeds.", value=self._hub.subscribers)
        yield GaugeMetricFamily("downfield_camera_watchers", "Open camera pictures.", value=self._picture.watchers)
        yield CounterMetricFamily("downfield_feed_messages", "Messages published.", value=self._hub.seq)
        responses = CounterMetricFamily("downfield_http_responses", "HTTP responses.", labels=["method", "status"])
        for (method, status), count in sorted(self._responses.items()):
            responses.add_metric([method, str(status)], count)
        yield responses

    def _collect_health(self) -> Iterator[Metric]:
        health = self._hub.value("health")
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
