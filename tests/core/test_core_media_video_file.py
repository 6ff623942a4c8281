"""Videos are read upright, with their times, whatever made them, and past any damage."""

from __future__ import annotations

import gc
import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback_streams import picture
from odd_videos import FPS, SIZE_PX, with_exif, write_video

from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.media.video_file import VideoReader, count_packets, upright_bgr


def brightness(image: Image) -> int:
    """Return the number of the picture in a video of `write_video`, by its upper left corner."""
    return round(float(image[8:40, 8:70].mean()) / 20)


def read(path: Path) -> list[tuple[int, int | None]]:
    """Return the time, ms, and the number of every picture; None if damaged."""
    reader = VideoReader(path)
    try:
        images = [(found.t_ns, found.to_bgr()) for found in reader.pictures()]
        return [(round(t_ns / 1e6), None if image is None else brightness(image)) for t_ns, image in images]
    finally:
        reader.close()


def _frames_in_memory() -> int:
    return sum(isinstance(thing, av.VideoFrame) for thing in gc.get_objects())


@pytest.mark.parametrize("width_px", [None, 64])
def test_pictures_that_were_shown_leave_memory_without_a_collection(tmp_path: Path, width_px: int | None) -> None:
    write_video(tmp_path / "phone.mp4", rotation=(90, False, False))
    gc.collect()
    before = _frames_in_memory()
    gc.disable()
    try:
        reader = VideoReader(tmp_path / "phone.mp4")
        frames = (picture.frame for picture in reader.pictures())
        shown = sum(upright_bgr(frame, width_px).size > 0 for frame in frames if frame is not None)
        reader.close()
        left = _frames_in_memory() - before
    finally:
        gc.enable()
    assert shown > 4 > left


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
@pytest.mark.parametrize("mirrored", [(False, False), (True, False), (False, True)])
def test_a_phones_video_is_turned_and_mirrored_as_it_says(
    tmp_path: Path, degrees: int, mirrored: tuple[bool, bool]
) -> None:
    path = write_video(tmp_path / "phone.mp4", times=(0, 1), rotation=(degrees, *mirrored), options={"crf": "1"})
    expected = np.rot90(picture(0, SIZE_PX), degrees // 90)
    expected = expected[:, ::-1] if mirrored[0] else expected
    expected = expected[::-1] if mirrored[1] else expected
    reader = VideoReader(path)
    image = next(reader.pictures()).to_bgr()
    reader.close()
    assert image is not None
    assert image.shape == expected.shape
    assert reader.size_px == (image.shape[1], image.shape[0])
    smooth = [cv2.blur(np.ascontiguousarray(part), (9, 9)).astype(np.float64) for part in (image, expected)]
    assert np.abs(smooth[0] - smooth[1]).mean() < 12


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ten-bit.mp4", {"pixels": "yuv420p10le"}),
        ("full-chroma.mkv", {"pixels": "yuv444p"}),
        ("bare.h264", {"format_name": "h264"}),
        ("bare.hevc", {"format_name": "hevc", "codec": "libx265"}),
        ("bare.mjpeg", {"format_name": "mjpeg", "codec": "mjpeg", "pixels": "yuvj420p"}),
        ("transport.ts", {"format_name": "mpegts"}),
        ("recorder.avi", {"codec": "mjpeg", "pixels": "yuvj420p"}),
        ("cover.mp4", {"cover": True}),
        ("without-a-suffix", {"format_name": "mp4"}),
    ],
)
def test_every_picture_is_read_at_its_time(tmp_path: Path, name: str, kind: dict[str, object]) -> None:
    path = write_video(tmp_path / name, **kind)  # type: ignore[arg-type]
    reader = VideoReader(path)
    reader.close()
    assert reader.size_px == SIZE_PX
    found = read(path)
    assert [number for _, number in found] == list(range(12))
    began_ms = found[0][0]
    rate = 25 if name == "bare.mjpeg" else FPS  # which can't be known
    assert all(abs(t_ms - began_ms - number * 1000 / rate) <= 1 for number, (t_ms, _) in enumerate(found))
    assert count_packets(path) == 12


def test_a_video_of_variable_rate_keeps_its_times(tmp_path: Path) -> None:
    times = (0, 1, 2, 30, 31, 90, 91)
    found = read(write_video(tmp_path / "uneven.mp4", times=times))
    assert [t_ms for t_ms, _ in found] == [round(time * 1000 / FPS) for time in times]


@pytest.mark.parametrize(
    ("name", "kind", "aspect", "size_px"),
    [
        ("recorder.mp4", {}, Fraction(4, 3), (213, 96)),
        ("television.ts", {"format_name": "mpegts"}, Fraction(16, 11), (233, 96)),
        ("high.mkv", {"codec": "libx265"}, Fraction(10, 11), (160, 106)),
        ("turned.mp4", {"rotation": (90, False, False)}, Fraction(4, 3), (96, 213)),
        ("bare.h264", {"format_name": "h264"}, Fraction(4, 3), (213, 96)),
        ("rounded.mp4", {}, Fraction(100, 99), SIZE_PX),
        ("absurd.mp4", {}, Fraction(9, 1), SIZE_PX),
        ("print.mov", {"codec": "mjpeg", "pixels": "yuvj420p"}, Fraction(4, 3), SIZE_PX),
    ],
)
def test_a_recorders_picture_is_as_wide_as_it_is_shown(
    tmp_path: Path, name: str, kind: dict[str, object], aspect: Fraction, size_px: tuple[int, int]
) -> None:
    path = write_video(tmp_path / name, pixel_aspect=aspect, **kind)  # type: ignore[arg-type]
    reader = VideoReader(path)
    images = [found.to_bgr() for found in reader.pictures()]
    reader.close()
    assert reader.size_px == size_px
    assert {image.shape for image in images if image is not None} == {(size_px[1], size_px[0], 3)}
    assert len([image for image in images if image is not None]) == 12
    expected = cv2.resize(picture(20, SIZE_PX), size_px if size_px[0] > size_px[1] else size_px[::-1])
    if "rotation" in kind:
        expected = np.rot90(expected)
    assert images[1] is not None
    smooth = [cv2.blur(np.ascontiguousarray(part), (9, 9)).astype(np.float64) for part in (images[1], expected)]
    assert np.abs(smooth[0] - smooth[1]).mean() < 12, "the picture was not only widened"


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_with_the_note_of_a_phone_is_upright(tmp_path: Path, orientation: int) -> None:
    across, down = np.meshgrid(np.linspace(0, 250, 96), np.linspace(0, 250, 64))
    slopes = np.dstack([across, across / 2, down]).astype(np.uint8)  # no two of the eight ways look the same
    encoded = with_exif(cv2.imencode(".jpg", slopes)[1].tobytes(), orientation)
    path = tmp_path / "photo.jpg"
    path.write_bytes(encoded)
    (shown,) = VideoReader(path).pictures()
    image, expected = shown.to_bgr(), cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert expected is not None
    assert image.shape == expected.shape
    assert np.abs(image.astype(int) - expected).mean() < 3


def test_motion_jpeg_with_such_a_note_in_every_picture_is_read(tmp_path: Path) -> None:
    path = tmp_path / "camera.mjpeg"
    path.write_bytes(b"".join(with_exif(cv2.imencode(".jpg", picture(n))[1].tobytes(), 1) for n in range(5)))
    assert [shown.to_bgr() is not None for shown in VideoReader(path).pictures()] == [True] * 5


def test_what_an_edit_list_cuts_off_is_not_shown(tmp_path: Path) -> None:
    path = write_video(tmp_path / "cut.mp4", times=tuple(range(-3, 9)), options={"bf": "0"})
    assert read(path)[0] == (0, 3)
    assert len(read(path)) == count_packets(path) == 9


def test_two_recordings_in_one_file_are_one_after_the_other(tmp_path: Path) -> None:
    one = write_video(tmp_path / "one.ts", format_name="mpegts").read_bytes()
    (tmp_path / "two.ts").write_bytes(one + one)
    found = read(tmp_path / "two.ts")
    assert [number for _, number in found] == [*range(12), *range(12)]
    times_ms = [t_ms for t_ms, _ in found]
    assert all(20 <= after - before <= 50 for before, after in pairwise(times_ms))


def test_pictures_of_another_size_are_left_out(tmp_path: Path) -> None:
    one = write_video(tmp_path / "one.h264", format_name="h264", times=(0, 1)).read_bytes()
    two = write_video(tmp_path / "two.h264", format_name="h264", times=(0, 1), size_px=(192, 112)).read_bytes()
    (tmp_path / "both.h264").write_bytes(one + two + one)
    assert [number for _, number in read(tmp_path / "both.h264")] == [0, 1, None, None, 0, 1]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("intact")
    options = {"g": "8", "bf": "2"}
    return {
        "video.mkv": write_video(folder / "video.mkv", times=range(24), options=options).read_bytes(),
        "video.ts": write_video(folder / "video.ts", times=range(24), options=options).read_bytes(),
        "video.mp4": write_video(folder / "video.mp4", times=range(24), options=options).read_bytes(),
        "video.avi": write_video(
            folder / "video.avi", codec="mjpeg", pixels="yuvj420p", times=range(24), options={}
        ).read_bytes(),
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["video.mkv", "video.ts", "video.mp4", "video.avi"]),
    st.integers(0, 10_000),
    st.sampled_from(["flip", "zero", "insert", "cut"]),
)
def test_damage_anywhere_is_no_error_and_never_the_end(
    tmp_path: Path, intact: dict[str, bytes], name: str, seed: int, how: str
) -> None:
    chance, data = random.Random(seed), bytearray(intact[name])
    at = chance.randrange(3000, len(data) - 3000)
    if how == "cut":  # not before there is a picture
        at = max(at, len(data) // 3)
    if how == "flip":
        for _ in range(20):
            data[chance.randrange(2000, len(data) - 3000)] ^= 1 << chance.randrange(8)
    elif how == "zero":
        data[at : at + 600] = bytes(600)
    elif how == "insert" and name != "video.mp4":  # whose table of places holds no longer
        data[at:at] = chance.randbytes(300)
    path = tmp_path / name
    path.write_bytes(data[:at] if how == "cut" and name != "video.mp4" else data)
    found = read(path)
    assert [t_ms for t_ms, number in found if number is not None] == sorted(
        t_ms for t_ms, number in found if number is not None
    )
    if how in {"flip", "zero"} and name != "video.avi":
        assert len(found) >= 16
        assert any(number is not None for _, number in found[-8:])


def test_a_recording_that_was_cut_off_before_its_index_says_so(tmp_path: Path) -> None:
    whole = write_video(tmp_path / "whole.mp4").read_bytes()
    path = tmp_path / "phone.mp4"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(InputError, match="its end, where its index is, is missing"):
        VideoReader(path)
    path.write_bytes(whole[:32] + b"\0" * 5000)
    with pytest.raises(InputError, match="not a readable video file"):
        VideoReader(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\0" * 5000, b"#EXTM3U\nother.mp4\n", b"\xff\xd8\xff\xe0"])
def test_what_is_no_video_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"clip.mp4: not a readable video file|none of its pictures"):
        VideoReader(path)


def test_sound_with_a_cover_is_no_video(tmp_path: Path) -> None:
    path = tmp_path / "song.mp4"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("aac", rate=8000)
        still = out.add_stream("mjpeg", rate=1)
        still.width, still.height, still.pix_fmt = 64, 48, "yuvj420p"
        still.disposition = av.stream.Disposition.attached_pic
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 8000), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 8000
        cover = av.VideoFrame.from_ndarray(picture(1, (64, 48)), format="bgr24")
        out.mux([*still.encode(cover), *still.encode(), *stream.encode(frame), *stream.encode()])
    with pytest.raises(InputError, match="not a readable video"):
        VideoReader(path)


def test_a_video_without_any_picture_is_refused(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.avi", codec="mjpeg", pixels="yuvj420p", times=(0, 1))
    data = path.read_bytes().replace(b"\xff\xc0", b"\xff\x00").replace(b"\xff\xda", b"\xff\x00")
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"none of its pictures can be decoded|not a readable"):
        VideoReader(path)


@pytest.mark.parametrize("colors", ["yuv420p", "yuvj420p", "yuvj422p", "yuv444p", "nv12", "gray", "bgr24"])
@pytest.mark.parametrize("width_px", [480, 300])
def test_a_picture_scaled_in_its_own_colors_looks_as_one_scaled_afterwards(colors: str, width_px: int) -> None:
    across, down = np.meshgrid(np.linspace(0, 220, 640), np.linspace(0, 220, 360))
    image = np.stack([across, down, 220 - across], axis=2).astype(np.uint8)
    frame = av.VideoFrame.from_ndarray(image, format="bgr24").reformat(format=colors)
    whole, small = upright_bgr(frame), upright_bgr(frame, width_px)
    assert small.shape == (round(width_px * 9 / 32) * 2, width_px, 3)
    afterwards = cv2.resize(whole, small.shape[1::-1], interpolation=cv2.INTER_AREA)
    assert np.abs(small.astype(int) - afterwards).max() <= 6


@pytest.mark.parametrize("suffix", [".mkv", ".mp4", ".mov"])
def test_a_cover_that_its_file_does_not_call_one_is_not_the_video(tmp_path: Path, suffix: str) -> None:
    path = write_video(tmp_path / f"with-cover{suffix}", cover=True, is_cover_named=False)
    reader = VideoReader(path)
    assert reader.size_px == SIZE_PX
    assert len(list(reader.pictures())) == 12
    reader.close()
