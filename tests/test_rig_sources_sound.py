"""What microphones hear of the board: a video's own sound, and one beside the table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from loopback_streams import MjpegServer
from numpy.typing import NDArray

from downfield.core.errors import InputError, SourceError
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.sources.clocks import CaptureClock
from downfield.rig.sources.opening import SourceChoice, open_source
from downfield.rig.sources.sound import Microphone
from downfield.rig.sources.video_file import VideoFile

RATE_HZ = 44100
FPS = 30
HUM = "sine=frequency=120:sample_rate=16000,arealtime"
HISS = "anoisesrc=sample_rate=16000:amplitude=0.2,arealtime"


def sound(seconds: float, on: tuple[float, float] | None) -> NDArray[np.float32]:
    """A room's noise, with a board's hum from one time to another."""
    t = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    noise = np.random.default_rng(1).normal(0, 0.02, len(t))
    hum = 0.0 if on is None else 0.1 * np.sin(2 * np.pi * 120 * t) * ((t >= on[0]) & (t < on[1]))
    return np.asarray(noise + hum, dtype=np.float32)


def film(path: Path, heard: NDArray[np.float32] | None, seconds: float = 4.0) -> Path:
    with av.open(str(path), "w") as out:
        video = out.add_stream("mpeg4", rate=FPS)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        audio = None if heard is None else out.add_stream("aac", rate=RATE_HZ, layout="mono")
        for i in range(round(seconds * FPS)):
            picture = av.VideoFrame.from_ndarray(np.full((48, 64, 3), i % 250, dtype=np.uint8), format="rgb24")
            out.mux(video.encode(picture))
        out.mux(video.encode(None))
        if audio is not None and heard is not None:
            for start in range(0, len(heard), 1024):
                piece = av.AudioFrame.from_ndarray(heard[None, start : start + 1024], format="fltp", layout="mono")
                piece.sample_rate, piece.pts, piece.time_base = RATE_HZ, start, Fraction(1, RATE_HZ)
                out.mux(audio.encode(piece))
            out.mux(audio.encode(None))
    return path


def hums(path: Path) -> list[tuple[float, float]]:
    """Second and hum of every frame, as the vision gets it."""
    source = VideoFile(path, paced=False)
    return [(frame.t_ns / 1e9, frame.hum) for frame in (shot.frame() for shot in source.frames())]


def test_the_sound_of_a_video_tells_when_the_board_hums(tmp_path: Path) -> None:
    heard = hums(film(tmp_path / "game.mp4", sound(4.0, (1.5, 3.0))))
    assert len(heard) == 4 * FPS
    assert all(hum > 0.5 for t, hum in heard if 1.9 < t < 2.9)
    assert all(hum < 0.5 for t, hum in heard if t < 1.4 or t > 3.4)
    assert np.mean([hum for t, hum in heard if 0.5 < t < 1.4]) < -0.5


def test_a_video_without_sound_says_nothing_either_way(tmp_path: Path) -> None:
    assert {hum for _, hum in hums(film(tmp_path / "mute.mp4", None))} == {0.0}


def test_where_the_sound_ends_early_nothing_is_said(tmp_path: Path) -> None:
    heard = hums(film(tmp_path / "short.mp4", sound(2.0, (0.0, 2.0))))
    assert all(hum > 0.5 for t, hum in heard if 0.4 < t < 1.8)
    assert all(hum == 0 for t, hum in heard if t > 2.3)


def until(true: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Wait for something, for so long at most."""
    ends = time.monotonic() + seconds
    while not true() and time.monotonic() < ends:
        time.sleep(0.02)
    return true()


@pytest.mark.parametrize(("heard", "hums_there"), [(HUM, True), (HISS, False)])
def test_a_microphone_hears_the_board_or_the_room(heard: str, hums_there: bool) -> None:
    microphone = Microphone(heard, ActiveProblems(), system="lavfi")
    try:
        assert until(lambda: microphone.hum != 0)
        assert (microphone.hum > 0.5) == hums_there
    finally:
        microphone.close()


def test_a_microphone_that_falls_silent_is_told_and_says_no_more() -> None:
    said: list[str] = []
    microphone = Microphone(
        "sine=frequency=120:sample_rate=16000:duration=1,arealtime",
        ActiveProblems(noticed=lambda _, text: said.append(text)),
        system="lavfi",
    )
    assert until(lambda: microphone.hum > 0.5)
    assert until(lambda: bool(said))
    assert "fell silent" in said[0]
    assert microphone.hum == 0
    microphone.close()


def test_a_microphone_of_no_such_name_is_named() -> None:
    with pytest.raises(SourceError, match="microphone 'nonsense': can't be opened"):
        Microphone("nonsense", ActiveProblems(), system="lavfi")


def test_where_no_microphone_can_be_opened_that_is_said() -> None:
    with pytest.raises(InputError, match="can't open microphones on this system"):
        Microphone("default", ActiveProblems(), system="")


@pytest.fixture
def server() -> Iterator[MjpegServer]:
    server = MjpegServer()
    yield server
    server.close()


def test_a_stream_comes_with_what_the_microphone_beside_it_hears(
    server: MjpegServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("downfield.rig.sources.sound.SYSTEM", "lavfi")
    monkeypatch.setattr(Microphone.__init__, "__defaults__", ("lavfi",))
    source = open_source(SourceChoice(server.url, microphone=HUM), CaptureClock(), ActiveProblems())
    ends = time.monotonic() + 10
    heard = next((shot.hum for shot in source.frames() if shot.hum > 0.5 or time.monotonic() > ends), 0.0)
    source.close()
    assert heard > 0.5
