"""What Prometheus scrapes: read from the hub, the game service and the door when it asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from downfield.api.feed.hub import Hub
from downfield.api.feed.latest_picture import LatestPicture
from downfield.game.published.board_topics import HealthStatus
from downfield.game.published.game_topics import Questions
from downfield.game.receipts import Desk


class Metrics(Collector):
    """The service's metrics.

    Args:
        game_service, hub, picture: what is measured.

    """

    def __init__(self, game_service: Desk, hub: Hub, picture: LatestPicture) -> None:
        self._game_service, self._hub, self._picture = game_service, hub, picture
        self.answered: Counter[tuple[str, int]] = Counter()
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Everything, now."""
        yield from self._of_health()
        calls = CounterMetricFamily(
            "downfield_calls", "Calls of the game in play that stand.", labels=["kind", "verdict"]
        )
        for (kind, verdict), count in Counter((call.kind, call.verdict) for call in self._game_service.calls()).items():
            calls.add_metric([kind, verdict], count)
        yield calls
        questions = self._hub.value("questions")
        waiting = len(questions.questions) if isinstance(questions, Questions) else 0
        yield GaugeMetricFamily("downfield_questions", "What waits for a person.", value=waiting)
        yield GaugeMetricFamily("downfield_feed_clients", "Open feeds.", value=self._hub.subscribers)
        yield GaugeMetricFamily("downfield_camera_watchers", "Open camera pictures.", value=self._picture.watchers)
        yield CounterMetricFamily("downfield_feed_changes", "Changes published.", value=self._hub.seq)
        answers = CounterMetricFamily("downfield_answers", "Requests answered.", labels=["method", "status"])
        for (method, status), count in sorted(self.answered.items()):
            answers.add_metric([method, str(status)], count)
        yield answers

    def _of_health(self) -> Iterator[Metric]:
        health = self._hub.value("health")
        if not isinstance(health, HealthStatus):
            return
        level = {"ok": 0, "warning": 1, "alarm": 2}[health.level]
        yield GaugeMetricFamily("downfield_health_level", "0 ok, 1 warning, 2 alarm.", value=level)
        yield GaugeMetricFamily("downfield_calls_on", "Whether the camera makes calls.", value=health.calls == "on")
        yield CounterMetricFamily("downfield_frames", "Frames taken.", value=health.frames)
        yield CounterMetricFamily("downfield_frames_dropped", "Frames lost.", value=health.dropped)
        yield GaugeMetricFamily("downfield_recording", "Whether it records.", value=health.recording.on)
        yield GaugeMetricFamily("downfield_store_behind", "Whether the disk is behind.", value=health.store == "behind")
        measured = {
            "downfield_frames_per_second": ("Frames taken a second.", health.fps),
            "downfield_latency_p50_ms": ("From capture to publication, median.", health.latency_ms),
            "downfield_latency_p99_ms": ("From capture to publication, 99th percentile.", health.latency_p99_ms),
            "downfield_calibration_rms_px": ("Residual of the calibration.", health.calibration_rms_px),
            "downfield_disk_free_gb": ("Free for recordings.", health.recording.free_gb),
        }
        for name, (about, value) in measured.items():
            if value is not None:
                yield GaugeMetricFamily(name, about, value=value)
