"""The state of one play: what lasts from one line-up to the next dead ball, and no longer."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, Final, Literal

from downfield.core.records import record
from downfield.core.scene import Scene
from downfield.officiating.calls import Finding
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


HowGained = Literal["snap", "pitch", "reception", "interception", "kick", "recovery"]


@record
class Hold:
    """One man's hold of the ball, from gaining it to losing it. The holds of a play, in order, are its possession.

    Attributes:
        side: whose ball it was.
        player: roster id; None where nobody was named.
        how: how he gained it.
        t_ns: when he gained it.
        sigma_s: standard deviation of that instant.
        spot_yd: where, along x of the board and across; None where nobody knows.
        spot_sigma_yd: standard deviation of that, along and across.
        lost_ns, lost_yd: when and where he lost it; None while he holds it.
        turns: how often he turned back.
        faces_forward: whether he has faced forward again since.
        farthest_yd, farthest_sigma_yd: the farthest that he was seen, in his side's own yards, and the standard
            deviation of that; None where nobody saw him.
    """

    side: Side
    player: str | None
    how: HowGained
    t_ns: int
    sigma_s: float = 0.0
    spot_yd: tuple[float, float] | None = None
    spot_sigma_yd: tuple[float, float] = (0.0, 0.0)
    lost_ns: int | None = None
    lost_yd: tuple[float, float] | None = None
    turns: int = 0
    faces_forward: bool = False
    farthest_yd: float | None = None
    farthest_sigma_yd: float = 0.0


@record
class FigureFall:
    """A figure that fell in this play.

    Attributes:
        player: roster id.
        t_ns: when it fell; where vision does not say, when it was first seen fallen.
        first_seen_ns: when it was first seen fallen.
    """

    player: str
    t_ns: int
    first_seen_ns: int


@record
class Pose:
    """Where a figure stood when the board stopped.

    Attributes:
        player: roster id.
        x_mm, y_mm, heading_deg: its footprint, board frame.
        sigma_mm, sigma_deg: standard deviations of the position and the heading.
        touching: probability that it touched an opposing base.
        front: probability that the heading points to the front.
    """

    player: str
    x_mm: float
    y_mm: float
    heading_deg: float
    sigma_mm: tuple[float, float] = (0.0, 0.0)
    sigma_deg: float = 0.0
    touching: float = 0.0
    front: float = 1.0


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
    """The board is stopped in mid-play.

    Attributes:
        number: 1-based among the stoppages of the offense; 0 for a forced one.
        since_ns: when the board went off.
        poses: of all figures, as the board stopped.
        offense_done_ns: when the side with the ball had finished its pivots, or taken the passing stick away.
        defense_done_ns: when the other side had finished its pivots.
        pass_ns: when a pass was declared.
        swaps: roster ids of figures whose base was swapped.
        reason: ``"coach"``, ``"line"`` (line of scrimmage reached), ``"air"`` (with a pass in the air), ``"catch"``,
            ``"interception"``, ``"fumble"`` or ``"kick"``.
    """

    number: int
    since_ns: int
    poses: tuple[Pose, ...] = ()
    offense_done_ns: int | None = None
    defense_done_ns: int | None = None
    pass_ns: int | None = None
    swaps: tuple[str, ...] = ()
    reason: str = "coach"


@record
class OpponentTouch:
    """A touch of two opponents while interference was possible.

    Attributes:
        players: roster ids of the two.
        t_ns: instant at which they met, interpolated between frames.
        spots_yd: where the front of each base was then, field yards along x of the board and across.
    """

    players: tuple[str, str]
    t_ns: int
    spots_yd: tuple[tuple[float, float], tuple[float, float]]


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
    """The state of one play.

    Attributes:
        kind: the kind of play that was lined up for.
        carrier: roster id of the ball carrier.
        snapped_to: roster id of the carrier at the snap.
        snap_ns: when the board first came on.
        board_on_ns: when the board last came on.
        score_open: whether a touchdown in this play is too close to call: what ends the play waits for a measurement.
        holds: who held the ball in this play, in order; none before it is snapped, or while a kick is on its way.
        ball_side: the side that has the ball now; differs from the offense after a turnover or on a return.
        switch: the side that controls the switch.
        stoppages_used: stoppages used by the offense.
        line_reached_ns: when the carrier reached the line of scrimmage.
        handled: roster ids of the figures that a hand lifted from the running board; where they are shows nothing.
        falls: the figures that fell, in order.
        touches: touches of opponents on a pass in the air or a punt, in order.
        settled: `finding_key` or `too_close_key` of the findings already settled, so that each is called once; a
            finding that was too close may still be called, once it is sure.
        pending: findings that wait for evidence, earliest first.
        stoppage: while the board is stopped.
        receiver: roster id of the figure a pass is meant for.
        pass_attempts: passes tried in this play.
        pass_caught: whether a pass was caught, so that the ball can't be passed again.
        ball_mm: where the magnetic ball is on the board.
        forced_stop: why the board is about to be stopped without using a stoppage: ``"line"``, ``"catch"``,
            ``"interception"``; empty when it is not.
        fumble_yd, tackler: where a fumbled ball lies, along x and across, and who knocked its carrier down.
        gunners, returner: as declared for a kick.
        landed_yd: where a kick came down, along x of the board.
        notes: what a rule remembers within the play, as (name, value) pairs; numbers only, gone with the next play.
    """

    kind: PlayKind = "scrimmage"
    carrier: str | None = None
    snapped_to: str | None = None
    snap_ns: int | None = None
    board_on_ns: int | None = None
    score_open: bool = False
    holds: tuple[Hold, ...] = ()
    ball_side: Side = "home"
    switch: Side | None = None
    stoppages_used: int = 0
    line_reached_ns: int | None = None
    handled: tuple[str, ...] = ()
    falls: tuple[FigureFall, ...] = ()
    touches: tuple[OpponentTouch, ...] = ()
    settled: tuple[str, ...] = ()
    pending: tuple[Finding, ...] = ()
    stoppage: Stoppage | None = None
    receiver: str | None = None
    pass_attempts: int = 0
    pass_caught: bool = False
    ball_mm: tuple[float, float] | None = None
    forced_stop: str = ""
    fumble_yd: tuple[float, float] | None = None
    tackler: str | None = None
    gunners: tuple[str, ...] = ()
    returner: str | None = None
    landed_yd: float | None = None
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

    def note(self, name: str) -> float | None:
        """Return what a rule noted in this play, None when it noted nothing of that name."""
        return next((value for key, value in self.notes if key == name), None)
