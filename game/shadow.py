"""Shadow mode: the machine judges a game that people referee, in a journal of its own, and nothing of it is shown.

The game on air is kept by declarations alone. Beside it a shadow is judged from the same scenes, and from the
declarations that a camera can't see. It is not told how a play ended; once people have, it is set up as they left the
game, so that one difference makes no others.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.scene import Jersey, Scene
from downfield.game.published.hub import Hub
from downfield.game.published.publisher import StatePublisher
from downfield.game.receipts import Submission
from downfield.game.records.keeping import GameRow, Journals
from downfield.game.records.owner import NOBODY
from downfield.game.session import GameSession
from downfield.game.session_start import new_game_id, set_up_of
from downfield.officiating.consequences.declaration_handlers import AT_REST
from downfield.officiating.declarations import LineUpDeclared, PlayEnded, SetUp
from downfield.officiating.events import Body, Ruling, Undo

_BY: Final = Submission(by="shadow")
_UNTOLD: Final = (PlayEnded, Ruling, Undo, SetUp)
"""What the shadow is not told: results of plays, decisions about calls, and corrections."""

_TITLE: Final = "Shadow of "


class Shadow:
    """Judges beside the game in play. The caller holds the game's lock around every method."""

    def __init__(self, journals: Journals) -> None:
        self._journals = journals
        self._session: GameSession | None = None
        self._stands: SetUp | None = None

    def follow(self, game: GameSession) -> None:
        """Begin to judge beside a game, from where it stands."""
        self.end()
        now_ns = time.time_ns()
        shown = replace(game.journal.game, id=new_game_id(now_ns), began_ns=now_ns, title=shadow_title(game.game_id))
        row = replace(shown, owner=NOBODY.rig)
        journal = self._journals.begin(row)
        started = replace(game.started, title=row.title)
        self._session = GameSession(started, journal, StatePublisher(Hub(), started.field))
        journal.append(started)
        self._stands = None
        self._set_up(game)

    def see(self, scene: Scene) -> None:
        """Judge a scene."""
        if self._session is not None:
            self._session.judge_scene(scene)

    def hear(self, body: Body, game: GameSession, now_ns: int) -> None:
        """Take note of what was declared in the game on air, which has judged it already."""
        if self._session is None:
            return
        if isinstance(body, _UNTOLD):
            self._stands = None
        else:
            with suppress(RefusedError):  # the machine may see the play otherwise
                self._session.submit(body, _BY, now_ns)
        self._set_up(game)

    def end(self) -> None:
        """End the shadow's game."""
        if self._session is not None:
            self._session.end()
            self._session = None

    def _set_up(self, game: GameSession) -> None:
        """Set the shadow up as the game on air stands between plays, if that has changed since the last time."""
        state, session = game.state, self._session
        if session is None or state.phase not in AT_REST:
            return
        wanted = set_up_of(state, session.rulebook)
        stands = replace(wanted, clock_s=None)  # a clock that runs is no other situation
        if stands == self._stands:
            return
        self._stands = stands
        with suppress(RefusedError):
            session.submit(wanted, _BY, state.now_ns)
            if state.players:
                offense: Jersey = "dark" if state.dark == state.offense else "light"
                session.submit(LineUpDeclared(state.players, offense), _BY, state.now_ns)


def shadow_title(game: str) -> str:
    """Return the title of the games that were judged in the shadow of a game."""
    return f"{_TITLE}{game}"


def is_shadow(game: GameRow) -> bool:
    """Return whether a game was judged in the shadow of another."""
    return game.owner == NOBODY.rig and game.title.startswith(_TITLE)
