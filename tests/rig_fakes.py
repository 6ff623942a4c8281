"""Fakes for the parts that the loop connects: a source, a vision stage, a referee and an observer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from downfield.calibration.camera import Camera
from downfield.capture.source import CapturedFrame, LoopObserver, NoticeLevel, SourceFacts
from downfield.core.field.model import preset
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Contact, Figure, Jersey, Player, Scene
from downfield.core.track_files import RosterSpot
from downfield.game.published.publisher import LineUpStatus
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Carrier, LineUpDeclared, SetUp
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.live.connections import DetectionResult
from downfield.vision.board.picture_health import PictureHealth

FIELD = preset("ultimate")
PLAYERS = (Player("dark-1", "dark", "1", "QB"), Player("light-9", "light", "9", "LB"))
FPS = 30
EVENTS = (
    Event("1", 0, "operator", SetUp("home", 1, 40.0)),
    Event("2", 1, "operator", LineUpDeclared(PLAYERS, "dark")),
    Event("3", 2, "operator", Carrier("dark-1")),
)


def tackle(index: int, t_ns: int | None = None) -> Scene:
    """Return a scene of a play: the carrier walks into a standing defender at frame 30."""
    t_ns = index * 1_000_000_000 // FPS if t_ns is None else t_ns
    contacts: tuple[Contact, ...] = ()
    if index >= 30:
        since_ns = t_ns - (index - 30) * 1_000_000_000 // FPS
        contacts = (Contact("dark-1", "light-9", -0.05, 0.0, 1.0, "front", "front", 0.0, 18.0, since_ns),)
    figures = (
        Figure("dark-1", "dark", 400 + min(index, 30) * 1.5, 290, 0, 30, 18),
        Figure("light-9", "light", 475, 290, 180, 30, 18),
    )
    return Scene(index, t_ns, "on" if index > 3 else "off", figures, contacts)


class FakeSource:
    """Sends gray pictures.

    Args:
        count: how many.
        live: whether it is a live source.
        pause_s: between two.
    """

    def __init__(self, count: int = 90, *, live: bool = False, pause_s: float = 0.0) -> None:
        self.count, self.pause_s = count, pause_s
        self.facts = SourceFacts("camera" if live else "clip", "fake", (32, 18), float(FPS), live)
        self._closed = threading.Event()

    def frames(self) -> Iterator[CapturedFrame]:
        for index in range(self.count):
            if self._closed.wait(self.pause_s):
                return
            image = np.full((18, 32, 3), index % 256, dtype=np.uint8)
            yield CapturedFrame(index, index * 1_000_000_000 // FPS, time.monotonic_ns(), image=image)

    def close(self) -> None:
        self._closed.set()


class FakeVision:
    """Returns the scenes of a tackle, whatever is in the picture.

    Args:
        before_update: is called first, with the frame.

    Attributes:
        updated: indices of the frames that were processed.
        carriers: the ball carrier passed with each of them.
        line_ups, lefts: the rosters, and the teams on the left, that were passed to `line_up`.
        identities: what was passed to `identify`.
        searches: number of calls of `find_figures`.
    """

    def __init__(self, before_update: Callable[[Frame], None] | None = None) -> None:
        self.before_update = before_update
        self.updated: list[int] = []
        self.carriers: list[str | None] = []
        self.line_ups: list[tuple[Player, ...]] = []
        self.lefts: list[Jersey | None] = []
        self.fronts: list[tuple[str, float | None]] = []
        self.identities: list[tuple[Jersey | None, tuple[RosterSpot, ...]]] = []
        self.searches = 0
        self.players: tuple[Player, ...] = ()
        self.health: PictureHealth | None = None
        self.camera: Camera | None = None

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the interface's
        return ()

    def update(self, frame: Frame, detections: DetectionResult, carrier: str | None = None) -> Scene:
        detections()
        self.carriers.append(carrier)
        if self.before_update is not None:
            self.before_update(frame)
        self.updated.append(frame.index)
        return tackle(frame.index, frame.t_ns)

    def line_up(self, players: tuple[Player, ...], left: Jersey | None = None) -> None:
        self.lefts.append(left)
        self.line_ups.append(players)
        self.players = players

    def identify(self, left: Jersey | None, spots: Sequence[RosterSpot] = ()) -> None:
        self.identities.append((left, tuple(spots)))

    def settle_front(self, player: str, heading_deg: float | None) -> None:
        self.fronts.append((player, heading_deg))

    def find_figures(self) -> None:
        self.searches += 1


class FakeReferee:
    """Runs a game without a journal.

    Args:
        before_take: is called first, with the entry.

    Attributes:
        line_up: the line-up that the loop passes to vision; not that of the game.
        carrier: the ball carrier that it passes to vision.
    """

    def __init__(self, before_take: Callable[[Scene | Event], None] | None = None) -> None:
        self.before_take = before_take
        self.game = JudgedGame(load_rulebook("tap"), FIELD)
        self.line_up = LineUpStatus()
        self.carrier: str | None = None
        self.scenes: list[Scene] = []
        self.ticks = 0

    def take(self, entry: Scene | Event) -> tuple[Call, ...]:
        if self.before_take is not None:
            self.before_take(entry)
        if isinstance(entry, Scene):
            self.scenes.append(entry)
        return self.game.apply(entry).calls

    def tick(self) -> None:
        self.ticks += 1


class RecordingObserver(LoopObserver):
    """Records what it is notified of."""

    def __init__(self) -> None:
        self.captured: list[int] = []
        self.calls: list[Call] = []
        self.refusals: list[str] = []
        self.notices: list[str] = []

    def frame_captured(self, frame: CapturedFrame) -> None:
        self.captured.append(frame.index)

    def entry_judged(self, _: Scene | Event, calls: tuple[Call, ...]) -> None:
        self.calls += calls

    def event_refused(self, event: Event, reason: str) -> None:
        self.refusals.append(f"{event.id}: {reason}")

    def notice_given(self, level: NoticeLevel, text: str) -> None:
        self.notices.append(f"{level}: {text}")
