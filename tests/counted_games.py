"""Random games told by hand or by cards, each counted on paper as it is told: what a box score must come to.

The paper knows nothing of calls. It adds up what the teller saw: where the ball was before a play, where it was after
it, who had it then. All places have one decimal, so that yards add up without rounding.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from declared_game import DeclaredGame

from downfield.core.field.model import load_field
from downfield.game.published.plays import Play, PlayedGame, plays_of
from downfield.game.published.views import CallContext, call_view
from downfield.game.records.entries import GameStarted, record_of
from downfield.officiating import declarations as d
from downfield.officiating.calls import Call
from downfield.officiating.state.game_state import GameState, Phase, opponent

Way = Literal["ends", "snaps", "cards"]
WAYS: Final[tuple[tuple[str, Way], ...]] = (
    ("tap", "ends"),
    ("tap", "snaps"),
    ("efl", "ends"),
    ("efl", "snaps"),
    ("lions-den", "ends"),
    ("lions-den", "snaps"),
    ("nfl-strategy", "ends"),
    ("nfl-strategy", "cards"),
)
ACROSS: Final = 26.0
KICKS: Final = frozenset({"kickoff", "free_kick", "onside"})


@dataclass
class Paper:
    """What was counted, by side and name; yards in tenths."""

    counts: Counter[tuple[d.Side, str]] = field(default_factory=Counter)

    def add(self, side: d.Side, name: str, number: int = 1) -> None:
        self.counts[side, name] += number

    def of(self, side: d.Side, name: str) -> int:
        return self.counts[side, name]


class CountedGame(DeclaredGame):
    """A random game and its paper.

    Args:
        book: name of the rulebook.
        way: how its plays are told.
        seed: of its chances.
    """

    def __init__(self, book: str, way: Way, seed: int) -> None:
        super().__init__(book)
        self.book, self.way = book, way
        self.chance = random.Random(seed)
        self.paper = Paper()
        self._before_play = self.paper.counts.copy()
        if book == "lions-den":
            players = ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter")
            sides: tuple[d.Side, ...] = ("home", "away")
            self.declare(*(d.Roll((4, 5), player, side) for player in players for side in sides))

    def play(self, plays: int) -> CountedGame:
        """Tell so many plays, or all until the game is over."""
        for _ in range(plays):
            if self.state.phase is Phase.OVER:
                break
            self._one_play()
        return self

    def plays(self) -> list[Play]:
        """The plays as everyone reads them."""
        started = GameStarted(record_of(self.game.rulebook), load_field("ultimate"))
        context = CallContext(started, lambda _: "", frozenset(), {}, {})
        return plays_of(PlayedGame(self.game.plays, [call_view(call, context) for call in self.game.calls]))

    def _one_play(self) -> None:
        game = self.state
        if game.wait is None:
            self._before_play = self.paper.counts.copy()
        before = game.score
        if game.wait is not None:
            self._answer(game)
        elif game.due in KICKS:
            self._kickoff(game)
        elif game.due in {"two_point", "extra_point"}:
            self._try(game)
        else:
            self._from_scrimmage(game)
        for place, side in enumerate(("home", "away")):
            points = self.state.score[place] - before[place]
            if points == 6:
                self.paper.add(side, "touchdowns")  # type: ignore[arg-type]
            if points == 3:
                self.paper.add(side, "field_goals")  # type: ignore[arg-type]

    # What the game waits for

    def _answer(self, game: GameState) -> None:
        wait = game.wait
        assert wait is not None
        if wait.purpose == "penalty" and wait.kind == "choice":
            accept = d.ChoiceMade("accept")
            tenths = 10 * self.game.preview([accept]).los_yd
            if self.chance.random() < 0.5 and abs(tenths - round(tenths)) < 1e-6:
                self._wipe_out(self.declare(accept))
            else:
                self.declare(d.ChoiceMade("decline"))
        elif wait.kind == "choice":
            self.declare(d.ChoiceMade(self.chance.choice(wait.options)))
        elif wait.kind == "coin":
            self.declare(d.Coin(self.chance.random() < 0.5))
        elif self.book == "efl":
            self.declare(d.KickEnded(self.chance.choice(("good", "no_good"))))
        else:
            legal = self.game.legal().dice
            if legal is None:
                raise AssertionError(game.text)
            self.declare(d.Roll(tuple(self.chance.randint(1, legal.sides) for _ in range(legal.count)), wait.purpose))

    def _wipe_out(self, made: list[Call]) -> None:
        """Take back on paper what a penalty has made not to count; the down it gives is announced."""
        self.paper.counts = self._before_play.copy()
        self.paper.add(self.state.offense, "first_downs", sum(call.kind == "first_down" for call in made))

    # Kinds of plays

    def _kickoff(self, game: GameState) -> None:
        receivers = game.offense
        if self.way == "cards":
            kick = self.chance.choice(("65TB", "50OB", "55"))
            self.declare(d.CardPlayed("kickoff", kick, roll=60))
            if self.state.wait is not None:
                self.declare(d.ReturnPlayed(self.chance.choice(("12", "25", "99"))))
            return
        if self.chance.random() < 0.3:
            self.declare(d.PlayEnded("touchback", by=receivers))
        elif self.chance.random() < 0.1:
            self.declare(d.PlayEnded("touchdown", by=receivers))
        else:
            by = receivers if self.chance.random() < 0.9 else opponent(receivers)
            self.declare(d.PlayEnded("stopped", (self._place(), ACROSS), by=by))

    def _try(self, game: GameState) -> None:
        if self.way == "cards" or game.due == "extra_point":
            kind: Any = "two_point" if game.due == "two_point" else "extra_point"
            shown = self.chance.choice(("1", "2", "inc") if kind == "two_point" else ("good", "no good"))
            self.declare(d.CardPlayed(kind, shown, roll=60))
            return
        self._snap()
        good = self.chance.random() < 0.5
        self.declare(d.PlayEnded("touchdown") if good else d.PlayEnded("stopped", (50.0, ACROSS)))

    def _from_scrimmage(self, game: GameState) -> None:
        names = ["run"] * 8 + ["incomplete"] * 2 + ["touchdown", "lost", "fumble", "safety", "field_goal", "punt"]
        name = self.chance.choice(names)
        if name == "safety" and game.progress_yd(game.los_yd) > 25:
            name = "run"
        if name in {"field_goal", "punt"}:
            self._kick(game, name)
            return
        self.paper.add(game.offense, "plays")
        if self.way == "cards":
            self._card(game, name)
            return
        self._snap()
        getattr(self, f"_{name}")(game)

    def _snap(self) -> None:
        if self.way == "snaps":
            self.declare(*([d.Separated()] if self.state.phase is Phase.BETWEEN_PLAYS else []), d.Switch(True))

    def _run(self, game: GameState) -> None:
        x_yd = self._near(game)
        kind: Any = self.chance.choice(
            ("stopped", "out_of_bounds", "tackle") if self.book != "nfl-strategy" else ("stopped",)
        )
        if self.book not in {"nfl-strategy"} and self.chance.random() < 0.1:
            kind = "sack"
            self.paper.add(game.defense, "sacks")
        self._count_gain(game, x_yd)
        self.declare(d.PlayEnded(kind, (x_yd, ACROSS)))

    def _incomplete(self, game: GameState) -> None:
        self._count_gain(game, game.los_yd)
        self.declare(d.PlayEnded("incomplete"))

    def _touchdown(self, game: GameState) -> None:
        self.paper.add(game.offense, "yards", round(10 * (game.length_yd - game.progress_yd(game.los_yd))))
        self.declare(d.PlayEnded("touchdown"))

    def _safety(self, game: GameState) -> None:
        self.paper.add(game.offense, "yards", -round(10 * game.progress_yd(game.los_yd)))
        self.declare(d.PlayEnded("safety"))

    def _lost(self, game: GameState) -> None:
        self.paper.add(game.offense, "turnovers")
        other = opponent(game.offense)
        if self.chance.random() < 0.2:
            self.declare(d.PlayEnded("touchdown", by=other))
        else:
            self.declare(d.PlayEnded("stopped", (self._place(), ACROSS), by=other))

    def _fumble(self, game: GameState) -> None:
        if self.book == "nfl-strategy":
            self._run(game)
            return
        x_yd = self._near(game)
        self.paper.add(game.offense, "fumbles")
        lost = self.chance.random() < 0.5
        self.declare(d.PlayEnded("fumble", (x_yd, ACROSS)))
        by = opponent(game.offense) if lost else game.offense
        if self.book == "tap":
            self.declare(d.Coin(not lost))
        else:
            self.declare(d.PlayEnded("recovered", (x_yd, ACROSS), by=by))
        if lost:
            self.paper.add(game.offense, "turnovers")
            self.paper.add(game.offense, "yards", self._tenths(game, x_yd))
            self.declare(d.PlayEnded("stopped", (self._place(), ACROSS), by=by))
            return
        self._count_gain(game, x_yd)
        if self.book != "tap":
            self.declare(d.PlayEnded("stopped", (x_yd, ACROSS), by=by))

    def _kick(self, game: GameState, name: str) -> None:
        if name == "field_goal" and game.length_yd - game.progress_yd(game.los_yd) > 30:
            name = "punt"
        kick: Any = name
        if self.book == "nfl-strategy":
            if self.way == "ends":
                self.paper.add(game.offense, "plays")
                self._run(game)
                return
            shown = {"punt": ("35FC", "30DN", "20OB"), "field_goal": ("good", "no good")}[name]
            self.declare(d.CardPlayed(kick, self.chance.choice(shown), roll=60))
            return
        self.declare(d.KickDeclared(kick))
        if name == "field_goal" or self.book == "lions-den":
            while self.state.wait is not None and self.state.wait.purpose in {"punt", "punt_length", "field_goal"}:
                self._answer(self.state)
            if self.state.phase in {Phase.LIVE, Phase.STOPPED}:
                self.declare(d.PlayEnded("stopped", (self._place(), ACROSS)))
        elif self.book == "efl":
            self.declare(d.KickEnded("out_of_bounds", self._place(), 0.0))
        else:
            self.declare(d.KickEnded("touched", self._place(), ACROSS, by=game.defense))
            self.declare(d.PlayEnded("stopped", (self._place(), ACROSS)))

    def _card(self, game: GameState, name: str) -> None:
        kind: Any = self.chance.choice(("run", "pass"))
        start = game.progress_yd(game.los_yd)
        most = int(game.length_yd - start) - 1
        gain = min(self.chance.choice((-2, 0, 3, 7, 12)), most)
        gain = max(gain, 1 - int(start)) if start > 1 else max(gain, 0)
        shown = str(gain)
        if name == "incomplete":
            kind, shown, gain = "pass", "inc", 0
        elif name == "touchdown":
            shown, gain = str(most + 5), 0
            self.paper.add(game.offense, "yards", round(10 * (game.length_yd - start)))
        elif name == "lost":
            kind, shown = "pass", f"{gain}i"
        elif name == "fumble":
            shown = f"{gain}F"
        if kind == "pass":
            self.paper.add(game.offense, "passes")
            self.paper.add(game.offense, "completions", int(name not in {"incomplete", "lost"}))
        x_yd = game.board_x_yd(start + gain)
        if name not in {"touchdown", "lost", "fumble"}:
            self._count_gain(game, x_yd)
        self.declare(d.CardPlayed(kind, shown, roll=60))
        if name == "lost":
            self.paper.add(game.offense, "turnovers")
            if self.state.wait is not None:
                self.declare(d.Roll((90,)))
        if name == "fumble":
            self.paper.add(game.offense, "fumbles")
            lost = self.chance.random() < 0.5
            self.declare(d.Roll((10 if lost else 90,)))
            if lost:
                self.paper.add(game.offense, "turnovers")
                self.paper.add(game.offense, "yards", self._tenths(game, x_yd))
            else:
                self._count_gain(game, x_yd)

    # What is written down

    def _count_gain(self, game: GameState, x_yd: float) -> None:
        """Write down a play that ended with the offense's ball at a place, as in football."""
        self.paper.add(game.offense, "yards", self._tenths(game, x_yd))
        if game.progress_yd(x_yd) >= game.progress_yd(game.to_gain_yd) - 1e-9:
            self.paper.add(game.offense, "first_downs")
        elif game.down == 4:
            self.paper.add(game.offense, "turnovers")

    def _tenths(self, game: GameState, x_yd: float) -> int:
        return round(10 * (game.progress_yd(x_yd) - game.progress_yd(game.los_yd)))

    def _place(self) -> float:
        return self.chance.randint(30, 970) / 10

    def _near(self, game: GameState) -> float:
        own = game.progress_yd(game.los_yd) + self.chance.randint(-40, 150) / 10
        return round(game.board_x_yd(min(max(round(own, 1), 1.0), game.length_yd - 1.0)), 1)
