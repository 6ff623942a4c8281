"""Whole pictures looked at by another process: the same is seen, and nothing hangs on that process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.models import worker_client
from downfield.models.detector import TrackingDetector
from downfield.models.opening import open_detector
from downfield.models.worker_client import FindRequest, OffloadedDetector, WorkerClient
from downfield.training.scoring import pictures_of
from downfield.twin.sets.dataset import Recipe, make_dataset

HOW = {"threads": 1}
LONG_S = 60.0

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pictures are shared as on Linux and macOS")


@pytest.fixture(scope="module")
def here() -> TrackingDetector:
    detector = open_detector()
    assert isinstance(detector, TrackingDetector)
    return detector


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> list[Image]:
    """Of one table, at two instants."""
    out = tmp_path_factory.mktemp("pictures")
    make_dataset(out, Recipe(split="val", seed=5, per_table=2), 2)
    return [image for _, image in pictures_of(out, "val")]


@pytest.fixture
def finder() -> Iterator[WorkerClient]:
    finder = WorkerClient(HOW)
    yield finder
    finder.close()


@pytest.fixture
def looks(here: TrackingDetector, finder: WorkerClient) -> OffloadedDetector:
    return OffloadedDetector(here, finder)


def ready(finder: WorkerClient) -> int:
    """Number of the other process, once it is ready."""
    until = time.monotonic() + LONG_S
    while (process := finder.process) is None:
        assert time.monotonic() < until, "no other process came to be ready"
        time.sleep(0.05)
    return process


def runs(process: int) -> bool:
    """Whether a process does, or a parent has yet to learn that it does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ends(process: int) -> bool:
    """Whether a process does, as soon as the others leave it the time: it yields to all."""
    until = time.monotonic() + LONG_S
    while runs(process) and time.monotonic() < until:
        time.sleep(0.05)
    return not runs(process)


def test_another_process_sees_what_is_seen_here(
    looks: OffloadedDetector, finder: WorkerClient, here: TrackingDetector, images: list[Image]
) -> None:
    process = ready(finder)
    for image in images:
        found = here.find_candidates(image)
        assert looks.find_candidates(image) == found
        assert any(one.kind == "upright" for one in found)
        assert looks.find_candidates(image, ball=False) == here.find_candidates(image, ball=False)
        known = here.track(image, (), found)[:11]  # the others are new
        views = here.refine_candidates(image, found, known)
        assert views
        assert looks.refine_candidates(image, found, known) == views
    assert looks.detect(images[0]) == here.detect(images[0])
    assert finder.process == process, "nothing of this made it end"


def test_until_the_other_process_is_ready_it_is_looked_here(
    looks: OffloadedDetector, finder: WorkerClient, here: TrackingDetector, images: list[Image]
) -> None:
    found = looks.find_candidates(images[0])
    assert finder.process is None
    assert found == here.find_candidates(images[0])


def test_where_no_other_process_can_be_had_it_is_looked_here(
    here: TrackingDetector, images: list[Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(Path(__file__).with_name("no-python")))
    looks = worker_client.open_with_worker(lambda: here, HOW)
    assert isinstance(looks, OffloadedDetector)
    found = looks.find_candidates(images[0])
    assert found == here.find_candidates(images[0])
    assert looks.refine_candidates(images[0], found, found[:3]) == here.refine_candidates(images[0], found, found[:3])


def test_where_its_networks_are_missing_it_is_looked_here(here: TrackingDetector, images: list[Image]) -> None:
    looks = worker_client.open_with_worker(lambda: here, {"name_or_path": "dowfield"})
    assert isinstance(looks, OffloadedDetector)
    assert looks.find_candidates(images[0]) == here.find_candidates(images[0])


def test_a_detector_of_whole_pictures_alone_stays_as_it_is() -> None:
    whole = open_detector(refine=False)
    assert worker_client.open_with_worker(lambda: whole, {"refine": False}) is whole


def test_what_can_not_be_opened_is_refused_as_ever() -> None:
    with pytest.raises(InputError, match="dowfield"):
        worker_client.open_with_worker(lambda: open_detector("dowfield"), {"name_or_path": "dowfield"})


def test_a_killed_process_costs_no_look_and_another_one_follows(
    looks: OffloadedDetector,
    finder: WorkerClient,
    here: TrackingDetector,
    images: list[Image],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_client, "_AGAIN_S", 0.1)
    first = ready(finder)
    found = looks.find_candidates(images[0])
    os.kill(first, signal.SIGKILL)
    assert ends(first)
    assert looks.refine_candidates(images[0], found, found[:3]) == here.refine_candidates(images[0], found, found[:3])
    assert looks.find_candidates(images[1]) == here.find_candidates(images[1])
    assert ready(finder) != first
    assert looks.find_candidates(images[1]) == here.find_candidates(images[1])


def test_a_late_answer_is_not_waited_for_and_not_taken_for_another(
    looks: OffloadedDetector,
    finder: WorkerClient,
    here: TrackingDetector,
    images: list[Image],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = ready(finder)
    monkeypatch.setattr(worker_client, "_LONGEST_S", 0.3)
    os.kill(process, signal.SIGSTOP)
    try:
        for image in images:
            assert looks.find_candidates(image) == here.find_candidates(image)
    finally:
        os.kill(process, signal.SIGCONT)
    monkeypatch.setattr(worker_client, "_LONGEST_S", LONG_S)
    until = time.monotonic() + LONG_S
    while (answer := finder.ask(FindRequest(images[1].shape, ball=True), images[1])) is None:
        assert time.monotonic() < until, "it is not asked again"
    assert answer == here.find_candidates(images[1])
    assert finder.process == process


def test_it_ends_with_whoever_uses_it(finder: WorkerClient) -> None:
    process = ready(finder)
    finder.close()
    assert ends(process)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_whoever_started_it_however_that_ends(how: signal.Signals) -> None:
    program = (
        "import time; from downfield.models.worker_client import WorkerClient\n"
        "finder = WorkerClient({}); finder.wait(); print(finder.process, flush=True); time.sleep(600)"
    )
    user = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert user.stdout is not None
    process = int(user.stdout.readline())
    assert runs(process)
    user.send_signal(how)
    user.wait()
    user.stdout.close()
    assert ends(process)
