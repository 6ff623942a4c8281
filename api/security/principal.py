"""Who is asking: the caller of a request, as the authorize found out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from downfield.api.security.roles import Role


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who asks.

    Attributes:
        role: what he may do; None for nobody in particular.
        name: as people call him or his device.
        device: id of a paired device; empty for this computer itself.
        local: whether he sits at this computer.

    """

    role: Role | None = None
    name: str = "somebody"
    device: str = ""
    local: bool = False


def _caller(connection: HTTPConnection) -> Principal:
    caller: Principal = connection.state.caller
    return caller


PrincipalDep = Annotated[Principal, Depends(_caller)]
