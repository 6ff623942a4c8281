"""The OpenAPI description at `/openapi.json`: with roles, tags, and problems instead of FastAPI's own errors."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from downfield.api.context.access_control import AuthorizedRouter, authorize
from downfield.api.http.problems import KINDS, MEDIA_TYPE, ProblemBody, install_handlers
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
_REFERENCE: Final = r'"\$ref": "#/components/schemas/([^"]+)"'
_HEXADECIMAL: Final = re.compile(r"\^\[0-9a-f\]\{(\d+)\}\$")
_WORDS: Final = {
    "game": "20261128-190412-5f0c2a91",
    "call": "tackle:9209706148:dark-28",
    "text": "dark-28 tackled by light-24",
    "by": "Ann",
    "player": "dark-28",
}
"""Examples of texts, by the name of what has them."""
_PROBLEM: Final = {"schema": {"$ref": "#/components/schemas/ProblemBody"}}


def application(title: str, summary: str, routers: Sequence[AuthorizedRouter]) -> FastAPI:
    """Return an application of routers: every request is authorized, errors are problems, and it describes itself."""
    app = FastAPI(
        title=title,
        version=version("downfield"),
        summary=summary,
        dependencies=[Depends(authorize)],
        docs_url=None,  # both pages would load scripts from the internet
        redoc_url=None,
        openapi_url=None,
        strict_content_type=False,
    )
    app.router.routes.extend(route for router in routers for route in router.routes)
    install_handlers(app)

    @app.get("/openapi.json", include_in_schema=False)
    @allow("anyone")
    def schema() -> dict[str, Any]:
        return app.openapi()

    def cached_schema() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _build_schema(app, routers)
        return app.openapi_schema

    app.openapi = cached_schema  # type: ignore[method-assign]
    return app


def _build_schema(app: FastAPI, routers: Sequence[AuthorizedRouter]) -> dict[str, Any]:
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
    _complete_answers(schema)
    for operation in _operations(schema):
        _add_examples(operation, schema["components"]["schemas"])
    return schema


def _operations(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for methods in schema["paths"].values() for operation in methods.values()]


def _answers(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what an operation answers where nothing is wrong; a problem leaves out what does not apply."""
    return [answer for status, answer in operation["responses"].items() if status < "3"]


def _complete_answers(schema: dict[str, Any]) -> None:
    """Require every field of what is sent, as the service leaves none out; what is taken as well is described twice."""
    models, operations = schema["components"]["schemas"], _operations(schema)
    sent = _reachable([answer for operation in operations for answer in _answers(operation)], models)
    taken = _reachable([operation.get("requestBody") for operation in operations], models)
    names = {name: f"{name}Output" if name in taken else name for name in sent}

    def renamed(part: Any) -> Any:
        text = re.sub(
            _REFERENCE,
            lambda found: f'"$ref": "#/components/schemas/{names.get(found[1], found[1])}"',
            json.dumps(part),
        )
        return json.loads(text)

    for name in sent:
        required = {"required": list(models[name]["properties"])} if "properties" in models[name] else {}
        models[names[name]] = renamed({**models[name], **required, "title": names[name]})
    for operation in operations:
        operation["responses"] = renamed(operation["responses"])


def _reachable(part: Any, models: dict[str, Any]) -> list[str]:
    """Return the names of the models that a part of a schema leads to, in order."""
    found: set[str] = set()
    waiting = re.findall(_REFERENCE, json.dumps(part))
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += re.findall(_REFERENCE, json.dumps(models[name]))
    return sorted(found)


def _add_examples(operation: dict[str, Any], models: dict[str, Any]) -> None:
    for described in (*_answers(operation), operation.get("requestBody", {})):
        content = described.get("content", {}).get("application/json")
        if content is not None and not {"example", "examples"} & {*content, *content["schema"]}:
            content["example"] = _example(content["schema"], models)
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path" and not {"example", "examples"} & {*parameter, *parameter["schema"]}:
            parameter["example"] = _example(parameter["schema"], models, parameter["name"])


def _example(part: dict[str, Any], models: dict[str, Any], name: str = "") -> Any:
    """Return what a schema describes: an example or a default of it or of its description, or the least of its kind."""
    if reference := part.get("$ref"):
        return _example(models[reference.rsplit("/", 1)[1]], models, name)
    for key in ("examples", "enum"):
        if key in part:
            return part[key][0]
    for key in ("const", "default"):
        if key in part:
            return part[key]
    if options := part.get("anyOf") or part.get("oneOf"):
        return _example(options[0], models, name)
    if "properties" in part:
        shown = part["properties"].items()
        may_be_null = {key for key, value in shown if {"type": "null"} in value.get("anyOf", ())}
        left_out = may_be_null.difference(part.get("required", ()))
        return {key: None if key in left_out else _example(value, models, key) for key, value in shown}
    if part.get("type") == "array":
        return [_example(part.get("items", {}), models, name)] * part.get("minItems", 0)
    if part.get("type") in {"integer", "number"}:
        return part.get("minimum", part.get("exclusiveMinimum", -1) + 1)
    if found := _HEXADECIMAL.fullmatch(part.get("pattern", "")):
        return hashlib.sha256().hexdigest()[: int(found[1])]
    told = re.search(r'[Ss]uch as "([^"]+)"', part.get("description", ""))
    text = told[1] if told else _WORDS.get(name, name or "text")
    return {"string": text, "boolean": True, "object": {}}.get(part.get("type", ""))


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
