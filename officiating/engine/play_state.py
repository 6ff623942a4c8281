"""The play."""

from __future__ import annotations

from typing import Literal

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
        t_ns: when it fell, or was first seen fallen where that is not told.
        seen_ns: when it was first seen fallen.

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
        sigma_mm, sigma_deg: how well it was known.
        touching: probability that it touched an opposing base.

    """

    player: str
    x_mm: float
    y_mm: float
    heading_deg: float
    sigma_mm: tuple[float, float] = (0.0, 0.0)
    sigma_deg: float = 0.0
    touching: float = 0.0


def poses_of(scene: Scene) -> tuple[Pose, ...]:
    """Where everybody stands who is not in a hand, and how surely each is engaged: touches an opponent (TAP-029)."""
    jersey = {figure.id: figure.jersey for figure in scene.figures}
    free = dict.fromkeys(jersey, 1.0)
    for contact in scene.contacts:
        if jersey[contact.a] != jersey[contact.b]:
            for name in (contact.a, contact.b):
                free[name] *= 1 - contact.probability
    return tuple(
        Pose(one.id, one.x_mm, one.y_mm, one.heading_deg, one.sigma_mm, one.sigma_deg, 1 - free[one.id])
        for one in scene.figures
        if one.posture != "lifted"
    )


@record
class Stoppage:
    """The board is stopped in mid-play.

    Attributes:
        number: 1-based among those the offense used; 0 for a forced one.
        since_ns: when the board went off.
        poses: everybody, as the board stopped.
        offense_done_ns: when the side with the ball had finished its pivots, or taken the passing stick away.
        defense_done_ns: when the other side had finished its pivots.
        pass_ns: when a pass was declared.
        swaps: roster ids of figures whose base was swapped.
        reason: ``"coach"``, ``"line"`` (line of scrimmage reached), ``"air"`` (with a pass in the air), ``"catch"``,
            ``"interception"``, ``"fumble"`` or ``"kick"``.
        checked: whether its pivots have been reported.

    """

    number: int
    since_ns: int
    poses: tuple[Pose, ...] = ()
    offense_done_ns: int | None = None
    defense_done_ns: int | None = None
    pass_ns: int | None = None
    swaps: tuple[str, ...] = ()
    reason: str = "coach"
    checked: bool = False


@record
class PlayState:
    """What lasts one play.

    Attributes:
        kind: what was lined up for.
        carrier: roster id of who has the ball.
        snapped_to: who had it at the snap.
        snap_ns: when the board first ran.
        ran_ns: when the board last came on.
        had_ns: when the carrier got the ball, if that was after the snap.
        ball_side: who has the ball now; differs from the offense after a turnover or on a return.
        switch: whose coach controls the switch.
        stoppages_used: stoppages used by the offense.
        line_ns: when the carrier reached the line of scrimmage.
        turns: how often the carrier turned back.
        falls: who has fallen, in order.
        judged: keys of findings already settled, so that each is called once.
        pending: findings waiting for evidence, earliest first.
        stoppage: while the board is stopped.
        receiver: who a pass is meant for.
        pass_attempts: passes tried in this play.
        pass_caught: whether a pass was caught, so that the ball can't be passed again.
        ball_mm: the magnetic ball on the board.
        free_stop: why the board is about to be stopped without using a stoppage: ``"line"``, ``"catch"``,
            ``"interception"``; empty when it is not.
        fumble_yd, tackler: where a fumbled ball lies, along x and across, and who knocked its carrier down.
        gunners, returner: as declared for a kick.
        landed_yd: where a kick came down, along x of the board.
        start_yd: where the present carrier's side got the ball, for run-backs.
        notes: what a rule remembers within the play: (name, value) pairs.

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
    judged: tuple[str, ...] = ()
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

    def fallen_ns(self, player: str | None) -> int | None:
        """When a figure fell in this play, None while it stands."""
        return next((fall.t_ns for fall in self.falls if fall.player == player), None)

    def note(self, name: str) -> float | None:
        """What a rule noted in this play."""
        return next((value for key, value in self.notes if key == name), None)
