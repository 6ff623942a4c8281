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
from downfield.models import worker_client as finding
from downfield.models.detector import Follower
from downfield.models.opening import open_detector
from downfield.models.worker_client import Find, Finder, Finding
from downfield.training.scoring import pictures_of
from downfield.twin.sets.dataset import Recipe, make_dataset

HOW = {"threads": 1}
LONG_S = 60.0

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pictures are shared as on Linux and macOS")


@pytest.fixture(scope="module")
def here() -> Follower:
    detector = open_detector()
    assert isinstance(detector, Follower)
    return detector


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> list[Image]:
    """Of one table, at two instants."""
    out = tmp_path_factory.mktemp("pictures")
    make_dataset(out, Recipe(split="val", seed=5, per_table=2), 2)
    return [image for _, image in pictures_of(out, "val")]


@pytest.fixture
def finder() -> Iterator[Finder]:
    finder = Finder(HOW)
    yield finder
    finder.close()


@pytest.fixture
def looks(here: Follower, finder: Finder) -> Finding:
    return Finding(here, finder)


def ready(finder: Finder) -> int:
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
    looks: Finding, finder: Finder, here: Follower, images: list[Image]
) -> None:
    process = ready(finder)
    for image in images:
        found = here.find(image)
        assert looks.find(image) == found
        assert any(one.kind == "upright" for one in found)
        assert looks.find(image, ball=False) == here.find(image, ball=False)
        known = here.look_again(image, (), found)[:11]  # the others are news
        views = here.examine(image, found, known)
        assert views
        assert looks.examine(image, found, known) == views
    assert looks.detect(images[0]) == here.detect(images[0])
    assert finder.process == process, "nothing of this made it end"


def test_until_the_other_process_is_ready_it_is_looked_here(
    looks: Finding, finder: Finder, here: Follower, images: list[Image]
) -> None:
    found = looks.find(images[0])
    assert finder.process is None
    assert found == here.find(images[0])


def test_where_no_other_process_can_be_had_it_is_looked_here(
    here: Follower, images: list[Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(Path(__file__).with_name("no-python")))
    looks = finding.finding(lambda: here, HOW)
    assert isinstance(looks, Finding)
    found = looks.find(images[0])
    assert found == here.find(images[0])
    assert looks.examine(images[0], found, found[:3]) == here.examine(images[0], found, found[:3])


def test_where_its_networks_are_missing_it_is_looked_here(here: Follower, images: list[Image]) -> None:
    looks = finding.finding(lambda: here, {"name_or_path": "dowfield"})
    assert isinstance(looks, Finding)
    assert looks.find(images[0]) == here.find(images[0])


def test_a_detector_of_whole_pictures_alone_stays_as_it_is() -> None:
    whole = open_detector(second_look=False)
    assert finding.finding(lambda: whole, {"second_look": False}) is whole


def test_what_can_not_be_opened_is_refused_as_ever() -> None:
    with pytest.raises(InputError, match="dowfield"):
        finding.finding(lambda: open_detector("dowfield"), {"name_or_path": "dowfield"})


def test_a_killed_process_costs_no_look_and_another_one_follows(
    looks: Finding, finder: Finder, here: Follower, images: list[Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "_AGAIN_S", 0.1)
    first = ready(finder)
    found = looks.find(images[0])
    os.kill(first, signal.SIGKILL)
    assert ends(first)
    assert looks.examine(images[0], found, found[:3]) == here.examine(images[0], found, found[:3])
    assert looks.find(images[1]) == here.find(images[1])
    assert ready(finder) != first
    assert looks.find(images[1]) == here.find(images[1])


def test_a_late_answer_is_not_waited_for_and_not_taken_for_another(
    looks: Finding, finder: Finder, here: Follower, images: list[Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = ready(finder)
    monkeypatch.setattr(finding, "_LONGEST_S", 0.3)
    os.kill(process, signal.SIGSTOP)
    try:
        for image in images:
            assert looks.find(image) == here.find(image)
    finally:
        os.kill(process, signal.SIGCONT)
    monkeypatch.setattr(finding, "_LONGEST_S", LONG_S)
    until = time.monotonic() + LONG_S
    while (answer := finder.ask(Find(images[1].shape, ball=True), images[1])) is None:
        assert time.monotonic() < until, "it is not asked again"
    assert answer == here.find(images[1])
    assert finder.process == process


def test_it_ends_with_whoever_uses_it(finder: Finder) -> None:
    process = ready(finder)
    finder.close()
    assert ends(process)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_whoever_started_it_however_that_ends(how: signal.Signals) -> None:
    program = (
        "import time; from downfield.models.worker_client import Finder\n"
        "finder = Finder({}); finder.wait(); print(finder.process, flush=True); time.sleep(600)"
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
