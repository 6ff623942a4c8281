"""Adapts a network to one's own table in a few minutes: the refiner learns its bases, its paint and its light.

Only the refiner is trained. The detector finds figures on unknown tables well enough, and would need labels for
everything in a frame, while tracks are confident of only some figures. Which figures have fallen and where the ball is,
tracks don't say; the old refiner's answer is the label (Li and Hoiem, Learning without Forgetting, 2016).
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
from downfield.models.card import read_card
from downfield.models.detector import Detector
from downfield.models.refiner import FALLEN
from downfield.training.data.real_tables import TableFrame
from downfield.training.data.samples import PatchSamples, as_input, joined, varied_patches
from downfield.training.data.set_samples import cut_samples
from downfield.training.export.networks import refiner_of, write_refined
from downfield.training.export.onnx import Pictures
from downfield.training.networks.refiner import RefinerNetwork, figure_refiner_loss, known_ball_loss

RATE: Final = 3e-4  # a sixth of the rate at which it was trained, so that little is forgotten
WARM_UP: Final = 50  # steps until that rate is reached: Adam's first steps, not yet scaled, would undo its training
FRAMES: Final = 4  # in a batch
_CALIBRATION_PATCHES = 300
_ROUNDS = 3  # over all frames, for calibration patches
_TOP_MM = 5.5  # height of the bases' tops
_NEAR = 0.5  # of a base's length: a detection this near a track's base is that figure


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well a network agrees with confident tracks on frames it did not learn from."""

    figures: int  # number of figures compared
    found: float  # share of them found, 0..1
    corner_mm: float  # corner_mm, corner_p95_mm: median and 95th percentile of the corners' distances on the board
    corner_p95_mm: float
    turned: float  # share of those found whose front is taken for the rear, 0..1


def agreement(detector: Detector, frames: Sequence[TableFrame], calibration: Calibration) -> Agreement:
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
            both = calibration.camera.to_board(np.stack([seen[apart.argmin()], corners]), _TOP_MM)
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
    """Write a network whose refiner has learned one table. Raises InputError: it has none of Downfield's own."""
    card = read_card(network)
    model, old = (refiner_of(network) for _ in range(2))
    torch.manual_seed(0)
    _learn(model, old, frames, minutes * 60, progress)
    about = f"{card.name}, its refiner trained {minutes:g} minutes on {len(frames)} frames of one table"
    write_refined(network, dataclasses.replace(card, name=name, about=about), model, out, _pictures(frames))


def _learn(
    model: RefinerNetwork,
    old: RefinerNetwork,
    frames: Sequence[TableFrame],
    seconds: float,
    progress: Callable[[float], None],
) -> None:
    rng = np.random.default_rng(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    start, steps = time.monotonic(), 0
    while (share := (time.monotonic() - start) / seconds) < 1:
        steps += 1
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, steps / WARM_UP) * (1 - share)
        batch = joined([_varied(frames[int(rng.integers(len(frames)))], rng) for _ in range(FRAMES)])
        pictures = as_input(batch.image)
        with torch.no_grad():
            known, known_heat = old(pictures)
        outputs, heat = model(pictures)
        loss, _ = figure_refiner_loss(outputs, batch._replace(fallen=torch.sigmoid(known[:, FALLEN])))
        loss = loss + known_ball_loss(heat, known_heat)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        progress(share)


def _varied(frame: TableFrame, rng: np.random.Generator) -> PatchSamples:
    return varied_patches(cut_samples(frame.image, frame.objects, rng, frame.unsure))


def _pictures(frames: Sequence[TableFrame]) -> list[Pictures]:
    """Return patches as varied as in training: on one table's alone int8 would calibrate too small a range."""
    rng = np.random.default_rng(1)
    out: list[Pictures] = []
    for _ in range(_ROUNDS):
        for frame in frames:
            out += [picture[None] for picture in (255 * _varied(frame, rng).image).round().byte().numpy()]
    return out[:: max(len(out) // _CALIBRATION_PATCHES, 1)][:_CALIBRATION_PATCHES]
