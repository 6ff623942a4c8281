"""Measures the calls of the whole rig on rendered plays, against the calls made from their true tracks.

Run: python benchmarks/calls.py CLIPS [--rulebook NAME]

CLIPS is a folder of clips with their tracks and declarations beside them, of `downfield twin render random --seed SEED
-o CLIPS/NAME`. The rig plays each twice: with its true tracks, and with its own vision. Two calls are the same when
they are of the same kind about the same figures within a quarter of a second.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from downfield.game.published.game_topics import CallView
from downfield.officiating.engine.recording import REPLAY_LIMITS
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
from downfield.rig.configuration.loading import load
from downfield.rig.rig import Rig

OPEN = ("too_close", "proposed")
FAR_YD = 0.1


@dataclass
class CallTally:
    """Counts over all clips.

    Attributes:
        counts: of true calls by outcome, and of false calls.
        off_ms: time differences of the same calls.
        off_yd: differences of their spots along the field.
    """

    counts: Counter[str] = field(default_factory=Counter)
    off_ms: list[float] = field(default_factory=list)
    off_yd: list[float] = field(default_factory=list)


def main() -> None:
    """Play the clips, and print how the calls compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=Path)
    parser.add_argument("--rulebook", default=DEFAULT_RULEBOOK, help="an installed rulebook or a file")
    options = parser.parse_args()
    called, reported = CallTally(), CallTally()
    for clip in sorted(options.clips.glob("*.mp4")):
        true, seen = (_calls(clip, options.rulebook, tracks=tracks) for tracks in (True, False))
        notes = _compare(*_of(true, seen, reported=False), called)
        notes += _compare(*_of(true, seen, reported=True), reported)
        print(f"{clip.name}: {len(true)} true calls, {len(seen)} seen", flush=True)
        for note in notes:
            print(f"  {note}", flush=True)
    _print("calls", called)
    _print("reported without consequence", reported)


def _calls(clip: Path, rulebook: str, *, tracks: bool) -> tuple[CallView, ...]:
    """Return every call that the rig makes of a clip, played as fast as possible."""
    given = {"source.name": str(clip), "source.tracks": tracks, "game.rulebook": rulebook, "service.on": False}
    with tempfile.TemporaryDirectory() as data_folder:
        rig = Rig(load(environment={}, command_line=given), Path(data_folder), paced=False)
        try:
            rig.play()
            return tuple(rig.game_service.calls())
        finally:
            rig.close()


def _of(true: Sequence[CallView], seen: Sequence[CallView], *, reported: bool) -> tuple[list[CallView], list[CallView]]:
    """Select only calls without consequence, or only the others."""
    first, second = ([call for call in calls if (call.verdict == "reported") == reported] for calls in (true, seen))
    return first, second


def _compare(true: Sequence[CallView], seen: Sequence[CallView], tally: CallTally) -> list[str]:
    """Count one clip's calls; return the differences as text."""
    left, notes = list(seen), []
    for call in true:
        same = next((one for one in left if _same(call, one)), None)
        if same is not None:
            left.remove(same)
        outcome = "missed" if same is None else "too close" if same.verdict in OPEN else "made"
        tally.counts[outcome] += 1
        if same is None or outcome != "made":
            notes.append(f"{outcome}: {call.t_ns / 1e9:.2f} s {call.text}" + (f" ({same.measured})" if same else ""))
            continue
        tally.off_ms.append(abs(call.t_ns - same.t_ns) / 1e6)
        if call.spot_yd is not None and same.spot_yd is not None:
            off_yd = abs(call.spot_yd[0] - same.spot_yd[0])
            tally.off_yd.append(off_yd)
            if off_yd > FAR_YD:
                notes.append(f"spot off {off_yd:.2f} yd: {same.t_ns / 1e9:.2f} s {same.text} ({same.measured})")
    for call in left:
        wrong = "false, too close" if call.verdict in OPEN or call.text.startswith("too close") else "false"
        tally.counts[wrong] += 1
        notes.append(f"{wrong}: {call.t_ns / 1e9:.2f} s {call.text} ({call.measured})")
    return notes


def _same(one: CallView, two: CallView) -> bool:
    return (one.kind, one.players) == (two.kind, two.players) and abs(one.t_ns - two.t_ns) <= REPLAY_LIMITS.same_call_ns


def _print(title: str, tally: CallTally) -> None:
    counts = tally.counts
    true = counts["made"] + counts["too close"] + counts["missed"]
    print(f"\n{title}: {true} true; made {counts['made']}, too close {counts['too close']}, missed {counts['missed']}")
    print(f"  false: {counts['false']}, and too close {counts['false, too close']}")
    for what, unit, values in (("time error", "ms", tally.off_ms), ("spot error", "yd", tally.off_yd)):
        if values:
            median, most = np.percentile(values, (50, 95))
            print(f"  {what}: median {median:.3g} {unit}, 95 % within {most:.3g}, at most {max(values):.3g}")


if __name__ == "__main__":
    main()
