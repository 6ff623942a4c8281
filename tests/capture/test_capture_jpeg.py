"""JPEG pictures are unpacked whole or not at all."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from odd_videos import with_exif

from downfield.capture.jpeg import decode_jpeg, jpeg_size_px
from downfield.capture.sources.file_sources import VideoFile
from downfield.core.arrays import Image


def picture() -> Image:
    """A smooth one, which packing hardly changes."""
    x, y = np.meshgrid(np.arange(320), np.arange(180))
    return np.stack([x * 0.7, y * 1.3, 200 - x * 0.4], axis=2).astype(np.uint8)


def packed(image: Image, *options: int) -> bytes:
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 95, *options])[1].tobytes()


@pytest.mark.parametrize("sampling", [0x221111, 0x211111, 0x111111])
def test_a_picture_comes_out_as_it_went_in(sampling: int) -> None:
    out = decode_jpeg(packed(picture(), cv2.IMWRITE_JPEG_SAMPLING_FACTOR, sampling))
    assert out is not None
    assert np.abs(out.astype(int) - picture()).mean() < 2.0


def test_a_gray_picture_has_three_equal_colors() -> None:
    out = decode_jpeg(packed(np.asarray(cv2.cvtColor(picture(), cv2.COLOR_BGR2GRAY), dtype=np.uint8)))
    assert out is not None
    assert out.shape == (180, 320, 3)
    assert np.abs(np.diff(out.astype(int), axis=2)).max() <= 2


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9])
def test_a_torn_picture_is_none_and_the_next_is_whole(share: float) -> None:
    data = packed(picture())
    assert decode_jpeg(data[: int(share * len(data))]) is None
    assert decode_jpeg(data) is not None


def test_what_is_no_picture_is_none() -> None:
    assert decode_jpeg(b"hello" * 99) is None


def test_pictures_of_different_sizes_may_follow_each_other() -> None:
    small = np.ascontiguousarray(picture()[::2, ::2])
    shapes = [one.shape for image in (picture(), small, picture()) if (one := decode_jpeg(packed(image))) is not None]
    assert shapes == [(180, 320, 3), (90, 160, 3), (180, 320, 3)]


def test_a_recording_is_unpacked_to_the_last_bit_as_the_rig_unpacked_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    sent = [
        packed(np.asarray(np.clip(picture() + rng.normal(0, 20, (180, 320, 3)), 0, 255), np.uint8)) for _ in range(3)
    ]
    path = tmp_path / "recording.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mjpeg", rate=30)
        stream.height, stream.width = picture().shape[:2]
        stream.pix_fmt = "yuvj420p"
        for number, data in enumerate(sent):
            packet = av.Packet(data)
            packet.stream, packet.pts, packet.dts, packet.time_base = stream, number, number, Fraction(1, 30)
            container.mux(packet)
    read = [shot.decode().image for shot in VideoFile(path, paced=False).frames()]
    assert len(read) == len(sent)
    for image, data in zip(read, sent, strict=True):
        np.testing.assert_array_equal(image, decode_jpeg(data))


@pytest.mark.parametrize("options", [(), (cv2.IMWRITE_JPEG_PROGRESSIVE, 1), (cv2.IMWRITE_JPEG_RST_INTERVAL, 4)])
def test_the_size_of_a_picture_is_read_from_its_header(options: tuple[int, ...]) -> None:
    data = packed(picture(), *options)
    filled = data[:2] + b"\xff\xff" + data[2:]
    assert jpeg_size_px(data) == jpeg_size_px(filled) == (320, 180)
    header = data.index(b"\x00\xb4\x01\x40")  # height and width
    assert all(jpeg_size_px(data[:length]) is None for length in range(header + 4))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_phones_stream_is_turned_live_as_it_is_where_it_is_played_again(tmp_path: Path, orientation: int) -> None:
    data = with_exif(packed(picture()), orientation)
    path = tmp_path / "phone.mjpeg"
    path.write_bytes(data * 2)
    live = decode_jpeg(data)
    played = next(VideoFile(path, paced=False).frames()).image
    assert live is not None
    assert played is not None
    assert live.shape == ((180, 320, 3) if orientation < 5 else (320, 180, 3))
    assert np.array_equal(live, played)
