"""Square tackles."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Final

from downfield.core.scene import Figure
from downfield.officiating.calls import Finding
from downfield.officiating.engine.facts import (
    Facts,
    OpponentContact,
    capped_if_unsure,
    exceedance_probability,
    find_figure,
)
from downfield.officiating.engine.interfaces import ImmediateRule
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.lines import spot_at

PAIRS: Final = tuple(f"{mine}-{his}" for mine, his in itertools.product(("front", "side", "rear", "corner"), repeat=2))

PARAMS: Final = (
    Param(
        "tackle.pairs",
        ("front-front", "front-side", "front-rear", "side-front"),
        "",
        "the four square hits the source allows: head on, into a side from either, and from behind",
        choices=PAIRS,
    ),
    Param(
        "tackle.review_pairs",
        ("corner-rear",),
        "",
        "the ban on corners and the leave to touch the back collide here, so a person decides",
        choices=PAIRS,
    ),
    Param("tackle.angle_deg", 15.0, "deg", "the source says 90 degrees or head on and no tolerance", low=0, high=45),
    Param("tackle.unsure_from_deg", 10.0, "deg", "from here on a table would argue about square", low=0, high=45),
    Param("tackle.unsure_to_deg", 30.0, "deg", "from here on nobody calls it square", low=0, high=90),
    Param("tackle.overlap_share", 0.25, "", "of a base's width must lie along the other, else it is a corner", 0, 1),
)

BAND_PROBABILITY: Final = 0.9
"""Of the likelier reading at the ends of the unsure band: below any confidence worth calling at."""


@dataclass(frozen=True, slots=True)
class SquareHit:
    """What a contact is where only square hits count.

    Attributes:
        pair: the faces it would be if square, defender first.
        square: probability that it is.
        tackles: whether that pair is a tackle when square.
        review: whether it is for a person to decide when not square.
        margin_deg: how far inside the angle it is.
        sigma_deg: standard deviation of that.

    """

    pair: str
    square: float
    tackles: bool
    review: bool
    margin_deg: float
    sigma_deg: float

    @property
    def probability(self) -> float:
        """That it is a tackle, the contact itself taken as certain."""
        return self.square if self.tackles else 0.0


def square_hit(touch: OpponentContact, width_mm: float, sigma_deg: float, params: Params) -> SquareHit:
    """Judge a contact, seen from the carrier.

    Args:
        touch: the contact; its own face is the carrier's.
        width_mm: of the narrower base.
        sigma_deg: standard deviation of the angle between the two bases.
        params: in force.

    """
    mine, his = _kind(touch.other_face), _kind(touch.own_face)
    overlap = exceedance_probability(touch.overlap_mm - params.real("tackle.overlap_share") * width_mm, touch.sigma_mm)
    square = _flush(touch.angle_deg, sigma_deg, params) * overlap if "corner" not in {mine, his} else 0.0
    pair = f"{mine}-{his}"
    return SquareHit(
        pair=pair,
        square=square,
        tackles=pair in params.choices("tackle.pairs"),
        review=f"corner-{his}" in params.choices("tackle.review_pairs"),
        margin_deg=params.real("tackle.angle_deg") - touch.angle_deg,
        sigma_deg=sigma_deg,
    )


def _kind(face: str) -> str:
    return "side" if face in {"left", "right"} else face


def _flush(angle_deg: float, sigma_deg: float, params: Params) -> float:
    """Probability that two faces this far off parallel count as square.

    Sure up to the band and after it, even odds at the tolerance, straight lines between; blurred by the error.
    """
    low, middle, high = (params.real(f"tackle.{name}") for name in ("unsure_from_deg", "angle_deg", "unsure_to_deg"))
    if sigma_deg <= 0:
        return _plain(angle_deg, low, middle, high)
    # The angle is a magnitude: the true one may lie on the other side of square, where it counts the same.
    steps = [-2.0 + 0.25 * i for i in range(17)]
    weights = [math.exp(-step * step / 2) for step in steps]
    spread = (_plain(abs(angle_deg + step * sigma_deg), low, middle, high) for step in steps)
    return sum(weight * value for weight, value in zip(weights, spread, strict=True)) / sum(weights)


def _plain(angle_deg: float, low: float, middle: float, high: float) -> float:
    if angle_deg <= min(low, middle):
        return 1.0
    if angle_deg >= max(high, middle):
        return 0.0
    reach = BAND_PROBABILITY - 0.5
    if angle_deg <= middle:
        return 0.5 + reach * (middle - angle_deg) / (middle - low)
    return 0.5 - reach * (angle_deg - middle) / (high - middle)


SQUARE_TACKLE_PARAMS: Final = (
    *PARAMS,
    Param(
        "tackle.turn_window_s",
        0.3,
        "s",
        "bases that meet at an angle turn each other; wait for what becomes of it",
        0,
        2,
    ),
    Param("tackle.fallen_tackles", False, "", "not stated; Tudor's rules take a fallen figure out of the play"),
)
TOUCHING: Final = 0.5


@dataclass(frozen=True, slots=True)
class SquareTackle(ImmediateRule):
    """A defender's base meets the carrier's squarely, by one of the pairs of faces that count.

    A contact that begins at a corner and turns square is a tackle from the first frame in which it is. One that may be
    either waits a moment for the bases to turn; if they do not, it is too close to call.
    """

    id: str = "tackle"
    clauses: tuple[str, ...] = ("EFL-077", "EFL-078", "EFL-079", "EFL-080", "EFL-081", "EFL-G1", "EFL-G2")
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = SQUARE_TACKLE_PARAMS

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """The carrier's contacts, as far as they may be tackles, and those that have just ended without one."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        out = [
            finding
            for touch in facts.carrier_contacts
            if (finding := self._contact(facts, carrier, touch, state, params)) is not None
        ]
        return (*out, *self._slipped(facts, carrier, state, params))

    def _contact(
        self, facts: Facts, carrier: Figure, touch: OpponentContact, state: GameState, params: Params
    ) -> Finding | None:
        if facts.has_fallen(touch.other) and not params.flag("tackle.fallen_tackles"):
            return None
        other = facts.figures[touch.other]
        judged = classify_contact(touch, carrier, other, params)
        square = judged.probability
        doubt = judged.review and square < TOUCHING
        probability = min(0.5, touch.probability) if doubt else touch.probability * square
        if probability <= 1.0 - params.real("calls.confidence"):
            return None
        board_on_ns = state.play.board_on_ns or 0
        t_ns = max(self._since(facts, touch, carrier, params), board_on_ns)
        by_gap = touch.probability < square
        return Finding(
            rule=self.id,
            kind="tackle",
            t_ns=t_ns,
            text=f"{carrier.id} tackled by {touch.other}, {judged.pair.replace('-', ' to ')}",
            clauses=(*CLAUSES.get(judged.pair, ("EFL-080",)), "EFL-G1"),
            key=f"{touch.other}@{board_on_ns}",
            players=(carrier.id, touch.other),
            spot_yd=spot_at(facts, carrier, "base", t_ns),
            margin=0.0 - touch.gap_mm if by_gap else judged.margin_deg,
            sigma=touch.sigma_mm if by_gap else judged.sigma_deg,
            unit="mm" if by_gap else "deg",
            probability=capped_if_unsure(probability, carrier),
            against=f"{carrier.id} slips {touch.other}'s tackle: {touch.angle_deg:.0f} degrees off square",
            against_kind="slipped_tackle",
            settle_ns=t_ns + params.ns("tackle.turn_window_s"),
        )

    def _since(self, facts: Facts, touch: OpponentContact, carrier: Figure, params: Params) -> int:
        """When the contact became what it is: as it began, or as it turned square."""
        began = facts.t_ns if touch.since_ns is None else touch.since_ns
        before, then = facts.before, facts.carrier_before
        if before is None or then is None or began > before.t_ns:
            return began
        for old in contacts_of(facts, len(facts.recent) - 1, carrier.id):
            other = find_figure(before, old.other)
            if old.other == touch.other and other is not None:
                return began if classify_contact(old, then, other, params).probability >= TOUCHING else facts.t_ns
        return began

    def _slipped(self, facts: Facts, carrier: Figure, state: GameState, params: Params) -> tuple[Finding, ...]:
        before, then = facts.before, facts.carrier_before
        if before is None or then is None or before.t_ns < (state.play.board_on_ns or 0):
            return ()
        now = {touch.other: touch.probability for touch in facts.carrier_contacts}
        out = []
        for touch in contacts_of(facts, len(facts.recent) - 1, carrier.id):
            other = find_figure(before, touch.other)
            if other is None or touch.probability < TOUCHING or now.get(touch.other, 0.0) >= TOUCHING:
                continue
            judged = classify_contact(touch, then, other, params)
            if judged.probability < TOUCHING and not facts.has_fallen(touch.other):
                out.append(self._slip(facts, carrier, touch, judged))
        return tuple(out)

    def _slip(self, facts: Facts, carrier: Figure, touch: OpponentContact, judged: SquareHit) -> Finding:
        why = f"{touch.angle_deg:.0f} degrees off square" if judged.square < TOUCHING else f"{judged.pair}"
        return Finding(
            rule=self.id,
            kind="slipped_tackle",
            t_ns=facts.t_ns,
            text=f"{carrier.id} slips the tackle of {touch.other}: {why}",
            clauses=("EFL-081",) if judged.pair.startswith("rear") else ("EFL-077",),
            key=f"slip:{touch.other}@{facts.t_ns}",
            players=(carrier.id, touch.other),
            margin=-judged.margin_deg,
            sigma=judged.sigma_deg,
            unit="deg",
            reported=True,
        )


CLAUSES: Final = {
    "front-front": ("EFL-078", "EFL-079"),
    "front-side": ("EFL-078",),
    "front-rear": ("EFL-080",),
    "side-front": ("EFL-079",),
}


def classify_contact(touch: OpponentContact, carrier: Figure, other: Figure, params: Params) -> SquareHit:
    """What a contact is, the carrier's faces being the contact's own."""
    sigma_deg = math.hypot(carrier.sigma_deg, other.sigma_deg)
    return square_hit(touch, min(carrier.width_mm, other.width_mm), sigma_deg, params)


def contacts_of(facts: Facts, place: int, player: str) -> tuple[OpponentContact, ...]:
    """A figure's contacts with opponents in one of the recent scenes."""
    if place < 0:
        return ()
    return Facts(facts.recent[place], (), facts.state, facts.field).opponent_contacts(player)
