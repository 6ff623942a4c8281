"""Motion JPEG that is encoded again has the same frames at the same times, is smaller, and is still what was sealed."""

from __future__ import annotations

import os
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from recorded_frames import MJPEG, RAW, captured_frame, record
from waiting import wait_until

from downfield.capture.recording import encoding_again
from downfield.capture.recording.encoding_again import RecordingEncoder, beside, encode_again, end_begun, put_in_place
from downfield.capture.recording.frame_reader import FrameReader
from downfield.capture.recording.recording_library import frames_of, index_path, read_index
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.recording.segment import compare_recordings, keep_statement, seal_of
from downfield.core.errors import DownfieldError
from downfield.core.platform import processes
from downfield.game.records.owner import rig_id
from downfield.store.sealing.signing import RigKey

KEY = RigKey.generate()
RIG = rig_id(KEY.public_text)


def test_it_has_the_same_frames_at_the_same_times_and_shows_the_same(tmp_path: Path) -> None:
    (video,) = record(tmp_path, [captured_frame(index) for index in range(60)])
    reader = FrameReader()
    frames, before = tuple(read_index(index_path(video))), [reader.read(still) for still in frames_of(video)]
    size, dated_ns = video.stat().st_size, video.stat().st_mtime_ns
    encode_again(video)
    assert put_in_place(video, KEY)
    assert not list(tmp_path.rglob(".again-*"))
    assert video.stat().st_size < size
    assert video.stat().st_mtime_ns == dated_ns
    header = read_index(index_path(video)).header
    assert (header.codec, header.copied, header.size_px) == ("h264", False, MJPEG.size_px)
    assert tuple(read_index(index_path(video))) == frames
    after = [reader.read(still) for still in frames_of(video)]
    reader.close()
    differences = [np.abs(a.astype(float) - b).mean() for a, b in zip(before, after, strict=True)]
    assert max(differences) < 15.0, "levels of 255; two of these noisy pictures differ by 47"


def test_what_its_rig_encoded_again_is_what_was_sealed_and_nothing_else_is(tmp_path: Path) -> None:
    (video,) = record(tmp_path, [captured_frame(index) for index in range(60)])
    seals = [seal_of(video)]
    encode_again(video)
    put_in_place(video, KEY)
    assert list(compare_recordings(tmp_path, seals, RIG)) == []
    for rig in ("", rig_id(RigKey.generate().public_text)):
        assert len(list(compare_recordings(tmp_path, seals, rig))) == 2, "another's word for it is taken"
    statement = video.with_suffix(".again.json")
    said = statement.read_text()
    statement.write_text(said.replace(RIG, RIG).replace('"sealed":{', '"sealed":{"x":"y",'))
    assert len(list(compare_recordings(tmp_path, seals, RIG))) == 2, "an altered statement is taken"
    statement.write_text(said)
    video.write_bytes(video.read_bytes() + b"more")
    (altered,) = compare_recordings(tmp_path, seals, RIG)
    assert altered.endswith("0001.mkv: the file was altered.")
    statement.unlink()
    assert len(list(compare_recordings(tmp_path, seals, RIG))) == 2


@pytest.mark.parametrize(("stated", "moved"), [(False, False), (True, False), (True, True)])
def test_what_a_kill_interrupted_is_ended_as_a_whole_or_not_begun(tmp_path: Path, *, stated: bool, moved: bool) -> None:
    (video,) = record(tmp_path, [captured_frame(index) for index in range(40)])
    seals, made = [seal_of(video)], beside(video)
    encode_again(video)
    if stated:
        keep_statement(video, made, KEY)
    if moved:
        index_path(made).replace(index_path(video))
    end_begun(tmp_path)
    assert not list(tmp_path.rglob(".again-*"))
    assert read_index(index_path(video)).header.codec == ("h264" if stated else "mjpeg")
    reader = FrameReader()
    assert len([reader.read(still) for still in frames_of(video)]) == 40, "index and file belong together"
    reader.close()
    assert list(compare_recordings(tmp_path, seals, RIG)) == []


def test_a_damaged_file_stays_as_it_is(tmp_path: Path) -> None:
    (video,) = record(tmp_path, [captured_frame(index) for index in range(20)])
    data = video.read_bytes()
    video.write_bytes(data[: len(data) // 2])
    with pytest.raises(DownfieldError):
        encode_again(video)
    assert video.stat().st_size == len(data) // 2


def test_the_process_that_does_it_leaves_the_processor_to_others_and_says_what_it_could_not_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (video,) = record(tmp_path, [captured_frame(index) for index in range(10)])
    done: list[str] = []
    for name in ("begin_session", "end_with_client", "run_when_idle"):
        monkeypatch.setattr(processes, name, lambda *_, name=name: done.append(name))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: 0))
    for path in (video, tmp_path / "none.mkv"):
        monkeypatch.setattr("sys.argv", ["", str(path)])
        try:
            runpy.run_path(encoding_again.__file__, run_name="__main__")
        except SystemExit as end:
            done.append(str(end))
    assert done[:3] == done[3:6] == ["begin_session", "end_with_client", "run_when_idle"]
    assert "none" in done[6]
    assert beside(video).exists()


def test_it_is_done_beside_the_rig_for_the_oldest_motion_jpeg_while_room_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding_again, "_LOOK_S", 0.05)
    monkeypatch.setattr(encoding_again, "_AS_SENT", 1)
    frames = [captured_frame(index) for index in range(120)]
    jpeg, last = record(tmp_path, frames, segment_s=1.2)
    (other,) = record(tmp_path, [captured_frame(index, raw=True) for index in range(30)], RAW)[-1:]
    (jpeg.parent / f"{encoding_again._BESIDE}0009.mkv").write_bytes(b"of a run that was ended")
    os.utime(other)

    def encoded(_: RecordingEncoder, video: Path) -> bool:
        encode_again(video)
        return True

    monkeypatch.setattr(RecordingEncoder, "_encoded", encoded)
    never = RecordingEncoder(tmp_path, RecordingSettings(encode_again_below_gb=0), KEY)
    assert never.next_video() is None
    never.close()
    encoder = RecordingEncoder(tmp_path, RecordingSettings(encode_again_below_gb=1e9), KEY)
    wait_until(lambda: read_index(index_path(last)).header.codec == "h264", "both files of motion JPEG are encoded")
    wait_until(lambda: encoder.next_video() is None)
    encoder.close()
    assert read_index(index_path(jpeg)).header.codec == "h264"
    assert not list(tmp_path.rglob(".again-*"))
    assert not other.with_suffix(".again.json").exists()


def test_a_picture_with_an_odd_edge_would_lose_it_and_stays(tmp_path: Path) -> None:
    facts = replace(MJPEG, size_px=(161, 90))
    (video,) = record(tmp_path, [captured_frame(index) for index in range(5)], facts)
    encoder = RecordingEncoder(tmp_path, RecordingSettings(encode_again_below_gb=0), KEY)
    encoder.close()
    assert encoder.next_video() is None
    assert not beside(video).exists()
