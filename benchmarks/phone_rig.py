"""Runs a whole rig by a phone: how late its scenes and calls are.

Run: python benchmarks/phone_rig.py [--clip CLIP.mp4]

The sender of `phone.py` sends its film through a network that does nothing to it. Prints the time from a picture to its
published scene, and from an instant to its published call. A person tells the rig what the camera can't see of the
first play, as the clip's journal says.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from measured_rig import LatencyObserver, open_rig
from phone import KINDS, Films, Plays, Received, started
from phone_film import Network

from downfield.capture.source import LoopObserver
from downfield.capture.sources.phone import PHONE_SOURCE
from downfield.capture.sources.phone_link import PHONE_LINK
from downfield.core.records import to_json
from downfield.core.track_files import Roster
from downfield.game.receipts import Accepted, Submission
from downfield.officiating.declarations import PivotsDone, Switch
from downfield.officiating.events import Ruling, Tick, Undo
from downfield.rig.rig import Rig

OPENING_S: Final = (30.0, 2.0)  # How long the line-up of each play stands: a whole rig opens first


def rig_of(plays: Plays, folder: Path, observer: LoopObserver) -> Rig:
    """Return a whole rig that plays by a phone, and knows who stands where in the line-up of the first play."""
    roster = folder / "line-up.roster.json"
    roster.write_text(to_json(Roster, plays.tables[0].roster))
    calibration = plays.tables[0].play.clip.with_suffix(".calibration.json")
    given = {"source.name": PHONE_SOURCE, "game.roster": str(roster), "calibration.file": str(calibration)}
    rig = open_rig("network", 0, folder, given)
    rig.add_observer(observer)
    threading.Thread(target=rig.play, daemon=True).start()
    return rig


def declare(rig: Rig, plays: Plays, began_ns: int) -> None:
    """Tell a rig what the camera can't see of the first play, as the clip's journal does, when it is time.

    Args:
        began_ns: when the film's first picture was taken, monotonic clock.
    """
    table = plays.tables[0]
    began_ns += round(plays.begins[0] / plays.fps * 1e9) - plays.taken_ns[0]  # of the clip's clock
    for event in table.events:
        if event.t_ns < table.play.from_s * 1e9 and isinstance(event.body, Switch | PivotsDone):
            continue  # of an earlier play, which the film does not show
        if event.t_ns < table.play.to_s * 1e9 and not isinstance(event.body, Ruling | Undo | Tick):
            time.sleep(max(0.0, (began_ns + event.t_ns - time.monotonic_ns()) / 1e9))
            receipt = rig.game_service.declare(event.body, Submission())
            if not isinstance(receipt, Accepted):
                print(f"{event.body.type} at {event.t_ns / 1e9:.1f} s of the clip: {receipt}")


def latency(plays: Plays, film: Path, folder: Path) -> None:
    """Print the time from a picture to its scene, and from an instant to its call, both published, of a whole rig."""
    got, ended = Received(), threading.Event()
    sender = started(film, Network(), PHONE_LINK, got, ended)
    while PHONE_LINK.session is None:
        time.sleep(0.05)
    observer = LatencyObserver()
    rig = rig_of(plays, folder, observer)
    while not observer.judged:
        time.sleep(0.05)
    observer.counting, began_s = True, time.process_time()
    declare(rig, plays, got.began_ns)
    ended.wait()
    cpu_s = time.process_time() - began_s
    rig.close()
    sender.communicate()
    median, high = np.percentile(observer.latencies_ms or [np.nan], (50, 95))
    calls = ", ".join(f"{kind} after {late_ms:.0f} ms" for kind, late_ms in observer.call_ms) or "none"
    print(
        f"{plays.fps} frames/s: {len(observer.latencies_ms)} scenes of {observer.captured} pictures, published after"
        f" {median:.0f} ms (95 %: {high:.0f} ms); calls: {calls}; the rig's main process took {cpu_s:.1f} s"
    )


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clip", type=Path, help="a clip with its truth files, in place of the bundled plays")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    plays = Plays(options.clip, OPENING_S)
    with tempfile.TemporaryDirectory() as folder:
        latency(plays, Films(plays, Path(folder)).path(KINDS[0]), Path(folder))


if __name__ == "__main__":
    main()
