"""What the settings of the stream mean for the service."""

from __future__ import annotations

from downfield.api.replay.director import ReplayOptions
from downfield.rig.configuration.settings import RigSettings, data_folder
from downfield.rig.sources.source_opening import is_recording


def replay_options(settings: RigSettings) -> ReplayOptions:
    """Return how replays are made; those of a recording shown again are not kept."""
    kept = settings.stream.keep_replays and not is_recording(settings.source.name)
    folder = data_folder(settings) / "replays" if kept else None
    return ReplayOptions(settings.stream.replay == "auto", folder, settings.stream.keep_replays)
