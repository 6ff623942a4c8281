"""Receipts for what the API asks of a game, and the seam to what only the rig can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from downfield.calibration.calibration import Calibration
from downfield.core.scene import Scene
from downfield.game.commands import Command, RigCommand, Settings
from downfield.game.published.game_topics import CallView, DeclarationView
from downfield.officiating.declarations import Declaration
from downfield.officiating.events import Ruling


@dataclass(frozen=True, slots=True)
class Said:
    """Who says something, and when.

    Attributes:
        by: the person or device, as the panel shows it.
        key: idempotency key: the same key with the same content is taken once and answered alike for ever.
        ago_ms: how long before it arrived it was said; what a phone knows of its own delay.

    """

    by: str = "operator"
    key: str | None = None
    ago_ms: int = 0


@dataclass(frozen=True, slots=True)
class Accepted:
    """Taken, judged and kept.

    Attributes:
        event: id of the event it became; empty for a command that is none.
        seq: its place in the game's journal; 0 for a command that is none.
        digest: the journal's hash up to and with it.
        t_ns: the instant it holds at.
        calls: calls that followed from it or changed.
        withdrawn: ids of calls that no longer stand.
        set_aside: ids of events that no longer make sense.
        text: the game after it, on one line.
        kept: False while the disk does not take it: it counts, but a crash would lose it.
        again: whether this is the answer to a key that was taken before.

    """

    event: str = ""
    seq: int = 0
    digest: str = ""
    t_ns: int = 0
    calls: tuple[CallView, ...] = ()
    withdrawn: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    text: str = ""
    kept: bool = True
    again: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Not taken; nothing has changed.

    Attributes:
        reason: why, for people.
        code: ``"not_now"`` (the state does not allow it), ``"unknown"`` (no such call or event), ``"key_reused"`` (the
            key was used for something else), ``"invalid"`` (it names what does not exist), ``"no_game"``,
            ``"not_here"`` (this rig can't do that) or ``"failed"``.

    """

    reason: str
    code: str = "not_now"


Receipt = Accepted | Refused


class Desk(Protocol):
    """What the service asks. Callable from any thread; each call may take as long as a disk needs."""

    def declare(self, declaration: Declaration, said: Said) -> Receipt:
        """Take a declaration."""
        ...

    def rule(self, ruling: Ruling, said: Said) -> Receipt:
        """Take a ruling: confirm, overturn or strike one call, or make one by hand."""
        ...

    def undo(self, event: str, said: Said) -> Receipt:
        """Take back one declaration or ruling, whatever came after it; everything since is judged anew."""
        ...

    def command(self, command: Command, said: Said) -> Receipt:
        """Do something that is no event of the game: begin one, calibrate, record."""
        ...

    @property
    def game_id(self) -> str:
        """The game's id; empty without one."""
        ...

    def calls(self) -> Sequence[CallView]:
        """Every call of the game in play, in the order they were made; the feed carries the latest only."""
        ...

    def declared(self) -> Sequence[DeclarationView]:
        """Every declaration and ruling of the game in play, in order."""
        ...

    def unwritten(self) -> Sequence[Scene]:
        """Scenes of the game in play that its journal does not hold yet, in order."""
        ...

    def calibration(self) -> Calibration | None:
        """The calibration in use."""
        ...

    def settings(self) -> Settings:
        """The configuration in force, without secrets."""
        ...


class RigControl(Protocol):
    """What only the rig can do; a `GameService` hands such commands on."""

    def do(self, command: RigCommand) -> str:
        """Do it, or begin to.

        Returns:
            What was done, in words.

        Raises:
            RefusedError: it can't be done now.
            DownfieldError: it failed.

        """
        ...

    def calibration(self) -> Calibration | None:
        """The calibration in use."""
        ...

    def settings(self) -> Settings:
        """The configuration in force, without secrets."""
        ...
