"""How well rendered plays are seen: power, contacts, ball, teams. Who is where is for `benchmarks/tracking.py`.

Run: python benchmarks/scenes.py CLIPS [--network NETWORK]

CLIPS is a folder of clips with their truth beside them, of `downfield twin render random --seed SEED -o CLIPS/NAME`.
The whole pipeline sees their pictures, through the bundled network or another.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from contact_episodes import Episode, episodes

from downfield.calibration.calibration import read_calibration
from downfield.models.card import BUNDLED
from downfield.models.detection import Detection
from downfield.models.detector import Detector
from downfield.models.opening import open_detector
from downfield.rig.sources.video_file import VideoFile
from downfield.vision.footprint import Array
from downfield.vision.frame import Frame
from downfield.vision.pipeline import Vision
from downfield.vision.roster import read_roster
from downfield.vision.scene import Contact, Scene
from downfield.vision.teams import look_at_colours
from downfield.vision.track_measure import measure
from downfield.vision.tracks import Tracks

SWITCHED_NS = 200_000_000
"""What the board may take to be seen switched on or off."""

NEAR_MM = 3.0  # opponents that came so near each other are judged
OWN_MM = 5.0  # a sighting so near to where a figure is is its own
BASE_MM = 5.5
WELL_SEEN = 0.5  # share of the base's top


@dataclass
class Tally:
    """What was counted over all clips."""

    power: Counter[str] = field(default_factory=Counter)
    ball: Counter[str] = field(default_factory=Counter)
    touches: list[bool] = field(default_factory=list)
    teams: list[bool] = field(default_factory=list)
    episodes: list[Episode] = field(default_factory=list)
    far: int = 0
    frame_ns: int = 0
    unfit: int = 0
    frames: int = 0


def main() -> None:
    """Watch clips and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=Path)
    parser.add_argument("--network", default=BUNDLED, help="a bundled one or a folder")
    options = parser.parse_args()
    tally, detector = Tally(), open_detector(options.network)
    for clip in sorted(options.clips.glob("*.mp4")):
        pairs = list(_watched(clip, detector, tally))
        if not pairs:
            print(f"{clip.name}: nobody lined up", flush=True)
            continue
        tally.frame_ns = (pairs[-1][0].t_ns - pairs[0][0].t_ns) // max(len(pairs) - 1, 1)
        _judge(pairs, tally)
        print(f"{clip.name}: {len(pairs)} frames", flush=True)
    _print(tally)


def _watched(clip: Path, detector: Detector, tally: Tally) -> Iterator[tuple[Scene, Scene]]:
    """Scenes as they were and as they were seen, from the line-up on."""
    name = clip.with_suffix("")
    calibration = read_calibration(name.with_name(name.name + ".calibration.json"))
    tracks = name.with_name(name.name + ".tracks.jsonl")
    vision = Vision(calibration, detector, read_roster(tracks))
    for shot, true in zip(VideoFile(clip, paced=False).shots(), Tracks(tracks), strict=False):
        frame = shot.frame()
        before = vision.colours  # what is learnt from this very frame doesn't count
        detections, seen = _seen(vision, frame)
        if not vision.players:
            continue
        if before is not None and detections is not None:
            sightings = measure(detections, calibration, BASE_MM)
            colours = look_at_colours(frame.image, sightings, calibration.camera, BASE_MM)
            shown = sightings.visible > WELL_SEEN
            tally.teams += _teams(true, sightings.pose[shown], before.light_odds(colours)[shown])
        yield true, seen


def _seen(vision: Vision, frame: Frame) -> tuple[Sequence[Detection] | None, Scene]:
    detections = vision.look(frame)
    return detections, vision.see(frame, lambda: detections)


def _teams(true: Scene, pose: Array, light_odds: Array) -> Iterator[bool]:
    """Whether the colours of each sighting of a figure that stands say its team."""
    standing = [one for one in true.figures if one.posture == "upright"]
    if not standing:
        return
    places = np.array([(one.x_mm, one.y_mm) for one in standing])
    for (x, y, *_), odds in zip(pose.tolist(), light_odds.tolist(), strict=True):
        apart = np.hypot(*(places - (x, y)).T)
        if apart.min() < OWN_MM:
            yield (odds > 0) == (standing[int(apart.argmin())].jersey == "light")


def _judge(pairs: list[tuple[Scene, Scene]], tally: Tally) -> None:
    switched_ns, power = pairs[0][0].t_ns, pairs[0][0].board
    touched: dict[str, str | None] = {}
    for true, seen in pairs:
        tally.frames += 1
        tally.unfit += bool(seen.unfit)
        if true.board != power:
            switched_ns, power = true.t_ns, true.board
        if true.t_ns - switched_ns >= SWITCHED_NS:
            tally.power["unknown" if seen.board == "unknown" else "right" if seen.board == power else "wrong"] += 1
        if true.ball is not None:
            tally.ball[_ball(true, seen)] += 1
            if true.ball.touched_by is not None:
                by = seen.ball.touched_by if seen.ball is not None else None
                touched[true.ball.touched_by] = by or touched.get(true.ball.touched_by)
    tally.touches += [by == said for by, said in touched.items()]
    told: list[tuple[Scene, tuple[Contact, ...]]] = [
        (true, () if seen.unfit else seen.contacts) for true, seen in pairs
    ]
    tally.episodes += episodes(told, NEAR_MM)
    tally.far += _called_far(told)


def _ball(true: Scene, seen: Scene) -> str:
    """What is said of where the ball is."""
    if true.ball is None or seen.ball is None:
        return "not known"
    if (true.ball.carrier, true.ball.state == "carried") == (seen.ball.carrier, seen.ball.state == "carried"):
        return "right"
    return "wrong"


def _called_far(frames: Iterable[tuple[Scene, Iterable[Contact]]]) -> int:
    """Pairs of opponents that were surely called though they were never near each other."""
    near: set[tuple[str, str]] = set()
    called: set[tuple[str, str]] = set()
    for true, contacts in frames:
        jersey = {figure.id: figure.jersey for figure in true.figures}
        near |= {(one.a, one.b) for one in true.contacts if one.gap_mm < NEAR_MM}
        called |= {(one.a, one.b) for one in contacts if one.probability > 0.95 and jersey[one.a] != jersey[one.b]}
    return len(called - near)


def _print(tally: Tally) -> None:
    def share(counts: Counter[str], name: str) -> float:
        return counts[name] / max(sum(counts.values()), 1)

    print(f"\n{tally.frames} frames, {tally.unfit / max(tally.frames, 1):.1%} unfit for calls")
    print(f"board on or off right   {share(tally.power, 'right'):7.1%}  wanted >= 99 %; {_other(tally.power)}")
    print(f"ball's carrier right    {share(tally.ball, 'right'):7.1%}  {_other(tally.ball)}")
    if tally.touches:
        print(f"first touch right       {np.mean(tally.touches):7.1%}  wanted >= 98 %; {len(tally.touches)} of them")
    if tally.teams:
        print(f"team by colour right    {np.mean(tally.teams):7.2%}  wanted >= 99.8 %; {len(tally.teams)} sightings")
    touches = [(one, touch) for one in tally.episodes for touch in one.touches()]
    hits = [(touch, calls) for one, touch in touches if (calls := one.called(touch))]
    close = sum(not one.called(touch) and one.close() for one, touch in touches)
    false = tally.far + sum(bool(one.calls()) and not one.touches() for one in tally.episodes)
    missed = len(touches) - len(hits) - close
    f1 = 2 * len(hits) / max(2 * len(hits) + false + missed, 1)
    print(f"contacts of opponents: {len(touches)} touches, called {len(hits)}, too close {close}, missed {missed}")
    print(f"  F1 on calls made      {f1:7.3f}  wanted >= 0.98; {false} called where none was")
    if hits:
        off = np.abs([calls[0].began_ns - touch.began_ns for touch, calls in hits])
        print(
            f"  time off              {np.median(off) / 1e6:5.1f} ms  within a frame of {tally.frame_ns / 1e6:.0f} ms"
            f" {np.mean(off <= tally.frame_ns):.1%}, wanted >= 95 %"
        )


def _other(counts: Counter[str]) -> str:
    total = max(sum(counts.values()), 1)
    return ", ".join(f"{name} {count / total:.1%}" for name, count in sorted(counts.items()) if name != "right")


if __name__ == "__main__":
    main()
