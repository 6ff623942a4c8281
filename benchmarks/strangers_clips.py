"""Make clips of strangers: plays of the twin's physics, drawn as `strangers.py` draws its stills.

Run: BLENDER_PYTHON=.../python python benchmarks/strangers_clips.py FOLDER [--count 8] [--first 0]

Where figures stand, walk, meet and fall comes from the twin's physics, on fields and bases of the strangers' own sizes;
everything that is seen comes from the strangers' code. FOLDER gets the files of `downfield twin render` (clip,
calibration, tracks, truth, declarations); how much of a base is seen is not in them. `strangers_chain.py` measures the
clips, to report and never to train or to tune. Clips to find faults in have other numbers, from 100 on (`--first`),
and a folder of their own. An interrupted run goes on with the next frame.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pinhole import Pinhole, covering
from scipy.spatial.transform import Rotation
from strangers import Webcam, lens_maps, pinhole_order, plain
from strangers_plays import StrangePlay, draw_play
from strangers_scene import draw_base_kind, draw_camera, draw_figure, draw_hand, draw_lamps, draw_room, draw_team

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.calibration.camera import Camera
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.officiating.events import EventsHeader, write_events
from downfield.twin.film.film import ClipWriter
from downfield.twin.physics.truth import by_frame
from downfield.twin.physics.truth_file import TruthFrame, TruthHeader, write_truth
from downfield.twin.plays.recording import PlayRecording
from downfield.twin.table.snapshot import FigurePose, Snapshot

Array = NDArray[np.float64]
Rng = np.random.Generator

SEED = 78_000
SIZE_PX = (1280, 720)
SAMPLES = 1  # denoised; a webcam hides what that leaves
_AROUND_MM = 45.0  # around figures, for their bodies and shadows
_STILL_MM = 0.03  # a smaller change of any pose is not seen
_LYING = 0.7  # cosine of the tilt from which a figure's body is kept above the board


def main() -> None:
    """Make the clips, or the missing part of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=8, help="clips the set is to have")
    parser.add_argument("--first", type=int, default=0, help="number of the first clip; those below 100 are reported")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of the path tracer, per pixel")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    python = os.environ.get("BLENDER_PYTHON")
    if not python:
        parser.error("set BLENDER_PYTHON to a Python that has bpy (strangers.py says how)")
    options.folder.mkdir(parents=True, exist_ok=True)
    for number in range(options.first, options.first + options.count):
        name = options.folder / f"{number:02d}"
        if not name.with_suffix(".mp4").is_file():
            make_clip(number, name, python, {"samples": options.samples, "threads": options.threads})
            print(f"{number - options.first + 1} of {options.count}", flush=True)


def make_clip(number: int, name: Path, python: str, quality: dict[str, int]) -> None:
    """Draw one clip and write it with its truth; everything about it is a function of its number."""
    frames = name.with_suffix(".frames")
    frames.mkdir(exist_ok=True)
    rng = np.random.default_rng([SEED, number])
    played, camera, order = clip_scene(number, rng, frames, quality)
    pinhole = covering(camera.lens)
    mark_changes(order["frames"], camera, pinhole)
    scene = json.dumps(order, default=plain)
    if (frames / "scene.json").is_file() and (frames / "scene.json").read_text() != scene:
        for stale in frames.glob("[0-9]*.png"):
            stale.unlink()  # frames of two scenes don't make one clip
    (frames / "scene.json").write_text(scene)
    script = Path(__file__).with_name("strangers_blender.py")
    done = subprocess.run(
        (python, str(script), str(frames / "scene.json"), str(frames)), capture_output=True, text=True, check=False
    )
    pictures = [frames / f"{frame['same_as']:04d}.png" for frame in order["frames"]]
    if not all(picture.is_file() for picture in pictures):
        raise SystemExit(f"clip {number}: Blender stopped: {done.stderr.strip()[-400:]}")
    _write_truth(name, played.recording, camera, number)
    _write_film(name, played.recording, list(_whole(pictures)), (camera, pinhole), rng)
    for file in frames.iterdir():
        file.unlink()
    frames.rmdir()


def clip_scene(
    number: int, rng: Rng, folder: Path, quality: dict[str, int]
) -> tuple[StrangePlay, Camera, dict[str, Any]]:
    """Return the play, the camera and the scene of a clip, as the Blender script reads it.

    Args:
        number: of the clip.
        rng: of its looks.
        folder: gets the print.
        quality: of the pictures.
    """
    kinds = (draw_base_kind(rng) | {"front": "square"}, draw_base_kind(rng) | {"front": "square"})
    played = draw_play(number, rng, kinds, folder / "field.toml")
    camera = draw_camera(rng, played.printed, SIZE_PX)
    cv2.imwrite(str(folder / "print.png"), played.printed.image)
    order = _order(rng, played, kinds) | quality
    order |= {"pinhole": pinhole_order(covering(camera.lens), camera), "print": str(folder / "print.png")}
    return played, camera, order


def _order(rng: Rng, played: StrangePlay, kinds: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """The scene and its frames, as the Blender script reads them."""
    teams = (draw_team(rng), draw_team(rng))
    recording = played.recording
    figures = []
    for player in recording.script.players:
        side = int(player.jersey == "light")
        figure = draw_figure(rng, kinds[side], teams[side], (0.0, 0.0), 0.0, fallen=False)
        while player.id == played.carrier and figure["hold"] is None:
            figure = draw_figure(rng, kinds[side], teams[side], (0.0, 0.0), 0.0, fallen=False)
        figures.append(figure)
    look = {"hand": int(rng.integers(1 << 30)), "radius": float(rng.uniform(1.5, 3.0))}
    holder = [player.id for player in recording.script.players].index(played.carrier)
    frames = []
    for snapshot in recording.snapshots:
        poses = [_pose(pose, figure) for pose, figure in zip(snapshot.figures, figures, strict=True)]
        ball = _ball(snapshot, poses[holder], figures[holder], look["radius"])
        frames.append({"poses": [pose.tolist() for pose in poses], "hands": _hands(snapshot, look), "ball": ball})
    room = draw_room(rng, played.printed)
    return {"figures": figures, "frames": frames, "lamps": draw_lamps(rng, played.printed)} | room


def _pose(pose: FigurePose, figure: dict[str, Any]) -> Array:
    """A figure's pose, shape (4, 4); a lying one is lifted so that no part of its body is in the board."""
    out = np.eye(4)
    w, x, y, z = pose.rotation
    out[:3, :3] = Rotation.from_quat((x, y, z, w)).as_matrix()
    out[:3, 3] = pose.position_mm
    if out[2, 2] < _LYING:
        balls = np.array([*figure["shirt"], *figure["pants"], *figure["skin"], figure["helmet"]])
        lowest = (balls[:, :3] @ out[2, :3] - balls[:, 3]).min() + out[2, 3]
        out[2, 3] -= min(float(lowest), 0.0)
    return out


def _ball(snapshot: Snapshot, pose: Array, holder: dict[str, Any], radius: float) -> dict[str, Any] | None:
    if snapshot.ball is None:
        return None
    carried = snapshot.ball.carrier is not None
    at = pose[:3, :3] @ np.array(holder["hold"]) + pose[:3, 3] if carried else np.array(snapshot.ball.position_mm)
    radii = [1.6 * radius, radius, radius]
    return {"at": at.tolist(), "radii": radii, "color": [0.36, 0.18, 0.09], "turn": 0.5, "pitch": 0.2}


def _hands(snapshot: Snapshot, look: dict[str, Any]) -> list[dict[str, Any]]:
    out = []
    for number, hand in enumerate(snapshot.hands):
        tip, elbow = np.array(hand.fingertip_mm), np.array(hand.elbow_mm)
        wrist = tip + 150.0 * (elbow - tip) / max(float(np.linalg.norm(elbow - tip)), 1.0)
        out.append(draw_hand(np.random.default_rng([look["hand"], number]), tip, wrist, elbow))
    return out


def mark_changes(frames: list[dict[str, Any]], camera: Camera, pinhole: Pinhole) -> None:
    """Add to each frame the earlier frame that looks the same, and the part of the picture that changes in the clip.

    Args:
        frames: with their poses, hands and ball; each gets ``same_as``, a frame's number, and ``part``, shares of the
            picture from its lower left corner, None for the whole picture.
        camera: of the clip.
        pinhole: its ideal picture.
    """
    ends, around = [], np.array([_AROUND_MM, _AROUND_MM, 50.0])
    for frame in frames:
        at = np.array(frame["poses"])[:, :3, 3]
        ends += [at.min(axis=0) - around, at.max(axis=0) + around]
    low, high = np.min(ends, axis=0), np.max(ends, axis=0)
    box = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (0.0, high[2])])
    rays = box @ camera.board_to_camera.T + np.array(camera.translation_mm)
    pixels = rays[:, :2] / rays[:, 2:] * pinhole.focal_px + pinhole.center_px
    shares = np.clip(pixels / np.array(pinhole.size_px), 0, 1)
    (left, top), (right, bottom) = shares.min(axis=0), shares.max(axis=0)
    before = 0
    for number, frame in enumerate(frames):
        moved = np.abs(np.array(frame["poses"]) - np.array(frames[before]["poses"])).max()
        if moved > _STILL_MM or frame["hands"] or frames[before]["hands"]:
            before = number
        frame["same_as"] = before
        whole = number == 0 or frame["hands"]
        frame["part"] = None if whole else [float(left), float(1 - bottom), float(right), float(1 - top)]


def _whole(pictures: list[Path]) -> Iterator[NDArray[np.uint8]]:
    """Yield the frames, the parts that were not drawn taken from the first."""
    first: NDArray[np.uint8] | None = None
    for picture in pictures:
        image = cv2.imread(str(picture), cv2.IMREAD_UNCHANGED)
        if image is None:
            raise SystemExit(f"{picture} can't be read; delete it and run again")
        first = np.asarray(image[:, :, :3], dtype=np.uint8) if first is None else first
        yield np.where(image[:, :, 3:] > 0, image[:, :, :3], first).astype(np.uint8)


def _write_truth(name: Path, recording: PlayRecording, camera: Camera, number: int) -> None:
    field, script = recording.field, recording.script
    times_ns = [snapshot.t_ns for snapshot in recording.snapshots]
    happened = by_frame(recording.happened, times_ns)
    truths = [TruthFrame(k, t_ns, camera, (), tuple(happened[k])) for k, t_ns in enumerate(times_ns)]
    write_calibration(name.with_suffix(".calibration.json"), Calibration(field, camera, "truth"))
    header = TracksHeader(field, script.players, script.fps, source=f"strangers: {script.name}")
    write_tracks(name.with_suffix(".tracks.jsonl"), header, recording.scenes)
    write_truth(name.with_suffix(".truth.jsonl"), TruthHeader(field, script.players, script.fps, number), truths)
    write_events(name.with_suffix(".events.jsonl"), EventsHeader(game=script.name), recording.events)


def _write_film(
    name: Path, recording: PlayRecording, pictures: list[NDArray[np.uint8]], view: tuple[Camera, Pinhole], rng: Rng
) -> None:
    """Develop the frames by one webcam and write them as a clip."""
    camera, pinhole = view
    maps = lens_maps(pinhole, camera.lens)
    webcam = Webcam.draw(rng, rng.uniform(0.4, 1.1))
    with ClipWriter(name.with_suffix(".mp4"), camera.lens.size_px, recording.script.fps) as clip:
        for ideal, snapshot in zip(pictures, recording.snapshots, strict=True):
            seen = np.asarray(cv2.remap(ideal, *maps, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
            clip.add(webcam.develop(seen, rng.normal(0, 1, seen.shape).astype(np.float32)), snapshot.t_ns)


if __name__ == "__main__":
    main()
