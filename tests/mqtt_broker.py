"""An MQTT broker of the tests' own, mosquitto, and a subscriber; Debian's package `mosquitto` brings it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from ports import reserve_port
from waiting import WAIT_S, wait_until


class Mosquitto:
    """A broker over a folder, which can be killed and started again; it forgets what it retained.

    Attributes:
        port: it listens on.
    """

    def __init__(self, folder: Path, *lines: str) -> None:
        pytest.importorskip("paho", reason="no MQTT client: install the extra 'mqtt'")
        program = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
        if program is None:
            pytest.skip("no MQTT broker: install Debian's package mosquitto")
        self.port = reserve_port()
        user = "" if os.getuid() else "user root\n"  # it would become a user who may read nothing here
        configuration = folder / "mosquitto.conf"
        configuration.write_text(user + "\n".join([f"listener {self.port} 127.0.0.1", *lines]) + "\n")
        self._command = [program, "-c", str(configuration)]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Mosquitto:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers, "the broker starts")

    def _answers(self) -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), WAIT_S).close()
            return True
        return False

    def kill(self) -> None:
        """End it at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class Subscriber:
    """Somebody who hears all topics from now on, what is retained first.

    Attributes:
        heard: every message: its topic, its text, and whether it had been retained.
    """

    def __init__(self, port: int, user: tuple[str, str] | None = None) -> None:
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion

        self.heard: list[tuple[str, str, bool]] = []
        self._client = Client(CallbackAPIVersion.VERSION2)
        if user is not None:
            self._client.username_pw_set(*user)
        self._client.on_connect = lambda client, *_: client.subscribe("#", 1)
        self._client.on_message = lambda _, __, one: self.heard.append((one.topic, one.payload.decode(), one.retain))
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()

    def __enter__(self) -> Subscriber:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def last(self, topic: str) -> str:
        """The last text of a topic; empty before there is one."""
        return next((text for heard, text, _ in reversed(self.heard) if heard == topic), "")

    def document(self, topic: str) -> dict[str, Any]:
        """The last document of a topic; empty before there is one."""
        found: dict[str, Any] = json.loads(self.last(topic) or "{}")
        return found

    def events(self) -> list[tuple[str, str]]:
        """Every event, with its call's id."""
        told = [(topic, json.loads(text)) for topic, text, _ in self.heard if "/events/" in topic]
        return [(topic.rpartition("/")[2], document.get("call", {}).get("id", "")) for topic, document in told]
