"""``downfield learn``: a network that has got used to one's own table, from a recording of it.

Needs the extra `train`; what needs torch is imported inside, so that the command's help does not.
"""

from __future__ import annotations

import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import typer

from downfield.api.label_review import Corners, LabelReview
from downfield.calibration.calibration import read_calibration
from downfield.core.errors import InputError, MissingExtraError
from downfield.models.card import BUNDLED, CARD, find_network
from downfield.models.opening import open_detector
from downfield.rig.label_review_server import serve_label_review
from downfield.twin.progress import progress_bar

if TYPE_CHECKING:
    from downfield.training.table_frames import TableFrame

REVIEWED: Final = 8
"""Frames looked over unless another number is asked for."""

CORRECTED_TIMES: Final = 4
"""How often a corrected frame counts against one that was not looked at."""

_STEPS = 100  # of the progress bar


def learn(
    recording: Annotated[Path, typer.Argument(help="A video of the table, with figures walking.")],
    tracks: Annotated[Path, typer.Argument(help="What 'downfield track' made of it, *.tracks.jsonl.")],
    calibration: Annotated[Path, typer.Option("--calibration", "-c", help="Of the camera, *.calibration.json.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the new network.")],
    detector: Annotated[str, typer.Option(help="The network to begin from; it stays as it is.")] = BUNDLED,
    minutes: Annotated[float, typer.Option(min=0.05, help="How long to learn.")] = 5.0,
    frames: Annotated[int, typer.Option(min=16, help="Frames to take from the recording.")] = 160,
    review: Annotated[
        int | None,
        typer.Option(min=0, help="Frames to look over in the browser first; 0 for none. 8 at a terminal."),
    ] = None,
) -> None:
    """Teach the network a table of one's own, where the tracks of a recording are sure of it."""
    if find_spec("torch") is None:
        raise MissingExtraError("train", "learning")
    network = find_network(detector)
    if (out / CARD).exists():
        raise InputError(f"{out}: holds a network already; give another folder")
    from downfield.training.own_table import Agreement, agreement, learn_table
    from downfield.training.table_frames import read_table

    known, before = read_calibration(calibration), open_detector(network)
    learned, held = read_table(recording, tracks, known, before, frames)
    typer.echo(f"{len(learned)} frames to learn from, {len(held)} from the recording's end held out")

    looked_over = (REVIEWED if sys.stdin.isatty() else 0) if review is None else review
    if looked_over:
        learned, held = _looked_over(learned, held, looked_over)

    def tell(when: str, seen: Agreement) -> None:
        typer.echo(
            f"{when:7} {seen.figures} sure figures held out: {100 * seen.found:.1f} % found, corners off by "
            f"{seen.corner_mm:.2f} mm (95 %: {seen.corner_p95_mm:.2f}), {100 * seen.turned:.2f} % turned round"
        )

    was = agreement(before, held, known)
    tell("before", was)
    with progress_bar("learning") as advance:
        learn_table(
            network, out, learned, minutes, name=out.name, progress=lambda share: advance(int(share * _STEPS), _STEPS)
        )
    now = agreement(open_detector(out), held, known)
    tell("after", now)
    better = now.corner_mm <= was.corner_mm and now.turned <= was.turned and now.found >= was.found - 0.002
    typer.echo(
        f"{out}: use it with --detector {out}"
        if better
        else f"{out}: is no better on this table than {detector}: keep using that one"
    )


def _looked_over(
    learned: list[TableFrame], held: list[TableFrame], count: int
) -> tuple[list[TableFrame], list[TableFrame]]:
    """The frames after somebody corrected the most doubtful of them in a browser, or skipped that.

    A corrected frame is learned from more often than others: it is what the tracks did not know.
    """
    from downfield.training.table_frames import corrected, count_uncertain

    every = [*learned, *held]
    rows = sorted(sorted(range(len(every)), key=lambda row: -count_uncertain(every[row]))[:count])
    shown = [every[row] for row in rows]
    marks: list[list[Corners]] = [
        [tuple((float(x), float(y)) for x, y in points[:4, :2]) for points in frame.objects.points] for frame in shown
    ]
    over = LabelReview([frame.image for frame in shown], marks)

    def opened(address: str) -> None:
        typer.echo(f"Look over {len(shown)} frames at {address} (Ctrl-C skips it)")
        webbrowser.open(address)

    serve_label_review(over, opened)
    if over.skipped:
        typer.echo("skipped: learning from the tracks alone")
        return learned, held
    for place in over.checked:
        every[rows[place]] = corrected(shown[place], [np.array(corners) for corners in over.labels[place]])
    typer.echo(f"{len(over.checked)} frames looked over")
    again = [every[rows[place]] for place in over.checked if rows[place] < len(learned)]
    return [*every[: len(learned)], *again * (CORRECTED_TIMES - 1)], every[len(learned) :]
