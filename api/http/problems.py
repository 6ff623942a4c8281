"""Errors as problem details (RFC 9457): every response of status 4xx or 5xx is one."""

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
from downfield.core.records import plain_problem
from downfield.game.receipts import Accepted, Receipt, Refused

BASE: Final = "https://github.com/downfield/problems/"
MEDIA_TYPE: Final = "application/problem+json"

KINDS: Final[Mapping[int, tuple[str, str]]] = {
    400: ("bad-request", "The request could not be read"),
    401: ("not-signed-in", "This device is not paired"),
    403: ("not-allowed", "This is not allowed"),
    404: ("not-found", "Not found"),
    405: ("method-not-allowed", "This address does not support that method"),
    409: ("refused", "The game does not allow this now"),
    413: ("too-large", "The request is too large"),
    415: ("unsupported-media-type", "The content type is not supported"),
    422: ("invalid", "The request is not valid"),
    429: ("too-many-requests", "Too many requests"),
    500: ("internal-error", "Downfield made an error"),
    503: ("not-ready", "Not ready"),
}
"""Last part of the type, and the title, by status."""

_MAX_FIELD_ERRORS: Final = 20

_log = logging.getLogger(__name__)


class InvalidField(BaseModel):
    """One field of a request that is not valid."""

    field: str = Field(description="Where it is: body, path, query or header, then the names down to it.")
    problem: str


class ProblemBody(BaseModel):
    """A problem (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = Field(description="What is wrong, and what to do.")
    code: str = Field(default="", description="Why it was refused, for programs.")
    errors: tuple[InvalidField, ...] = ()


class ProblemError(Exception):
    """Raised to answer a request with a problem; `code` is the reason, for programs."""

    def __init__(self, status: int, detail: str, code: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.code, self.headers = status, detail, code, dict(headers or {})


def accepted(receipt: Receipt) -> Accepted:
    """Return a receipt of the game. Raises ProblemError: it is a refusal."""
    if isinstance(receipt, Refused):
        status = {"unknown": 404, "key_reused": 422, "invalid": 422, "failed": 503}.get(receipt.code, 409)
        raise ProblemError(status, receipt.reason, receipt.code)
    return receipt


def problem_response(
    status: int,
    detail: str,
    code: str = "",
    errors: tuple[InvalidField, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return a problem as a response."""
    kind, title = KINDS.get(status, (f"status-{status}", _reason_phrase(status)))
    body = ProblemBody(type=BASE + kind, title=title, status=status, detail=detail, code=code, errors=errors)
    content = body.model_dump(exclude_defaults=True)
    return JSONResponse(content, status, dict(headers or {}), MEDIA_TYPE)


def install_handlers(app: FastAPI) -> None:
    """Have an application answer every error with a problem."""
    for kind in (ProblemError, RequestValidationError, HTTPException, DownfieldError, Exception):
        app.add_exception_handler(kind, _answer)


def _answer(request: Request, error: Exception) -> JSONResponse:
    match error:
        case ProblemError():
            return problem_response(error.status, error.detail, error.code, headers=error.headers)
        case RequestValidationError():
            fields = tuple(_invalid_field(found) for found in error.errors()[:_MAX_FIELD_ERRORS])
            if any(found["type"] == "json_invalid" for found in error.errors()):
                return problem_response(400, "The request can't be read: its JSON is broken.", errors=fields)
            detail = "; ".join(_sentence(found) for found in fields[:3]) or "The request could not be read."
            return problem_response(422, detail, errors=fields)
        case HTTPException():
            status, detail = error.status_code, str(error.detail)
            if status in KINDS and detail == _reason_phrase(status):
                detail = f"{KINDS[status][1]}."
            return problem_response(status, detail, headers=error.headers)
        case RefusedError():
            return problem_response(409, str(error), error.code)
        case NotFoundError():
            return problem_response(404, str(error), "unknown")
        case BusyError():
            return problem_response(503, str(error), headers={"Retry-After": "1"})
        case NotRecordedError():
            return problem_response(404, str(error), "not_recorded")
        case DownfieldError():
            return problem_response(503 if isinstance(error, OutputError) else 422, str(error))
    _log.error("%s %s: %r", request.method, request.url.path, error)
    return problem_response(500, "Downfield made an error. Its log says which; please report it.")


def _invalid_field(error: Mapping[str, Any]) -> InvalidField:
    field = ".".join(str(part)[:60] for part in error["loc"][:12])
    return InvalidField(field=_encodable(field), problem=_encodable(plain_problem(error)[:300]))


def _sentence(found: InvalidField) -> str:
    """Return what is wrong with a field; of the body as a whole without naming it, which would tell nobody anything."""
    return found.problem if found.field == "body" else f"{found.field.removeprefix('body.')}: {found.problem}"


def _encodable(text: str) -> str:
    """Return text without the lone surrogates that a request may contain and UTF-8 can't."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _reason_phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
