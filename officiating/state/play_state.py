"""The state of one play: what lasts from one line-up to the next dead ball, and no longer."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from downfield.core.records import record
from downfield.core.scene import Scene
from downfield.officiating.calls import Finding
from downfield.officiating.declarations import Side

PlayKind = Literal["scrimmage", "kickoff", "onside", "punt", "field_goal", "extra_point", "two_point", "free_kick"]


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
        possession_ns: when the carrier got the ball, if that was after the snap.
        ball_side: the side that has the ball now; differs from the offense after a turnover or on a return.
        switch: the side that controls the switch.
        stoppages_used: stoppages used by the offense.
        line_reached_ns: when the carrier reached the line of scrimmage.
        turns: how often the carrier turned back.
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
        start_yd: where the side with the ball got it, for run-backs.
        notes: what a rule remembers within the play, as (name, value) pairs; numbers only, gone with the next play.
    """

    kind: PlayKind = "scrimmage"
    carrier: str | None = None
    snapped_to: str | None = None
    snap_ns: int | None = None
    board_on_ns: int | None = None
    possession_ns: int | None = None
    ball_side: Side = "home"
    switch: Side | None = None
    stoppages_used: int = 0
    line_reached_ns: int | None = None
    turns: int = 0
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
    start_yd: float | None = None
    notes: tuple[tuple[str, float], ...] = ()

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
