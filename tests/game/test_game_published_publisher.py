"""The published state says what is so now."""

from __future__ import annotations

import pytest

from downfield.core.field.model import preset
from downfield.game.published.board_topics import HealthStatus, SourceStatus
from downfield.game.published.hub import Hub
from downfield.game.published.publisher import StatePublisher


@pytest.mark.parametrize(
    ("live", "text", "shown"), [(True, "Ann's", "Bo's"), (True, "demo", "demo"), (False, "Ann's", "Ann's")]
)
def test_the_source_is_the_camera_that_took_the_place_of_the_one_that_was_opened(
    live: bool, text: str, shown: str
) -> None:
    hub = Hub()
    publisher = StatePublisher(hub, preset("ultimate"))
    publisher.publish_source(SourceStatus(kind="stream", name="Ann's", text=text, live=live))
    for camera in ("Ann's", "Bo's", ""):
        publisher.publish_health(HealthStatus(level="ok", text="", camera=camera), None)
    source = hub.value("source")
    assert (source.name, source.text) == ("Bo's" if live else "Ann's", shown)
