"""Touches of opponents during a pass or a punt, remembered for a claim of interference that comes later in the play."""

from __future__ import annotations

from dataclasses import replace

from downfield.officiating.state.facts import EVEN_ODDS, Facts
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.play_state import OpponentTouch


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
