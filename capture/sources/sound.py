"""The hum of the board, from the sound track of a video or from a microphone beside the table."""

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
from downfield.core.media.limits import FILE_OPTIONS
from downfield.core.platform.system import SYSTEM
from downfield.core.supervision import supervised_thread
from downfield.vision.board.hum import HUM_LIMITS, HumDetector

MICROPHONE_FORMAT: Final = {"linux": "alsa"}.get(SYSTEM, "")
"""libavformat's format that opens microphones on this system; empty if there is none."""

_ALSA_CONFIGURATION: Final = Path("/usr/share/alsa/alsa.conf")
"""The system's ALSA configuration; the ALSA inside PyAV needs its path."""


@dataclass(frozen=True, slots=True)
class SoundLimits:
    """Rates and times of measuring sound."""

    rate_hz: int = 8000
    """Sampling rate; the highest harmonic measured is 360 Hz."""

    update_s: float = 0.05
    """Length of sound between two measurements."""

    close_timeout_s: float = 1.0
    """Timeout for a microphone to close."""


_LIMITS: Final = SoundLimits()

_BLOCK_SAMPLES: Final = round(HUM_LIMITS.block_s * _LIMITS.rate_hz)


class HumListener:
    """Measures the hum in arriving sound.

    Attributes:
        hum: the result of `HumDetector.evidence` for the latest quarter second.
    """

    def __init__(self) -> None:
        self.hum = 0.0
        self._hum = HumDetector(_LIMITS.rate_hz)
        self._resampler = av.AudioResampler(format="flt", layout="mono", rate=_LIMITS.rate_hz)
        self._block: Array = np.zeros(0)
        self._new_samples = 0

    def add(self, sound: av.AudioFrame) -> None:
        """Add the next piece of sound, of any length and format, and update `hum`."""
        pieces = [piece.to_ndarray().ravel() for piece in self._resampler.resample(sound)]
        samples = np.concatenate([self._block, *pieces]).astype(np.float64)
        self._new_samples += len(samples) - len(self._block)
        self._block = samples[-_BLOCK_SAMPLES:]
        if len(self._block) == _BLOCK_SAMPLES and self._new_samples >= _LIMITS.update_s * _LIMITS.rate_hz:
            self._new_samples = 0
            self.hum = self._hum.evidence(self._block)


class Soundtrack:
    """The sound of a video file, read along with its frames.

    Args:
        path: a file that has sound.
    """

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
        problems: receives a notice when it fails.
        av_format: see `MICROPHONE_FORMAT`.

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
        """The latest hum, from `HumDetector.evidence`; 0 without sound."""
        return self._listener.hum

    def close(self) -> None:
        """Stop listening."""
        self._closed.set()
        self._thread.join(_LIMITS.close_timeout_s)

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
    """A source whose frames carry the hum that a microphone hears.

    Args:
        microphone: the microphone, which is closed with the source.
    """

    def __init__(self, source: FrameSource, microphone: Microphone) -> None:
        self._source, self._microphone = source, microphone

    @property
    def facts(self) -> SourceFacts:
        """The facts of the source."""
        return self._source.facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame, with the hum heard just before it arrived."""
        for frame in self._source.frames():
            yield dataclasses.replace(frame, hum=self._microphone.hum)

    def close(self) -> None:
        """Close the source and the microphone."""
        self._source.close()
        self._microphone.close()
