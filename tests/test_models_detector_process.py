"""A detector in a process of its own sees what it sees here; its end costs one picture, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import plain_detectors
import pytest

from downfield.calibration.errors import DetectorError, InputError
from downfield.models.detector import Detector, Follower, Image
from downfield.models.detector_process import DetectorProcess
from downfield.models.opening import open_detector


def picture(x: int, y: int, size_px: tuple[int, int] = (64, 48)) -> Image:
    image = np.full((size_px[1], size_px[0], 3), 90, dtype=np.uint8)
    image[y, x] = 200
    return image


@pytest.fixture
def opened() -> Iterator[Callable[[Callable[[], Detector]], DetectorProcess]]:
    begun: list[DetectorProcess] = []

    def start(opener: Callable[[], Detector]) -> DetectorProcess:
        begun.append(DetectorProcess(opener))
        return begun[-1]

    yield start
    for one in begun:
        one.close()


def is_there(pid: int | None) -> bool:
    assert pid is not None
    with suppress(ProcessLookupError, FileNotFoundError):
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return False


def test_it_sees_what_the_detector_sees_here(opened: Callable[..., DetectorProcess]) -> None:
    here, there = plain_detectors.Following(), opened(plain_detectors.Following)
    assert isinstance(there, Follower)
    assert there.name == "following"
    assert there.pid != os.getpid()
    assert there.detect(picture(5, 7)) == here.detect(picture(5, 7))
    seen = here.detect(picture(5, 7))
    for whole in (False, True):
        assert there.look_again(picture(20, 30), seen, whole=whole) == here.look_again(
            picture(20, 30), seen, whole=whole
        )


def test_the_bundled_network_says_the_same_to_the_last_bit(opened: Callable[..., DetectorProcess]) -> None:
    image = np.random.default_rng(3).integers(0, 256, (1080, 1920, 3), dtype=np.uint8)
    image[300:500, 500:900] = (40, 120, 40)
    assert opened(open_detector).detect(image) == open_detector().detect(image)


def test_one_that_cannot_follow_looks_at_every_picture_by_itself(opened: Callable[..., DetectorProcess]) -> None:
    there = opened(plain_detectors.Brightest)
    seen = there.detect(picture(1, 1))
    assert there.look_again(picture(9, 8), seen, whole=False) == there.detect(picture(9, 8))


def test_pictures_may_be_of_any_size_and_cut_from_larger_ones(opened: Callable[..., DetectorProcess]) -> None:
    there = opened(plain_detectors.Brightest)
    for size_px in ((64, 48), (3840, 2160), (32, 32)):
        (ball,) = there.detect(picture(10, 20, size_px))
        assert ball.box_px[:2] == (10, 20)
    (ball,) = there.detect(picture(10, 20)[5:, 5:])
    assert ball.box_px[:2] == (5, 15)


def test_what_cannot_be_opened_is_told_in_the_words_of_the_detector() -> None:
    with pytest.raises(InputError, match="there is no such network"):
        DetectorProcess(plain_detectors.no_network)


def test_a_picture_that_fails_is_told_of_and_the_next_is_seen(opened: Callable[..., DetectorProcess]) -> None:
    there = opened(plain_detectors.Brightest)
    pid = there.pid
    with pytest.raises(DetectorError, match=plain_detectors.BLACK):
        there.detect(np.zeros((8, 8, 3), dtype=np.uint8))
    with pytest.raises(DetectorError, match="ZeroDivisionError: grey"):
        there.detect(np.full((8, 8, 3), 7, dtype=np.uint8))
    assert there.detect(picture(3, 4))
    assert there.pid == pid


def test_a_process_that_dies_costs_one_picture(opened: Callable[..., DetectorProcess]) -> None:
    there = opened(plain_detectors.Brightest)
    before = there.pid
    assert before is not None
    os.kill(before, signal.SIGKILL)
    with pytest.raises(DetectorError, match="has ended \\(exit code -9\\)"):
        there.detect(picture(3, 4))
    (ball,) = there.detect(picture(3, 4))
    assert ball.box_px[:2] == (3, 4)
    assert there.pid != before
    assert not is_there(before)


def test_ctrl_c_is_for_whoever_asks(opened: Callable[..., DetectorProcess]) -> None:
    there = opened(plain_detectors.Brightest)
    assert there.pid is not None
    os.kill(there.pid, signal.SIGINT)
    assert there.detect(picture(3, 4))


@pytest.mark.parametrize("how", ["os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit()"])
def test_it_ends_with_whoever_began_it(how: str) -> None:
    code = (
        "import os, sys\n"
        "from downfield.models.detector_process import DetectorProcess\n"
        "from plain_detectors import Brightest\n"
        "one = DetectorProcess(Brightest)\n"
        f"print(one.pid, flush=True)\n{how}"
    )
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    told = subprocess.run(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )
    pid = int(told.stdout)
    until = time.monotonic() + 10
    while is_there(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_there(pid)
