"""The hum of the board, from a video's own sound and from a microphone beside the table."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from loopback_streams import MjpegServer
from numpy.typing import NDArray
from waiting import wait_until

from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock
from downfield.capture.sources.file_sources import VideoFile
from downfield.capture.sources.sound import Microphone
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.errors import InputError, SourceError

RATE_HZ = 44100
FPS = 30
HUM = "sine=frequency=120:sample_rate=16000,arealtime"
HISS = "anoisesrc=sample_rate=16000:amplitude=0.2,arealtime"


def sound(seconds: float, on: tuple[float, float] | None) -> NDArray[np.float32]:
    """Return the noise of a room, with the hum of a board from one time to another."""
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
    """Return time and hum of every frame."""
    source = VideoFile(path, paced=False)
    return [(frame.t_ns / 1e9, frame.hum) for frame in (captured.decode() for captured in source.frames())]


def test_the_sound_of_a_video_shows_when_the_board_hums(tmp_path: Path) -> None:
    heard = hums(film(tmp_path / "game.mp4", sound(4.0, (1.5, 3.0))))
    assert len(heard) == 4 * FPS
    assert all(hum > 0.5 for t, hum in heard if 1.9 < t < 2.9)
    assert all(hum < 0.5 for t, hum in heard if t < 1.4 or t > 3.4)
    assert np.mean([hum for t, hum in heard if 0.5 < t < 1.4]) < -0.5


def test_a_video_without_sound_is_no_evidence_either_way(tmp_path: Path) -> None:
    assert {hum for _, hum in hums(film(tmp_path / "mute.mp4", None))} == {0.0}


def test_after_the_sound_ends_there_is_no_evidence(tmp_path: Path) -> None:
    heard = hums(film(tmp_path / "short.mp4", sound(2.0, (0.0, 2.0))))
    assert all(hum > 0.5 for t, hum in heard if 0.4 < t < 1.8)
    assert all(hum == 0 for t, hum in heard if t > 2.3)


@pytest.mark.parametrize(("heard", "hums_there"), [(HUM, True), (HISS, False)])
def test_a_microphone_tells_the_board_from_the_room(heard: str, hums_there: bool) -> None:
    microphone = Microphone(heard, ActiveProblems(), av_format="lavfi")
    try:
        wait_until(lambda: microphone.hum != 0)
        assert (microphone.hum > 0.5) == hums_there
    finally:
        microphone.close()


def test_a_microphone_that_stops_gives_a_notice_and_no_more_evidence() -> None:
    notices: list[str] = []
    microphone = Microphone(
        "sine=frequency=120:sample_rate=16000:duration=1,arealtime",
        ActiveProblems(notify=lambda _, text: notices.append(text)),
        av_format="lavfi",
    )
    wait_until(lambda: microphone.hum > 0.5)
    wait_until(lambda: bool(notices))
    assert "stopped" in notices[0]
    assert microphone.hum == 0
    microphone.close()


def test_an_unknown_microphone_is_refused_by_name() -> None:
    with pytest.raises(SourceError, match="microphone 'nonsense': can't be opened"):
        Microphone("nonsense", ActiveProblems(), av_format="lavfi")


def test_on_a_system_without_microphones_one_is_refused() -> None:
    with pytest.raises(InputError, match="can't open microphones on this system"):
        Microphone("default", ActiveProblems(), av_format="")


@pytest.fixture
def server() -> Iterator[MjpegServer]:
    server = MjpegServer()
    yield server
    server.close()


def test_the_frames_of_a_stream_carry_the_hum_of_the_microphone(
    server: MjpegServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("downfield.capture.sources.sound.MICROPHONE_FORMAT", "lavfi")
    monkeypatch.setattr(Microphone.__init__, "__defaults__", ("lavfi",))
    source = open_source(SourceChoice(server.url, microphone=HUM), CaptureClock(), ActiveProblems())
    frames = source.frames()
    heard = wait_until(lambda: hum if (hum := next(frames).hum) > 0.5 else 0.0)
    source.close()
    assert heard > 0.5
