"""The rulebooks that are installed: packages find their way in by an entry point of the group ``downfield.rulebooks``.

An entry point's name is the rulebook's name, and its value the `RuleSystem` of its package. The four that come with
Downfield are registered in its own ``pyproject.toml`` the same way. A package that is broken is named when its rulebook
is asked for, and leaves the others as they are.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint
from typing import Final, get_args

from downfield.core.errors import RulebookError
from downfield.core.platform.packages import broken_text, registered
from downfield.officiating.calls import CallKind
from downfield.officiating.state.interfaces import RuleSystem

GROUP: Final = "downfield.rulebooks"


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
    if kinds := sorted(set(system.consequences) - set(get_args(CallKind))):
        raise _broken(entry, f"its consequences name {kinds[0]!r}, which is no kind of call")
    for rule in system.rules:
        if missing := sorted(set(rule.clauses) - set(system.catalog)):
            raise _broken(entry, f"its rule {rule.id!r} cites {missing[0]}, which its catalog lacks")
    return system


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
