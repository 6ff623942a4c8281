"""Rulebooks: a base system, the values of its parameters, and the kinds of calls that may be made without a person.

An installed rulebook is the code of its package with the defaults of its parameters. A league's TOML file names the
rulebook it is built on, and changes what differs::

    name = "River City"
    base = "tap"

    [tackle]
    fall_window_s = 0.75

    [policy]
    fumble = "propose"

    [clauses.RC-1]
    how = "measured"
    text = "A runner who is knocked over within three quarters of a second is down."
    amends = ["TAP-022"]
    params = ["tackle.fall_window_s"]

Unknown names and impossible values are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, cast, get_args

from downfield.core.errors import FormatError, RulebookError
from downfield.core.files.input_files import parse_toml, read_text
from downfield.core.records import out_of_range
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Policy
from downfield.officiating.clauses import Clause, clauses_of
from downfield.officiating.params import Mistakes, Params
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
from downfield.officiating.rulebooks.installed import GENERAL_PARAMS, installed_rulebooks, load_system
from downfield.officiating.rules.house_tackles import HITS
from downfield.officiating.state.game_state import Phase
from downfield.officiating.state.interfaces import Rule, RuleSystem

_TOP_LEVEL_KEYS: Final = {"name", "title", "base", "policy", "clauses"}


class Rulebook:
    """A rulebook in force.

    Args:
        name: short name, as calls carry it.
        title: full name.
        system: the code it runs on.
        values: parameters by full name.
        policies: by call kind, where not ``"auto"``.
        house_clauses: a league's own clauses by id, beside those of the system.

    Attributes:
        clauses: all clauses by id, the system's first.

    Raises:
        RulebookError: unknown parameters, call kinds or clauses, or impossible values, all of them.
    """

    def __init__(
        self,
        name: str,
        title: str,
        system: RuleSystem,
        values: Mapping[str, object] | None = None,
        policies: Mapping[str, object] | None = None,
        house_clauses: Mapping[str, Clause] | None = None,
    ) -> None:
        self.name = name
        self.title = title
        self.system = system
        self.values = dict(values or {})
        rule_params = (param for rule in system.rules for param in rule.params)
        definitions = (*GENERAL_PARAMS, *system.params, *rule_params)
        mistakes = Mistakes()
        self.params = Params(definitions)
        with mistakes.collecting():
            self.params = Params(definitions, values)
        self.policies: dict[str, Policy] = {}
        for kind, policy in (policies or {}).items():
            with mistakes.collecting():
                self.policies[kind] = _checked_policy(kind, policy)
        self.house_clauses = dict(house_clauses or {})
        self.clauses: dict[str, Clause] = {**system.catalog, **self.house_clauses}
        for name, clause in self.house_clauses.items():
            with mistakes.collecting():
                self._check_house_clause(name, clause)
        mistakes.raise_any()

    def _check_house_clause(self, name: str, clause: Clause) -> None:
        catalog = self.system.catalog
        if name in catalog:
            use = f'Use another id, and amends = ["{name}"].'
            raise RulebookError(f"clauses.{name}: that is a clause of {self.system.name}. {use}")
        for amended in clause.amends:
            if amended not in catalog:
                raise RulebookError(f"clauses.{name}: {self.system.name} has no clause {amended!r} to amend.")
        for param in clause.params:
            if param not in self.params.definitions:
                raise RulebookError(f"clauses.{name}: no parameter is named {param!r}.")

    @cached_property
    def _amendments(self) -> dict[str, tuple[str, ...]]:
        """The house rules that amend each clause of the system."""
        amended = {clause for house in self.house_clauses.values() for clause in house.amends}
        return {
            clause: tuple(name for name, house in self.house_clauses.items() if clause in house.amends)
            for clause in amended
        }

    def cite(self, clauses: tuple[str, ...]) -> tuple[str, ...]:
        """Return the clauses that decide, each once, with the house rules that amend them before what they amend."""
        return tuple(dict.fromkeys(name for clause in clauses for name in (*self._amendments.get(clause, ()), clause)))

    def policy(self, kind: CallKind) -> Policy:
        """Return the policy for calls of a kind."""
        return self.policies.get(kind, "auto")

    @cached_property
    def rules_by_phase(self) -> dict[Phase, tuple[Rule, ...]]:
        """The rules active in each phase, in order of precedence; without those that a league has to ask for."""
        asked = [rule for rule in self.system.rules if all(self.params[name] for name in getattr(rule, "needs", ()))]
        return {phase: tuple(rule for rule in asked if phase in rule.phases) for phase in Phase}

    @cached_property
    def spots_runs(self) -> bool:
        """Whether a league spots the end of a run otherwise than the book, or makes a fumble of it."""
        names = (name for name in ("downs.forward_progress", *HITS) if name in self.params.definitions)
        return "tackle.side_bonus_yd" in self.params.definitions and any(self.params[name] for name in names)

    @cached_property
    def rules_by_id(self) -> dict[str, Rule]:
        """The rules by id."""
        return {rule.id: rule for rule in self.system.rules}

    @cached_property
    def precedence(self) -> dict[str, int]:
        """Precedence of the rules at the same instant, by id."""
        return {rule.id: place for place, rule in enumerate(self.system.rules)}


def _checked_policy(kind: str, policy: object) -> Policy:
    if kind not in get_args(CallKind):
        raise RulebookError(f"policy.{kind}: no such kind of call. Use one of {', '.join(get_args(CallKind))}.")
    if policy not in get_args(Policy):
        raise RulebookError(f"policy.{kind} must be one of {', '.join(get_args(Policy))}, not {policy!r}.")
    return cast("Policy", policy)


def load_rulebook(name: str = DEFAULT_RULEBOOK) -> Rulebook:
    """Load an installed rulebook by name, or a league's from its file.

    Args:
        name: one of `installed_rulebooks`, or the path of a TOML file (anything with a slash or ending in ``.toml``).

    Raises:
        InputError: no such file.
        RulebookError: no such rulebook, or it is broken or contains an unknown name; the message names it.
    """
    if "/" in name or name.endswith(".toml"):
        return parse_rulebook(read_text(Path(name)), where=name)
    return _load_installed(name)


@cache
def _load_installed(name: str) -> Rulebook:
    system = load_system(name)
    return Rulebook(system.name, system.title, system)


def parse_rulebook(text: str, where: str) -> Rulebook:
    """Return the rulebook that the text of a league's file describes.

    Raises:
        RulebookError: it is no TOML, or contains an unknown name; the message names it.
    """
    try:
        data = parse_toml(text, where)
    except FormatError as error:
        raise RulebookError(str(error)) from None
    problem = out_of_range(data)
    if problem is not None:
        raise RulebookError(f"{where}: {problem}.")
    try:
        return _from_data(data, where)
    except RulebookError as error:
        raise RulebookError(f"{where}: {error}") from None


def _from_data(data: dict[str, Any], where: str) -> Rulebook:
    mistakes = Mistakes()
    values: dict[str, object] = {}
    for group, table in data.items():
        if group in _TOP_LEVEL_KEYS:
            continue
        with mistakes.collecting():
            if not isinstance(table, dict):
                raise RulebookError(f"{group}: unknown key. Parameters go in tables, such as [tackle].")
            values |= {f"{group}.{name}": value for name, value in table.items()}
    policies = data.get("policy", {})
    name, title, house_clauses = "", "", dict[str, Clause]()
    with mistakes.collecting():
        if not isinstance(policies, dict):
            raise RulebookError("policy must be a table of call kinds.")
    with mistakes.collecting():
        house_clauses = clauses_of(data.get("clauses", {}))
    with mistakes.collecting():
        name = _text(data, "name", Path(where).stem)
        title = _text(data, "title", name)
    book = None
    with mistakes.collecting():
        if "base" not in data:
            raise RulebookError(f"It names no base rulebook. Add base = one of {', '.join(installed_rulebooks())}.")
        system = _load_installed(_text(data, "base", "")).system
        book = Rulebook(name, title, system, values, policies if isinstance(policies, dict) else {}, house_clauses)
    mistakes.raise_any()
    assert book is not None
    return book


def _text(data: dict[str, Any], key: str, default: str) -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise RulebookError(f"{key} must be text, not {value!r}.")
    return value
