"""Tackles and falls: contact with the carrier, the carrier down on its own, other figures out of the play.

TAP decides a tackle by who still stands afterwards, so a contact waits for the fall window before it is called. A
rulebook in which falls mean nothing (Lion's Den) has a window of 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from downfield.core.scene import OPPOSITE_FACE, Figure
from downfield.officiating.calls import Finding
from downfield.officiating.conditions import Condition, joint_probability, worth_telling
from downfield.officiating.params import Param, Params
from downfield.officiating.rules.house_tackles import HITS, HOUSE_TACKLE_PARAMS, measure_hit
from downfield.officiating.rules.lines import reference_param, spot_at
from downfield.officiating.state.facts import (
    EVEN_ODDS,
    FACT_LIMITS,
    Facts,
    OpponentContact,
    capped_if_unsure,
    find_figure,
)
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import ImmediateRule, RuleContext
from downfield.officiating.state.over_fronts import identity_conditions
from downfield.officiating.state.play_state import FigureFall


@dataclass(frozen=True, slots=True)
class TackleLimits:
    """Time limits of tackles and falls that no rulebook states."""

    # a camera may see a figure lie a little before it sees the gap close: such a fall belongs to the contact
    early_fall_ns: int = 100_000_000
    # a tackle waits this much past its window: a fall at its end is detected some frames after it happened
    late_fall_ns: int = 150_000_000
    # in fewer of the frames since a contact than this share a figure that may have fallen is hardly seen
    seen_share: float = 0.5
    # who fell this soon after a time without pictures may have been knocked down in it
    touched_before_ns: int = 500_000_000
    vague_mm: float = 3.0  # a gap with a larger error was not measured: it may have closed where its error leaves that
    # the carrier must lie this long to have fallen: a network takes some figures for fallen for a moment
    confirm_fall_ns: int = 200_000_000
    # where no fall is waited for, a contact that is not sure is measured for so long before it is left open
    doubtful_ns: int = 200_000_000


_LIMITS: Final = TackleLimits()

FACES: Final = ("front", "rear", "left", "right", "corner")


def tackle_params(window_s: float, spot: str, reason: str, *, fallen_tackles: bool) -> tuple[Param, ...]:
    """Return the parameters of `Tackle` with a rulebook's defaults."""
    return (
        Param("tackle.fall_window_s", window_s, "s", reason, low=0, high=5),
        Param("tackle.fallen_tackles", fallen_tackles, "", "whether a fallen defender's base still makes a tackle"),
        Param("tackle.broken_by_fall", not fallen_tackles, "", "whether a tackler who falls in the tackle loses it"),
        Param("tackle.fumble_by_fall", not fallen_tackles, "", "whether a carrier who falls in a tackle fumbles"),
        reference_param("tackle.spot", spot, "where the ball is marked"),
        Param("tackle.faces", FACES, "", "faces of the defender's base that make a tackle", choices=FACES),
        *HOUSE_TACKLE_PARAMS,
    )


@dataclass(frozen=True, slots=True)
class Tackle:
    """A defender's base touches the carrier's: a tackle, a broken tackle, a fumble, or both down."""

    clauses: tuple[str, ...]
    broken: tuple[str, ...]  # broken, fumble, both, spot: clauses of the other endings, and of where the ball is marked
    fumble: tuple[str, ...]
    both: tuple[str, ...]
    spot: tuple[str, ...]
    params: tuple[Param, ...]  # see `tackle_params`
    id: str = "tackle"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Return a finding for each contact of the carrier with a standing opponent that may be real."""
        carrier = facts.carrier
        if carrier is None or not facts.carrier_contacts:
            return ()
        doubtful = 1.0 - params.real("calls.confidence")
        return tuple(
            self._finding(facts, carrier, contact, state, params)
            for contact in facts.carrier_contacts
            if contact.probability * _counting_share(contact, facts, params) > doubtful
            and self._may_tackle(contact, facts, state, params)
        )

    def settle(self, finding: Finding, state: GameState, context: RuleContext) -> Finding | None:
        """Return what the contact became, by who fell within the window."""
        window_ns = context.params.ns("tackle.fall_window_s")
        carrier, tackler = finding.players[:2]
        counting = [
            name
            for name, flag in ((carrier, "fumble_by_fall"), (tackler, "broken_by_fall"))
            if context.params.flag(f"tackle.{flag}")
        ]
        hidden = [name for name in counting if _was_hidden(context.facts, name, finding.t_ns)]
        if hidden or any(_may_be_in_window(state, name, finding, window_ns) for name in counting):
            who = f": {' and '.join(hidden)} not visible" if hidden else ""
            unknown = Condition("instant", EVEN_ODDS, text=f"no pictures tell who fell within its time{who}")
            probability = min(finding.probability, EVEN_ODDS)
            return replace(finding, probability=probability, conditions=(*finding.conditions, unknown))
        carrier_fell = fall_in_window(state, carrier, finding.t_ns, window_ns) is not None
        tackler_fell = context.params.flag("tackle.broken_by_fall") and fall_in_window(
            state, tackler, finding.t_ns, window_ns
        )
        # One tackler who stays up is enough: the fall of another beside him breaks nothing.
        another = bool(tackler_fell) and self._another_tackler_stands(finding, state, window_ns)
        if tackler_fell and carrier_fell:
            if another:
                return None  # it is the other defender's tackle, and so his fumble
            text = f"{carrier} and {tackler} both fall: {carrier} is down, no fumble"
            return replace(finding, kind="down_by_fall", text=text, clauses=(*self.both, *self.spot))
        if tackler_fell:
            then = "another tackler stands" if another else f"{carrier} runs on"
            text = f"broken tackle: {tackler} falls, {then}"
            return replace(finding, kind="broken_tackle", text=text, clauses=self.broken, spot_yd=None)
        if carrier_fell and context.params.flag("tackle.fumble_by_fall"):
            text = f"{carrier} fumbles, knocked down by {tackler}"
            return replace(finding, kind="fumble", text=text, clauses=(*self.fumble, *self.spot))
        return finding

    def _finding(
        self, facts: Facts, carrier: Figure, contact: OpponentContact, state: GameState, params: Params
    ) -> Finding:
        board_on_ns = state.play.board_on_ns or 0
        since_ns = facts.t_ns if contact.since_ns is None else contact.since_ns
        t_ns = max(since_ns, state.play.held_since_ns)
        window_ns = params.ns("tackle.fall_window_s")
        spot = spot_at(facts, carrier, params.choice("tackle.spot"), t_ns, contact.since_sigma_s)
        share = _counting_share(contact, facts, params)
        touch = facts.sustained_probability(carrier.id, contact)
        conditions = (
            Condition("touch", touch, 0.0 - contact.gap_mm, contact.sigma_mm, "mm"),
            Condition("front", share),
            *identity_conditions(carrier),
        )
        return Finding(
            rule=self.id,
            kind="tackle",
            t_ns=t_ns,
            text=f"{carrier.id} tackled by {contact.opponent}",
            clauses=(*self.clauses, *self.spot),
            key=f"{contact.opponent}@{board_on_ns}",
            players=(carrier.id, contact.opponent),
            spot_yd=spot.yd,
            spot_sigma_yd=spot.sigma_yd,
            t_sigma_s=contact.since_sigma_s,
            # 0.0 - x, as -x makes of a gap of 0 a margin of -0.0.
            margin=0.0 - contact.gap_mm,
            sigma=contact.sigma_mm,
            unit="mm",
            probability=joint_probability(conditions),
            against=f"{contact.opponent} does not touch {carrier.id}: play on",
            settle_ns=t_ns + (window_ns + _LIMITS.late_fall_ns if window_ns else _LIMITS.doubtful_ns),
            # Even a certain contact waits where who falls in the window decides what it was.
            settle_early=not window_ns,
            front=share,
            numbers=measure_hit(facts, carrier, contact, params) if any(params[name] for name in HITS) else None,
            measure="touch",
            conditions=worth_telling(conditions),
        )

    def _may_tackle(self, contact: OpponentContact, facts: Facts, state: GameState, params: Params) -> bool:
        if params.flag("tackle.fallen_tackles"):
            return True
        since_ns = facts.t_ns if contact.since_ns is None else max(contact.since_ns, state.play.held_since_ns)
        fall = next((one for one in state.play.falls if one.player == contact.opponent), None)
        return fall is None or _latest_ns(fall) >= since_ns - _LIMITS.early_fall_ns

    def _another_tackler_stands(self, finding: Finding, state: GameState, window_ns: int) -> bool:
        """Return whether another defender's contact within the window is pending and that defender stays up."""
        return any(
            fall_in_window(state, rival.players[1], rival.t_ns, window_ns) is None
            for rival in state.play.pending
            if rival.rule == self.id and rival.t_ns <= finding.t_ns + window_ns and rival.probability > EVEN_ODDS
        )


@dataclass(frozen=True, slots=True)
class DownByFall:
    """The carrier falls without a standing defender in the tackle: down there, by the foremost part of the base."""

    clauses: tuple[str, ...]  # ids of the clauses that its calls cite
    id: str = "down_by_fall"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:  # noqa: ARG002
        """Return a finding when the carrier has fallen since the frame before."""
        carrier, before = facts.carrier, facts.carrier_before
        if carrier is None or carrier.posture != "fallen":
            return ()
        fall = next((one for one in state.play.falls if one.player == carrier.id), None)
        # After frames that did not come it is a fall that was not seen before.
        if before is None and (fall is None or fall.first_seen_ns != facts.t_ns):
            return ()
        if before is not None and before.posture == "fallen":
            return ()
        # The outline of a base that lies says little of where the figure stood.
        standing = before if before is not None and before.posture == "upright" else carrier
        t_ns = max(facts.fell_ns(carrier), state.play.held_since_ns)
        spot = spot_at(facts, standing, "base", t_ns, facts.unseen_error_s(t_ns, carrier.id))
        since_ns = max(t_ns - _LIMITS.touched_before_ns, state.play.held_since_ns)
        watched = _was_watched(facts, carrier.id, since_ns, t_ns)
        untouched = Condition("instant", EVEN_ODDS, text=f"no pictures tell whether {carrier.id} was touched")
        return (
            Finding(
                rule=self.id,
                kind="down_by_fall",
                t_ns=t_ns,
                text=f"{carrier.id} falls untouched and is down",
                clauses=self.clauses,
                key=f"{carrier.id}@{facts.t_ns}",
                players=(carrier.id,),
                spot_yd=spot.yd,
                spot_sigma_yd=spot.sigma_yd,
                probability=capped_if_unsure(1.0 if watched else EVEN_ODDS, carrier),
                against=f"the figure that fell is not {carrier.id}" if watched else f"{carrier.id} was tackled",
                conditions=() if watched else (untouched, *identity_conditions(carrier)),
                settle_ns=facts.t_ns + _LIMITS.confirm_fall_ns,
                settle_early=False,
            ),
        )

    def settle(self, finding: Finding, state: GameState, context: RuleContext) -> Finding | None:  # noqa: ARG002
        """Return the finding, or None when the carrier stands again or the fall belongs to a contact.

        The finding is doubtful when a contact before the fall was too close to call.
        """
        tackled = any(
            rival.rule == "tackle" and rival.t_ns <= finding.t_ns + _LIMITS.early_fall_ns
            for rival in state.play.pending
        )
        if tackled or state.play.fallen_ns(finding.players[0]) is None:
            return None
        if state.play.had_too_close("tackle"):
            against = f"{finding.players[0]} was tackled"
            return replace(finding, probability=min(finding.probability, EVEN_ODDS), against=against)
        return finding


@dataclass(frozen=True, slots=True)
class FigureDead(ImmediateRule):
    """A figure without the ball falls: it is out of the play but stays where it lies."""

    clauses: tuple[str, ...]  # ids of the clauses that its calls cite
    id: str = "figure_dead"
    phases: frozenset[Phase] = frozenset({Phase.LIVE, Phase.IN_AIR})
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:  # noqa: ARG002
        """Return a finding for each figure that has fallen in this frame."""
        falls = state.play.falls
        if not falls or falls[-1].first_seen_ns != facts.t_ns:
            return ()
        return tuple(
            Finding(
                rule=self.id,
                kind="figure_dead",
                t_ns=fall.t_ns,
                text=f"{fall.player} has fallen and is out of the play",
                clauses=self.clauses,
                key=fall.player,
                players=(fall.player,),
                probability=capped_if_unsure(1.0, facts.figures[fall.player]),
                reported=True,
            )
            for fall in falls
            if fall.first_seen_ns == facts.t_ns and fall.player != state.play.carrier
        )


def _counting_share(contact: OpponentContact, facts: Facts, params: Params) -> float:
    """Return the probability that the opponent's face that meets is one that makes a tackle."""
    faces, front = params.choices("tackle.faces"), facts.figures[contact.opponent].front
    if contact.opponent_face in faces:
        return 1.0 if OPPOSITE_FACE[contact.opponent_face] in faces else front
    return 1.0 - front if OPPOSITE_FACE[contact.opponent_face] in faces else 0.0


def _latest_ns(fall: FigureFall) -> int:
    """Return when a figure fell at the latest: not after it was seen fallen."""
    return min(fall.t_ns + round(math.sqrt(3) * fall.sigma_s * 1e9), fall.first_seen_ns)


def _may_be_in_window(state: GameState, player: str, contact: Finding, window_ns: int) -> bool:
    """Return whether the errors of a fall and of a contact leave open whether he fell within the contact's window."""
    for fall in state.play.falls:
        spread_ns = round(math.sqrt(3) * max(fall.sigma_s, contact.t_sigma_s) * 1e9)
        began_ns, end_ns = contact.t_ns - _LIMITS.early_fall_ns, contact.t_ns + window_ns
        before_ns = fall.t_ns - round(math.sqrt(3) * fall.sigma_s * 1e9)
        if fall.player == player and (
            before_ns < began_ns < _latest_ns(fall) or fall.t_ns - spread_ns < end_ns < fall.t_ns + spread_ns
        ):
            return True
    return False


def _was_hidden(facts: Facts | None, player: str, since_ns: int) -> bool:
    """Return whether a figure was hardly seen since an instant, so that he may have fallen unnoticed."""
    scenes = () if facts is None else tuple(one for one in (*facts.recent, facts.scene) if one.t_ns > since_ns)
    figures = [find_figure(scene, player) for scene in scenes]
    seen = sum(one is not None and (one.posture == "fallen" or one.visible > 0.0) for one in figures)
    return seen < _LIMITS.seen_share * len(figures)


def _was_watched(facts: Facts, player: str, since_ns: int, t_ns: int) -> bool:
    """Return whether nobody can have touched a figure between two instants without a picture that shows it."""
    scenes = [one for one in (*facts.recent, facts.scene) if one.t_ns >= since_ns]
    few = any(after.t_ns - before.t_ns > FACT_LIMITS.usual_step_ns for before, after in pairwise(scenes))
    near = [(one.t_ns, contact) for one in scenes for contact in one.contacts if player in {contact.a, contact.b}]
    vague = any(
        at_ns <= t_ns and contact.gap_mm < 2 * contact.sigma_mm and contact.sigma_mm > _LIMITS.vague_mm
        for at_ns, contact in near
    )
    return not (vague or (few and near)) and (facts.state.unseen_ns or (0, 0))[1] < since_ns


def fall_in_window(state: GameState, player: str, contact_ns: int, window_ns: int) -> FigureFall | None:
    """Return the fall of a figure that belongs to a contact: from just before it to the end of the window."""
    for fall in state.play.falls:
        if fall.player == player and contact_ns - _LIMITS.early_fall_ns <= fall.t_ns <= contact_ns + window_ns:
            return fall
    return None
