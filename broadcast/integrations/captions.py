"""The calls of a game as WebVTT captions, timed from the start of the recording or of a stream."""

from __future__ import annotations

import html
from collections.abc import Sequence

from downfield.game.published.game_topics import CallView
from downfield.review.pictures.painting import spoken_name

WALL_CLOCK_NS = 10**17
"""Capture times above this are ns since 1970, those of live sources; others count from the start of a recording."""

SHOWN_S = 5.0
"""How long a caption stays, if no other follows."""


def web_vtt(calls: Sequence[CallView], from_ns: int, offset_s: float = 0.0) -> str:
    """Return captions (https://www.w3.org/TR/webvtt1/); calls before the start of the video are left out.

    Args:
        calls: in any order.
        from_ns: the instant at which the video begins, on the calls' clock.
        offset_s: added to all times.

    """
    shown = sorted((call for call in calls if call.verdict != "reported"), key=lambda call: call.t_ns)
    times = [
        round((call.t_ns - from_ns) / 1e9 + offset_s, 3) for call in shown
    ]  # as written: a cue must end after it begins
    lines = ["WEBVTT", ""]
    for place, (call, at_s) in enumerate(zip(shown, times, strict=True)):
        if at_s < 0:
            continue
        later = [time for time in times[place + 1 :] if time > at_s]
        until_s = min([at_s + SHOWN_S, *later[:1]])
        text = spoken_name(call.text)
        words = text[:1].upper() + text[1:]
        lines += [
            call.id.replace("-->", "").replace("\n", " "),
            f"{_time(at_s)} --> {_time(until_s)}",
            html.escape(words, quote=False),
            "",
        ]
    return "\n".join(lines)


def _time(seconds: float) -> str:
    whole_ms = round(seconds * 1000)
    minutes, ms = divmod(whole_ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{ms // 1000:02d}.{ms % 1000:03d}"
