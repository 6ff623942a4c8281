"""The report of a game that was refereed with the machine in its shadow: what agreed, and what did not."""

from __future__ import annotations

from typing import Final

from downfield.game.shadow import shadows_of
from downfield.review.reports.markup import Cell, document, paragraph, section, table
from downfield.review.reports.shadow_comparison import COUNTS, ComparedCall, by_kind, compare_calls
from downfield.store.history import History
from downfield.store.reader import GameRow, StoreReader

_NOTHING: Final = "–"
_RESULTS: Final = {
    "agreed": "agreed",
    "differed": "machine differs",
    "undecided": "machine unsure",
    "missed": "machine missed it",
    "extra": "only the machine",
}


class ShadowReport:
    """The comparison of one game.

    Args:
        store: of the game.
        row: the game on air.

    Attributes:
        compared: what people and the machine saw, in order.
        starts: how many starts of the rig were in shadow mode; 0 where the machine was never in the game's shadow.

    """

    def __init__(self, store: StoreReader, row: GameRow) -> None:
        shadows = shadows_of(store, row)
        self.row, self.starts = row, len(shadows)
        machine = [call for shadow in shadows for call in History(store, shadow).calls()]
        self.compared = compare_calls(History(store, row).calls(), machine)

    @property
    def summary(self) -> str:
        """The comparison in one sentence."""
        told = [one for one in self.compared if one.declared is not None]
        agreed = sum(one.result == "agreed" for one in told)
        extra = len(self.compared) - len(told)
        return (
            f"Of {len(told)} outcomes that people declared, the machine called {agreed} the same; {extra} more only it"
            " saw."
        )

    @property
    def kinds(self) -> list[tuple[Cell, ...]]:
        """Rows of the table by kind."""
        return [(_words(one.kind), *(getattr(one, name) for name in COUNTS)) for one in by_kind(self.compared)]

    @property
    def calls(self) -> list[tuple[Cell, ...]]:
        """Rows of the table of all outcomes."""
        return [_row(one) for one in self.compared]

    def html(self) -> str:
        """Return the report as a page for print, in one file that loads nothing."""
        head = ("Call", *(_RESULTS[name].capitalize() for name in COUNTS))
        about = f"{self.row.home} – {self.row.away}" + (f", {self.row.title}" if self.row.title else "")
        content = [
            paragraph(f"{about}; game {self.row.id}", "muted"),
            paragraph(self.summary, "score"),
            section("By kind", table(head, self.kinds, "Nothing was declared, and nothing called.")),
            section("Play by play", table(CALLS_HEAD, self.calls, "Nothing was declared, and nothing called.")),
        ]
        return document("The machine in the shadow of the game", *content)


CALLS_HEAD: Final = ("Play", "Result", "Declared", "Machine", "Apart (yd)", "Measured")


def _row(one: ComparedCall) -> tuple[Cell, ...]:
    apart = one.apart_yd
    return (
        str(one.play),
        _RESULTS[one.result],
        _NOTHING if one.declared is None else one.declared.text,
        _NOTHING if one.machine is None else one.machine.text,
        _NOTHING if apart is None else f"{apart:.1f}",
        "" if one.machine is None else one.machine.measured,
    )


def _words(kind: str) -> str:
    return kind.replace("_", " ")
