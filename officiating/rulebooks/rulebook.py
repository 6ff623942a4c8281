"""Rulebooks: a base system, the values of its parameters, and the kinds of calls that may be made without a person.

A rulebook is a TOML file. The bundled ones (`tap`, `efl`, `lions-den`, `nfl-strategy`) name the system they are for; a
league's file names the rulebook it is built on and changes what differs::

    name = "River City"
    base = "tap"

    [tackle]
    fall_window_s = 0.75

    [policy]
    fumble = "propose"

Unknown names and impossible values are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Final, cast, get_args

from downfield.core.errors import FormatError, RulebookError
from downfield.core.files.input_files import parse_toml, read_text
from downfield.core.format_versions import KEYS
from downfield.officiating.calls import CallKind, Policy
from downfield.officiating.params import Param, Params
from downfield.officiating.rulebooks.efl.system import EFL
from downfield.officiating.rulebooks.lions_den.system import LIONS_DEN
from downfield.officiating.rulebooks.nfl_strategy.system import NFL_STRATEGY
from downfield.officiating.rulebooks.tap.system import TAP
from downfield.officiating.state.game_state import Phase
from downfield.officiating.state.interfaces import Rule, RuleSystem

SYSTEMS: Final[dict[str, RuleSystem]] = {system.name: system for system in (TAP, EFL, LIONS_DEN, NFL_STRATEGY)}
"""The code behind each bundled rulebook, by name."""

GENERAL_PARAMS: Final = (
    Param(
        "calls.confidence",
        0.95,
        "",
        "at most one wrong call in twenty is acceptable; below this confidence both readings are shown",
        low=0.5,
        high=0.9999,
    ),
    Param("calls.late_s", 2.0, "s", "a declaration may arrive up to this long after the moment it describes", low=0),
    Param(
        "challenge.limit",
        "none",
        "",
        "no printed rulebook limits how often a coach may have a call looked at again; leagues do",
        choices=("none", "half", "game"),
    ),
    Param("challenge.count", 2, "count", "challenges of each coach in a half or game, as in pro football", low=0),
    Param("challenge.won_is_free", True, "", "a coach who was right has cost nobody any time"),
    Param(
        "challenge.lost_costs",
        "nothing",
        "",
        "few tabletop rulebooks have time-outs to pay with",
        choices=("nothing", "time_out"),
    ),
    Param("challenge.too_close_is_lost", False, "", "who asks what nobody can tell was not wrong"),
)
_TOP_LEVEL_KEYS: Final = {"name", "title", "system", "base", "policy"}


class Rulebook:
    """A rulebook in force.

    Args:
        name: short name, as calls carry it.
        title: full name.
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
        rule_params = (param for rule in system.rules for param in rule.params)
        self.params = Params((*GENERAL_PARAMS, *system.params, *rule_params), values)
        self.policies: dict[str, Policy] = {}
        for kind, policy in (policies or {}).items():
            if kind not in get_args(CallKind):
                raise RulebookError(f"policy.{kind}: no such kind of call. Use one of {', '.join(get_args(CallKind))}.")
            if policy not in get_args(Policy):
                raise RulebookError(f"policy.{kind} must be one of {', '.join(get_args(Policy))}, not {policy!r}.")
            self.policies[kind] = cast("Policy", policy)

    def policy(self, kind: CallKind) -> Policy:
        """Return the policy for calls of a kind."""
        return self.policies.get(kind, "auto")

    @cached_property
    def rules_by_phase(self) -> dict[Phase, tuple[Rule, ...]]:
        """The rules active in each phase, in order of precedence."""
        return {phase: tuple(rule for rule in self.system.rules if phase in rule.phases) for phase in Phase}

    @cached_property
    def rules_by_id(self) -> dict[str, Rule]:
        """The rules by id."""
        return {rule.id: rule for rule in self.system.rules}

    @cached_property
    def precedence(self) -> dict[str, int]:
        """Precedence of the rules at the same instant, by id."""
        return {rule.id: place for place, rule in enumerate(self.system.rules)}


def bundled_rulebooks() -> tuple[str, ...]:
    """Return the names of the rulebooks that come with Downfield."""
    return tuple(sorted(file.name[: -len(".toml")] for file in _book_folder().iterdir() if file.name.endswith(".toml")))


def load_rulebook(name: str) -> Rulebook:
    """Load a rulebook by bundled name, or from a league's file.

    Args:
        name: one of `bundled_rulebooks`, or the path of a TOML file (anything with a slash or ending in ``.toml``).

    Raises:
        InputError: no such file.
        RulebookError: it contains an unknown name; the message names it.

    """
    if "/" in name or name.endswith(".toml"):
        return parse_rulebook(read_text(Path(name)), where=name)
    return _load_bundled(name)


@cache
def _load_bundled(name: str) -> Rulebook:
    if name not in bundled_rulebooks():
        raise RulebookError(f"No rulebook is named {name!r}. Bundled rulebooks: {', '.join(bundled_rulebooks())}.")
    return parse_rulebook(_book_folder().joinpath(f"{name}.toml").read_text(encoding="utf-8"), where=name)


def _book_folder() -> Any:
    return resources.files("downfield.officiating.rulebooks") / "books"


def parse_rulebook(text: str, where: str) -> Rulebook:
    """Return the rulebook that the text of a league's file describes.

    Args:
        text: TOML.
        where: names the file, for the error.

    Raises:
        RulebookError: it is no TOML, or contains an unknown name; the message names it.

    """
    try:
        data = parse_toml(text, where)
    except FormatError as error:
        raise RulebookError(str(error)) from None
    try:
        return _from_data(data, where)
    except RulebookError as error:
        raise RulebookError(f"{where}: {error}") from None


def _from_data(data: dict[str, Any], where: str) -> Rulebook:
    values: dict[str, object] = {}
    for group, table in data.items():
        if group in _TOP_LEVEL_KEYS:
            continue
        if not isinstance(table, dict):
            raise RulebookError(f"{group}: unknown key. Parameters go in tables, such as [tackle].")
        for name, value in table.items():
            key = KEYS.get(f"{group}.{name}", f"{group}.{name}")
            if key in values:
                raise RulebookError(f"{key} is given twice, once by its former name. Delete one.")
            values[key] = value
    policies = data.get("policy", {})
    if not isinstance(policies, dict):
        raise RulebookError("policy must be a table of call kinds.")
    name = _text(data, "name", Path(where).stem)
    if "system" in data:
        system = _system(_text(data, "system", ""))
        return Rulebook(name, _text(data, "title", system.title), system, values, policies)
    if "base" not in data:
        raise RulebookError(f"It names no base rulebook. Add base = one of {', '.join(bundled_rulebooks())}.")
    base = _load_bundled(_text(data, "base", ""))
    return Rulebook(name, _text(data, "title", name), base.system, base.values | values, {**base.policies, **policies})


def _text(data: dict[str, Any], key: str, default: str) -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise RulebookError(f"{key} must be text, not {value!r}.")
    return value


def _system(name: str) -> RuleSystem:
    if name not in SYSTEMS:
        raise RulebookError(f"system: no system is named {name!r}. Use one of {', '.join(sorted(SYSTEMS))}.")
    return SYSTEMS[name]
