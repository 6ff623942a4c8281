"""The numbers of a game: by team (box score), by possession (drives), and by figure, and as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.scene import Player
from downfield.game.published.plays import RUNS, SCORES, TURNOVERS, Play
from downfield.officiating.declarations import Side
from downfield.review.reports.markup import Cell
from downfield.review.reports.movement import Movement, Run

_CATCH: Final = ("reception", "incomplete", "interception")
_GOOD: Final = frozenset({"", "good"})


@dataclass(frozen=True, slots=True)
class TeamLine:
    """A team's numbers.

    Attributes:
        plays: from scrimmage.
        yards: gained in them, whole yards of each play.
        first_downs, touchdowns, field_goals, turnovers, sacks, fumbles, penalties: how many; sacks are those it made,
            turnovers those it lost the ball by, penalties those called against it.
        passes, completions: thrown, and caught by its own side.
    """

    side: Side
    plays: int
    yards: int
    first_downs: int
    touchdowns: int
    field_goals: int
    passes: int
    completions: int
    turnovers: int
    fumbles: int
    sacks: int
    penalties: int


@dataclass(frozen=True, slots=True)
class DriveLine:
    """The plays of one possession.

    Attributes:
        number: in the game, from 1.
        period: it began in.
        start: where, in words.
        yards: gained, whole yards of each play.
        result: how it ended, in words.
    """

    number: int
    side: Side
    first_play: int
    last_play: int
    period: int
    start: str
    plays: int
    yards: int
    result: str


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A figure's numbers.

    Attributes:
        snaps: plays in which it was on the board.
        carries: plays it began with the ball.
        yards: gained in them, whole yards of each play.
        tackles, broken_tackles: made; and got through as the carrier.
        falls: plays in which it fell.
        distance_mm: walked while the board ran.
        top_speed_mm_s: the fastest, over a quarter of a second.
        straightness: of its way, 0 to 1: the distance from where each run began to where it ended, over the distance
            walked; None where it hardly moved.
    """

    figure: str
    number: str
    role: str
    snaps: int
    carries: int
    yards: int
    tackles: int
    broken_tackles: int
    falls: int
    distance_mm: float
    top_speed_mm_s: float
    straightness: float | None


def team_lines(plays: Sequence[Play]) -> tuple[TeamLine, TeamLine]:
    """Return the numbers of home and away."""
    return _team(plays, "home"), _team(plays, "away")


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


def figure_lines(plays: Sequence[Play], movement: Movement, players: Sequence[Player]) -> list[FigureLine]:
    """Return the numbers of every figure that was on the board, in the order of the roster."""
    known = {player.id: player for player in players}
    seen = dict.fromkeys([*known, *(name for runs in movement.runs for name in runs)])
    lines = [_figure(name, known.get(name), plays, movement) for name in seen]
    return [line for line in lines if line.snaps]


def _team(plays: Sequence[Play], side: Side) -> TeamLine:
    own = [play for play in plays if play.offense == side and play.kind in RUNS]
    made = [call for play in plays for call in play.in_force if call.side == side]
    against = [call for play in plays for call in play.in_force if call.side not in {side, None}]
    return TeamLine(
        side,
        plays=len([play for play in own if play.kind == "scrimmage"]),
        yards=sum(play.yards or 0 for play in own if play.kind == "scrimmage"),
        first_downs=sum(play.has("first_down") for play in own),
        touchdowns=sum(call.kind == "touchdown" for call in made),
        field_goals=sum(call.kind == "field_goal" and call.detail in _GOOD for call in made),
        passes=sum(play.has(*_CATCH) for play in own),
        completions=sum(play.has("reception") for play in own),
        turnovers=sum(play.is_lost for play in own),
        fumbles=sum(play.has("fumble") for play in own),
        sacks=sum(play.has("sack") for play in plays if play.offense != side),
        penalties=sum(call.kind == "penalty" for call in against),
    )


def _ends(play: Play) -> bool:
    """Return whether a play ended its possession."""
    return play.has(*SCORES) or play.is_lost or play.kind in {"punt", "field_goal"}


def _drive(number: int, plays: Sequence[Play]) -> DriveLine:
    runs = [play for play in plays if play.kind == "scrimmage"]
    last = plays[-1]
    return DriveLine(
        number,
        plays[0].offense,
        plays[0].number,
        last.number,
        plays[0].period,
        plays[0].situation,
        len(runs),
        sum(play.yards or 0 for play in runs),
        _outcome(plays),
    )


def _outcome(plays: Sequence[Play]) -> str:
    for play in plays:
        scores = [call for call in play.in_force if call.kind in SCORES[:3]]
        if scores:
            return scores[-1].text
        if play.is_lost:
            lost = [call for call in play.in_force if call.kind in TURNOVERS and call.side != play.offense]
            return lost[-1].text
    return plays[-1].kind if plays[-1].kind in {"punt", "field_goal"} else plays[-1].ending_words


def _figure(name: str, player: Player | None, plays: Sequence[Play], movement: Movement) -> FigureLine:
    runs: list[Run] = [run[name] for run in movement.runs if name in run]
    carried = [play for play in plays if play.carrier == name and play.kind in RUNS]
    calls = [call for play in plays for call in play.in_force]
    distance_mm = sum(run.distance_mm for run in runs)
    straight_mm = sum(run.straight_mm for run in runs)
    return FigureLine(
        name,
        "" if player is None else player.number,
        "" if player is None else player.role,
        snaps=len(runs),
        carries=len(carried),
        yards=sum(play.yards or 0 for play in carried),
        tackles=sum(call.kind in {"tackle", "sack"} and name in call.players[1:] for call in calls),
        broken_tackles=sum(
            call.kind in {"broken_tackle", "slipped_tackle"} and call.players[:1] == (name,) for call in calls
        ),
        falls=sum(run.fell for run in runs),
        distance_mm=distance_mm,
        top_speed_mm_s=max((run.top_speed_mm_s for run in runs), default=0.0),
        straightness=min(1.0, straight_mm / distance_mm) if distance_mm else None,
    )


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table.

    Attributes:
        rows: the cells.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


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
    """Return the teams' numbers side by side; lines and score are home's and away's."""
    home, away = lines
    points: tuple[Cell, ...] = ("Points", score[1], score[0])
    rows = tuple((title, _cell(getattr(away, name)), _cell(getattr(home, name))) for title, name in _TEAM_ROWS)
    return ReportTable(("", names["away"], names["home"]), (points, *rows))


def drive_chart(drives: Sequence[DriveLine], names: Mapping[Side, str]) -> ReportTable:
    """Return the possessions, one a row."""
    head = ("Drive", "Team", "Period", "Began", "Plays", "Yards", "Ended", "First play", "Last play")
    rows = tuple(
        (
            drive.number,
            names[drive.side],
            drive.period,
            drive.start,
            drive.plays,
            drive.yards,
            drive.result,
            drive.first_play,
            drive.last_play,
        )
        for drive in drives
    )
    return ReportTable(head, rows)


def figure_table(lines: Sequence[FigureLine]) -> ReportTable:
    """Return the figures' numbers, one a row."""
    head = (
        "Figure",
        "No.",
        "Role",
        "Snaps",
        "Carries",
        "Yards",
        "Tackles",
        "Broken tackles",
        "Falls",
        "Distance (cm)",
        "Top speed (mm/s)",
        "Straightness (%)",
    )
    rows = tuple(
        (
            line.figure,
            line.number,
            line.role,
            line.snaps,
            line.carries,
            line.yards,
            line.tackles,
            line.broken_tackles,
            line.falls,
            round(line.distance_mm / 10),
            round(line.top_speed_mm_s),
            "" if line.straightness is None else round(100 * line.straightness),
        )
        for line in lines
    )
    return ReportTable(head, rows)


def _cell(value: float) -> Cell:
    return value if isinstance(value, int) else round(value, 1)
