"""The simulated network of a strange table errs as often as it says, and its errors last."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
from simulated_detector import SimulatedView
from strange_detector import StrangeDetector, StrangeFaults
from tracked_tables import Table, filmed, standing

from downfield.core.frame import Detection

NONE = StrangeFaults(
    turned=0.0, missed=0.0, fallen=0.0, upright=0.0, doubled=0.0, across=0.0, merged=0.0, fixtures=0, edge_mm=0.0,
    edge_wander_mm=0.0, wild=0.0,
)  # fmt: skip
TABLE = Table(
    {f"dark-{i}": standing(200, 60 + 40 * i) for i in range(6)}
    | {f"light-{i}": standing(300, 60 + 40 * i, 180) for i in range(6)},
    2.0,
)


@cache
def views() -> list[SimulatedView]:
    return [view for view, _, _ in filmed(TABLE)]


def detected(faults: StrangeFaults, seeds: int = 4) -> list[list[tuple[Detection, ...]]]:
    """The detections of every frame, by seed."""
    return [
        [detector.detect(view) for view in views()] for detector in (StrangeDetector(faults, k) for k in range(seeds))
    ]


def nearest(view: SimulatedView, found: tuple[Detection, ...], id_: str) -> Detection | None:
    """The detection of a figure; None if it is missed."""
    (figure,) = (one for one in view.figures if one.id == id_)
    middle = figure.corners_px.mean(axis=0)
    near = [one for one in found if np.linalg.norm(np.mean(one.corners_px, axis=0) - middle) < 10]
    return near[0] if near else None


def test_without_faults_it_is_a_good_network() -> None:
    counts = [len(found) for run in detected(NONE) for found in run]
    assert 11.9 < np.mean(counts) < 12.3


def test_figures_are_missed_for_a_while_and_as_often_as_said() -> None:
    faults = replace(NONE, missed=0.2, missed_s=0.3)
    missed = np.array(
        [
            [
                [nearest(view, found, id_) is None for id_ in TABLE.paths]
                for view, found in zip(views(), run, strict=True)
            ]
            for run in detected(faults)
        ]
    )
    assert 0.1 < missed.mean() < 0.3
    again = missed[:, 1:][missed[:, :-1]].mean()
    assert again > 2 * missed.mean()


def test_some_figures_are_turned_throughout() -> None:
    faults = replace(NONE, turned=0.3)
    turned = []
    for run in detected(faults):
        by_figure = []
        for id_, (view, found) in itertools.product(TABLE.paths, [(views()[0], run[0]), (views()[-1], run[-1])]):
            one = nearest(view, found, id_)
            assert one is not None
            (figure,) = (true for true in view.figures if true.id == id_)
            ahead = np.subtract(one.corners_px[0], one.corners_px[3]) @ (figure.corners_px[0] - figure.corners_px[3])
            by_figure.append(bool(ahead < 0))
        assert by_figure[::2] == by_figure[1::2]
        turned += by_figure[::2]
    assert 0.1 < np.mean(turned) < 0.5
