from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from clip_frames import read_clip
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.arrays import Image
from downfield.core.errors import InputError, OutputError
from downfield.twin.film.film import ClipWriter


def _picture(level: int, size_px: tuple[int, int] = (64, 48)) -> Image:
    image = np.zeros((size_px[1], size_px[0], 3), dtype=np.uint8)
    image[:] = (level, 120, 230 - level)
    return image


@settings(max_examples=10)
@given(start_ns=st.integers(0, 10**14), gaps_ns=st.lists(st.integers(1_000_000, 200_000_000), min_size=1, max_size=30))
def test_every_frame_comes_back_with_its_time_to_the_nanosecond(
    tmp_path_factory: pytest.TempPathFactory, start_ns: int, gaps_ns: list[int]
) -> None:
    path = tmp_path_factory.mktemp("clip") / "a.mp4"
    times = [start_ns, *(start_ns + int(after) for after in np.cumsum(gaps_ns))]
    with ClipWriter(path, (64, 48), 30.0) as clip:
        for index, t_ns in enumerate(times):
            clip.add(_picture(index), t_ns)
    assert [t_ns for t_ns, _ in read_clip(path)] == times


def test_colors_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    with ClipWriter(path, (64, 48), 30.0, crf=10) as clip:
        for index in range(3):
            clip.add(_picture(60 + 40 * index), index * 33_333_333)
    for index, (_, image) in enumerate(read_clip(path)):
        assert np.abs(image.astype(int) - _picture(60 + 40 * index)).max() <= 5


def test_a_browser_can_start_a_clip_at_once_and_seek(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    with ClipWriter(path, (64, 48), 30.0) as clip:
        for index in range(60):
            clip.add(_picture(index), index * 33_333_333)
    head = path.read_bytes()
    assert head.index(b"moov") < head.index(b"mdat")
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        keys = [float(frame.time) for frame in container.decode(stream) if frame.key_frame and frame.time is not None]
    assert max(after - before for before, after in pairwise(keys)) <= 0.51


def test_an_odd_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="even"):
        ClipWriter(tmp_path / "a.mp4", (63, 48), 30.0)


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"file/a\.mp4"):
        ClipWriter(tmp_path / "file" / "a.mp4", (64, 48), 30.0)


def test_nothing_is_left_of_a_clip_that_failed(tmp_path: Path) -> None:
    clip = ClipWriter(tmp_path / "a.mp4", (64, 48), 30.0)
    clip.add(_picture(1), 0)
    clip.__exit__(ValueError, ValueError(), None)
    assert list(tmp_path.iterdir()) == []
