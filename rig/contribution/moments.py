"""Finds the moments of a game worth learning from: what people corrected, and where the tracker was least sure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from downfield.core.angles import wrap_deg
from downfield.core.scene import Figure, Scene
from downfield.game.records.entries import unpack_scenes
from downfield.officiating.declarations import FrontDeclared, LineUpDeclared
from downfield.officiating.events import Event, Ruling, Undo
from downfield.rig.contribution.contribution_file import Reason
from downfield.store.database.reader import StoreReader
from downfield.store.history import History, SceneBatch


@dataclass(frozen=True, slots=True)
class MomentLimits:
    """What counts as a moment, and how moments are spread."""

    reach_ns: int = 1_000_000_000
    """A correction is about the latest scene this long before it."""
    apart_ns: int = 3_000_000_000
    """Uncertain moments are at least this far apart: figures that stand still look the same."""
    least_doubt: float = 0.5
    """Below this sum of doubts a scene teaches nothing new: it is half a front that nobody knows."""
    sigma_mm: float = 3.0
    """Standard deviation of a position that counts as a whole doubt; a figure in the open has 0.2 to 0.5."""
    least_gap_chance: float = 0.2
    """A contact less probable than this, or more probable than the rest, is no doubt."""


_LIMITS: Final = MomentLimits()


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment.

    Attributes:
        scene: what is believed of it, with what people corrected.
        reasons: why it was chosen.
        doubt: how unsure the tracker was; larger for corrections than for anything else.
    """

    scene: Scene
    reasons: tuple[Reason, ...]
    doubt: float

    @property
    def corrected(self) -> bool:
        """Whether a person corrected something."""
        return self.reasons != ("uncertain",)


def find_moments(
    store: StoreReader, history: History, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> list[Moment]:
    """Return the moments of a game, those people corrected first, then by falling doubt.

    Args:
        progress: receives how many batches of scenes have been searched, and of how many.

    Raises:
        FormatError: the journal can't be read.
        OutputError: the store can't be read.
    """
    corrections: dict[int, Moment] = {}
    for scene, reason in _corrections(store, history):
        before = corrections.get(scene.t_ns)
        reasons = (reason,) if before is None else tuple(dict.fromkeys((*before.reasons, reason)))
        corrections[scene.t_ns] = Moment(scene, reasons, doubt(scene))
    unsure: list[Moment] = []
    for number, batch in enumerate(history.batches, start=1):
        # A batch is a second or two, and a figure that is unsure is so for longer: one scene of each is examined.
        first = next(iter(_scenes(store, history, batch)), None)
        if first is not None and not first.unfit and doubt(first) >= _LIMITS.least_doubt:
            unsure.append(Moment(first, ("uncertain",), doubt(first)))
        progress(number, len(history.batches))
    by_doubt = sorted(unsure, key=lambda moment: -moment.doubt)
    return spread([*sorted(corrections.values(), key=lambda moment: moment.scene.t_ns), *by_doubt])


def spread(moments: Sequence[Moment]) -> list[Moment]:
    """Return the moments, in order, without uncertain ones that are close to one before them."""
    kept: list[Moment] = []
    for moment in moments:
        if moment.corrected or all(abs(moment.scene.t_ns - one.scene.t_ns) >= _LIMITS.apart_ns for one in kept):
            kept.append(moment)
    return kept


def doubt(scene: Scene) -> float:
    """Return how unsure the tracker was of a scene: a sum over its figures and contacts, one for each whole doubt."""
    figures = [figure for figure in scene.figures if figure.posture in {"upright", "fallen"} and not figure.lost]
    near = _LIMITS.least_gap_chance
    touches = sum(near < contact.probability < 1 - near for contact in scene.contacts)
    return sum(_doubt_of(figure) for figure in figures) + 0.25 * touches


def _doubt_of(figure: Figure) -> float:
    front = 1 - abs(2 * figure.front - 1)
    place = min(max(figure.sigma_mm) / _LIMITS.sigma_mm, 1.0)
    return front + 0.5 * place + 0.5 * (not figure.sure)


def _corrections(store: StoreReader, history: History) -> Iterable[tuple[Scene, Reason]]:
    """Yield the scenes that people corrected, as corrected, and how."""
    undone = {event.body.event for event in history.events if isinstance(event.body, Undo)}
    called_ns = {call.id: (call.t_ns, call.players) for call in (*history.struck(), *history.calls())}
    for event in history.events:
        if event.id in undone:
            continue
        body = event.body
        if isinstance(body, FrontDeclared):
            for scene in _scene_before(store, history, event.t_ns):
                yield turned_as_declared(scene, body), "front_turned"
        elif isinstance(body, LineUpDeclared) and event.origin != "vision":
            for scene in _scene_before(store, history, event.t_ns):
                if any(not figure.sure for figure in scene.figures):
                    yield scene, "identities_confirmed"
        elif isinstance(body, Ruling):
            yield from _ruled(store, history, event, called_ns)


def _ruled(
    store: StoreReader, history: History, event: Event, called: dict[str, tuple[int, tuple[str, ...]]]
) -> Iterable[tuple[Scene, Reason]]:
    ruling = event.body
    assert isinstance(ruling, Ruling)
    if ruling.decision == "manual" and ruling.replacement is not None:
        # A call by hand without an instant of its own is about the moment when it was made.
        at_ns = ruling.replacement.t_ns or event.t_ns
        for scene in _scene_before(store, history, at_ns):
            yield doubted(scene, ruling.replacement.players), "call_added"
    elif ruling.decision in {"overturn", "strike"} and ruling.call in called:
        at_ns, players = called[ruling.call]
        for scene in _scene_before(store, history, at_ns):
            yield doubted(scene, players), "call_overturned"


def turned_as_declared(scene: Scene, declared: FrontDeclared) -> Scene:
    """Return a scene in which a figure faces as a person declared, beyond doubt."""
    figures = []
    for figure in scene.figures:
        if figure.id == declared.player:
            wrong = abs(wrap_deg(figure.heading_deg - declared.heading_deg)) > 90
            figure = replace(figure.turned_around() if wrong else figure, front=1.0)
        figures.append(figure)
    return replace(scene, figures=tuple(figures))


def doubted(scene: Scene, players: Iterable[str]) -> Scene:
    """Return a scene in which figures are unsure: what a person overturned must not be learned as the truth."""
    names = set(players)
    figures = (replace(figure, sure=False) if figure.id in names else figure for figure in scene.figures)
    return replace(scene, figures=tuple(figures))


def _scene_before(store: StoreReader, history: History, at_ns: int) -> list[Scene]:
    """Return the latest scene at an instant or shortly before it; empty where there is none."""
    from_ns = at_ns - _LIMITS.reach_ns
    latest: Scene | None = None
    for batch in history.batches:
        if batch.last_ns < from_ns or batch.first_ns > at_ns:
            continue
        for scene in _scenes(store, history, batch):
            if from_ns <= scene.t_ns <= at_ns and (latest is None or scene.t_ns > latest.t_ns):
                latest = scene
    return [] if latest is None else [latest]


def _scenes(store: StoreReader, history: History, batch: SceneBatch) -> Iterable[Scene]:
    attachment = store.attachment(history.row.id, batch.seq)
    return [] if attachment is None else unpack_scenes(attachment, where=f"game {history.row.id}, entry {batch.seq}")
