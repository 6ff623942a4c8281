"""Rulebooks: a base system, the values of its parameters, and per kind of call what may be called without a person.

A rulebook is a TOML file. The bundled ones (`tap`, `efl`, `lions-den`, `nfl-strategy`) name the system they are for; a
league's file names the rulebook it is built on and changes what differs::

    name = "River City"
    base = "tap"

    [tackle]
    fall_window_s = 0.75

    [policy]
    fumble = "propose"

What is not known, or can't be, is refused by name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, cast, get_args

from downfield.core.errors import RulebookError
from downfield.core.records import read_text
from downfield.officiating.calls import CallKind, Policy
from downfield.officiating.engine.interfaces import Rule, RuleSystem
from downfield.officiating.engine.state import Phase
from downfield.officiating.rulebooks.params import Param, Params
from downfield.officiating.rulebooks.systems import SYSTEMS

_TOP = {"name", "title", "system", "base", "policy"}

GENERAL = (
    Param(
        "calls.confidence",
        0.95,
        "",
        "a call wrong one time in twenty is the most a table will bear; below that both readings are shown",
        low=0.5,
        high=0.9999,
    ),
    Param("calls.late_s", 2.0, "s", "a declaration may reach the table this long after the moment it is about", low=0),
)


class Rulebook:
    """A rulebook in force.

    Args:
        name: short name, as calls carry it.
        title: in full.
        system: the code it runs on.
        values: parameters by full name.
        policies: by call kind, where not ``"auto"``.

    Raises:
        RulebookError: an unknown parameter or call kind, or an impossible value.

    """

    def __init__(
        self,
        name: str,
        title: str,
        system: RuleSystem,
        values: Mapping[str, object] | None = None,
        policies: Mapping[str, object] | None = None,
    ) -> None:
        self.name = name
        self.title = title
        self.system = system
        self.values = dict(values or {})
        self.params = Params((*GENERAL, *system.params, *(p for rule in system.rules for p in rule.params)), values)
        self.policies: dict[str, Policy] = {}
        for kind, policy in (policies or {}).items():
            if kind not in get_args(CallKind):
                raise RulebookError(f"policy.{kind}: no call is of that kind; kinds: {', '.join(get_args(CallKind))}")
            if policy not in get_args(Policy):
                raise RulebookError(f"policy.{kind} must be one of {', '.join(get_args(Policy))}, not {policy!r}")
            self.policies[kind] = cast("Policy", policy)

    def policy(self, kind: CallKind) -> Policy:
        """What may be done with a call of a kind."""
        return self.policies.get(kind, "auto")

    @cached_property
    def rules_by_phase(self) -> dict[Phase, tuple[Rule, ...]]:
        """The rules that look in each phase, in order of precedence."""
        return {phase: tuple(rule for rule in self.system.rules if phase in rule.phases) for phase in Phase}

    @cached_property
    def rules_by_id(self) -> dict[str, Rule]:
        """The rules by id."""
        return {rule.id: rule for rule in self.system.rules}

    @cached_property
    def precedence(self) -> dict[str, int]:
        """Precedence of rules at one and the same instant."""
        return {rule.id: place for place, rule in enumerate(self.system.rules)}


def bundled_rulebooks() -> tuple[str, ...]:
    """Names of the rulebooks that come with Downfield."""
    return tuple(sorted(file.name[: -len(".toml")] for file in _books().iterdir() if file.name.endswith(".toml")))


def load_rulebook(name: str) -> Rulebook:
    """A rulebook by bundled name, or from a league's file.

    Args:
        name: one of `bundled_rulebooks`, or the path of a TOML file (anything with a dot or a slash).

    Raises:
        InputError: no such file.
        RulebookError: it names or sets something that does not exist; names it.

    """
    if "/" in name or name.endswith(".toml"):
        return _from_text(read_text(Path(name)), where=name)
    return _bundled(name)


@cache
def _bundled(name: str) -> Rulebook:
    if name not in bundled_rulebooks():
        raise RulebookError(f"no rulebook is called {name!r}; bundled: {', '.join(bundled_rulebooks())}")
    return _from_text(_books().joinpath(f"{name}.toml").read_text(encoding="utf-8"), where=name)


def _books() -> Any:
    return resources.files("downfield.officiating.rulebooks") / "books"


def _from_text(text: str, where: str) -> Rulebook:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RulebookError(f"{where}: not TOML: {error}") from None
    try:
        return _from_data(data, where)
    except RulebookError as error:
        raise RulebookError(f"{where}: {error}") from None


def _from_data(data: dict[str, Any], where: str) -> Rulebook:
    values: dict[str, object] = {}
    for group, table in data.items():
        if group in _TOP:
            continue
        if not isinstance(table, dict):
            raise RulebookError(f"{group}: unknown key; parameters stand in tables, such as [tackle]")
        values |= {f"{group}.{name}": value for name, value in table.items()}
    policies = data.get("policy", {})
    if not isinstance(policies, dict):
        raise RulebookError("policy must be a table of call kinds")
    name = _text(data, "name", Path(where).stem)
    if "system" in data:
        system = _system(_text(data, "system", ""))
        return Rulebook(name, _text(data, "title", system.title), system, values, policies)
    if "base" not in data:
        raise RulebookError(f"names no base rulebook; add base = one of {', '.join(bundled_rulebooks())}")
    base = _bundled(_text(data, "base", ""))
    return Rulebook(name, _text(data, "title", name), base.system, base.values | values, {**base.policies, **policies})


def _text(data: dict[str, Any], key: str, default: str) -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise RulebookError(f"{key} must be text, not {value!r}")
    return value


def _system(name: str) -> RuleSystem:
    if name not in SYSTEMS:
        raise RulebookError(f"system: no system is called {name!r}; there are {', '.join(sorted(SYSTEMS))}")
    return SYSTEMS[name]
