"""Footage returns exactly the requested frame, from recordings and clips of any encoding, or a clear refusal."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from scripted_plays import BASE, FIELD
from test_rig_recording_recorder import MJPEG, RAW, captured_frame, record

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.core.scene import Contact, Figure, Player, Scene
from downfield.game.footage import CallMarks, FootageFrame
from downfield.game.published.game_topics import CallView
from downfield.officiating.calls import CallKind
from downfield.rig.live.annotation import Annotator
from downfield.rig.live.call_annotation import draw_call
from downfield.rig.recording.recorded_clip import bundled_demo
from downfield.rig.recording.recorded_footage import ClipFootage, RecordedFootage, decode_frame
from downfield.rig.recording.recording_library import RecordingIndexHeader, find_frames, index_path
from downfield.rig.recording.segment import RecordingSegment
from downfield.rig.sources.file_sources import VideoFile
from downfield.rig.sources.source import CapturedFrame

ALL = (0, 2**63 - 1)


def number_on(image: Image) -> float:
    """Return the number that `picture` wrote into the brightness."""
    return float(np.mean(image[5:35, 5:70]))


def striped(number: int) -> Image:
    """Return a picture that shows a number below 256 in eight stripes, white for 1."""
    image = np.zeros((90, 160, 3), np.uint8)
    for bit in range(8):
        image[:, 20 * bit : 20 * bit + 20] = 255 * (number >> bit & 1)
    return image


def number_in_stripes(image: Image) -> int:
    return sum(1 << bit for bit in range(8) if np.mean(image[:, 20 * bit : 20 * bit + 20]) > 127)


def clip(path: Path, count: int = 40, *, fps: int = 30, every_key: int = 250) -> Path:
    """Write an H.264 file with B-frames, whose pictures show their number."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=fps, options={"bf": "3", "g": str(every_key), "crf": "10"})
        stream.width, stream.height, stream.pix_fmt = 160, 90, "yuv420p"
        stream.time_base = Fraction(1, fps)
        for number in range(count):
            frame = av.VideoFrame.from_ndarray(striped(number), format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, fps)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def played(path: Path, count: int | None = None) -> tuple[ClipFootage, list[CapturedFrame]]:
    """Play the first frames of a clip; return its footage and those frames."""
    footage = ClipFootage(path, lambda: None)
    frames = list(VideoFile(path, paced=False).frames())[:count]
    for frame in frames:
        footage.frame_captured(frame)
    return footage, frames


@pytest.mark.parametrize("every_key", [250, 12, 1])
def test_every_frame_of_a_clip_is_the_one_that_was_played(tmp_path: Path, every_key: int) -> None:
    footage, frames = played(clip(tmp_path / "play.mp4", every_key=every_key))
    stills = footage.between(*ALL, time.time_ns())
    assert [(still.frame, still.t_ns) for still in stills] == [(frame.index, frame.t_ns) for frame in frames]
    for still, frame in zip(reversed(stills), reversed(frames), strict=True):  # backward, as a reviewer may step
        image = decode_frame(still)
        assert frame.image is not None
        assert np.array_equal(image, frame.image)
        assert number_in_stripes(image) == still.frame


def test_a_clip_offers_the_played_frames_each_once(tmp_path: Path) -> None:
    footage, frames = played(clip(tmp_path / "play.mp4"), 20)
    for frame in frames[:10]:  # and from its beginning again
        footage.frame_captured(frame)
    assert [still.frame for still in footage.between(*ALL, time.time_ns())] == list(range(20))
    some = footage.between(frames[3].t_ns, frames[5].t_ns, time.time_ns())
    assert [still.frame for still in some] == [3, 4, 5]


@pytest.mark.parametrize("raw", [False, True])
def test_every_frame_of_a_recording_is_exact_across_files_and_gaps(tmp_path: Path, *, raw: bool) -> None:
    frames = [captured_frame(index, raw=raw) for index in range(110)]
    videos = record(tmp_path, frames, RAW if raw else MJPEG, segment_s=1.0)
    assert len(videos) == 3 or raw
    stills = find_frames(tmp_path, frames[5].t_ns, frames[105].t_ns)
    assert [(still.frame, still.t_ns) for still in stills] == [(frame.index, frame.t_ns) for frame in frames[5:106]]
    watched = {
        frame.index: frame.decode().image for video in videos for frame in VideoFile(video, paced=False).frames()
    }
    for still in stills[::7]:
        assert np.array_equal(decode_frame(still), watched[still.frame])
        if not raw:
            live = next(frame for frame in frames if frame.index == still.frame)
            assert np.array_equal(decode_frame(still), live.decode().image)


def test_frames_with_the_same_time_in_the_file_are_told_apart(tmp_path: Path) -> None:
    frames = [captured_frame(index) for index in range(12)]
    stuck = [
        replace(frame, t_ns=frames[4].t_ns + frame.index - 4) if 4 < frame.index < 8 else frame for frame in frames[:10]
    ]
    record(tmp_path, stuck)
    stills = find_frames(tmp_path, *ALL)
    assert [still.rank for still in stills] == [0, 0, 0, 0, 0, 1, 2, 3, 0, 0]
    for still, frame in zip(stills, stuck, strict=True):
        assert np.array_equal(decode_frame(still), frame.decode().image)


def test_the_file_being_written_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = tmp_path / "20260101-120000"
    frames = [captured_frame(index) for index in range(40)]
    assert frames[0].packet is not None
    writing = RecordingSegment(folder / "0001.mkv", frames[0].packet, RecordingIndexHeader("cam", "mjpeg", (160, 90)))
    for frame in frames:
        assert frame.packet is not None
        writing.add(frame, frame.packet)
    stills = find_frames(tmp_path, frames[30].t_ns, frames[39].t_ns)
    assert np.array_equal(decode_frame(stills[0]), frames[30].decode().image)
    writing.close()
    with index_path(folder / "0001.mkv").open("a", encoding="utf-8") as index:  # indexed, and not on the disk yet
        index.write(f'{{"frame":99,"t_ns":{frames[39].t_ns + 20_000_000}}}\n')
    late = find_frames(tmp_path, frames[39].t_ns + 1, ALL[1])
    with pytest.raises(NotRecordedError, match=r"Frame 99 is not in 20260101-120000/0001\.mkv"):
        decode_frame(late[0])


def test_one_damaged_picture_is_refused_and_its_neighbors_are_not(tmp_path: Path) -> None:
    frames = [captured_frame(index) for index in range(9)]
    packed = frames[4].packet
    assert packed is not None
    frames[4] = replace(frames[4], packet=replace(packed, data=packed.data[:300]))
    record(tmp_path, frames)
    stills = find_frames(tmp_path, *ALL)
    with pytest.raises(NotRecordedError, match="damaged"):
        decode_frame(stills[4])
    assert np.array_equal(decode_frame(stills[5]), frames[5].decode().image)


def test_what_was_not_recorded_or_was_deleted_is_refused_with_what_to_do(tmp_path: Path) -> None:
    footage = RecordedFootage(tmp_path / "none")
    with pytest.raises(NotRecordedError, match="Switch recording on"):
        footage.between(10**18, 10**18 + 1, 0)
    (video,) = record(tmp_path, [captured_frame(index) for index in range(5)])
    stills = RecordedFootage(tmp_path).between(*ALL, 0)
    assert RecordedFootage(tmp_path).jpeg(stills[0], None)
    with pytest.raises(NotRecordedError, match="No recording holds"):
        RecordedFootage(tmp_path).between(0, stills[0].t_ns - 1, 0)
    video.unlink()
    with pytest.raises(NotRecordedError, match="deleted or damaged"):
        RecordedFootage(tmp_path).jpeg(stills[0], None)
    index_path(video).write_text("nonsense\n")
    assert find_frames(tmp_path, *ALL) == ()


def test_only_files_named_by_a_recorder_are_searched(tmp_path: Path) -> None:
    (video,) = record(tmp_path, [captured_frame(index) for index in range(5)])
    video.parent.rename(tmp_path / "holiday")
    assert find_frames(tmp_path, *ALL) == ()


def test_an_earlier_game_is_not_shown_with_frames_of_the_present_file(tmp_path: Path) -> None:
    before_ns = time.time_ns()
    footage, _ = played(clip(tmp_path / "play.mp4", 5))
    with pytest.raises(NotRecordedError, match="played before this file was opened"):
        footage.between(*ALL, before_ns)
    with pytest.raises(NotRecordedError, match="no frame of that time"):
        footage.between(10**15, 10**15 + 1, time.time_ns())


# --- what is drawn -------------------------------------------------------------------------------------------------

CARRIER, HITTER = "dark-28", "light-24"
PLAYERS = (Player(CARRIER, "dark"), Player(HITTER, "light"))


def calibration() -> Calibration:
    return read_calibration(bundled_demo().with_suffix(".calibration.json"))


def scene(gap_mm: float = 0.4) -> Scene:
    apart = BASE.length_mm + gap_mm
    figures = (
        Figure(CARRIER, "dark", 400, 300, 0, BASE.length_mm, BASE.width_mm),
        Figure(HITTER, "light", 400 + apart, 300, 180, BASE.length_mm, BASE.width_mm),
        Figure("dark-7", "dark", 700, 100, 0, BASE.length_mm, BASE.width_mm),
    )
    near = Contact(CARRIER, HITTER, gap_mm, 0.12, 0.03, "front", "front", 0.0, 18.0)
    return Scene(7, 10**9, "on", figures, (near,))


def tackle(kind: CallKind = "tackle", spot_yd: tuple[float, float] | None = (41.9, 27.5)) -> CallView:
    return CallView(
        id="t",
        kind=kind,
        verdict="called",
        standing="stands",
        text=f"{CARRIER} tackled by {HITTER}",
        t_ns=10**9,
        clauses=(),
        players=(CARRIER, HITTER),
        spot_yd=spot_yd,
        margin=-0.4,
        sigma=0.12,
        unit="mm",
        measured="-0.40 ± 0.12 mm",
        probability=0.97,
    )


def drawn(marks: CallMarks, annotator: Annotator | None) -> tuple[Image, Image]:
    """Return a gray picture drawn on, and where anything was drawn below the text."""
    gray = np.full((1080, 1920, 3), 90, np.uint8)
    out = draw_call(gray, annotator, marks, FootageFrame(7, 10**9, Path("clip.mp4"), 0))
    assert (gray == 90).all()
    changed = (out != gray).any(axis=2).astype(np.uint8)
    changed[:120] = 0
    return out, changed


@pytest.fixture
def annotator() -> Annotator:
    made = calibration()
    return Annotator(made.camera, made.field, PLAYERS)


def test_only_the_figures_of_the_call_are_outlined(annotator: Annotator) -> None:
    _, changed = drawn(CallMarks(tackle(spot_yd=None), scene(), PLAYERS), annotator)
    for figure in scene().figures:
        for corner in annotator.corners_px([figure])[0]:
            x, y = np.round(corner).astype(int)
            touched = changed[y - 2 : y + 3, x - 2 : x + 3].any()
            assert touched == (figure.id != "dark-7")


def test_the_spot_and_the_line_of_the_call_are_drawn(annotator: Annotator) -> None:
    def on(kind: CallKind, x_yd: float, los_yd: float | None = None) -> bool:
        """Return whether a line across the field is drawn there, far from every figure."""
        _, changed = drawn(CallMarks(tackle(kind), None, PLAYERS, los_yd), annotator)
        x, y = annotator.points_px(FIELD.to_mm(np.array([[x_yd, 10.0]])), 0.0)[0]
        return bool(changed[round(y), round(x) - 3 : round(x) + 4].any())

    assert on("tackle", 41.9)
    assert not on("tackle", 30.0)
    assert on("line_of_scrimmage", 30.0, 30.0)
    assert on("touchdown", 0.0)
    assert not on("touchdown", 41.9)
    assert not on("out_of_bounds", 41.9)


def test_the_margin_is_written_even_without_calibration_or_scene(annotator: Annotator) -> None:
    out, changed = drawn(CallMarks(tackle(), scene(), PLAYERS), None)
    assert not changed.any()
    with_scene, _ = drawn(CallMarks(tackle(spot_yd=None), scene(), PLAYERS), annotator)
    without, nothing = drawn(CallMarks(tackle(spot_yd=None), None, PLAYERS), annotator)
    assert not nothing.any()
    assert (out[:80] > 200).any()
    assert not np.array_equal(with_scene[54:84], without[54:84])  # the gap, or that the scene was not kept


def test_a_recorded_frame_is_drawn_on_with_the_calibration_beside_it(tmp_path: Path) -> None:
    (video,) = record(tmp_path, [captured_frame(index) for index in range(5)])
    footage = RecordedFootage(tmp_path)
    still = footage.between(*ALL, 0)[2]
    plain = _opened(footage.jpeg(still, None))
    assert abs(number_on(plain) - 2) < 6
    marks = CallMarks(tackle(), replace(scene(), frame=2, t_ns=still.t_ns), PLAYERS)
    with_text = _opened(footage.jpeg(still, marks))
    made = calibration()
    lens = replace(made.camera.lens, size_px=(160, 90), focal_px=(120.0, 120.0), center_px=(80.0, 45.0))
    path = video.with_suffix(".calibration.json")
    write_calibration(path, replace(made, camera=replace(made.camera, lens=lens)))
    marked = _opened(footage.jpeg(still, marks))
    assert plain.shape == with_text.shape == marked.shape
    assert not np.array_equal(plain, with_text)
    assert not np.array_equal(with_text, marked)


def _opened(jpeg: bytes) -> Image:
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return np.asarray(image, dtype=np.uint8)
