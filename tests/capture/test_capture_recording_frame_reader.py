"""Frames are exact at any frame rate and from any place, and what is damaged is refused, never replaced."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_videos import write_video
from striped_pictures import number_in_stripes, striped

from downfield.capture.footage import FootageFrame
from downfield.capture.recording import frame_reader
from downfield.capture.recording.frame_reader import READER_LIMITS, FrameReader
from downfield.capture.sources.file_sources import VideoFile
from downfield.core.errors import NotRecordedError

TICK_NS = 1_000_000


def film(path: Path, times_ms: list[int], *, every_key: int = 12) -> list[FootageFrame]:
    """Write a Matroska file of pictures that show their number, at any times; return its frames."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30, options={"g": str(every_key), "crf": "10", "bf": "0"})
        stream.width, stream.height, stream.pix_fmt = 160, 90, "yuv420p"
        stream.codec_context.time_base = Fraction(1, 1000)
        for number, at_ms in enumerate(times_ms):
            frame = av.VideoFrame.from_ndarray(striped(number), format="bgr24")
            frame.pts, frame.time_base = at_ms, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return [FootageFrame(number, at_ms * TICK_NS, path, at_ms * TICK_NS) for number, at_ms in enumerate(times_ms)]


def varying(count: int) -> list[int]:
    """Return uneven times, ms: 7 to 140 ms apart."""
    return list(accumulate((7 + (37 * number * number) % 134 for number in range(count - 1)), initial=0))


@pytest.mark.parametrize("times_ms", [[33 * number for number in range(60)], varying(60)], ids=["constant", "variable"])
def test_any_frame_in_any_order_is_the_one_asked_for(tmp_path: Path, times_ms: list[int]) -> None:
    frames = film(tmp_path / "play.mkv", times_ms)

    @given(st.lists(st.integers(0, 59), min_size=1, max_size=12))
    @settings(max_examples=25)
    def check(order: list[int]) -> None:
        reader = FrameReader()
        for number in order:
            assert number_in_stripes(reader.read(frames[number])) == number
        reader.close()

    check()


def test_steps_back_over_a_key_frame_are_exact_when_little_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "downfield.capture.recording.frame_reader.READER_LIMITS", type(READER_LIMITS)(kept_bytes=2 * 160 * 90 * 3 // 2)
    )
    frames = film(tmp_path / "play.mkv", varying(40))
    reader = FrameReader()
    for number in (*range(39, 0, -1), *range(0, 40, 3), 5, 4, 30):
        assert number_in_stripes(reader.read(frames[number])) == number


def test_a_key_frame_is_decoded_alone_where_no_other_picture_has_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = film(tmp_path / "play.mkv", [33 * number for number in range(60)], every_key=15)
    decoded: list[int] = []
    keep = frame_reader._OpenVideo._keep

    def counted(self: frame_reader._OpenVideo, key: tuple[int, int], size: int, picture: frame_reader.Stored) -> None:
        decoded.append(size)
        keep(self, key, size, picture)

    monkeypatch.setattr(frame_reader._OpenVideo, "_keep", counted)
    with av.open(str(tmp_path / "play.mkv"), "r") as container:
        keys = [number for number, packet in enumerate(container.demux(video=0)) if packet.is_keyframe]
    assert len(keys) > 3
    for before, key in pairwise(keys):
        for is_alone, count in ((True, 1), (False, key - before + 1)):
            decoded.clear()
            assert number_in_stripes(FrameReader().read(replace(frames[key], is_alone=is_alone))) == key
            assert len(decoded) == count


def test_a_truncated_file_gives_what_it_has_and_refuses_the_rest(tmp_path: Path) -> None:
    frames = film(tmp_path / "play.mkv", [33 * number for number in range(60)])
    content = (tmp_path / "play.mkv").read_bytes()
    (tmp_path / "play.mkv").write_bytes(content[: len(content) // 2])
    reader, shown = FrameReader(), []
    for frame in frames:
        try:
            shown.append((frame.frame, number_in_stripes(reader.read(frame))))
        except NotRecordedError:
            continue
    assert 5 < len(shown) < 55
    assert all(frame == number for frame, number in shown)


def test_damage_inside_a_file_never_shows_another_frame(tmp_path: Path) -> None:
    path = tmp_path / "play.mkv"
    frames = film(path, [33 * number for number in range(60)])
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 400] = bytes(400)
    path.write_bytes(content)
    reader, refused = FrameReader(), 0
    for frame in frames:
        try:
            assert number_in_stripes(reader.read(frame)) == frame.frame
        except NotRecordedError:
            refused += 1
    assert 0 < refused < 50  # the damaged part of the file, and what needs it


def test_a_file_that_is_replaced_or_deleted_while_it_is_open_is_noticed(tmp_path: Path) -> None:
    frames = film(tmp_path / "play.mkv", [33 * number for number in range(30)])
    reader = FrameReader()
    assert number_in_stripes(reader.read(frames[20])) == 20
    film(tmp_path / "other.mkv", [33 * number for number in range(10)])
    (tmp_path / "other.mkv").replace(tmp_path / "play.mkv")
    with pytest.raises(NotRecordedError):
        reader.read(frames[20])
    assert number_in_stripes(reader.read(frames[4])) == 4
    (tmp_path / "play.mkv").unlink()
    with pytest.raises(NotRecordedError, match="deleted or damaged"):
        reader.read(frames[4])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("phone.mp4", {"rotation": (90, True, False)}),
        ("bare.h264", {"format_name": "h264"}),
        ("cover.mp4", {"cover": True}),
        ("transport.ts", {"format_name": "mpegts"}),
        ("recorder.mp4", {"pixel_aspect": Fraction(3, 2)}),
    ],
)
def test_evidence_shows_the_picture_that_was_played(tmp_path: Path, name: str, kind: dict[str, object]) -> None:
    path = write_video(tmp_path / name, **kind)  # type: ignore[arg-type]
    reader = FrameReader()
    frames = list(VideoFile(path, paced=False).frames())
    assert len(frames) == 12
    for frame in [*frames[::-3], frames[1]]:
        still, played = FootageFrame(frame.index, frame.t_ns, path, frame.t_ns), frame.decode().image
        assert np.array_equal(reader.read(still), played)
        height, width = played.shape[:2]
        small = reader.read_scaled(still, width // 2)
        assert small.size_px == (width, height)
        shape = (round(height / 4) * 2, width // 4 * 2)
        assert small.image.shape == (*shape, 3)
        coarse = [
            cv2.blur(image, (9, 9))[8:-8:8, 8:-8:8].astype(int)
            for image in (small.image, cv2.resize(played, shape[::-1]))
        ]
        assert np.abs(coarse[0] - coarse[1]).mean() < 4
        assert np.array_equal(reader.read_scaled(still, width).image, played)
    reader.close()
