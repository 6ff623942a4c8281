"""RTP of H.264 as GStreamer sends it with `config-interval=-1`: headers again before every slice of a key picture."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

_HEADER_BYTES: Final = 12
_IDR, _SPS, _PPS, _AGGREGATE, _FRAGMENT = 5, 7, 8, 24, 28


class RepeatedHeaders:
    """Adds the headers to RTP packets, and numbers them anew (RFC 6184)."""

    def __init__(self) -> None:
        self._headers: dict[int, bytes] = {}
        self._sent = 0

    def __call__(self, packet: bytes) -> Iterator[bytes]:
        """Yield what is sent in place of a packet."""
        payload = packet[_HEADER_BYTES:]
        kind = payload[0] & 31
        for unit in _aggregated(payload) if kind == _AGGREGATE else [payload]:
            if unit[0] & 31 in {_SPS, _PPS}:
                self._headers[unit[0] & 31] = unit
        begins_fragment = kind == _FRAGMENT and payload[1] & 0x80
        if kind == _IDR or (begins_fragment and payload[1] & 31 == _IDR):
            unmarked = packet[:1] + bytes([packet[1] & 0x7F]) + packet[2:_HEADER_BYTES]
            for _, header in sorted(self._headers.items()):
                yield self._numbered(unmarked + header)
        yield self._numbered(packet)

    def _numbered(self, packet: bytes) -> bytes:
        self._sent += 1
        return packet[:2] + struct.pack(">H", self._sent & 0xFFFF) + packet[4:]


def _aggregated(payload: bytes) -> Iterator[bytes]:
    at = 1
    while at + 2 < len(payload):
        (size,) = struct.unpack_from(">H", payload, at)
        yield payload[at + 2 : at + 2 + size]
        at += 2 + size
