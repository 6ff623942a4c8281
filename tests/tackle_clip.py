"""A recording of three seconds with its tracks, declarations and calibration: a tackle, and next to nothing to play."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import av
import numpy as np

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.calibration.camera import Camera, Lens
from downfield.core.field.model import preset
from downfield.core.scene import Contact, Figure, Player, Scene
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.officiating.declarations import Carrier, LineUpDeclared, SetUp
from downfield.officiating.events import Event, EventsHeader, write_events

FIELD: Final = preset("ultimate")
PLAYERS: Final = (Player("dark-1", "dark", "1", "QB"), Player("light-9", "light", "9", "LB"))
FRAMES: Final = 90
FPS: Final = 30


def scene(index: int) -> Scene:
    """Return a scene of a play: the carrier walks into a standing defender at frame 30."""
    t_ns = index * 1_000_000_000 // FPS
    ahead = min(index, 30) * 1.5
    contacts: tuple[Contact, ...] = ()
    if index >= 30:
        contacts = (
            Contact("dark-1", "light-9", -0.05, 0.0, 1.0, "front", "front", 0.0, 18.0, 30 * 1_000_000_000 // FPS),
        )
    figures = (Figure("dark-1", "dark", 400 + ahead, 290, 0, 30, 18), Figure("light-9", "light", 475, 290, 180, 30, 18))
    return Scene(index, t_ns, "on" if index > 3 else "off", figures, contacts)


def write_tackle_clip(folder: Path) -> Path:
    """Write the recording and what lies beside it into a folder; return the video."""
    video = folder / "tackle.mp4"
    with av.open(str(video), "w") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        for i in range(FRAMES):
            picture = np.full((180, 320, 3), (40, 90 + i, 40), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        container.mux(stream.encode())
    camera = Camera(Lens((320, 180), (250, 250), (159.5, 89.5)), (np.pi, 0.0, 0.0), (-495.0, 290.0, 1000.0))
    write_calibration(video.with_suffix(".calibration.json"), Calibration(FIELD, camera, "truth"))
    scenes = (scene(i) for i in range(FRAMES))
    write_tracks(video.with_suffix(".tracks.jsonl"), TracksHeader(FIELD, PLAYERS, FPS, "test"), scenes)
    events = (
        Event("1", 0, "operator", SetUp("home", 1, 40.0)),
        Event("2", 1, "operator", LineUpDeclared(PLAYERS, "dark")),
        Event("3", 2, "operator", Carrier("dark-1")),
    )
    write_events(video.with_suffix(".events.jsonl"), EventsHeader("test"), events)
    return video
