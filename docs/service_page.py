"""Write the reference of the service from its models: ``python docs/service_page.py docs/service.md``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi.routing import APIRoute, APIWebSocketRoute
from pydantic.json_schema import models_json_schema

from downfield.api.app import ROUTERS
from downfield.api.security.access import required_role
from downfield.core.records import write_text
from downfield.game.published.hub import TOPICS

_IN_FORMATS = {"Player", "BaseSize", "FieldModel"}
_INTRODUCTION = Path(__file__).with_name("service_text.md")


def page() -> Iterator[str]:
    """Yield the page's lines."""
    yield _INTRODUCTION.read_text(encoding="utf-8")
    yield from _endpoints()
    yield "\n## The topics\n\n"
    yield "Made by `make docs` from the models in `game/published/`; a test holds it so.\n"
    _, schema = models_json_schema([(model, "serialization") for model in TOPICS.values()])
    models: dict[str, Any] = schema["$defs"]
    topic_models = {model.__name__ for model in TOPICS.values()}
    for topic, model in TOPICS.items():
        described = models[model.__name__]
        yield f"\n### `{topic}`\n\n{_description(described)}\n\n"
        yield from _table(described)
    for name, described in models.items():
        if name not in topic_models and name not in _IN_FORMATS and "properties" in described:
            yield f"\n### {name}\n\n{_description(described)}\n\n"
            yield from _table(described)


def _endpoints() -> Iterator[str]:
    yield "## Endpoints\n\nA viewer can read, a producer changes what is on air, an operator runs the game, "
    yield "a referee also rules on finished games, and "
    yield "an admin also sets up the rig. Each role "
    yield "includes the one before it. All endpoints but the pages are described in `/openapi.json`.\n"
    yield "\n| endpoint | role | description |\n|---|---|---|\n"
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute):
                method = ", ".join(sorted(route.methods or ()))
                summary = route.summary or (route.endpoint.__doc__ or "").split("\n")[0].rstrip(".")
                yield f"| `{method} {route.path}` | {required_role(route.endpoint)} | {summary} |\n"
            elif isinstance(route, APIWebSocketRoute):
                yield f"| `WS {route.path}` | {required_role(route.endpoint)} | Follow the game on a WebSocket |\n"


def _description(described: dict[str, Any]) -> str:
    text = re.sub(r"^Topic `\w+`: ", "", " ".join(str(described.get("description", "")).split()))
    return text[:1].upper() + text[1:]


def _table(described: dict[str, Any]) -> Iterator[str]:
    yield "| key | type | meaning |\n|---|---|---|\n"
    for key, value in described["properties"].items():
        yield f"| `{key}` | {_type(value)} | {value.get('description', '')} |\n"


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return _link(str(value["$ref"]))
    if "anyOf" in value:
        return " \\| ".join(_type(option) for option in value["anyOf"])
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        shown = [f"`{option}`" for option in value["enum"]]
        return " \\| ".join(shown) if len(shown) <= 8 else "one of the values in `/openapi.json`"
    if value.get("type") == "array":
        if "prefixItems" in value:
            return "[" + ", ".join(_type(item) for item in value["prefixItems"]) + "]"
        return f"array of {_type(value['items'])}"
    return str(value.get("type", "any"))


def _link(ref: str) -> str:
    name = ref.rsplit("/", 1)[1]
    if name in _IN_FORMATS:
        return f"[{name}](formats.md#{name.lower()})"
    topic = next((topic for topic, model in TOPICS.items() if model.__name__ == name), None)
    if topic is not None:
        return f"[{name}](#{topic})"
    return {"Phase": "phase, such as `between_plays` or `live`"}.get(name, f"[{name}](#{name.lower()})")


if __name__ == "__main__":
    write_text(Path(sys.argv[1]), page())
