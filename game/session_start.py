"""Ways a session begins: a new game, the same game under another rulebook, an owner's latest game in a store."""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Final

from downfield.calibration.calibration import Calibration
from downfield.core.errors import FormatError, RefusedError
from downfield.core.field.model import FieldModel
from downfield.core.scene import Jersey
from downfield.game.published.publisher import StatePublisher
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame
from downfield.game.records.entries import END_KINDS, EventRecorded, GameStarted, ScenesRecorded, record_of
from downfield.game.records.keeping import GameRow, Journals, PendingEntry
from downfield.game.records.owner import NOBODY, GameOwner
from downfield.game.resuming import ResumedSession, continued, rebuild_session, unpack
from downfield.game.session import GameSession
from downfield.officiating.declarations import LineUpDeclared, SetUp
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.play_state import PlayKind
from downfield.officiating.unseen_declarations import DuePlay

_DUE: Final[dict[PlayKind, DuePlay]] = {
    "kickoff": "kickoff",
    "onside": "kickoff",
    "free_kick": "free_kick",
    "extra_point": "extra_point",
    "two_point": "two_point",
}
"""What a game is set up for, by the kind of play that is due; anything else is a play from scrimmage."""

BETWEEN_PLAYS: Final = frozenset({Phase.BETWEEN_PLAYS, Phase.LINE_UP, Phase.SET})
"""Phases in which a game can be set up as it stands."""


def start_session(
    journals: Journals,
    publisher: StatePublisher,
    game: NewGame,
    rulebook: Rulebook,
    field: FieldModel,
    calibration: Calibration | None,
    owner: GameOwner = NOBODY,
) -> tuple[GameSession, PendingEntry]:
    """Start a game and its journal.

    Args:
        calibration: in use; calls finer than the error it is certified to are too close.

    Returns:
        The game, and the first entry of its journal on its way to the disk.
    """
    now_ns = time.time_ns()
    game_id = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now_ns / 1e9)) + f"-{secrets.token_hex(4)}"
    certificate = None if calibration is None else calibration.certificate
    certified_yd = None if certificate is None else certificate.p95_yd
    started = GameStarted(
        record_of(rulebook),
        field,
        game.home,
        game.away,
        game.title,
        version("downfield"),
        certified_yd,
        game.match,
        lengths_known=calibration is None or calibration.lengths_known,
    )
    row = GameRow(game_id, now_ns, game.title, game.home.name, game.away.name, rulebook.name, owner.rig, owner.table)
    journal = journals.begin(row)
    return GameSession(started, journal, publisher), journal.append(started)


def switch_rulebook(
    session: GameSession, publisher: StatePublisher, rulebook: Rulebook, by: Submission, now_ns: int
) -> GameSession:
    """Continue a game as it stands under another rulebook. Raises RefusedError: mid-play, or none can stand so."""
    state = session.state
    if state.phase not in BETWEEN_PLAYS:
        now = state.phase.value.replace("_", " ")
        raise RefusedError(f"The rulebook can be changed between plays only. The game is now in: {now}.")
    trial = JudgedGame(rulebook, session.started.field)
    trial.apply(Event("trial", 0, "operator", set_up_of(state, rulebook)))
    session.write_scenes()
    started = replace(session.started, rulebook=record_of(rulebook))
    session.journal.append(started)
    following = continued(GameSession(started, session.journal, publisher, session.event_count), session)
    publisher.start_game(following.game_id, started)
    following.submit(set_up_of(state, rulebook), by, now_ns)
    if state.players:
        offense: Jersey = "dark" if state.dark == state.offense else "light"
        following.submit(LineUpDeclared(state.players, offense), by, now_ns)
    return following


def resume_session(journals: Journals, publisher: StatePublisher, owner: GameOwner = NOBODY) -> ResumedSession | None:
    """Return the game that an owner started last, by judging its journal once more.

    Returns:
        The game; None when it was ended, or there is none.

    Raises:
        FormatError: its journal can't be read.
        RulebookError: it is under a rulebook this program does not know.
    """
    row = journals.latest_game(owner)
    journal = None if row is None else journals.resume(row)
    if row is None or journal is None or journals.latest(row.id, END_KINDS):
        return None
    return rebuild_session(journals, journal, publisher, journals.checkpoint(row.id))


def latest_instant_ns(journals: Journals, owner: GameOwner) -> int:
    """Return the latest capture time that the journal of an owner's last game holds, ns; 0 where there is none."""
    row, latest_ns = journals.latest_game(owner), 0
    for kind in ("scenes_recorded", "event_recorded"):
        for entry in [] if row is None else journals.latest(row.id, (kind,)):
            with suppress(FormatError):
                content = unpack(entry)
                if isinstance(content, ScenesRecorded):
                    latest_ns = max(latest_ns, content.last_ns)
                elif isinstance(content, EventRecorded):
                    latest_ns = max(latest_ns, content.event.t_ns)
    return latest_ns


def set_up_of(state: GameState, rulebook: Rulebook) -> SetUp:
    """Return the declaration that sets a game up as it stands between plays, under a rulebook it goes on with."""
    due = _DUE.get(state.due, "scrimmage")
    scrimmage = due == "scrimmage"
    has_time_outs = "time_out.per_half" in rulebook.params.definitions
    most = rulebook.params.count("time_out.per_half") if has_time_outs else 0
    return SetUp(
        state.offense,
        state.direction,
        state.los_yd if scrimmage else None,
        state.down if scrimmage else 1,
        0.0 if state.goal_to_go or not scrimmage else state.distance_yd,
        state.period,
        state.clock.left_at_s(state.now_ns),
        state.score,
        state.hash,
        due,
        time_outs=state.time_outs if state.time_outs is not None and max(state.time_outs) <= most else None,
        opening_kicker=state.opening_kicker,
    )
