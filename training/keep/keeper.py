"""Holds a trainer's folder and keeps its worker processes running: those that trace, and the one that learns.

Each worker is a process in a session of its own that gets the processor only when no other program wants it. It ends
when the keeper is gone, however that ended, and is started again when it ended by itself.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from downfield.core.errors import DownfieldError
from downfield.core.platform.processes import begin_session, end_with_client, restore_process_priority, run_when_idle
from downfield.training.keep.folder import TrainerFolder
from downfield.training.keep.plans import KeepPlan
from downfield.training.keep.progress import row_line

_LOOK_S: Final = 2.0
_AGAIN_S: Final = 30.0
"""Wait before a worker that ended by itself is started again: its reason, such as a full disk, may last."""
_SAVE_S: Final = 90.0  # wait for the learner to save and end

_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


class Keeper:
    """A trainer of one folder.

    Args:
        report: gets one line for each row of the table, and for each worker that ended by itself.
    """

    def __init__(self, path: Path, plan: KeepPlan, report: Callable[[str], None] = lambda _line: None) -> None:
        self._folder, self._plan, self._report = TrainerFolder(path), plan, report
        self._workers: dict[str, BaseProcess] = {}
        self._stopped = False

    def stop(self) -> None:
        """End `run` soon; may be called from a signal handler."""
        self._stopped = True

    def run(self) -> None:
        """Train until stopped. Raises InputError: another trainer works on it; OutputError: it can't be written."""
        lock = self._folder.hold()
        shown, due = len(self._folder.rows()), dict.fromkeys(self._tasks(), 0.0)
        try:
            while not self._stopped:
                for name, at_s in due.items():
                    worker = self._workers.get(name)
                    if worker is not None and not worker.is_alive():
                        self._report(
                            f"{name} ended with status {worker.exitcode}; it is started again in {_AGAIN_S:.0f} s"
                        )
                        del self._workers[name]
                        due[name] = time.monotonic() + _AGAIN_S
                    elif worker is None and time.monotonic() >= at_s:
                        self._workers[name] = self._started(name)
                wait([worker.sentinel for worker in self._workers.values()], _LOOK_S)
                rows = self._folder.rows()
                for row in rows[shown:]:
                    self._report(row_line(row))
                shown = len(rows)
        finally:
            self._end()
            os.close(lock)

    def _tasks(self) -> list[str]:
        return ["learner", *(f"tracer-{number}" for number in range(max(self._plan.cores // 2, 1)))]

    def _started(self, name: str) -> BaseProcess:
        threads = max(self._plan.cores - self._plan.cores // 2, 1) if name == "learner" else 1
        os.environ.update(dict.fromkeys(_THREADS, str(threads)))
        number = None if name == "learner" else int(name.rpartition("-")[2])
        workers = len(self._tasks()) - 1
        process = get_context("spawn").Process(
            target=work, args=(self._folder.path, self._plan, number, workers), name=name, daemon=True
        )
        process.start()
        return process

    def _end(self) -> None:
        """Have the learner save and all workers end, soon: idle ones would take minutes on a busy computer."""
        for worker in self._workers.values():
            worker.terminate()
            if worker.pid is not None:
                restore_process_priority(worker.pid)
        until_s = time.monotonic() + _SAVE_S
        for worker in self._workers.values():
            worker.join(max(until_s - time.monotonic(), 0.0))
            if worker.is_alive():
                worker.kill()


def work(path: Path, plan: KeepPlan, tracer: int | None, tracers: int) -> None:
    """Do what a worker process does: trace as tracer of a number, of so many, or learn."""
    begin_session()
    keeper = parent_process()
    assert keeper is not None
    end_with_client(keeper.sentinel)
    if plan.is_idle:
        run_when_idle()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = TrainerFolder(path)
    try:
        if tracer is not None:
            import cv2

            from downfield.training.keep.tracing import trace_endlessly

            cv2.setNumThreads(1)
            trace_endlessly(folder, plan.tracing, tracer, tracers, lambda: False)
            return
        import torch

        from downfield.training.keep.learning import Learner

        torch.set_num_threads(int(os.environ[_THREADS[0]]))
        stopped: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _frame: stopped.append(number))
        Learner(folder, plan.learning).run(lambda: bool(stopped))
    except (DownfieldError, OSError) as error:
        raise SystemExit(f"{'learner' if tracer is None else f'tracer-{tracer}'}: {error}") from None
