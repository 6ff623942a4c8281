"""Declarations and rulings in words, as the panel lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from downfield.officiating.declarations import Coin, Roll, SetUp, Switch
from downfield.officiating.events import Body, Ruling, Undo

_SENTENCES: Final[dict[str, Callable[[Any], str]]] = {
    "line_up": lambda said: f"line-up of {len(said.players)}",
    "separated": lambda _: "men separated",
    "set": lambda _: "offense set",
    "carrier": lambda said: f"{said.player} has the ball",
    "pass": lambda said: f"pass to {said.receiver}" if said.receiver else "pass",
    "pitch": lambda said: f"pitch to {said.to}",
    "pivots_done": lambda said: f"{said.by} has finished pivots",
    "base_swap": lambda said: f"{said.player} {'on a' if said.stationary else 'off the'} stationary base",
    "kick": lambda said: _words(said.kick),
    "choice": lambda said: f"choice: {_words(said.choice)}",
    "claim": lambda said: f"{said.by} claims {_words(said.claim)}",
    "ball_placed": lambda said: "ball taken away" if said.x_yd is None else "ball placed",
    "pass_ended": lambda said: f"pass {said.end}" + (f" by {said.player}" if said.player else ""),
    "kick_ended": lambda said: f"kick {_words(said.end)}",
    "card": lambda said: f"card: {_words(said.kind)} {said.shown}".rstrip(),
    "return": lambda said: f"return {said.shown}",
    "foul": lambda said: f"foul by {said.by}, {said.yards} yards {said.name}".rstrip(),
    "tick": lambda _: "time passes",
}


def said_text(body: Body) -> str:
    """What somebody said, in a few words."""
    if isinstance(body, Ruling):
        call = body.replacement.text if body.replacement is not None else body.call
        return f"{body.decision} {call}"
    if isinstance(body, Undo):
        return f"take back {body.event}"
    if isinstance(body, SetUp):
        score = f"{body.score[0]} to {body.score[1]}"
        return f"set up: {body.offense} ball, down {body.down}, {body.distance_yd:g} to go, {score}"
    if isinstance(body, Switch):
        return f"board {'on' if body.on else 'off'}"
    if isinstance(body, Roll):
        return " ".join(part for part in ("roll", " ".join(map(str, body.dice)), _for(body.purpose)) if part)
    if isinstance(body, Coin):
        return " ".join(part for part in ("coin", "heads" if body.heads else "tails", _for(body.purpose)) if part)
    if body.type == "clock":
        left = "" if body.left_s is None else f" at {clock_text(body.left_s)}"
        return f"clock {'runs' if body.running else 'stopped'}{left}"
    return _SENTENCES[body.type](body)


def clock_text(left_s: float | None) -> str:
    """Time left as a clock shows it, such as ``"4:07"``; empty without one."""
    if left_s is None:
        return ""
    whole = max(0, int(left_s + 0.999))
    return f"{whole // 60}:{whole % 60:02d}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _for(purpose: str) -> str:
    return f"for {_words(purpose)}" if purpose else ""
