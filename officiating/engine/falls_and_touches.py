"""The falls and touches of a play, remembered frame by frame, since rules and claims ask for them later in the play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from downfield.officiating.state.facts import EVEN_ODDS, Facts
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.play_state import FigureFall, OpponentTouch


@dataclass(frozen=True, slots=True)
class FallRecordLimits:
    """Time limits of falls that no rulebook states."""

    mistaken_fall_ns: int = 300_000_000
    """A figure upright again within this time had not fallen: it can't get up by itself, and no hand is so quick."""


_LIMITS: Final = FallRecordLimits()


def with_falls(game: GameState, facts: Facts) -> GameState:
    """Return the game with the falls of this frame added, and without those that turned out to be none."""
    # A detector takes a figure for fallen for a frame or two; only a fall that lasts stays.
    falls, limit_ns = game.play.falls, _LIMITS.mistaken_fall_ns
    if falls and facts.t_ns - falls[-1].first_seen_ns < limit_ns:
        upright = {figure.id for figure in facts.scene.figures if figure.posture == "upright"}
        falls = tuple(
            fall for fall in falls if fall.player not in upright or facts.t_ns - fall.first_seen_ns >= limit_ns
        )
    known = {fall.player for fall in falls}
    new = tuple(
        FigureFall(figure.id, facts.fell_ns(figure), facts.t_ns)
        for figure in facts.scene.figures
        if figure.posture == "fallen" and figure.id not in known
    )
    return replace(game, play=replace(game.play, falls=falls + new)) if new or falls != game.play.falls else game


def with_touches(game: GameState, facts: Facts) -> GameState:
    """Return the game with the touches of this frame added that began since the board came on.

    They are kept while interference is possible: with a pass in the air, or with a gunner named (TAP-109, TAP-046).
    """
    if game.phase is not Phase.IN_AIR and not (game.phase is Phase.LIVE and game.play.gunners):
        return game
    known = {(touch.players, touch.t_ns) for touch in game.play.touches}
    new = []
    for contact in facts.scene.contacts:
        players, since_ns = (contact.a, contact.b), contact.since_ns
        if since_ns is None or since_ns < (game.play.board_on_ns or 0) or contact.probability <= EVEN_ODDS:
            continue
        a, b = (facts.figures[name] for name in players)
        if a.jersey != b.jersey and (players, since_ns) not in known:
            a_mm, b_mm = facts.foremost_point(a), facts.foremost_point(b)
            spots = (facts.spot_yd(a_mm.x_mm, a.y_mm), facts.spot_yd(b_mm.x_mm, b.y_mm))
            new.append(OpponentTouch(players, since_ns, spots))
    return replace(game, play=replace(game.play, touches=(*game.play.touches, *new))) if new else game
