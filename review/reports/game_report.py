"""The report of a game: one HTML file that opens anywhere and can be printed."""

from __future__ import annotations

import time

from downfield.game.history import History
from downfield.review.reports.game_plays import reported_plays, side_names
from downfield.review.reports.markup import Markup, document, paragraph, section, text
from downfield.review.reports.play_by_play import play_by_play


def report_html(history: History, public_key: str) -> str:
    """Return the report of a game.

    Args:
        history: the game.
        public_key: of the rig that makes the report; empty for none.

    """
    names, plays = side_names(history), reported_plays(history)
    return document(
        _title(history),
        _head(history),
        section("Play by play", play_by_play(plays, names)),
        _foot(history, public_key),
    )


def _title(history: History) -> str:
    row = history.row
    return f"{row.title}: {row.away} at {row.home}" if row.title else f"{row.away} at {row.home}"


def _head(history: History) -> Markup:
    row, home, away = history.row, *history.score
    rulebook = row.rulebook if history.started is None else history.started.rulebook.title
    began = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(row.began_ns / 1e9))
    state = "Final" if history.ended else "Not ended"
    return Markup(
        f"<h1>{text(_title(history))}</h1>\n"
        + paragraph(f"{state}: {row.away} {away}, {row.home} {home}", "score")
        + paragraph(f"{began} · {rulebook}", "muted")
        + (paragraph(history.text) if history.text else "")
    )


def _foot(history: History, public_key: str) -> Markup:
    lines = [f"Game {history.row.id}: {history.entries} entries in its journal, the last with digest {history.head}."]
    if public_key:
        lines.append(f"The rig that made this report signs with the key {public_key}.")
    return section("Where this comes from", *(paragraph(line, "muted") for line in lines))
