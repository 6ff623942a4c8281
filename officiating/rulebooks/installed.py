"""The rulebooks that are installed: packages find their way in by an entry point of the group ``downfield.rulebooks``.

An entry point's name is the rulebook's name, and its value the `RuleSystem` of its package. The four that come with
Downfield are registered in its own ``pyproject.toml`` the same way. A package that is broken is named when its rulebook
is asked for, and leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Final

from downfield.core.errors import RulebookError
from downfield.core.platform.packages import broken_text, registered
from downfield.officiating.call_kinds import CALL_KINDS
from downfield.officiating.params import read_params
from downfield.officiating.state.interfaces import RuleSystem

GROUP: Final = "downfield.rulebooks"
GENERAL_PARAMS: Final = read_params("downfield.officiating.rulebooks")
"""Parameters of every rulebook."""


def installed_rulebooks() -> tuple[str, ...]:
    """Return the names of all installed rulebooks, sorted; whether each can be loaded is not known yet."""
    return tuple(sorted(registered(GROUP)))


@cache
def load_system(name: str) -> RuleSystem:
    """Return an installed rulebook's code. Raises RulebookError: none such, or names the broken package."""
    entry = registered(GROUP).get(name)
    if entry is None:
        raise RulebookError(f"No rulebook is named {name!r}. Installed rulebooks: {', '.join(installed_rulebooks())}.")
    try:
        system = entry.load()
    except Exception as error:  # another author's package may fail in any way, and only its own rulebook with it
        raise _broken(entry, f"{type(error).__name__}: {error}") from error
    if not isinstance(system, RuleSystem):
        raise _broken(entry, f"{entry.value} is not a RuleSystem")
    if system.name != name:
        raise _broken(entry, f"its RuleSystem is named {system.name!r}")
    if reason := next(_mistakes(system), ""):
        raise _broken(entry, reason)
    return system


def _mistakes(system: RuleSystem) -> Iterator[str]:
    """Yield what a rulebook names that is not there."""
    for kind in sorted(set(system.consequences) - CALL_KINDS):
        yield f"its consequences name {kind!r}, which is no kind of call"
    for rule in system.rules:
        for missing in sorted(set(rule.clauses) - set(system.catalog)):
            yield f"its rule {rule.id!r} cites {missing}, which its catalog lacks"
    rule_params = (param for rule in system.rules for param in rule.params)
    params = {param.name for param in (*GENERAL_PARAMS, *system.params, *rule_params)}
    for name, clause in system.catalog.items():
        for param in sorted(set(clause.params) - params):
            yield f"its clause {name} names the parameter {param!r}, which it lacks"
        if clause.by and not clause.by.startswith("downfield.") and not _is_there(clause.by):
            yield f"its clause {name} is by {clause.by}, which is not there"


def _is_there(full_name: str) -> bool:
    module, _, name = full_name.rpartition(".")
    try:
        return hasattr(import_module(module), name)
    except ImportError:
        return False


def load_systems() -> tuple[tuple[RuleSystem, ...], tuple[str, ...]]:
    """Return the code of every installed rulebook by name, and a sentence about each that can't be loaded."""
    systems, problems = list[RuleSystem](), list[str]()
    for name in installed_rulebooks():
        try:
            systems.append(load_system(name))
        except RulebookError as error:
            problems.append(str(error))
    return tuple(systems), tuple(problems)


def _broken(entry: EntryPoint, reason: str) -> RulebookError:
    return RulebookError(broken_text(entry, "rulebook", reason))
