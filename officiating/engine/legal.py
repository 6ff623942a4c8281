"""What may be declared now, by whom and with which limits, found by trying declarations on the pure engine.

A declaration is legal exactly when the engine accepts it: the same handlers decide both, so the two can't disagree.
"""

from __future__ import annotations

from collections import Counter

from downfield.core.errors import RefusedError
from downfield.core.records import record
from downfield.officiating.checks.pivot_limits import PivotLimit, pivot_limits
from downfield.officiating.consequences.board import ANY_NUMBER, BOARD_LIMITS
from downfield.officiating.declarations import Declaration, Side
from downfield.officiating.engine.candidates import TriedDeclaration, candidates
from downfield.officiating.engine.rules_engine import EngineState, RulesEngine
from downfield.officiating.events import Event, Tick
from downfield.officiating.state.dice import DiceDue
from downfield.officiating.state.game_state import GameState


@record
class LegalDeclaration:
    """One thing that can be declared, and whether it may be declared now.

    Attributes:
        type: the declaration's type.
        word: what it declares within its type, such as ``"punt"`` for a kick; empty where there is but one.
        allowed: whether it may be declared now.
        reason: why not; empty when it may.
        by: the sides whose coaches may; empty where the declaration names no side.
        players: roster ids of the figures that may be named; empty where it names none.
        example: a declaration that would be accepted now, numbers in it to be replaced by the real ones; None where
            none would.
    """

    type: str
    word: str
    allowed: bool
    reason: str = ""
    by: tuple[Side, ...] = ()
    players: tuple[str, ...] = ()
    example: Declaration | None = None


@record
class LegalDeclarations:
    """What may be declared now.

    Attributes:
        declarations: everything that the rulebook knows, allowed now or not.
        dice: the dice that are due, None when none are.
        pivots: how many figures each coach may pivot, the offense's first; empty unless the board is stopped.
        stoppages_left: stoppages that the offense has left in this play; None for any number.
    """

    declarations: tuple[LegalDeclaration, ...]
    dice: DiceDue | None = None
    pivots: tuple[PivotLimit, ...] = ()
    stoppages_left: int | None = None

    def find(self, type_: str, word: str = "") -> LegalDeclaration | None:
        """Return one thing that can be declared, None where the rulebook does not know it."""
        return next((entry for entry in self.declarations if (entry.type, entry.word) == (type_, word)), None)


def legal(engine: RulesEngine, state: EngineState) -> LegalDeclarations:
    """Return what may be declared in a state. Pure: the state stays as it is."""
    system = engine.rulebook.system
    t_ns = _now_ns(state) + BOARD_LIMITS.coast_ns
    game = engine.step(state, Event("rest", t_ns, "clock", Tick()))[0].game  # a declared switch takes effect at rest
    # A step for each; a list of what is legal in which state would be a second set of rules, and differ some day.
    groups: dict[tuple[str, str], list[tuple[TriedDeclaration, str]]] = {}
    for candidate in candidates(game, system):
        key = (candidate.body.type, candidate.word)
        groups.setdefault(key, []).append((candidate, _refusal(engine, state, candidate.body)))
    wait = game.wait
    rule = system.dice.get(wait.purpose) if wait is not None and wait.kind == "roll" else None
    return LegalDeclarations(
        tuple(_summary(type_, word, tried) for (type_, word), tried in groups.items()),
        None if rule is None or wait is None else rule.due(game, wait.purpose, wait.by),
        pivot_limits(game, engine.rulebook.params),
        _stoppages_left(game, engine),
    )


def _refusal(engine: RulesEngine, state: EngineState, body: Declaration) -> str:
    """Return why a declaration would be refused, empty when it would not."""
    try:
        engine.step(state, Event("legal", _now_ns(state), "operator", body))
    except RefusedError as error:
        return str(error)
    return ""


def _now_ns(state: EngineState) -> int:
    return max(state.game.now_ns, state.event_ns or 0)


def _summary(type_: str, word: str, tried: list[tuple[TriedDeclaration, str]]) -> LegalDeclaration:
    accepted = [candidate for candidate, refusal in tried if not refusal]
    if not accepted:
        reasons = Counter(refusal for _, refusal in tried)  # some are about one side or figure only
        return LegalDeclaration(type_, word, False, reasons.most_common(1)[0][0])
    return LegalDeclaration(
        type_,
        word,
        True,
        by=tuple(dict.fromkeys(candidate.by for candidate in accepted if candidate.by is not None)),
        players=tuple(dict.fromkeys(candidate.player for candidate in accepted if candidate.player is not None)),
        example=accepted[0].body,
    )


def _stoppages_left(game: GameState, engine: RulesEngine) -> int | None:
    params = engine.rulebook.params
    if "stoppage.allowed" not in params.definitions or params.count("stoppage.allowed") == ANY_NUMBER:
        return None
    if game.play.line_reached_ns is not None and not params.flag("stoppage.after_line"):
        return 0
    return max(0, params.count("stoppage.allowed") - game.play.stoppages_used)
