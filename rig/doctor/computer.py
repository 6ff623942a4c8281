"""The computer: the network's speed on it, its disk, the port, its clock."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError
from downfield.models.detector import TrackingDetector
from downfield.rig.configuration.settings import NetworkSettings, RecordingSettings, ServiceSettings
from downfield.rig.doctor.report import CheckResult
from downfield.rig.live.network_vision import detection_rate, detector

_RUNS: Final = 8
_TRIAL_BYTES: Final = 64 << 20
_NEEDED_MB_S: Final = 20.0
"""A good 1080p camera sends so much in MJPEG at 60 frames a second."""

_FASTER: Final = (
    "Run nothing else beside it, or take a computer whose processor reckons with whole numbers fast (AVX-VNNI, AVX-512"
    " VNNI): it looks up to four times as often"
)
_GB: Final = 1_000_000_000
_UNSYNCHRONIZED: Final = 5  # what adjtimex answers then; adjtimex(2)
_TIMEX_BYTES: Final = 256  # more than its structure takes


def look_at_network(table: NetworkSettings, image: Image) -> CheckResult:
    """Whether it loads, and how often it can look."""
    pace = detection_rate(table, time.perf_counter_ns)
    try:
        network = detector(table)
        seen = network.detect(image)
        for _ in range(_RUNS):
            if isinstance(network, TrackingDetector):
                with pace.timed("full_frame"):
                    network.find_candidates(image, ball=False)
            with pace.timed("figures"):
                network.track(image, seen) if isinstance(network, TrackingDetector) else network.detect(image)
    except DownfieldError as error:
        return CheckResult(
            "network", "fault", str(error), "Name one that is there in [network], or install Downfield anew"
        )
    text = f"{network.name}: it {pace.summary}"
    return (
        CheckResult("network", "warning", f"{text}: slow", _FASTER) if pace.slow else CheckResult("network", "ok", text)
    )


def look_at_disk(folder: Path, table: RecordingSettings) -> CheckResult:
    """Whether there is room for recordings, and whether it is fast enough."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    try:
        free_gb = shutil.disk_usage(folder).free / _GB
        speed = _mb_per_s(folder)
    except OSError as error:
        remedy = "Choose another folder with data or recording.folder"
        return CheckResult("disk", "fault", f"{folder}: can't be written: {error.strerror}", remedy)
    hours = (free_gb - table.stop_below_gb) * 1000 / _NEEDED_MB_S / 3600
    text = f"{free_gb:.0f} GB free in {folder}, {speed:.0f} MB/s"
    if free_gb < table.stop_below_gb:
        return CheckResult("disk", "fault", text, "Make room: nothing would be recorded")
    if free_gb < table.warn_below_gb:
        return CheckResult("disk", "warning", f"{text}: good for {hours:.1f} h at most", "Make room")
    if speed < _NEEDED_MB_S:
        remedy = "Record to a faster disk: a camera may send 20 MB/s"
        return CheckResult("disk", "warning", text, remedy)
    return CheckResult("disk", "ok", text)


def look_at_port(table: ServiceSettings) -> CheckResult:
    """Whether the service's port is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((table.host, table.port))
        except OSError as error:
            remedy = "End the other program (it may be Downfield itself), or choose another with --port"
            return CheckResult("port", "fault", f"{table.host}:{table.port} can't be opened: {error.strerror}", remedy)
    return CheckResult("port", "ok", f"{table.host}:{table.port} is free")


def look_at_time() -> CheckResult:
    """Whether the clock is set by the network: games of two rigs are told apart by it."""
    if not sys.platform.startswith("linux"):
        return CheckResult("time", "ok", "not looked at on this system")
    state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    if state == _UNSYNCHRONIZED:
        return CheckResult("time", "warning", "the clock is not synchronized", "Switch it on: timedatectl set-ntp true")
    if state < 0:
        return CheckResult("time", "ok", f"can't be looked at here: {os.strerror(ctypes.get_errno())}")
    return CheckResult("time", "ok", "synchronized")


def _mb_per_s(folder: Path) -> float:
    block = os.urandom(1 << 20)
    with tempfile.TemporaryFile(dir=folder) as out:
        began = time.perf_counter()
        for _ in range(_TRIAL_BYTES >> 20):
            out.write(block)
        out.flush()
        os.fsync(out.fileno())
        return _TRIAL_BYTES / 1e6 / (time.perf_counter() - began)
