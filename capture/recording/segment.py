"""One file of a recording with its index, and its seal: its digest in the journal of the game that was played then.

After a crash it is readable except for the last half second. A file that was altered later, replaced by another, or
deleted is found by `compare_recordings`. Files are sealed by a thread, as a minute of motion JPEG takes a second.
"""

from __future__ import annotations

import errno
import io
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final, Literal

import av
import av.codec
import av.container
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType

from downfield.capture.recording.recording_library import (
    RecordedFrame,
    RecordingIndexHeader,
    calibration_path,
    index_path,
    recorded_videos,
    segment_name,
    statement_path,
)
from downfield.capture.source import CapturedFrame, VideoPacket
from downfield.core.errors import InputError, OutputError, SourceError
from downfield.core.files.facts import file_digest
from downfield.core.files.private_files import make_private_folder, private_opener, replace_private_file
from downfield.core.platform.processes import lower_priority
from downfield.core.records import read_record, record, to_json
from downfield.game.records.entries import SegmentSealed
from downfield.game.records.owner import rig_id
from downfield.store.sealing.signing import RigKey, is_signed_text

_START_CODES: Final = (b"\0\0\1", b"\0\0\0\1")
_NS: Final = Fraction(1, 1_000_000_000)


@dataclass(frozen=True, slots=True)
class SegmentLimits:
    """Sizes and times of writing a recorded file."""

    default_fps: float = 30.0  # Frame rate assumed of a source that reports none
    cluster_ms: int = 500  # Longest stretch of video that Matroska buffers; MJPEG is written with every frame
    # Large enough to write a frame in one call: between several calls, other threads would hold up the writer
    buffer_bytes: int = 1 << 20
    # Time between two key frames: any frame is shown after decoding half as many as with one a second, for 19 % more
    # video (measured on the bundled recording with sensor noise)
    key_s: float = 0.5
    slices: int = 4  # Parts of a picture that can be decoded at once, for 1 % more video
    sync_ns: int = 1_000_000_000  # Time between two flushes to the disk: the most that a power failure can lose


_LIMITS: Final = SegmentLimits()

OpenFile = Callable[[Path], BinaryIO]


def can_copy(packet: VideoPacket | None) -> bool:
    """Return whether a packet can be stored in a file unchanged.

    JPEG can, and so can H.264 as sent in streams. Packets from H.264 files have another form, with separate headers.
    """
    if packet is None:
        return False
    return packet.codec == "mjpeg" or (packet.codec == "h264" and packet.data.startswith(_START_CODES))


class H264Encoder:
    """Encodes frames as H.264, with a key frame every half second by their nominal rate; an odd edge is cut off."""

    def __init__(self, size_px: tuple[int, int], fps: float | None) -> None:
        context = av.codec.CodecContext.create("libx264", "w")
        if not isinstance(context, VideoCodecContext):
            raise TypeError("libx264 is a video codec")
        context.width, context.height = (edge - edge % 2 for edge in size_px)
        context.pix_fmt = "yuv420p"
        context.time_base = _NS
        context.framerate = Fraction(fps or _LIMITS.default_fps).limit_denominator(1001)
        context.gop_size = max(1, round((fps or _LIMITS.default_fps) * _LIMITS.key_s))
        context.thread_count = 1
        # Every packet is returned at once, so that a crash loses none.
        speed = {"preset": "veryfast", "tune": "zerolatency", "crf": "20"}
        context.options = {**speed, "slices": str(_LIMITS.slices)}
        self._context = context
        self._pts = 0

    def encode(self, frame: CapturedFrame, *, key: bool) -> VideoPacket | None:
        """Return a frame as a packet; None in the rare case that the encoder holds it back.

        Args:
            key: whether the frame must be decodable by itself.

        Raises:
            SourceError: the picture is damaged, or smaller than it was when the encoder was made.
        """
        image = frame.decode().image[: self._context.height, : self._context.width]
        if image.shape[:2] != (self._context.height, self._context.width):
            raise SourceError(f"frame {frame.index}: the picture has another size than those before")
        picture = av.VideoFrame.from_ndarray(image, format="bgr24")
        picture.pts, picture.time_base = self._pts, _NS
        self._pts += 1_000_000
        if key:
            picture.pict_type = PictureType.I
        packets = self._context.encode(picture)
        if not packets:
            return None
        return VideoPacket("h264", bytes(packets[0]), packets[0].is_keyframe)


def create_file(path: Path) -> BinaryIO:
    """Create a file that is written through without a buffer, for its owner only."""
    return open(path, "xb", buffering=0, opener=private_opener)


class NoRoomError(OutputError):
    """The disk has no room: no space, no inodes, or no more of what this user may have."""


def _unwritable(path: Path, error: OSError | av.FFmpegError) -> OutputError:
    kind = NoRoomError if error.errno in {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)} else OutputError
    return kind(f"{path}: can't be written: {error.strerror}")


class RecordingSegment:
    """A Matroska file and its index being written.

    Args:
        path: path of the video, ``*.mkv``; the index lies beside it.
        first: the first packet, a key frame.

    Raises:
        OutputError: they can't be written, or the packet can't be put into a file.
    """

    def __init__(
        self, path: Path, first: VideoPacket, header: RecordingIndexHeader, open_file: OpenFile = create_file
    ) -> None:
        self.path = path
        self._began_ns: int | None = None
        self._last_ns = 0
        self._synced_ns = 0
        try:
            make_private_folder(path.parent)
            self._video, self._index = open_file(path), open_file(index_path(path))
            self._index.write(to_json(RecordingIndexHeader, header).encode() + b"\n")
            self._container: av.container.OutputContainer = av.open(
                self._video,
                "w",
                format="matroska",
                options={"cluster_time_limit": str(_LIMITS.cluster_ms), "flush_packets": "1"},
                buffer_size=_LIMITS.buffer_bytes,
            )
            with av.open(io.BytesIO(first.extradata + first.data), format=first.codec) as template:
                self._stream = self._container.add_stream_from_template(template.streams.video[0])
            self._stream.time_base = Fraction(1, 1000)
        except (OSError, av.FFmpegError) as error:
            raise _unwritable(path, error) from None

    @property
    def seconds(self) -> float:
        """The duration of the file, seconds."""
        return 0.0 if self._began_ns is None else (self._last_ns - self._began_ns) / 1e9

    def add(self, frame: CapturedFrame, packet: VideoPacket) -> None:
        """Append a frame, encoded as a packet. Raises OutputError: the disk does not accept it."""
        if self._began_ns is None:
            self._began_ns = frame.t_ns
        muxed = av.Packet(packet.data)
        muxed.pts = muxed.dts = frame.t_ns - self._began_ns
        muxed.time_base = _NS
        muxed.is_keyframe = packet.is_keyframe
        muxed.stream = self._stream
        try:
            self._container.mux(muxed)
            self._index.write(to_json(RecordedFrame, RecordedFrame(frame.index, frame.t_ns)).encode() + b"\n")
            if frame.t_ns - self._synced_ns > _LIMITS.sync_ns:
                self._synced_ns = frame.t_ns
                os.fsync(self._video.fileno())
                os.fsync(self._index.fileno())
        except (OSError, av.FFmpegError) as error:
            raise _unwritable(self.path, error) from None
        self._last_ns = frame.t_ns

    def close(self) -> None:
        """Finish the file; on a full disk it is left as after a crash, which is readable."""
        try:
            self._container.close()
        except (OSError, av.FFmpegError):
            pass
        finally:
            self._video.close()
            self._index.close()


_log = logging.getLogger(__name__)


class SegmentSealer:
    """Seals files of a recording as they are finished, in a thread; `note` puts a seal into the journal in use."""

    def __init__(self, note: Callable[[SegmentSealed], None]) -> None:
        self._note = note
        self._thread = ThreadPoolExecutor(1, "sealer", lower_priority)

    def seal(self, video: Path) -> None:
        """Seal a finished file with what lies beside it, soon; never waits."""
        self._thread.submit(self._seal, video)

    def close(self) -> None:
        """Seal what is finished, and end the thread."""
        self._thread.shutdown()

    def _seal(self, video: Path) -> None:
        try:
            self._note(seal_of(video))
        except OSError as error:
            _log.warning("%s: can't be read to be sealed: %s", video, error.strerror)
        except Exception:  # the next file is sealed all the same
            _log.exception("%s could not be sealed", video)


def seal_of(video: Path) -> SegmentSealed:
    """Return the seal of a recorded file. Raises OSError: it can't be read."""
    files = {path.name: file_digest(path) for path in _sealed_with(video) if path.is_file()}
    return SegmentSealed(segment_name(video), files)


@record
class EncodedAgain:
    """What says beside a recorded file that it was made from the one that was sealed."""

    segment: str  # its folder and name
    sealed: dict[str, str]  # SHA-256 of the files as they were recorded, by name, hexadecimal
    files: dict[str, str]  # the same of those that are in their places
    key: str  # the rig's public key
    signature: str = ""  # Ed25519, base64
    format: Literal["downfield.encoded-again"] = "downfield.encoded-again"
    version: Literal[1] = 1

    @property
    def signed(self) -> bytes:
        """What the rig signs."""
        return b"downfield.encoded-again\n" + to_json(EncodedAgain, replace(self, signature="")).encode()


def keep_statement(video: Path, made: Path, key: RigKey) -> None:
    """State beside a recorded file that what was made from it will be in its place, with its index.

    Raises:
        OSError: one of them can't be read, or the statement not written.
    """
    pairs = ((video, made), (index_path(video), index_path(made)))
    sealed, files = ({pair[0].name: file_digest(pair[place]) for pair in pairs} for place in (0, 1))
    said = EncodedAgain(segment_name(video), sealed, files, key.public_text)
    said = replace(said, signature=key.sign_text(said.signed))
    replace_private_file(statement_path(video), to_json(EncodedAgain, said).encode())


def is_encoded_from(video: Path, name: str, sealed: str, found: str, rig: str) -> bool:
    """Return whether a rig says that a file beside a video, or it itself, was made from the one that was sealed.

    Args:
        name: of the file.
        sealed, found: SHA-256 of what was sealed and of what is there, hexadecimal.
        rig: id of the rig.
    """
    try:
        said = read_record(EncodedAgain, statement_path(video))
    except InputError:
        return False
    is_of_rig = rig_id(said.key) == rig and is_signed_text(said.key, said.signed, said.signature)
    is_of_files = (said.sealed.get(name), said.files.get(name)) == (sealed, found)
    return is_of_rig and is_of_files and said.segment == segment_name(video)


def _sealed_with(video: Path) -> tuple[Path, ...]:
    """Return a recorded file and what may lie beside it."""
    return video, index_path(video), calibration_path(video)


def compare_recordings(folder: Path, seals: Iterable[SegmentSealed], rig: str = "") -> Iterator[str]:
    """Yield how recorded files differ from their seals, one sentence for each difference.

    Args:
        seals: of the journals; of several for one file, each counts: a later one does not make an earlier one void.
        rig: id of the rig that has sealed them, which may have encoded a file again.
    """
    seals, owners = list(seals), dict[str, str]()
    for seal in seals:
        owners |= {digest: f"{Path(seal.segment).parent}/{name}" for name, digest in seal.files.items()}
    for seal in seals:
        video = _path_of(folder, seal)
        for path in _sealed_with(video):
            if path.name not in seal.files and os.path.lexists(path):
                yield f"{Path(seal.segment).parent}/{path.name}: was added after the recording was sealed."
        for name, digest in seal.files.items():
            shown = f"{Path(seal.segment).parent}/{name}"
            try:
                found = file_digest(video.with_name(Path(name).name))
            except FileNotFoundError:
                yield f"{shown}: the file is missing. It was deleted, by the rig if the recordings had grown too large."
            except OSError as error:
                yield f"{shown}: can't be read: {error.strerror}"
            else:
                if found != digest and not is_encoded_from(video, name, digest, found, rig):
                    other = owners.get(found)
                    yield f"{shown}: " + (f"{other} is in its place." if other else "the file was altered.")


def has_recordings(folder: Path, seals: Iterable[SegmentSealed]) -> bool:
    """Return whether any of the files that were sealed is in a folder of recordings."""
    return any(os.path.lexists(_path_of(folder, seal)) for seal in seals)


def _path_of(folder: Path, seal: SegmentSealed) -> Path:
    """Return where a sealed file belongs; nothing in a seal leads out of the folder."""
    name = Path(seal.segment)
    return folder / name.parent.name / name.name


def unsealed_recordings(folder: Path, seals: Iterable[SegmentSealed]) -> list[str]:
    """Return the names of recorded files without a seal: of a rig that was killed, or put there by somebody."""
    known = {seal.segment for seal in seals}
    return [name for name in map(segment_name, recorded_videos(folder)) if name not in known]
