"""Facts: what one frame says that rules may use, measured once and shared by all rules.

Facts are worked out when first asked for and only around the figures asked about, since most frames need few. Lengths
are board millimeters, x and y the board frame; what people read is converted to yards by the rules. The geometry of a
single base is scalar arithmetic on purpose: rules ask for few points per frame, where arrays cost more than they save.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from downfield.core.field.model import FieldModel
from downfield.core.footprint import Face
from downfield.core.mathematics import difference_deg
from downfield.core.scene import Figure, Scene
from downfield.officiating.declarations import Side
from downfield.officiating.state.game_state import GameState

EVEN_ODDS: Final = 0.5
"""More probable than not. It decides facts that are not called themselves (who is engaged) and limits doubtful ones."""


@dataclass(frozen=True, slots=True)
class FactLimits:
    """Limits of the facts of one frame, and of how the board and a camera follow the switch."""

    # the instant of a contact whose gap hardly closes is known to this at worst: bases that run side by side
    instant_error_s: float = 0.1
    usual_step_ns: int = 50_000_000  # between scenes as near as this an instant is known; a longer way adds error
    unknown_ns: int = 1_000_000_000  # how long ago something may have been that no frame showed
    switched_late_ns: int = 150_000_000  # a camera sees by the figures' motion, and so late, that the board runs
    # the board vibrates on a little after its switch, so measurements this soon after it belong to the time before
    coast_ns: int = 50_000_000
    rest_ns: int = 150_000_000  # a figure comes to rest with the board within this time, and no hand reaches it sooner


SUSTAINED_FRAMES: Final = 3  # frames whose median says whether a contact lasts

FACT_LIMITS: Final = FactLimits()


@dataclass(frozen=True, slots=True)
class OpponentContact:
    """A contact of a figure with an opponent."""

    opponent: str  # roster id of the opponent
    gap_mm: float  # gap_mm, sigma_mm, probability, angle_deg, overlap_mm: as in `Contact`
    sigma_mm: float
    probability: float
    own_face: Face  # the face of the figure's own base
    opponent_face: Face  # the face of the opponent's base
    angle_deg: float
    overlap_mm: float
    # when it began; of the carrier not before he held the ball on a running board, since a touch before that is no
    # touch of the carrier
    since_ns: int | None
    since_sigma_s: float = 0.0  # standard deviation of that instant, by the gap's closing and the carrier's gain
    unseen_s: float = 0.0  # the part of it that pictures leave which did not come, or whose times are not known


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """A point of a figure or of the ball, with its error."""

    x_mm: float  # x_mm, y_mm: board frame
    y_mm: float
    # standard deviation along the direction of interest. For a point of a base it is made up of the error of the base's
    # center and of its heading, times the lever from the center to the point.
    sigma_mm: float


@dataclass(frozen=True, eq=False)
class Facts:
    """The facts of one frame."""

    scene: Scene  # the frame
    # the frames before it, oldest first, about half a second of them: rules can't look farther back. An unfit frame (a
    # hand, a bump) empties them, since figures may have been moved.
    recent: tuple[Scene, ...]
    state: GameState  # the game before the frame
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
        """The ball carrier; None when it is not in the scene or a hand has lifted it."""
        name = self.state.play.carrier
        figure = find_figure(self.scene, name) if name else None
        return None if figure is None or figure.posture == "lifted" else figure

    @cached_property
    def carrier_before(self) -> Figure | None:
        """The carrier in the frame before."""
        name, before = self.state.play.carrier, self.before
        return find_figure(before, name) if name and before else None

    def side_of(self, figure: Figure) -> Side:
        """Return the side a figure belongs to."""
        return self.state.side_of(figure.jersey)

    def opponent_contacts(self, player: str) -> tuple[OpponentContact, ...]:
        """Return the contacts, certain or not, of a figure with opponents that are on the board."""
        figures = self.figures
        own = figures.get(player)
        if own is None:
            return ()
        out = []
        for contact in self.scene.contacts:
            if contact.a == player:
                opponent, own_face, opponent_face = contact.b, contact.face_a, contact.face_b
            elif contact.b == player:
                opponent, own_face, opponent_face = contact.a, contact.face_b, contact.face_a
            else:
                continue
            if figures[opponent].jersey == own.jersey or figures[opponent].posture == "lifted":
                continue
            out.append(
                OpponentContact(
                    opponent,
                    contact.gap_mm,
                    contact.sigma_mm,
                    contact.probability,
                    own_face,
                    opponent_face,
                    contact.angle_deg,
                    contact.overlap_mm,
                    contact.since_ns,
                    unseen_s=contact.since_sigma_s,
                )
            )
        return tuple(out)

    def sustained_probability(self, player: str, contact: OpponentContact) -> float:
        """Return the probability of a contact that is not one frame's error: the median of three frames.

        A contact seen in a single frame is doubtful rather than ruled out. Exact scenes are taken as they are.
        """
        if contact.sigma_mm <= 0 or len(self.recent) < SUSTAINED_FRAMES - 1:
            return contact.probability
        pair = {player, contact.opponent}
        earlier = (
            next((c.probability for c in scene.contacts if {c.a, c.b} == pair), 0.0)
            for scene in self.recent[1 - SUSTAINED_FRAMES :]
        )
        return max(sorted((contact.probability, *earlier))[1], min(contact.probability, EVEN_ODDS))

    @cached_property
    def carrier_contacts(self) -> tuple[OpponentContact, ...]:
        """The contacts, certain or not, of the carrier with opponents, each since he has held the ball."""
        name, play = self.state.play.carrier, self.state.play
        if not name:
            return ()
        dated = []
        for contact in self.opponent_contacts(name):
            since_ns, held_ns = contact.since_ns, play.held_since_ns
            at_ns = self.t_ns if since_ns is None else since_ns
            unseen_s = max(contact.unseen_s, *(self.unseen_error_s(at_ns, one) for one in (name, contact.opponent)))
            error_s = math.hypot(self._closing_error_s(name, contact), unseen_s)
            if since_ns is not None and since_ns < held_ns:
                # He touched him before, if that is sure; or as the board came on, which a camera sees late.
                sure = since_ns + math.sqrt(3) * unseen_s * 1e9 < held_ns - FACT_LIMITS.switched_late_ns
                unseen_s = (
                    play.held_sigma_s if sure else max(unseen_s, self._blind_s(since_ns, held_ns), play.held_sigma_s)
                )
                since_ns, error_s = held_ns, unseen_s
            dated.append(replace(contact, since_ns=since_ns, since_sigma_s=error_s, unseen_s=unseen_s))
        return tuple(dated)

    def _closing_error_s(self, player: str, contact: OpponentContact) -> float:
        """Return the error of the instant a contact began: that of its gap over the speed at which the gap closed."""
        if contact.sigma_mm <= 0.0:
            return 0.0
        pair = {player, contact.opponent}
        for scene in reversed(self.recent):
            before = next((one for one in scene.contacts if {one.a, one.b} == pair), None)
            if before is not None and before.gap_mm > contact.gap_mm + contact.sigma_mm:
                closing_mm_s = (before.gap_mm - contact.gap_mm) / (self.t_ns - scene.t_ns) * 1e9
                return min(contact.sigma_mm / closing_mm_s, FACT_LIMITS.instant_error_s)
        return FACT_LIMITS.instant_error_s

    def engaged(self, player: str) -> bool:
        """Return whether a figure touches an opposing base, upright or fallen."""
        return any(contact.probability > EVEN_ODDS for contact in self.opponent_contacts(player))

    def fell_ns(self, figure: Figure) -> int:
        """Return when a figure that lies in this frame fell; this frame's time where vision does not say."""
        return self.t_ns if figure.fell_ns is None else min(figure.fell_ns, self.t_ns)

    def has_fallen(self, player: str) -> bool:
        """Return whether a figure has fallen in this play."""
        return self.state.play.fallen_ns(player) is not None

    def foremost_point(self, figure: Figure) -> MeasuredPoint:
        """Return the foremost point of a base in the direction the side with the ball goes."""
        return outermost_x(figure, self.state.ball_direction)

    def crossing(self, margin: float, margin_then: Callable[[Figure, Scene], float]) -> tuple[int, float]:
        """Return when the carrier's margin over a line became 0, interpolated, and the error of that, seconds.

        Only the time counts during which the carrier has had the ball on a running board. The crossing may be some
        frames ago, because after a stop the rules first see a frame when everything before the stop is settled. When
        the carrier was past the line in all those frames it is the first frame's time; when it is short of the line,
        this one's. Its error is how long before that he was last seen short of it: there may be a gap, or a stop.

        Args:
            margin: now; not below 0 once the line is crossed.
            margin_then: returns the margin in an earlier frame, from the carrier's figure there and that frame.
        """
        play, t_ns = self.state.play, self.t_ns
        # Who stood past the line before he had the ball, or before the board ran, has not crossed it yet.
        since_ns, hold = play.held_since_ns, play.hold
        for scene in reversed(self.recent):
            then = find_figure(scene, play.carrier) if play.carrier else None
            if then is None or t_ns < since_ns - FACT_LIMITS.switched_late_ns:
                break
            if then.posture == "unseen":
                continue
            before = margin_then(then, scene)
            crossed = interpolate_crossing_ns(before, scene.t_ns, margin, t_ns)
            if crossed is not None or before < 0:
                found_ns = t_ns if crossed is None else crossed
                return max(found_ns, since_ns), self._blind_s(scene.t_ns, max(t_ns, since_ns))
            margin, t_ns = before, scene.t_ns
        unseen, found_ns = self.state.unseen_ns, max(t_ns, since_ns)
        if unseen is not None and since_ns <= unseen[0] < found_ns:
            return found_ns, self._blind_s(unseen[0], found_ns)
        began_ns = since_ns if hold is None else hold.t_ns  # before a stop, if there was one
        if unseen is not None and hold is not None and hold.how == "snap" and t_ns < since_ns:
            began_ns -= FACT_LIMITS.unknown_ns  # who hardly lined up past it: the play had begun while nothing was seen
        return found_ns, math.hypot(self._blind_s(began_ns, found_ns), play.held_sigma_s)

    def unseen_error_s(self, t_ns: int, player: str) -> float:
        """Return the error of an instant by frames around it in which a figure was not seen."""
        scenes = (*self.recent, self.scene)
        seen = [one.t_ns for one in scenes if (then := find_figure(one, player)) and then.posture != "unseen"]
        after_ns = next((one for one in seen if one >= t_ns), self.t_ns)
        before_ns = next((one for one in reversed(seen) if one < t_ns), None)
        unseen = self.state.unseen_ns
        if before_ns is None and unseen is not None and unseen[0] < t_ns <= unseen[1] + FACT_LIMITS.usual_step_ns:
            before_ns = unseen[0]
        return 0.0 if before_ns is None else self._blind_s(before_ns, after_ns)

    @property
    def switch_error_s(self) -> float:
        """The error of the instant at which the board was seen to be switched in this frame."""
        late_ns = FACT_LIMITS.switched_late_ns if any(figure.sigma_mm[0] for figure in self.scene.figures) else 1
        unseen_ns, _ = self.state.unseen_ns or (self.t_ns - FACT_LIMITS.unknown_ns, 0)
        before_ns = next((one.t_ns for one in reversed(self.recent) if one.t_ns <= self.t_ns - late_ns), unseen_ns)
        return self._blind_s(before_ns, self.t_ns)

    def _blind_s(self, before_ns: int, after_ns: int) -> float:
        """Return the error of an instant between two at which it was looked: it is dated to either end."""
        return max(after_ns - before_ns - FACT_LIMITS.usual_step_ns, 0) / math.sqrt(3) / 1e9

    def hand_point(self, figure: Figure) -> tuple[float, float] | None:
        """Return the foremost point of a figure's carrying hand, mm; None when the hand was never measured."""
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
        """Return the angle from a figure's heading to a direction along x (by default the ball's), 0..180 degrees."""
        aim = 0.0 if (direction or self.state.ball_direction) > 0 else 180.0
        return difference_deg(figure.heading_deg, aim)

    def bearing_error_deg(self, figure: Figure, x_mm: float, y_mm: float) -> float:
        """Return the angle from a figure's heading to the bearing of a point, 0..180 degrees."""
        aim = math.degrees(math.atan2(y_mm - figure.y_mm, x_mm - figure.x_mm))
        return difference_deg(figure.heading_deg, aim)

    def velocity_mm_s(self, player: str, window_ns: int) -> tuple[float, float] | None:
        """Return the mean velocity over the window, mm/s along x and y; None if the frames span less than half."""
        now = self.figures.get(player)
        since = next((scene for scene in self.recent if self.t_ns - scene.t_ns <= window_ns), None)
        then = find_figure(since, player) if since else None
        if now is None or then is None or since is None or self.t_ns - since.t_ns < window_ns / 2:
            return None
        dt_s = (self.t_ns - since.t_ns) / 1e9
        return (now.x_mm - then.x_mm) / dt_s, (now.y_mm - then.y_mm) / dt_s

    def spot_yd(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """Return a point of the board in field yards."""
        return x_mm / self.field.mm_per_yd_x, y_mm / self.field.mm_per_yd_y


def without_lost_figures(scene: Scene) -> Scene:
    """Return the scene without lost figures: they may be anywhere, so nothing can be called of them."""
    lost = {figure.id for figure in scene.figures if figure.lost}
    if not lost:
        return scene
    return replace(
        scene,
        figures=tuple(figure for figure in scene.figures if figure.id not in lost),
        contacts=tuple(contact for contact in scene.contacts if contact.a not in lost and contact.b not in lost),
    )


def capped_if_unsure(probability: float, figure: Figure) -> float:
    """Return a probability about a figure times that of its identity; at most even odds if it is unsure or not seen."""
    joint = probability * figure.identity
    return joint if figure.sure and figure.posture != "unseen" else min(joint, EVEN_ODDS)


def find_figure(scene: Scene, player: str) -> Figure | None:
    """Return a figure of a scene by roster id, None when it is not there."""
    for figure in scene.figures:
        if figure.id == player:
            return figure
    return None


def outermost_x(figure: Figure, direction: int) -> MeasuredPoint:
    """Return the outermost point of a base along +x or -x of the board, its error along x."""
    x_mm, y_mm = _outermost(figure, float(direction), 0.0)
    return MeasuredPoint(x_mm, y_mm, _sigma(figure.sigma_mm[0], y_mm - figure.y_mm, figure.sigma_deg))


def outermost_y(figure: Figure, direction: int) -> MeasuredPoint:
    """Return the outermost point of a base along +y or -y of the board, its error along y."""
    x_mm, y_mm = _outermost(figure, 0.0, float(direction))
    return MeasuredPoint(x_mm, y_mm, _sigma(figure.sigma_mm[1], x_mm - figure.x_mm, figure.sigma_deg))


def exceedance_probability(margin: float, sigma: float) -> float:
    """Return the probability that a quantity measured as `margin`, with standard deviation `sigma`, is 0 or more."""
    if sigma <= 0:
        return 1.0 if margin >= 0 else 0.0
    return 0.5 * math.erfc(-margin / (sigma * math.sqrt(2)))


def interpolate_crossing_ns(before: float, before_ns: int, now: float, now_ns: int) -> int | None:
    """Return when a margin went from below 0 to 0 or more between two frames, interpolated; None when it did not."""
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
    """Return whether the straight line between the centers of two figures meets the base of a third one.

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
