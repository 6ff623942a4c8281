"""What a microphone hears of the board: that of a camera's recording, or one beside the table."""

from __future__ import annotations

import dataclasses
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import av
import av.container
import numpy as np
from numpy.typing import NDArray

from downfield.core.errors import InputError, SourceError
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.sources.source import CapturedFrame, FrameSource, SourceFacts
from downfield.vision.board.power import LIMITS, HumDetector

SYSTEM: Final = {"linux": "alsa"}.get(sys.platform, "")
"""Of libavformat's, what opens a microphone on this system; empty where Downfield knows none."""

_ALSA_CONFIGURATION: Final = Path("/usr/share/alsa/alsa.conf")
"""Where a system's own ALSA finds it; the one inside PyAV has to be told."""

_RATE_HZ: Final = 8000  # the highest harmonic listened to is 360 Hz
_EVERY_S: Final = 0.05  # of sound between two times it is listened to
_ENDING_S: Final = 1.0


class HumListener:
    """Listens to sound as it comes in."""

    def __init__(self) -> None:
        self._hum = HumDetector(_RATE_HZ)
        self._resampler = av.AudioResampler(format="flt", layout="mono", rate=_RATE_HZ)
        self._block: NDArray[np.float64] = np.zeros(0)
        self._fresh = 0
        self.hum = 0.0

    def hear(self, sound: av.AudioFrame) -> None:
        """Take the next piece of sound, of any length and form; `hum` is then what the latest quarter second says."""
        pieces = [piece.to_ndarray().ravel() for piece in self._resampler.resample(sound)]
        heard = np.concatenate([self._block, *pieces]).astype(np.float64)
        self._fresh += len(heard) - len(self._block)
        self._block = heard[-round(LIMITS.hum_block_s * _RATE_HZ) :]
        if len(self._block) == round(LIMITS.hum_block_s * _RATE_HZ) and self._fresh >= _EVERY_S * _RATE_HZ:
            self._fresh = 0
            self.hum = self._hum.evidence(self._block)


class Soundtrack:
    """The sound of a video file, listened to along with its pictures.

    Args:
        path: the file; it has sound.

    """

    def __init__(self, path: Path) -> None:
        self._container = av.open(str(path))
        self._sounds: Iterator[av.AudioFrame] = self._container.decode(audio=0)
        self._ear = HumListener()
        self._heard_ns = 0

    def hum_at(self, t_ns: int) -> float:
        """What was heard up to a time of the file, as of `HumDetector`; times rise. 0 where the sound has ended."""
        try:
            while self._heard_ns < t_ns:
                sound = next(self._sounds)
                self._ear.hear(sound)
                begins_ns = round((sound.time or 0.0) * 1e9)
                self._heard_ns = begins_ns + sound.samples * 1_000_000_000 // sound.sample_rate
        except (StopIteration, av.FFmpegError):
            return 0.0
        return self._ear.hum

    def close(self) -> None:
        """Let go of the file."""
        self._container.close()


class Microphone:
    """A microphone beside the table, listened to in a thread of its own.

    Args:
        name: as the system calls it; ALSA's, such as ``default`` or ``hw:1``.
        troubles: told when it falls silent.
        system: as of `SYSTEM`.

    Raises:
        InputError: microphones can't be opened on this system.
        SourceError: there is none of that name.

    """

    def __init__(self, name: str, troubles: ActiveProblems, system: str = SYSTEM) -> None:
        if system not in av.formats_available:
            raise InputError(f"microphone '{name}': Downfield can't open microphones on this system; leave it empty")
        if system == "alsa" and _ALSA_CONFIGURATION.is_file():
            os.environ.setdefault("ALSA_CONFIG_PATH", str(_ALSA_CONFIGURATION))
        try:
            self._container: av.container.InputContainer = av.open(name, format=system)
        except (av.FFmpegError, OSError) as error:
            raise SourceError(
                f"microphone '{name}': can't be opened: {error.strerror}; 'arecord -L' lists them"
            ) from None
        self._name, self._troubles = name, troubles
        self._ear = HumListener()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="microphone", daemon=True)
        self._thread.start()

    @property
    def hum(self) -> float:
        """What was heard of late, as of `HumDetector`; 0 where nothing can be heard."""
        return self._ear.hum

    def close(self) -> None:
        """Listen no more."""
        self._closed.set()
        self._thread.join(_ENDING_S)

    def _listen(self) -> None:
        try:
            for sound in self._container.decode(audio=0):
                if self._closed.is_set():
                    return
                self._ear.hear(sound)
        except (av.FFmpegError, OSError):
            pass
        finally:
            self._ear.hum = 0.0
            self._container.close()
        if not self._closed.is_set():
            self._troubles.note("warning", f"Microphone '{self._name}' fell silent: the board is watched without it.")


class SourceWithMicrophone:
    """A source whose pictures come with what a microphone hears.

    Args:
        source: the pictures.
        microphone: closed with it.

    """

    def __init__(self, source: FrameSource, microphone: Microphone) -> None:
        self._source, self._microphone = source, microphone

    @property
    def facts(self) -> SourceFacts:
        """What the source is."""
        return self._source.facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Every picture, with what was heard just before it came."""
        for shot in self._source.frames():
            yield dataclasses.replace(shot, hum=self._microphone.hum)

    def close(self) -> None:
        """End both."""
        self._source.close()
        self._microphone.close()
