"""The words below a picture: the call or the play, what was measured, and which picture it is."""

from __future__ import annotations

from typing import Final

from downfield.capture.footage import CallMarks, FootageFrame, when_text
from downfield.game.published.game_topics import CallView, Standing
from downfield.officiating.belief import percent_text
from downfield.review.pictures.painting import spoken_name

_STANDINGS: Final[dict[Standing, str]] = {
    "open": "open: nobody has decided",
    "confirmed": "confirmed",
    "overturned": "overturned",
    "struck": "struck",
    "manual": "made by hand",
    "noted": "only noted",
    "stands": "",
}


def standing_words(call: CallView) -> str:
    """Return how a call stands and by whom, such as ``"overturned by Ann (a miss)"``; empty where it just stands."""
    standing, ruling = _STANDINGS[call.standing], call.ruling
    if ruling is None:
        return standing
    standing = "called instead of one overturned" if ruling.replaced else standing or ruling.decision
    return f"{standing} by {ruling.by}" + (f" ({ruling.note})" if ruling.note else "")


def call_caption(call: CallView, marks: CallMarks, still: FootageFrame) -> tuple[str, ...]:
    """Return the words below a picture of a call."""
    sure = "" if call.words or call.probability == 1 else f"sure to {percent_text(call.probability)}"
    told = ", ".join(spoken_name(part) for part in (call.words, sure, standing_words(call)) if part)
    gap = marks.bare_gap_text if marks.scene is not None else "no measurement of this frame is kept"
    when = f"Frame {still.frame}, {when_text(still.t_ns - call.t_ns)} the call"
    return (spoken_name(call.text) + (f": {told}" if told else ""), f"{when}{f'; {gap}' if gap else ''}")


def play_caption(play: int, marks: CallMarks, still: FootageFrame) -> tuple[str, ...]:
    """Return the words below a picture of a play, as many lines as a call has; near a call they are the call's."""
    if marks.call is not None:
        first, *others = call_caption(marks.call, marks, still)
        return (f"Play {play}: {first}", *others)
    if marks.snap is None:
        return (f"Play {play}", f"Frame {still.frame}")
    snap = marks.snap
    about = snap.situation if snap.kind == "scrimmage" else snap.kind.replace("_", " ")
    carrier = "" if snap.carrier is None else f", {spoken_name(snap.carrier)} has the ball"
    return (f"Play {play}: {about}{carrier}", f"Frame {still.frame}, {when_text(still.t_ns - snap.t_ns)} the snap")
