"""A file or a camera that declares a huge picture, or names other files, costs nothing and opens nothing."""

from __future__ import annotations

import os
import resource
import struct
import zlib
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from downfield.calibration.pictures import read_picture, read_pictures
from downfield.capture.jpeg import decode_jpeg
from downfield.capture.sources.file_sources import ImageFolder, VideoFile
from downfield.core.errors import InputError
from downfield.core.media.video_streams import MAX_PIXELS


def png(width: int, height: int) -> bytes:
    """Return a PNG that declares a size and holds nothing of it."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


def jpeg(width: int, height: int) -> bytes:
    """Return a JPEG of 16x16 pixels that declares another size."""
    data = bytearray(cv2.imencode(".jpg", np.full((16, 16, 3), 90, np.uint8))[1].tobytes())
    place = data.index(b"\xff\xc0") + 5
    data[place : place + 4] = struct.pack(">HH", height, width)
    return bytes(data)


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parametrize(("name", "data"), [("a.png", png(40_000, 40_000)), ("a.jpg", jpeg(60_000, 60_000))])
def test_a_still_that_declares_a_huge_picture_is_refused_by_its_header(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    before_mb = peak_mb()
    for read in (read_picture, read_pictures):
        with pytest.raises(InputError, match="64 million pixels"):
            read(tmp_path / name)
    with pytest.raises(InputError, match="64 million pixels"):
        ImageFolder(tmp_path)
    assert peak_mb() - before_mb < 300


def test_a_cameras_jpeg_that_declares_a_huge_picture_is_damaged() -> None:
    before_mb = peak_mb()
    assert decode_jpeg(jpeg(60_000, 60_000)) is None
    assert peak_mb() - before_mb < 300


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp", ".tiff", ".webp"])
def test_pictures_of_every_kind_within_the_bound_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    cv2.imwrite(str(path), np.full((48, 64, 3), 90, np.uint8))
    assert read_picture(path).shape == (48, 64, 3)
    assert MAX_PIXELS > 48 * 64


PLAYLISTS = {
    "a.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{video}\n#EXT-X-ENDLIST\n",
    "a.ffconcat": "ffconcat version 1.0\nfile '{video}'\n",
    "a.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 26\n",
}


@pytest.fixture
def video(tmp_path: Path) -> Path:
    path = tmp_path / "other.ts"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg2video", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for _ in range(25):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 90, np.uint8), format="bgr24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@pytest.mark.parametrize("name", [*PLAYLISTS, "a.mp4"])
def test_a_playlist_opens_no_other_file_whatever_it_is_called(tmp_path: Path, video: Path, name: str) -> None:
    assert len(list(VideoFile(video, paced=False).frames())) == 25
    text = PLAYLISTS.get(name, PLAYLISTS["a.ffconcat"])
    (tmp_path / name).write_text(text.format(video=video.name))
    with pytest.raises(InputError, match="not a readable video file"):
        VideoFile(tmp_path / name)
    with pytest.raises(InputError):
        read_pictures(tmp_path / name)


def test_a_pipe_that_is_named_as_a_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.mp4")
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(InputError, match="no such file"):
        VideoFile(tmp_path / "a.mp4")
    for read in (read_picture, read_pictures):
        with pytest.raises(InputError):
            read(tmp_path / "a.png")
    with pytest.raises(InputError):
        ImageFolder(tmp_path)
