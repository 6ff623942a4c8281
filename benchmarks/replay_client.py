"""A client that has plays called and takes the first pictures of each call's replay, as the overlay does."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, Final

from downfield.broadcast.replay.highlights import WORTH

_PLAY_S: Final = 22.0
"""The bundled clip's play, forward and backward, at 30 frames/s, and some time to call it."""
_DECLARATIONS: Final = (
    {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 34.0, "down": 1, "distance_yd": 10.0},
    {"type": "carrier", "player": "dark-28"},
    {"type": "set"},
)


class FollowedFeed:
    """The calls and replays of a rig, as its feed tells of them; asking for them again and again would be work for it.

    Args:
        base: its address, without a slash at the end.
    """

    def __init__(self, base: str) -> None:
        self._base = base
        self._changed = threading.Condition()
        self._called_at: list[float] = []
        self._known: set[str] = set()
        self._replay: dict[str, Any] = {"take": 0, "state": "none"}
        threading.Thread(target=self._follow, daemon=True).start()

    def next_call(self, timeout_s: float) -> float | None:
        """Return when the next call worth a replay came, on the monotonic clock; None if none came in time."""
        with self._changed:
            self._called_at.clear()
            self._changed.wait_for(lambda: self._called_at, timeout_s)
            return self._called_at[0] if self._called_at else None

    def replay(self, earlier: int, timeout_s: float) -> dict[str, Any] | None:
        """Return the first replay after a take that is made or can't be; None if none came in time."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._replay["take"] > earlier and self._replay["state"] in {"ready", "failed"}, timeout_s
            )
            return self._replay if self._replay["take"] > earlier else None

    def _follow(self) -> None:
        while True:
            with contextlib.suppress(OSError, ValueError):
                url = f"{self._base}/api/feed?topics=calls,replay"
                with urllib.request.urlopen(url, timeout=30) as answer:
                    for line in answer:
                        if line.startswith(b"data: "):
                            self._take(json.loads(line[6:]))
            time.sleep(0.2)

    def _take(self, message: dict[str, Any]) -> None:
        topic, data = message["topic"], message["data"]
        now = time.monotonic()
        told = data if topic == "snapshot" else {topic: data}
        with self._changed:
            for call in told.get("calls", {}).get("calls", ()):
                if call["id"] not in self._known:
                    self._known.add(call["id"])
                    if topic != "snapshot" and call["frame"] and call["kind"] in WORTH:
                        self._called_at.append(now)
            self._replay = told.get("replay", self._replay)
            self._changed.notify_all()


def play_and_replay(base: str, report: Callable[[float], None], count: Callable[[str], None]) -> None:
    """Have plays called for ever; report how long after each call the first pictures of its replay came, seconds."""
    feed, taken = FollowedFeed(base), 0
    while True:
        for declaration in _DECLARATIONS:
            _declare(base, declaration, count)
        called_at = feed.next_call(_PLAY_S)
        if called_at is None:
            continue
        count("calls")
        replay = feed.replay(taken, _PLAY_S)
        if replay is None or replay["state"] == "failed":
            count("replay not made in time" if replay is None else f"replay not made: {replay['text']}")
            continue
        taken = replay["take"]
        with urllib.request.urlopen(f"{base}/{replay['clip']}", timeout=20) as answer:
            answer.read(64_000)
            report(time.monotonic() - called_at)
            while answer.read(1 << 20):
                pass


def _declare(base: str, declaration: dict[str, Any], count: Callable[[str], None]) -> None:
    body = json.dumps({"declaration": declaration}).encode()
    try:
        request = urllib.request.Request(f"{base}/api/declarations", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20):
            pass
    except urllib.error.HTTPError as error:
        count(f"declaration of {declaration['type']} refused: {error.read()[:200]!r}")
    except OSError as error:
        count(f"declaration of {declaration['type']} failed: {error}")
