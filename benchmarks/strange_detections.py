"""Measures the chain on detections of a stranger's quality, made from the twin's truth without pictures.

Run: PYTHONPATH=tests python benchmarks/strange_detections.py [--plays N] [--falls] [--fps 15] [--plain] [--seed N]

`tests/strange_detector.py` errs as the bundled network does on strange tables, by the rates of the model card, with
errors that last. What single detections are worth is printed first, then what tracker, contacts, power and rules make
of them; `chain_score.py` explains these figures. `--plain` gives the errors of a network at home instead. `--falls`
plays the named plays with falls, the others are drawn at random. Thresholds may be chosen here, never on strangers'
pictures.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from chain_score import Officials, report, score_chain
from clip_pipeline import FramePair
from plays import tracked_play
from scenes_tally import SceneTally
from simulated_detector import SimulatedDetector, SimulatedView, calibration_of, classify_jerseys, simulated_views
from strange_detector import StrangeDetector
from tracking import FALLS

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.core.mathematics import difference_deg
from downfield.core.scene import Power, Scene
from downfield.core.track_files import Roster, RosterSpot
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.twin.physics.poses import FALLEN_DEG
from downfield.twin.physics.truth import by_frame
from downfield.twin.plays.playbook.index import named
from downfield.twin.plays.playbook.random_play import random_play
from downfield.twin.plays.recording import PlayRecording, play
from downfield.twin.randomization.tables import draw_table
from downfield.vision.board.power import PowerDetector
from downfield.vision.contacts.contact_tracker import ContactTracker
from downfield.vision.hands import HandTracker
from downfield.vision.measuring.measurement import Measurements, measure
from downfield.vision.refinement import separate_overlaps
from downfield.vision.tracking.initialization import LineUpSearch
from downfield.vision.tracking.tracker import Tracker

FIRST_SEED = 95_000
SIZE_PX = (1280, 720)
FOUND_MM = 15.0  # a detection this near to a figure is of that figure
VISIBLE = 0.3  # share of a base's top from which a figure counts for recall


def main() -> None:
    """Track plays and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=int, default=8, help="how many random plays")
    parser.add_argument("--falls", action="store_true", help="the named plays with falls")
    parser.add_argument("--fps", type=float, default=15.0, help="frames a second")
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="of the first play")
    parser.add_argument("--plain", action="store_true", help="a network at home, not on a strange table")
    parser.add_argument("--rulebook", default=DEFAULT_RULEBOOK, help="an installed rulebook or a file")
    options = parser.parse_args()
    rulebook, quality, results = load_rulebook(options.rulebook), DetectionTally(), []
    names: Sequence[str | None] = FALLS if options.falls else [None] * options.plays
    for seed, name in enumerate(names, options.seed):
        recording = _performed(seed, name, options.fps)
        detector = SimulatedDetector(seed=seed) if options.plain else StrangeDetector(seed=seed)
        frames = list(run_without_pictures(recording, detector, seed, quality))
        if not frames:
            print(f"{recording.script.name}: no line-up found", flush=True)
            continue
        script = recording.script
        officials = Officials(rulebook, recording.field, script.players, recording.events)
        played = tracked_play(f"{seed} {script.name}", frames[0].calibration, [one.pair for one in frames])
        results.append(score_chain([one.pair for one in frames], played, officials, SceneTally()))
    quality.report()
    report(results)


@dataclass(frozen=True)
class SimulatedFrame:
    """One frame: its scenes, and the calibration of its camera."""

    pair: FramePair
    calibration: Calibration


def run_without_pictures(
    recording: PlayRecording, detector: SimulatedDetector | StrangeDetector, seed: int, quality: DetectionTally
) -> Iterator[SimulatedFrame]:
    """Yield the frames of a play from the line-up on: as the pipeline's, without what only pictures show.

    Args:
        recording: the play.
        detector: of its figures.
        seed: of the table's look and the camera.
        quality: a tally of single detections.
    """
    players, model = recording.script.players, recording.field
    look = draw_table(seed, players, field=model, size=SIZE_PX, split="val", fps=recording.script.fps)
    spots = tuple(
        RosterSpot(figure.id, figure.x_mm / model.mm_per_yd_x, figure.y_mm / model.mm_per_yd_y)
        for figure in recording.scenes[0].figures
    )
    search, tracker = LineUpSearch(model, Roster(players, spots)), None
    hands, power, contacts = HandTracker(), PowerDetector(), ContactTracker()
    now: Power = "unknown"
    happened = by_frame(recording.happened, [snapshot.t_ns for snapshot in recording.snapshots])
    views = simulated_views(recording.snapshots, players, look, seed=seed)
    for number, (view, true) in enumerate(zip(views, recording.scenes, strict=True)):
        detections, calibration = detector.detect(view), calibration_of(view, look)
        if tracker is None:
            found = search.update(measure(detections, calibration, search.height_mm), view.t_ns)
            tracker = None if found is None else Tracker(found, view.t_ns)
            continue
        measurements = classify_jerseys(measure(detections, calibration, tracker.height_mm), view)
        quality.add(view, measurements, calibration, tracker.height_mm)
        hands.update(detections, calibration.camera, view.t_ns)
        estimates = tracker.update(
            measurements,
            view.t_ns,
            power=now,
            fingertips_mm=hands.fingertips_mm,
            hands_mm=hands.outlines_mm,
            touching=contacts.touching,
        )
        estimates = separate_overlaps(estimates)
        visible = hands.assess(estimates, view.t_ns)
        now = power.step(estimates, view.t_ns).power
        seen = Scene(
            frame=number,
            t_ns=view.t_ns,
            board=now,
            figures=tuple(estimate.to_figure() for estimate in estimates),
            contacts=contacts.step(estimates, view.t_ns, power=now, fit=not visible.unfit),
            hands=visible.hands,
            unfit=visible.unfit,
        )
        pair = FramePair(true, seen, measurements, tracker.falls, tuple(happened[number]))
        yield SimulatedFrame(pair, calibration)


def _performed(seed: int, name: str | None, fps: float) -> PlayRecording:
    if name is None:
        return play(replace(random_play(seed), fps=fps), seed)
    known = named(name)
    return play(replace(known.script, fps=fps), known.seed)


@dataclass
class DetectionTally:
    """What single detections are worth, as `network_table.py` measures them on pictures."""

    counts: Counter[str] = field(default_factory=Counter)
    corners_mm: list[float] = field(default_factory=list)

    def add(self, view: SimulatedView, measurements: Measurements, calibration: Calibration, height_mm: float) -> None:
        """Add the detections of a frame."""
        figures = view.figures
        heights = np.full((len(figures), 4), height_mm)
        places = np.array([figure.corners_px for figure in figures])
        corners = _located(calibration, places, heights)
        middles, taken = corners.mean(axis=1), set[int]()
        self.counts["detections"] += len(measurements)
        for row in np.argsort(-measurements.scores).tolist():
            apart = np.linalg.norm(middles - measurements.pose[row, :2], axis=1)
            nearest = int(apart.argmin())
            if apart[nearest] > FOUND_MM or nearest in taken:
                continue
            taken.add(nearest)
            self.counts["right"] += 1
            self._add_match(
                measurements.detections[row],
                measurements.pose[row],
                figures[nearest].tilt_deg,
                corners[nearest],
                calibration,
                height_mm,
            )
        for row, figure in enumerate(figures):
            if figure.visible >= VISIBLE and not figure.covered:
                self.counts["visible"] += 1
                self.counts["found"] += row in taken

    def _add_match(
        self, found: Detection, pose: Array, tilt_deg: float, corners: Array, calibration: Calibration, height_mm: float
    ) -> None:
        called, lies = found.kind == "fallen", tilt_deg > FALLEN_DEG
        self.counts["lie"] += lies
        self.counts["called"] += called
        self.counts["fallen"] += called and lies
        if lies or called:
            return
        ahead = corners[:2].mean(axis=0) - corners[2:].mean(axis=0)
        turned = difference_deg(np.degrees(pose[2]), np.degrees(np.arctan2(ahead[1], ahead[0]))) > 90
        self.counts["upright"] += 1
        self.counts["turned"] += turned
        seen = _located(calibration, np.array([found.corners_px]), np.full((1, 4), height_mm))[0]
        self.corners_mm += np.linalg.norm((np.roll(seen, 2, axis=0) if turned else seen) - corners, axis=1).tolist()

    def report(self) -> None:
        """Print the figures."""
        n, corners = self.counts, np.quantile(self.corners_mm or [np.nan], (0.5, 0.95))
        print(
            f"single detections: recall {n['found'] / max(n['visible'], 1):.1%}, precision"
            f" {n['right'] / max(n['detections'], 1):.1%}, turned {n['turned'] / max(n['upright'], 1):.1%}, fallen F1"
            f" {2 * n['fallen'] / max(n['lie'] + n['called'], 1):.2f} ({n['lie']} lie, {n['called']} called so),"
            f" corners {corners[0]:.2f} / {corners[1]:.2f} mm"
        )


def _located(calibration: Calibration, points_px: Array, heights_mm: Array) -> Array:
    """Points of pictures on the board, shape (n, 4, 2)."""
    places: Array = calibration.camera.to_board(points_px.reshape(-1, 2), heights_mm.ravel())
    return places.reshape(*points_px.shape)


if __name__ == "__main__":
    main()
