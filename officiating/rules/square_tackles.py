"""Tackles where only square hits count (Gunderson EFL), and the slipped ones that do not.

Two bases meet squarely when a face of one lies along a face of the other, within an angle and over part of a base's
width. Everything else is a corner, whatever face it is nearest to. The rulebook says which pairs of faces count; pairs
are written defender first, ``"front-rear"`` for a hit from behind (EFL-077..081).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.footprint import Face
from downfield.core.scene import OPPOSITE_FACE, Figure
from downfield.officiating.calls import Finding
from downfield.officiating.conditions import (
    Condition,
    GradedLimit,
    joint_probability,
    opposite_limit,
    share_accepted,
    worth_telling,
)
from downfield.officiating.params import Param, Params, read_params
from downfield.officiating.rules.house_tackles import HITS, HOUSE_TACKLE_PARAMS, measure_hit
from downfield.officiating.rules.lines import spot_at
from downfield.officiating.state.facts import EVEN_ODDS, Facts, OpponentContact, exceedance_probability, find_figure
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import ImmediateRule
from downfield.officiating.state.over_fronts import identity_conditions

SQUARE_TACKLE_PARAMS: Final = (*read_params("downfield.officiating.rules", "square_tackle"), *HOUSE_TACKLE_PARAMS)

_UNSURE_PROBABILITY: Final = 0.9
"""Of the likelier reading at either end of the unsure band: below any confidence worth calling at."""

PAIR_CLAUSES: Final = {
    "front-front": ("EFL-078", "EFL-079"),
    "front-side": ("EFL-078",),
    "front-rear": ("EFL-080",),
    "side-front": ("EFL-079",),
}


@dataclass(frozen=True, slots=True)
class SquareHit:
    """A contact judged as a square hit."""

    pair: str  # the faces that meet, defender first, as seen
    tackle_pair: str  # the likeliest pair that is a tackle when square, should a front be the other end; `pair` if none
    angle: float  # probability that the angle between the faces counts as square; 0 for a corner
    overlap: float  # probability that enough of the faces meets
    tackles: float  # probability that the pair is a tackle when square: 0 or 1 where the fronts are certain
    review: bool  # whether a person decides when it is not square
    margin_deg: float  # how far the angle is inside the tolerance
    sigma_deg: float  # standard deviation of the angle
    limit: GradedLimit  # how many would call it square, by that margin
    overlap_mm: float  # overlap_mm, overlap_sigma_mm: by how much enough of the faces meets, and the standard deviation
    overlap_sigma_mm: float

    @property
    def square(self) -> float:
        """Probability that they meet squarely."""
        return self.angle * self.overlap

    @property
    def probability(self) -> float:
        """Probability that it is a tackle, given that the bases touch."""
        return self.square * self.tackles

    def conditions(self, angle_deg: float) -> tuple[Condition, ...]:
        """Return what makes it a tackle, given that the bases touch, at an angle between the faces."""
        off = f"{angle_deg:.1f}° off square"
        return (
            Condition("square", self.angle, self.margin_deg, self.sigma_deg, "deg", self.limit, off),
            Condition("overlap", self.overlap, self.overlap_mm, self.overlap_sigma_mm, "mm"),
            Condition("front", self.tackles),
        )

    def conditions_against(self, angle_deg: float) -> tuple[Condition, ...]:
        """Return what makes it none, any of which is enough."""
        off, limit = f"{angle_deg:.1f}° off square", opposite_limit(self.limit)
        return (
            Condition("off_square", 1.0 - self.angle, -self.margin_deg, self.sigma_deg, "deg", limit, off),
            Condition("slight_overlap", 1.0 - self.overlap, -self.overlap_mm, self.overlap_sigma_mm, "mm"),
            Condition("front", 1.0 - self.tackles, text="the front may be the other end"),
        )


@dataclass(frozen=True, slots=True)
class SquareTackle(ImmediateRule):
    """A defender's base meets the carrier's squarely, by one of the pairs of faces that count.

    A contact that begins at a corner and turns square is a tackle from the first frame in which it is square. One that
    may be either waits a moment for the bases to turn; if they do not, it is too close to call.
    """

    id: str = "tackle"
    clauses: tuple[str, ...] = ("EFL-077", "EFL-078", "EFL-079", "EFL-080", "EFL-081", "EFL-G1", "EFL-G2")
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = SQUARE_TACKLE_PARAMS

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding for each contact of the carrier that may be a tackle or has just ended without one."""
        carrier = facts.carrier
        if carrier is None:
            return ()
        before: Sequence[OpponentContact] = ()
        if facts.before is not None:
            before = Facts(facts.before, (), facts.state, facts.field).opponent_contacts(carrier.id)
        findings = [
            finding
            for contact in facts.carrier_contacts
            if (finding := self._tackle(facts, carrier, contact, before, state, params)) is not None
        ]
        return (*findings, *self._slipped(facts, carrier, before, state, params))

    def _tackle(
        self,
        facts: Facts,
        carrier: Figure,
        contact: OpponentContact,
        before: Sequence[OpponentContact],
        state: GameState,
        params: Params,
    ) -> Finding | None:
        if facts.has_fallen(contact.opponent) and not params.flag("tackle.fallen_tackles"):
            return None
        hit = classify_contact(contact, carrier, facts.figures[contact.opponent], params)
        doubtful = hit.review and hit.probability < EVEN_ODDS
        touch = Condition("touch", contact.probability, 0.0 - contact.gap_mm, contact.sigma_mm, "mm")
        left_open = Condition("judgment", EVEN_ODDS, text="a corner into the back, which the rulebook leaves open")
        conditions = (touch, left_open) if doubtful else (touch, *hit.conditions(contact.angle_deg))
        probability = joint_probability(conditions)
        conditions = (*conditions, *identity_conditions(carrier))
        if probability <= 1.0 - params.real("calls.confidence"):
            return None
        board_on_ns = state.play.board_on_ns or 0
        # A figure may touch before the board comes on; no tackle is older than that.
        t_ns = max(self._tackle_ns(facts, contact, before, params), state.play.held_since_ns)
        spot = spot_at(facts, carrier, "base", t_ns, contact.since_sigma_s)
        # One number stands beside the call, so it is that of what is most in doubt.
        by_gap = contact.probability < hit.probability
        return Finding(
            rule=self.id,
            kind="tackle",
            t_ns=t_ns,
            text=f"{carrier.id} tackled by {contact.opponent}, {hit.tackle_pair.replace('-', ' to ')}",
            clauses=(*PAIR_CLAUSES.get(hit.tackle_pair, ("EFL-080",)), "EFL-G1"),
            key=f"{contact.opponent}@{board_on_ns}",
            players=(carrier.id, contact.opponent),
            spot_yd=spot.yd,
            spot_sigma_yd=spot.sigma_yd,
            t_sigma_s=contact.since_sigma_s,
            margin=0.0 - contact.gap_mm if by_gap else hit.margin_deg,
            sigma=contact.sigma_mm if by_gap else hit.sigma_deg,
            unit="mm" if by_gap else "deg",
            probability=joint_probability(conditions),
            against=f"{carrier.id} slips {contact.opponent}'s tackle: {contact.angle_deg:.0f} degrees off square",
            against_kind="slipped_tackle",
            settle_ns=t_ns + params.ns("tackle.turn_window_s"),
            front=1.0 if doubtful else hit.tackles,
            numbers=measure_hit(facts, carrier, contact, params) if any(params[name] for name in HITS) else None,
            measure="touch",
            conditions=worth_telling(conditions),
        )

    def _tackle_ns(
        self, facts: Facts, contact: OpponentContact, before: Sequence[OpponentContact], params: Params
    ) -> int:
        """Return when the contact became a tackle: as it began, or as it turned square."""
        began_ns = facts.t_ns if contact.since_ns is None else contact.since_ns
        scene, carrier = facts.before, facts.carrier_before
        if scene is None or carrier is None or began_ns > scene.t_ns:
            return began_ns
        for earlier in before:
            opponent = find_figure(scene, earlier.opponent)
            if earlier.opponent == contact.opponent and opponent is not None:
                was_square = classify_contact(earlier, carrier, opponent, params).probability >= EVEN_ODDS
                return began_ns if was_square else facts.t_ns
        return began_ns

    def _slipped(
        self, facts: Facts, carrier: Figure, before: Sequence[OpponentContact], state: GameState, params: Params
    ) -> tuple[Finding, ...]:
        scene, carrier_then = facts.before, facts.carrier_before
        if scene is None or carrier_then is None or scene.t_ns < (state.play.board_on_ns or 0):
            return ()
        now = {contact.opponent: contact.probability for contact in facts.carrier_contacts}
        found = []
        for contact in before:
            opponent = find_figure(scene, contact.opponent)
            if opponent is None or contact.probability < EVEN_ODDS or now.get(contact.opponent, 0.0) >= EVEN_ODDS:
                continue
            hit = classify_contact(contact, carrier_then, opponent, params)
            slipped = hit.square < EVEN_ODDS or hit.tackles <= 1.0 - params.real("calls.confidence")
            if hit.probability < EVEN_ODDS and slipped and not facts.has_fallen(contact.opponent):
                found.append(self._slipped_tackle(facts, carrier, contact, hit))
        return tuple(found)

    def _slipped_tackle(self, facts: Facts, carrier: Figure, contact: OpponentContact, hit: SquareHit) -> Finding:
        by_angle = hit.tackles >= EVEN_ODDS
        reason = f"{contact.angle_deg:.0f} degrees off square" if by_angle else f"{hit.pair}"
        return Finding(
            rule=self.id,
            kind="slipped_tackle",
            t_ns=facts.t_ns,
            text=f"{carrier.id} slips the tackle of {contact.opponent}: {reason}",
            clauses=("EFL-081",) if hit.pair.startswith("rear") else ("EFL-077",),
            key=f"slip:{contact.opponent}@{facts.t_ns}",
            players=(carrier.id, contact.opponent),
            margin=-hit.margin_deg if by_angle else None,
            sigma=hit.sigma_deg if by_angle else None,
            unit="deg" if by_angle else "",
            probability=1.0 - hit.probability,
            reported=True,
            measure="excess" if by_angle else "",
            conditions=worth_telling(hit.conditions_against(contact.angle_deg), "any"),
            together="any",
        )


def square_hit(
    contact: OpponentContact,
    width_mm: float,
    sigma_deg: float,
    params: Params,
    fronts: tuple[float, float] = (1.0, 1.0),
) -> SquareHit:
    """Judge a contact of the carrier as a square hit.

    Args:
        contact: the contact; its own face is the carrier's.
        width_mm: of the narrower base.
        sigma_deg: standard deviation of the angle between the two bases.
        fronts: probability that the carrier's and the defender's headings point to their fronts.
    """
    defender_face, carrier_face = _face_kind(contact.opponent_face), _face_kind(contact.own_face)
    overlap_mm = contact.overlap_mm - params.real("tackle.overlap_share") * width_mm
    corner = "corner" in {defender_face, carrier_face}
    limit, margin_deg = square_limit(params), params.real("tackle.angle_deg") - contact.angle_deg
    pair = f"{defender_face}-{carrier_face}"
    counting = params.choices("tackle.pairs")
    shares = {name: share for name, share in _pair_shares(contact, fronts) if share > 0.0 and name in counting}
    return SquareHit(
        pair=pair,
        tackle_pair=max(shares, key=shares.__getitem__, default=pair),
        angle=0.0 if corner else share_accepted(limit, margin_deg, sigma_deg),
        overlap=exceedance_probability(overlap_mm, contact.sigma_mm),
        tackles=math.fsum(shares.values()),
        review=f"corner-{carrier_face}" in params.choices("tackle.review_pairs"),
        margin_deg=margin_deg,
        sigma_deg=sigma_deg,
        limit=limit,
        overlap_mm=overlap_mm,
        overlap_sigma_mm=contact.sigma_mm,
    )


def classify_contact(contact: OpponentContact, carrier: Figure, opponent: Figure, params: Params) -> SquareHit:
    """Judge a contact of the carrier with an opponent, both as they are in the contact's frame."""
    sigma_deg = math.hypot(carrier.sigma_deg, opponent.sigma_deg)
    fronts = (carrier.front, opponent.front)
    return square_hit(contact, min(carrier.width_mm, opponent.width_mm), sigma_deg, params, fronts)


def _pair_shares(contact: OpponentContact, fronts: tuple[float, float]) -> list[tuple[str, float]]:
    """Return the pairs of faces that may meet, each once, with their probabilities, over both ends of both bases."""
    shares: dict[str, float] = {}
    for own, own_share in _possible_faces(contact.own_face, fronts[0]):
        for opposing, opposing_share in _possible_faces(contact.opponent_face, fronts[1]):
            name = f"{_face_kind(opposing)}-{_face_kind(own)}"
            shares[name] = shares.get(name, 0.0) + own_share * opposing_share
    return list(shares.items())


def _possible_faces(face: Face, front: float) -> tuple[tuple[Face, float], ...]:
    return ((face, front), (OPPOSITE_FACE[face], 1.0 - front))


def _face_kind(face: str) -> str:
    return "side" if face in {"left", "right"} else face


def square_limit(params: Params) -> GradedLimit:
    """Return how many would call two faces square, by how far their angle is inside the tolerance, degrees.

    All of them below the unsure band and none above it, half at the tolerance, straight lines between. The angle is a
    magnitude: the true one may lie on the other side of square, where it counts the same.
    """
    low, middle, high = (params.real(f"tackle.{name}") for name in ("unsure_from_deg", "angle_deg", "unsure_to_deg"))
    sure, unsure = _UNSURE_PROBABILITY, 1.0 - _UNSURE_PROBABILITY
    by_angle = [(min(low, middle), 1.0)]
    if low < middle:
        by_angle += [(low, sure), (middle, EVEN_ODDS)]
    if high > middle:
        by_angle += [(middle, EVEN_ODDS), (high, unsure)]
    by_angle.append((max(high, middle), 0.0))
    falling = [(middle - angle, share) for angle, share in reversed(by_angle)]
    return (*falling, *((middle + angle, share) for angle, share in by_angle))
