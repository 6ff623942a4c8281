"""Keeps the score of a game without a camera: every play is declared on the panel or through the API.

The same game service, store, pages, overlays and reports as with a camera; no vision and no network is loaded. A rig
whose camera has died is stopped and its game goes on here, and the other way round.
"""

from __future__ import annotations

import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from downfield.api.context.context import RigParts
from downfield.broadcast.integrations.outlets import OutletRunner
from downfield.broadcast.latest_picture import LatestPicture
from downfield.capture.source import CaptureClock
from downfield.core.field.model import FieldModel
from downfield.core.threads import supervised_thread
from downfield.game.published.board_topics import HealthReason, HealthStatus, SourceStatus
from downfield.game.published.game_topics import Notice
from downfield.game.published.hub import Hub
from downfield.game.records.commands import NewGame
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.display import shown_values
from downfield.rig.configuration.loading import Configuration
from downfield.rig.configuration.settings import data_folder
from downfield.rig.configuration.stream import outlets_of, with_webhooks
from downfield.rig.games.bundle_export import BundleExporter
from downfield.rig.games.kept_games import leased_data_folder, open_checkpoints, open_judgings, open_rig_key, open_store
from downfield.rig.service.review import NoCamera
from downfield.rig.service.web_service import Service, open_admin_key
from downfield.rig.tournament.link import open_tournament, with_tournament
from downfield.store.writing.journals import StoredJournals

HEALTH_S: Final = 1.0  # Health is published this often, as a rig with a camera does

BY_HAND: Final = "Kept by hand, without a camera"

_NO_CAMERA: Final = "{}: this game is kept by hand, without a camera. Start 'downfield run' with one."


class Scorekeeper:
    """A game kept by declarations alone, ready to play.

    Args:
        field: the printed field of a new game; a game that goes on keeps its own.
        new_game: the game to start; None goes on with the last one of this rig, or starts one when there is none.

    Attributes:
        resumed: whether a game goes on.

    Raises:
        DownfieldError: the store, a key or the port can't be opened, or another program has them.
    """

    def __init__(self, configuration: Configuration, field: FieldModel, new_game: NewGame | None = None) -> None:
        settings = configuration.settings
        table = settings.rig.table or "by hand"
        hub, clock = Hub(), CaptureClock()
        self._ended = threading.Event()
        serving: list[Service] = []
        with ExitStack() as stack:
            stack.enter_context(leased_data_folder(settings, table))
            temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="downfield-")))
            key = open_rig_key(data_folder(settings), must_be_kept=True)
            store, owner = open_store(settings, temporary, key, live=True, table=table)
            stack.callback(store.close)
            link = self._link = open_tournament(settings, store, owner, key, hub, lambda: next(iter(serving), None))
            if link is not None:
                stack.callback(link.close)
            control = NoCamera(None, shown_values(settings), configuration.origins, _NO_CAMERA)
            rulebook = load_rulebook(settings.game.rulebook)
            self.game_service = GameService(
                StoredJournals(store, open_checkpoints(settings, key)),
                hub,
                control,
                field,
                rulebook,
                clock=clock.now_ns,
                owner=owner,
            )
            stack.callback(self.game_service.close)
            if link is not None:
                link.attach(self.game_service)
            self.game_service.publish_source(SourceStatus(kind="none", text=BY_HAND))
            self.resumed = new_game is None and self.game_service.resume() is not None
            if self.resumed:
                clock.start_after(self.game_service.now_ns)
            else:
                self.game_service.start_game(new_game or NewGame())

            def warn(text: str) -> None:
                hub.publish("notice", Notice(level="warning", text=text))

            self._outlets = outlets_of(settings, warn)
            context = RigParts(
                self.game_service,
                hub,
                LatestPicture(),
                store,
                admin_key=open_admin_key(data_folder(settings), must_be_kept=True),
                rig_key=key,
                bundles=BundleExporter(store, settings, key, control.calibration),
                style_folder=data_folder(settings),
                judgings=open_judgings(settings, key),
                grants=None if link is None else link.grants,
                outlets=self._outlets,
            )
            self.service = Service(context, settings.service, data_folder(settings))
            serving.append(self.service)
            stack.callback(self.service.close)
            if self._outlets:
                stack.callback(OutletRunner(hub, self._outlets, warn).close)
            self._stack = stack.pop_all()
        if self.resumed:
            hub.publish("notice", Notice(text=f"The game goes on by hand: {self.game_service.text}."))
        self._beat()
        self._thread = supervised_thread(
            self._run, "scorekeeper", self._report_failure, restarts=True, closed=self._ended.is_set
        )
        self._thread.start()

    def close(self) -> None:
        """End the pages, write what is unwritten, and leave the game to be resumed later."""
        self._ended.set()
        self._thread.join()
        self._stack.close()

    def health(self) -> HealthStatus:
        """Return the rig's health now."""
        return with_webhooks(with_tournament(HealthStatus(text=BY_HAND), self._link), self._outlets)

    def _run(self) -> None:
        while not self._ended.wait(HEALTH_S):
            self._beat()

    def _report_failure(self, cause: str) -> None:
        text, remedy = f"The game's clock could not advance: {cause}", "It is tried again every second"
        reason = HealthReason(code="clock_failed", level="alarm", text=text, remedy=remedy)
        self.game_service.publish_health(HealthStatus(level="alarm", text=text, reasons=(reason,)))

    def _beat(self) -> None:
        """Publish the health, and settle what a declared switch has left waiting."""
        self.game_service.tick()
        self.game_service.publish_health(self.health())
