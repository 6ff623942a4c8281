"""The numbers of a call, for programs: what its text says in words."""

from __future__ import annotations

from downfield.core.records import record


@record
class CallNumbers:
    """The numbers that a call's text speaks of; each is None where the call has none of its kind.

    Attributes:
        kick_yd: length of a kick, yards.
        landing_yd: where a kick came down, field yards along x of the board and across.
        caught_yd: where a pass or a kick was caught, field yards along x of the board and across.
        pass_yd: length of a pass, yards.
        needed: the highest number, or sum of the dice, that succeeds.
        rolled: the number, or sum of the dice, that was rolled.
        penalty_yd: yards of a penalty.
        enforced_from_yd: where it was walked off from, field yards along x of the board.
        enforced_to_yd: where that ends: the ball's next spot, field yards along x of the board.

    """

    kick_yd: float | None = None
    landing_yd: tuple[float, float] | None = None
    caught_yd: tuple[float, float] | None = None
    pass_yd: float | None = None
    needed: int | None = None
    rolled: int | None = None
    penalty_yd: float | None = None
    enforced_from_yd: float | None = None
    enforced_to_yd: float | None = None
