"""What is published of a strip: the reading in words, and the question when the game says something else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from downfield.core.records import to_json
from downfield.core.strip import Count, StripSet
from downfield.game.published.strip_topic import StripAnswer, StripQuestion, StripStatus, StripView
from downfield.game.strip.strip_facts import StripDifference, StripFacts
from downfield.game.strip.strip_moves import StripMoveFound
from downfield.vision.strip.dial_reader import UNDER_REFLECTION
from downfield.vision.strip.strip_reader import StripReading

MOST_MOVES: Final = 3
"""Explanations offered at most: more leave the choice to the two readings."""

DIAL_NAMES: Final[dict[Count, str]] = {
    "home": "home score",
    "away": "away score",
    "down": "down",
    "quarter": "quarter",
    "minutes": "minute",
    "seconds": "second",
}


def question_about(
    name: str,
    different: Sequence[StripDifference],
    moves: Sequence[StripMoveFound],
    set_ups: Sequence[StripMoveFound],
) -> StripQuestion:
    """Return the question which is right, with every answer.

    Args:
        name: the question's id.
        different: what differs, at least one thing.
        moves: what may have happened.
        set_ups: the game as the strip says, one for each side that may have the ball.
    """
    strip = ", ".join(each.strip for each in different)
    game = ", ".join(each.game for each in different)
    subject = "slide" if [each.about for each in different] == ["slide"] else "strip"
    text = f"The {subject} says {strip}; the game says {game}: which?"
    answers = [StripAnswer(label=_capital(move.text), declaration=_declared(move)) for move in moves[:MOST_MOVES]]
    for found in set_ups:
        who = f" ({found.text})" if found.text else ""
        answers.append(StripAnswer(label=f"{_capital(subject)}: {strip}{who}", declaration=_declared(found)))
    answers.append(StripAnswer(label=f"Game: {game}", declaration=None))
    return StripQuestion(id=name, text=text, answers=tuple(answers))


def view_of(
    reading: StripReading,
    facts: StripFacts,
    strip: StripSet,
    status: StripStatus,
    text: str,
    question: StripQuestion | None = None,
) -> StripView:
    """Return the topic `strip`.

    Args:
        reading: the latest.
        facts: what it says for sure.
        status: how it stands.
        text: of the status, for people.
        question: the one that is open.
    """
    confidence: dict[str, float] = {name: round(sure, 2) for name, (_, sure) in reading.numbers.items()}
    confidence |= {"slide": round(reading.slide.yard_confidence, 2), "third": round(reading.slide.third_confidence, 2)}
    return StripView(
        status=status,
        text=text,
        slide_yd=None if facts.spot_yd is None else round(facts.spot_yd),
        third=facts.third,
        numbers={str(name): number for name, number in facts.numbers.items()},
        confidence=confidence if reading.settled else {},
        unread=unread_of(reading, facts, strip),
        hidden=hidden_of(reading, facts, strip),
        question=question,
    )


def unread_of(reading: StripReading, facts: StripFacts, strip: StripSet) -> tuple[str, ...]:
    """Return what a settled reading does not say for sure, and why."""
    if not reading.settled:
        return ()
    unread = []
    if facts.spot_yd is None:
        line = reading.slide.line_yd
        seen = "no line is seen" if line is None else f"it is at {line:.1f} yd, between two yards"
        unread.append(f"slide: {seen}")
    if facts.third is None:
        unread.append("ball: it is between two thirds, or not seen")
    for dial, face in zip(strip.dials, reading.dials, strict=True):
        if dial.counts not in facts.numbers and (face.face is None or face.confidence < 1):
            unread.append(f"{dial.counts}: {face.reason or 'the number is not clear'}")
    return tuple(dict.fromkeys(unread))


def hidden_of(reading: StripReading, facts: StripFacts, strip: StripSet) -> tuple[str, ...]:
    """Return what to do about each count whose dial a reflection hides."""
    if not reading.settled:
        return ()
    hidden = (
        dial.counts
        for dial, read in zip(strip.dials, reading.dials, strict=True)
        if dial.counts not in facts.numbers and read.reason == UNDER_REFLECTION
    )
    return tuple(
        f"A reflection hides the {DIAL_NAMES[counts]} on its dial: tilt the lamp, or lower the camera's exposure. Until"
        " then the game's own counts, and the dial is not checked."
        for counts in dict.fromkeys(hidden)
    )


def summary_of(facts: StripFacts) -> str:
    """Return what a strip says on one line."""
    parts = []
    if facts.score is not None:
        parts.append("{}-{}".format(*facts.score))
    if "quarter" in facts.numbers:
        parts.append(f"Q{facts.numbers['quarter']}")
    if facts.clock_s is not None:
        parts.append(f"{facts.clock_s // 60}:{facts.clock_s % 60:02d}")
    if "down" in facts.numbers:
        parts.append(f"down {facts.numbers['down']}")
    if facts.spot_yd is not None:
        parts.append(f"slide {facts.spot_yd:.0f}")
    if facts.third is not None:
        parts.append(f"ball {facts.third}")
    return ", ".join(parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _declared(move: StripMoveFound) -> dict[str, object]:
    data: dict[str, object] = json.loads(to_json(type(move.declaration), move.declaration))
    return data
