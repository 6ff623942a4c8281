"""The rules engine: ``step(state, entry) -> (state, calls)``, pure and deterministic.

An entry is a scene or an event; time comes from entries only. The rules active in the phase look at a scene's facts.
What they find waits until its evidence is in, becomes a call by confidence, policy and rulings, and the consequence of
the call makes the next state. The engine is given all rulings beforehand, so that a replay applies each in its place.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.field.model import FieldModel
from downfield.core.records import replace
from downfield.core.scene import Scene
from downfield.officiating.calls import POWER, Call, Finding
from downfield.officiating.consequences.board import apply_switch, is_switched, power_finding, with_rest_poses
from downfield.officiating.consequences.downs import at_kick_spot
from downfield.officiating.declarations import ABOUT_FIGURES, BallPlaced, PlayEnded, SetUp
from downfield.officiating.engine.calling import LINE_UPS, apply_ruling, is_ready, make_call, merge_findings
from downfield.officiating.engine.certified_error import ErrorFloor
from downfield.officiating.engine.engine_state import (
    ENGINE_LIMITS,
    EngineState,
    advance_clock,
    append_recent,
    is_same_play,
    suspended_by,
    waiting_for_measurement,
    with_ended,
    with_gap,
    without_met_wait,
)
from downfield.officiating.engine.evidence_order import contacts_since_held, evidence_in_order, with_handled, with_seen
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.rules.house_tackles import by_house_rules
from downfield.officiating.state.facts import Facts, without_lost_figures
from downfield.officiating.state.game_state import HOME_AND_AWAY, GameState, Phase, Team
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.play_state import finding_key, too_close_key

NOT_JUDGED: Final = frozenset(
    {Phase.BETWEEN_PLAYS, Phase.LINE_UP, Phase.PENDING_ROLL, Phase.PENDING_CHOICE, Phase.OVER}
)
"""Phases in which nothing on the board is judged."""

BESIDE_PLAY: Final = (Ruling, Tick, Undo, *ABOUT_FIGURES, BallPlaced)
"""Events that by themselves do not go on with the game, so that no period ends by them."""


class RulesEngine:
    """Judges scenes and events under one rulebook on one field.

    Args:
        rulings: people's decisions about calls that this engine makes, by call id.
        ruled_ns: when they were made, where that is known.
        certified_yd: the error the table is certified to, along and across; calls finer than it are too close.
        lengths_known: whether lengths in mm are known; while not, what needs them is left to people.
    """

    def __init__(
        self,
        rulebook: Rulebook,
        field: FieldModel,
        rulings: Mapping[str, Ruling] | None = None,
        certified_yd: tuple[float, float] | None = None,
        *,
        lengths_known: bool = True,
        ruled_ns: Mapping[str, int] | None = None,
    ) -> None:
        self.ruled_ns = dict(ruled_ns or {})
        self.rulebook = rulebook
        self.field = field
        self.rulings = dict(rulings or {})
        self._confidence = rulebook.params.real("calls.confidence")
        self._lengths_known = lengths_known
        self._late_ns = rulebook.params.ns("calls.late_s")
        self._floor = None if certified_yd is None else ErrorFloor.of(certified_yd, field, self._confidence)

    def with_own_rulings(self) -> RulesEngine:
        """Return an engine like this one whose rulings are its own."""
        other = copy.copy(self)
        other.rulings, other.ruled_ns = dict(self.rulings), dict(self.ruled_ns)
        return other

    def begin(self, teams: tuple[Team, Team] = HOME_AND_AWAY) -> EngineState:
        """Return the state before anything has happened."""
        game = GameState(
            teams=teams,
            length_yd=self.field.length_yd,
            width_yd=self.field.width_yd,
            end_zone_yd=self.field.end_zone_yd,
            los_yd=self.field.length_yd / 2,
            to_gain_yd=self.field.length_yd / 2 + 10,
        )
        system, params = self.rulebook.system, self.rulebook.params
        return EngineState(at_kick_spot(system.begin(game, params), system, params))

    def check_time(self, state: EngineState, event: Event) -> None:
        """Check that an event is neither out of order nor too late. Raises RefusedError: it is."""
        if event.t_ns < (state.event_ns or 0):
            raise RefusedError(f"event {event.id} is out of order: an event of a later time was entered before it")
        if event.t_ns < state.game.now_ns - self._late_ns:
            raise RefusedError(f"event {event.id} comes {(state.game.now_ns - event.t_ns) / 1e9:.1f} s too late")

    def step(self, state: EngineState, entry: Scene | Event) -> tuple[EngineState, tuple[Call, ...]]:
        """Apply one entry; return the new state and calls. Raises RefusedError: not allowed, or too late."""
        after, calls = self._step(state, entry)
        game = after.game
        if game.ruled_ns is not None and game.play.board_on_ns not in {None, state.game.play.board_on_ns}:
            after = replace(after, game=replace(game, ruled_ns=None))  # the next line-up is made for what stands
        # What was left open and has become sure is one call, the sure one.
        closed = {name for call in calls for name in call.because if name in state.game.proposals}
        after = replace(after, superseded=(*after.superseded, *sorted(closed))) if closed else after
        return after, calls

    def _step(self, state: EngineState, entry: Scene | Event) -> tuple[EngineState, tuple[Call, ...]]:
        if isinstance(entry, Scene):
            after, calls = self._caught_up(state, *self._apply_scene(state, entry))
            after = with_ended(state, after, calls, seen=True)
            return self._with_ball_dead(after, calls) if calls else (after, calls)
        after, calls = self._caught_up(state, *self._apply_event(state, entry))
        begun_anew = isinstance(entry.body, SetUp)
        after = replace(after, ended=None, ending=None) if begun_anew else with_ended(state, after, calls, seen=False)
        if begun_anew or (not calls and isinstance(entry.body, BESIDE_PLAY)):
            return after, calls
        return self._with_ball_dead(after, calls)

    def _caught_up(
        self, before: EngineState, state: EngineState, calls: tuple[Call, ...]
    ) -> tuple[EngineState, tuple[Call, ...]]:
        """Return the state with the contacts of a carrier who has turned out to hold the ball for some frames."""
        game, live, plays = state.game, self.rulebook.rules_by_phase[Phase.LIVE], (before.game.play, state.game.play)
        last, since = (play.holds[-1].t_ns if play.holds else None for play in plays)
        if game.phase is not Phase.LIVE or since in {None, last}:
            return state, calls
        if not (found := contacts_since_held(game, state.recent, live, self.field, self.rulebook.params)):
            return state, calls
        facts = Facts(state.recent[-1], state.recent[:-1], game, self.field)
        game, more = self._settle(self._merge(game, found), self._context(game.now_ns, facts, state))
        return replace(state, game=game), (*calls, *more)

    def _with_ball_dead(self, state: EngineState, calls: tuple[Call, ...]) -> tuple[EngineState, tuple[Call, ...]]:
        if state.game.play.pending:
            return state, calls
        context = self._context(state.game.now_ns, None, state)
        outcome = self.rulebook.system.ball_dead(state.game, context)
        if outcome.state is state.game and not outcome.findings:
            return state, calls
        game, made = self._apply_outcome(outcome, context, ())
        return replace(state, game=game), (*calls, *made)

    def _context(self, t_ns: int, facts: Facts | None, state: EngineState) -> RuleContext:
        book = self.rulebook
        return RuleContext(
            book.params, self.field, t_ns, book.system, facts, state.ended, lengths_known=self._lengths_known
        )

    def _apply_scene(self, state: EngineState, scene: Scene) -> tuple[EngineState, tuple[Call, ...]]:
        game = state.game
        scene = without_lost_figures(scene if self._floor is None else self._floor.apply(scene))
        if state.recent and scene.t_ns <= state.recent[-1].t_ns:
            raise RefusedError(f"scene {scene.frame} is out of order: {scene.t_ns} after {state.recent[-1].t_ns} ns")
        # A hand or a bump may have moved figures: what was seen before says nothing of how they got here.
        recent = () if scene.unfit else append_recent(state.recent, scene)
        power_changed = scene.board != state.power and is_switched(game, scene)
        # Most frames of a game come between plays, when nothing is judged: they pass before any fact is measured.
        idle = game.phase in NOT_JUDGED and not game.play.pending
        if idle and not power_changed and scene.unfit == game.suspended:
            return replace(state, game=advance_clock(game, scene.t_ns), recent=recent), ()
        power = scene.board if power_changed else state.power
        game = with_handled(with_gap(state, scene), scene)
        if scene.unfit:
            return replace(state, game=suspended_by(state, game, scene), recent=recent, power=power), ()
        game = advance_clock(game, scene.t_ns)
        game = replace(game, suspended=()) if game.suspended else game
        facts = Facts(scene, recent[:-1], game, self.field)
        context = self._context(game.now_ns, facts, state)
        # Poses, falls and touches come first: the rules below read them from the state.
        game = with_seen(with_rest_poses(game, scene), facts)
        found: list[Finding] = []
        if power_changed and power != game.board:
            game = replace(game, board=power)
            found.append(power_finding(scene.t_ns, on=power == "on", by=None, sigma_s=facts.switch_error_s))
        rules = self.rulebook.rules_by_phase[game.phase]
        seen = [finding for rule in rules for finding in rule.observe(facts, game, context.params)]
        found += evidence_in_order(seen, rules, facts, game, context.params) if seen else seen
        game = self._merge(game, found) if found else game
        game, calls = self._settle(game, context) if game.play.pending else (game, ())
        return replace(state, game=game, recent=recent, power=power), calls

    def _apply_event(self, state: EngineState, event: Event) -> tuple[EngineState, tuple[Call, ...]]:
        self.check_time(state, event)
        game = state.game
        now_ns = max(game.now_ns, event.t_ns)
        # People go on declaring when the camera is gone: an old scene must not be taken for the board of now.
        fresh = bool(state.recent) and event.t_ns - state.recent[-1].t_ns <= ENGINE_LIMITS.stale_ns
        facts = Facts(state.recent[-1], state.recent[:-1], game, self.field) if fresh else None
        context = self._context(now_ns, facts, state)
        if isinstance(event.body, Ruling):
            game, calls = self._apply_manual_ruling(game, event.body, context)
        elif isinstance(event.body, Tick | Undo):
            game, calls = self._settle(advance_clock(game, now_ns), context)
        elif isinstance(event.body, PlayEnded) and is_same_play(state, now_ns):
            return self._tell_again(state, event, context)
        else:
            return self._apply_declaration(state, event, context)
        return replace(state, game=game, event_ns=event.t_ns), calls

    def _tell_again(
        self, state: EngineState, event: Event, context: RuleContext
    ) -> tuple[EngineState, tuple[Call, ...]]:
        """Apply a person's word about a play that has just ended: it is the play, and the calls before it are not."""
        ended, ending, now = state.ended, state.ending, state.game
        assert ended is not None
        assert ending is not None
        game = replace(
            ended,
            now_ns=now.now_ns,
            players=now.players,
            board=now.board,
            suspended=now.suspended,
            play=replace(ended.play, pending=()),
            time_outs=now.time_outs,
            proposals=tuple(name for name in now.proposals if name not in ending.calls),
        )
        superseded = (*state.superseded, *ending.calls)
        return self._apply_declaration(replace(state, game=game, superseded=superseded), event, context)

    def _apply_declaration(
        self, state: EngineState, event: Event, context: RuleContext
    ) -> tuple[EngineState, tuple[Call, ...]]:
        handler = self.rulebook.system.handlers.get(type(event.body))
        if handler is None:
            what = event.body.type.replace("_", " ")
            raise RefusedError(f"{what}: {self.rulebook.name} has no use for it")
        game, before = self._settle(advance_clock(state.game, context.t_ns), context, board_at_rest=True)
        if before and isinstance(event.body, PlayEnded) and game.play.snap_ns is None:
            settled = with_ended(state, replace(state, game=game), before, seen=True)
            if is_same_play(settled, context.t_ns):  # what waited for evidence has just been called
                again, calls = self._tell_again(settled, event, context)
                return again, (*before, *calls)
        outcome = handler(game, event, context)
        outcome = replace(outcome, state=without_met_wait(outcome.state))
        found = [replace(finding, because=(*finding.because, event.id)) for finding in outcome.findings]
        if outcome.state.play.pending or any(finding.rule == POWER for finding in found):
            game, made = self._settle(self._merge(outcome.state, found), context)
        else:
            # Nothing to wait behind: a declaration's findings follow one another, whatever each does to the play.
            game, made_calls = self._apply_outcome(Outcome(outcome.state, tuple(found)), context, (), state.superseded)
            made = tuple(made_calls)
        # A play told as a whole is over in this one entry: claims after the whistle are about it all the same.
        under_way = outcome.state if outcome.state.play.snap_ns is not None else None
        return replace(state, game=game, event_ns=event.t_ns, ended=under_way or state.ended), (*before, *made)

    def _merge(self, game: GameState, found: list[Finding]) -> GameState:
        return replace(game, play=merge_findings(game.play, found, self.rulebook.precedence, self._confidence))

    def _settle(
        self, game: GameState, context: RuleContext, *, board_at_rest: bool = False
    ) -> tuple[GameState, tuple[Call, ...]]:
        """Make calls of the pending findings that are ready, in order; the first that is not holds up the rest.

        With `board_at_rest` a switch turned off waits no longer: somebody acted, so he has seen the board come to rest.
        """
        calls: list[Call] = []
        while game.play.pending:
            first = game.play.pending[0]
            if not (is_ready(first, context.t_ns, self._confidence) or (board_at_rest and first.rule == POWER)):
                break
            game = replace(game, play=replace(game.play, pending=game.play.pending[1:]))
            if first.rule == POWER:
                game, made = self._apply_outcome(apply_switch(game, first, context), context, first.because)
                calls += made
                continue
            rule = self.rulebook.rules_by_id.get(first.rule)
            if rule is not None and game.phase not in rule.phases:
                continue  # overtaken by an earlier call: the play is over, or stopped
            finding = first if rule is None else rule.settle(first, game, context)
            finding = finding and game.play.unless_over(finding)
            if first.key:
                key = finding_key(first)
                if finding is not None and finding.probability < self._confidence:
                    key = too_close_key(key)
                    if key in game.play.settled:
                        continue  # it was left open before, and is as doubtful as it was
                elif finding is not None and (left_open := game.play.left_open(key)):
                    finding = replace(finding, because=(*finding.because, *left_open))
                    game = replace(game, proposals=tuple(name for name in game.proposals if name not in left_open))
                game = replace(game, play=game.play.with_settled(key))
            if finding is not None:
                game, made = self._call(game, finding, context)
                calls += made
                if first.key and made and made[0].verdict == "too_close":
                    game = replace(game, play=game.play.with_left_open(f"{key}={made[0].id}", finding))
        return game, tuple(calls)

    def _call(
        self,
        game: GameState,
        finding: Finding,
        context: RuleContext,
        above: tuple[str, ...] = (),
        otherwise: tuple[Finding, ...] | None = None,
    ) -> tuple[GameState, list[Call]]:
        """Make a call of a finding, apply its consequence, and make the calls that follow from that.

        With `otherwise` the finding is of a measured place: too close, the game waits for a person, and what follows if
        he finds that it does not hold is `otherwise`.

        `above` has the ids of the calls it follows from, and of those made with them. A call that follows from what a
        ruling made of it (fourth down once more, after a turnover on downs overturned in favor of a tackle) is another
        one, which that ruling is not about.
        """
        if self.rulebook.spots_runs:
            finding = by_house_rules(finding, game, self.rulebook.params)
        call = make_call(
            replace(finding, clauses=self.rulebook.cite(finding.clauses)),
            rulebook=self.rulebook.name,
            policy=self.rulebook.policy(finding.kind),
            confidence=self._confidence,
        )
        # Ids are unique, and the same in a replay: they are told apart by what they follow from, not by a count.
        while call.id in above:
            call = replace(call, id=f"{call.id}:again")
        if call.kind in LINE_UPS and call.verdict == "reported" and call.t_ns <= (game.ruled_ns or -1):
            return game, []
        ruling = self.rulings.get(call.id)
        if ruling is not None:
            game = self._with_ruled(game, ruling)
            standing = apply_ruling(call, ruling)
            if standing is None:
                # A person has measured it, so what follows is sure.
                found = tuple(replace(one, margin=None, sigma=None, probability=1.0) for one in otherwise or ())
                return self._apply_outcome(Outcome(game, found), context, finding.because, (*above, call.id))
            call = standing
        # It waits for a person: its consequence follows when his ruling makes the engine judge again.
        elif call.verdict in {"too_close", "proposed"}:
            game = replace(game, proposals=(*game.proposals, call.id))
            if call.kind == "touchdown" and call.verdict == "too_close":
                game = replace(game, play=replace(game.play, score_open=True))
            waits = otherwise is not None and call.verdict == "too_close"
            return (waiting_for_measurement(game) if waits else game), [call]
        if call.verdict == "reported":
            return game, [call]
        return self._apply_call(game, call, context, above)

    def _with_ruled(self, game: GameState, ruling: Ruling) -> GameState:
        """Return the game with what a ruling has changed; up to it figures were lined up for what stood before."""
        if ruling.decision == "confirm" or ruling.call not in self.ruled_ns:
            return game
        return replace(game, ruled_ns=max(self.ruled_ns[ruling.call], game.ruled_ns or 0))

    def _apply_call(
        self, game: GameState, call: Call, context: RuleContext, above: tuple[str, ...] = ()
    ) -> tuple[GameState, list[Call]]:
        consequence = self.rulebook.system.consequences.get(call.kind)
        if consequence is None:
            return game, [call]
        outcome = consequence(game, call, replace(context, t_ns=call.t_ns))
        ended = game.play.snap_ns is not None and outcome.state.play.snap_ns is None
        if game.play.score_open and ended and call.kind != "touchdown":
            return waiting_for_measurement(game), [call]  # where the ball is next depends on whether it was a score
        if call.id not in self.rulings:
            # A chain is as sure as its weakest link; what a person has said is sure.
            found = (replace(one, probability=min(one.probability, call.probability)) for one in outcome.findings)
            outcome = replace(outcome, findings=tuple(found))
        game, calls = self._apply_outcome(outcome, context, (call.id,), (*above, call.id))
        return game, [call, *calls]

    def _apply_outcome(
        self, outcome: Outcome, context: RuleContext, because: tuple[str, ...], above: tuple[str, ...] = ()
    ) -> tuple[GameState, list[Call]]:
        game, calls = without_met_wait(outcome.state), list[Call]()
        for place, finding in enumerate(outcome.findings):
            made_before = (*above, *(call.id for call in calls))
            found = replace(finding, because=(*finding.because, *because))
            otherwise = outcome.otherwise if place == 0 else None
            game, made = self._call(game, found, context, made_before, otherwise)
            calls += made
        return game, calls

    def _apply_manual_ruling(
        self, game: GameState, ruling: Ruling, context: RuleContext
    ) -> tuple[GameState, tuple[Call, ...]]:
        """Apply a call made by hand; the engine was given all other rulings beforehand."""
        if ruling.decision != "manual":
            return game, ()
        if ruling.replacement is None:
            raise RefusedError("a manual ruling needs the call it makes")
        call, later = ruling.replacement, self.rulings.get(ruling.replacement.id)
        game = game if later is None else self._with_ruled(game, later)
        standing = call if later is None else apply_ruling(call, later)
        if standing is None:
            return game, ()
        game, calls = self._apply_call(game, standing, context)
        return game, tuple(calls)
