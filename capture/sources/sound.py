"""The hum of the board's coil, from the sound track of a video or from a microphone beside the table."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import av
import av.container
import numpy as np

from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CapturedFrame, FrameSource, SourceFacts
from downfield.core.arrays import Array
from downfield.core.errors import InputError, SourceError
from downfield.core.media.video_streams import FILE_OPTIONS
from downfield.core.platform.system import SYSTEM
from downfield.core.threads import supervised_thread

MICROPHONE_FORMAT: Final = {"linux": "alsa"}.get(SYSTEM, "")
"""libavformat's format that opens microphones on this system; empty if there is none."""

_ALSA_CONFIGURATION: Final = Path("/usr/share/alsa/alsa.conf")
"""The system's ALSA configuration; the ALSA inside PyAV needs its path."""


@dataclass(frozen=True, slots=True)
class HumLimits:
    """Thresholds of the hum detector."""

    # Length of one block of sound: shorter than it takes to see figures stop, and long enough for hum to stand out
    block_s: float = 0.25
    half_band_hz: float = 2.5  # Half the width of a harmonic
    room_hz: float = 35.0  # Sound within this distance of a harmonic measures the room's noise
    even_db: float = 12.0  # At this level over the room's noise the board is as likely on as off
    db_per_decade: float = 6.0  # Change of level that makes either state ten times as likely
    max_decades: float = 1.0  # Limit of the evidence of one block: a refrigerator hums too, so the figures must agree


HUM_LIMITS: Final = HumLimits()

_MAINS_HZ: Final = (50.0, 60.0)
_HARMONICS: Final = (2, 4, 6)  # of the mains: the coil pulls twice per cycle, and the board adds overtones


def hum_evidence(block: Array, rate_hz: float) -> float:
    """Return the evidence of a block of sound for "on" over "off", log10 of the likelihood ratio.

    Args:
        block: one channel, shape (n,), at least 0.15 s of it; 0.2 s distinguish 50 from 60 Hz.
        rate_hz: of its samples, 1000 or more.
    """
    windowed = (block - block.mean()) * np.hanning(len(block))
    loud = np.abs(np.fft.rfft(windowed)) ** 2
    pitch = np.fft.rfftfreq(len(block), 1 / rate_hz)
    over_room_db = 0.0  # of the strongest harmonic over the sound around it
    for hertz in sorted({mains * harmonic for mains in _MAINS_HZ for harmonic in _HARMONICS}):
        off = np.abs(pitch - hertz)
        inside = off <= HUM_LIMITS.half_band_hz
        room = (off > 4 * HUM_LIMITS.half_band_hz) & (off <= HUM_LIMITS.room_hz)
        if inside.any() and room.any():
            level = float(np.median(loud[room])) + 1e-20
            over_room_db = max(over_room_db, 10 * float(np.log10((loud[inside].max() + 1e-20) / level)))
    decades = (over_room_db - HUM_LIMITS.even_db) / HUM_LIMITS.db_per_decade
    return float(np.clip(decades, -HUM_LIMITS.max_decades, HUM_LIMITS.max_decades))


_RATE_HZ: Final = 8000  # Of the samples; the highest harmonic measured is 360 Hz
_UPDATE_S: Final = 0.05  # Length of sound between two measurements
_CLOSE_TIMEOUT_S: Final = 1.0  # Timeout for a microphone to close

_BLOCK_SAMPLES: Final = round(HUM_LIMITS.block_s * _RATE_HZ)


class HumListener:
    """Measures the hum in arriving sound."""

    def __init__(self) -> None:
        self.hum = 0.0  # the result of `hum_evidence` for the latest quarter second
        self._resampler = av.AudioResampler(format="flt", layout="mono", rate=_RATE_HZ)
        self._block: Array = np.zeros(0)
        self._new_samples = 0

    def add(self, sound: av.AudioFrame) -> None:
        """Add the next piece of sound, of any length and format, and update `hum`."""
        pieces = [piece.to_ndarray().ravel() for piece in self._resampler.resample(sound)]
        samples = np.concatenate([self._block, *pieces]).astype(np.float64)
        self._new_samples += len(samples) - len(self._block)
        self._block = samples[-_BLOCK_SAMPLES:]
        if len(self._block) == _BLOCK_SAMPLES and self._new_samples >= _UPDATE_S * _RATE_HZ:
            self._new_samples = 0
            self.hum = hum_evidence(self._block, _RATE_HZ)


class Soundtrack:
    """The sound of a video file that has some, read along with its frames."""

    def __init__(self, path: Path) -> None:
        self._container = av.open(str(path), options=FILE_OPTIONS)
        self._sounds: Iterator[av.AudioFrame] = self._container.decode(audio=0)
        self._listener = HumListener()
        self._read_until_ns = 0

    def hum_at(self, t_ns: int) -> float:
        """Return the hum up to a time of the file; 0 after the sound has ended. Times must increase."""
        try:
            while self._read_until_ns < t_ns:
                sound = next(self._sounds)
                self._listener.add(sound)
                begins_ns = round((sound.time or 0.0) * 1e9)
                self._read_until_ns = begins_ns + sound.samples * 1_000_000_000 // sound.sample_rate
        except (StopIteration, av.FFmpegError, ValueError, ArithmeticError):  # damaged sound is no sound
            return 0.0
        return self._listener.hum

    def close(self) -> None:
        """Close the file."""
        self._container.close()


class Microphone:
    """A microphone beside the table, read in its own thread.

    Args:
        name: the system's name for it; with ALSA, such as ``default`` or ``hw:1``.

    Raises:
        InputError: microphones can't be opened on this system.
        SourceError: no microphone has that name.
    """

    def __init__(self, name: str, problems: ActiveProblems, av_format: str = MICROPHONE_FORMAT) -> None:
        if av_format not in av.formats_available:
            raise InputError(
                f"Microphone '{name}': Downfield can't open microphones on this system. Leave microphone in [source]"
                " empty."
            )
        if av_format == "alsa" and _ALSA_CONFIGURATION.is_file():
            os.environ.setdefault("ALSA_CONFIG_PATH", str(_ALSA_CONFIGURATION))
        try:
            self._container: av.container.InputContainer = av.open(name, format=av_format)
        except (av.FFmpegError, OSError) as error:
            raise SourceError(
                f"microphone '{name}': can't be opened: {error.strerror}. List the microphones with 'arecord -L'."
            ) from None
        self._name, self._problems = name, problems
        self._listener = HumListener()
        self._closed = threading.Event()
        self._thread = supervised_thread(self._listen, "microphone", lambda _: self._report_end())
        self._thread.start()

    @property
    def hum(self) -> float:
        """The latest hum, from `hum_evidence`; 0 without sound."""
        return self._listener.hum

    def close(self) -> None:
        """Stop listening."""
        self._closed.set()
        self._thread.join(_CLOSE_TIMEOUT_S)

    def _listen(self) -> None:
        try:
            for sound in self._container.decode(audio=0):
                if self._closed.is_set():
                    return
                self._listener.add(sound)
        except (av.FFmpegError, OSError):
            pass
        finally:
            self._listener.hum = 0.0
            self._container.close()
        self._report_end()

    def _report_end(self) -> None:
        if not self._closed.is_set():
            text = f"Microphone '{self._name}' stopped. Whether the board is on is now judged from the picture alone."
            self._problems.notify("warning", text)


class SourceWithMicrophone:
    """A source whose frames carry the hum that a microphone hears, which is closed with it."""

    def __init__(self, source: FrameSource, microphone: Microphone) -> None:
        self._source, self._microphone = source, microphone

    @property
    def facts(self) -> SourceFacts:
        """The facts of the source, which may change when it is opened again."""
        return self._source.facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame, with the hum heard just before it arrived."""
        for frame in self._source.frames():
            yield dataclasses.replace(frame, hum=self._microphone.hum)

    def close(self) -> None:
        """Close the source and the microphone."""
        self._source.close()
        self._microphone.close()
