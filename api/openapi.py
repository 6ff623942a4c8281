"""The OpenAPI description at `/openapi.json`: with roles, tags, and problems instead of FastAPI's own errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from downfield.api.http.problems import KINDS, MEDIA_TYPE, ProblemBody
from downfield.api.security.access import allow, required_role

TAGS: Final = {
    "play": "The game in play: its state, declarations, and questions that wait for a person.",
    "calls": "Calls with their margin, error and clause, and rulings on them.",
    "feed": "Changes as they happen; see docs/service.md.",
    "games": "Games in the store.",
    "teams": "Teams with their rosters.",
    "rulebooks": "Rulebooks with their clauses and parameters.",
    "camera": "The annotated camera picture.",
    "rig": "Calibration, recording, configuration.",
    "access": "Pairing, sessions, devices.",
    "health": "Health and metrics for monitoring.",
}
_DESCRIPTION: Final = (
    "Everything the pages use. The roles are viewer, operator and admin, each including the one before it; a request "
    "from this computer is the admin's. Every error is a problem (RFC 9457). Times `t_ns` are nanoseconds on the "
    "capture clock."
)
_PROBLEM: Final = {"schema": {"$ref": "#/components/schemas/ProblemBody"}}


def serve_schema(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Serve an application's description at `/openapi.json`."""

    @app.get("/openapi.json", include_in_schema=False)
    @allow("anyone")
    def schema() -> dict[str, Any]:
        return app.openapi()

    def cached_schema() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _build_schema(app, routers)
        return app.openapi_schema

    app.openapi = cached_schema  # type: ignore[method-assign]


def _build_schema(app: FastAPI, routers: Sequence[APIRouter]) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=_DESCRIPTION,
        routes=app.routes,
        tags=[{"name": name, "description": about} for name, about in TAGS.items()],
    )
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    _add_problems(schema, {(route.path, method): route for route in routes for method in route.methods or ()})
    _describe_tuples(schema)
    return schema


def _describe_tuples(part: Any) -> None:
    """Describe tuples as arrays of a fixed length, which all versions of JSON Schema and all clients understand."""
    if isinstance(part, dict):
        items = part.pop("prefixItems", None) or part.get("items")
        if isinstance(items, list):
            kinds = [kind for number, kind in enumerate(items) if kind not in items[:number]]
            part["items"] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        for value in part.values():
            _describe_tuples(value)
    elif isinstance(part, list):
        for value in part:
            _describe_tuples(value)


def _add_problems(schema: dict[str, Any], routes: dict[tuple[str, str], APIRoute]) -> None:
    models = schema["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        models.pop(unused, None)
    problem = ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
    models |= problem.pop("$defs")
    models["ProblemBody"] = problem
    schema["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "Of a paired device."},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "downfield"},
    }
    names = Counter(route.name for route in routes.values())
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            name = routes[path, method.upper()].name
            operation["operationId"] = name if names[name] == 1 else f"{name}_in_{operation['tags'][0]}"
            role = required_role(routes[path, method.upper()].endpoint)
            if role != "anyone":
                operation["security"] = [{"token": []}, {"cookie": []}]
            operation["description"] = f"{operation.get('description', '')}\n\nRole: {role}.".strip()
            for status in _problem_statuses(method, path, role, operation):
                response = {"description": KINDS[status][1], "content": {MEDIA_TYPE: _PROBLEM}}
                operation["responses"][str(status)] = response


def _problem_statuses(method: str, path: str, role: str, operation: dict[str, Any]) -> list[int]:
    """Return the statuses of the problems an operation may answer with."""
    operation["responses"].pop("422", None)
    has_input = bool(operation.get("parameters")) or "requestBody" in operation
    may_miss = (
        method != "get"  # a command may name what is not there, or need what this service lacks
        or "{" in path
        or path in {"/api/game", "/api/scene", "/camera.jpg"}
        or path.startswith(("/api/cal", "/api/setup", "/api/program", "/program."))
    )
    possible = {
        400: True,
        401: role != "anyone" or path == "/api/session",
        403: True,
        404: may_miss,
        409: method != "get",
        413: "requestBody" in operation,
        422: has_input,
        429: True,
        503: True,
    }
    return [status for status, may in possible.items() if may]
