"""Measures a phone as the camera: what a network does to its pictures, and what becomes of the calls.

Run: python benchmarks/phone.py [--clip CLIP.mp4] [--only TEXT] [--out OUT.jsonl] [--minutes M] [--table]

A sender of WHIP in a process of its own sends a film at 1920x1080, encoded before, through a relay that loses, delays
and holds packets; what receives them is `PhoneCamera`, as in a rig. The film shows two plays of the bundled recording,
or that of a clip with its truth files (`downfield twin render clean-tackle --size 1920x1080 --fps 60 -o CLIP`), each
after its line-up stood still; a number in the corner of each picture says which it is and so when it was taken. Vision
and rules then judge what came, by the times that it came with, as they judge the film as a file.

A call is equal when kind and players are, and instant and spot within two and a half of the standard deviations that
both state. One is wrong when it is in force and neither the file nor the exact scenes make such a call
(`disturbances.matches`). `phone_rig.py` runs the whole rig on the film.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import pickle
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import av
import cv2
import numpy as np
from av.video.codeccontext import VideoCodecContext
from disturbance_kinds import Shot
from disturbances import JUDGED, Play, Table, described, matches, run
from phone_film import PHASES, Film, Network, arguments, encode

from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock, CapturedFrame
from downfield.capture.sources.file_sources import bundled_demo
from downfield.capture.sources.phone import PHONE_LIMITS, PhoneCamera
from downfield.capture.sources.phone_link import PhoneLink
from downfield.capture.sources.reconnecting import ReconnectingSource
from downfield.core.arrays import Image
from downfield.core.errors import SourceError
from downfield.core.media.video_file import upright_bgr
from downfield.game.published.board_topics import HealthReason
from downfield.officiating.calls import Call

SIZE: Final = (1920, 1080)
_STAND_S: Final = (2.0, 6.0)  # How long the line-up of each play stands
_TROUBLE_S: Final = 3.7  # When what happens once begins: the carrier of the first play has begun to run
_GAP_S: Final = 5.0
_AWAY_S: Final = 3.0
_BITS, _SIDE_PX = 12, 16  # The number in the corner
_SIGMAS: Final = 2.5
_DRAINED_NS: Final = 1_000_000_000  # Time without a picture after which all that were sent are decoded


@dataclass(frozen=True)
class Kind:
    """What is done to a film.

    Attributes:
        film: ``plain``, ``frozen`` (the camera shows one picture for a while, encoded on and on) or ``smaller`` (720p).
        reason: what health must say meanwhile, a regular expression; empty for nothing.
        ends_s: when it is over, where it happens once.
    """

    name: str
    network: Network = field(default_factory=Network)
    film: str = "plain"
    reason: str = ""
    rates: tuple[float, ...] = (6.0,)
    ends_s: float = 0.0


KINDS: Final = (
    Kind("nothing"),
    Kind("1 % lost", Network(loss=0.01)),
    Kind("3 % lost", Network(loss=0.03)),
    Kind("5 % lost", Network(loss=0.05)),
    Kind("30 ms jitter", Network(jitter_s=0.03)),
    Kind("30 ms jitter, 3 % lost", Network(jitter_s=0.03, loss=0.03)),
    Kind("2 Mbit/s, the sender adapts", Network(mbit_per_s=2.0, adapts=True), rates=(4.0, 1.2)),
    Kind("2 Mbit/s, it does not", Network(mbit_per_s=2.0), reason="network is too slow"),
    Kind(
        "nothing comes for 5 s",
        Network(gaps_s=((_TROUBLE_S, _TROUBLE_S + _GAP_S),)),
        reason="No picture",
        ends_s=_TROUBLE_S + _GAP_S,
    ),
    Kind("frozen for 5 s", film="frozen", reason="frozen", ends_s=_TROUBLE_S + _GAP_S),
    Kind("720p for 3 s", film="smaller"),
    Kind(
        "it leaves for 3 s",
        Network(away_s=(_TROUBLE_S, _TROUBLE_S + _AWAY_S)),
        reason="has left|No phone",
        ends_s=_TROUBLE_S + _AWAY_S,
    ),
)


class Plays:
    """The plays of the film with their exact scenes.

    Attributes:
        begins: number of the film's first picture of each play.
        taken_ns: when that was taken, by the clip's clock.
        file: the calls that the film makes as a file.
    """

    def __init__(self, clip: Path | None, stand_s: Sequence[float] = _STAND_S, count: int = 2) -> None:
        demo = bundled_demo()
        plays = [Play("bundled-1", demo, 6.85, 9.95, 5), Play("bundled-2", demo, 14.75, 18.6, 8)]
        self.tables = [Table(one) for one in (plays[:count] if clip is None else [Play(clip.stem, clip, 0.0, 9.0, 8)])]
        with av.open(str(clip or demo)) as container:
            self.fps = round(container.streams.video[0].average_rate or 30)
        self._shots = [list(table.shots()) for table in self.tables]
        self.taken_ns = [shots[0].taken_ns for shots in self._shots]
        self._stands = [round(seconds * self.fps) for seconds in stand_s]
        self.begins: list[int] = []
        number = 0
        for stand, shots in zip(self._stands, self._shots, strict=False):
            self.begins.append(number + stand)
            number += stand + len(shots)
        self.file: list[Call] = []

    def pictures(self, film: str) -> Iterator[Image]:
        """Yield the pictures of the film."""
        still: Image | None = None
        frozen, smaller = (
            range(round(_TROUBLE_S * self.fps), round((_TROUBLE_S + lasts_s) * self.fps)) for lasts_s in (_GAP_S, 3.0)
        )
        for number, image in enumerate(self._plain()):
            marked = _marked(image, number)
            if film == "frozen" and number in frozen:
                marked = still = marked if still is None else still
            if film == "smaller" and number in smaller:
                marked = np.asarray(cv2.resize(marked, (1280, 720), interpolation=cv2.INTER_AREA), np.uint8)
            yield marked

    def _plain(self) -> Iterator[Image]:
        for stand, shots in zip(self._stands, self._shots, strict=False):
            lead = [shot.image for shot in shots[:6]]
            there = itertools.cycle(lead + lead[-2:0:-1])
            yield from itertools.islice(there, stand)
            yield from (shot.image for shot in shots)

    def judge(self, pictures: Iterator[tuple[int, int, int | None, Image]]) -> list[Call]:
        """Return the calls in force of pictures: number in the film, ns since its begin, error of that, image."""
        parts: list[list[Shot]] = [[] for _ in self.tables]
        for number, since_ns, sigma_ns, image in pictures:
            for begins, shots, part in zip(self.begins, self._shots, parts, strict=True):
                if begins <= number < begins + len(shots):
                    true = shots[number - begins]
                    t_ns = shots[0].taken_ns + since_ns - round(begins / self.fps * 1e9)
                    part.append(Shot(len(part), image, true.taken_ns, t_ns, t_ns, sigma_ns))
        calls = itertools.chain(
            *(run(table, iter(part), "file").calls for table, part in zip(self.tables, parts, strict=True))
        )
        return [call for call in calls if call.verdict == "called" and call.kind in JUDGED]

    def judge_file(self, film: Film) -> list[Call]:
        """Return the calls in force of the film as a file."""
        decode = _decoder()
        packets = film.variants[max(film.variants)][0]
        return self.judge(
            (number, round(number / self.fps * 1e9), None, decode(data)) for number, data in enumerate(packets)
        )


def _marked(image: Image, number: int) -> Image:
    marked = image.copy()
    for bit in range(_BITS):
        marked[:_SIDE_PX, bit * _SIDE_PX : (bit + 1) * _SIDE_PX] = 235 if number >> bit & 1 else 20
    return marked


def number_of(image: Image) -> int:
    """Return the number in a picture's corner."""
    middle = image[4 : _SIDE_PX - 4, : _BITS * _SIDE_PX].reshape(_SIDE_PX - 8, _BITS, _SIDE_PX, 3)[:, :, 4:-4]
    return sum(1 << bit for bit in range(_BITS) if middle[:, bit].mean() > 128)


class _decoder:  # noqa: N801  it is called like a function
    """Decodes packet by packet."""

    def __init__(self) -> None:
        codec = av.CodecContext.create("h264", "r")
        assert isinstance(codec, VideoCodecContext)
        codec.thread_count, codec.options = 1, {"flags": "low_delay"}
        self._codec = codec

    def __call__(self, data: bytes) -> Image:
        return upright_bgr(self._codec.decode(av.Packet(data))[-1])


@dataclass
class Received:
    """What came of a film.

    Attributes:
        frames: with when each was ready, monotonic clock, and whether it is the picture before once more.
        began_ns: when its first picture was taken, monotonic clock.
        cpu_s: processor time from the first picture to the last.
        counts: what the sender counted.
        told: what health said.
    """

    frames: list[tuple[CapturedFrame, int, bool]] = field(default_factory=list)
    began_ns: int = 0
    cpu_s: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)


def started(
    film: Path, network: Network, link: PhoneLink, got: Received, ended: threading.Event
) -> subprocess.Popen[str]:
    """Return the process that sends a film, its offers answered by a thread."""
    sender = subprocess.Popen(arguments(film, network), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def follow() -> None:
        assert sender.stdin is not None
        assert sender.stdout is not None
        for line in sender.stdout:
            said = json.loads(line)
            if "offer" in said:
                answer = link.accept(said["offer"], "phone", "the phone")[1]
                sender.stdin.write(json.dumps({"answer": answer}) + "\n")
                sender.stdin.flush()
            got.began_ns = said.get("began_ns", got.began_ns)
            if "counts" in said:
                got.counts = said["counts"]
                ended.set()

    threading.Thread(target=follow, daemon=True).start()
    return sender


class _Told(ActiveProblems):
    """Keeps all that was reported until the film ended."""

    def __init__(self, told: list[str], ended: threading.Event) -> None:
        super().__init__()
        self._told, self._ended = told, ended

    def report(self, problem: HealthReason) -> None:
        """Keep it."""
        if problem.text not in self._told and not self._ended.is_set():
            self._told.append(problem.text)
        super().report(problem)


def received(film: Path, network: Network, clock: CaptureClock) -> Received:
    """Return what comes of a film through a network."""
    got, ended, link = Received(), threading.Event(), PhoneLink()
    sender = started(film, network, link, got, ended)
    while link.session is None:
        time.sleep(0.05)
    problems, last = _Told(got.told, ended), None
    link.follow(problems)
    source: ReconnectingSource | None = None
    while source is None:
        try:
            source = ReconnectingSource(lambda: PhoneCamera(clock, SIZE, link), problems, PHONE_LIMITS)
        except SourceError as error:
            got.told.append(str(error))
            if ended.is_set():
                return got
    opened = source

    def close() -> None:
        ended.wait()
        while got.frames and time.monotonic_ns() - got.frames[-1][1] < _DRAINED_NS:
            time.sleep(0.05)  # a busy computer may still be decoding
        opened.close()

    threading.Thread(target=close, daemon=True).start()
    began_s = last_s = time.process_time()
    for frame in source.frames():
        last_s = time.process_time()
        began_s = began_s if got.frames else last_s
        kept = frame if frame.packet is None else replace(frame, image=None)
        got.frames.append((kept, time.monotonic_ns(), frame.image is last))
        last = frame.image
    got.cpu_s = last_s - began_s
    sender.communicate()
    return got


def summary(kind: Kind, plays: Plays, got: Received, clock: CaptureClock) -> dict[str, Any]:
    """Return a run as a line of the results."""
    decode, began_ns = _decoder(), clock.from_monotonic(got.began_ns)
    numbers, errors_ms, sigmas_ms, ready_ms = list[int](), list[float](), list[float](), list[float]()
    twice: list[int] = []  # taken for new ones

    def pictures() -> Iterator[tuple[int, int, int | None, Image]]:
        image: Image | None = None
        for frame, ready_ns, again in got.frames:
            assert frame.packet is not None or frame.image is not None
            decoded = frame.image if frame.packet is None else decode(frame.packet.data)
            image = image if again else decoded
            assert image is not None
            number = number_of(image)
            taken_ns = round(number / plays.fps * 1e9)
            if number not in numbers[-1:]:
                numbers.append(number)
                errors_ms.append((frame.t_ns - began_ns - taken_ns) / 1e6)
                sigmas_ms.append(frame.t_sigma_ns / 1e6)
                ready_ms.append((ready_ns - got.began_ns - taken_ns) / 1e6)
            elif not again:
                twice.append(number)
            yield number, frame.t_ns - began_ns, frame.t_sigma_ns, image

    calls = plays.judge(pictures())
    true = [one for table in plays.tables for one in table.calls]
    equal = [of_file for of_file in plays.file if any(is_equal(one, of_file) for one in calls)]
    wrong = [one for one in calls if not any(is_equal(one, other) for other in plays.file)]
    wrong = [one for one in wrong if not any(matches(one, other) for other in true)]
    offset_ms = float(np.median(errors_ms or [0.0]))
    spread = np.abs(np.array(errors_ms) - offset_ms)
    return {
        "kind": kind.name,
        "fps": plays.fps,
        "file": len(plays.file),
        "equal": len(equal),
        "wrong": [described(one) for one in wrong],
        "calls": [described(one) for one in calls],
        "of_file": [described(one) for one in plays.file],
        "told": got.told,
        "right": not got.told if not kind.reason else any(re.search(kind.reason, text) for text in got.told),
        **got.counts,
        "decoded": len(numbers),
        "twice": len(twice),
        "unused": _runs(sorted(set(range(got.counts.get("sent", 0))) - set(numbers))),
        "back": sum(after < before for before, after in itertools.pairwise(numbers)),
        "late_ms": round(offset_ms, 2),
        "time_error_ms": [round(float(one), 2) for one in np.percentile(spread if numbers else [0.0], (50, 95, 100))],
        "beyond": [
            one for one, off, sigma in zip(numbers, spread, sigmas_ms, strict=True) if off > _SIGMAS * sigma + 1.0
        ],
        "ready_ms": [round(float(one), 1) for one in np.percentile(ready_ms or [0.0], (50, 95))],
        "back_s": _back_s(numbers, ready_ms, kind, plays.fps),
        "cpu_ms": round(1000 * got.cpu_s / max(1, len(got.frames)), 2),
    }


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and the last of numbers that follow each other, ascending."""
    begins = [one for one in numbers if one - 1 not in numbers]
    return list(zip(begins, (one for one in numbers if one + 1 not in numbers), strict=True))


def _back_s(numbers: Sequence[int], ready_ms: Sequence[float], kind: Kind, fps: int) -> float | None:
    """Return how long after the end of what happened once the first picture taken since was there."""
    for number, ready in zip(numbers, ready_ms, strict=True):
        since_s = number / fps - kind.ends_s
        if kind.ends_s and since_s >= 0:
            return round(since_s + ready / 1000, 2)
    return None


def is_equal(call: Call, of_file: Call) -> bool:
    """Return whether two calls are the same within what both state of their errors."""
    if (call.kind, call.players) != (of_file.kind, of_file.players):
        return False
    allowed_s = _SIGMAS * math.hypot(call.t_sigma_s, of_file.t_sigma_s)
    if abs(call.t_ns - of_file.t_ns) > max(1e9 * allowed_s, 17_000_000):  # half a picture
        return False
    if call.spot_yd is None or of_file.spot_yd is None:
        return call.spot_yd == of_file.spot_yd
    off = [abs(one - other) for one, other in zip(call.spot_yd, of_file.spot_yd, strict=True)]
    sigmas = [math.hypot(*both) for both in zip(call.spot_sigma_yd, of_file.spot_sigma_yd, strict=True)]
    return all(one <= _SIGMAS * sigma + 0.005 for one, sigma in zip(off, sigmas, strict=True))


def report(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of docs/phone.md, in Markdown."""
    columns = (
        "network",
        "calls as the file's",
        "wrong",
        "pictures sent, used",
        "instant off, median, ms",
        "picture decoded after, median and 95 %, ms",
        "processor, ms a picture",
    )
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for one in lines:
        name = one["kind"] + (", 60 frames/s" if one["fps"] == 60 else "")
        told = "".join(f'; "{text}"' for text in one["told"])
        back = "" if one["back_s"] is None else f"; back after {one['back_s']:.1f} s"
        share = one["cpu_ms"] * one["decoded"] / max(1, one["sent"]) * one["fps"] / 10
        rows.append(
            f"| {name} | {one['equal']} of {one['file']}{told}{back} | {len(one['wrong'])} |"
            f" {one['sent']}, {one['decoded']} | {one['time_error_ms'][0]:.1f} |"
            f" {one['ready_ms'][0]:.0f}, {one['ready_ms'][1]:.0f} | {one['cpu_ms']:.1f} ({share:.0f} % of a core) |"
        )
    return "\n".join(rows)


def main() -> None:
    """Make the runs, or print the table of those that were made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clip", type=Path, help="a clip with its truth files, in place of the bundled plays")
    parser.add_argument("--only", default="", help="only kinds whose name matches this")
    parser.add_argument("--out", type=Path, help="lines of results; those that are there are not made again")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no run after so many")
    parser.add_argument("--table", action="store_true", help="print the table of OUT")
    options = parser.parse_args()
    lines = []
    if options.out is not None and options.out.is_file():
        lines = [json.loads(line) for line in options.out.read_text().splitlines()]
    if options.table:
        print(report(lines))
        return
    cv2.setNumThreads(1)
    ends = time.monotonic() + 60 * options.minutes
    plays = Plays(options.clip)
    done = {line["kind"] for line in lines if line["fps"] == plays.fps}
    with tempfile.TemporaryDirectory() as folder:
        films = Films(plays, Path(folder))
        for kind in KINDS:
            if kind.name in done or not re.search(options.only, kind.name) or time.monotonic() > ends:
                continue
            plays.file = plays.file or plays.judge_file(pickle.loads(films.path(KINDS[0]).read_bytes()))
            clock = CaptureClock()
            line = summary(kind, plays, received(films.path(kind), kind.network, clock), clock)
            lines.append(line)
            print(json.dumps(line), flush=True)
            if options.out is not None:
                with options.out.open("a") as file:
                    file.write(json.dumps(line) + "\n")
    print(report(lines))


class Films:
    """Encodes films when they are needed first."""

    def __init__(self, plays: Plays, folder: Path) -> None:
        self._plays, self._folder = plays, folder
        self._made: dict[tuple[str, tuple[float, ...], int], Path] = {}

    def path(self, kind: Kind) -> Path:
        """Return the file of a kind's film."""
        phases = 1 if kind.network == Network() else PHASES
        key = (kind.film, kind.rates, phases)
        if key not in self._made:
            path = self._folder / f"{len(self._made)}.pickle"
            rates = [rate * self._plays.fps / 30 for rate in kind.rates]
            made = encode(lambda: self._plays.pictures(kind.film), self._plays.fps, rates, phases)
            path.write_bytes(pickle.dumps(made))
            self._made[key] = path
        return self._made[key]


if __name__ == "__main__":
    main()
