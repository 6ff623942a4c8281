"""What the feed shows of a game: the engine's records turned into the topics' models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache

from downfield.core.scene import Ball
from downfield.game.commands import TeamSheet
from downfield.game.entries import Began
from downfield.game.published.game_topics import (
    BallView,
    CallsUpdate,
    CallView,
    ClauseView,
    ClockView,
    GameView,
    Question,
    Questions,
    ReadingView,
    RulingView,
    Standing,
    TeamView,
    WaitView,
)
from downfield.game.published.wording import clock_text
from downfield.officiating.calls import Call, calls_to_append
from downfield.officiating.declarations import Side
from downfield.officiating.engine.state import GameState
from downfield.officiating.rulebooks.clauses import catalog, catalogs
from downfield.officiating.rulebooks.systems import SYSTEMS


@dataclass(frozen=True, slots=True)
class Shown:
    """What a call is shown with beside itself.

    Attributes:
        began: the game it is of.
        spot: a place along the field in words.
        open: ids of calls that wait for a person.
        rulings: by call id.
        frames: the frame a call was made at, by call id.

    """

    began: Began
    spot: Callable[[float], str]
    open: frozenset[str] = frozenset()
    rulings: Mapping[str, RulingView] = field(default_factory=dict)
    frames: Mapping[str, int] = field(default_factory=dict)


def call_view(call: Call, shown: Shown) -> CallView:
    """A call as the feed shows it."""
    return CallView(
        id=call.id,
        kind=call.kind,
        verdict=call.verdict,
        standing=_standing(call, shown),
        text=call.text,
        t_ns=call.t_ns,
        clauses=tuple(
            ClauseView(id=clause, text=clause_text(shown.began.rulebook.system, clause)) for clause in call.clauses
        ),
        players=call.players,
        side=call.side,
        spot_yd=call.spot_yd,
        spot_text="" if call.spot_yd is None else shown.spot(call.spot_yd[0]),
        margin=_finite(call.margin),
        sigma=_finite(call.sigma),
        unit=call.unit,
        measured=call.measured,
        probability=call.probability,
        readings=tuple(
            ReadingView(kind=reading.kind, probability=reading.probability, text=reading.text)
            for reading in call.readings
        ),
        detail=call.detail,
        because=call.because,
        ruling=shown.rulings.get(call.id),
        frame=shown.frames.get(call.id),
    )


def _standing(call: Call, shown: Shown) -> Standing:
    ruling = shown.rulings.get(call.id)
    if ruling is not None:
        decided: dict[str, Standing] = {"confirm": "confirmed", "overturn": "overturned", "manual": "manual"}
        return decided.get(ruling.decision, "stands")
    if call.verdict == "reported":
        return "told"
    return "open" if call.id in shown.open else "stands"


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


@cache
def clause_text(system: str, clause: str) -> str:
    """What a clause says, in short; empty where the catalog does not know it."""
    known = catalog(system).clauses.get(clause) if system in catalogs() else None
    return "" if known is None else known.text


def game_view(game: str, state: GameState, began: Began, at_ms: int) -> GameView:
    """The state of a game as the feed shows it at an instant of the wall clock."""
    left_s = state.clock.left_at_s(state.now_ns)
    return GameView(
        game=game,
        rulebook=began.rulebook.name,
        rulebook_title=began.rulebook.title,
        system=began.rulebook.system,
        takes=_takes(began.rulebook.system),
        home=_team(state, "home", began.home),
        away=_team(state, "away", began.away),
        score=state.score,
        possession=state.play.ball_side,
        offense=state.offense,
        direction=1 if state.ball_direction > 0 else -1,
        down=state.down,
        distance_yd=round(state.distance_yd, 2),
        goal_to_go=state.goal_to_go,
        spot_yd=round(state.los_yd, 2),
        spot_text=state.spot_text(state.los_yd),
        to_gain_yd=round(state.to_gain_yd, 2),
        lateral_yd=state.lateral_yd,
        hash=state.hash,
        due=state.due,
        period=state.period,
        clock=ClockView(left_s=left_s, running=state.clock.running, at_ms=at_ms, text=clock_text(left_s)),
        phase=state.phase,
        phase_text=state.phase.value.replace("_", " "),
        board=state.board,
        wait=_wait(state),
        suspended=state.suspended,
        under_review=bool(state.proposals),
        situation=state.situation,
        text=state.text,
        t_ns=state.now_ns,
    )


@cache
def _takes(system: str) -> tuple[str, ...]:
    kinds = SYSTEMS[system].handlers
    return tuple(sorted(str(part.default) for kind in kinds for part in fields(kind) if part.name == "type"))


def _team(state: GameState, side: Side, sheet: TeamSheet) -> TeamView:
    place = 0 if side == "home" else 1
    return TeamView(
        name=sheet.name,
        short=sheet.short,
        color=sheet.color,
        ink=sheet.ink,
        jersey="dark" if state.dark == side else "light",
        points=state.score[place],
        time_outs=None if state.time_outs is None else state.time_outs[place],
    )


def _wait(state: GameState) -> WaitView | None:
    wait = state.wait
    if wait is None:
        return None
    what = {"roll": "roll", "coin": "flip a coin", "choice": "choose"}[wait.kind]
    whose = "" if wait.by is None else f"{state.team(wait.by).name}: "
    purpose = wait.purpose.replace("_", " ")
    options = "".join(f" {option.replace('_', ' ')}" for option in wait.options)
    text = f"{whose}{what} for {purpose}" + (f":{options}" if options else "")
    return WaitView(kind=wait.kind, purpose=wait.purpose, options=wait.options, by=wait.by, text=text)


def ball_view(state: GameState, ball: Ball | None, yards: tuple[float, float]) -> BallView:
    """Who has the ball.

    Args:
        state: the game.
        ball: as last seen; None when it was not.
        yards: millimeters for a yard along and across.

    """
    carrier = state.player(state.play.carrier)
    side = state.play.ball_side
    if carrier is not None:
        text = f"{carrier.jersey} {carrier.number or carrier.id} has the ball"
    else:
        text = f"{state.team(side).name} ball"
    return BallView(
        player=state.play.carrier,
        number="" if carrier is None else carrier.number,
        jersey=None if carrier is None else carrier.jersey,
        side=side,
        state=None if ball is None else ball.state,
        x_yd=None if ball is None else round(ball.x_mm / yards[0], 2),
        y_yd=None if ball is None else round(ball.y_mm / yards[1], 2),
        text=text,
    )


def questions_view(calls: Iterable[CallView], game: GameView) -> Questions:
    """All that waits for a person."""
    asked: list[Question] = [
        Question(id=call.id, kind="ruling", text=call.text, call=call) for call in calls if call.standing == "open"
    ]
    wait = game.wait
    if wait is not None:
        asked.append(
            Question(
                id=f"{wait.kind}:{wait.purpose}",
                kind=wait.kind,
                text=wait.text,
                purpose=wait.purpose,
                options=wait.options,
                by=wait.by,
            )
        )
    return Questions(questions=tuple(asked))


def changed_calls(now: Sequence[CallView], before: Sequence[CallView]) -> CallsUpdate:
    """What of the calls is new, different, gone or in another order."""
    known = {call.id: call for call in before}
    stand = dict.fromkeys(call.id for call in now)
    return CallsUpdate(
        calls=tuple(call for call in now if known.get(call.id) != call),
        withdrawn=tuple(one for one in known if one not in stand),
        moved=calls_to_append(known, tuple(stand)),
    )
