"""Recorded motion JPEG is encoded again as H.264 in idle time.

A process of its own does it, which the operating system runs when no other program wants the processor, one file after
the other, the oldest first. What the rig has sealed is another file then: a statement beside it, signed with the rig's
key, says what it was made from (`segment.EncodedAgain`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from downfield.capture.recording.frame_reader import FrameReader
from downfield.capture.recording.keeping import GB, free_gb
from downfield.capture.recording.recording_library import (
    frames_of,
    index_path,
    read_index,
    recorded_videos,
    recording_order,
    statement_path,
)
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.recording.segment import H264Encoder, RecordingSegment, keep_statement
from downfield.capture.source import CapturedFrame
from downfield.core.errors import DownfieldError, FormatError, InputError
from downfield.core.files.facts import file_state
from downfield.core.platform.processes import begin_session, end_process, end_with_client, lower_priority, run_when_idle
from downfield.core.threads import only_logged, supervised_thread
from downfield.store.sealing.signing import RigKey

_BESIDE: Final = ".again-"
_LOOK_S: Final = 20.0  # Between two looks whether there is a file to encode, and room short enough for that

_AS_SENT: Final = 10  # Files made last that stay as the camera sent them: what people look at while a game is played

_STEP_S: Final = 0.5


class RecordingEncoder:
    """Encodes recorded files again, in idle time, while room is short; the rig's key signs what was made from what."""

    def __init__(self, folder: Path, settings: RecordingSettings, key: RigKey) -> None:
        self._folder, self._settings, self._key = folder, settings, key
        self._passed: set[Path] = set()
        self._closed = threading.Event()
        self._thread = supervised_thread(self._run, "encoder", only_logged, restarts=True, closed=self._closed.is_set)
        self._thread.start()

    def close(self) -> None:
        """End; a file that is being encoded stays as it was."""
        self._closed.set()
        self._thread.join()

    def next_video(self) -> Path | None:
        """Return the file to be encoded next; None where there is none, or room enough for all as they are."""
        videos = sorted(recorded_videos(self._folder), key=recording_order)
        sizes = (state.st_size for video in videos if (state := file_state(video)) is not None)
        left_gb = self._settings.keep_gb - sum(sizes) / GB
        if min(left_gb, free_gb(self._folder)) >= self._settings.encode_again_below_gb:
            return None
        for video in videos[:-_AS_SENT]:
            if video not in self._passed:
                with suppress(InputError, FormatError):
                    header = read_index(index_path(video)).header
                    if header.codec == "mjpeg" and all(edge % 2 == 0 for edge in header.size_px):
                        return video
                self._passed.add(video)
        return None

    def _run(self) -> None:
        lower_priority()
        end_begun(self._folder)
        while not self._closed.is_set():
            video = self.next_video()
            if video is None:
                self._closed.wait(_LOOK_S)
                continue
            self._passed.add(video)
            if self._encoded(video):
                with suppress(OSError):  # deleted meanwhile, or no room: it stays as it is
                    put_in_place(video, self._key)
            for left in (beside(video), index_path(beside(video))):
                left.unlink(missing_ok=True)

    def _encoded(self, video: Path) -> bool:
        """Return whether a process has encoded a file; it ends with this one."""
        command = [sys.executable, "-m", "downfield.capture.recording.encoding_again", str(video)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603
        try:
            while process.poll() is None and not self._closed.wait(_STEP_S):
                pass
        finally:
            if process.poll() is None:
                end_process(process)
            if process.stdin is not None:
                process.stdin.close()
        return process.returncode == 0


def beside(video: Path) -> Path:
    """Return where a file is while it is encoded again."""
    return video.with_name(_BESIDE + video.name)


def encode_again(video: Path) -> None:
    """Encode a recorded file beside it, with the same frames at the same times.

    Raises:
        DownfieldError: a frame of it can't be read, or the disk does not accept another file.
    """
    header = replace(read_index(index_path(video)).header, codec="h264", copied=False)
    encoder, segment = H264Encoder(header.size_px, header.fps), None
    with ExitStack() as opened:
        reader = opened.enter_context(closing(FrameReader()))
        for still in frames_of(video):
            frame = CapturedFrame(still.frame, still.t_ns, 0, image=reader.read(still))
            packet = encoder.encode(frame, key=segment is None)
            if packet is None:
                raise FormatError(str(video), f"frame {still.frame} can't be encoded")
            if segment is None:
                segment = opened.enter_context(closing(RecordingSegment(beside(video), packet, header)))
            segment.add(frame, packet)


def put_in_place(video: Path, key: RigKey) -> bool:
    """Put what was encoded in the place of what the camera sent, if it is smaller; return whether it was.

    Raises:
        OSError: it can't be done; the file is as it was.
    """
    made, state = beside(video), video.stat()
    if made.stat().st_size >= state.st_size:
        return False
    keep_statement(video, made, key)
    os.utime(made, ns=(state.st_atime_ns, state.st_mtime_ns))
    _exchange(made, video)
    return True


def end_begun(folder: Path) -> None:
    """End what a run was in the middle of when it was killed: a file that is stated is put in its place, others go."""
    begun = list(folder.glob(f"*/{_BESIDE}*"))
    for made in begun:
        video = made.with_name(made.name.removeprefix(_BESIDE))
        with suppress(OSError):
            if video.is_file() and statement_path(video).is_file():
                _exchange(made, video)
    for left in begun:
        left.unlink(missing_ok=True)


def _exchange(made: Path, video: Path) -> None:
    """Put a file and its index in the place of others, of which a kill may have left the index in its place already."""
    with suppress(FileNotFoundError):
        index_path(made).replace(index_path(video))
    made.replace(video)


if __name__ == "__main__":
    begin_session()
    end_with_client(sys.stdin.fileno())
    run_when_idle()
    try:
        encode_again(Path(sys.argv[1]))
    except (DownfieldError, OSError) as error:
        raise SystemExit(str(error)) from None
