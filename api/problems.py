"""Errors as problem details, RFC 9457: every 4xx and 5xx answer is one, whoever raised it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from downfield.core.errors import BusyError, DownfieldError, NotFoundError, NotRecordedError, OutputError, RefusedError
from downfield.game.receipts import Refused

BASE: Final = "https://github.com/downfield/problems/"
MEDIA_TYPE: Final = "application/problem+json"

KINDS: Final[Mapping[int, tuple[str, str]]] = {
    400: ("bad-request", "The request can't be understood"),
    401: ("not-signed-in", "Nobody is signed in"),
    403: ("not-allowed", "This is not allowed"),
    404: ("not-found", "There is no such thing"),
    405: ("wrong-method", "This can't be asked in this way"),
    409: ("refused", "The game does not allow it now"),
    413: ("too-large", "What was sent is too large"),
    415: ("wrong-type", "What was sent is of the wrong type"),
    422: ("invalid", "What was sent breaks its schema"),
    429: ("too-many", "Too many requests"),
    500: ("fault", "A fault of Downfield's"),
    503: ("not-ready", "This is not ready"),
}
"""Last part of the type, and the title, by status."""

_log = logging.getLogger(__name__)


class FieldError(BaseModel):
    """One thing that is wrong with what was sent."""

    field: str = Field(description="Where: body, path, query or header, and the names down to it.")
    problem: str


class ProblemBody(BaseModel):
    """A problem, RFC 9457."""

    type: str
    title: str
    status: int
    detail: str = Field(description="What was wrong, and what to do.")
    code: str = Field(default="", description="Why the game refused, for the machine.")
    errors: tuple[FieldError, ...] = ()


class ProblemError(Exception):
    """An answer that is a problem.

    Args:
        status: HTTP status.
        detail: what was wrong, and what to do.
        code: for the machine.
        headers: more of the answer's.

    """

    def __init__(self, status: int, detail: str, code: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.code, self.headers = status, detail, code, dict(headers or {})


def refusal_problem(refused: Refused) -> ProblemError:
    """What the game service refused, as a problem."""
    status = {"unknown": 404, "key_reused": 422, "invalid": 422, "failed": 503}.get(refused.code, 409)
    return ProblemError(status, refused.reason, refused.code)


def problem(
    status: int,
    detail: str,
    code: str = "",
    errors: tuple[FieldError, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A problem as an answer."""
    kind, title = KINDS.get(status, (f"status-{status}", _phrase(status)))
    body = ProblemBody(type=BASE + kind, title=title, status=status, detail=detail, code=code, errors=errors)
    content = body.model_dump(exclude_defaults=True)
    return JSONResponse(content, status, dict(headers or {}), MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Have every error of an application answered as a problem."""
    app.add_exception_handler(ProblemError, _of_ours)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(DownfieldError, _of_downfield)
    app.add_exception_handler(Exception, _of_fault)


def _of_ours(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, ProblemError):
        raise error
    return problem(error.status, error.detail, error.code, headers=error.headers)


def _of_validation(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    found = [_trouble(one) for one in error.errors()[:20]]
    broken = any(one["type"] == "json_invalid" for one in error.errors())
    detail = "; ".join(f"{one.field}: {one.problem}" for one in found[:3]) or "it can't be read"
    return problem(400 if broken else 422, detail, errors=tuple(found))


def _of_http(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    known = str(error.detail)
    detail = (
        KINDS[error.status_code][1] if error.status_code in KINDS and known == _phrase(error.status_code) else known
    )
    return problem(error.status_code, detail, headers=error.headers)


def _of_downfield(_request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, RefusedError):
        return problem(409, str(error), "not_now")
    if isinstance(error, NotFoundError):
        return problem(404, str(error), "unknown")
    if isinstance(error, BusyError):
        return problem(503, str(error), headers={"Retry-After": "1"})
    if isinstance(error, NotRecordedError):
        return problem(404, str(error), "not_recorded")
    return problem(503 if isinstance(error, OutputError) else 422, str(error))


def _of_fault(request: Request, error: Exception) -> JSONResponse:
    _log.error("%s %s: %r", request.method, request.url.path, error)
    return problem(500, "an error was not foreseen; it stands in Downfield's log")


def _trouble(error: Mapping[str, Any]) -> FieldError:
    where = ".".join(str(part)[:60] for part in error["loc"][:12])
    message = (
        "unknown key" if error["type"] in {"extra_forbidden", "unexpected_keyword_argument"} else str(error["msg"])
    )
    return FieldError(field=_clean(where), problem=_clean(message[:300]))


def _clean(text: str) -> str:
    """Text that can be sent, whatever was sent to us: no half characters."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
