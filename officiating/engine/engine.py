"""The engine: ``step(state, entry) -> (state, calls)``, pure and deterministic.

An entry is a scene or an event; time comes from entries only. A scene's facts go to the rules active in the phase; what
they find waits until it is ripe, becomes a call by confidence, policy and rulings, and the call's consequence makes
the next state. Rulings are given to the engine as a whole, so that a replay takes them into account where they belong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from downfield.core.errors import RefusedError
from downfield.core.field import FieldModel
from downfield.core.scene import Power, Scene
from downfield.officiating.calls import POWER, Call, Finding
from downfield.officiating.consequences.board import apply_switch, power_finding, with_rest_poses
from downfield.officiating.engine.calling import apply_ruling, finding_key, make_call, merge_findings, too_close_key
from downfield.officiating.engine.certified_error import ErrorFloor
from downfield.officiating.engine.facts import Facts, without_lost_figures
from downfield.officiating.engine.interfaces import Outcome, RuleContext
from downfield.officiating.engine.play_state import FigureFall
from downfield.officiating.engine.state import HOME_AND_AWAY, GameState, Phase, Team
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import Rulebook

RECENT_NS = 600_000_000
"""How far back rules may look: the longest window any of them measures motion or turning over."""

MISTAKEN_NS = 300_000_000
"""Who stands again within this time had not fallen: nobody gets up by himself, and no hand comes so soon."""

QUIET = frozenset({Phase.BETWEEN_PLAYS, Phase.LINE_UP, Phase.PENDING_ROLL, Phase.PENDING_CHOICE, Phase.OVER})

WAITING = frozenset({Phase.PENDING_ROLL, Phase.PENDING_CHOICE})


@dataclass(frozen=True, slots=True)
class EngineState:
    """Everything the engine knows.

    Attributes:
        game: the state of the game.
        recent: the last scenes, oldest first.
        power: the board's power as last measured, to act on changes only.
        event_ns: time of the latest event.

    """

    game: GameState
    recent: tuple[Scene, ...] = ()
    power: Power = "unknown"
    event_ns: int | None = None


class RulesEngine:
    """Judges under one rulebook on one field.

    Args:
        rulebook: in force.
        field: the printed field.
        rulings: by call id, people's decisions about calls this engine makes.
        certified_yd: the error the table is certified to, along and across; calls finer than it are too close.

    """

    def __init__(
        self,
        rulebook: Rulebook,
        field: FieldModel,
        rulings: Mapping[str, Ruling] | None = None,
        certified_yd: tuple[float, float] | None = None,
    ) -> None:
        self.rulebook = rulebook
        self.field = field
        self.rulings = dict(rulings or {})
        self._sure = rulebook.params.real("calls.confidence")
        self._late_ns = rulebook.params.ns("calls.late_s")
        self._floor = None if certified_yd is None else ErrorFloor.of(certified_yd, field, self._sure)

    def begin(self, teams: tuple[Team, Team] = HOME_AND_AWAY) -> EngineState:
        """The state before anything has happened."""
        field = self.field
        game = GameState(
            teams=teams,
            length_yd=field.length_yd,
            width_yd=field.width_yd,
            end_zone_yd=field.end_zone_yd,
            los_yd=field.length_yd / 2,
            to_gain_yd=field.length_yd / 2 + 10,
        )
        return EngineState(self.rulebook.system.begin(game, self.rulebook.params))

    def admit(self, state: EngineState, event: Event) -> None:
        """Check that an event comes in its time.

        Raises:
            RefusedError: it does not.

        """
        if event.t_ns < (state.event_ns or 0):
            raise RefusedError(f"event {event.id} is out of order: an event of a later time has been taken")
        if event.t_ns < state.game.now_ns - self._late_ns:
            raise RefusedError(f"event {event.id} comes {(state.game.now_ns - event.t_ns) / 1e9:.1f} s too late")

    def step(self, state: EngineState, entry: Scene | Event) -> tuple[EngineState, tuple[Call, ...]]:
        """Take one entry.

        Raises:
            RefusedError: an event the state does not allow, or one that comes too late; the state is untouched.

        """
        if isinstance(entry, Scene):
            return self._scene(state, entry)
        return self._event(state, entry)

    def _scene(self, state: EngineState, scene: Scene) -> tuple[EngineState, tuple[Call, ...]]:
        game = state.game
        scene = without_lost_figures(scene if self._floor is None else self._floor.under(scene))
        if state.recent and scene.t_ns <= state.recent[-1].t_ns:
            raise RefusedError(f"scene {scene.frame} is out of order: {scene.t_ns} after {state.recent[-1].t_ns} ns")
        recent = () if scene.unfit else _kept(state.recent, scene)
        edge = scene.board != state.power and scene.board != "unknown"
        idle = game.phase in QUIET and not game.play.pending
        if idle and not edge and scene.unfit == game.suspended:
            return EngineState(_at(game, scene.t_ns), recent, state.power, state.event_ns), ()
        power = scene.board if edge else state.power
        if scene.unfit:
            game = replace(_at(game, scene.t_ns), suspended=scene.unfit)
            return EngineState(game, recent, power, state.event_ns), ()
        game = replace(_at(game, scene.t_ns), suspended=())
        facts = Facts(scene, recent[:-1], game, self.field)
        context = RuleContext(self.rulebook.params, self.field, game.now_ns, self.rulebook.system, facts)
        game = _with_falls(with_rest_poses(game, scene), facts)
        found: list[Finding] = []
        if edge and power != game.board:
            game = replace(game, board=power)
            found.append(power_finding(scene.t_ns, on=power == "on", by=None))
        for rule in self.rulebook.rules_by_phase[game.phase]:
            found += rule.observe(facts, game, context.params)
        if found:
            game = replace(game, play=merge_findings(game.play, found, self.rulebook.precedence, self._sure))
        game, calls = self._settle(game, context) if game.play.pending else (game, ())
        return EngineState(game, recent, power, state.event_ns), calls

    def _event(self, state: EngineState, event: Event) -> tuple[EngineState, tuple[Call, ...]]:
        game = state.game
        self.admit(state, event)
        now_ns = max(game.now_ns, event.t_ns)
        facts = Facts(state.recent[-1], state.recent[:-1], game, self.field) if state.recent else None
        context = RuleContext(self.rulebook.params, self.field, now_ns, self.rulebook.system, facts)
        if isinstance(event.body, Ruling):
            game, calls = self._manual(game, event.body, context)
        elif isinstance(event.body, Tick | Undo):
            game, calls = self._settle(_at(game, now_ns), context)
        else:
            handler = self.rulebook.system.handlers.get(type(event.body))
            if handler is None:
                what = event.body.type.replace("_", " ")
                raise RefusedError(f"{what}: {self.rulebook.name} has no use for it")
            game, before = self._settle(_at(game, now_ns), context, acted=True)
            outcome = handler(game, event, context)
            outcome = replace(outcome, state=_unless_waiting(outcome.state))
            found = [replace(finding, because=(*finding.because, event.id)) for finding in outcome.findings]
            if outcome.state.play.pending or any(finding.rule == POWER for finding in found):
                game = replace(
                    outcome.state, play=merge_findings(outcome.state.play, found, self.rulebook.precedence, self._sure)
                )
                game, after = self._settle(game, context)
            else:  # nothing to wait behind: a declaration's findings follow one another, whatever each does to the play
                game, made = self._outcome(Outcome(outcome.state, tuple(found)), context, ())
                after = tuple(made)
            calls = before + after
        return replace(state, game=game, event_ns=event.t_ns), calls

    def _settle(
        self, game: GameState, context: RuleContext, *, acted: bool = False
    ) -> tuple[GameState, tuple[Call, ...]]:
        """Make calls of the pending findings that are ripe, in order; the first unripe one holds up the rest.

        Somebody who acts on a stopped board (`acted`) has seen it come to rest.
        """
        calls: list[Call] = []
        while game.play.pending:
            head = game.play.pending[0]
            if not (self._ripe(head, context.t_ns) or (acted and head.rule == POWER)):
                break
            game = replace(game, play=replace(game.play, pending=game.play.pending[1:]))
            if head.rule == POWER:
                game, made = self._outcome(apply_switch(game, head, context), context, head.because)
                calls += made
                continue
            rule = self.rulebook.rules_by_id.get(head.rule)
            if rule is not None and game.phase not in rule.phases:
                continue  # overtaken by an earlier call: the play is over, or stopped
            finding = head if rule is None else rule.settle(head, game, context)
            if head.key:
                name = (
                    finding_key(head)
                    if finding is None or finding.probability >= self._sure
                    else too_close_key(finding_key(head))
                )
                game = replace(game, play=replace(game.play, judged=(*game.play.judged, name)))
            if finding is not None:
                game, made = self._make(game, finding, context)
                calls += made
        return game, tuple(calls)

    def _ripe(self, finding: Finding, now_ns: int) -> bool:
        if finding.settle_ns is None or now_ns >= finding.settle_ns:
            return True
        return finding.settle_early and finding.probability >= self._sure

    def _make(self, game: GameState, finding: Finding, context: RuleContext) -> tuple[GameState, list[Call]]:
        """Make a call of a finding, apply what it does, and go on with what follows from it."""
        call = make_call(
            finding,
            rulebook=self.rulebook.name,
            policy=self.rulebook.policy(finding.kind),
            confidence=self._sure,
        )
        ruling = self.rulings.get(call.id)
        if ruling is not None:
            stands = apply_ruling(call, ruling)
            if stands is None:
                return game, []
            call = stands
        elif call.verdict in {"too_close", "proposed"}:
            return replace(game, proposals=(*game.proposals, call.id)), [call]
        if call.verdict == "reported":
            return game, [call]
        return self._apply(game, call, context)

    def _apply(self, game: GameState, call: Call, context: RuleContext) -> tuple[GameState, list[Call]]:
        consequence = self.rulebook.system.consequences.get(call.kind)
        if consequence is None:
            return game, [call]
        game, calls = self._outcome(consequence(game, call, replace(context, t_ns=call.t_ns)), context, (call.id,))
        return game, [call, *calls]

    def _outcome(
        self, outcome: Outcome, context: RuleContext, because: tuple[str, ...]
    ) -> tuple[GameState, list[Call]]:
        """Go on with what follows from a consequence."""
        game, calls = _unless_waiting(outcome.state), list[Call]()
        for finding in outcome.findings:
            game, made = self._make(game, replace(finding, because=(*finding.because, *because)), context)
            calls += made
        return game, calls

    def _manual(self, game: GameState, ruling: Ruling, context: RuleContext) -> tuple[GameState, tuple[Call, ...]]:
        """A ruling as it comes in: a call made by hand takes effect now; others were given to the engine beforehand."""
        if ruling.decision != "manual":
            return game, ()
        if ruling.replacement is None:
            raise RefusedError("a manual ruling needs the call it makes")
        game, calls = self._apply(game, ruling.replacement, context)
        return game, tuple(calls)


def _unless_waiting(game: GameState) -> GameState:
    """The game without what it waited for, once its phase shows that it has come or been overtaken."""
    return game if game.wait is None or game.phase in WAITING else replace(game, wait=None)


def _at(game: GameState, t_ns: int) -> GameState:
    return game if t_ns <= game.now_ns else replace(game, now_ns=t_ns)


def _kept(recent: tuple[Scene, ...], scene: Scene) -> tuple[Scene, ...]:
    """The recent scenes with one more, and without those too old to matter."""
    oldest_ns = scene.t_ns - RECENT_NS
    first = 0
    while first < len(recent) and recent[first].t_ns < oldest_ns:
        first += 1
    return (*recent[first:], scene)


def _with_falls(game: GameState, facts: Facts) -> GameState:
    """The game with the figures noted that have fallen since the play began, less those that were mistaken for it."""
    falls = game.play.falls
    if falls and facts.t_ns - falls[-1].first_seen_ns < MISTAKEN_NS:
        standing = {figure.id for figure in facts.scene.figures if figure.posture == "upright"}
        falls = tuple(
            fall for fall in falls if fall.player not in standing or facts.t_ns - fall.first_seen_ns >= MISTAKEN_NS
        )
    known = {fall.player for fall in falls}
    new = tuple(
        FigureFall(figure.id, facts.fell_ns(figure), facts.t_ns)
        for figure in facts.scene.figures
        if figure.posture == "fallen" and figure.id not in known
    )
    return replace(game, play=replace(game.play, falls=falls + new)) if new or falls != game.play.falls else game
