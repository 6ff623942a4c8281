"""JSON Schemas of the feed's topics and of files at `/schemas/`, and the feed as AsyncAPI at `/asyncapi.json`.

All of it is made from the types that the service and the readers of files use themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from fastapi import Request
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.http.problems import ProblemError
from downfield.api.security.forwarding import own_path
from downfield.calibration.calibration import Calibration
from downfield.capture.recording.recording_library import RecordedFrame, RecordingIndexHeader
from downfield.core.field.model import FieldModel
from downfield.core.records import adapter
from downfield.core.scene import Scene, SentScene
from downfield.core.track_files import Roster, TracksHeader
from downfield.game.published.hub import CONFLATED_TOPICS, PROTOCOL, SNAPSHOT, TOPICS
from downfield.game.records.keeping import EntryRow
from downfield.game.records.models import TopicModel
from downfield.officiating.calls import Call, CallsHeader
from downfield.officiating.events import Event, EventsHeader
from downfield.review.bundles.format import BundleManifest

FILES: Final[Mapping[str, Any]] = {
    "calibration": Calibration,
    "field": FieldModel,
    "roster": Roster,
    "tracks-header": TracksHeader,
    "scene": Scene,
    "sent-scene": SentScene,
    "recording-header": RecordingIndexHeader,
    "recorded-frame": RecordedFrame,
    "events-header": EventsHeader,
    "event": Event,
    "calls-header": CallsHeader,
    "call": Call,
    "bundle-manifest": BundleManifest,
    "journal-line": EntryRow,
}
"""What the files of docs/formats.md hold, an object or a line each, by the name of its schema."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


router = AuthorizedRouter(include_in_schema=False)


@router.get("/schemas", "anyone")
def listed() -> list[str]:
    """The names of all schemas."""
    return sorted(schemas())


@router.get("/schemas/{name:path}", "anyone")
def schema(name: str) -> dict[str, Any]:
    """One schema."""
    if name not in schemas():
        raise ProblemError(404, f"There is no schema {name[:60]!r}. GET /schemas lists them.")
    return schemas()[name]


@router.get("/asyncapi.json", "anyone")
def asyncapi(request: Request) -> dict[str, Any]:
    """The feed as AsyncAPI describes it."""
    return {**_feed(request.app.version), "servers": _servers(request)}


@cache
def schemas() -> Mapping[str, dict[str, Any]]:
    """Return all schemas by name: `feed/` and a topic, `files/` and what a file holds."""
    feed = {f"feed/{topic}.json": model.model_json_schema(mode="serialization") for topic, model in TOPICS.items()}
    files = {f"files/{name}.json": adapter(kind).json_schema() for name, kind in FILES.items()}
    return {name: {"$schema": _DIALECT, **schema} for name, schema in {**feed, **files}.items()}


def _servers(request: Request) -> dict[str, Any]:
    prefix = request.url.path.removesuffix(own_path(request.scope))
    about = {"host": request.url.netloc, "security": [{"$ref": "#/components/securitySchemes/token"}]}
    about |= {"pathname": prefix} if prefix else {}
    tls = "s" if request.url.scheme == "https" else ""
    return {"events": {**about, "protocol": f"http{tls}"}, "socket": {**about, "protocol": f"ws{tls}"}}


@cache
def _feed(version: str) -> dict[str, Any]:
    """Return the feed as AsyncAPI 3 describes it, without where it is."""
    topics: list[tuple[type[TopicModel], JsonSchemaMode]] = [(model, "serialization") for model in TOPICS.values()]
    _, models = models_json_schema(topics, ref_template="#/components/schemas/{model}")
    data = {topic: {"$ref": f"#/components/schemas/{model.__name__}"} for topic, model in TOPICS.items()}
    messages = {topic: _message(topic, data[topic], TOPICS[topic].__doc__ or "") for topic in TOPICS}
    snapshot = {"type": "object", "properties": data, "additionalProperties": False}
    messages[SNAPSHOT] = _message(SNAPSHOT, snapshot, "The value of every topic; the first message.")
    alive = _object({"v": {"const": PROTOCOL}, "topic": {"const": "alive"}})
    messages["alive"] = {"name": "alive", "summary": "A heartbeat, on a WebSocket only.", "payload": alive}
    query = {"type": "object", "properties": {name: {"type": "string"} for name in ("topics", "after", "key")}}
    channels: dict[str, dict[str, Any]] = {
        "events": {"address": "/api/feed", "title": "Server-Sent Events"},
        "socket": {"address": "/api/feed/ws", "title": "WebSocket", "bindings": {"ws": {"query": query}}},
    }
    operations = {}
    for name, channel in channels.items():
        sent = {one: {"$ref": f"#/components/messages/{one}"} for one in messages if name == "socket" or one != "alive"}
        channel |= {"servers": [{"$ref": f"#/servers/{name}"}], "messages": sent}
        operations[name] = {"action": "send", "channel": {"$ref": f"#/channels/{name}"}, "summary": "Follow the game."}
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Downfield's live feed", "version": version, "description": "See docs/service.md."},
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": {
            "messages": messages,
            "schemas": models["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _message(topic: str, data: Mapping[str, Any], about: str) -> dict[str, Any]:
    envelope = {
        "v": {"const": PROTOCOL},
        "epoch": {"type": "string", "description": "Identifies the run of the service."},
        "seq": {"type": "integer", "description": "Rises, and may have gaps."},
        "topic": {"const": topic},
        "at_ms": {"type": "integer", "description": "Wall clock of the service, ms since 1970."},
        "data": data,
    }
    kept = "Of a client that lags only the newest comes." if topic in CONFLATED_TOPICS else "Each comes."
    summary = about.split("\n", maxsplit=1)[0]
    return {"name": topic, "summary": summary, "description": kept, "payload": _object(envelope)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all of these."""
    return {"type": "object", "required": list(properties), "properties": properties}
