"""The service's own description, `/openapi.json`: roles, tags, and problems instead of FastAPI's errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from downfield.api.problems import KINDS, MEDIA_TYPE, ProblemBody
from downfield.api.security.roles import allow, required_role

TAGS: Final = {
    "play": "The game in play: what is true, what is declared, what waits for a person.",
    "calls": "Calls with margin, error and clause, and people's rulings about them.",
    "feed": "What changes, as it changes; see docs/service.md.",
    "games": "Games in the store.",
    "teams": "Teams with their rosters.",
    "rulebooks": "Rulebooks with clauses and parameters.",
    "camera": "The camera's annotated picture.",
    "rig": "Calibration, recording, configuration.",
    "access": "Pairing and sessions.",
    "health": "For whoever watches the service.",
}
_ABOUT: Final = """Everything the pages use. Roles: viewer, operator, admin, each including the one before; this
computer itself is admin. Every error is a problem (RFC 9457). Times `t_ns` are nanoseconds on the capture clock."""
_PROBLEM: Final = {"schema": {"$ref": "#/components/schemas/ProblemBody"}}


def describe(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Serve an application's description at `/openapi.json`.

    Args:
        app: the application.
        routers: those it includes.

    """

    @app.get("/openapi.json", include_in_schema=False)
    @allow("anyone")
    def description() -> dict[str, Any]:
        return app.openapi()

    def made() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _schema(app, routers)
        return app.openapi_schema

    app.openapi = made  # type: ignore[method-assign]


def _schema(app: FastAPI, routers: Sequence[APIRouter]) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=" ".join(_ABOUT.split()),
        routes=app.routes,
        tags=[{"name": name, "description": about} for name, about in TAGS.items()],
    )
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    _with_problems(schema, {(route.path, method): route for route in routes for method in route.methods or ()})
    _mend_tuples(schema)
    return schema


def _mend_tuples(part: Any) -> None:
    """Describe tuples as arrays of a fixed length, which every version of JSON Schema and every client reads alike."""
    if isinstance(part, dict):
        places = part.pop("prefixItems", None) or part.get("items")
        if isinstance(places, list):
            kinds = [kind for number, kind in enumerate(places) if kind not in places[:number]]
            part["items"] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        for value in part.values():
            _mend_tuples(value)
    elif isinstance(part, list):
        for value in part:
            _mend_tuples(value)


def _with_problems(made: dict[str, Any], routes: dict[tuple[str, str], APIRoute]) -> None:
    shapes = made["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        shapes.pop(unused, None)
    problem = ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
    shapes |= problem.pop("$defs")
    shapes["ProblemBody"] = problem
    made["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "Of a paired device."},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "downfield"},
    }
    for path, methods in made["paths"].items():
        for method, operation in methods.items():
            need = required_role(routes[path, method.upper()].endpoint)
            if need != "anyone":
                operation["security"] = [{"token": []}, {"cookie": []}]
            operation["description"] = f"{operation.get('description', '')}\n\nRole: {need}.".strip()
            for status in _statuses(method, path, need, operation):
                answer = {"description": KINDS[status][1], "content": {MEDIA_TYPE: _PROBLEM}}
                operation["responses"][str(status)] = answer


def _statuses(method: str, path: str, need: str, operation: dict[str, Any]) -> list[int]:
    """The problems an operation may answer with."""
    operation["responses"].pop("422", None)
    takes = bool(operation.get("parameters")) or "requestBody" in operation
    found = {400: True, 401: need != "anyone" or path == "/api/session", 403: True, 422: takes, 429: True}
    found |= {404: "{" in path or path in {"/api/game", "/api/scene", "/camera.jpg"} or path.startswith("/api/cal")}
    found |= {409: method != "get", 413: "requestBody" in operation, 503: True}
    return [status for status, may in found.items() if may]
