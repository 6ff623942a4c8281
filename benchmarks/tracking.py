"""Measures tracking with a simulated network (`tests/simulated_detector.py`).

Run: PYTHONPATH=tests python benchmarks/tracking.py [--plays N] [--falls] [--turned SHARE] [--called-fallen SHARE]

With `--turned 0.2` the network sees every fifth figure the wrong way around throughout, as it does figures of builds
that it was never taught; with `--called-fallen 0.2` it calls every fifth fallen throughout, their helmets beside their
bases. `--falls` plays the named plays with falls instead of random ones.

Plays are drawn at random from seeds that nothing was tuned on; pictures of the swaying camera are not rendered.
`tracking_tally.py` explains the printed figures. `plays.py` does the same with rendered plays and a real network.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from simulated_detector import Faults, SimulatedDetector, calibration_of, classify_jerseys, simulated_views
from tracking_tally import TrackedPlay, TrackingTally, report, score_play

from downfield.core.track_files import Roster, RosterSpot
from downfield.twin.plays.playbook.index import named
from downfield.twin.plays.playbook.random_play import random_play
from downfield.twin.plays.recording import PlayRecording, play
from downfield.twin.randomization.tables import draw_table
from downfield.vision.contacts.limits import CONTACT_LIMITS
from downfield.vision.hands import HandTracker
from downfield.vision.measuring.measurement import measure
from downfield.vision.tracking.initialization import LineUpSearch
from downfield.vision.tracking.tracker import Tracker

FIRST_SEED = 90_000
FALLS = (
    "broken-tackle", "broken-tackle-physics", "second-tackler", "both-fall", "both-fall-physics", "falls-alone",
    "falls-alone-physics", "fumble", "fumble-physics", "ball-lost", "fallen-defender",
)  # fmt: skip


def main() -> None:
    """Track plays and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=int, default=50, help="how many plays")
    parser.add_argument(
        "--turned", type=float, default=0.0, help="share of figures always detected the wrong way around"
    )
    parser.add_argument("--called-fallen", type=float, default=0.0, help="share of figures always called fallen")
    parser.add_argument("--falls", action="store_true", help="the named plays with falls")
    options = parser.parse_args()
    tally = TrackingTally()
    faults = Faults(turned=options.turned, called_fallen=options.called_fallen)
    for tracked in _simulated(_with_falls() if options.falls else _random(options.plays), faults):
        score_play(tracked, tally)
        print(f"{tracked.name}: {len(tracked.truth)} frames, {tally.switches[-1]} switches", flush=True)
    report(tally)


def _random(count: int) -> Iterator[tuple[int, PlayRecording]]:
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        yield seed, play(random_play(seed), seed)


def _with_falls() -> Iterator[tuple[int, PlayRecording]]:
    for seed, name in enumerate(FALLS, FIRST_SEED):
        played = named(name)
        yield seed, play(played.script, played.seed)


def _simulated(plays: Iterator[tuple[int, PlayRecording]], faults: Faults) -> Iterator[TrackedPlay]:
    for seed, recording in plays:
        players, model = recording.script.players, recording.field
        look = draw_table(seed, players, field=model, split="test", fps=recording.script.fps)
        spots = tuple(
            RosterSpot(figure.id, figure.x_mm / model.mm_per_yd_x, figure.y_mm / model.mm_per_yd_y)
            for figure in recording.scenes[0].figures
        )
        detector, search = SimulatedDetector(faults, seed), LineUpSearch(model, Roster(players, spots))
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
                    id_
                    for pair in scene.contacts
                    if pair.gap_mm < CONTACT_LIMITS.pushing_mm
                    for id_ in (pair.a, pair.b)
                },
            )
            out.truth.append(scene)
            out.seen.append(tuple(estimate.to_figure() for estimate in estimates))
            out.boxes.append((list(measurements.detections), measurements.pose[:, :2]))
            out.add_falls(tracker.falls, view.t_ns)
        yield out


if __name__ == "__main__":
    main()
