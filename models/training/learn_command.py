"""``downfield learn``: a network that has got used to one's own table, from a recording of it.

Needs the extra `train`; what needs torch is imported inside, so that the command's help does not.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from downfield.calibration.calibration import read_calibration
from downfield.calibration.errors import InputError, MissingExtraError
from downfield.models.card import BUNDLED, CARD, find_network
from downfield.models.opening import open_detector
from downfield.twin.progress import progress_bar

_STEPS = 100  # of the progress bar


def learn(
    recording: Annotated[Path, typer.Argument(help="A video of the table, with figures walking.")],
    tracks: Annotated[Path, typer.Argument(help="What 'downfield track' made of it, *.tracks.jsonl.")],
    calibration: Annotated[Path, typer.Option("--calibration", "-c", help="Of the camera, *.calibration.json.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the new network.")],
    detector: Annotated[str, typer.Option(help="The network to begin from; it stays as it is.")] = BUNDLED,
    minutes: Annotated[float, typer.Option(min=0.05, help="How long to learn.")] = 5.0,
    frames: Annotated[int, typer.Option(min=16, help="Frames to take from the recording.")] = 160,
) -> None:
    """Teach the network a table of one's own, where the tracks of a recording are sure of it."""
    if find_spec("torch") is None:
        raise MissingExtraError("train", "learning")
    network = find_network(detector)
    if (out / CARD).exists():
        raise InputError(f"{out}: holds a network already; give another folder")
    from downfield.models.training.own_table import Agreement, agreement, learn_table
    from downfield.models.training.table_frames import read_table

    known, before = read_calibration(calibration), open_detector(network)
    learnt, held = read_table(recording, tracks, known, before, frames)
    typer.echo(f"{len(learnt)} frames to learn from, {len(held)} from the recording's end held out")

    def tell(when: str, seen: Agreement) -> None:
        typer.echo(
            f"{when:7} {seen.figures} sure figures held out: {100 * seen.found:.1f} % found, corners off by "
            f"{seen.corner_mm:.2f} mm (95 %: {seen.corner_p95_mm:.2f}), {100 * seen.turned:.2f} % turned round"
        )

    was = agreement(before, held, known)
    tell("before", was)
    with progress_bar("learning") as advance:
        learn_table(
            network, out, learnt, minutes, name=out.name, progress=lambda share: advance(int(share * _STEPS), _STEPS)
        )
    now = agreement(open_detector(out), held, known)
    tell("after", now)
    better = now.corner_mm <= was.corner_mm and now.turned <= was.turned and now.found >= was.found - 0.002
    typer.echo(
        f"{out}: use it with --detector {out}"
        if better
        else f"{out}: is no better on this table than {detector}: keep using that one"
    )
