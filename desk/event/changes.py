"""What a change did to an event: what it was about, old and new values, what else it did, and what undoes it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from downfield.core.errors import RefusedError
from downfield.desk.event.outcomes import WITHDREW, in_play, settled
from downfield.desk.event.placing import at_table
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Result
from downfield.desk.event.state import Before, Change, TournamentEvent

UNDO_KEPT: Final = 30  # Changes that can be undone, one after the other

_VALUES_SHOWN: Final = 12
_FIELDS: Final = tuple(field.name for field in fields(Before) if field.name != "change")


class QuestionError(RefusedError):
    """A change does more than it seems to: it is made once that is confirmed."""

    code = "question"


class ChangedMeanwhileError(RefusedError):
    """Somebody else has changed the same since it was shown."""

    code = "changed"


@dataclass(frozen=True, slots=True)
class ValueChange:
    """What a change did to one thing."""

    subject: str  # such as ``"match A3"`` or ``"entrant e1"``
    name: str
    old: str
    new: str


def differences(before: TournamentEvent, after: TournamentEvent) -> list[ValueChange]:
    """Return what a change did, in the order of the event."""
    old, new = _subjects(before), _subjects(after)
    found = []
    for subject in {**old, **new}:
        (name, was, was_text), (new_name, now, now_text) = old.get(subject, _NOTHING), new.get(subject, _NOTHING)
        if was != now:
            found.append(ValueChange(subject, new_name or name, was_text, now_text))
    return found


def check_seen(event: TournamentEvent, seen: int, found: Collection[ValueChange]) -> None:
    """Check that whoever makes a change has seen the latest of what it changes, and of who plays a game it is about.

    Who plays the games that follow is no part of that: two who enter the two semifinals are not in each other's way.

    Args:
        seen: revision of the event that was shown to them.

    Raises:
        ChangedMeanwhileError: it has changed since.
    """
    for difference in found:
        kind, _, identity = difference.subject.partition(" ")
        if kind == "sides":
            continue
        sides = f"sides {identity}" if kind == "match" else ""
        number = max(event.touched.get(difference.subject, 0), event.touched.get(sides, 0))
        if number > seen:
            by = next((change.by for change in event.changes[-(event.revision - number + 1) :]), "") or "somebody"
            text = f"{by} has changed {difference.name} meanwhile: it is {difference.old or 'nothing'} now."
            raise ChangedMeanwhileError(f"{text[0].upper()}{text[1:]} Look, then save again.")


def question(before: TournamentEvent, after: TournamentEvent, about: str = "") -> str:
    """Return what a change would do to games that are in play, or to results of other games; empty for nothing.

    Args:
        about: id of the match that the change is about: its own result is no surprise.
    """
    playing = in_play(before)
    later = {match.id: match for match in after.matches}
    out = []
    for match in before.matches:
        now = later.get(match.id) if before.draw == after.draw else None
        game = playing.get(match.id)
        where = at_table(game.table) if game is not None and game.table else "a table"
        if game is not None and match.game == game.game and (now is None or now.game != game.game):
            out.append(f"{match.id} is in play at {where}; the game would not count for it any more.")
        elif game is not None and now is not None and match.result is None and now.result is not None:
            out.append(f"{match.id} is in play at {where}, and would be decided.")
        if match.id == about or match.result is None or match.result.note == WITHDREW:
            continue
        if now is None or now.result is None:
            out.append(f"The result of {match.id}, {result_text(match.result)}, would not count any more.")
    return " ".join(out)


def completed(before: TournamentEvent, after: TournamentEvent, change: Change, *, undoable: bool) -> TournamentEvent:
    """Return a changed event with what its last change did in its trail, what was touched, and what undoes it."""
    found = differences(before, after)
    shown = [one for one in found if not one.subject.startswith("sides ")][:_VALUES_SHOWN]
    old = tuple(f"{one.name}: {one.old or 'nothing'}" for one in shown)
    new = tuple(f"{one.name}: {one.new or 'nothing'}" for one in shown)
    number = before.revision + 1
    touched = {**after.touched, **{one.subject: number for one in found}}
    undo = (*after.undo, _before(before, after, change.id))[-UNDO_KEPT:] if undoable else after.undo
    changes = (*after.changes[:-1], replace(after.changes[-1], old=old, new=new))
    return replace(after, changes=changes, touched=touched, revision=number, undo=undo)


def undone(event: TournamentEvent, change: Change) -> TournamentEvent:
    """Return an event without a person's last change; what tables said stays. Raises RefusedError: there is none."""
    if not event.undo:
        raise RefusedError("There is nothing left to undo.")
    last = event.undo[-1]
    values: dict[str, Any] = {name: getattr(last, name) for name in _FIELDS if getattr(last, name) is not None}
    text = next((one.text for one in event.changes if one.id == last.change), "the last change")
    line = replace(change, text=f"undid: {text}")
    return settled(replace(event, **values, undo=event.undo[:-1], changes=(*event.changes, line)))


def result_text(result: Result | None) -> str:
    """Return a result for people; empty for none."""
    if result is None:
        return ""
    won = f", {result.overtime_winner} won in overtime" if result.overtime_winner is not None else ""
    return f"{result.home} to {result.away}" + (", a forfeit" if result.forfeited_by else won)


_NOTHING: Final = ("", None, "")


def _subjects(event: TournamentEvent) -> dict[str, tuple[str, object, str]]:
    """Return everything that can change: its name, what is compared, and that for people."""
    progress = Progress(event)
    tables = ", ".join(event.tables)
    clock = f"{event.clock.game_min} + {event.clock.change_min} min, {len(event.clock.sessions)} sessions, {tables}"
    found: dict[str, tuple[str, object, str]] = {
        "name": ("the name", event.name, event.name),
        "rules": ("the rules", event.rules, "as set"),
        "clock": ("times and tables", (event.clock, event.tables), clock),
        "lots": ("the lots", event.lots, "drawn" if event.lots else ""),
        "draw": ("the draw", event.draw, "made" if event.draw else ""),
    }
    for entrant in event.entrants:
        text = f"{entrant.name}, {len(entrant.figures)} figures" + (", withdrawn" if entrant.withdrawn else "")
        found[f"entrant {entrant.id}"] = (entrant.name, entrant, text)
        found[f"here {entrant.id}"] = (f"whether {entrant.name} is here", entrant.id in event.here, "")
    for match in event.matches:
        outcome = "waits for the director" if match.dispute else result_text(match.result)
        found[f"match {match.id}"] = (match.id, (match.result, match.dispute), outcome)
        found[f"sides {match.id}"] = (f"who plays {match.id}", progress.sides(match), "")
        place = (match.table, match.slot, match.fixed, match.postponed)
        where = "" if match.slot is None else f"{at_table(match.table)}, round {match.slot + 1}"
        officials = ", ".join(match.officials)
        found[f"officials {match.id}"] = (f"the officials of {match.id}", match.officials, officials)
        found[f"place {match.id}"] = (f"where {match.id} is played", place, where)
    return found


def _before(event: TournamentEvent, after: TournamentEvent, change: str) -> Before:
    values: dict[str, Any] = {name: getattr(event, name) for name in _FIELDS if name != "matches"}
    now: dict[str, Any] = {name: getattr(after, name) for name in values}
    kept = {name: value for name, value in values.items() if value != now[name]}
    bare, bare_after = ([replace(m, result=None, dispute="", game="") for m in one.matches] for one in (event, after))
    if bare != bare_after:
        kept["matches"] = tuple(bare)
    return Before(change, **kept)
