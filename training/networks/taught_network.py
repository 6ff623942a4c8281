"""Writes the network whose parts are those that a run taught, whole: what was not taught is copied."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from downfield.core.errors import InputError
from downfield.models.card import NetworkCard, read_card, write_card
from downfield.training.export import CALIBRATION_PATCHES, Pictures, calibration_frames
from downfield.training.networks.checkpoints import (
    load_weights,
    open_detector_network,
    open_refiner_network,
    read_checkpoint,
)
from downfield.training.networks.course import DETECTOR, REFINER, SECOND_LOOK
from downfield.training.networks.graphs import export_detector, export_refiner
from downfield.training.networks.patch_blocks import read_blocks
from downfield.training.refined_network import copy_network, export_second_look, open_second_look


def write_taught(
    network: Path,
    runs: Path,
    out: Path,
    *,
    name: str,
    patches: Sequence[Pictures],
    sets: Sequence[Path] = (),
    parts: Collection[str] = (SECOND_LOOK.name, REFINER.name, DETECTOR.name),
) -> NetworkCard:
    """Write a network with the refiners, and the second detector, of which a folder holds checkpoints.

    Args:
        network: folder of the network to begin from; it is not changed.
        runs: folder of `second-look.pt`, `refiner.pt` and `detector.pt`, any of them.
        out: folder of the new network. Thresholds and weights of opinions are those of the old one.
        name: of the new one.
        patches: that the refiners' int8 is calibrated on.
        sets: data sets whose training pictures the detector's int8 is calibrated on; without any it is left as it is.
        parts: names of the checkpoints that count.

    Returns:
        The new network's card.

    Raises:
        InputError: a checkpoint is none, or the network lacks a part that was taught.

    """
    card = dataclasses.replace(read_card(network), name=name)
    paths = {kind.name: runs / f"{kind.name}.pt" for kind in (SECOND_LOOK, REFINER, DETECTOR)}
    taught = {kind for kind in parts if paths[kind].exists() and (kind != DETECTOR.name or sets)}
    places = {SECOND_LOOK.name: card.second_look, REFINER.name: card.second_opinion, DETECTOR.name: card.hand_look}
    for kind in taught:
        if places[kind] is None:
            raise InputError(f"{network}: this network has no part that {paths[kind]} could be")
    card = copy_network(network, card, out)
    if SECOND_LOOK.name in taught and card.second_look is not None:
        refiner = open_second_look(out / card.second_look.fp32)
        load_weights(refiner, read_checkpoint(paths[SECOND_LOOK.name])["average"])
        card = export_second_look(refiner, card, out, patches)
    if REFINER.name in taught and card.second_opinion is not None:
        export_refiner(open_refiner_network(paths[REFINER.name]), out, card.second_opinion, patches)
    if DETECTOR.name in taught and card.hand_look is not None:
        frames = calibration_frames(sets, card.input_px)
        export_detector(open_detector_network(paths[DETECTOR.name]), out, card.hand_look, card.input_px, frames)
    write_card(out, card)
    return card


def calibration_blocks(folders: Sequence[Path], seed: int) -> list[Pictures]:
    """Return patches on which int8 is calibrated, of several files of each folder.

    Raises:
        InputError: a folder holds no patches.

    """
    samples, rng, out = read_blocks(folders, seed), np.random.default_rng(seed), list[Pictures]()
    while len(out) < CALIBRATION_PATCHES:
        images = next(samples).image.numpy()
        rows = rng.choice(len(images), min(len(images), CALIBRATION_PATCHES // 8), replace=False)
        out += [np.ascontiguousarray(images[row][None]) for row in rows]
    return out[:CALIBRATION_PATCHES]
