"""What leagues play beside a book's tackles: yards for a hit from the side or from behind, and hits that are fumbles.

How a carrier was hit is measured where the contact began. What follows is worked into whatever ends his run just before
it becomes a call, measured or told, so that call, state and statistics have one spot.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, Literal

from downfield.core.footprint import Face
from downfield.core.scene import OPPOSITE_FACE, Figure, Scene
from downfield.officiating.call_kinds import SPOTTED
from downfield.officiating.calls import CallNumbers, Finding
from downfield.officiating.conditions import Condition
from downfield.officiating.params import Params, read_params
from downfield.officiating.state.facts import EVEN_ODDS, Facts, OpponentContact, exceedance_probability, find_figure
from downfield.officiating.state.game_state import GameState

HOUSE_TACKLE_PARAMS: Final = read_params("downfield.officiating.rules", "house_tackle")
HITS: Final = ("tackle.side_bonus_yd", "tackle.rear_bonus_yd", "tackle.hard_hit_mm_s")
"""Parameters for which it matters how a carrier was hit."""
BONUS_ENDS_YD: Final = 1.0  # a bonus takes the ball no nearer to the goal line: it scores nothing
_ENDS: Final = SPOTTED - {"stoppage"}

_SPEED_WINDOW_NS: Final = 200_000_000  # a hit's speed is averaged over this time before it: over one vibration
Hit = Literal["front", "side", "rear"]


def measure_hit(facts: Facts, carrier: Figure, contact: OpponentContact, params: Params) -> CallNumbers:
    """Return how the carrier was hit: which side, how sure that is, and how fast, where the league asks for it."""
    hit, turned = _hit(contact.own_face), _hit(OPPOSITE_FACE[contact.own_face])
    sure = 1.0 if hit == turned else carrier.front
    if sure < EVEN_ODDS:
        hit, sure = turned, 1.0 - sure
    closing = _closing_mm_s(facts, carrier.id, contact) if params.real("tackle.hard_hit_mm_s") else None
    return CallNumbers(hit=hit, hit_probability=sure, closing_mm_s=closing)


def by_house_rules(finding: Finding, game: GameState, params: Params) -> Finding:
    """Return the end of a run as the league has it: a fumble after a hard hit, the spot with what it adds."""
    if finding.kind not in _ENDS:
        return finding
    if finding.kind == "tackle":
        finding = _doubtful(_hard_hit(finding, params), params)
    return _spotted(finding, game, params) if finding.kind in _ENDS and finding.spot_yd is not None else finding


def was_hard(closing_mm_s: float | None, params: Params) -> bool:
    """Return whether a hit may have been a hard one: any may, where nobody measured it or no league asks for it."""
    return closing_mm_s is None or closing_mm_s >= params.real("tackle.hard_hit_mm_s")


def _hit(face: Face) -> Hit | None:
    if face == "corner":
        return None
    return face if face == "front" or face == "rear" else "side"


def _bonus_yd(hit: Hit | None, params: Params) -> float:
    return params.real(f"tackle.{hit}_bonus_yd") if hit in {"side", "rear"} else 0.0


def _closing_mm_s(facts: Facts, carrier: str, contact: OpponentContact) -> float | None:
    """Return how fast the two met, over the time before they touched; None where they were not seen for long enough."""
    since_ns = facts.t_ns if contact.since_ns is None else contact.since_ns
    scenes = [scene for scene in (*facts.recent, facts.scene) if since_ns - _SPEED_WINDOW_NS <= scene.t_ns <= since_ns]
    if len(scenes) < 2 or scenes[-1].t_ns - scenes[0].t_ns < _SPEED_WINDOW_NS / 2:
        return None
    first, last = (_apart(scene, carrier, contact.opponent) for scene in (scenes[0], scenes[-1]))
    if first is None or last is None:
        return None
    return math.dist(first, last) / (scenes[-1].t_ns - scenes[0].t_ns) * 1e9


def _apart(scene: Scene, one: str, other: str) -> tuple[float, float] | None:
    a, b = find_figure(scene, one), find_figure(scene, other)
    return None if a is None or b is None else (b.x_mm - a.x_mm, b.y_mm - a.y_mm)


def _hard_hit(finding: Finding, params: Params) -> Finding:
    """Return a tackle as a fumble, if it was surely a hard hit; too close to call between."""
    numbers, limit = finding.numbers, params.real("tackle.hard_hit_mm_s")
    if numbers is None or numbers.closing_mm_s is None or not limit or params.table("tackle.fumble_sums"):
        return finding
    # Both places of both figures are off by the error of the gap between them.
    sigma = math.sqrt(2.0) * (finding.sigma or 0.0) / (_SPEED_WINDOW_NS / 1e9)
    hard = exceedance_probability(numbers.closing_mm_s - limit, sigma)
    carrier, tackler = finding.players[:2]
    fumbles = f"{carrier} fumbles, hit by {tackler} at {numbers.closing_mm_s:.0f} mm/s"
    if hard >= EVEN_ODDS:
        probability, against = min(finding.probability, hard), finding.text
        return replace(
            finding, kind="fumble", text=fumbles, probability=probability, against=against, against_kind="tackle"
        )
    sure = min(finding.probability, 1.0 - hard)
    if sure == finding.probability:
        return finding
    return replace(finding, probability=sure, against=fumbles, against_kind="fumble")


def _doubtful(finding: Finding, params: Params) -> Finding:
    """Return a tackle no surer than which side was hit, where yards hang on that."""
    numbers = finding.numbers
    sure = None if numbers is None else numbers.hit_probability
    if numbers is None or sure is None or sure >= 1.0 or finding.kind != "tackle":
        return finding
    ends: tuple[Hit, Hit] = ("front", "rear")
    if _bonus_yd(ends[0], params) == _bonus_yd(ends[1], params):
        return finding
    front = Condition("front", sure, text="the front may be the other end, and the hit from there")
    conditions, probability = (*finding.conditions, front), finding.probability * sure
    other = "behind" if numbers.hit == "front" else "the front"
    against = f"{finding.text}, hit from {other}"
    return replace(
        finding, conditions=conditions, probability=probability, against=against, against_kind="tackle",
        front=finding.front * sure,
    )  # fmt: skip


def _spotted(finding: Finding, game: GameState, params: Params) -> Finding:
    """Return the end of a run spotted as the league does: where he had got to, and the yards for how he was hit."""
    assert finding.spot_yd is not None
    (x_yd, y_yd), sigma_yd, text = finding.spot_yd, finding.spot_sigma_yd, finding.text
    hold, direction, side = game.play.hold, game.ball_direction, game.play.ball_side
    own_yd = game.progress_yd(x_yd, direction)
    seen_yd = None if hold is None or hold.side != side else hold.farthest_yd
    if params.flag("downs.forward_progress") and hold is not None and seen_yd is not None and seen_yd > own_yd:
        own_yd, sigma_yd = seen_yd, (hold.farthest_sigma_yd, sigma_yd[1])
        text += f", forward progress to {game.spot_text(game.board_x_yd(own_yd, direction))}"
    hit = finding.numbers.hit if finding.numbers is not None else None
    bonus_yd = _bonus_yd(hit, params)
    given_yd = min(bonus_yd, game.length_yd - BONUS_ENDS_YD - own_yd)
    if finding.kind == "tackle" and given_yd > 0.0 and own_yd > 0.0 and finding.numbers is not None:
        own_yd += given_yd
        text += f", {round(given_yd, 1):g} yards for a hit from {'behind' if hit == 'rear' else 'the side'}"
        finding = replace(finding, numbers=replace(finding.numbers, bonus_yd=given_yd))
    if text == finding.text:
        return finding
    return replace(finding, text=text, spot_yd=(game.board_x_yd(own_yd, direction), y_yd), spot_sigma_yd=sigma_yd)
