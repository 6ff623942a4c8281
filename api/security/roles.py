"""Roles and principals: four roles, each including the one before it; a route without a role is for the admin only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

Role = Literal["viewer", "operator", "referee", "admin"]
RequiredRole = Literal["anyone", "viewer", "operator", "admin"]

RANK: Final[dict[Role | RequiredRole, int]] = {"anyone": 0, "viewer": 1, "operator": 2, "referee": 3, "admin": 4}
"""A referee may do what an operator may, and rule on finished games."""

_AT_A_TABLE: Final = "required_role"
_IN_REVIEW: Final = "required_in_review"
"""Names under which a route has the lowest role it is open to: at a table or desk, and with games to look at alone."""

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Principal:
    """The sender of a request.

    Attributes:
        role: decides what is allowed; None for an unpaired device.
        name: of the person or device, as the record shows it.
        device: id of a paired device; empty for this computer.
        local: whether the request comes from this computer.
    """

    role: Role | None = None
    name: str = "an unpaired device"
    device: str = ""
    local: bool = False


def allow(role: RequiredRole, *, in_review: RequiredRole | None = None) -> Callable[[Endpoint], Endpoint]:
    """Open a route to a role and those above it.

    Args:
        role: the lowest.
        in_review: the lowest where there is no table, only games to look at; None for the same.
    """

    def mark(endpoint: Endpoint) -> Endpoint:
        endpoint.__dict__[_AT_A_TABLE] = role
        endpoint.__dict__[_IN_REVIEW] = in_review or role
        return endpoint

    return mark


def required_role(endpoint: Callable[..., Any], *, in_review: bool = False) -> RequiredRole:
    """Return the lowest role a route is open to.

    Args:
        endpoint: handles the route's requests.
        in_review: whether there is no table, only games to look at.
    """
    role: RequiredRole = getattr(endpoint, _IN_REVIEW if in_review else _AT_A_TABLE, "admin")
    return role
