"""Write what the pages' scripts are checked against: ``python docs/service_types.py build/typescript/service.d.ts``.

TypeScript declarations, made from the models and pages themselves so that they can't drift from them: namespace
``Service`` holds what the rig's service publishes, takes and answers, ``Desk`` what the director's desk does,
``Overlays`` the options of each overlay's address, and ``Page`` the elements of each page by id.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from bundled import bundled_overlays
from fastapi import APIRouter, FastAPI
from pydantic.json_schema import models_json_schema

from downfield.api.app import ROUTERS
from downfield.broadcast.overlays.installed import NumberOption, OverlayOption, WordOption
from downfield.core.records import write_text
from downfield.desk.service.app import ROUTERS as DESK_ROUTERS
from downfield.game.published.hub import TOPICS

_ROOT = Path(__file__).parents[1]
_PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def declarations() -> Iterator[str]:
    """Yield the declarations."""
    _, schema = models_json_schema([(model, "serialization") for model in TOPICS.values()])
    yield "declare namespace Service {\n"
    openapi = _openapi(ROUTERS)
    yield from _models({**_answered(openapi), **_complete(schema["$defs"], schema["$defs"])})
    yield f"  type ChangePath = {' | '.join(_change_paths(openapi))};\n"
    yield f"  type Topics = {{ {'; '.join(f'{topic}: {model.__name__}' for topic, model in TOPICS.items())} }};\n"
    yield "}\ndeclare namespace Desk {\n"
    yield from _models(_answered(_openapi(DESK_ROUTERS)))
    yield "}\ndeclare namespace Overlays {\n  type Options = {\n"
    yield from _overlays()
    yield "  };\n}\ndeclare namespace Page {\n  type Elements = {\n"
    yield from _pages()
    yield "  };\n}\n"


def _openapi(routers: Iterable[APIRouter]) -> dict[str, Any]:
    app = FastAPI()
    for router in routers:
        app.include_router(router)
    return app.openapi()


def _change_paths(openapi: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths that take changes as the pages name them, relative to the service's address."""
    for path, operations in openapi["paths"].items():
        if operations.keys() & {"post", "put", "delete"}:
            yield f"`{re.sub(r'{[^}]*}', '${string}', path.removeprefix('/'))}`"


def _answered(openapi: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schemas of all routes; what is in an answer has every field, as a service leaves none out."""
    models: dict[str, Any] = openapi["components"]["schemas"]
    operations = [operation for path in openapi["paths"].values() for operation in path.values()]
    answers = [answer for operation in operations for status, answer in operation["responses"].items() if status < "3"]
    return {**models, **_complete(_reachable(answers, models), models)}


def _reachable(part: object, models: Mapping[str, Any]) -> set[str]:
    """Return the names of the models that a part of a schema leads to."""
    found: set[str] = set()
    waiting = _references(part)
    while waiting:
        found |= waiting
        waiting = {name for model in waiting for name in _references(models[model])} - found
    return found


def _references(part: object) -> set[str]:
    return {match.rsplit("/", 1)[-1] for match in re.findall(r'"\$ref": "([^"]+)"', json.dumps(part))}


def _complete(names: Iterable[str], models: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {**models[name], "required": list(models[name].get("properties", ()))} for name in names}


def _models(models: Mapping[str, Any]) -> Iterator[str]:
    for model, schema in sorted(models.items()):
        yield f"  type {_identifier(model)} = {_type(schema)};\n"


def _identifier(name: str) -> str:
    return name.rsplit("/", 1)[-1].replace("-", "")


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _identifier(str(schema["$ref"]))
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(_type(option) for option in options)
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "properties" in schema:
        required = schema.get("required", ())
        fields = (
            f"{json.dumps(name)}{'' if name in required else '?'}: {_type(value)}"
            for name, value in schema["properties"].items()
        )
        return f"{{ {'; '.join(fields)} }}"
    if "prefixItems" in schema:
        return f"[{', '.join(_type(item) for item in schema['prefixItems'])}]"
    if schema.get("type") == "array":
        return f"Array<{_type(schema.get('items', {}))}>"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"{{ [name: string]: {_type(values) if isinstance(values, Mapping) else 'unknown'} }}"
    return _PRIMITIVES.get(schema.get("type", ""), "unknown")


class _Ids(HTMLParser):
    """Collects the elements with an id: their tags by id."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        if identity := dict(attrs).get("id"):
            self.tags[identity] = tag


def _pages() -> Iterator[str]:
    pages: dict[str, dict[str, str]] = {}
    for file in sorted([*(_ROOT / "api" / "pages").glob("*.html"), *(_ROOT / "desk" / "pages").glob("*.html")]):
        ids = _Ids()
        ids.feed(file.read_text(encoding="utf-8"))
        pages.setdefault(file.stem, {}).update(ids.tags)
    for page, tags in pages.items():
        yield f"    {page}: {{ {'; '.join(f'{json.dumps(name)}: {_element(tag)}' for name, tag in tags.items())} }};\n"


def _overlays() -> Iterator[str]:
    for name, overlay in bundled_overlays().items():
        options = "; ".join(f"{option}: {_option(declared)}" for option, declared in overlay.options.items())
        yield f"    {json.dumps(name)}: {{ {options} }};\n"


def _option(declared: OverlayOption) -> str:
    if isinstance(declared, WordOption):
        return " | ".join(map(json.dumps, declared.words))
    return "number" if isinstance(declared, NumberOption) else "string"


def _element(tag: str) -> str:
    return "SVGSVGElement" if tag == "svg" else f'HTMLElementTagNameMap["{tag}"]'


if __name__ == "__main__":
    write_text(Path(sys.argv[1]), declarations())
