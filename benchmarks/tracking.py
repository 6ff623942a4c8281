"""Measures tracking with a simulated network (`tests/simulated_detector.py`).

Run: PYTHONPATH=tests python benchmarks/tracking.py [--plays N] [--turned SHARE]

With `--turned 0.2` the network sees every fifth figure the wrong way around throughout, as it does figures of builds
that it was never taught.

Plays are drawn at random from seeds that nothing was tuned on; pictures of the swaying camera are not rendered.
`tracking_tally.py` explains the printed figures. `plays.py` does the same with rendered plays and a real network.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from simulated_detector import Faults, SimulatedDetector, calibration_of, classify_jerseys, simulated_views
from tracking_tally import TrackedPlay, TrackingTally, report, score_play

from downfield.core.roster import Roster, RosterSpot
from downfield.twin.plays.free import random_play
from downfield.twin.plays.performance import play
from downfield.twin.randomization.randomize import draw
from downfield.vision.contacts.limits import LIMITS as CONTACTS
from downfield.vision.occlusion.hands import HandTracker
from downfield.vision.tracking.initialization import LineUpSearch
from downfield.vision.tracking.measurement import measure
from downfield.vision.tracking.tracker import Tracker

FIRST_SEED = 90_000


def main() -> None:
    """Track plays and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=int, default=50, help="how many plays")
    parser.add_argument(
        "--turned", type=float, default=0.0, help="share of figures always detected the wrong way around"
    )
    options = parser.parse_args()
    tally = TrackingTally()
    for tracked in _simulated(options.plays, options.turned):
        score_play(tracked, tally)
        print(f"{tracked.name}: {len(tracked.truth)} frames, {tally.switches[-1]} switches", flush=True)
    report(tally)


def _simulated(count: int, turned: float) -> Iterator[TrackedPlay]:
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        recording = play(random_play(seed), seed)
        players, model = recording.script.players, recording.field
        look = draw(seed, players, field=model, split="test", fps=recording.script.fps)
        spots = tuple(
            RosterSpot(figure.id, figure.x_mm / model.mm_per_yd_x, figure.y_mm / model.mm_per_yd_y)
            for figure in recording.scenes[0].figures
        )
        detector, search = SimulatedDetector(Faults(turned=turned), seed), LineUpSearch(model, Roster(players, spots))
        tracker: Tracker | None = None
        hands = HandTracker()
        out = TrackedPlay(recording.script.name, recording.script.direction, model.mm_per_yd_x)
        out.happened = list(recording.happened)
        for view, scene in zip(
            simulated_views(recording.snapshots, players, look, seed=seed), recording.scenes, strict=True
        ):
            detections, calibration = detector.detect(view), calibration_of(view, look)
            if tracker is None:
                found = search.update(measure(detections, calibration, search.height_mm), view.t_ns)
                tracker = None if found is None else Tracker(found, view.t_ns)
                continue
            measurements = classify_jerseys(measure(detections, calibration, tracker.height_mm), view)
            hands.update(detections, calibration.camera, view.t_ns)
            estimates = tracker.update(
                measurements,
                view.t_ns,
                power=scene.board,
                fingertips_mm=hands.fingertips_mm,
                hands_mm=hands.outlines_mm,
                touching={
                    id_ for pair in scene.contacts if pair.gap_mm < CONTACTS.pushing_mm for id_ in (pair.a, pair.b)
                },
            )
            out.truth.append(scene)
            out.seen.append(tuple(estimate.to_figure() for estimate in estimates))
            out.boxes.append((list(measurements.detections), measurements.pose[:, :2]))
            out.add_falls(tracker.falls, view.t_ns)
        yield out


if __name__ == "__main__":
    main()
