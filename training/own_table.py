"""Adapts a network to one's own table in a few minutes: the refiner learns its bases, its paint and its light.

Only the refiner (second look) learns. The detector finds figures on unknown tables well enough, and would need labels
for everything in a frame, while tracks are confident of only some figures. What tracks can't teach, who has fallen, is
kept as the network had it (Li and Hoiem, Learning without Forgetting, 2016).
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.models.card import BUNDLED, read_card
from downfield.models.detector import Detector
from downfield.models.refiner import FALLEN
from downfield.training.patches import collate_patches, cut_guessed, patches_of
from downfield.training.refined_network import open_second_look, write_refined
from downfield.training.second_look import SecondLook
from downfield.training.second_look_run import second_look_loss
from downfield.training.table_frames import TableFrame
from downfield.training.trainer import Batch

RATE: Final = 3e-4  # a sixth of the rate at which it was trained: it shall shift, not forget
WARM_UP: Final = 50  # steps until that rate is reached: Adam's first ones know no scale, and would undo what is known
FRAMES: Final = 4  # in a batch
_CALIBRATION_PATCHES = 300
_GOES = 3  # at each frame, for them
_LEARNED_SHARE = 0.5  # of the refiner that has learned the table, at least, in what its fronts are
_NEAR = 0.5  # of a base's length: a detection this near a track's base is that figure


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well a network agrees with confident tracks on frames it did not learn from.

    Attributes:
        figures: compared.
        found: share of them found.
        corner_mm, corner_p95_mm: median and 95th percentile of the corners' distances on the board.
        turned: share whose front is taken for the rear.

    """

    figures: int
    found: float
    corner_mm: float
    corner_p95_mm: float
    turned: float


def agreement(
    detector: Detector, frames: Sequence[TableFrame], calibration: Calibration, height_mm: float = 5.5
) -> Agreement:
    """Compare a detector with confident tracks."""
    errors: list[Array] = []
    turned = figures = 0
    for frame in frames:
        seen = np.array([one.corners_px for one in detector.detect(frame.image) if one.corners_px]).reshape(-1, 4, 2)
        true = frame.objects.points[:, :4, :2]
        figures += len(true)
        for corners in true:
            apart = np.linalg.norm(seen.mean(axis=1) - corners.mean(axis=0), axis=1)
            length = np.linalg.norm(corners[:2].mean(axis=0) - corners[2:].mean(axis=0))
            if not len(apart) or apart.min() > _NEAR * length:
                continue
            both = calibration.camera.to_board(np.stack([seen[apart.argmin()], corners]), height_mm)
            ahead = both[:, :2].mean(axis=1) - both[:, 2:].mean(axis=1)
            if float(ahead[0] @ ahead[1]) < 0:
                turned += 1
            else:
                errors.append(np.linalg.norm(both[0] - both[1], axis=1))
    found = len(errors) + turned
    every = np.concatenate(errors) if errors else np.array([np.nan])
    median, p95 = (float(value) for value in np.percentile(every, (50, 95)))
    return Agreement(figures, found / max(figures, 1), median, p95, turned / max(found, 1))


def learn_table(
    network: Path,
    out: Path,
    frames: Sequence[TableFrame],
    minutes: float,
    *,
    name: str,
    progress: Callable[[float], None] = lambda _share: None,
) -> None:
    """Write a network whose refiner has learned from frames of one table; the old network is not changed.

    Args:
        network: folder of the network to begin from.
        out: folder of the new one.
        frames: to learn from.
        minutes: to learn for.
        name: of the new one.
        progress: told which share of the time is over.

    Raises:
        InputError: the network has no second look, or one that is not Downfield's.

    """
    card = read_card(network)
    if card.second_look is None:
        raise InputError(f"{network}: this network has no figure refiner to train")
    if card.refiner_sees_ball:
        raise InputError(
            f"{network}: a refiner that also sees the ball can't be adapted to a table yet. Use '{BUNDLED}'."
        )
    model, old = (open_second_look(network / card.second_look.fp32) for _ in range(2))
    _learn(model, old, frames, minutes * 60, progress)
    about = f"{card.name}, its second look taught {minutes:g} minutes on {len(frames)} frames of one table"
    # What the refiners count was fitted on tables that neither had seen; of this one the first has learned.
    first_share = max(card.opinions.front[0], _LEARNED_SHARE)
    opinions = dataclasses.replace(card.opinions, front=(first_share, 1 - first_share))
    card = dataclasses.replace(card, name=name, about=about, opinions=opinions)
    write_refined(network, card, model, out, _pictures(frames))


def _learn(
    model: SecondLook, old: SecondLook, frames: Sequence[TableFrame], seconds: float, progress: Callable[[float], None]
) -> None:
    rng = np.random.default_rng(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    start, steps = time.monotonic(), 0
    while (share := (time.monotonic() - start) / seconds) < 1:
        steps += 1
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, steps / WARM_UP) * (1 - share)
        batch = collate_patches([_batch(frames[int(rng.integers(len(frames)))], rng) for _ in range(FRAMES)])
        pictures = batch["img"].float() / 255
        with torch.no_grad():
            batch["fallen"] = torch.sigmoid(old(pictures)[:, FALLEN])
        loss, _ = second_look_loss(model(pictures), batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        progress(share)


def _batch(frame: TableFrame, rng: np.random.Generator) -> Batch:
    return patches_of(cut_guessed(frame.image, frame.objects, rng, avoid=frame.unsure))


def _pictures(frames: Sequence[TableFrame]) -> list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]:
    """Return patches as varied as in training: on one table's alone int8 would calibrate too small a range."""
    rng = np.random.default_rng(1)
    out: list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]] = []
    for _ in range(_GOES):
        for frame in frames:
            pictures = _batch(frame, rng)["img"].numpy().transpose(0, 2, 3, 1)[..., ::-1]
            out += [np.ascontiguousarray(picture[None]) for picture in pictures]
    return out[:: max(len(out) // _CALIBRATION_PATCHES, 1)][:_CALIBRATION_PATCHES]
