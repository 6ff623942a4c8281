"""Follows a game by its strip: checks the state, asks when the two differ, and declares what only the strip tells.

Cards and dice are declared by people, and the rules work out the rest; the strip, as its coach sets it afterwards, is
compared with that. What the cards leave open is taken from it: the ball's third where the card's dot was not entered,
and a choice (a penalty taken or declined) where just one option leads to what the strip says. A move that nobody
entered a card for is asked about, or declared by itself where that is configured and only one play explains it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

from downfield.core.errors import RefusedError
from downfield.core.records import to_json
from downfield.core.scene import Scene
from downfield.core.strip import Count, StripSet
from downfield.game.published.stream_topics import StripAnswer, StripQuestion, StripStatus, StripView
from downfield.game.session import GameSession
from downfield.game.strip.strip_moves import (
    StripDifference,
    StripFacts,
    StripMoveFound,
    differences,
    facts_of_game,
    facts_of_reading,
    moves_to,
    set_ups_to,
)
from downfield.officiating.calls import Call
from downfield.officiating.declarations import CardPlayed, Declaration
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.installed import load_system
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.unseen_declarations import HASH_UNTOLD
from downfield.vision.strip.dial_reader import UNDER_REFLECTION
from downfield.vision.strip.strip_reader import StripReading

MOST_MOVES: Final = 3  # explanations offered at most: more leave the choice to the two readings

DIAL_NAMES: Final[dict[Count, str]] = {
    "home": "home score",
    "away": "away score",
    "down": "down",
    "quarter": "quarter",
    "minutes": "minute",
    "seconds": "second",
}


def question_about(
    name: str, different: Sequence[StripDifference], moves: Sequence[StripMoveFound], set_ups: Sequence[StripMoveFound]
) -> StripQuestion:
    """Return the question which is right, with every answer: a play, the game as the strip says, the game as it is."""
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
    """Return the topic `strip`."""
    confidence: dict[str, float] = {name: round(sure, 2) for name, (_, sure) in reading.numbers.items()}
    confidence |= {"slide": round(reading.slide.yard_confidence, 2), "third": round(reading.slide.third_confidence, 2)}
    return StripView(
        status=status,
        text=text,
        slide_yd=None if facts.spot_yd is None else round(facts.spot_yd),
        third=facts.third,
        numbers={str(name): number for name, number in facts.numbers.items()},
        confidence=confidence if reading.settled else {},
        unread=_unread(reading, facts, strip) if reading.settled else (),
        hidden=_hidden(reading, facts, strip) if reading.settled else (),
        question=question,
    )


def _unread(reading: StripReading, facts: StripFacts, strip: StripSet) -> tuple[str, ...]:
    """Return what a settled reading does not say for sure, and why."""
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


def _hidden(reading: StripReading, facts: StripFacts, strip: StripSet) -> tuple[str, ...]:
    """Return what to do about each count whose dial a reflection hides."""
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


ASK_NS: Final = 2_500_000_000  # A strip differs from the game for this long: its coach may still turn a dial

BEHIND_NS: Final = 20_000_000_000  # A play was entered, and the strip has not been set since for this long


class FollowedGame(Protocol):
    """The game in play; `downfield.game.service.GameService` is one."""

    def in_play(self) -> AbstractContextManager[GameSession]:
        """Hold the game in play; raises `RefusedError` without one."""

    def take(self, entry: Scene | Event) -> tuple[Call, ...]:
        """Judge an event that did not come through the API; raises `RefusedError` when the state does not allow it."""


class StripFollower:
    """Follows one game by one strip. Readings come from one thread, answers from any.

    Args:
        publish: takes the topic `strip`, each time it changes.
        declares: whether a move that only one play explains is declared without asking.
    """

    def __init__(
        self, strip: StripSet, game: FollowedGame, publish: Callable[[StripView], None], *, declares: bool = False
    ) -> None:
        self._strip, self._game, self._publish, self._declares = strip, game, publish, declares
        self._said: StripFacts | None = None
        self._expected: StripFacts | None = None
        self._said_ns = self._expected_ns = 0
        self._question: StripQuestion | None = None
        self._about: tuple[StripFacts, StripFacts] | None = None
        self._kept: tuple[StripFacts, StripFacts] | None = None
        self._view: StripView | None = None
        self._count = self._last_ns = 0
        self._following = threading.Lock()

    def follow(self, reading: StripReading) -> None:
        """Compare a reading with the game in play, and do what follows."""
        said = facts_of_reading(reading)
        with self._following:
            if reading.t_ns < self._last_ns:  # a recording that is shown again
                self._said = self._expected = self._question = self._kept = None
            self._last_ns = reading.t_ns
            try:
                with self._game.in_play() as session:
                    status, text = self._compare(reading, said, session)
            except RefusedError:  # no game is in play
                status, text, self._question = "other", "No game is in play.", None
            view = view_of(reading, said, self._strip, status, text, self._question)
            if self._view is None or _shown(view) != _shown(self._view):
                self._view = view
                self._publish(view)

    def keep_game(self, question: str) -> str:
        """Keep the game as it is, against what the strip says; asked again only when one of them changes.

        Returns:
            What was done, as a sentence.

        Raises:
            RefusedError: that question is not open any more.
        """
        with self._following:
            if self._question is None or self._question.id != question or self._about is None:
                raise RefusedError("That question about the strip is not open any more.")
            self._kept, self._question = self._about, None
        return "The game stays as it is. Set the strip to it."

    def _compare(self, reading: StripReading, said: StripFacts, session: GameSession) -> tuple[StripStatus, str]:
        state = session.state
        if CardPlayed not in load_system(session.started.rulebook.system).handlers or state.phase is Phase.OVER:
            self._question = None
            if state.phase is Phase.OVER:
                return "other", "The game is over."
            return "other", "The game in play is not played with cards: the strip is not read."
        expected = facts_of_game(state, self._strip)
        if expected != self._expected:
            self._expected, self._expected_ns, self._question = expected, reading.t_ns, None
        if not reading.settled:
            self._question = None
            return ("covered", "Something is over the strip.") if reading.covered else ("moving", "The strip moves.")
        if said != self._said:
            self._said, self._said_ns, self._question = said, reading.t_ns, None
        if said == StripFacts():
            return "unread", "The strip is still, but can't be read."
        different = differences(said, expected, state)
        if not different:
            self._question = None
        open_now = (different or self._choice_due(state)) and (said, expected) != self._kept and self._question is None
        # Longer while the strip still stands as it did before the game went on.
        wait_ns = ASK_NS if self._said_ns >= self._expected_ns else BEHIND_NS
        if open_now and reading.t_ns - max(self._said_ns, self._expected_ns) >= wait_ns:
            self._settle(reading, said, different, session)
        if different:
            return "differs", f"The strip says {summary_of(said)}."
        return "agrees", f"The strip agrees: {summary_of(said)}."

    @staticmethod
    def _choice_due(state: GameState) -> bool:
        return state.wait is not None and state.wait.kind == "choice"

    def _settle(
        self, reading: StripReading, said: StripFacts, different: tuple[StripDifference, ...], session: GameSession
    ) -> None:
        """Declare what only the strip tells; otherwise ask."""
        state = session.state
        set_ups = [found for found in set_ups_to(said, state) if self._allowed(found, session)]
        about = [each.about for each in different]
        told_by_strip = about == ["ball"] and state.note(HASH_UNTOLD) is not None
        told_by_strip |= about == ["clock"] and self._declares
        if told_by_strip and len(set_ups) == 1 and self._declare(reading, state, set_ups[0].declaration):
            return
        was_set = self._said_ns >= self._expected_ns
        moves = moves_to(said, state, self._strip, session.preview) if was_set else ()
        alone = len(moves) == 1 and (self._declares or self._choice_due(state))
        if alone and self._declare(reading, state, moves[0].declaration):
            return
        if different and (moves or set_ups):
            self._count += 1
            self._question = question_about(f"strip-{self._count}", different, moves, set_ups)
            self._about = (said, self._expected or StripFacts())

    @staticmethod
    def _allowed(found: StripMoveFound, session: GameSession) -> bool:
        try:
            session.preview([found.declaration])
        except RefusedError:
            return False
        return True

    def _declare(self, reading: StripReading, state: GameState, declaration: Declaration) -> bool:
        """Declare what the strip says; return whether the game took it."""
        t_ns = max(reading.t_ns, state.now_ns)
        try:
            self._game.take(Event(f"strip-{reading.t_ns}", t_ns, "vision", declaration))
        except RefusedError:
            return False
        return True


def _shown(view: StripView) -> StripView:
    """Return a view without what changes with every reading."""
    return view.model_copy(update={"confidence": {}})
