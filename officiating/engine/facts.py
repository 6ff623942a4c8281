"""Facts of one frame."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from downfield.core.angles import difference_deg
from downfield.core.field import FieldModel
from downfield.core.footprint import Face
from downfield.core.scene import Figure, Scene
from downfield.officiating.declarations import Side
from downfield.officiating.engine.state import GameState


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """An outermost point of a base's outline.

    Attributes:
        x_mm, y_mm: where it is, board frame.
        sigma_mm: standard deviation along the direction it was asked for: the base's place, and its heading times the
            lever from the center to the point.

    """

    x_mm: float
    y_mm: float
    sigma_mm: float


def outermost_x(figure: Figure, direction: int) -> MeasuredPoint:
    """The outermost point of a base along +x or -x of the board."""
    x_mm, y_mm = _outermost(figure, float(direction), 0.0)
    return MeasuredPoint(x_mm, y_mm, _sigma(figure.sigma_mm[0], y_mm - figure.y_mm, figure.sigma_deg))


def outermost_y(figure: Figure, direction: int) -> MeasuredPoint:
    """The outermost point of a base along +y or -y of the board."""
    x_mm, y_mm = _outermost(figure, 0.0, float(direction))
    return MeasuredPoint(x_mm, y_mm, _sigma(figure.sigma_mm[1], x_mm - figure.x_mm, figure.sigma_deg))


def exceedance_probability(margin: float, sigma: float) -> float:
    """Probability that a quantity measured as `margin` with error `sigma` is really 0 or more."""
    if sigma <= 0:
        return 1.0 if margin >= 0 else 0.0
    return 0.5 * math.erfc(-margin / (sigma * math.sqrt(2)))


def interpolate_crossing_ns(before: float, before_ns: int, now: float, now_ns: int) -> int | None:
    """When a margin went from below 0 to 0 or more between two frames, interpolated; None when it did not."""
    if before >= 0 or now < 0:
        return None
    return before_ns + round((now_ns - before_ns) * (-before / (now - before)))


def _outermost(figure: Figure, ux: float, uy: float) -> tuple[float, float]:
    turn = math.radians(figure.heading_deg)
    cos, sin = math.cos(turn), math.sin(turn)
    ahead = ux * cos + uy * sin
    aside = -ux * sin + uy * cos
    half_length = math.copysign(figure.length_mm / 2 - figure.corner_mm, ahead)
    half_width = math.copysign(figure.width_mm / 2 - figure.corner_mm, aside)
    x_mm = figure.x_mm + half_length * cos - half_width * sin + figure.corner_mm * ux
    y_mm = figure.y_mm + half_length * sin + half_width * cos + figure.corner_mm * uy
    return x_mm, y_mm


def _sigma(sigma_mm: float, lever_mm: float, sigma_deg: float) -> float:
    return math.hypot(sigma_mm, lever_mm * math.radians(sigma_deg))


def segment_meets_base(base: Figure, start: Figure, end: Figure) -> bool:
    """Whether the straight line between the centers of two figures meets a third one's base.

    The line is clipped against the base's slab along its heading, then against the slab across it.
    """
    turn = math.radians(base.heading_deg)
    cos, sin = math.cos(turn), math.sin(turn)
    low, high = 0.0, 1.0
    for ux, uy, half in ((cos, sin, base.length_mm / 2), (-sin, cos, base.width_mm / 2)):
        from_mm = (start.x_mm - base.x_mm) * ux + (start.y_mm - base.y_mm) * uy
        step = (end.x_mm - start.x_mm) * ux + (end.y_mm - start.y_mm) * uy
        if abs(step) < 1e-9:
            if abs(from_mm) > half:
                return False
            continue
        enter, leave = sorted(((-half - from_mm) / step, (half - from_mm) / step))
        low, high = max(low, enter), min(high, leave)
        if low > high:
            return False
    return True


EVEN_ODDS = 0.5
"""Probability above which two bases count as touching for facts that nobody calls, such as who is engaged."""


@dataclass(frozen=True, slots=True)
class OpponentContact:
    """A contact, seen from one of its two figures.

    Attributes:
        other: roster id of the other figure.
        gap_mm, sigma_mm, probability, angle_deg, overlap_mm, since_ns: as in `Contact`.
        own_face: the face of the figure asked about.
        other_face: the other's.

    """

    other: str
    gap_mm: float
    sigma_mm: float
    probability: float
    own_face: Face
    other_face: Face
    angle_deg: float
    overlap_mm: float
    since_ns: int | None


@dataclass(frozen=True, eq=False)
class Facts:
    """The facts of one frame.

    Attributes:
        scene: the frame.
        recent: the frames before it, oldest first, back to about half a second.
        state: the game as the frame came in.
        field: the printed field.

    """

    scene: Scene
    recent: tuple[Scene, ...]
    state: GameState
    field: FieldModel

    @property
    def t_ns(self) -> int:
        """When the frame was captured."""
        return self.scene.t_ns

    @property
    def before(self) -> Scene | None:
        """The frame before this one."""
        return self.recent[-1] if self.recent else None

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """Figures of the frame by roster id."""
        return {figure.id: figure for figure in self.scene.figures}

    @cached_property
    def carrier(self) -> Figure | None:
        """Who has the ball, if he is in the scene and in nobody's hand."""
        name = self.state.play.carrier
        figure = find_figure(self.scene, name) if name else None
        return None if figure is None or figure.posture == "lifted" else figure

    @cached_property
    def carrier_before(self) -> Figure | None:
        """The carrier in the frame before."""
        name, before = self.state.play.carrier, self.before
        return find_figure(before, name) if name and before else None

    def side_of(self, figure: Figure) -> Side:
        """Whose figure it is."""
        return self.state.side_of(figure.jersey)

    def opponent_contacts(self, player: str) -> tuple[OpponentContact, ...]:
        """The opposing bases within reach of touching a figure."""
        figures = self.figures
        own = figures.get(player)
        if own is None:
            return ()
        out = []
        for c in self.scene.contacts:
            if c.a == player:
                name, own_face, other_face = c.b, c.face_a, c.face_b
            elif c.b == player:
                name, own_face, other_face = c.a, c.face_b, c.face_a
            else:
                continue
            if figures[name].jersey == own.jersey or figures[name].posture == "lifted":
                continue
            out.append(
                OpponentContact(
                    name,
                    c.gap_mm,
                    c.sigma_mm,
                    c.probability,
                    own_face,
                    other_face,
                    c.angle_deg,
                    c.overlap_mm,
                    c.since_ns,
                )
            )
        return tuple(out)

    def sustained_probability(self, player: str, touch: OpponentContact) -> float:
        """Probability of a touch that is not one frame's error: the middle one of three frames.

        A touch seen in a single frame is doubtful rather than nothing. Exact scenes are taken as they are.
        """
        if touch.sigma_mm <= 0 or len(self.recent) < 2:
            return touch.probability
        pair = {player, touch.other}
        earlier = (
            next((c.probability for c in scene.contacts if {c.a, c.b} == pair), 0.0) for scene in self.recent[-2:]
        )
        return max(sorted((touch.probability, *earlier))[1], min(touch.probability, EVEN_ODDS))

    @cached_property
    def carrier_contacts(self) -> tuple[OpponentContact, ...]:
        """The opposing bases within reach of touching the carrier."""
        name = self.state.play.carrier
        return self.opponent_contacts(name) if name else ()

    def engaged(self, player: str) -> bool:
        """Whether a figure touches an opposing base, standing or not."""
        return any(touch.probability > EVEN_ODDS for touch in self.opponent_contacts(player))

    def fell_ns(self, figure: Figure) -> int:
        """When a figure that lies in this frame fell: by now, and as now where that is not told."""
        return self.t_ns if figure.fell_ns is None else min(figure.fell_ns, self.t_ns)

    def has_fallen(self, player: str) -> bool:
        """Whether a figure has fallen in this play."""
        return self.state.play.fallen_ns(player) is not None

    def foremost_point(self, figure: Figure) -> MeasuredPoint:
        """The forward-most point of a base, in the direction the side with the ball goes."""
        return outermost_x(figure, self.state.ball_direction)

    def crossing_time_ns(self, margin: float, margin_then: Callable[[Figure, Scene], float]) -> int:
        """When the carrier's margin over a line became 0, interpolated, since he has the ball on a running board.

        It may have been some frames ago: after a stop a rule is first asked when what came before the stop is settled.
        Where he was past the line all that time, or is short of it, it is the first such frame's time or this one's.

        Args:
            margin: now, not below 0 once the line is crossed.
            margin_then: the same for the carrier as he was in an earlier frame, from his figure and that frame.

        """
        play, t_ns = self.state.play, self.t_ns
        since_ns = max(play.board_on_ns or 0, play.possession_ns or 0)
        for scene in reversed(self.recent):
            then = find_figure(scene, play.carrier) if play.carrier else None
            if then is None or t_ns < since_ns:
                break
            before = margin_then(then, scene)
            crossed = interpolate_crossing_ns(before, scene.t_ns, margin, t_ns)
            if crossed is not None:
                return max(crossed, since_ns)
            if before < 0:
                break
            margin, t_ns = before, scene.t_ns
        return max(t_ns, since_ns)

    def hand_point(self, figure: Figure) -> tuple[float, float] | None:
        """Where the forward point of a figure's carrying hand is, mm; None when it was never measured."""
        entry = self.state.player(figure.id)
        if entry is None or entry.hand_mm is None:
            return None
        turn = math.radians(figure.heading_deg)
        ahead, left = entry.hand_mm
        return (
            figure.x_mm + ahead * math.cos(turn) - left * math.sin(turn),
            figure.y_mm + ahead * math.sin(turn) + left * math.cos(turn),
        )

    def heading_error_deg(self, figure: Figure, direction: int | None = None) -> float:
        """Degrees between where a base's front points and a direction along x (the ball's unless given), 0..180."""
        aim = 0.0 if (direction or self.state.ball_direction) > 0 else 180.0
        return difference_deg(figure.heading_deg, aim)

    def bearing_error_deg(self, figure: Figure, x_mm: float, y_mm: float) -> float:
        """Degrees between where a base's front points and a point, 0..180."""
        aim = math.degrees(math.atan2(y_mm - figure.y_mm, x_mm - figure.x_mm))
        return difference_deg(figure.heading_deg, aim)

    def velocity_mm_s(self, player: str, window_ns: int = 200_000_000) -> tuple[float, float] | None:
        """Mean velocity over the last moments, mm/s along x and y; None before two frames lie that far apart."""
        now = self.figures.get(player)
        since = next((scene for scene in self.recent if self.t_ns - scene.t_ns <= window_ns), None)
        then = find_figure(since, player) if since else None
        if now is None or then is None or since is None or self.t_ns - since.t_ns < window_ns / 2:
            return None
        dt_s = (self.t_ns - since.t_ns) / 1e9
        return (now.x_mm - then.x_mm) / dt_s, (now.y_mm - then.y_mm) / dt_s

    def spot_yd(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """A point of the board in field yards."""
        return x_mm / self.field.mm_per_yd_x, y_mm / self.field.mm_per_yd_y


def without_lost_figures(scene: Scene) -> Scene:
    """A scene without the figures that may be anywhere: whatever was called of them would be made up."""
    lost = {figure.id for figure in scene.figures if figure.lost}
    if not lost:
        return scene
    return replace(
        scene,
        figures=tuple(figure for figure in scene.figures if figure.id not in lost),
        contacts=tuple(one for one in scene.contacts if one.a not in lost and one.b not in lost),
    )


def capped_if_unsure(probability: float, figure: Figure) -> float:
    """A probability about a figure, at most even when it may be somebody else or is not seen."""
    return probability if figure.sure and figure.posture != "unseen" else min(probability, EVEN_ODDS)


def find_figure(scene: Scene, player: str) -> Figure | None:
    """A figure of a scene by roster id."""
    for figure in scene.figures:
        if figure.id == player:
            return figure
    return None
