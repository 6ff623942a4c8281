"""A recorded game of the twin with more than twenty plays and every kind of call, for tests of what comes after a game.

The twin's exact scenes stand in for the tracker's. Each has a small picture with the bases and its index burned in, in
a recording as a rig makes it: the first plays at a constant frame rate, the others at a variable one.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

import cv2
import numpy as np
from bundled_games import CALIBRATION
from recorded_frames import record
from served_games import FakeRig
from twin_recordings import recorded

from downfield.calibration.calibration import write_calibration
from downfield.capture.source import CapturedFrame, VideoPacket
from downfield.core.arrays import Image
from downfield.core.errors import RefusedError
from downfield.core.scene import Contact, Scene
from downfield.game.published.hub import Hub
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import NewGame
from downfield.game.service import GameService
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call
from downfield.officiating.events import Event, Ruling
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

PLAYS: Final = (
    "second-tackler", "falls-alone", "fumble", "out-of-bounds", "touchdown", "safety", "reception", "interception",
    "overrun", "pushed-back", "punt", "six-on-line", "twelve-men", "pivots-none-for-none", "three-stops",
)  # fmt: skip
"""Plays of the twin that show every kind of call a camera can see."""

AGAIN: Final = ("second-tackler", "fumble", "out-of-bounds", "touchdown", "falls-alone", "safety", "reception")
"""Played once more, at a variable frame rate."""

BEGAN_NS: Final = 1_800_000_000_000_000_000
BETWEEN_NS: Final = 5_000_000_000
INDEX_BITS, INDEX_PX = 16, 20  # stripes at the top of a picture, each so wide


@dataclass(frozen=True)
class RecordedGame:
    """The game as the rig left it.

    Attributes:
        data: the rig's data folder, with store and recordings.
        game: the game's id.
        scenes: by the index of their frame.
        kinds: of calls that were made.
    """

    data: Path
    game: str
    scenes: dict[int, Scene]
    kinds: frozenset[str]


def record_game(data: Path) -> RecordedGame:
    """Play, record and end the game."""
    store = Store.at(data / "downfield.db")
    game_service = GameService(
        StoredJournals(store), Hub(), FakeRig(CALIBRATION), CALIBRATION.field, load_rulebook("tap")
    )
    game = game_service.start_game(NewGame(title="final"))
    scenes = {}
    for entry in entries():
        try:
            game_service.take(entry)
        except RefusedError:  # a play that the camera saw no end of: a person ends it
            by_hand(game_service, "stopped")
            game_service.take(entry)
        if isinstance(entry, Scene):
            scenes[entry.frame] = entry
    seen = {call.kind for call in game_service.calls()}
    for kind in get_args(CallKind):
        if kind not in seen:
            by_hand(game_service, kind)
    kinds = frozenset(call.kind for call in game_service.calls())
    game_service.start_game(NewGame(title="the next one"))
    game_service.close()
    store.close()
    frames = [
        CapturedFrame(scene.frame, scene.t_ns, time.monotonic_ns(), VideoPacket("mjpeg", jpeg(scene)))
        for scene in scenes.values()
    ]
    for video in record(data / "recordings", frames):
        write_calibration(video.with_suffix(".calibration.json"), CALIBRATION)
    return RecordedGame(data, game, scenes, kinds)


def by_hand(game_service: GameService, kind: CallKind) -> None:
    """Make a call as a person does."""
    number = len(game_service.calls())
    call = Call(f"manual:{kind}-{number}", kind, 0, "tap", (), "called", f"{kind} by hand", spot_yd=(40.0, 20.0))
    receipt = game_service.rule(Ruling("", "manual", call, "seen by all"), Submission("Referee"))
    assert isinstance(receipt, Accepted), (kind, receipt)


def entries() -> Iterator[Event | Scene]:
    """Yield the scenes and events of all plays, one after another on one clock, in order."""
    made = {name: recorded(name) for name in PLAYS}
    index, start_ns, kept = 0, BEGAN_NS, np.random.default_rng(1)
    for number, name in enumerate((*PLAYS, *AGAIN)):
        play = made[name]
        waiting = [moved(event, number, start_ns) for event in play.events]
        for scene in play.scenes:
            while waiting and waiting[0].t_ns <= start_ns + scene.t_ns:
                yield waiting.pop(0)
            index += 1
            if number < len(PLAYS) or kept.random() > 0.3:
                t_ns = start_ns + scene.t_ns
                ball = scene.ball
                if ball is not None and ball.touched_ns is not None:
                    ball = dataclasses.replace(ball, touched_ns=start_ns + ball.touched_ns)
                yield dataclasses.replace(scene, frame=index, t_ns=t_ns, contacts=contacts(scene, start_ns), ball=ball)
        yield from waiting
        start_ns += play.scenes[-1].t_ns + BETWEEN_NS


def moved(event: Event, number: int, start_ns: int) -> Event:
    return dataclasses.replace(event, id=f"p{number}-{event.id}", t_ns=start_ns + event.t_ns)


def contacts(scene: Scene, start_ns: int) -> tuple[Contact, ...]:
    return tuple(
        dataclasses.replace(contact, since_ns=None if contact.since_ns is None else start_ns + contact.since_ns)
        for contact in scene.contacts
    )


def jpeg(scene: Scene) -> bytes:
    """Return the picture of a scene."""
    width, height = CALIBRATION.camera.lens.size_px
    image = np.full((height, width, 3), (40, 90, 40), np.uint8)
    seen = [figure for figure in scene.figures if figure.posture != "unseen"]
    corners = np.array([figure.footprint.corners_mm() for figure in seen]).reshape(-1, 2)
    pixels = CALIBRATION.camera.to_pixels(np.column_stack([corners, np.full(len(corners), 6.0)]))
    for figure, outline in zip(seen, pixels.reshape(-1, 4, 2), strict=True):
        color = (120, 60, 20) if figure.jersey == "dark" else (230, 230, 230)
        cv2.fillPoly(image, [np.round(outline * 16).astype(np.int32)], color, cv2.LINE_AA, 4)
    for bit in range(INDEX_BITS):
        image[:12, INDEX_PX * bit : INDEX_PX * (bit + 1)] = 255 * (scene.frame >> bit & 1)
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()


def burned_in(image: Image) -> int:
    """Return the index that is burned into a picture, of any size."""
    scale = image.shape[1] / CALIBRATION.camera.lens.size_px[0]
    centers = [round(scale * (INDEX_PX * (bit + 0.5))) for bit in range(INDEX_BITS)]
    return sum(1 << bit for bit, x in enumerate(centers) if image[round(4 * scale), x].mean() > 127)
