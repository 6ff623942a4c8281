"""Zip files written in one go, without seeking, and the check that their end is as it was written.

A zip file has bytes that no reader looks at: times, versions, gaps between the parts. Here they have fixed values, so
that the list of parts at the end follows from names, sizes and checksums, and any other byte shows an alteration.
"""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final


class WriteSink:
    """A file that is only written, never sought, from a place in the whole file on."""

    closed = False  # never; what was written is taken by whoever made it

    def __init__(self, start: int = 0) -> None:
        self.waiting = bytearray()  # what was written and not taken yet
        self._at = start

    def write(self, data: bytes, /) -> int:
        """Take bytes; return how many."""
        self.waiting += data
        self._at += len(data)
        return len(data)

    def tell(self) -> int:
        """Return the place in the whole file."""
        return self._at

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """Nothing is open."""

    def take(self) -> bytes:
        """Return what waits, and forget it."""
        taken = bytes(self.waiting)
        self.waiting.clear()
        return taken


CHUNK_BYTES: Final = 1 << 18

ZIP_FAULTS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,  # a compression that nobody uses, as a changed byte may say
    RuntimeError,  # says that it is encrypted
    ValueError,
)
"""What `zipfile` raises of damaged files, besides an `OSError`."""

_DESCRIPTOR: Final = struct.Struct("<LLQQ")
_DESCRIPTOR_SIGNATURE: Final = 0x08074B50
"""Of the 64-bit data descriptor behind every part: APPNOTE.TXT of PKWARE, 4.3.9."""

_VERSION: Final = 45  # of zip files with 64-bit sizes


@dataclass(frozen=True, slots=True)
class ZipPart:
    """One part to be written."""

    name: str  # in the zip file, ASCII
    chunks: Iterable[bytes]
    compressed: bool = True  # whether to compress them; video can't be compressed further


def zip_chunks(parts: Iterable[ZipPart]) -> Iterator[bytes]:
    """Yield the bytes of a zip file of parts; a few chunks are in memory at any time."""
    sink = WriteSink()
    with zipfile.ZipFile(sink, "w", allowZip64=True) as archive:
        for part in parts:
            with archive.open(_info(part.name, compressed=part.compressed), "w", force_zip64=True) as file:
                for chunk in part.chunks:
                    file.write(chunk)
                    if len(sink.waiting) >= CHUNK_BYTES:
                        yield sink.take()
            yield sink.take()
    yield sink.take()


def container_is_as_written(file: BinaryIO, archive: zipfile.ZipFile, stored: Sequence[str]) -> bool:
    """Return whether the end of a zip file is as it was written: its last parts' headers, and the list of parts.

    Args:
        archive: that file, opened for reading.
        stored: names of its last parts, uncompressed; what is before them is vouched for otherwise.
    """
    infos = archive.infolist()
    last = infos[-len(stored) :]
    end = 0
    for info in infos[: -len(stored)]:
        if info.header_offset != end:
            return False
        is_packed = info.compress_type == zipfile.ZIP_DEFLATED
        header = _info(info.filename, compressed=is_packed).FileHeader(zip64=True)
        end += len(header) + info.compress_size + _DESCRIPTOR.size
    for info, name in zip(last, stored, strict=True):
        header = _info(name, compressed=False).FileHeader(zip64=True)
        descriptor = _DESCRIPTOR.pack(_DESCRIPTOR_SIGNATURE, info.CRC, info.compress_size, info.file_size)
        file.seek(end)
        if info.header_offset != end or file.read(len(header)) != header:
            return False
        file.seek(info.compress_size, 1)
        if file.read(len(descriptor)) != descriptor:
            return False
        end = file.tell()
    tail = _tail(infos, end)
    return file.read(len(tail) + 1) == tail


def _info(name: str, *, compressed: bool) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # its time is the first of 1980
    info.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    info.create_system = 3  # Unix, on every system
    info.create_version = info.extract_version = _VERSION
    info.flag_bits = 0x08  # sizes stand behind the part
    return info


def _tail(infos: Iterable[zipfile.ZipInfo], start: int) -> bytes:
    """Return the list of parts as it is written behind them."""
    sink = WriteSink(start)
    archive = zipfile.ZipFile(sink, "w", allowZip64=True)
    for info in infos:
        listed = _info(info.filename, compressed=info.compress_type == zipfile.ZIP_DEFLATED)
        listed.CRC, listed.compress_size, listed.file_size = info.CRC, info.compress_size, info.file_size
        listed.header_offset = info.header_offset
        archive.filelist.append(listed)
    archive.comment = b""  # marks the list as changed, so that closing writes it
    archive.close()
    return sink.take()
