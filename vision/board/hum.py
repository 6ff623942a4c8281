"""The hum of a board in a microphone: its coil pulls twice in every cycle of the mains."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.errors import InputError
from downfield.core.records import check

_MAINS_HZ: Final = (50.0, 60.0)
_HARMONICS: Final = (2, 4, 6)  # of the mains: the coil's own, and what the board makes of it
_HALF_BAND_HZ: Final = 2.5
_AROUND_HZ: Final = 35.0  # what is heard this near beside the hum is the room
_HEARD_DB: Final = 12.0  # over the room: as likely on as off
_DB_PER_DECADE: Final = 6.0  # of likelihood
_MOST_DECADES: Final = 1.0  # a refrigerator hums too: the figures must agree
_SHORTEST_S: Final = 0.15

BLOCK_S: Final = 0.25
"""Of sound at a time: shorter than it takes to see that figures stand still, and hum stands out of it."""


class HumDetector:
    """Listens for a vibrating board.

    Args:
        rate_hz: samples per second.

    """

    def __init__(self, rate_hz: float) -> None:
        check(rate_hz >= 1000, InputError, f"a microphone's rate must be at least 1000 Hz, not {rate_hz:g}")
        self._rate_hz = rate_hz

    def evidence(self, block: NDArray[np.float64]) -> float:
        """How many decades a block of sound makes on likelier than off.

        Args:
            block: one channel, shape (n,), at least 0.15 s of it; 0.2 s tell 50 from 60 Hz.

        Raises:
            InputError: it is too short.

        """
        least = round(_SHORTEST_S * self._rate_hz)
        check(len(block) >= least, InputError, f"a block of sound must be at least {least} samples, not {len(block)}")
        return float(np.clip((self._over_room_db(block) - _HEARD_DB) / _DB_PER_DECADE, -_MOST_DECADES, _MOST_DECADES))

    def _over_room_db(self, block: NDArray[np.float64]) -> float:
        """How far the strongest harmonic stands over what is heard around it."""
        windowed = (block - block.mean()) * np.hanning(len(block))
        loud = np.abs(np.fft.rfft(windowed)) ** 2
        pitch = np.fft.rfftfreq(len(block), 1 / self._rate_hz)
        best = 0.0
        for hertz in sorted({mains * harmonic for mains in _MAINS_HZ for harmonic in _HARMONICS}):
            off = np.abs(pitch - hertz)
            inside, beside = off <= _HALF_BAND_HZ, (off > 4 * _HALF_BAND_HZ) & (off <= _AROUND_HZ)
            if not inside.any() or not beside.any():
                continue
            room = float(np.median(loud[beside])) + 1e-20
            best = max(best, 10 * float(np.log10((loud[inside].max() + 1e-20) / room)))
        return best
