"""The footage: the very picture that is asked for, out of recordings and clips however packed; or a clear no."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from hand_plays import BASE, FIELD
from test_rig_recording import MJPEG, RAW, record, shot

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.core.scene import Contact, Figure, Player, Scene
from downfield.game.footage import CallMarks, FootageFrame
from downfield.game.published.game_topics import CallView
from downfield.officiating.calls import CallKind
from downfield.rig.live.annotation import Annotator
from downfield.rig.live.call_annotation import draw_call
from downfield.rig.recording.clip import bundled_demo
from downfield.rig.recording.footage import ClipFootage, RecordedFootage
from downfield.rig.recording.frame_access import unpack
from downfield.rig.recording.index import RecordingIndexHeader, index_of
from downfield.rig.recording.lookup import recorded
from downfield.rig.recording.segment import RecordingSegment
from downfield.rig.sources.source import CapturedFrame
from downfield.rig.sources.video_file import VideoFile

ALL = (0, 2**63 - 1)


def number_on(image: Image) -> float:
    """The number that `picture` wrote into a picture's brightness."""
    return float(np.mean(image[5:35, 5:70]))


def striped(number: int) -> Image:
    """A picture that shows a number below 256 in eight stripes, white for 1."""
    image = np.zeros((90, 160, 3), np.uint8)
    for bit in range(8):
        image[:, 20 * bit : 20 * bit + 20] = 255 * (number >> bit & 1)
    return image


def number_in_stripes(image: Image) -> int:
    return sum(1 << bit for bit in range(8) if np.mean(image[:, 20 * bit : 20 * bit + 20]) > 127)


def clip(path: Path, count: int = 40, *, fps: int = 30, every_key: int = 250) -> Path:
    """An H.264 file with B-frames, whose pictures carry their number."""
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
    """A clip of which so many pictures were played, with those."""
    footage = ClipFootage(path, lambda: None)
    frames = list(VideoFile(path, paced=False).frames())[:count]
    for one in frames:
        footage.shot(one)
    return footage, frames


@pytest.mark.parametrize("every_key", [250, 12, 1])
def test_every_picture_of_a_clip_is_the_very_one_that_was_played(tmp_path: Path, every_key: int) -> None:
    footage, frames = played(clip(tmp_path / "play.mp4", every_key=every_key))
    stills = footage.between(*ALL, time.time_ns())
    assert [(still.frame, still.t_ns) for still in stills] == [(one.index, one.t_ns) for one in frames]
    for still, one in zip(reversed(stills), reversed(frames), strict=True):  # backward, as a reviewer may step
        image = unpack(still)
        assert one.image is not None
        assert np.array_equal(image, one.image)
        assert number_in_stripes(image) == still.frame


def test_a_clip_shows_what_was_played_and_each_picture_once(tmp_path: Path) -> None:
    footage, frames = played(clip(tmp_path / "play.mp4"), 20)
    for one in frames[:10]:  # and from its beginning again
        footage.shot(one)
    assert [still.frame for still in footage.between(*ALL, time.time_ns())] == list(range(20))
    some = footage.between(frames[3].t_ns, frames[5].t_ns, time.time_ns())
    assert [still.frame for still in some] == [3, 4, 5]


@pytest.mark.parametrize("raw", [False, True])
def test_every_picture_of_a_recording_is_the_very_one_across_files_and_gaps(tmp_path: Path, *, raw: bool) -> None:
    frames = [shot(index, raw=raw) for index in range(110)]
    videos = record(tmp_path, frames, RAW if raw else MJPEG, segment_s=1.0)
    assert len(videos) == 3 or raw
    stills = recorded(tmp_path, frames[5].t_ns, frames[105].t_ns)
    assert [(still.frame, still.t_ns) for still in stills] == [(one.index, one.t_ns) for one in frames[5:106]]
    watched = {one.index: one.frame().image for video in videos for one in VideoFile(video, paced=False).frames()}
    for still in stills[::7]:
        assert np.array_equal(unpack(still), watched[still.frame])
        if not raw:
            live = next(one for one in frames if one.index == still.frame)
            assert np.array_equal(unpack(still), live.frame().image)


def test_pictures_with_the_same_time_in_the_file_are_told_apart(tmp_path: Path) -> None:
    frames = [shot(index) for index in range(12)]
    stuck = [replace(one, t_ns=frames[4].t_ns + one.index - 4) if 4 < one.index < 8 else one for one in frames[:10]]
    record(tmp_path, stuck)
    stills = recorded(tmp_path, *ALL)
    assert [still.rank for still in stills] == [0, 0, 0, 0, 0, 1, 2, 3, 0, 0]
    for still, one in zip(stills, stuck, strict=True):
        assert np.array_equal(unpack(still), one.frame().image)


def test_the_file_that_is_being_written_is_looked_into_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = tmp_path / "20260101-120000"
    frames = [shot(index) for index in range(40)]
    assert frames[0].packed is not None
    writing = RecordingSegment(folder / "0001.mkv", frames[0].packed, RecordingIndexHeader("cam", "mjpeg", (160, 90)))
    for one in frames:
        assert one.packed is not None
        writing.add(one, one.packed)
    stills = recorded(tmp_path, frames[30].t_ns, frames[39].t_ns)
    assert np.array_equal(unpack(stills[0]), frames[30].frame().image)
    writing.close()
    with index_of(folder / "0001.mkv").open("a", encoding="utf-8") as index:  # told, and not on the disk yet
        index.write(f'{{"frame":99,"t_ns":{frames[39].t_ns + 20_000_000}}}\n')
    late = recorded(tmp_path, frames[39].t_ns + 1, ALL[1])
    with pytest.raises(NotRecordedError, match=r"frame 99 is not in 20260101-120000/0001\.mkv"):
        unpack(late[0])


def test_one_broken_picture_is_refused_and_those_beside_it_are_not(tmp_path: Path) -> None:
    frames = [shot(index) for index in range(9)]
    packed = frames[4].packed
    assert packed is not None
    frames[4] = replace(frames[4], packed=replace(packed, data=packed.data[:300]))
    record(tmp_path, frames)
    stills = recorded(tmp_path, *ALL)
    with pytest.raises(NotRecordedError, match="broken"):
        unpack(stills[4])
    assert np.array_equal(unpack(stills[5]), frames[5].frame().image)


def test_what_was_never_recorded_or_is_gone_is_said_with_what_to_do(tmp_path: Path) -> None:
    footage = RecordedFootage(tmp_path / "none")
    with pytest.raises(NotRecordedError, match="switch recording on"):
        footage.between(10**18, 10**18 + 1, 0)
    (video,) = record(tmp_path, [shot(index) for index in range(5)])
    stills = RecordedFootage(tmp_path).between(*ALL, 0)
    assert RecordedFootage(tmp_path).jpeg(stills[0], None)
    with pytest.raises(NotRecordedError, match="no recording holds"):
        RecordedFootage(tmp_path).between(0, stills[0].t_ns - 1, 0)
    video.unlink()
    with pytest.raises(NotRecordedError, match="deleted or damaged"):
        RecordedFootage(tmp_path).jpeg(stills[0], None)
    index_of(video).write_text("nonsense\n")
    assert recorded(tmp_path, *ALL) == ()


def test_only_files_that_a_recorder_named_are_looked_into(tmp_path: Path) -> None:
    (video,) = record(tmp_path, [shot(index) for index in range(5)])
    video.parent.rename(tmp_path / "holiday")
    assert recorded(tmp_path, *ALL) == ()


def test_a_game_from_before_is_not_shown_with_pictures_of_the_file_open_now(tmp_path: Path) -> None:
    before_ns = time.time_ns()
    footage, _ = played(clip(tmp_path / "play.mp4", 5))
    with pytest.raises(NotRecordedError, match="played before the file"):
        footage.between(*ALL, before_ns)
    with pytest.raises(NotRecordedError, match="no picture of that instant"):
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
    """A gray picture, drawn on, and where anything was drawn below the words."""
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


def test_the_figures_concerned_are_outlined_where_they_are_seen_and_nobody_else(annotator: Annotator) -> None:
    _, changed = drawn(CallMarks(tackle(spot_yd=None), scene(), PLAYERS), annotator)
    for figure in scene().figures:
        for corner in annotator.corners_px([figure])[0]:
            x, y = np.round(corner).astype(int)
            touched = changed[y - 2 : y + 3, x - 2 : x + 3].any()
            assert touched == (figure.id != "dark-7")


def test_the_spot_and_the_line_concerned_are_drawn(annotator: Annotator) -> None:
    def on(kind: CallKind, x_yd: float, los_yd: float | None = None) -> bool:
        """Whether a line across the field is drawn there, far from everybody."""
        _, changed = drawn(CallMarks(tackle(kind), None, PLAYERS, los_yd), annotator)
        x, y = annotator.points_px(FIELD.to_mm(np.array([[x_yd, 10.0]])), 0.0)[0]
        return bool(changed[round(y), round(x) - 3 : round(x) + 4].any())

    assert on("tackle", 41.9)
    assert not on("tackle", 30.0)
    assert on("line_of_scrimmage", 30.0, 30.0)
    assert on("touchdown", 0.0)
    assert not on("touchdown", 41.9)
    assert not on("out_of_bounds", 41.9)


def test_words_tell_the_margin_even_without_calibration_or_scene(annotator: Annotator) -> None:
    out, changed = drawn(CallMarks(tackle(), scene(), PLAYERS), None)
    assert not changed.any()
    with_scene, _ = drawn(CallMarks(tackle(spot_yd=None), scene(), PLAYERS), annotator)
    without, nothing = drawn(CallMarks(tackle(spot_yd=None), None, PLAYERS), annotator)
    assert not nothing.any()
    assert (out[:80] > 200).any()
    assert not np.array_equal(with_scene[54:84], without[54:84])  # the gap, or that it is not kept


def test_a_recorded_picture_is_drawn_on_with_the_calibration_beside_it_and_plain_is_untouched(tmp_path: Path) -> None:
    (video,) = record(tmp_path, [shot(index) for index in range(5)])
    footage = RecordedFootage(tmp_path)
    still = footage.between(*ALL, 0)[2]
    plain = _opened(footage.jpeg(still, None))
    assert abs(number_on(plain) - 2) < 6
    marks = CallMarks(tackle(), replace(scene(), frame=2, t_ns=still.t_ns), PLAYERS)
    words = _opened(footage.jpeg(still, marks))
    made = calibration()
    lens = replace(made.camera.lens, size_px=(160, 90), focal_px=(120.0, 120.0), center_px=(80.0, 45.0))
    path = video.with_suffix(".calibration.json")
    write_calibration(path, replace(made, camera=replace(made.camera, lens=lens)))
    marked = _opened(footage.jpeg(still, marks))
    assert plain.shape == words.shape == marked.shape
    assert not np.array_equal(plain, words)
    assert not np.array_equal(words, marked)


def _opened(jpeg: bytes) -> Image:
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return np.asarray(image, dtype=np.uint8)
