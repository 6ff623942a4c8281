"""What the settings of the stream mean: how replays are made, and which programs are notified of the game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from downfield.broadcast.integrations.documents import FilesOutlet
from downfield.broadcast.integrations.mqtt import MqttOptions, MqttOutlet
from downfield.broadcast.integrations.obs import ObsOptions, ObsOutlet
from downfield.broadcast.integrations.outlets import Outlet
from downfield.broadcast.integrations.webhook import WebhookOutlet
from downfield.broadcast.replay.director import ReplayOptions
from downfield.capture.sources.source_types import is_recording
from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.rig.configuration.settings import RigSettings, data_folder


def replay_options(settings: RigSettings) -> ReplayOptions:
    """Return how replays are made; those of a recording shown again are not kept."""
    kept = settings.stream.keep_replays and not is_recording(settings.source.name)
    folder = data_folder(settings) / "replays" if kept else None
    return ReplayOptions(settings.stream.replay == "auto", folder, settings.stream.keep_replays)


def outlets_of(settings: RigSettings, report: Callable[[str], None]) -> list[Outlet]:
    """Return the programs that are notified of the game, none by default; they report what they refuse, as sentences.

    Raises:
        MissingExtraError: one needs a library that is not installed.
    """
    outlets: list[Outlet] = []
    obs, webhook, mqtt = settings.obs, settings.webhook, settings.mqtt
    if obs.address:
        outlets.append(ObsOutlet(ObsOptions(obs.address, obs.password, obs.scene, obs.replay_buffer), report))
    for url in webhook.url.split():
        folder = data_folder(settings) / "webhooks"
        outlets.append(WebhookOutlet(url, webhook.signing_key, states=webhook.states, report=report, folder=folder))
    if mqtt.address:
        outlets.append(MqttOutlet(MqttOptions(**mqtt.model_dump(), table=settings.rig.table)))
    if settings.output.folder:
        outlets.append(FilesOutlet(Path(settings.output.folder).expanduser()))
    return outlets


def with_webhooks(health: HealthStatus, outlets: Sequence[Outlet]) -> HealthStatus:
    """Return a rig's health with the webhooks that take nothing."""
    failing = [outlet.to for outlet in outlets if isinstance(outlet, WebhookOutlet) and outlet.is_failing]
    if not failing:
        return health
    text = f"No webhook takes deliveries at {', '.join(failing)}. The game goes on"
    remedy = "See the page of the webhooks. What waits is tried again for a day"
    return health.with_reason(HealthReason(code="webhook_waits", level="warning", text=text, remedy=remedy))
