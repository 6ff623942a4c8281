"""The state of one play: what lasts from one line-up to the next dead ball, and no longer."""

from __future__ import annotations

import itertools
import math
from typing import Any, Final, Literal

from downfield.core.records import record, replace
from downfield.core.scene import Scene
from downfield.officiating.call_kinds import RUN_ENDS
from downfield.officiating.calls import Finding
from downfield.officiating.conditions import Condition, joint_probability
from downfield.officiating.declarations import Side

PlayKind = Literal["scrimmage", "kickoff", "onside", "punt", "field_goal", "extra_point", "two_point", "free_kick"]

_BY_CARD: Final[dict[str, PlayKind]] = {
    "punt": "punt",
    "touch_punt": "punt",
    "field_goal": "field_goal",
    "fair_catch_kick": "field_goal",
    "extra_point": "extra_point",
    "two_point": "two_point",
    "onside": "onside",
}


def kind_by_card(card: str, due: PlayKind) -> PlayKind:
    """Return the kind of play of a card, as of `CardPlayed`, when a kind is due; of runs and passes what is due."""
    return _BY_CARD.get(card, due if due in {"kickoff", "free_kick"} else "scrimmage")


BOARD_S: Final = "board_s"  # note of a play: how long the board has run in it up to the stoppage, seconds

HowGained = Literal["snap", "pitch", "reception", "interception", "kick", "recovery"]

_SAME_SPOT_YD, _SAME_SPOT_SIGMAS = 0.1, 2.0  # spots no further apart than both are the same


@record
class Hold:
    """One man's hold of the ball, from gaining it to losing it. The holds of a play, in order, are its possession."""

    side: Side  # whose ball it was
    player: str | None  # roster id; None where nobody was named
    how: HowGained  # how he gained it
    t_ns: int  # when he gained it
    sigma_s: float = 0.0  # standard deviation of that instant
    spot_yd: tuple[float, float] | None = None  # where, along x of the board and across; None where nobody knows
    spot_sigma_yd: tuple[float, float] = (0.0, 0.0)  # standard deviation of that, along and across
    lost_ns: int | None = None  # lost_ns, lost_yd: when and where he lost it; None while he holds it
    lost_yd: tuple[float, float] | None = None
    turns: int = 0  # how often he turned back
    faces_forward: bool = False  # whether he has faced forward again since
    # farthest_yd, farthest_sigma_yd: the farthest that he was seen, in his side's own yards, and the standard deviation
    # of that; None where nobody saw him
    farthest_yd: float | None = None
    farthest_sigma_yd: float = 0.0


@record
class FigureFall:
    """A figure that fell in this play."""

    player: str  # roster id
    t_ns: int  # when it fell; where vision does not say, when it was first seen fallen
    first_seen_ns: int  # when it was first seen fallen
    sigma_s: float = 0.0  # standard deviation of `t_ns`, where no picture came then


@record
class Pose:
    """Where a figure stood when the board stopped."""

    player: str  # roster id
    x_mm: float  # x_mm, y_mm, heading_deg: its footprint, board frame
    y_mm: float
    heading_deg: float
    # sigma_mm, sigma_deg: standard deviations of the position and the heading
    sigma_mm: tuple[float, float] = (0.0, 0.0)
    sigma_deg: float = 0.0
    touching: float = 0.0  # probability that it touched an opposing base
    front: float = 1.0  # probability that the heading points to the front


def poses_of(scene: Scene) -> tuple[Pose, ...]:
    """Return the poses of all figures that are not in a hand, each with how surely it is engaged (TAP-029)."""
    jersey = {figure.id: figure.jersey for figure in scene.figures}
    # Contacts are taken as independent: free of all opponents is free of each.
    free = dict.fromkeys(jersey, 1.0)
    for contact in scene.contacts:
        if jersey[contact.a] != jersey[contact.b]:
            for name in (contact.a, contact.b):
                free[name] *= 1 - contact.probability
    return tuple(
        Pose(
            figure.id,
            figure.x_mm,
            figure.y_mm,
            figure.heading_deg,
            figure.sigma_mm,
            figure.sigma_deg,
            1 - free[figure.id],
            figure.front,
        )
        for figure in scene.figures
        if figure.posture != "lifted"
    )


@record
class Stoppage:
    """The board is stopped in mid-play."""

    number: int  # 1-based among the stoppages of the offense; 0 for a forced one
    since_ns: int  # when the board went off
    poses: tuple[Pose, ...] = ()  # of all figures, as the board stopped
    offense_done_ns: int | None = None  # when the side with the ball had finished pivots, or taken the stick away
    defense_done_ns: int | None = None  # when the other side had finished its pivots
    pass_ns: int | None = None  # when a pass was declared
    swaps: tuple[str, ...] = ()  # roster ids of figures whose base was swapped
    # `"coach"`, `"line"` (line of scrimmage reached), `"air"` (with a pass in the air), `"catch"`, `"interception"`,
    # `"fumble"` or `"kick"`
    reason: str = "coach"


@record
class OpponentTouch:
    """A touch of two opponents while interference was possible."""

    players: tuple[str, str]  # roster ids of the two
    t_ns: int  # instant at which they met, interpolated between frames
    # where the front of each base was then, field yards along x of the board and across
    spots_yd: tuple[tuple[float, float], tuple[float, float]]


def board_s(play: PlayState, t_ns: int) -> float:
    """Return how long the board has run in a play up to an instant, seconds."""
    ran_s, stopped = play.note(BOARD_S) or 0.0, play.stoppage is not None
    return ran_s if stopped or play.board_on_ns is None else ran_s + max(0, t_ns - play.board_on_ns) / 1e9


def _elsewhere(one: Finding, other: Finding) -> bool:
    if one.spot_yd is None or other.spot_yd is None:
        return True
    error_yd = math.hypot(one.spot_sigma_yd[0], other.spot_sigma_yd[0])
    return abs(one.spot_yd[0] - other.spot_yd[0]) > max(_SAME_SPOT_YD, _SAME_SPOT_SIGMAS * error_yd)


def finding_key(finding: Finding) -> str:
    """Return the key by which `PlayState.settled` remembers a finding that was called."""
    return f"{finding.rule}:{finding.key}"


def too_close_key(key: str) -> str:
    """Return the key by which `PlayState.settled` remembers a finding that was too close to call."""
    return f"{key}:close"


FORCED_STOP_ORDER: Final = ("", "line", "catch", "interception", "fumble")
"""Forced stops by standing, lowest first: who has the ball says which pivots are free, wherever the line is (TAP-088,
TAP-105, TAP-106)."""


@record
class PlayState:
    """The state of one play."""

    kind: PlayKind = "scrimmage"  # the kind of play that was lined up for
    carrier: str | None = None  # roster id of the ball carrier
    snapped_to: str | None = None  # roster id of the carrier at the snap
    snap_ns: int | None = None  # when the board first came on
    board_on_ns: int | None = None  # when the board last came on
    board_on_sigma_s: float = 0.0  # standard deviation of that: a camera may not have looked
    score_open: bool = False  # whether a touchdown is too close: what ends the play waits for a measurement
    holds: tuple[Hold, ...] = ()  # who held the ball in this play, in order; none before the snap, or during a kick
    ball_side: Side = "home"  # the side that has the ball now; differs from the offense after a turnover or on a return
    switch: Side | None = None  # the side that controls the switch
    stoppages_used: int = 0  # stoppages used by the offense
    line_reached_ns: int | None = None  # when the carrier reached the line of scrimmage
    handled: tuple[str, ...] = ()  # roster ids that a hand lifted from the running board; their place shows nothing
    falls: tuple[FigureFall, ...] = ()  # the figures that fell, in order
    touches: tuple[OpponentTouch, ...] = ()  # touches of opponents on a pass in the air or a punt, in order
    # `finding_key` or `too_close_key` of the findings already settled, so that each is called once; a finding that was
    # too close may still be called, once it is sure, in place of the call that it left open: `KEY=ID`
    settled: tuple[str, ...] = ()
    pending: tuple[Finding, ...] = ()  # findings that wait for evidence, earliest first
    open_findings: tuple[Finding, ...] = ()  # findings that were too close to call
    stoppage: Stoppage | None = None  # while the board is stopped
    receiver: str | None = None  # roster id of the figure a pass is meant for
    pass_attempts: int = 0  # passes tried in this play
    pass_caught: bool = False  # whether a pass was caught, so that the ball can't be passed again
    ball_mm: tuple[float, float] | None = None  # where the magnetic ball is on the board
    # why the board is about to be stopped without a stoppage: `"line"`, `"catch"`, `"interception"`; else empty
    forced_stop: str = ""
    # fumble_yd, tackler: where a fumbled ball lies, along x and across, and who knocked its carrier down
    fumble_yd: tuple[float, float] | None = None
    tackler: str | None = None
    gunners: tuple[str, ...] = ()  # gunners, returner: as declared for a kick
    returner: str | None = None
    landed_yd: float | None = None  # where a kick came down, along x of the board
    # what a rule remembers within the play, as (name, value) pairs; numbers only, gone with the next play
    notes: tuple[tuple[str, float], ...] = ()

    @property
    def hold(self) -> Hold | None:
        """The hold of the ball now, or the last one while it is loose; None before anybody had it."""
        return self.holds[-1] if self.holds else None

    @property
    def held_since_ns(self) -> int:
        """Since when the carrier has had the ball on a board that runs: nothing that he did before counts."""
        return max(self.board_on_ns or 0, self.holds[-1].t_ns if self.holds else 0)

    @property
    def held_sigma_s(self) -> float:
        """Standard deviation of `held_since_ns`."""
        hold = self.hold
        return self.board_on_sigma_s if hold is None or hold.t_ns <= (self.board_on_ns or 0) else hold.sigma_s

    @property
    def holds_since_gained(self) -> tuple[Hold, ...]:
        """The holds of the side with the ball since the ball last changed sides, latest first; none if unknown."""
        return tuple(itertools.takewhile(lambda hold: hold.side == self.ball_side, reversed(self.holds)))

    def changed_sides(self, offense: Side) -> bool:
        """Return whether the other side has had the ball in this play, whoever has it now."""
        return self.ball_side != offense or any(hold.side != offense for hold in self.holds)

    def gained(
        self,
        side: Side,
        player: str | None,
        how: HowGained,
        t_ns: int,
        spot_yd: tuple[float, float] | None = None,
        *,
        spot_sigma_yd: tuple[float, float] = (0.0, 0.0),
        sigma_s: float = 0.0,
    ) -> PlayState:
        """Return the play with the ball in other hands: the one way in which possession changes."""
        hold = Hold(side, player, how, t_ns, sigma_s, spot_yd, spot_sigma_yd)
        return replace(self, holds=(*self._holds_lost(t_ns, spot_yd), hold), ball_side=side, carrier=player)

    def lost(self, t_ns: int, spot_yd: tuple[float, float] | None) -> PlayState:
        """Return the play with a loose ball; the side that had it has it until somebody gains it."""
        return replace(self, holds=self._holds_lost(t_ns, spot_yd), carrier=None)

    def with_hold(self, **changes: Any) -> PlayState:
        """Return the play with the last hold changed; unchanged where nobody has held the ball."""
        return replace(self, holds=(*self.holds[:-1], replace(self.holds[-1], **changes))) if self.holds else self

    def _holds_lost(self, t_ns: int, spot_yd: tuple[float, float] | None) -> tuple[Hold, ...]:
        if not self.holds or self.holds[-1].lost_ns is not None:
            return self.holds
        return (*self.holds[:-1], replace(self.holds[-1], lost_ns=t_ns, lost_yd=spot_yd))

    def forced_to_stop(self, reason: str) -> PlayState:
        """Return the play about to be stopped for a reason, unless it is for one of higher standing already."""
        higher = FORCED_STOP_ORDER.index(reason) > FORCED_STOP_ORDER.index(self.forced_stop)
        return replace(self, forced_stop=reason) if higher else self

    def fallen_ns(self, player: str | None) -> int | None:
        """Return when a figure fell in this play, None while it stands."""
        return next((fall.t_ns for fall in self.falls if fall.player == player), None)

    def had_too_close(self, rule: str) -> bool:
        """Return whether a finding of a rule, since the board last came on, was too close to call."""
        ending = too_close_key(f"@{self.board_on_ns or 0}")
        return any(key.startswith(f"{rule}:") and key.endswith(ending) for key in self.settled)

    def with_settled(self, key: str) -> PlayState:
        """Return the play with one finding more that is settled."""
        return replace(self, settled=(*self.settled, key))

    def with_left_open(self, key: str, finding: Finding) -> PlayState:
        """Return the play with one finding more that is settled, as too close to call."""
        return replace(self, settled=(*self.settled, key), open_findings=(*self.open_findings, finding))

    def unless_over(self, finding: Finding) -> Finding:
        """Return the end of a run, or its crossing of the line, no surer than that it was not over before, elsewhere.

        What was too close to call may have ended it. At the same spot, within its error, it is over either way.
        """
        mine = finding_key(finding)
        others = (one for one in self.open_findings if one.kind in RUN_ENDS and finding_key(one) != mine)
        before = [one for one in others if _elsewhere(one, finding)]
        if finding.kind not in RUN_ENDS | {"line_of_scrimmage"} or not before:
            return finding
        itself = Condition(finding.measure, finding.probability, finding.margin, finding.sigma, finding.unit)
        still_on = math.prod(1.0 - one.probability for one in before)
        order = Condition("instant", still_on, text=f"not over before: {before[0].text}")
        likely = min(finding.probability, joint_probability((itself, order)))
        told = (*((finding.conditions if finding.together == "all" else ()) or (itself,)), order)
        return replace(finding, probability=likely, conditions=told, together="all", against=before[0].text)

    def left_open(self, key: str) -> tuple[str, ...]:
        """Return the ids of the calls that a finding, by its key, has left open."""
        start = f"{too_close_key(key)}="
        return tuple(one.removeprefix(start) for one in self.settled if one.startswith(start))

    def note(self, name: str) -> float | None:
        """Return what a rule noted in this play, None when it noted nothing of that name."""
        return next((value for key, value in self.notes if key == name), None)

    def with_note(self, name: str, value: float) -> PlayState:
        """Return the play with a note that lasts as long as it."""
        return replace(self, notes=(*(pair for pair in self.notes if pair[0] != name), (name, value)))

    def forced_stoppage(self, reason: str, t_ns: int) -> Stoppage:
        """Return the stoppage that is on, or begins, as one for a reason of the rulebook's: none of the offense's."""
        return replace(self.stoppage or Stoppage(0, t_ns), reason=reason, number=0)
