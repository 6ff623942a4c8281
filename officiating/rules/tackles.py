"""Tackles and falls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from downfield.core.scene import Figure
from downfield.officiating.calls import Finding
from downfield.officiating.engine.calling import has_too_close
from downfield.officiating.engine.facts import EVEN_ODDS, Facts, OpponentContact, capped_if_unsure
from downfield.officiating.engine.interfaces import ImmediateRule, RuleContext
from downfield.officiating.engine.play_state import FigureFall
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rules.lines import reference_param, spot_at

FACES: Final = ("front", "rear", "left", "right", "corner")
EARLY_FALL_NS: Final = 100_000_000
"""A camera may see a figure lie a little before it sees the gap close: such falls belong to the contact."""
BELIEVED_NS: Final = 150_000_000
"""After its window a tackle waits for so long: a fall in its last moments is believed some frames after it happened."""


def tackle_params(window_s: float, spot: str, reason: str, *, fallen_tackles: bool) -> tuple[Param, ...]:
    """The parameters of `Tackle`, with a rulebook's defaults."""
    return (
        Param("tackle.fall_window_s", window_s, "s", reason, low=0, high=5),
        Param("tackle.fallen_tackles", fallen_tackles, "", "whether a fallen defender's base still makes a tackle"),
        Param("tackle.broken_by_fall", not fallen_tackles, "", "whether a tackler who falls in the tackle loses it"),
        Param("tackle.fumble_by_fall", not fallen_tackles, "", "whether a carrier who falls in a tackle fumbles"),
        reference_param("tackle.spot", spot, "where the ball is marked"),
        Param("tackle.faces", FACES, "", "faces of the defender's base that make a tackle", choices=FACES),
    )


@dataclass(frozen=True, slots=True)
class Tackle:
    """A defender's base touches the carrier's: tackle, broken tackle, fumble, or both down.

    Attributes:
        clauses: of a plain tackle.
        broken, fumble, both, spot: clauses of the other endings, and of where the ball is marked.
        params: see `tackle_params`.

    """

    clauses: tuple[str, ...]
    broken: tuple[str, ...]
    fumble: tuple[str, ...]
    both: tuple[str, ...]
    spot: tuple[str, ...]
    params: tuple[Param, ...]
    id: str = "tackle"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:
        """Contacts of the carrier with standing opponents that may be real."""
        carrier = facts.carrier
        if carrier is None or not facts.carrier_contacts:
            return ()
        doubtful = 1.0 - params.real("calls.confidence")
        return tuple(
            self._contact(facts, carrier, touch, state, params)
            for touch in facts.carrier_contacts
            if touch.probability > doubtful and self._counts(touch, facts, state, params)
        )

    def settle(self, finding: Finding, state: GameState, context: RuleContext) -> Finding | None:
        """What the contact became, by who has fallen in the window."""
        window_ns = context.params.ns("tackle.fall_window_s")
        carrier, tackler = finding.players[:2]
        carrier_fell = fall_in_window(state, carrier, finding.t_ns, window_ns) is not None
        tackler_fell = context.params.flag("tackle.broken_by_fall") and fall_in_window(
            state, tackler, finding.t_ns, window_ns
        )
        if tackler_fell and carrier_fell:
            if self._another_stands(finding, state, window_ns):
                return None  # the other one's tackle, and so his fumble
            return replace(
                finding,
                kind="down_by_fall",
                text=f"{carrier} and {tackler} both fall: no fumble, down by the fall",
                clauses=(*self.both, *self.spot),
            )
        if tackler_fell:
            text = f"broken tackle: {tackler} falls, {carrier} runs on"
            return replace(finding, kind="broken_tackle", text=text, clauses=self.broken, spot_yd=None)
        if carrier_fell and context.params.flag("tackle.fumble_by_fall"):
            text = f"{carrier} fumbles, knocked down by {tackler}"
            return replace(finding, kind="fumble", text=text, clauses=(*self.fumble, *self.spot))
        return finding

    def _contact(
        self, facts: Facts, carrier: Figure, touch: OpponentContact, state: GameState, params: Params
    ) -> Finding:
        board_on_ns = state.play.board_on_ns or 0
        since_ns = facts.t_ns if touch.since_ns is None else touch.since_ns
        t_ns = max(since_ns, board_on_ns)
        window_ns = params.ns("tackle.fall_window_s")
        likely = facts.sustained_probability(carrier.id, touch)
        return Finding(
            rule=self.id,
            kind="tackle",
            t_ns=t_ns,
            text=f"{carrier.id} tackled by {touch.other}",
            clauses=(*self.clauses, *self.spot),
            key=f"{touch.other}@{board_on_ns}",
            players=(carrier.id, touch.other),
            spot_yd=spot_at(facts, carrier, params.choice("tackle.spot"), t_ns),
            margin=0.0 - touch.gap_mm,
            sigma=touch.sigma_mm,
            unit="mm",
            probability=capped_if_unsure(likely, carrier),
            against=f"{touch.other} does not touch {carrier.id}: play on",
            settle_ns=t_ns + window_ns + (BELIEVED_NS if window_ns else 0),
            settle_early=False,
        )

    def _counts(self, touch: OpponentContact, facts: Facts, state: GameState, params: Params) -> bool:
        if touch.other_face not in params.choices("tackle.faces"):
            return False
        if params.flag("tackle.fallen_tackles"):
            return True
        fell_ns = state.play.fallen_ns(touch.other)
        since_ns = facts.t_ns if touch.since_ns is None else max(touch.since_ns, state.play.board_on_ns or 0)
        return fell_ns is None or fell_ns >= since_ns - EARLY_FALL_NS

    def _another_stands(self, finding: Finding, state: GameState, window_ns: int) -> bool:
        """Whether another defender's contact within the window is pending and he stays up."""
        for rival in state.play.pending:
            if rival.rule == self.id and rival.t_ns <= finding.t_ns + window_ns:
                return fall_in_window(state, rival.players[1], rival.t_ns, window_ns) is None
        return False


def fall_in_window(state: GameState, player: str, contact_ns: int, window_ns: int) -> FigureFall | None:
    """The fall of a figure that belongs to a contact: from just before it to the end of the window."""
    for fall in state.play.falls:
        if fall.player == player and contact_ns - EARLY_FALL_NS <= fall.t_ns <= contact_ns + window_ns:
            return fall
    return None


ON_FEET: Final = frozenset({Phase.LIVE, Phase.IN_AIR})

LIES_NS: Final = 200_000_000
"""For so long somebody must lie to have fallen: a network takes some for fallen for a moment."""


@dataclass(frozen=True, slots=True)
class DownByFall:
    """The carrier falls with no standing defender in the tackle: down there, the ball at the base's foremost part.

    Attributes:
        clauses: cited.

    """

    clauses: tuple[str, ...]
    id: str = "down_by_fall"
    phases: frozenset[Phase] = frozenset({Phase.LIVE})
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:  # noqa: ARG002
        """The carrier has fallen since the board came on."""
        carrier, before = facts.carrier, facts.carrier_before
        if carrier is None or carrier.posture != "fallen" or before is None or before.posture == "fallen":
            return ()
        standing = before if before.posture == "upright" else carrier
        t_ns = max(facts.fell_ns(carrier), state.play.board_on_ns or 0)
        return (
            Finding(
                rule=self.id,
                kind="down_by_fall",
                t_ns=t_ns,
                text=f"{carrier.id} falls by himself and is down",
                clauses=self.clauses,
                key=f"{carrier.id}@{facts.t_ns}",
                players=(carrier.id,),
                spot_yd=spot_at(facts, standing, "base", t_ns),
                probability=capped_if_unsure(1.0, carrier),
                against=f"it is not {carrier.id} who fell",
                settle_ns=facts.t_ns + LIES_NS,
                settle_early=False,
            ),
        )

    def settle(self, finding: Finding, state: GameState, context: RuleContext) -> Finding | None:  # noqa: ARG002
        """Nothing, when he stands again or a contact came so soon that the fall belongs to it.

        Doubtful, when a contact may have come before.
        """
        tackled = any(
            rival.rule == "tackle" and rival.t_ns <= finding.t_ns + EARLY_FALL_NS for rival in state.play.pending
        )
        if tackled or state.play.fallen_ns(finding.players[0]) is None:
            return None
        if has_too_close(state.play, "tackle", state.play.board_on_ns or 0):
            against = f"{finding.players[0]} was tackled"
            return replace(finding, probability=min(finding.probability, EVEN_ODDS), against=against)
        return finding


@dataclass(frozen=True, slots=True)
class FigureDead(ImmediateRule):
    """A figure without the ball falls: it is out of the play, and in everyone's way.

    Attributes:
        clauses: cited.

    """

    clauses: tuple[str, ...]
    id: str = "figure_dead"
    phases: frozenset[Phase] = ON_FEET
    params: tuple[Param, ...] = ()

    def observe(self, facts: Facts, state: GameState, params: Params) -> tuple[Finding, ...]:  # noqa: ARG002
        """Who has fallen in this frame."""
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
                reported=True,
            )
            for fall in falls
            if fall.first_seen_ns == facts.t_ns and fall.player != state.play.carrier
        )
