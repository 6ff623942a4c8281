"""The report of a game: one HTML file that opens anywhere and can be printed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final

from downfield.core.errors import FormatError
from downfield.core.field.model import FieldModel
from downfield.core.scene import Jersey, Player
from downfield.game.published.game_topics import CallView
from downfield.game.published.plays import SCRIMMAGE, Play, gain_text
from downfield.game.records.entries import GameStarted, Snap
from downfield.officiating.declarations import Side
from downfield.review.pictures.painting import spoken_name, standing_words
from downfield.review.reports.markup import Cell, Markup, bullets, document, figure, paragraph, section, table, text
from downfield.review.reports.shadow import call_outcomes, outcome_table
from downfield.review.reports.statistics import (
    HEAT_CELL_YD,
    Movement,
    ReportTable,
    Run,
    box_score,
    drive_chart,
    drives_of,
    figure_table,
    movement_of,
    team_lines,
)
from downfield.review.tracks import game_scenes
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

_COLORS: Final[dict[Jersey, str]] = {"dark": "#1f4e9c", "light": "#c4761b"}
_CARRIER: Final = "#c0172b"
_GRASS, _PAINT = "#f3f7f2", "#b9c6bd"
_YARD: Final = 8.0  # Units of the drawing for a yard along the field


class FieldDrawing:
    """A printed field, and what is drawn on it; the left goal line is to the left, as the camera sees it.

    Args:
        title: what it shows, for those who hear it read.
    """

    def __init__(self, field: FieldModel, title: str) -> None:
        self._field, self._title = field, title
        self._across = _YARD * field.mm_per_yd_y / field.mm_per_yd_x
        self._height = field.width_yd * self._across
        self._shapes: list[str] = []
        self._paint()

    def spot(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """Return where a place on the board is in the drawing."""
        across_yd = y_mm / self._field.mm_per_yd_y
        return round(x_mm / self._field.mm_per_yd_x * _YARD, 1), round(self._height - across_yd * self._across, 1)

    def line(self, x_yd: float, color: str, dashes: str = "") -> None:
        """Draw a line across the field."""
        x = round(x_yd * _YARD, 1)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._shapes.append(
            f'<line x1="{x}" y1="0" x2="{x}" y2="{self._height:.1f}" stroke="{color}" stroke-width="2"{dashed}/>'
        )

    def run(self, name: str, run: Run, *, carrier: bool) -> None:
        """Draw a figure's way, from a ring to a dot."""
        color = _CARRIER if carrier else _COLORS[run.jersey]
        spots = [self.spot(*point) for point in run.points_mm]
        if not spots:
            return
        way = " ".join(f"{x},{y}" for x, y in spots)
        (x0, y0), (x1, y1) = spots[0], spots[-1]
        self._shapes.append(
            f'<g stroke="{color}" stroke-width="{3 if carrier else 1.5}" fill="none"><title>{text(name)}</title>'
            f'<polyline points="{way}"/><circle cx="{x0}" cy="{y0}" r="6"/>'
            f'<circle cx="{x1}" cy="{y1}" r="4" fill="{color}"/></g>'
        )

    def heat(self, counts: Mapping[tuple[int, int], int], jersey: Jersey) -> None:
        """Shade the cells by how long figures were in them."""
        most = max(counts.values(), default=1)
        width, height = HEAT_CELL_YD * _YARD, HEAT_CELL_YD * self._across
        for (column, row), count in sorted(counts.items()):
            x, y = column * width, self._height - (row + 1) * height
            self._shapes.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
                f' fill="{_COLORS[jersey]}" fill-opacity="{0.05 + 0.9 * count / most:.2f}"/>'
            )

    def svg(self) -> Markup:
        """Return the drawing."""
        zone = self._field.end_zone_yd * _YARD
        box = f"{-zone:.1f} 0 {self._field.length_yd * _YARD + 2 * zone:.1f} {self._height:.1f}"
        return Markup(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img"><title>{text(self._title)}</title>\n'
            + "\n".join(self._shapes)
            + "\n</svg>\n"
        )

    def _paint(self) -> None:
        zone, length = self._field.end_zone_yd * _YARD, self._field.length_yd * _YARD
        self._shapes.append(
            f'<rect x="{-zone:.1f}" y="0" width="{length + 2 * zone:.1f}" height="{self._height:.1f}" fill="{_GRASS}"'
            f' stroke="{_PAINT}" stroke-width="3"/>'
        )
        for yard in range(0, round(self._field.length_yd) + 1, 10):
            self.line(yard, _PAINT)


def _play_diagram(field: FieldModel, snap: Snap, number: int, runs: Mapping[str, Run]) -> Markup:
    """Return a play's diagram: the ways of its figures, the line of scrimmage and the line to gain."""
    drawing = FieldDrawing(field, f"Play {number}: {snap.situation}")
    drawing.line(snap.spot_yd, "#2563c9")
    if snap.kind == "scrimmage":
        drawing.line(snap.spot_yd + snap.direction * snap.distance_yd, "#d9a400", "8 5")
    for name, run in runs.items():
        drawing.run(name, run, carrier=name == snap.carrier)
    return drawing.svg()


def _play_table(plays: Sequence[Play], names: dict[Side, str]) -> ReportTable:
    """Return the plays, one a row; spots are field yards along x of the board."""
    columns: dict[str, Callable[[Play], Cell]] = {
        "play": lambda play: play.number,
        "period": lambda play: play.period,
        "offense": lambda play: names[play.offense],
        "kind": lambda play: play.kind,
        "down": lambda play: play.down if play.kind in SCRIMMAGE else "",
        "distance_yd": lambda play: round(play.distance_yd, 1) if play.kind in SCRIMMAGE else "",
        "spot_yd": lambda play: "" if play.kind == "extra_point" else round(play.spot_yd, 1),
        "carrier": lambda play: play.carrier or "",
        "gain_yd": lambda play: "" if play.gain_yd is None else play.gain_yd,
        "result": lambda play: play.result,
        "calls": lambda play: "; ".join(call.text for call in play.calls),
    }
    return ReportTable.of(columns, plays)


def _call_line(call: CallView) -> str:
    """Return a call on one line: what was called, what was measured, the clause, and how it stands."""
    measured = call.words or call.measured
    clauses = ", ".join(clause.id for clause in call.clauses)
    return " · ".join(part for part in (spoken_name(call.text), measured, clauses, standing_words(call)) if part)


def _row(play: Play, names: dict[Side, str]) -> list[Cell]:
    situation = play.situation if play.kind == "scrimmage" else play.kind.replace("_", " ")
    yards: Cell = "" if play.gain_yd is None else gain_text(play.gain_yd)
    return [play.number, names[play.offense], situation, yards, bullets(_call_line(call) for call in play.calls)]


class GameReport:
    """A game's numbers and drawings, each worked out when it is first asked for."""

    def __init__(self, store: StoreReader, history: History) -> None:
        self.history = history
        self._store = store
        self.names: dict[Side, str] = {"home": history.row.home, "away": history.row.away}

    @cached_property
    def plays(self) -> list[Play]:
        """Every play."""
        return self.history.plays()

    @cached_property
    def movement(self) -> Movement:
        """How the figures moved."""
        snaps_ns = [play.t_ns for play in self.plays]
        return movement_of(game_scenes(self._store, self.history), snaps_ns, self.field)

    @property
    def field(self) -> FieldModel:
        """The printed field. Raises FormatError: the game's journal has no start."""
        return self._started.field

    def csv(self, name: str) -> ReportTable:
        """Return one of `REPORT_TABLES` as a table."""
        return REPORT_TABLES[name](self)

    def html(self, public_key: str = "") -> str:
        """Return the whole report, with the public key of the rig that makes it; empty for none."""
        box, drives, figures, outcomes = (self.csv(name) for name in ("box", "drives", "figures", "calls"))
        head = ("Play", "Offense", "Situation", "Yards", "What was called")
        return document(
            self._title,
            self._head(),
            section("Box score", table(box.head, box.rows, "")),
            section("Drives", table(drives.head[:7], [row[:7] for row in drives.rows], "No drive was begun.")),
            section("Play by play", table(head, (_row(play, self.names) for play in self.plays), "No play was begun.")),
            *self._calls_alone(),
            section("Figures", table(figures.head, figures.rows, "No figure was seen on the running board.")),
            section("How the calls fared", table(outcomes.head, outcomes.rows, "No call was made.")),
            section("Where the figures were", *self._heat_maps()),
            section("Play diagrams", *self._diagrams()),
            _foot(self.history, public_key),
        )

    @property
    def _started(self) -> GameStarted:
        if self.history.started is None:
            raise FormatError(f"game {self.history.row.id}", "its journal has no start")
        return self.history.started

    @property
    def _title(self) -> str:
        row = self.history.row
        return f"{row.title}: {row.away} at {row.home}" if row.title else f"{row.away} at {row.home}"

    def _head(self) -> Markup:
        row, home, away = self.history.row, *self.history.score
        began = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(row.began_ns / 1e9))
        state = "Final" if self.history.ended else "Not ended"
        facts = (began, row.table, self._started.rulebook.title)
        now = [] if self.history.ended else self.history.text.split(" | ")[1:]  # the score stands above
        return Markup(
            f"<h1>{text(self._title)}</h1>\n"
            + paragraph(f"{state}: {row.away} {away}, {row.home} {home}", "score")
            + paragraph(" · ".join(fact for fact in facts if fact), "muted")
            + (paragraph(" · ".join(now)) if now else "")
        )

    def _calls_alone(self) -> list[Markup]:
        """Return the calls of a game whose plays nobody saw begin, such as one kept without a camera."""
        calls = [] if self.plays else self.history.calls()
        rows = [(spoken_name(call.text), standing_words(call)) for call in calls]
        return [section("Calls", table(("Call", "How it stands"), rows, ""))] if rows else []

    def _heat_maps(self) -> list[Markup]:
        maps = []
        for jersey, counts in self.movement.heat.items():
            if counts:
                drawing = FieldDrawing(self.field, f"Where the {jersey} figures were")
                drawing.heat(counts, jersey)
                maps.append(figure(drawing.svg(), f"The {jersey} figures: the darker, the longer"))
        return maps or [paragraph("No figure was seen on the running board.", "muted")]

    def _diagrams(self) -> list[Markup]:
        drawn = []
        for play, snap, runs in zip(self.plays, self.history.snaps(), self.movement.runs, strict=True):
            if runs:
                told = spoken_name(play.in_force[-1].text) if play.in_force else ""
                diagram = _play_diagram(self.field, snap, play.number, runs)
                drawn.append(figure(diagram, f"Play {play.number}: {play.situation}. {told}"))
        legend = "Ring: where a figure began; dot: where it ended. Red: the carrier. Blue: scrimmage; dashed: to gain."
        return [paragraph(legend, "muted"), *drawn] if drawn else [paragraph("No play was seen.", "muted")]


class RecentReport:
    """The report that was made last: whoever prints a game takes its tables along, too. Callable from any thread."""

    def __init__(self) -> None:
        self._latest: GameReport | None = None

    def of(self, store: StoreReader, history: History) -> GameReport:
        """Return the report of a game; what was worked out for the same history is not worked out again."""
        report = self._latest
        if report is None or report.history is not history:
            report = self._latest = GameReport(store, history)
        return report


REPORT_TABLES: Final[dict[str, Callable[[GameReport], ReportTable]]] = {
    "plays": lambda report: _play_table(report.plays, report.names),
    "drives": lambda report: drive_chart(drives_of(report.plays), report.names),
    "box": lambda report: box_score(
        team_lines(report.plays, report.history.rulebook.system.consequences), report.names, report.history.score
    ),
    "figures": lambda report: figure_table(report.plays, report.movement, _players(report.history)),
    "calls": lambda report: outcome_table(call_outcomes([report.history])),
}
"""The tables of a report, by name."""


def _players(history: History) -> Sequence[Player]:
    """Return everyone who was in a line-up, in the order of the last one they were in."""
    found: dict[str, Player] = {}
    for snap in history.snaps():
        found |= {player.id: player for player in history.players(snap.t_ns)}
    return tuple(found.values())


def _foot(history: History, public_key: str) -> Markup:
    lines = [f"Game {history.row.id}: {history.entries} entries in its journal, the last with digest {history.head}."]
    if public_key:
        lines.append(f"The rig that made this report signs with the key {public_key}.")
    return section("Where this comes from", *(paragraph(line, "muted") for line in lines))
