"""What may count as evidence of what: nothing before the ball was held, nothing after a contact for a line before it.

These hold for the rules of every rulebook, so the engine sees to them, whatever a rule looks at:

- What a carrier does counts from the instant at which he has the ball on a running board. A contact that lasts becomes
  a tackle then, where he is then.
- Where he was against a line as a contact began is asked of the facts as of that instant. What later frames show is
  another finding, which waits behind the contact and counts only if that is no tackle.
- What a hand has moved while the board ran shows nothing: it crosses no line and makes no tackle.

What rules and claims ask of earlier frames is remembered here too: falls, touches, hands, how far the carrier came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from downfield.core.field.model import FieldModel
from downfield.core.records import replace
from downfield.core.scene import Scene
from downfield.officiating.call_kinds import CONTACTS, CROSSINGS
from downfield.officiating.calls import Finding
from downfield.officiating.conditions import Condition
from downfield.officiating.params import Params
from downfield.officiating.rules.lines import spot_at
from downfield.officiating.state.facts import EVEN_ODDS, SUSTAINED_FRAMES, Facts
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import Rule
from downfield.officiating.state.over_fronts import facts_as_of, unknown_instant
from downfield.officiating.state.play_state import FigureFall, OpponentTouch, finding_key

_RUNNING: Final = frozenset({Phase.LIVE, Phase.IN_AIR, Phase.KICK})

_MISTAKEN_FALL_NS: Final = 300_000_000
"""A figure upright again within this time had not fallen: it can't get up by itself, and no hand is so quick."""


def with_seen(game: GameState, facts: Facts) -> GameState:
    """Return the game with what is remembered of a frame: falls, touches, how far the carrier has come."""
    return with_progress(with_touches(with_falls(game, facts), facts), facts)


def with_falls(game: GameState, facts: Facts) -> GameState:
    """Return the game with the falls of this frame added, and without those that turned out to be none."""
    # A detector takes a figure for fallen for a frame or two; only a fall that lasts stays.
    falls, limit_ns = game.play.falls, _MISTAKEN_FALL_NS
    if falls and facts.t_ns - falls[-1].first_seen_ns < limit_ns:
        upright = {figure.id for figure in facts.scene.figures if figure.posture == "upright"}
        falls = tuple(
            fall for fall in falls if fall.player not in upright or facts.t_ns >= fall.first_seen_ns + limit_ns
        )
    known = {fall.player for fall in falls}
    new = tuple(
        FigureFall(figure.id, t_ns, facts.t_ns, facts.unseen_error_s(t_ns, figure.id))
        for figure in facts.scene.figures
        if figure.posture == "fallen" and figure.id not in known
        for t_ns in (facts.fell_ns(figure),)
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


def with_handled(game: GameState, scene: Scene) -> GameState:
    """Return the game with the figures noted that a hand lifts from the running board."""
    if game.phase not in _RUNNING or scene.board == "off":
        return game
    lifted = tuple(
        figure.id for figure in scene.figures if figure.posture == "lifted" and figure.id not in game.play.handled
    )
    return replace(game, play=replace(game.play, handled=(*game.play.handled, *lifted))) if lifted else game


def with_progress(game: GameState, facts: Facts) -> GameState:
    """Return the game with the farthest that the carrier has come, which says whether he came out of his end zone."""
    hold, carrier = game.play.hold, facts.carrier
    if game.phase is not Phase.LIVE or hold is None or carrier is None or carrier.id in game.play.handled:
        return game
    point = facts.foremost_point(carrier)
    yards = game.progress_yd(point.x_mm / facts.field.mm_per_yd_x, game.ball_direction)
    if hold.farthest_yd is not None and yards <= hold.farthest_yd:
        return game
    sigma_yd = point.sigma_mm / facts.field.mm_per_yd_x
    return replace(game, play=game.play.with_hold(farthest_yd=yards, farthest_sigma_yd=sigma_yd))


def evidence_in_order(
    found: Sequence[Finding], rules: Sequence[Rule], facts: Facts, game: GameState, params: Params
) -> list[Finding]:
    """Return what the rules found in a frame, without what it is no evidence of."""
    carrier = game.play.carrier
    if carrier is None:
        return list(found)
    handled, moved = set(game.play.handled), CONTACTS | CROSSINGS
    kept = [
        _as_known_when(_since_held(finding, facts, game, params), facts)
        for finding in found
        if not (finding.kind in moved and handled.intersection(finding.players[:2]))
    ]
    waiting = [one for one in game.play.pending if _is_contact(one, carrier)]
    known = {finding_key(one) for one in waiting} | set(game.play.settled)
    new = [one for one in kept if _is_contact(one, carrier) and finding_key(one) not in known]
    contacts = sorted((one for one in (*waiting, *new) if one.t_ns <= facts.t_ns), key=lambda one: one.t_ns)
    if not contacts:
        return kept
    ordered = [finding for finding in kept if not _is_crossing(finding, carrier)]
    crossings = [finding for finding in kept if _is_crossing(finding, carrier)]
    before = ""
    for contact in contacts:
        if contact in new:
            then = facts_as_of(facts, contact.t_ns, carrier, contact.t_sigma_s)
            seen = [finding for rule in rules for finding in rule.observe(then, game, params)]
            # At the contact's instant he was past the line already, or not: so that is judged first.
            first_ns = contact.t_ns - 1
            blind_s = facts.unseen_error_s(contact.t_ns, carrier)
            crossed = (
                _as_known_when(replace(one, t_sigma_s=max(one.t_sigma_s, blind_s)), facts)
                for one in seen
                if _is_crossing(one, carrier)
            )
            ordered += [replace(_after(one, before), t_ns=min(one.t_ns, first_ns)) for one in crossed]
        before = f">{contact.key}"
    last_ns = contacts[-1].t_ns
    if facts.t_ns > last_ns:
        ordered += [replace(_after(one, before), t_ns=max(one.t_ns, last_ns + 1)) for one in crossings]
    return ordered


def contacts_since_held(
    game: GameState, scenes: Sequence[Scene], rules: Sequence[Rule], field: FieldModel, params: Params
) -> list[Finding]:
    """Return the contacts of the carrier in the frames since he has had the ball; who has it is known only later."""
    held_ns, carrier = game.play.held_since_ns, game.play.carrier
    found: list[Finding] = []
    for place, scene in enumerate(scenes):
        # Without frames before it a contact of a single frame can't be told from one that lasts.
        if place < SUSTAINED_FRAMES - 1 or scene.t_ns < held_ns or carrier is None or scene.unfit:
            continue
        facts = Facts(scene, tuple(scenes[:place]), game, field)
        seen = [finding for rule in rules for finding in rule.observe(facts, game, params)]
        contacts = [finding for finding in seen if _is_contact(finding, carrier)]
        # The same contact in a later frame is the same finding: the first of them has its instant.
        known = {finding_key(one) for one in found}
        new = [finding for finding in contacts if finding_key(finding) not in known]
        found += evidence_in_order(new, rules, facts, game, params) if new else new
    return found


def _after(finding: Finding, contact: str) -> Finding:
    return replace(finding, key=f"{finding.key}{contact}")


def _since_held(finding: Finding, facts: Facts, game: GameState, params: Params) -> Finding:
    """Return a finding about the carrier no older than his hold of the ball, and then spotted where he was then."""
    held_ns, carrier = game.play.held_since_ns, facts.carrier
    about = carrier is not None and finding.players[:1] == (carrier.id,)
    if not about or carrier is None or finding.t_ns >= held_ns or finding.kind not in CONTACTS | CROSSINGS:
        return finding
    sigma_s = game.play.held_sigma_s
    reference = params.choice("tackle.spot") if "tackle.spot" in params.definitions else "base"
    spot = spot_at(facts, carrier, reference, held_ns, sigma_s)
    return replace(finding, t_ns=held_ns, t_sigma_s=sigma_s, spot_yd=spot.yd, spot_sigma_yd=spot.sigma_yd)


def _as_known_when(finding: Finding, facts: Facts) -> Finding:
    """Return a finding about the carrier that leaves the call open where no picture tells when it was."""
    if finding.kind not in CONTACTS | CROSSINGS:
        return finding
    contact = next((one for one in facts.carrier_contacts if finding.players[1:2] == (one.opponent,)), None)
    error_s = facts.unseen_error_s(finding.t_ns, finding.players[0]) if contact is None else contact.unseen_s
    if finding.kind in CROSSINGS or finding.detail == "depth":
        error_s = finding.t_sigma_s
    finding = replace(finding, t_sigma_s=max(finding.t_sigma_s, error_s))
    if not (unknown := unknown_instant(error_s)):
        return finding
    measured = Condition(finding.measure, finding.probability, finding.margin, finding.sigma, finding.unit)
    told = finding.conditions or ((measured,) if finding.margin is not None else ())
    probability = min(finding.probability, EVEN_ODDS)
    return replace(finding, probability=probability, conditions=(*told, *unknown))


def _is_contact(finding: Finding, carrier: str) -> bool:
    return finding.kind in CONTACTS and finding.detail != "depth" and finding.players[:1] == (carrier,)


def _is_crossing(finding: Finding, carrier: str) -> bool:
    is_line = finding.kind in CROSSINGS or (finding.kind == "sack" and finding.detail == "depth")
    return is_line and finding.players[:1] == (carrier,)
