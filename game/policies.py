"""The policies that a league has set from how its calls fared: by kind of call, over those of the rulebook.

Every change is a line of a file: what, when and by whom; the last one about a kind counts. They apply to games that are
started afterwards, whose journals hold them. A game in play goes on as it began.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Literal

from downfield.core.json_lines import JsonLinesFile, write_json_lines
from downfield.core.records import record
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Policy
from downfield.officiating.rulebooks.rulebook import Rulebook


@record
class PoliciesHeader:
    """First line of a file of policies."""

    format: Literal["downfield.policies"] = "downfield.policies"
    version: Literal[1] = 1


@record
class PolicyChange:
    """A policy was set."""

    kind: CallKind  # of call
    by: str  # the person or device
    at_ns: int  # wall clock, ns since 1970
    policy: Policy | None = None  # what may be done with such a call without a person; None for what the rulebook says


class LeaguePolicies:
    """Policies of a league. Callable from any thread; the file is read each time, as other programs may change it.

    Args:
        path: their file, which need not exist; None to keep them in memory.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._changes: tuple[PolicyChange, ...] = ()
        self._lock = threading.Lock()

    def set(self, kind: CallKind, policy: Policy | None, by: str) -> None:
        """Set the policy for a kind of call, on disk when this returns; one that is set already is left.

        Args:
            policy: for it; None for what the rulebook says.

        Raises:
            InputError: the file can't be read.
            OutputError: it can't be written; nothing has changed.
        """
        with self._lock:
            changes = self._read()
            known = _latest(changes).get(kind)
            if (None if known is None else known.policy) == policy:
                return
            self._write((*changes, PolicyChange(kind, by, time.time_ns(), policy)))

    def changes(self) -> tuple[PolicyChange, ...]:
        """Return every change, in order. Raises InputError: the file can't be read."""
        with self._lock:
            return self._read()

    def latest(self) -> dict[CallKind, PolicyChange]:
        """Return the last change by kind of call. Raises InputError: the file can't be read."""
        return _latest(self.changes())

    def applied_to(self, rulebook: Rulebook) -> Rulebook:
        """Return a rulebook with the policies that are set. Raises InputError: the file can't be read."""
        merged: dict[str, object] = dict(rulebook.policies)
        for kind, change in self.latest().items():
            if change.policy is not None:
                merged[kind] = change.policy
        return Rulebook(rulebook.name, rulebook.title, rulebook.system, rulebook.values, merged, rulebook.house_clauses)

    def _read(self) -> tuple[PolicyChange, ...]:
        if self._path is None or not self._path.exists():
            return self._changes
        return tuple(JsonLinesFile(self._path, PoliciesHeader, PolicyChange))

    def _write(self, changes: tuple[PolicyChange, ...]) -> None:
        if self._path is not None:
            write_json_lines(self._path, (PoliciesHeader, PoliciesHeader()), PolicyChange, changes)
        else:
            self._changes = changes


def _latest(changes: tuple[PolicyChange, ...]) -> dict[CallKind, PolicyChange]:
    return {change.kind: change for change in changes}
