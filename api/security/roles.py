"""Who may do what: three roles, each including the one before; what no route has opened is the admin's alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar

Role = Literal["viewer", "operator", "admin"]
RequiredRole = Literal["anyone", "viewer", "operator", "admin"]

RANK: Final[dict[RequiredRole, int]] = {"anyone": 0, "viewer": 1, "operator": 2, "admin": 3}

F = TypeVar("F", bound=Callable[..., Any])


def allow(need: RequiredRole) -> Callable[[F], F]:
    """Open a route to a role and those above it."""

    def opened(endpoint: F) -> F:
        endpoint.__dict__["need"] = need
        return endpoint

    return opened


def required_role(endpoint: Callable[..., Any]) -> RequiredRole:
    """The least role a route is open to."""
    need: RequiredRole = getattr(endpoint, "need", "admin")
    return need


def role_suffices(role: Role | None, need: RequiredRole) -> bool:
    """Whether a role, or none, is enough."""
    return RANK[role or "anyone"] >= RANK[need]
