"""The worker process gives the same detections, and nothing depends on it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_sets import pair
from waiting import WAIT_S, wait_until

from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.models import worker_client
from downfield.models.card import find_network
from downfield.models.detector import OnDemandNetworks, TrackingDetector
from downfield.models.loading import open_detector
from downfield.models.worker_client import FindRequest, OffloadedDetector, WorkerClient, WorkerLimits

OPTIONS = {"threads": 1}

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pictures are shared as on Linux and macOS")


@pytest.fixture(scope="module")
def here() -> TrackingDetector:
    detector = open_detector()
    assert isinstance(detector, TrackingDetector)
    return detector


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> list[Image]:
    """Of one table, at two instants."""
    return [image for _, image in pair(tmp_path_factory.mktemp("pictures"))]


@pytest.fixture(scope="module")
def client() -> Iterator[WorkerClient]:
    """Of one worker for all tests, which start another where they kill it; the last one ends it."""
    client = WorkerClient(OPTIONS)
    yield client
    client.close()


@pytest.fixture
def detector(here: TrackingDetector, client: WorkerClient) -> OffloadedDetector:
    return OffloadedDetector(here, client, OnDemandNetworks())


def ready(client: WorkerClient) -> int:
    """The worker's process id, once it is ready."""
    return wait_until(lambda: client.pid, "the worker is ready")


def runs(process: int) -> bool:
    """Whether a process does, or a parent has yet to learn that it does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ends(process: int) -> bool:
    """Whether a process does, as soon as the others leave it the time: it yields to all."""
    return wait_until(lambda: not runs(process), "the worker ends")


def test_until_the_worker_is_ready_the_detector_runs_here(here: TrackingDetector, images: list[Image]) -> None:
    begun = WorkerClient(OPTIONS)
    try:
        found = OffloadedDetector(here, begun, OnDemandNetworks()).find_candidates(images[0])
        assert begun.pid is None
    finally:
        begun.close()
    assert found == here.find_candidates(images[0])


def test_the_worker_gives_the_same_detections(
    detector: OffloadedDetector, client: WorkerClient, here: TrackingDetector, images: list[Image]
) -> None:
    process = ready(client)
    for image in images:
        found = here.find_candidates(image)
        assert detector.find_candidates(image) == found
        assert any(candidate.kind == "upright" for candidate in found)
        assert detector.find_candidates(image, ball=False) == here.find_candidates(image, ball=False)
        known = here.track(image, (), found)[:11]  # the others are new
        views = here.refine_candidates(image, found, known)
        assert views
        assert detector.refine_candidates(image, found, known) == views
    assert detector.detect(images[0]) == here.detect(images[0])
    assert client.pid == process, "it is still the same worker"


def test_where_no_worker_can_be_started_the_detector_runs_here(
    here: TrackingDetector, images: list[Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(Path(__file__).with_name("no-python")))
    detector = worker_client.open_with_worker(lambda _: here, OPTIONS)
    assert isinstance(detector, OffloadedDetector)
    found = detector.find_candidates(images[0])
    assert found == here.find_candidates(images[0])
    assert detector.refine_candidates(images[0], found, found[:3]) == here.refine_candidates(
        images[0], found, found[:3]
    )


def test_where_the_worker_s_networks_are_missing_the_detector_runs_here(
    here: TrackingDetector, images: list[Image]
) -> None:
    detector = worker_client.open_with_worker(lambda _: here, {"name_or_path": "dowfield"})
    assert isinstance(detector, OffloadedDetector)
    assert detector.find_candidates(images[0]) == here.find_candidates(images[0])


def test_a_detector_that_does_not_track_gets_no_worker() -> None:
    whole = open_detector(refine=False)
    assert worker_client.open_with_worker(lambda _: whole, {"refine": False}) is whole


def test_a_detector_that_can_not_be_opened_raises() -> None:
    with pytest.raises(InputError, match="dowfield"):
        worker_client.open_with_worker(lambda _: open_detector("dowfield"), {"name_or_path": "dowfield"})


def test_a_killed_worker_costs_no_detection_and_another_one_follows(
    detector: OffloadedDetector,
    client: WorkerClient,
    here: TrackingDetector,
    images: list[Image],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_client, "WORKER_LIMITS", WorkerLimits(restart_s=0.1))
    first = ready(client)
    found = detector.find_candidates(images[0])
    os.kill(first, signal.SIGKILL)
    assert ends(first)
    assert detector.refine_candidates(images[0], found, found[:3]) == here.refine_candidates(
        images[0], found, found[:3]
    )
    assert detector.find_candidates(images[1]) == here.find_candidates(images[1])
    assert ready(client) != first
    assert detector.find_candidates(images[1]) == here.find_candidates(images[1])


def test_a_late_answer_is_not_waited_for_nor_taken_for_the_next(
    detector: OffloadedDetector,
    client: WorkerClient,
    here: TrackingDetector,
    images: list[Image],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = ready(client)
    monkeypatch.setattr(worker_client, "WORKER_LIMITS", WorkerLimits(timeout_s=0.3))
    os.kill(process, signal.SIGSTOP)
    try:
        for image in images:
            assert detector.find_candidates(image) == here.find_candidates(image)
    finally:
        os.kill(process, signal.SIGCONT)
    monkeypatch.setattr(worker_client, "WORKER_LIMITS", WorkerLimits(timeout_s=WAIT_S))
    request = FindRequest(images[1].shape, ball=True)
    answer = wait_until(lambda: client.request(request, images[1]), "the worker answers again")  # it yields to all
    assert answer == here.find_candidates(images[1])
    assert client.pid == process


def test_networks_for_whole_pictures_are_open_here_only_while_there_is_no_worker(
    here: TrackingDetector, client: WorkerClient, images: list[Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    networks = OnDemandNetworks()
    spare = open_detector(whole_pictures=networks)
    assert isinstance(spare, TrackingDetector)
    detector = OffloadedDetector(spare, client, networks)
    monkeypatch.setattr(worker_client, "WORKER_LIMITS", WorkerLimits(timeout_s=WAIT_S))
    process = ready(client)
    found = detector.find_candidates(images[0])
    assert detector.track(images[0], (), found) == here.track(images[0], (), found)
    assert networks.opened == 0, "tracking needs none of them"
    monkeypatch.setattr(worker_client, "WORKER_LIMITS", WorkerLimits(restart_s=0.1, timeout_s=WAIT_S, steady_answers=2))
    os.kill(process, signal.SIGKILL)
    assert ends(process)
    assert detector.find_candidates(images[0]) == found
    assert networks.opened
    ready(client)
    assert detector.find_candidates(images[0]) == found
    assert networks.opened, "one answer does not show that the worker keeps up"
    assert detector.find_candidates(images[0]) == found
    assert networks.opened == 0


def test_a_network_that_the_worker_can_not_open_is_known_at_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(find_network("downfield"), folder)
    (folder / "refiner.int8.onnx").write_bytes(b"no network")
    with pytest.raises(InputError, match="refiner"):
        worker_client.open_with_worker(
            lambda whole_pictures: open_detector(folder, whole_pictures=whole_pictures), {"name_or_path": str(folder)}
        )


def test_the_worker_ends_with_its_client(client: WorkerClient) -> None:  # the last of those with one
    process = ready(client)
    client.close()
    assert ends(process)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_worker_ends_with_its_parent_however_that_ends(how: signal.Signals) -> None:
    program = (
        "import threading; from downfield.models.worker_client import WorkerClient\n"
        "client = WorkerClient({})\n"
        "while client.pid is None: threading.Event().wait(0.05)\n"
        "print(client.pid, flush=True); threading.Event().wait()"
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
