"""The bundled demo is small enough to ship, and its files agree with each other."""

from __future__ import annotations

import itertools
from pathlib import Path

import av
import pytest

from downfield.calibration.calibration import read_calibration
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.track_files import TrackFile
from downfield.officiating.declarations import Carrier, Coin, LineUpDeclared
from downfield.officiating.events import read_events

_MEGABYTE = 1_000_000


@pytest.fixture
def clip() -> Path:
    return bundled_demo()


def _beside(clip: Path, suffix: str) -> Path:
    return clip.with_name("demo" + suffix)


def test_it_is_small_enough_to_ship(clip: Path) -> None:
    assert clip.stat().st_size < 8 * _MEGABYTE
    assert _beside(clip, ".tracks.jsonl").stat().st_size < 3 * _MEGABYTE


def test_clip_and_tracks_have_the_same_frames(clip: Path) -> None:
    with av.open(str(clip)) as container:
        stream = container.streams.video[0]
        calibration = read_calibration(_beside(clip, ".calibration.json"))
        assert (stream.width, stream.height) == calibration.camera.lens.size_px
        packets = [packet for packet in container.demux(stream) if packet.pts is not None]
        times = [round(packet.pts * packet.time_base * 10**9) for packet in packets if packet.pts is not None]
    tracks = TrackFile(_beside(clip, ".tracks.jsonl"))
    assert tracks.header.field == calibration.field
    assert times == [scene.t_ns for scene in tracks]
    assert 15 <= (times[-1] - times[0]) * 1e-9 <= 25


def test_it_shows_two_plays_with_a_stop_a_tackle_and_a_fumble(clip: Path) -> None:
    scenes = list(TrackFile(_beside(clip, ".tracks.jsonl")))
    _, events = read_events(_beside(clip, ".events.jsonl"))
    switched_on = sum(before.board == "off" and after.board == "on" for before, after in itertools.pairwise(scenes))
    assert switched_on >= 3
    assert any(scene.hands for scene in scenes)
    assert any(contact.gap_mm < 0.1 for scene in scenes for contact in scene.contacts)
    assert any(figure.posture == "fallen" for figure in scenes[-1].figures)
    kinds = [type(event.body) for event in events]
    assert kinds.count(Carrier) >= 2
    assert {LineUpDeclared, Coin} <= set(kinds)
