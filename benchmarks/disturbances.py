"""Measures what becomes of calls, identities and reasons when pictures and their times are disturbed.

Run: python benchmarks/disturbances.py OUT.jsonl [--clips FOLDER] [--plays N] [--live] [--play NAME] [--only TEXT]
     [--strength S] [--minutes M] [--table]

Every kind of `disturbance_kinds.py`, at three strengths, over plays that begin with their line-up: two of the bundled
recording, and those of FOLDER that `downfield twin render NAME --size 1920x1080 --fps 30 -o FOLDER/NAME` made, one of
them with bodies that no renderer of ours draws. A play goes through vision and rules as it does in the rig, once as a
file and once as a live camera, whose stamps are compared with the arrival; no thread and no clock takes part. OUT gets
a line for each run, and a run that is there is not made again, so that an interrupted bench goes on. `--plays N` makes
a sample: each kind once, over N plays in turn. `--table` prints the table of `docs/disturbances.md` from OUT.

A call in force is wrong when the exact scenes make no such call of that player within 150 ms, or when its spot is more
than 0.3 yards and more than two and a half of its own standard deviations off. A figure is exchanged when it stands,
stated as sure, where another one is. A reason is right when what suspends calls, or leaves them open, is what was done.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import cv2
import numpy as np
from disturbance_kinds import KINDS, Kind, Occasion, Shot
from pasted_bodies import PastedBodies

from downfield.capture.source import PictureTimes
from downfield.capture.sources.file_sources import VideoFile, bundled_demo, open_clip
from downfield.capture.sources.source_clock import SourceClock
from downfield.core.arrays import Image
from downfield.core.errors import RefusedError
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.core.track_files import Roster, RosterSpot
from downfield.officiating.calls import Call
from downfield.officiating.declarations import LineUpDeclared
from downfield.officiating.engine.engine_state import EngineState
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event, Tick
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.live.vision_stages import PLAYBACK_DIVISOR, local_detector
from downfield.vision.detection_schedule import DetectionRate
from downfield.vision.pipeline import NO_LINE_UP, Vision

Mode = Literal["file", "live"]
UNDISTURBED: Final = Kind("undisturbed", (0, 0, 0), lambda shots, *_: iter(shots), "$^")
JUDGED: Final = frozenset({"tackle", "fumble", "touchdown", "line_of_scrimmage", "out_of_bounds", "down_by_fall"})
DECIDING: Final = JUDGED - {"line_of_scrimmage"}
STRENGTHS: Final = ("mild", "middle", "strong")
MODES: Final[tuple[Mode, ...]] = ("file", "live")
_SAME_NS: Final = 150_000_000
_NEAR_YD: Final = 0.3
_SIGMAS: Final = 2.5
_TAKEN_FOR_MM: Final = 12.0
_AWAY_MM: Final = 30.0
_SOON_S: Final = 0.8  # within which a line-up is found; every run begins with waiting for it
_LEAD: Final = 10  # pictures before the first one
_DELAY_NS: Final = 700_000_000  # from the decision to the end of what its call waits for
_CLIPS: Final = ("clean-tackle", "fumble-physics", "91963", "91964")


@dataclass(frozen=True)
class Play:
    """A play with its exact scenes.

    Its first pictures are shown there and back before it where all stand for less time than a line-up takes.

    Attributes:
        clip: the video, with its files beside it.
        from_s, to_s: the part of it that is shown.
        stands: number of first pictures that show the line-up, which are shown there and back.
        bodies: seed of other bodies that are painted over its figures; 0 for its own.
    """

    name: str
    clip: Path
    from_s: float
    to_s: float
    stands: int
    bodies: int = 0


def plays(folder: Path | None) -> tuple[Play, ...]:
    """Return the plays, those of a folder as far as they are there."""
    demo = bundled_demo()
    found = [Play("bundled-1", demo, 6.85, 9.95, 5), Play("bundled-2", demo, 14.75, 18.6, 8)]
    found.append(Play("bundled-1 from its stop on", demo, 8.4, 9.95, 8))
    if folder is not None:
        found += [Play(name, folder / f"{name}.mp4", 0.0, 9.0, 8) for name in _CLIPS]
        found.insert(3, Play("clean-tackle, other bodies", folder / "clean-tackle.mp4", 0.0, 9.0, 8, 5))
    return tuple(play for play in found if play.clip.is_file())


def sampled(found: Sequence[Play], count: int) -> list[tuple[Play, Kind]]:
    """Return each kind with one play, the plays in turn, those of one play after the other; all pairs if 0."""
    if not count:
        return [(play, kind) for play in found for kind in (UNDISTURBED, *KINDS)]
    if len(found) < count:
        raise SystemExit(f"There are {len(found)} plays: {', '.join(play.name for play in found)}. Name --clips.")
    first = [(play, UNDISTURBED) for play in found[:count]]
    rest = [(found[place % count], kind) for place, kind in enumerate(KINDS)]
    return sorted((*first, *rest), key=lambda pair: found.index(pair[0]))


class Table:
    """What is known of a play before it is disturbed: pictures on demand, exact scenes, declarations, true calls."""

    def __init__(self, play: Play) -> None:
        clip = open_clip(play.clip)
        self.play, self.calibration = play, clip.calibration
        self.events = sorted(clip.events, key=lambda event: event.t_ns)
        low, high = round(play.from_s * 1e9), round(play.to_s * 1e9)
        scenes = list(clip.tracks)
        self.truth = {scene.t_ns: scene for scene in scenes if low <= scene.t_ns <= high}
        self.rulebook = load_rulebook()
        calls = judge_recording(scenes, clip.events, self.rulebook, clip.calibration.field).calls
        self.calls = [call for call in calls if low < call.t_ns < high - _DELAY_NS // 2 and _counts(call)]
        times = sorted(self.truth)
        self.players = next(
            event.body.players
            for event in reversed(clip.events)
            if isinstance(event.body, LineUpDeclared) and event.t_ns <= times[0]
        )
        first, scale = self.truth[times[0]], clip.calibration.field.mm_per_yd
        self.roster = Roster(
            self.players, tuple(RosterSpot(one.id, one.x_mm / scale[0], one.y_mm / scale[1]) for one in first.figures)
        )
        decided = [call.t_ns for call in self.calls if call.kind in DECIDING]
        self.before = self._before(scenes, times[0])
        # Pictures of the line-up that there are, and those before them, a frame apart.
        here = times[: play.stands]
        self._lead = [here[0] - (_LEAD - place) * (times[1] - times[0]) for place in range(_LEAD)] + here
        self.truth |= dict.fromkeys(self._lead, first)
        self.when = Occasion(times[0], decided[0] if decided else times[-1] - _DELAY_NS)

    def _before(self, scenes: Sequence[Scene], begins_ns: int) -> EngineState:
        """Return the game as its exact scenes leave it where the pictures begin."""
        engine = RulesEngine(self.rulebook, self.calibration.field)
        state = engine.begin()
        entries: tuple[Scene | Event, ...] = (*self.events, *scenes)
        for entry in sorted((one for one in entries if one.t_ns < begins_ns), key=lambda one: one.t_ns):
            state, _ = engine.step(state, entry)
        return state

    def shots(self) -> Iterator[Shot]:
        """Yield the undisturbed pictures."""
        bodies = PastedBodies(self.calibration.camera, self.play.bodies) if self.play.bodies else None
        index, standing = 0, list[Image]()
        for captured in VideoFile(self.play.clip, paced=False).frames():
            true = self.truth.get(captured.t_ns)
            if captured.t_ns > self.play.to_s * 1e9:
                return
            if true is None or captured.t_ns < self.when.begins_ns:
                continue
            frame = captured.decode()
            image = frame.image if bodies is None else bodies.paint(frame, true).image
            if len(standing) < self.play.stands:
                standing.append(image)
                if len(standing) < self.play.stands:
                    continue
                for place, t_ns in enumerate(self._lead):
                    there = place % (2 * len(standing) - 2)
                    yield _shot(index, standing[min(there, 2 * len(standing) - 2 - there)], t_ns)
                    index += 1
                continue
            yield _shot(index, image, frame.t_ns)
            index += 1


def _shot(index: int, image: Image, t_ns: int) -> Shot:
    return Shot(index, image, t_ns, t_ns, t_ns + 4_000_000)


@dataclass
class Outcome:
    """What came of a run.

    Attributes:
        calls: all that were made.
        exchanged: figures that stood, stated as sure, where another one was.
        unfit: how many frames were unfit, by reason.
        warnings: the same of warnings.
        frames, span_s: how many there were, in which time.
    """

    calls: list[Call]
    exchanged: set[str]
    unfit: collections.Counter[str]
    warnings: collections.Counter[str]
    frames: int = 0
    span_s: float = 0.0


def run(table: Table, shots: Iterator[Shot], mode: Mode) -> Outcome:
    """Return what vision and rules make of pictures."""
    network = RigSettings().network
    rate = DetectionRate(round(PLAYBACK_DIVISOR * 1e9 / network.detections_per_s))
    vision = Vision(table.calibration, local_detector(network), table.roster, rate=rate)
    engine, state = RulesEngine(table.rulebook, table.calibration.field), table.before
    out = Outcome([], set(), collections.Counter(), collections.Counter())
    events = [event for event in table.events if event.t_ns >= table.when.begins_ns]
    clock, times = SourceClock(), PictureTimes()
    t_ns = table.when.begins_ns

    def take(entry: Scene | Event) -> None:
        nonlocal state
        try:
            state, made = engine.step(state, entry)
        except RefusedError:
            return
        out.calls += made

    for shot in shots:
        at = shot.stamp_ns if mode == "file" else clock.to_monotonic(shot.stamp_ns, shot.arrived_ns)
        t_ns, error_ns = times(at) if shot.sigma_ns is None else (at, shot.sigma_ns)
        while events and events[0].t_ns <= t_ns:
            take(events.pop(0))
        frame = Frame(shot.index, t_ns, shot.image, t_sigma_ns=error_ns)
        scene = vision.process(frame, state.game.play.carrier)
        take(scene)
        out.frames += 1
        out.unfit.update(scene.unfit)
        out.warnings.update(() if vision.health is None else vision.health.warnings)
        if not scene.unfit:
            out.exchanged |= exchanged(scene, table.truth[shot.taken_ns])
    for event in events:
        if event.t_ns <= t_ns:
            take(event)
    out.span_s = (t_ns - table.when.begins_ns) / 1e9
    take(Event("end", t_ns + 6_000_000_000, "clock", Tick()))
    return out


def exchanged(seen: Scene, true: Scene) -> set[str]:
    """Return the figures that stand, stated as sure, where another one is."""
    places = np.array([(one.x_mm, one.y_mm) for one in true.figures])
    names = [one.id for one in true.figures]
    found = set()
    for figure in seen.figures:
        if not figure.sure or figure.posture == "unseen" or figure.id not in names:
            continue
        off = np.hypot(*(places - (figure.x_mm, figure.y_mm)).T)
        nearest = int(off.argmin())
        if names[nearest] != figure.id and off[nearest] < _TAKEN_FOR_MM and off[names.index(figure.id)] > _AWAY_MM:
            found.add(figure.id)
    return found


def _counts(call: Call) -> bool:
    return call.verdict == "called" and call.kind in JUDGED


def matches(call: Call, true: Call) -> bool:
    """Return whether a call is the true one, its spot within the error that it states."""
    same = call.kind == true.kind and call.players == true.players and abs(call.t_ns - true.t_ns) <= _SAME_NS
    if not same or call.spot_yd is None or true.spot_yd is None:
        return same
    off = abs(call.spot_yd[0] - true.spot_yd[0])
    return off <= max(_NEAR_YD, _SIGMAS * call.spot_sigma_yd[0])


def summary(table: Table, kind: Kind, strength: int, mode: Mode, out: Outcome) -> dict[str, Any]:
    """Return a run as a line of the results."""
    in_force = [call for call in out.calls if _counts(call)]
    wrong = [call for call in in_force if not any(matches(call, true) for true in table.calls)]
    made = [true for true in table.calls if any(matches(call, true) for call in in_force)]
    least = {NO_LINE_UP: max(0.1, _SOON_S / out.span_s)}
    lasted = [text for text, frames in out.unfit.most_common() if frames > least.get(text, 0.1) * out.frames]
    # What is said besides waiting for the line-up says why it is waited for.
    reason = next((text for text in lasted if text != NO_LINE_UP), lasted[0] if lasted else "")
    told = [*out.unfit, *out.warnings]
    told += [condition.words() for call in out.calls if call.verdict == "too_close" for condition in call.conditions]
    right = bool(re.search(kind.reason, reason, re.IGNORECASE)) if reason else None
    if not reason and len(made) < len(table.calls):
        right = any(re.search(kind.reason, text, re.IGNORECASE) for text in told)
    return {
        "kind": kind.name,
        "strength": STRENGTHS[strength],
        "play": table.play.name,
        "mode": mode,
        "true": len(table.calls),
        "made": len(made),
        "wrong": [described(call) for call in wrong],
        "exchanged": sorted(out.exchanged),
        "right": right,
        "unfit": dict(out.unfit.most_common(3)),
        "warnings": dict(out.warnings.most_common(3)),
        "calls": [described(call) for call in out.calls if call.kind in JUDGED],
        "frames": out.frames,
    }


def described(call: Call) -> str:
    """Return a call in a few words."""
    spot = "" if call.spot_yd is None else f" at {call.spot_yd[0]:.2f} ± {call.spot_sigma_yd[0]:.2f} yd"
    return f"{call.verdict} {call.kind} {' '.join(call.players)} {call.t_ns / 1e9:.3f} s{spot} {call.probability:.2f}"


def report(lines: Sequence[dict[str, Any]]) -> str:
    """Return the table of kinds by strength and way, in Markdown; undisturbed runs are not in the sums."""
    by_kind = collections.defaultdict(list)
    for line in lines:
        by_kind[line["kind"], line["strength"], line["mode"]].append(line)
    columns = [(strength, mode) for strength in STRENGTHS for mode in MODES]
    columns = [one for one in columns if any(one == (line["strength"], line["mode"]) for line in lines)]
    names = [strength if mode == "file" else f"{strength}, live" for strength, mode in columns]
    rows = ["| kind | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for kind in (UNDISTURBED, *KINDS):
        cells = [_cell(by_kind.get((kind.name, *column), [])) for column in columns]
        if any(cells):
            rows.append(f"| {kind.name} | " + " | ".join(cells) + " |")
    altered = [line for line in lines if line["kind"] != UNDISTURBED.name]
    of_column = [[line for line in altered if (line["strength"], line["mode"]) == column] for column in columns]
    rows.append("| **all** | " + " | ".join(f"**{_cell(one)}**" for one in of_column) + " |")
    rows.append("| runs | " + " | ".join(f"{len(one)}" for one in of_column) + " |")
    rows.append("| reason right | " + " | ".join(_reasons(one) for one in of_column) + " |")
    return "\n".join(rows)


def _reasons(lines: Sequence[dict[str, Any]]) -> str:
    told = [line["right"] for line in lines if line["right"] is not None]
    return f"{sum(told)} of {len(told)}"


def _cell(lines: Sequence[dict[str, Any]]) -> str:
    if not lines:
        return ""
    made, true = sum(line["made"] for line in lines), sum(line["true"] for line in lines)
    parts = [f"{made} of {true}"]
    wrong, changed = sum(len(line["wrong"]) for line in lines), sum(len(line["exchanged"]) for line in lines)
    parts += [f"{wrong} wrong"] if wrong else []
    parts += [f"{changed} exchanged"] if changed else []
    asked = [line for line in lines if line["right"] is not None]
    right = sum(line["right"] for line in asked)
    parts += [f"reason {right} of {len(asked)}"] if asked and right < len(asked) else []
    return ", ".join(parts)


def main() -> None:
    """Make the runs that are missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--clips", type=Path, help="folder of rendered plays")
    parser.add_argument("--play", default="", help="only plays whose name has this")
    parser.add_argument("--only", default="", help="only kinds whose name matches this")
    parser.add_argument("--strength", choices=STRENGTHS, action="append")
    parser.add_argument("--plays", type=int, default=0, metavar="N", help="each kind once, over N plays in turn")
    parser.add_argument("--live", action="store_true", help="as a live camera only; else as a file too")
    parser.add_argument("--file", action="store_true", help="as a file only")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no run after so many")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    lines = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.is_file() else []
    if options.table:
        print(report(lines))
        return
    cv2.setNumThreads(1)
    done = {(line["kind"], line["strength"], line["play"], line["mode"]) for line in lines}
    ends = time.monotonic() + 60 * options.minutes
    modes: tuple[Mode, ...] = ("live",) if options.live else ("file",) if options.file else MODES
    table: Table | None = None
    for play, kind in sampled([one for one in plays(options.clips) if options.play in one.name], options.plays):
        if not re.search(options.only, kind.name):
            continue
        for strength, mode in itertools.product(range(len(STRENGTHS)), modes):
            wanted = not options.strength or STRENGTHS[strength] in options.strength
            wanted = wanted and not (kind is UNDISTURBED and strength != 1)
            if not wanted or (kind.name, STRENGTHS[strength], play.name, mode) in done:
                continue
            if time.monotonic() > ends:
                return
            table = table if table is not None and table.play is play else Table(play)
            rng = np.random.default_rng([len(kind.name), strength])
            outcome = run(table, kind.alter(table.shots(), kind.strengths[strength], rng, table.when), mode)
            line = summary(table, kind, strength, mode, outcome)
            with options.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
