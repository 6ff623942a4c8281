"""What the producer puts on air: which elements, their look, the people, the card and the sponsors; kept and published.

Everything is in the data folder, so that it is the same after a restart, and on the feed, so that every overlay, page
and program follows it.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from downfield.broadcast.logos import LogoFolder
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.core.errors import InputError, NotFoundError, OutputError
from downfield.core.files.private_files import replace_private_file
from downfield.core.threads import only_logged, supervised_thread
from downfield.game.published.hub import Hub
from downfield.game.published.stream_topics import GraphicView, OnAirElement, OnAirView, ProgramOptions, SponsorsView

M = TypeVar("M", bound=BaseModel)

PLAYING: Final = frozenset({"live", "in_air", "kick"})  # phases in which nothing but a message lies over the picture

_log = logging.getLogger(__name__)


class _Kept(Generic[M]):
    """A value in a file of the data folder.

    Args:
        folder: the data folder, which need not exist; None to keep the value for this run only.
        what: it in words, such as "the sponsors".
    """

    def __init__(self, folder: Path | None, name: str, model: type[M], what: str) -> None:
        self._path, self._model, self._what = folder and folder / name, model, what

    def read(self) -> M | None:
        """Return it; None where it was never kept, or can't be read, which is logged."""
        if self._path is None or not self._path.is_file():
            return None
        try:
            return self._model.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            _log.warning("%s can't be read. Choose %s anew on the producer's page.", self._path.name, self._what)
            return None

    def write(self, value: M) -> None:
        """Keep it. Raises OutputError: it can't be; the one from before stays."""
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_private_file(self._path, value.model_dump_json().encode())
        except OSError as error:
            raise OutputError(f"{self._what.capitalize()} can't be kept: {error.strerror or error}.") from None


class OnAir:
    """What is on air; what was kept before is published when this is made. Callable from any thread.

    Args:
        folder: the data folder, which need not exist; None to keep nothing.
        program: follows its part of the choices; None where there is none.
    """

    def __init__(self, folder: Path | None, logos: LogoFolder, hub: Hub, program: ProgramDrawer | None = None) -> None:
        self._logos, self._hub, self._program, self._lock = logos, hub, program, threading.RLock()
        self._choices = _Kept(folder, "on_air.json", OnAirView, "what is on air")
        self._card = _Kept(folder, "card.json", GraphicView, "the card")
        self._chosen_sponsors = _Kept(folder, "sponsors.json", SponsorsView, "the sponsors")
        self._take = 0
        self._now = self._choices.read() or OnAirView()
        self.sponsors = SponsorsView(shown=False)
        sponsors, card = self._chosen_sponsors.read(), self._card.read()
        if sponsors is not None:
            self.sponsors = sponsors
            hub.publish("sponsors", sponsors)
        if card is not None and card.kind != "none":
            self._put(card)
        self._publish()

    @property
    def now(self) -> OnAirView:
        """What is on air now."""
        return self._now

    def change(self, **wanted: Any) -> OnAirView:
        """Keep and publish other values of some of its fields, and return all of it.

        Raises InputError: a logo or picture was never uploaded, or two presets have one name; OutputError: it can't be
        kept, and what was on air stays.
        """
        with self._lock:
            now = self._now.model_copy(update=wanted)
            self._check_logos(person.picture for person in wanted.get("people", ()))
            self._check_logos(card.logo for card in wanted.get("prepared", ()))
            if len({preset.name for preset in now.presets}) < len(now.presets):
                raise InputError("Two presets have one name. Give each a name of its own.")
            self._choices.write(now)
            self._now = now
            if ("sponsors" in now.elements) != self.sponsors.shown:
                self.use_sponsors(self.sponsors.model_copy(update={"shown": not self.sponsors.shown}))
            return self._publish()

    def switch(self, element: OnAirElement, on: bool | None) -> OnAirView:
        """Put an element on air or take it off; None for the other of both. Raises OutputError: it can't be kept."""
        with self._lock:
            others = [one for one in self._now.elements if one != element]
            on = element not in self._now.elements if on is None else on
            return self.change(elements=(*others, element) if on else tuple(others))

    def use_preset(self, name: str) -> OnAirView:
        """Put a preset on air. Raises NotFoundError: there is none of that name; OutputError: it can't be kept."""
        preset = next((one for one in self._now.presets if one.name == name), None)
        if preset is None:
            raise NotFoundError(f"There is no preset {name}.")
        return self.change(elements=preset.elements, style=preset.style, program=preset.program)

    def use_sponsors(self, wanted: SponsorsView) -> SponsorsView:
        """Keep and publish other sponsors, and return them.

        Raises InputError: a logo was never uploaded; OutputError: they can't be kept, and those from before stay.
        """
        self._check_logos(wanted.logos)
        with self._lock:
            self._chosen_sponsors.write(wanted)
            self.sponsors = wanted
            self._hub.publish("sponsors", wanted)
            self._publish()
            return wanted

    def show(self, card: GraphicView) -> GraphicView:
        """Number and publish a card, and return it; one that stays is kept over a restart, until a play begins."""
        with self._lock:
            numbered = self._put(card)
            try:
                self._card.write(numbered if card.seconds == 0 else GraphicView())
            except OutputError as error:  # it is on air all the same
                _log.warning("%s", error)
            return numbered

    def _put(self, card: GraphicView) -> GraphicView:
        self._take += 1
        numbered = card.model_copy(update={"take": self._take})
        self._hub.publish("graphic", numbered)
        if card.seconds == 0 and card.kind not in {"none", "message"}:
            watch = functools.partial(asyncio.run, self._end_with_play(self._take))
            supervised_thread(watch, "card watch", only_logged).start()
        return numbered

    async def _end_with_play(self, take: int) -> None:
        """Take a card off once a play begins: a page that is opened later would show it again."""
        async with aclosing(self._hub.subscribe({"game", "graphic"})) as batches:
            async for _ in batches:
                game = self._hub.value("game")
                if self._take != take:
                    return
                if game is not None and game.phase in PLAYING:
                    with self._lock:
                        if self._take == take:
                            self.show(GraphicView())
                    return

    def _check_logos(self, logos: Iterable[str | None]) -> None:
        for logo in logos:
            if logo is not None and self._logos.read(logo) is None:
                raise InputError(f"There is no logo {logo}. Upload it first.")

    def _publish(self) -> OnAirView:
        wanted = {*self._now.elements} - {"sponsors"} | ({"sponsors"} if self.sponsors.shown else set())
        elements = tuple(one for one in get_args(OnAirElement) if one in wanted)
        self._now = self._now.model_copy(update={"elements": elements})
        self._hub.publish("on_air", self._now)
        if self._program is not None:
            self._program.use(_on_air(self._now), self._now.people if "names" in self._now.elements else ())
        return self._now


def _on_air(now: OnAirView) -> ProgramOptions:
    """Return how the program looks with what is off left out."""
    lines = () if "lines" in now.elements else ("scrimmage", "to_gain")
    elements = tuple(one for one in now.program.elements if one not in lines)
    tags = now.program.tags if "tags" in now.elements else "off"
    return now.program.model_copy(update={"elements": elements, "tags": tags})
