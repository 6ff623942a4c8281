"""Listens for the hum of the board's coil in the sound of a microphone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.records import check


@dataclass(frozen=True, slots=True)
class HumLimits:
    """Thresholds of the hum detector."""

    block_s: float = 0.25
    """Length of one block of sound: shorter than it takes to see figures stop, and long enough for hum to stand out."""
    min_block_s: float = 0.15
    """The shortest block of sound that can be judged."""
    half_band_hz: float = 2.5
    """Half the width of a harmonic."""
    room_hz: float = 35.0
    """Sound within this distance of a harmonic measures the room's noise."""
    even_db: float = 12.0
    """At this level over the room's noise the board is as likely on as off."""
    db_per_decade: float = 6.0
    """Change of level that makes either state ten times as likely."""
    max_decades: float = 1.0
    """Limit of the evidence of one block: a refrigerator hums too, so the figures must agree."""


HUM_LIMITS: Final = HumLimits()

_MAINS_HZ: Final = (50.0, 60.0)
_HARMONICS: Final = (2, 4, 6)  # of the mains: the coil pulls twice per cycle, and the board adds overtones


class HumDetector:
    """Listens for the hum of a board: its coil pulls twice in every cycle of the mains.

    Raises:
        InputError: the rate is below 1000 Hz.
    """

    def __init__(self, rate_hz: float) -> None:
        check(rate_hz >= 1000, InputError, f"The microphone's rate is {rate_hz:g} Hz; 1000 Hz or more is needed.")
        self._rate_hz = rate_hz

    def evidence(self, block: Array) -> float:
        """Return the evidence of a block of sound for "on" over "off", log10 of the likelihood ratio.

        Args:
            block: one channel, shape (n,), at least 0.15 s of it; 0.2 s distinguish 50 from 60 Hz.

        Raises:
            InputError: the block is too short.
        """
        least = round(HUM_LIMITS.min_block_s * self._rate_hz)
        check(
            len(block) >= least, InputError, f"The block of sound has {len(block)} samples; {least} or more are needed."
        )
        decades = (self._over_room_db(block) - HUM_LIMITS.even_db) / HUM_LIMITS.db_per_decade
        return float(np.clip(decades, -HUM_LIMITS.max_decades, HUM_LIMITS.max_decades))

    def _over_room_db(self, block: Array) -> float:
        """Return the level of the strongest harmonic over the sound around it, dB."""
        windowed = (block - block.mean()) * np.hanning(len(block))
        loud = np.abs(np.fft.rfft(windowed)) ** 2
        pitch = np.fft.rfftfreq(len(block), 1 / self._rate_hz)
        best = 0.0
        for hertz in sorted({mains * harmonic for mains in _MAINS_HZ for harmonic in _HARMONICS}):
            off = np.abs(pitch - hertz)
            inside = off <= HUM_LIMITS.half_band_hz
            room = (off > 4 * HUM_LIMITS.half_band_hz) & (off <= HUM_LIMITS.room_hz)
            if not inside.any() or not room.any():
                continue
            level = float(np.median(loud[room])) + 1e-20
            best = max(best, 10 * float(np.log10((loud[inside].max() + 1e-20) / level)))
        return best
