"""The state of a strip at one instant: its slide, its ball and every dial, settled or between two faces."""

from __future__ import annotations

from dataclasses import dataclass, replace

from downfield.core.errors import InputError
from downfield.core.strip import THIRDS, Count, DialWindow, StripSet, Third

SETTLED_TURN = 0.06
"""A dial turned by less than this share of a step from a face counts as set to it."""
SETTLED_THIRD = 0.12
"""A ball nearer than this share of the way between two thirds counts as in one of them."""


@dataclass(frozen=True, slots=True)
class StripState:
    """One state of a strip.

    Attributes:
        slide_yd: the line's position, field yards along x; not a whole number while it is being moved, and a little
            off one when it was set by hand.
        ball: the ball's place, 0 in the left third, 1 in the middle one, 2 in the right one; fractions between them.
        dials: turn of each window's dial, in faces from the first; fractions between two faces.
    """

    slide_yd: float
    ball: float
    dials: tuple[float, ...]

    def faces(self, strip: StripSet) -> tuple[str | None, ...]:
        """Return the face in each window; None for a dial between two faces."""
        return tuple(_face(dial, turn) for dial, turn in zip(strip.dials, self.dials, strict=True))

    def number(self, strip: StripSet, counts: Count) -> int | None:
        """Return what the dials of one count say; None while one of them is between two faces."""
        total = 0
        for dial, face in zip(strip.dials, self.faces(strip), strict=True):
            if dial.counts == counts:
                if face is None:
                    return None
                total += int(face) * dial.place
        return total

    @property
    def third(self) -> Third | None:
        """The third the ball is in; None between two."""
        near = round(self.ball)
        return THIRDS[near] if abs(self.ball - near) <= SETTLED_THIRD else None


def _face(dial: DialWindow, turn: float) -> str | None:
    near = round(turn)
    return dial.faces[near % len(dial.faces)] if abs(turn - near) <= SETTLED_TURN else None


def set_to(strip: StripSet, slide_yd: float, third: Third, numbers: dict[Count, int]) -> StripState:
    """Return the strip set to these numbers; counts that are left out show their dials' first faces.

    Raises:
        InputError: a dial has no such face.
    """
    turns = [0.0] * len(strip.dials)
    for counts, number in numbers.items():
        left = number
        for dial in strip.dials_of(counts):
            tens = any(other.place == 10 for other in strip.dials_of(counts))
            digit = left // 10 % 10 if dial.place == 10 else left % 10 if tens else left
            values = [int(face) for face in dial.faces]
            if digit not in values:
                raise InputError(f"the {counts} dial of {strip.name} has no face for {number}")
            turns[strip.dials.index(dial)] = float(values.index(digit))
    return StripState(slide_yd, float(THIRDS.index(third)), tuple(turns))


def turned(state: StripState, index: int, turn: float) -> StripState:
    """Return the state with one dial turned elsewhere."""
    return replace(state, dials=tuple(turn if i == index else old for i, old in enumerate(state.dials)))
