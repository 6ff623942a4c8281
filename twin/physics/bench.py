"""The bench: where figures out of play stand, so that a picture always shows the whole roster."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from downfield.core.field.model import FieldModel
from downfield.core.scene import Player
from downfield.twin.physics.poses import level_rotation
from downfield.twin.snapshot import FigurePose, Snapshot

_BESIDE_MM = 70.0  # from the board's edge: clear of its rail and of all figures on the board


def with_bench(snapshot: Snapshot, players: Sequence[Player], field: FieldModel) -> Snapshot:
    """Return the snapshot with every figure of the roster, in roster order, as renderers require it.

    A figure off the board stands on the table beside it and faces it, dark figures below, light ones above, each
    always at its own place.

    Args:
        snapshot: of a world; figures that are off the board are missing in it.
        players: the roster.
        field: gives the board's extent.

    """
    on_board = {figure.id: figure for figure in snapshot.figures}
    figures = tuple(
        on_board.get(player.id) or FigurePose(player.id, *_place(row, player, len(players), field))
        for row, player in enumerate(players)
    )
    return dataclasses.replace(snapshot, figures=figures)


def _place(
    row: int, player: Player, count: int, field: FieldModel
) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    _, y_low, _, y_high = field.board_mm
    below = player.jersey == "dark"
    x = field.length_mm * (row + 0.5) / count
    y = y_low - _BESIDE_MM if below else y_high + _BESIDE_MM
    return (x, y, 0.0), level_rotation(90.0 if below else -90.0)
