"""Named plays, each recorded once for all tests of a run, and what is asked of a recording."""

from __future__ import annotations

from functools import cache

from once_a_run import KEPT, once_a_run

from downfield.core.field.model import preset
from downfield.core.scene import Contact, Figure, Scene
from downfield.twin.plays.playbook.index import named
from downfield.twin.plays.recording import PlayRecording

FIELD = preset("ultimate")


@cache
def recorded(name: str) -> PlayRecording:
    """A named play, played."""
    return once_a_run(f"play-{name}", named(name).record)


KEPT.append(recorded.cache_clear)


def figure(scene: Scene, id_: str) -> Figure:
    return next(one for one in scene.figures if one.id == id_)


def contacts(recording: PlayRecording, a: str, b: str) -> list[Contact]:
    pair = tuple(sorted((a, b)))
    return [one for scene in recording.scenes for one in scene.contacts if (one.a, one.b) == pair]


def happened(recording: PlayRecording, what: str, player: str) -> list[int]:
    return [e.t_ns for e in recording.happened if e.type == what and player in (e.player, e.other)]


def touched_by_opponent(recording: PlayRecording, player: str) -> bool:
    return any(
        event.type == "touched" and player in (event.player, event.other) and event.player[0] != (event.other or "")[0]
        for event in recording.happened
    )
