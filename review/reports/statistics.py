"""The numbers of a game: by team (box score), by possession (drives), and by figure, and as tables.

How figures moved is found in one pass over a game's scenes, whose length does not matter for memory.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar, get_args

from downfield.core.field.model import FieldModel
from downfield.core.scene import Figure, Jersey, Player, Scene
from downfield.game.published.game_topics import CallView
from downfield.game.published.plays import SCRIMMAGE, Play
from downfield.officiating.call_kinds import SCORES, TURNOVERS, CallKind
from downfield.officiating.declarations import Side
from downfield.review.reports.markup import Cell

T = TypeVar("T")

_UNCAUGHT: Final = ("incomplete", "overrun", "interception")


HEAT_CELL_YD: Final = 2.5  # Side of a cell of a heat map


_STEP_MM: Final = 4.0  # A figure has moved once it is this far from where it last had: a standing one trembles by less
_SPEED_SPAN_NS: Final = 250_000_000  # Speeds are over this time: long against the errors of two positions


@dataclass(slots=True)
class Run:
    """A figure's way in one play."""

    jersey: Jersey
    # where it began, and every place where it had moved a step further; board mm
    points_mm: list[tuple[float, float]] = field(default_factory=list)
    distance_mm: float = 0.0  # along these
    top_speed_mm_s: float = 0.0  # over a quarter of a second
    fell: bool = False  # whether it fell
    _from: tuple[int, float, float] | None = None

    def see(self, figure: Figure, t_ns: int) -> None:
        """Follow the figure to where it is in the next frame."""
        self.fell = self.fell or figure.posture == "fallen"
        if figure.posture != "upright" or figure.lost:  # what it does otherwise is not its own movement
            self._from = None
            return
        here = (figure.x_mm, figure.y_mm)
        if not self.points_mm:
            self.points_mm.append(here)
        step_mm = math.dist(here, self.points_mm[-1])
        if step_mm >= _STEP_MM:
            self.points_mm.append(here)
            self.distance_mm += step_mm
        if self._from is None:
            self._from = (t_ns, *here)
        elif t_ns - self._from[0] >= _SPEED_SPAN_NS:
            moved_mm = math.dist(here, self._from[1:])
            if moved_mm >= _STEP_MM:
                self.top_speed_mm_s = max(self.top_speed_mm_s, moved_mm / (t_ns - self._from[0]) * 1e9)
            self._from = (t_ns, *here)

    @property
    def straight_mm(self) -> float:
        """How far it came, as the crow flies."""
        return math.dist(self.points_mm[0], self.points_mm[-1]) if self.points_mm else 0.0


@dataclass(frozen=True, slots=True)
class Movement:
    """How the figures of a game moved."""

    runs: tuple[dict[str, Run], ...]  # by play, from 0, and roster id; plays without a scene are empty
    # frames spent by a color class in a cell, by jersey, column and row of cells of `HEAT_CELL_YD`, while the board ran
    heat: dict[Jersey, dict[tuple[int, int], int]]


def movement_of(scenes: Iterable[Scene], snaps_ns: Sequence[int], field_model: FieldModel) -> Movement:
    """Return how the figures moved while the board ran, play by play, from scenes in order and the rising snaps."""
    runs: tuple[dict[str, Run], ...] = tuple({} for _ in snaps_ns)
    heat: dict[Jersey, dict[tuple[int, int], int]] = {"dark": {}, "light": {}}
    for scene in scenes:
        play = bisect_right(snaps_ns, scene.t_ns) - 1
        if play < 0 or scene.board != "on":
            continue
        for figure in scene.figures:
            if figure.posture == "lifted" or figure.lost:
                continue
            runs[play].setdefault(figure.id, Run(figure.jersey)).see(figure, scene.t_ns)
            cell = (
                math.floor(figure.x_mm / field_model.mm_per_yd_x / HEAT_CELL_YD),
                math.floor(figure.y_mm / field_model.mm_per_yd_y / HEAT_CELL_YD),
            )
            counts = heat[figure.jersey]
            counts[cell] = counts.get(cell, 0) + 1
    return Movement(runs, heat)


@dataclass(frozen=True, slots=True)
class TeamLine:
    """A team's numbers.

    A number that nobody has counted is None: passes of plays told by their ends alone, what the rulebook does not have.
    """

    side: Side
    plays: int  # from scrimmage
    yards: float
    # first_downs, touchdowns, field_goals, turnovers, sacks, fumbles, penalties: how many; sacks are those it made,
    # turnovers those it lost the ball by, penalties those called against it
    first_downs: int
    touchdowns: int
    field_goals: int
    # passes, completions: thrown, and caught by its own side
    passes: int | None
    completions: int | None
    turnovers: int
    fumbles: int | None
    sacks: int | None
    penalties: int | None


@dataclass(frozen=True, slots=True)
class DriveLine:
    """The plays of one possession."""

    number: int  # in the game, from 1
    side: Side
    first_play: int
    last_play: int
    period: int
    start: str
    plays: int
    yards: float
    result: str  # how it ended, in words


def team_lines(plays: Sequence[Play], known: Collection[str] = get_args(CallKind)) -> tuple[TeamLine, TeamLine]:
    """Return the numbers of home and away, by the kinds of calls that the rulebook has."""
    return _team(plays, "home", known), _team(plays, "away", known)


def drives_of(plays: Sequence[Play]) -> list[DriveLine]:
    """Return the possessions: plays in a row of one side; a kick that starts play again belongs to none."""
    groups: list[list[Play]] = []
    for play in plays:
        if play.kind in {"kickoff", "onside", "free_kick"}:
            groups.append([])
        elif groups and groups[-1] and groups[-1][-1].offense == play.offense and not _ends(groups[-1][-1]):
            groups[-1].append(play)
        elif play.kind in {"extra_point", "two_point"} and groups and groups[-1]:
            groups[-1].append(play)  # the try belongs to the drive that scored
        else:
            groups.append([play])
    return [_drive(number, group) for number, group in enumerate((group for group in groups if group), start=1)]


def _team(plays: Sequence[Play], side: Side, known: Collection[str]) -> TeamLine:
    runs = [play for play in plays if play.offense == side and play.is_run]
    defended = [play for play in plays if play.offense != side and play.is_run]
    against = [call for play in plays for call in play.in_force if call.side not in {side, None}]
    passes = [play for play in runs if play.is_pass and not play.has("sack")]
    untold = any(play.is_pass is None for play in runs)
    points = [scored for play in plays for scored in play.points]
    return TeamLine(
        side,
        plays=len(runs),
        yards=_total(runs),
        first_downs=sum(_is_first_down(play) for play in plays if play.offense == side),
        touchdowns=points.count((side, 6)),
        field_goals=points.count((side, 3)),
        passes=None if untold else len(passes),
        completions=None if untold else sum(not play.has(*_UNCAUGHT) for play in passes),
        turnovers=sum(play.losses.count(side) for play in plays),
        fumbles=sum(play.has("fumble", "fumble_recovery") for play in runs) if "fumble_recovery" in known else None,
        sacks=sum(play.has("sack") for play in defended) if "sack" in known else None,
        penalties=sum(call.kind == "penalty" for call in against) if "penalty" in known else None,
    )


def _is_first_down(play: Play) -> bool:
    """Return whether the offense won a first down, be it by a penalty; not after the ball was lost and won back."""
    return (
        play.kind in SCRIMMAGE
        and not play.losses
        and any(c.kind == "first_down" and c.side in {play.offense, None} for c in play.in_force)
    )


def _total(plays: Iterable[Play]) -> float:
    return round(sum(play.gain_yd or 0.0 for play in plays), 1)


def _ends(play: Play) -> bool:
    """Return whether a play ended its possession."""
    return play.has(*SCORES) or play.is_lost or play.kind in {"punt", "field_goal"}


def _drive(number: int, plays: Sequence[Play]) -> DriveLine:
    runs = [play for play in plays if play.is_run]
    last = plays[-1]
    return DriveLine(
        number,
        plays[0].offense,
        plays[0].number,
        last.number,
        plays[0].period,
        plays[0].situation,
        len(runs),
        _total(runs),
        _outcome(plays),
    )


def _outcome(plays: Sequence[Play]) -> str:
    for play in plays:
        scores = [call for call in play.in_force if call.kind in SCORES - {"extra_point", "two_point"}]
        if scores:
            return scores[-1].text
        if play.is_lost:
            lost = [call for call in play.in_force if call.kind in TURNOVERS and call.side != play.offense]
            return lost[-1].text if lost else "lost the ball"
    return plays[-1].kind if plays[-1].kind in {"punt", "field_goal"} else plays[-1].ending_words


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, columns: Mapping[str, Callable[[T], Cell]], items: Iterable[T]) -> ReportTable:
        """Return a table of items, one a row, by what each column shows of one."""
        return cls(tuple(columns), tuple(tuple(cell(one) for cell in columns.values()) for one in items))


_TEAM_ROWS: Final = (
    ("Plays from scrimmage", "plays"),
    ("Yards gained", "yards"),
    ("First downs", "first_downs"),
    ("Touchdowns", "touchdowns"),
    ("Field goals", "field_goals"),
    ("Passes", "passes"),
    ("Completions", "completions"),
    ("Turnovers lost", "turnovers"),
    ("Fumbles", "fumbles"),
    ("Sacks made", "sacks"),
    ("Penalties against", "penalties"),
)


def box_score(lines: tuple[TeamLine, TeamLine], names: Mapping[Side, str], score: tuple[int, int]) -> ReportTable:
    """Return the teams' numbers side by side, without what nobody counted; lines and score are home's and away's."""
    home, away = lines
    points: tuple[Cell, ...] = ("Points", score[1], score[0])
    counted = [(title, getattr(away, name), getattr(home, name)) for title, name in _TEAM_ROWS]
    rows = tuple((title, _cell(away), _cell(home)) for title, away, home in counted if (away, home) != (None, None))
    return ReportTable(("", names["away"], names["home"]), (points, *rows))


def drive_chart(drives: Sequence[DriveLine], names: Mapping[Side, str]) -> ReportTable:
    """Return the possessions, one a row."""
    columns: dict[str, Callable[[DriveLine], Cell]] = {
        "Drive": lambda drive: drive.number,
        "Team": lambda drive: names[drive.side],
        "Period": lambda drive: drive.period,
        "Began": lambda drive: drive.start,
        "Plays": lambda drive: drive.plays,
        "Yards": lambda drive: _yards(drive.yards),
        "Ended": lambda drive: drive.result,
        "First play": lambda drive: drive.first_play,
        "Last play": lambda drive: drive.last_play,
    }
    return ReportTable.of(columns, drives)


@dataclass(frozen=True, slots=True)
class _Figure:
    """What a figure did in a game."""

    name: str
    player: Player | None
    runs: list[Run]  # its ways in the plays in which it was on the board
    carried: list[Play]  # that it began with the ball
    calls: list[CallView]  # of the game

    @property
    def distance_mm(self) -> float:
        return sum(run.distance_mm for run in self.runs)

    @property
    def straightness(self) -> Cell:
        """Of all its way, how far it came, percent; empty where it hardly moved."""
        straight_mm = sum(run.straight_mm for run in self.runs)
        return round(100 * min(1.0, straight_mm / self.distance_mm)) if self.distance_mm else ""


_FIGURE_COLUMNS: Final[dict[str, Callable[[_Figure], Cell]]] = {
    "Figure": lambda one: one.name,
    "No.": lambda one: "" if one.player is None else one.player.number,
    "Role": lambda one: "" if one.player is None else one.player.role,
    "Snaps": lambda one: len(one.runs),
    "Carries": lambda one: len(one.carried),
    "Yards": lambda one: _yards(_total(one.carried)),
    "Tackles": lambda one: sum(call.kind in {"tackle", "sack"} and one.name in call.players[1:] for call in one.calls),
    "Broken tackles": lambda one: sum(  # that it got through as the carrier
        call.kind in {"broken_tackle", "slipped_tackle"} and call.players[:1] == (one.name,) for call in one.calls
    ),
    "Falls": lambda one: sum(run.fell for run in one.runs),
    "Distance (cm)": lambda one: round(one.distance_mm / 10),
    "Top speed (mm/s)": lambda one: round(max(run.top_speed_mm_s for run in one.runs)),
    "Straightness (%)": lambda one: one.straightness,
}


def figure_table(plays: Sequence[Play], movement: Movement, players: Sequence[Player]) -> ReportTable:
    """Return the numbers of every figure that was on the board, one a row, in the order of the roster."""
    known = {player.id: player for player in players}
    calls = [call for play in plays for call in play.in_force]
    figures = []
    for name in dict.fromkeys([*known, *(name for runs in movement.runs for name in runs)]):
        ways = [runs[name] for runs in movement.runs if name in runs]
        if ways:
            carried = [play for play in plays if play.carrier == name and play.is_run]
            figures.append(_Figure(name, known.get(name), ways, carried, calls))
    return ReportTable.of(_FIGURE_COLUMNS, figures)


def _cell(value: float | None) -> Cell:
    if value is None:
        return ""
    return value if isinstance(value, int) else _yards(value)


def _yards(yards: float) -> Cell:
    return int(yards) if yards == int(yards) else round(yards, 1)
