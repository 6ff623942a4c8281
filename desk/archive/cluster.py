"""Tasks on Ray: a cluster of this computer alone, or one that is there; a bounded number of tasks at a time.

A local cluster listens on the loopback alone, lets nobody in without a token that each process makes anew, has no
dashboard, reports no usage, and leaves nothing behind. Tasks name the processors they need and nothing else, so any
cluster runs them. A task whose worker dies is run again by Ray; that costs no other task.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import re
import secrets
import shutil
import socket
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeVar

from downfield.core.addresses import without_password
from downfield.core.errors import InputError, MissingExtraError, OutputError
from downfield.core.platform.system import usable_cores
from downfield.desk.archive.archive_files import StorageError

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ClusterLimits:
    """Limits of tasks."""

    # Tasks with Ray at once, for each processor of the cluster: none waits for the next one, none queues a season
    in_flight_per_cpu: float = 2.0
    # With Ray at once however small the cluster is: a cluster that grows by demand needs to see some
    fewest_in_flight: int = 4
    retries: int = 3  # How often a task is run again whose worker died, or that met a storage that could not be used
    answer_s: float = 5.0  # How long a cluster's address may take to accept a connection
    wait_s: float = 1.0  # After this time without a finished task the size of the cluster is read again
    # Memory of a local cluster for values between tasks, near the least that Ray takes; results go to the archive
    object_store_bytes: int = 80 << 20


CLUSTER_LIMITS: Final = ClusterLimits()

_LOCAL: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # Ray's own way to stay on the loopback; it serves every system
    "RAY_AUTH_MODE": "token",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the coming default; without it Ray warns
}
_TOKEN: Final = secrets.token_hex(32)
"""Lets this process, and nobody else, into the clusters that it starts; Ray reads it once in a process."""

_ADDRESS: Final = re.compile(r"(?:ray://)?(\[[0-9A-Fa-f:]+\]|[^:/\s]+):(\d{1,5})")
_SOCKET_PATH_ROOM: Final = 30
"""Longest folder for Ray's files: the paths of its sockets are 70 characters longer, and may have 107."""


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """A task that has no result: its worker died each time, or the storage could not be used."""

    reason: str


@dataclass(frozen=True, slots=True)
class RayCluster:
    """A cluster that is connected."""

    cpus: float  # processors it had when it was connected

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, cpus: float = 1
    ) -> Generator[tuple[Task, Result | TaskFailure], None, None]:
        """Run tasks, and yield each with its result as it is finished. Ended early, what still runs is cancelled.

        Args:
            function: carries out a task in a worker; may be called again for one whose worker died.
            tasks: taken one by one as there is room for them.
            cpus: processors that one of them needs.
        """
        import ray

        remote = ray.remote(num_cpus=cpus, max_retries=CLUSTER_LIMITS.retries, retry_exceptions=[StorageError])(
            function
        )
        waiting = iter(tasks)
        running: dict[Any, Task] = {}
        try:
            while True:
                there = float(ray.cluster_resources().get("CPU", 0))
                most = max(CLUSTER_LIMITS.fewest_in_flight, round(CLUSTER_LIMITS.in_flight_per_cpu * there / cpus))
                running |= {remote.remote(task): task for task in islice(waiting, max(0, most - len(running)))}
                if not running:
                    return
                finished, _ = ray.wait(list(running), timeout=CLUSTER_LIMITS.wait_s)
                for reference in finished:
                    yield running.pop(reference), _outcome(reference)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


@contextmanager
def connect_cluster(address: str | None, workers: int | None = None) -> Iterator[RayCluster]:
    """Connect to a cluster, or start one of this computer's processors that ends with the block.

    Args:
        address: ``HOST:PORT``, ``ray://HOST:PORT`` or ``auto``; None to start one.
        workers: tasks at a time on one that is started; None for one for each processor.

    Raises:
        MissingExtraError: Ray is not installed.
        InputError: no cluster answers at the address.
        OutputError: none can be started.
    """
    if importlib.util.find_spec("ray") is None:
        raise MissingExtraError("archive", "Judging an archive")
    with _local_cluster(workers) if address is None else _remote_cluster(address) as cluster:
        yield cluster


@contextmanager
def _local_cluster(workers: int | None) -> Iterator[RayCluster]:
    before = {name: os.environ.get(name) for name in (*_LOCAL, "RAY_AUTH_TOKEN")}
    os.environ.update(_LOCAL, RAY_AUTH_TOKEN=_TOKEN)
    import ray

    usual = tempfile.gettempdir()
    folder = tempfile.mkdtemp(prefix="dfa-", dir=usual if len(usual) <= _SOCKET_PATH_ROOM else "/tmp")  # noqa: S108
    try:
        gc.collect()  # Ray forks: garbage of native libraries is freed where their threads are
        try:
            ray.init(
                address="local",
                num_cpus=workers or usable_cores(),
                num_gpus=0,
                include_dashboard=False,
                log_to_driver=False,
                configure_logging=False,
                object_store_memory=CLUSTER_LIMITS.object_store_bytes,
                _temp_dir=folder,
            )
        except Exception as error:  # of any kind: a start that takes too long is a plain `Exception`
            raise OutputError(f"Ray can't be started on this computer: {_one_line(error)}") from None
        yield RayCluster(float(ray.cluster_resources().get("CPU", 1)))
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _remote_cluster(address: str) -> Iterator[RayCluster]:
    _check_answers(address)
    import ray

    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError) as error:  # its errors of connections are among these
        raise InputError(f"{without_password(address)}: no Ray cluster can be used there: {_one_line(error)}") from None
    try:
        yield RayCluster(float(ray.cluster_resources().get("CPU", 0)))
    finally:
        ray.shutdown()


def _check_answers(address: str) -> None:
    """Refuse an address at which nothing listens; Ray would try for many minutes."""
    if address == "auto":
        return
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise InputError(
            f"'{without_password(address)}' is no address of a Ray cluster. Write HOST:PORT, such as 10.0.0.7:6379."
        )
    host, port = found[1].strip("[]"), int(found[2])
    try:
        socket.create_connection((host, port), CLUSTER_LIMITS.answer_s).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"{address}: no Ray cluster answers there: {_one_line(error)}") from None


def _outcome(reference: Any) -> Any:
    """Return the result of a finished task, or why it has none."""
    import ray
    from ray.exceptions import RayError, RayTaskError

    try:
        return ray.get(reference)
    except RayTaskError as error:
        return TaskFailure(_one_line(error.cause or error))
    except RayError as error:
        times = CLUSTER_LIMITS.retries + 1
        return TaskFailure(f"its worker process ended each of {times} times: {type(error).__name__}")


def _one_line(error: BaseException) -> str:
    return without_password(" ".join(str(error).split())) or type(error).__name__
