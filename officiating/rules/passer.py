"""Rules about the passer: contact that ends the right to pass, a touch of the handle, and dropping too deep."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from downfield.core.footprint import BaseSize, Footprint, signed_gap
from downfield.core.scene import Figure, Scene
from downfield.officiating.calls import Finding
from downfield.officiating.conditions import Condition, worth_telling
from downfield.officiating.params import Param, Params, read_params
from downfield.officiating.rules.lines import LINGER_NS, crossing, reference_param, reference_point, spot_at
from downfield.officiating.sides import canonical_role
from downfield.officiating.state.facts import Facts, MeasuredPoint, capped_if_unsure, exceedance_probability
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import ImmediateRule
from downfield.officiating.state.play_state import board_s

HANDLE_PARAMS: Final = read_params("downfield.officiating.rules", "handle")


def may_still_pass(state: GameState) -> bool:
    """Return whether the carrier is the passing quarterback, holds the ball and is short of the line of scrimmage.

    In a game without a line-up nobody can be named, so whoever throws is the quarterback.
    """
    play = state.play
    entry = state.player(play.carrier)
    passer = canonical_role(entry.role) == "QB" if entry is not None else not state.players  # nobody is named at all
    return passer and play.ball_side == state.offense and play.line_reached_ns is None and not play.pass_caught


RUSH_PARAMS: Final = read_params("downfield.officiating.rules", "rush")


def rush_refusal(state: GameState, params: Params, t_ns: int) -> str:
    """Return why a pass comes too late for a league's pass rush; empty where it does not."""
    rush_s = params.real("pass.rush_s") if "pass.rush_s" in params.definitions else 0.0
    ran_s = board_s(state.play, t_ns)
    if not rush_s or ran_s <= rush_s:
        return ""
    return f"pass: the board has run {ran_s:.1f} s and the rush is in after {rush_s:g} (pass.rush_s); declare the sack"


@dataclass(frozen=True, slots=True)
class PassRush(ImmediateRule):
    """The board has run for as long as a league's pass rush takes, and the passer has not thrown: a sack."""

    clauses: tuple[str, ...]  # ids of the clauses about his right to pass
    id: str = "pass_rush"
    needs: tuple[str, ...] = ("pass.rush_s",)
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = RUSH_PARAMS

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding once the time may be up."""
        carrier, rush_s = facts.carrier, params.real("pass.rush_s")
        kinds = {"scrimmage", "two_point"}
        if carrier is None or not may_still_pass(state) or state.play.kind not in kinds:
            return ()
        over_s = board_s(state.play, facts.t_ns) - rush_s
        # The board came on between two frames, and one of them is this one.
        step_s = 0.0 if facts.before is None else (facts.t_ns - facts.before.t_ns) / 1e9
        probability = exceedance_probability(over_s, step_s / math.sqrt(12.0))
        if probability <= 1.0 - params.real("calls.confidence"):
            return ()
        t_ns = facts.t_ns - max(0, round(over_s * 1e9))
        spot = spot_at(facts, carrier, "base", t_ns)
        return (
            Finding(
                rule=self.id,
                kind="sack",
                t_ns=t_ns,
                text=f"{carrier.id} sacked: the rush is in after {rush_s:g} s",
                clauses=self.clauses,
                key=f"{carrier.id}@{state.play.board_on_ns}",
                players=(carrier.id,),
                spot_yd=spot.yd,
                spot_sigma_yd=spot.sigma_yd,
                margin=over_s,
                sigma=step_s / math.sqrt(12.0),
                unit="s",
                probability=capped_if_unsure(probability, carrier),
                against=f"{carrier.id} may still pass",
                settle_ns=facts.t_ns + LINGER_NS,
                detail="rush",
                measure="excess",
            ),
        )


@dataclass(frozen=True, slots=True)
class PasserTouched(ImmediateRule):
    """A defender's base touches the passer's, in whatever way: he may no longer pass (EFL-029)."""

    id: str = "passer_touched"
    clauses: tuple[str, ...] = ("EFL-029",)
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding for the most probable contact with a standing defender."""
        carrier = facts.carrier
        if carrier is None or not may_still_pass(state) or state.play.note("pass_over") is not None:
            return ()
        contacts = [contact for contact in facts.carrier_contacts if not facts.has_fallen(contact.opponent)]
        contact = max(contacts, key=lambda contact: contact.probability, default=None)
        if contact is None or contact.probability <= 1.0 - params.real("calls.confidence"):
            return ()
        return (
            Finding(
                rule=self.id,
                kind="info",
                t_ns=max(facts.t_ns if contact.since_ns is None else contact.since_ns, state.play.board_on_ns or 0),
                text=f"{carrier.id} is touched by {contact.opponent} and may no longer pass",
                clauses=self.clauses,
                key=f"{contact.opponent}@{state.play.board_on_ns}",
                players=(carrier.id, contact.opponent),
                margin=0.0 - contact.gap_mm,
                sigma=contact.sigma_mm,
                unit="mm",
                probability=contact.probability,
                against=f"{contact.opponent} does not touch {carrier.id}: he may pass",
                detail="pass_over",
                measure="touch",
            ),
        )


@dataclass(frozen=True, slots=True)
class HandleSack(ImmediateRule):
    """A defender coming from behind touches the passer's handle behind the line: a sack (EFL-043).

    The handle stands above the board, where no camera measures contact for certain, so the sack is only proposed.
    """

    id: str = "handle_sack"
    clauses: tuple[str, ...] = ("EFL-043",)
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = HANDLE_PARAMS

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding for each defender behind the passer whose base may reach the handle."""
        carrier = facts.carrier
        if carrier is None or not may_still_pass(state):
            return ()
        doubtful = 1.0 - params.real("calls.confidence")
        found = []
        for passer in (carrier, carrier.turned_around()):
            if passer.front <= doubtful:
                continue
            for figure in facts.scene.figures:
                if figure.jersey == carrier.jersey or facts.has_fallen(figure.id):
                    continue
                gap_mm = _gap_to_handle_mm(figure, passer, params)
                sigma_mm = math.hypot(*carrier.sigma_mm, *figure.sigma_mm)
                if gap_mm is not None and exceedance_probability(0.0 - gap_mm, sigma_mm) * passer.front > doubtful:
                    found.append(self._sack(facts, passer, figure, state, gap_mm, sigma_mm))
        return tuple(found)

    def _sack(
        self, facts: Facts, carrier: Figure, tackler: Figure, state: GameState, gap_mm: float, sigma_mm: float
    ) -> Finding:
        touched = exceedance_probability(0.0 - gap_mm, sigma_mm)
        spot = spot_at(facts, carrier, "base", facts.t_ns)
        conditions = (Condition("handle", touched, 0.0 - gap_mm, sigma_mm, "mm"), Condition("front", carrier.front))
        return Finding(
            rule=self.id,
            kind="sack",
            t_ns=facts.t_ns,
            text=f"{carrier.id} sacked: {tackler.id} reaches his handle from behind",
            clauses=self.clauses,
            key=f"{tackler.id}@{state.play.board_on_ns}",
            players=(carrier.id, tackler.id),
            spot_yd=spot.yd,
            spot_sigma_yd=spot.sigma_yd,
            margin=0.0 - gap_mm,
            sigma=sigma_mm,
            unit="mm",
            probability=touched * carrier.front,
            front=carrier.front,
            conditions=worth_telling(conditions),
            against=f"{tackler.id} does not touch the handle",
            proposed=True,
            measure="handle",
        )


@dataclass(frozen=True, slots=True)
class TooDeep(ImmediateRule):
    """The passer is farther behind the line of scrimmage than allowed: a sack (Lion's Den)."""

    clauses: tuple[str, ...]  # ids of the clauses that its calls cite
    id: str = "too_deep"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = (
        Param("pocket.depth_yd", 10.0, "yd", "LD-042, LD-043", low=1, high=50),
        reference_param("pocket.reference", "hand", "not stated; where the ball is downed"),
    )

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding when the passer may be deeper than the limit."""
        carrier = facts.carrier
        if carrier is None or not may_still_pass(state) or state.play.kind not in {"scrimmage", "two_point"}:
            return ()
        reference = params.choice("pocket.reference")
        sigma_mm = reference_point(facts, carrier, reference).sigma_mm

        def margin(figure: Figure, scene: Scene) -> tuple[float, float]:
            return self._margin(reference_point(facts, figure, reference, scene), facts, state, params), sigma_mm

        return crossing(
            self,
            facts,
            state,
            params,
            reference,
            margin(carrier, facts.scene),
            margin,
            "excess",
            kind="sack",
            text=f"{carrier.id} drops more than {params.real('pocket.depth_yd'):g} yards behind the line: sacked",
            against=f"{carrier.id} is not yet too deep",
            detail="depth",
            measure="excess",
        )

    def _margin(self, point: MeasuredPoint, facts: Facts, state: GameState, params: Params) -> float:
        behind = (state.los_yd * facts.field.mm_per_yd_x - point.x_mm) * state.ball_direction
        return behind - params.real("pocket.depth_yd") * facts.field.mm_per_yd_x


def _gap_to_handle_mm(figure: Figure, carrier: Figure, params: Params) -> float | None:
    """Return the gap of a figure behind the carrier to the handle behind his base, None for one ahead or far away."""
    turn = math.radians(carrier.heading_deg)
    cos, sin = math.cos(turn), math.sin(turn)
    if (figure.x_mm - carrier.x_mm) * cos + (figure.y_mm - carrier.y_mm) * sin >= -carrier.length_mm / 2:
        return None  # his center is not behind the rear edge of the carrier's base
    length, width = params.real("sack.handle_mm"), params.real("sack.handle_width_mm")
    back = (carrier.length_mm + length) / 2
    x_mm, y_mm, size = carrier.x_mm - back * cos, carrier.y_mm - back * sin, BaseSize(max(length, 0.1), width, 0.0, 0.0)
    if math.hypot(figure.x_mm - x_mm, figure.y_mm - y_mm) > figure.length_mm + size.length_mm:
        return None
    return signed_gap(Footprint(x_mm, y_mm, carrier.heading_deg, size), figure.footprint).gap_mm
