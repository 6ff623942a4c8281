"""The statistics of a game as tables: the same rows for print and for spreadsheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.officiating.declarations import Side
from downfield.review.reports.markup import Cell
from downfield.review.reports.statistics import DriveLine, FigureLine, TeamLine


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table.

    Attributes:
        head: titles of the columns, with units.
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
