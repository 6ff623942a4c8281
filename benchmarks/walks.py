"""Print the way through the modules: of a frame to its call, a declaration to the new state, a call to its evidence.

Run: python benchmarks/walks.py

Every step is the first function entered of a module, in order, so that the way can be followed in the editor. What runs
beside it in threads of its own, such as the writer of a journal, is not part of it. The lists are those of
`docs/architecture.md`, as they are printed; `tests/test_walks.py` holds their length.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final
from urllib.parse import quote

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import numpy as np  # noqa: E402
from asgi_client import AsgiClient  # noqa: E402 - beside the tests
from served_games import FakeRig  # noqa: E402
from structure import ROOMS  # noqa: E402

from downfield.api.app import create_app  # noqa: E402
from downfield.api.context.context import RigParts, context_of  # noqa: E402
from downfield.broadcast.latest_picture import LatestPicture  # noqa: E402
from downfield.calibration.calibration import Calibration  # noqa: E402
from downfield.capture.footage import FootageCalibration, FootageFrame, ScaledPicture  # noqa: E402
from downfield.capture.problems import ActiveProblems  # noqa: E402
from downfield.capture.source import CaptureClock, CapturedFrame, FrameSource, LoopObserver, SourceFacts  # noqa: E402
from downfield.capture.sources.file_sources import bundled_demo, open_clip  # noqa: E402
from downfield.core.arrays import Image  # noqa: E402
from downfield.core.frame import Frame  # noqa: E402
from downfield.core.scene import Scene  # noqa: E402
from downfield.game.published.hub import Hub  # noqa: E402
from downfield.game.records.commands import NewGame  # noqa: E402
from downfield.game.service import GameService  # noqa: E402
from downfield.officiating.calls import Call  # noqa: E402
from downfield.officiating.events import Event  # noqa: E402
from downfield.officiating.rulebooks.rulebook import load_rulebook  # noqa: E402
from downfield.rig.configuration.loading import load  # noqa: E402
from downfield.rig.live.loop import Loop  # noqa: E402
from downfield.rig.live.vision_stages import open_vision  # noqa: E402
from downfield.rig.tables.table import open_table  # noqa: E402
from downfield.store.writing.journals import StoredJournals  # noqa: E402
from downfield.store.writing.store import Store  # noqa: E402

WATCHED_FROM: Final = 265
"""Index of the first frame of the frames' walk: the board is on for the last time before the tackle."""

FRAME_NS: Final = 33_333_333

TACKLE: Final = ("tackle", "dark-28", "light-24")
"""The call that the bundled recording shows first after that, and its players."""

STAGES: Final = ("capture", "decode", "detect", "track", "judge")
"""Names of the loop's threads, in the order in which a frame goes through them."""

FOLDERS: Final = frozenset(ROOMS) - {"desk", "cli", "twin", "training"}


@dataclass(frozen=True, slots=True)
class Step:
    """The first function entered of a module, and the thread that entered it."""

    module: str
    function: str
    thread: str


@dataclass(slots=True)
class Walk:
    """The modules that some work entered, in order.

    Attributes:
        steps: each module once.
        passes: how often each class was entered from another one. What one method of the other, and those it calls of
            its own class, do with it is one pass. Frozen dataclasses, which are data, and properties are not counted.
    """

    steps: list[Step] = field(default_factory=list)
    passes: Counter[str] = field(default_factory=Counter)
    _modules: set[str] = field(default_factory=set)
    _frames: dict[int, FrameType] = field(default_factory=dict)  # kept, so that an id stands for one frame
    _visits: set[tuple[str, int]] = field(default_factory=set)

    def enter(self, frame: FrameType) -> None:
        """Note a function that is called, if it is one of ours; a coroutine that goes on is not called again."""
        if not _is_ours(frame) or id(frame) in self._frames:
            return
        self._frames[id(frame)] = frame
        module = str(Path(frame.f_code.co_filename).resolve().relative_to(ROOT))
        if module not in self._modules:
            self._modules.add(module)
            self.steps.append(Step(module, frame.f_code.co_qualname, threading.current_thread().name))
        owner, caller = _owner(frame), _caller(frame)
        if owner and caller is not None and _owner(caller) != owner and not _is_data(frame):
            while (before := _caller(caller)) is not None and _owner(caller) and _owner(before) == _owner(caller):
                caller = before
            if (owner, id(caller)) not in self._visits:
                self._visits.add((owner, id(caller)))
                self.passes[owner] += 1


def _is_ours(frame: FrameType) -> bool:
    return _is_file_of_ours(frame.f_code.co_filename)


@cache
def _is_file_of_ours(name: str) -> bool:
    """Return whether a source file is one of ours; every call of any function comes to this question."""
    path = Path(name).resolve()  # a room may be reached by a link, as in build/typing
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS


def _caller(frame: FrameType) -> FrameType | None:
    """Return the nearest frame of ours that a frame was called from."""
    caller = frame.f_back
    while caller is not None and not _is_ours(caller):
        caller = caller.f_back
    return caller


def _owner(frame: FrameType) -> str:
    """Return the class whose method a frame, or what it stands in, belongs to; empty for a plain function."""
    return frame.f_code.co_qualname.partition(".<")[0].rpartition(".")[0]


def _is_data(frame: FrameType) -> bool:
    owner = type(frame.f_locals.get("self"))
    parameters = getattr(owner, "__dataclass_params__", None)
    return isinstance(getattr(owner, frame.f_code.co_name, None), property) or bool(parameters and parameters.frozen)


@contextmanager
def recorded(active: Callable[[], bool] = lambda: True) -> Iterator[Walk]:
    """Record a walk through this thread and through those that are started meanwhile, while it is active."""
    walk = Walk()

    def trace(frame: FrameType, event: str, _: Any) -> None:  # of calls of Python alone, which a profile is not
        if event == "call" and active():
            walk.enter(frame)

    threading.settrace(trace)
    sys.settrace(trace)
    try:
        yield walk
    finally:
        sys.settrace(None)
        threading.settrace(None)


class _Footage:
    """Has a picture of every scene of a play."""

    def __init__(self, times_ns: list[int], calibration: Calibration) -> None:
        self._times_ns, self._calibration = times_ns, calibration

    def between(self, from_ns: int, to_ns: int, began_ns: int) -> tuple[FootageFrame, ...]:  # noqa: ARG002 - the seam's
        found = [(frame, t_ns) for frame, t_ns in enumerate(self._times_ns) if from_ns <= t_ns <= to_ns]
        return tuple(FootageFrame(frame, t_ns, Path("play.mkv"), t_ns) for frame, t_ns in found)

    def picture(self, _: FootageFrame) -> Image:
        return np.zeros((1080, 1920, 3), np.uint8)

    def pictures(self, stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
        return (self.picture(still) for still in stills)

    def scaled_pictures(self, stills: Iterable[FootageFrame], width_px: int) -> Iterator[ScaledPicture | None]:
        small = np.zeros((width_px * 9 // 16, width_px, 3), np.uint8)
        return (ScaledPicture(small, (1920, 1080)) for _ in stills)

    def calibration(self, _: FootageFrame) -> FootageCalibration:
        return FootageCalibration(self._calibration, "")


@dataclass(frozen=True, slots=True)
class _Table:
    """A service over the bundled recording, whose game has been judged up to an entry.

    Attributes:
        service: runs the game.
        client: sends requests to the API over it.
        rest: scenes and events that are still to come, in order.
    """

    service: GameService
    client: AsgiClient
    rest: Iterator[Scene | Event]


@contextmanager
def _table() -> Iterator[_Table]:
    recording = open_clip(bundled_demo())
    header, scenes = recording.tracks.header, list(recording.tracks)
    both: list[Scene | Event] = [*recording.events, *scenes]
    entries = sorted(both, key=lambda entry: (entry.t_ns, isinstance(entry, Scene)))
    with tempfile.TemporaryDirectory() as folder:
        store, hub = Store.at(Path(folder) / "walk.db"), Hub()
        service = GameService(StoredJournals(store), hub, FakeRig(recording.calibration), header.field, load_rulebook())
        service.start_game(NewGame(), header.players)
        footage = _Footage([scene.t_ns for scene in scenes], recording.calibration)
        app = create_app(RigParts(service, hub, LatestPicture(), store, footage))
        try:
            yield _Table(service, AsgiClient(app), iter(entries))
            context_of(app).close()
        finally:
            service.close()
            store.close()


def declaration_walk() -> Walk:
    """Return the walk of a declaration, "dark 28 has the ball", from HTTP to the published state."""
    with _table() as table:
        for entry in table.rest:
            if isinstance(entry, Event) and entry.body.type == "carrier":
                break
            table.service.take(entry)
        else:
            raise RuntimeError("The bundled recording has no declaration of a carrier.")
        body = {"declaration": {"type": "carrier", "player": entry.body.player}}
        table.client.post("/api/games/current/calls")  # what is imported or built once is no part of the walk
        with recorded() as walk:
            answer = table.client.post("/api/declarations", body, idempotency_key="walk")
        if answer.status != 200:
            raise RuntimeError(f"The declaration was refused: {answer.body.decode()}")
    return walk


def evidence_walk() -> Walk:
    """Return the walk of a tackle, from the scene that decides it to the page with its pictures."""
    with _table() as table:
        for entry in table.rest:
            if entry.t_ns < WATCHED_FROM * FRAME_NS:
                table.service.take(entry)
                continue
            with recorded() as walk:
                calls = table.service.take(entry)
                tackle = next((call for call in calls if call.kind == "tackle"), None)
                if tackle is not None:
                    path = f"/api/games/current/calls/{quote(tackle.id, safe='')}/frames"
                    frames = table.client.get(path)
                    picture = table.client.get(f"{path}/{frames.json['decisive']}.jpg")
            if tackle is not None:
                break
        else:
            raise RuntimeError("The bundled recording has no tackle.")
        if (frames.status, picture.status) != (200, 200):
            raise RuntimeError(f"The evidence was refused: {frames.body.decode()}")
    return walk


def stage_of(step: Step) -> str:
    """Return the stage of the loop that entered a module; what other threads do is part of detection."""
    return next((name for name in STAGES if step.thread.startswith(name)), "detect")


class _Window(LoopObserver):
    """Is open from some frame on until the call of the tackle is published."""

    def __init__(self, loop_stop: Callable[[], None]) -> None:
        self._stop = loop_stop
        self.open, self.found = False, False

    def scene_ready(self, frame: Frame, scene: Scene, /) -> None:  # noqa: ARG002 - the seam's
        self.open = self.open or frame.index == WATCHED_FROM

    def entry_judged(self, entry: Scene | Event, calls: tuple[Call, ...], /) -> None:
        if self.open and isinstance(entry, Scene):
            self.found |= any((call.kind, *call.players) == TACKLE for call in calls)
            if self.found:
                self.open = False
                self._stop()


@dataclass(frozen=True, slots=True)
class _Sparse:
    """A recording of which every third frame is taken until soon before the walk."""

    whole: FrameSource

    @property
    def facts(self) -> SourceFacts:
        return self.whole.facts

    def frames(self) -> Iterator[CapturedFrame]:
        return (frame for frame in self.whole.frames() if frame.index > WATCHED_FROM - 30 or frame.index % 3 == 0)

    def close(self) -> None:
        self.whole.close()


def frame_walk() -> Walk:
    """Return the walk of frames of the bundled recording from the file to the tackle they show, published.

    The loop runs as it does live, without observers such as the recorder and the annotated picture; what is declared
    once the walk has begun is left out.
    """
    settings = load(None, command_line={"service.on": False}).settings
    problems = ActiveProblems()
    table = open_table(settings, CaptureClock(), problems, open_vision, paced=False)
    with tempfile.TemporaryDirectory() as folder:
        store = Store.at(Path(folder) / "walk.db")
        service = GameService(StoredJournals(store), Hub(), FakeRig(table.calibration), table.field, load_rulebook())
        service.restart()
        loop: Loop | None = None
        window = _Window(lambda: None if loop is None else loop.stop())
        loop = Loop(
            _Sparse(table.source),
            table.vision,
            service,
            problems,
            events=[event for event in table.events if event.t_ns < WATCHED_FROM * FRAME_NS],
            observers=(window,),
        )
        try:
            with recorded(lambda: window.open) as walk:
                loop.run()
        finally:
            service.close()
            store.close()
    if not window.found:
        raise RuntimeError("The bundled recording shows no tackle of dark 28 by light 24.")
    # The stages run side by side: in the order in which a frame goes through them.
    walk.steps.sort(key=lambda step: STAGES.index(stage_of(step)))
    return walk


WALKS: Final = {"frame": frame_walk, "declaration": declaration_walk, "evidence": evidence_walk}


def main() -> None:
    """Print every walk."""
    for name, record_walk in WALKS.items():
        walk = record_walk()
        print(f"{name}: {len(walk.steps)} modules")
        stages = [stage_of(step) if name == "frame" else "" for step in walk.steps]
        for number, (step, stage) in enumerate(zip(walk.steps, stages, strict=True), start=1):
            if stage and stage not in stages[: number - 1]:
                print(f"\n**{stage.capitalize()}**\n")
            print(f"{number}. `{step.module}`: `{step.function}`")
        again = {owner: count for owner, count in walk.passes.items() if count > 1}
        print(f"classes passed more than once: {again or 'none'}\n")


if __name__ == "__main__":
    main()
