"""Checks of the computer: speed of the network, disk, port, clock, and the store that games will be kept in.

The store is opened and written as by a game, and left as it was.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Final, Literal

from sqlalchemy import text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.core.addresses import without_password
from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError, InputError
from downfield.core.platform.system import SYSTEM
from downfield.core.records import record
from downfield.models.detector import TrackingDetector
from downfield.rig.configuration.settings import NetworkSettings, RigSettings, ServiceSettings, store_file
from downfield.rig.live.vision_stages import detection_rate, local_detector
from downfield.rig.service.web_service import bound_host, open_listener
from downfield.store.database.engines import cause_of, create_writing_engine, parse_address, transaction

CheckState = Literal["ok", "warning", "fault"]


@record
class CheckResult:
    """The result of one check."""

    subject: str  # the part checked, such as ``"camera"`` or ``"disk"``
    state: CheckState  # with a fault the rig does not work; with a warning it works less well than it could
    text: str
    remedy: str = ""  # what to do about it; empty if nothing needs to be done


_RUNS: Final = 8  # Number of timed runs of the network
_TRIAL_BYTES: Final = 64 << 20  # Bytes written to measure the speed of the disk
_CAMERA_MB_PER_S: Final = 20.0  # Data rate of a good 1080p camera, MJPEG at 60 frames/s
_FASTER_COMPUTER: Final = (
    "Close other programs, or use a computer whose processor has AVX-VNNI or AVX-512 VNNI: it detects up to four times"
    " as often"
)
_GB: Final = 1_000_000_000
_UNSYNCHRONIZED: Final = 5  # result of adjtimex(2)
_TIMEX_BYTES: Final = 256  # more than its structure takes


def check_network(settings: NetworkSettings, image: Image) -> CheckResult:
    """Check whether the neural network loads, and how often it can run."""
    rate = detection_rate(settings, time.perf_counter_ns)
    try:
        detector = local_detector(settings)
        detections = detector.detect(image)
        for _ in range(_RUNS):
            if isinstance(detector, TrackingDetector):
                with rate.timed("full_frame"):
                    detector.find_candidates(image, ball=False)
            with rate.timed("figures"):
                if isinstance(detector, TrackingDetector):
                    detector.track(image, detections)
                else:
                    detector.detect(image)
    except DownfieldError as error:
        remedy = "Name an installed network in [network], or install Downfield again"
        return CheckResult("network", "fault", str(error), remedy)
    text = f"{detector.name}: {rate.summary}"
    if rate.slow:
        return CheckResult("network", "warning", f"this computer is slow; {text}", _FASTER_COMPUTER)
    return CheckResult("network", "ok", text)


def check_disk(folder: Path, settings: RecordingSettings) -> CheckResult:
    """Check whether there is room for recordings, and whether the disk is fast enough."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    try:
        free_gb = shutil.disk_usage(folder).free / _GB
        speed_mb_per_s = _write_speed_mb_per_s(folder)
    except OSError as error:
        remedy = "Choose another folder with data or recording.folder"
        return CheckResult("disk", "fault", f"{folder}: can't be written: {error.strerror}", remedy)
    hours = (free_gb - settings.stop_below_gb) * 1000 / _CAMERA_MB_PER_S / 3600
    text = f"{free_gb:.0f} GB free in {folder}, {speed_mb_per_s:.0f} MB/s"
    if free_gb < settings.stop_below_gb:
        return CheckResult("disk", "fault", text, "Free some disk space: nothing would be recorded")
    if free_gb < settings.warn_below_gb:
        return CheckResult("disk", "warning", f"{text}: enough for {hours:.1f} h at most", "Free some disk space")
    if speed_mb_per_s < _CAMERA_MB_PER_S:
        remedy = f"Record to a faster disk: a camera may send {_CAMERA_MB_PER_S:.0f} MB/s"
        return CheckResult("disk", "warning", text, remedy)
    return CheckResult("disk", "ok", text)


def check_port(settings: ServiceSettings) -> CheckResult:
    """Check whether the service's port is free."""
    host = bound_host(settings)
    try:
        open_listener(host, settings.port).close()
    except InputError:
        remedy = "Close the other program (it may be Downfield itself), or choose another port with --port"
        return CheckResult("port", "fault", f"port {settings.port} on {host} can't be opened", remedy)
    return CheckResult("port", "ok", f"port {settings.port} on {host} is free")


def check_time() -> CheckResult:
    """Check whether the clock is synchronized, since games of different rigs are distinguished by their times."""
    if SYSTEM != "linux":
        return CheckResult("time", "ok", "not checked on this system")
    state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    if state == _UNSYNCHRONIZED:
        return CheckResult("time", "warning", "the clock is not synchronized", "Run timedatectl set-ntp true")
    if state < 0:
        return CheckResult("time", "ok", f"can't be checked here: {os.strerror(ctypes.get_errno())}")
    return CheckResult("time", "ok", "the clock is synchronized")


def _write_speed_mb_per_s(folder: Path) -> float:
    block = os.urandom(1 << 20)
    with tempfile.TemporaryFile(dir=folder) as out:
        began = time.perf_counter()
        for _ in range(_TRIAL_BYTES >> 20):
            out.write(block)
        out.flush()
        os.fsync(out.fileno())
        return _TRIAL_BYTES / 1e6 / (time.perf_counter() - began)


_REMEDY: Final = "Name a store that can be written in store.url, or another folder with data"


def check_store(settings: RigSettings) -> CheckResult:
    """Check whether games can be kept where the configuration says."""
    url = settings.store.url
    where = without_password(url) if url else str(store_file(settings))
    try:
        address = parse_address(url) if url else URL.create("sqlite", database=str(store_file(settings).absolute()))
        file = Path(str(address.database)) if address.drivername == "sqlite" else None
        if file is not None and not file.exists():
            return _new_store(file)
        engine = create_writing_engine(address)
    except DownfieldError as error:
        return CheckResult("store", "fault", str(error), _REMEDY)
    try:
        with transaction(engine) as connection:
            connection.execute(text("CREATE TABLE downfield_trial (number INTEGER)"))
            connection.execute(text("INSERT INTO downfield_trial VALUES (1)"))
            connection.execute(text("DROP TABLE downfield_trial"))
    except SQLAlchemyError as error:
        return CheckResult("store", "fault", f"{where}: can't be written: {cause_of(error)}", _REMEDY)
    except DownfieldError as error:
        return CheckResult("store", "fault", str(error), _REMEDY)
    finally:
        engine.dispose()
    return CheckResult("store", "ok", f"games are kept in {where}")


def _new_store(file: Path) -> CheckResult:
    """Check whether a store can be made, without making it."""
    folder = file.absolute().parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"trial")
    except OSError as error:
        return CheckResult("store", "fault", f"{file}: can't be made: {error.strerror}", _REMEDY)
    return CheckResult("store", "ok", f"{file} is made with the first game")
