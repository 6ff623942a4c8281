"""Prints what the whole chain makes of strangers' clips: detector, refiner, tracker, contacts, power, calls.

Run: python benchmarks/strangers_chain.py FOLDER [--network NAME_OR_FOLDER] [--rulebook NAME] [--bodies SEED]
    [--detections FOLDER]

FOLDER is made by `strangers_clips.py`; any folder of `downfield twin render` works too. `chain_score.py` explains the
figures. Strangers' clips are looked at to report, never to train or to tune. What may be tuned on are the twin's own
clips with `--bodies`, which paints bodies over them that the network was never taught (`pasted_bodies.py`).
With `--detections` the detector's output is kept in a folder, and the next run takes seconds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from chain_score import ClipResult, Officials, report, score_chain
from clip_pipeline import remembered, run_pipeline
from pasted_bodies import PastedBodies
from plays import tracked_play
from scenes_tally import SceneTally

from downfield.calibration.calibration import read_calibration
from downfield.core.track_files import TrackFile
from downfield.models.card import BUNDLED
from downfield.models.detector import Detector
from downfield.models.loading import open_detector
from downfield.officiating.events import read_events
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook


def main() -> None:
    """Run the chain on every clip, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=Path, metavar="FOLDER")
    parser.add_argument("--network", default=BUNDLED, help="a bundled network or a folder")
    parser.add_argument("--rulebook", default=DEFAULT_RULEBOOK, help="an installed rulebook or a file")
    parser.add_argument("--bodies", type=int, metavar="SEED", help="paint other bodies over all figures")
    parser.add_argument("--detections", type=Path, metavar="FOLDER", help="for what is detected, to repeat it")
    options = parser.parse_args()
    detector, rulebook = open_detector(options.network), load_rulebook(options.rulebook)
    results = []
    for clip in sorted(options.clips.glob("*.mp4")):
        with remembered(detector, clip, options.detections, f"bodies {options.bodies}") as found:
            result = run_chain(clip, found, rulebook, options.bodies)
        if result is None:
            print(f"{clip.name}: no line-up found", flush=True)
        else:
            results.append(result)
    if not results:
        parser.error(f"{options.clips}: no clip with a line-up. Make some with strangers_clips.py.")
    report(results)


def run_chain(clip: Path, detector: Detector, rulebook: Rulebook, bodies: int | None = None) -> ClipResult | None:
    """Run the chain on a clip and print what is wrong in it; None where no line-up is found.

    Args:
        clip: the clip, with its truth beside it.
        detector: for its pictures.
        rulebook: in force.
        bodies: seed of the bodies that are painted over its figures; None for none.
    """
    calibration, scenes = read_calibration(clip.with_suffix(".calibration.json")), SceneTally()
    alter = None if bodies is None else PastedBodies(calibration.camera, bodies).paint
    frames = list(run_pipeline(clip, calibration, detector, scenes.teams, alter=alter))
    if not frames:
        return None
    players = TrackFile(clip.with_suffix(".tracks.jsonl")).header.players
    events = read_events(clip.with_suffix(".events.jsonl"))[1]
    officials = Officials(rulebook, calibration.field, players, events)
    return score_chain(frames, tracked_play(clip.name, calibration, frames), officials, scenes)


if __name__ == "__main__":
    main()
