"""Encode recorded motion JPEG again as the rig does in idle time, and judge it again: the calls, and the size.

Run:
    python benchmarks/encoded_again.py [CLIP.mp4 ...]     # the bundled demo, or others

Each clip is packed as a camera sends it (JPEG, quality 85) and kept as a recording, which `downfield track` and `judge`
turn into calls. It is encoded again, with `--idle` by the rig's own process, which takes only time that nobody else
wants, and what is left is tracked and judged in the same way. Printed are the sizes, their ratio, how far the calls'
instants and spots moved, and every call that is not made of both; exits with 1 where there is one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import av
import cv2

from downfield.capture.recording.encoding_again import RecordingEncoder, encode_again, put_in_place
from downfield.capture.recording.recording_library import RecordingIndexHeader, create_recording, index_path, read_index
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.recording.segment import RecordingSegment
from downfield.capture.source import CapturedFrame, VideoPacket
from downfield.capture.sources.file_sources import bundled_demo
from downfield.store.sealing.signing import RigKey

_QUALITY = 85
_LATER = 10  # recordings made later, as the rig leaves its latest files as they are


def main() -> None:
    """Encode and judge each clip."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="*", type=Path, metavar="CLIP.mp4")
    parser.add_argument("--idle", action="store_true", help="encode as the rig does; on a busy computer for very long")
    options, differing = parser.parse_args(), 0
    for clip in options.clips or [bundled_demo()]:
        with tempfile.TemporaryDirectory() as place:
            differing += _compare(clip, Path(place), idle=options.idle)
    sys.exit(1 if differing else 0)


def _compare(clip: Path, folder: Path, *, idle: bool) -> int:
    """Print what encoding a clip again changes; the number of calls that differ."""
    recordings = folder / "recordings"
    video = _recorded(clip, recordings)
    before_bytes, before = video.stat().st_size, _calls(clip, video, folder / "before")
    began = time.monotonic()
    if idle:
        _encode_in_idle_time(clip, recordings, video)
    else:
        encode_again(video)
        put_in_place(video, RigKey.generate())
    took_s, after_bytes = time.monotonic() - began, video.stat().st_size
    after = _calls(clip, video, folder / "after")
    print(
        f"{clip.name}: {before_bytes / 1e6:.1f} MB of motion JPEG, {after_bytes / 1e6:.1f} MB encoded again:", end=" "
    )
    print(f"{after_bytes / before_bytes:.3f} of the size, in {took_s:.0f} s")
    differing = sorted(before.keys() ^ after.keys())
    both = before.keys() & after.keys()
    apart_ms = max((abs(before[key]["t_ns"] - after[key]["t_ns"]) / 1e6 for key in both), default=0.0)
    apart_yd = max((_apart_yd(before[key], after[key]) for key in both), default=0.0)
    print(f"  {len(both)} calls of both; instants at most {apart_ms:.2f} ms apart, spots at most {apart_yd:.3f} yd")
    for key in differing:
        print(f"  only {'before' if key in before else 'after'}: {' '.join(map(str, key))}")
    return len(differing)


def _encode_in_idle_time(clip: Path, recordings: Path, video: Path) -> None:
    """Run the rig's encoder to its end over a recording, beside the later ones that it leaves as they are."""
    for _ in range(_LATER):
        _recorded(clip, recordings, frames=2)
    encoder = RecordingEncoder(recordings, RecordingSettings(encode_again_below_gb=1e9), RigKey.generate())
    while encoder.next_video() is not None or read_index(index_path(video)).header.codec != "h264":
        time.sleep(0.5)
    encoder.close()


def _recorded(clip: Path, folder: Path, frames: int | None = None) -> Path:
    """The recording of a clip's frames, in the packets that a camera would send."""
    video = create_recording(folder, time.strftime("%Y%m%d-%H%M%S")) / "0001.mkv"
    segment: RecordingSegment | None = None
    with av.open(str(clip)) as container:
        stream = container.streams.video[0]
        rate = float(stream.average_rate or 30)
        for index, picture in enumerate(container.decode(stream)):
            if index == frames:
                break
            image = picture.to_ndarray(format="bgr24")
            _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
            packet = VideoPacket("mjpeg", packed.tobytes())
            if segment is None:
                size_px = (image.shape[1], image.shape[0])
                segment = RecordingSegment(video, packet, RecordingIndexHeader(clip.name, "mjpeg", size_px, rate))
            segment.add(CapturedFrame(index, round(index / rate * 1e9), 0, packet), packet)
    assert segment is not None, f"{clip}: holds no picture"
    segment.close()
    return video


def _calls(clip: Path, video: Path, out: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The calls of a recording, by kind, figures, verdict and how often that came before."""
    tracks, calls, beside = out.with_suffix(".tracks.jsonl"), out.with_suffix(".calls.jsonl"), clip.with_suffix("")
    truth = Path(f"{beside}.tracks.jsonl")
    named = ("--roster", str(truth)) if truth.is_file() else ()
    _downfield("track", str(video), "-c", f"{beside}.calibration.json", *named, "-o", str(tracks), "--overwrite")
    events = Path(f"{beside}.events.jsonl")
    declared = ("--events", str(events)) if events.is_file() else ()
    _downfield("judge", str(tracks), *declared, "-o", str(calls), "--overwrite")
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in calls.read_text().splitlines()[1:]:
        call = json.loads(line)
        name = (call["kind"], *call.get("players", ()), call.get("verdict", ""))
        number = sum(key[: len(name)] == name for key in found)
        found[*name, number] = call
    return found


def _apart_yd(one: dict[str, Any], other: dict[str, Any]) -> float:
    spots = one.get("spot_yd"), other.get("spot_yd")
    if None in spots:
        return 0.0
    here, there = (spot if isinstance(spot, list) else [spot] for spot in spots)
    return float(max(abs(a - b) for a, b in zip(here, there, strict=True)))


def _downfield(*words: str) -> None:
    done = subprocess.run((sys.executable, "-m", "downfield", *words), capture_output=True, text=True, check=False)
    if done.returncode not in {0, 3}:  # 3: little was tracked, or can be judged
        raise SystemExit(f"downfield {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")


if __name__ == "__main__":
    main()
