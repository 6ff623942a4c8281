"""Publishes the game to an MQTT broker: state and last call retained, every event, and documents for Home Assistant.

paho-mqtt speaks to the broker in a thread of its own. Its reconnecting is off: a connection that ends ends `run`, which
is run again, so that there is one way to begin.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from downfield.broadcast.integrations.documents import VERSION, ShownGame, update_document, with_ticks
from downfield.broadcast.integrations.outlets import StreamUpdate
from downfield.core.addresses import split_address
from downfield.core.errors import MissingExtraError

if TYPE_CHECKING:
    from paho.mqtt.client import Client


@dataclass(frozen=True, slots=True)
class MqttLimits:
    """Times of the connection."""

    answer_s: float = 5.0  # How long the broker may take to let Downfield in, and to take a message
    keepalive_s: int = 15  # Without a sign of life for half as long again the broker publishes the last will
    tick_s: float = 1.0  # How often a running clock is published
    leave_s: float = 1.0  # How long the last message of an orderly end may take


MQTT_LIMITS: Final = MqttLimits()

# Of each sensor for Home Assistant: the key of the state, its name, its icon
_SENSORS: Final = (
    ("home_name", "Home team", "mdi:shield-home"),
    ("home_score", "Home score", "mdi:scoreboard"),
    ("away_name", "Away team", "mdi:shield-outline"),
    ("away_score", "Away score", "mdi:scoreboard-outline"),
    ("possession", "Possession", "mdi:football"),
    ("period", "Period", "mdi:counter"),
    ("clock", "Clock", "mdi:timer-outline"),
    ("down_and_distance", "Down and distance", "mdi:arrow-expand-horizontal"),
    ("spot", "Spot", "mdi:map-marker"),
    ("phase", "Phase", "mdi:state-machine"),
    ("call", "Last call", "mdi:whistle"),
    ("game", "Game", "mdi:identifier"),
)
_LONGEST_STATE: Final = 255  # Characters that Home Assistant takes as a state


@dataclass(frozen=True, slots=True)
class MqttOptions:
    """Where a broker is, and what it is sent."""

    address: str  # such as ``mqtt://192.168.1.5``; ``mqtts://`` with TLS
    certificate: str = ""  # PEM file of those who vouch for the broker's certificate; empty for the computer's own
    topic: str = "downfield"  # what all topics begin with
    discovery: str = "homeassistant"  # what the topics of Home Assistant's discovery begin with; empty for none
    table: str = ""  # its name, for people


class MqttError(Exception):
    """The broker can't be reached or takes nothing; the text says why and what to do."""


class MqttOutlet:
    """Publishes to one broker. Raises MissingExtraError: the client is not installed."""

    name = "MQTT"

    def __init__(self, options: MqttOptions) -> None:
        if find_spec("paho") is None:
            raise MissingExtraError("mqtt", "an MQTT broker")
        self._options, self._topic = options, options.topic
        self._shown = ShownGame()
        self._unsent: StreamUpdate | None = None  # what a broker that went away may not have taken
        self._published: dict[str, str] = {}  # as last sent, by topic
        self._ended = ""  # why the connection ended; empty while it lasts

    async def run(self, updates: AsyncIterator[StreamUpdate]) -> None:
        """Connect, and publish what happens.

        Raises MqttError: the broker can't be reached, refuses the password or takes a message no longer.
        """
        client, answered = self._client()
        try:
            await asyncio.to_thread(self._connect, client, answered)
            self._published.clear()
            for topic, document in self._beginnings():
                await self._publish(client, topic, document)
            async with aclosing(with_ticks(updates, MQTT_LIMITS.tick_s)) as ticking:
                await self._event(client, self._unsent)
                await self._state(client)
                async for update in ticking:
                    self._unsent = update or self._unsent
                    await self._event(client, update)
                    await self._state(client)
                    if self._ended:
                        raise MqttError(self._ended)
        finally:
            await asyncio.to_thread(self._leave, client)

    def _client(self) -> tuple[Client, threading.Event]:
        """Return a client, and what is set once the broker has answered it or the connection has ended."""
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion

        client = Client(CallbackAPIVersion.VERSION2, reconnect_on_failure=False)
        client.connect_timeout = MQTT_LIMITS.answer_s
        client.will_set(f"{self._topic}/status", "offline", 1, retain=True)
        answered = threading.Event()
        self._ended = "no answer of a broker; one with TLS is named mqtts://"

        def ends(why: str) -> None:
            self._ended = why
            answered.set()

        def is_connected(*arguments: Any) -> None:
            code = arguments[3]
            ends(f"{code}. Set user and password in mqtt.address" if code.is_failure else "")

        def is_disconnected(*arguments: Any) -> None:
            ends(self._ended or f"the connection ended ({arguments[3]})")

        client.on_connect, client.on_disconnect = is_connected, is_disconnected
        return client, answered

    def _connect(self, client: Client, answered: threading.Event) -> None:
        """Connect and wait until the broker lets it in. Raises MqttError."""
        address = split_address(self._options.address)
        has_tls = address.scheme == "mqtts"
        where = f"{address.host}:{address.port or (8883 if has_tls else 1883)}"
        try:
            if has_tls:
                client.tls_set_context(ssl.create_default_context(cafile=self._options.certificate or None))
            if user := address.user:
                client.username_pw_set(user, address.password)
            client.connect(address.host, int(where.rpartition(":")[2]), MQTT_LIMITS.keepalive_s)
        except ssl.SSLCertVerificationError as error:
            cause = error.verify_message
            raise MqttError(f"{where}: its certificate is not trusted ({cause}). Set mqtt.certificate") from None
        except (OSError, ValueError) as error:
            cause = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise MqttError(f"no broker at {where} ({cause}). Start it, or set mqtt.address") from None
        client.loop_start()
        answered.wait(MQTT_LIMITS.answer_s)
        if self._ended:
            raise MqttError(f"{where}: {self._ended}")

    def _leave(self, client: Client) -> None:
        """End a connection in order: everybody is told, and the last will is not needed."""
        if not self._ended:
            with suppress(ValueError, RuntimeError):
                client.publish(f"{self._topic}/status", "offline", 1, retain=True).wait_for_publish(MQTT_LIMITS.leave_s)
        client.disconnect()
        client.loop_stop()

    def _beginnings(self) -> Iterator[tuple[str, str]]:
        """Yield what is retained of the table itself: its documents for Home Assistant, and that it is there."""
        if self._options.discovery:
            node = re.sub(r"[^A-Za-z0-9_-]", "_", self._topic)
            made = {"name": "Downfield", "sw_version": version("downfield")}
            name = f"Downfield {self._options.table}".strip()
            device = made | {"identifiers": [node], "manufacturer": "Downfield", "model": "Referee", "name": name}
            for key, title, icon in _SENSORS:
                document = {
                    "name": title,
                    "unique_id": f"{node}_{key}",
                    "state_topic": f"{self._topic}/{'clock' if key == 'clock' else 'state'}",
                    "availability_topic": f"{self._topic}/status",
                    "icon": icon,
                    "device": device,
                    "origin": made,
                }
                if key != "clock":
                    document["value_template"] = f"{{{{ (value_json.{key} | string)[:{_LONGEST_STATE}] }}}}"
                if key == "call":
                    document["json_attributes_topic"] = f"{self._topic}/call"
                    document["json_attributes_template"] = "{{ (value_json.call or {}) | tojson }}"
                yield f"{self._options.discovery}/sensor/{node}/{key}/config", json.dumps(document)
        yield f"{self._topic}/status", "online"

    async def _event(self, client: Client, update: StreamUpdate | None) -> None:
        """Publish what happened, but a mere state, and keep what it changes."""
        if update is None:
            return
        self._shown.note(update)
        if not (update.is_state or update.replay_over or update.paced):
            document = update_document(update)
            topic = f"{self._topic}/events/{document['event']}"
            await self._publish(client, topic, json.dumps(document), is_kept=False)
        self._unsent = None

    async def _state(self, client: Client) -> None:
        """Publish what has changed of the state, the clock and the last call; each is retained."""
        if not (state := self._shown.document()):
            return
        call = self._shown.call
        last = {"v": VERSION, "game": state["game"], "call": None if call is None else call.model_dump(mode="json")}
        clock = state.pop("clock")
        for topic, text in (("state", json.dumps(state)), ("call", json.dumps(last)), ("clock", clock)):
            if self._published.get(topic) != text:
                await self._publish(client, f"{self._topic}/{topic}", text)
                self._published[topic] = text

    async def _publish(self, client: Client, topic: str, text: str, *, is_kept: bool = True) -> None:
        message = client.publish(topic, text, 1, retain=is_kept)
        with suppress(ValueError, RuntimeError):
            await asyncio.to_thread(message.wait_for_publish, MQTT_LIMITS.answer_s)
            if message.is_published():
                return
        raise MqttError(self._ended or f"the broker did not take a message within {MQTT_LIMITS.answer_s:g} s")
