"""Play by play: each play with its down, its gain and its calls, for print and as rows for a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from downfield.game.published.game_topics import CallView
from downfield.officiating.declarations import Side
from downfield.review.pictures.captions import standing_words
from downfield.review.pictures.painting import spoken_name
from downfield.review.reports.game_plays import ReportedPlay
from downfield.review.reports.markup import Cell, Markup, bullets, table

PLAY_COLUMNS: Final = (
    "play",
    "period",
    "offense",
    "kind",
    "down",
    "distance_yd",
    "spot_yd",
    "carrier",
    "yards",
    "result",
    "calls",
)
"""Columns of the rows; spots are field yards along x of the board."""


def play_by_play(plays: Sequence[ReportedPlay], names: dict[Side, str]) -> Markup:
    """Return the plays as a table for print."""
    head = ("Play", "Offense", "Situation", "Yards", "What was called")
    return table(head, (_row(play, names) for play in plays), "No play was begun.")


def play_rows(plays: Sequence[ReportedPlay], names: dict[Side, str]) -> list[list[Cell]]:
    """Return the plays as rows of `PLAY_COLUMNS`."""
    return [
        [
            play.number,
            play.snap.period,
            names[play.snap.offense],
            play.snap.kind,
            play.snap.down,
            round(play.snap.distance_yd, 2),
            round(play.snap.spot_yd, 2),
            play.snap.carrier or "",
            "" if play.yards is None else round(play.yards, 2),
            play.result,
            "; ".join(call.text for call in play.calls),
        ]
        for play in plays
    ]


def call_line(call: CallView) -> str:
    """Return a call on one line: what was called, what was measured, the clause, and how it stands."""
    measured = call.words or call.measured
    clauses = ", ".join(clause.id for clause in call.clauses)
    return " · ".join(part for part in (spoken_name(call.text), measured, clauses, standing_words(call)) if part)


def _row(play: ReportedPlay, names: dict[Side, str]) -> list[Cell]:
    situation = play.snap.situation if play.snap.kind == "scrimmage" else play.snap.kind.replace("_", " ")
    yards: Cell = "" if play.yards is None else f"{play.yards:+.1f}"
    return [play.number, names[play.snap.offense], situation, yards, bullets(call_line(call) for call in play.calls)]
