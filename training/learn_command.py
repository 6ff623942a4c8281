"""The command `downfield learn`: adapts the network to one's own table, from a recording of it.

Needs the extra `train`; torch is imported inside, so that the command's help does not need it.
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
from downfield.cli.console.options import check_outputs, number_between
from downfield.cli.console.output import print_stdout
from downfield.cli.console.progress import progress_bar
from downfield.core.errors import InputError, MissingExtraError
from downfield.models.card import BUNDLED, CARD, find_network
from downfield.models.loading import open_detector
from downfield.rig.service.web_service import serve_label_review

if TYPE_CHECKING:
    from downfield.training.data.real_tables import TableFrame

REVIEWED: Final = 8  # frames to review by default

CORRECTED_TIMES: Final = 4  # how often a corrected frame is used for each time another one is

_STEPS = 100  # of the progress bar


def learn(
    recording: Annotated[Path, typer.Argument(help="A video of the table, with figures walking.")],
    tracks: Annotated[Path, typer.Argument(help="Its tracks from 'downfield track', *.tracks.jsonl.")],
    calibration: Annotated[
        Path, typer.Option("--calibration", "-c", help="Calibration of the camera, *.calibration.json.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the new network.")],
    detector: Annotated[str, typer.Option(help="Network to start from; it is not changed.")] = BUNDLED,
    minutes: Annotated[
        float, typer.Option(parser=number_between(0.05, 1440), metavar="MINUTES", help="Minutes to learn.")
    ] = 5.0,
    frames: Annotated[int, typer.Option(min=16, help="Frames to take from the recording.")] = 160,
    review: Annotated[
        int | None,
        typer.Option(
            min=0, help="Frames to review in the browser first; 0 for none. Default: 8 at a terminal, else 0."
        ),
    ] = None,
) -> None:
    """Adapt the network to your own table, from the confident tracks of a recording."""
    if find_spec("torch") is None:
        raise MissingExtraError("train", "learning")
    network = find_network(detector)
    if (out / CARD).exists():
        raise InputError(f"{out}: a network is there already. Give another folder.")
    check_outputs(out / CARD, inputs=(recording, tracks, calibration))
    from downfield.training.data.real_tables import read_table
    from downfield.training.own_table import Agreement, agreement, learn_table

    known, before = read_calibration(calibration), open_detector(network)
    with progress_bar(f"Reading {recording.name}"):
        learned, held = read_table(recording, tracks, known, before, frames)
    print_stdout(f"{len(learned)} frames to learn from, {len(held)} frames from the end of the recording held out")

    review_count = (REVIEWED if sys.stdin.isatty() else 0) if review is None else review
    if review_count:
        learned, held = _review_frames(learned, held, review_count)

    def tell(when: str, seen: Agreement) -> None:
        print_stdout(
            f"{when:7} {seen.figures} held-out figures: {100 * seen.found:.1f} % found, corner"
            f" error {seen.corner_mm:.2f} mm (95 %: {seen.corner_p95_mm:.2f} mm), {100 * seen.turned:.2f} % swapped"
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
    print_stdout(
        f"{out}: better on this table. Use it with --detector {out}"
        if better
        else f"{out}: no better on this table than {detector}. Keep using that one."
    )


def _review_frames(
    learned: list[TableFrame], held: list[TableFrame], count: int
) -> tuple[list[TableFrame], list[TableFrame]]:
    """Let a person correct the least certain frames in a browser; return the frames, corrected or as they were.

    A corrected frame is used more often than others: it shows what the tracks did not know.
    """
    from downfield.training.data.real_tables import corrected, count_uncertain

    every = [*learned, *held]
    rows = sorted(sorted(range(len(every)), key=lambda row: -count_uncertain(every[row]))[:count])
    shown = [every[row] for row in rows]
    marks: list[list[Corners]] = [
        [tuple((float(x), float(y)) for x, y in points[:4, :2]) for points in frame.objects.points] for frame in shown
    ]
    review = LabelReview([frame.image for frame in shown], marks)

    def opened(address: str) -> None:
        print_stdout(f"Review {len(shown)} frames at {address} (Ctrl-C to skip)")
        webbrowser.open(address)

    serve_label_review(review, opened)
    if review.skipped:
        print_stdout("review skipped: learning from the tracks alone")
        return learned, held
    for place in review.checked:
        every[rows[place]] = corrected(shown[place], [np.array(corners) for corners in review.labels[place]])
    print_stdout(f"{len(review.checked)} frames reviewed")
    again = [every[rows[place]] for place in review.checked if rows[place] < len(learned)]
    return [*every[: len(learned)], *again * (CORRECTED_TIMES - 1)], every[len(learned) :]
