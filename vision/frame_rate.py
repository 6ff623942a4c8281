"""How often the network looks: for whatever is in the picture, and at the figures that were there a moment ago.

A frame that comes sooner is not looked at: everybody goes on as he went, and whom a decision may hang on is measured on
the edges of his base. On a computer too slow for the rates asked for, looks become rarer, and no frame is lost: first
as rare as is enough, which nobody need be told, and then further.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Literal

Look = Literal["find", "follow"]
"""At the whole picture, or at the figures that are known."""

FIND_EVERY_NS: Final = 83_000_000
"""Between looks at whole pictures: a hand that comes in, or a figure that was lost, is seen a blink later."""

BALL_EVERY_NS: Final = 300_000_000
"""Between looks for the ball in whole pictures; where it is known it is followed like the figures."""

FOLLOW_EVERY_NS: Final = 16_000_000
"""Between looks at the figures, where that leaves most of the time: the instant of a contact is seen more exactly."""

ENOUGH_EVERY_NS: Final = 33_000_000
"""Between looks at the figures where time is short: in frames that come faster, the network's word is hardly news."""

_EARLY_NS: Final = 4_000_000
_EARLY_SHARE: Final = 0.28  # of the time between two looks: at 40 frames/s all are looked at, at 50 every other
_MOST: Final[dict[Look, float]] = {"find": 0.2, "follow": 0.9}  # of the time, for whole pictures and for all looks
_SPARED: Final = 0.35  # of the time, for looks at figures beyond what is enough: frames wait for them
_AT_ONCE_NS: Final = 25_000_000  # what both looks may take to be taken of one frame
_PUT_OFF_NS: Final = 50_000_000  # for so long at most, where another look is due
_CATCH_UP_NS: Final = 80_000_000  # and where one is late
_LATE: Final = 2  # frames that have come since: this one is late
_MANY: Final = 4  # soon one will be lost
_PRESSED, _EASED, _LONGEST = 1.1, 0.99, 3.0  # how fast looks become rarer then, and less so otherwise; at most
_RELIEVED: Final = 1.1  # times as long between looks, when it is no longer told
_LATEST: Final = 8  # looks by whose median it is told how long they take: the first few, of cold networks, take longer
_SLOW: Final[dict[Look, float]] = {"find": 8.0, "follow": 1.5}  # times as long between them as asked for: to be told


class DetectionRate:
    """Says which frames are looked at, and how.

    Args:
        find_every_ns: between looks at whole pictures; 0 for always.
        follow_every_ns: between looks at figures; 0 for always.
        clock: tells how long looks take, ns, so that they become rarer where they take too long; None to leave them as
            they are asked for, so that what comes out of a recording does not depend on the computer.

    """

    def __init__(
        self,
        find_every_ns: int = FIND_EVERY_NS,
        follow_every_ns: int = FOLLOW_EVERY_NS,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._asked_ns: dict[Look, int] = {"find": find_every_ns, "follow": follow_every_ns}
        self._clock = clock
        self._next_ns: dict[Look, int] = {"find": 0, "follow": 0}
        self._took: dict[Look, deque[int]] = {"find": deque(maxlen=_LATEST), "follow": deque(maxlen=_LATEST)}
        self._takes_ns: dict[Look, float] = {"find": 0.0, "follow": 0.0}
        self._t_ns = self._took_ns = 0
        self._longer, self._pressed = 1.0, False

    @property
    def text(self) -> str:
        """How often the network has time to look, for people."""
        find, follow = (1e9 / max(self._rested_ns(look), 1) for look in ("find", "follow"))
        return f"looks at figures {follow:.0f} times a second, at the whole picture {find:.0f} times"

    @property
    def slow(self) -> bool:
        """Whether it looks so much more rarely than asked for that people should know."""
        return self._pressed or any(
            self._rested_ns(look) > times * max(self._asked_ns[look], ENOUGH_EVERY_NS) for look, times in _SLOW.items()
        )

    def due(self, t_ns: int, waiting: int = 0) -> tuple[Look, ...]:
        """How a frame is to be looked at, in this order; ask once for each, in order of time.

        Args:
            t_ns: when it was captured.
            waiting: how many frames have come since; where it is late, it is looked at only if that was put off for
                long, and where many have come, looks become rarer. Without a clock it does not matter: a recording's
                frames may wait.

        """
        if self._clock is None:
            waiting = 0
        else:
            longer = self._longer * (_PRESSED if waiting >= _MANY else _EASED)
            self._longer = min(max(longer, 1.0), _LONGEST)
            self._pressed = self._longer > (_RELIEVED if self._pressed else _SLOW["follow"])
        if t_ns < self._t_ns + self._took_ns / _MOST["follow"] or (
            waiting >= _LATE and t_ns < self._next_ns["follow"] + _CATCH_UP_NS
        ):
            return ()
        find, follow = (t_ns >= self._next_ns[look] for look in ("find", "follow"))
        looks: tuple[Look, ...] = ("follow",) if follow else ()
        if sum(self._takes_ns.values()) <= _AT_ONCE_NS:
            looks = ("find", *looks) if find and follow else looks
        elif find and (not follow or t_ns >= self._next_ns["find"] + _PUT_OFF_NS):
            looks = ("find",)  # which others need not wait for
        if not looks:
            return ()
        self._t_ns, self._took_ns = t_ns, 0
        # A frame that comes hardly before its time is in time.
        if "find" in looks:
            self._next_ns["find"] = t_ns + self._rested_ns("find") - _EARLY_NS
        if "follow" in looks:
            every_ns = self._longer * self._rested_ns("follow")
            self._next_ns["follow"] = t_ns + round((1 - _EARLY_SHARE) * every_ns)
        return looks

    @contextmanager
    def looking(self, look: Look, *, beside: bool = False) -> Iterator[None]:
        """Note how long a look takes.

        Args:
            look: which.
            beside: whether others go on meanwhile.

        """
        if self._clock is None:
            yield
            return
        began_ns = self._clock()
        yield
        took_ns = self._clock() - began_ns
        self._took[look].append(took_ns)
        self._takes_ns[look] = statistics.median(self._took[look])
        if not beside:
            self._took_ns += took_ns

    def _rested_ns(self, look: Look) -> int:
        """Between looks of a kind, as asked for or as long as they take."""
        asked_ns, takes_ns = self._asked_ns[look], self._takes_ns[look]
        spared_ns = min(takes_ns / _SPARED, ENOUGH_EVERY_NS) if look == "follow" else 0.0
        return max(asked_ns, round(max(spared_ns, takes_ns / _MOST[look])))
