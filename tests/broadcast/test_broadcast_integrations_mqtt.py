"""A real MQTT broker is sent the game: late subscribers, outages, the last will, the documents for Home Assistant."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from evidence_service import played_view
from mqtt_broker import Mosquitto, Subscriber
from overlay_pages import a_call
from waiting import wait_until

from downfield.broadcast.integrations import mqtt, outlets
from downfield.broadcast.integrations.mqtt import MqttError, MqttLimits, MqttOptions, MqttOutlet
from downfield.broadcast.integrations.outlets import OutletRunner, UpdateQueue
from downfield.game.published.game_topics import CallsUpdate, GameView, RulingView
from downfield.game.published.hub import Hub
from downfield.rig.service.certificate import own_certificate

TACKLE = a_call(frame=7, players=("dark-28", "light-24"))
OVERTURNED = TACKLE.model_copy(
    update={
        "standing": "overturned",
        "ruling": RulingView(decision="overturn", by="Pat", note="knee was up", event="r:1"),
    }
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlets, "OUTLET_LIMITS", outlets.OutletLimits(retry_s=0.02))
    monkeypatch.setattr(mqtt, "MQTT_LIMITS", MqttLimits(answer_s=2.0, tick_s=0.02))


@pytest.fixture
def game(tmp_path: Path) -> GameView:
    return played_view(tmp_path)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with Mosquitto(tmp_path, "allow_anonymous true") as server:
        yield server


@contextmanager
def publishing(port: int, hub: Hub, topic: str = "downfield") -> Iterator[list[str]]:
    """Publish what a hub tells; yields what failed."""
    failed: list[str] = []
    runner = OutletRunner(hub, [MqttOutlet(MqttOptions(f"mqtt://127.0.0.1:{port}", topic=topic))], failed.append)
    try:
        yield failed
    finally:
        runner.close()


def test_a_late_subscriber_finds_state_call_and_who_is_there(broker: Mosquitto, game: GameView) -> None:
    hub = Hub()
    with Subscriber(broker.port) as early:
        with publishing(broker.port, hub):
            heard_late(broker, hub, early, game)
        wait_until(lambda: early.last("downfield/status") == "offline", "an orderly end is told")


def heard_late(broker: Mosquitto, hub: Hub, early: Subscriber, game: GameView) -> None:
    wait_until(lambda: early.last("downfield/status") == "online", "it is there")
    hub.publish("game", game)
    wait_until(lambda: early.document("downfield/state"), "the state comes")
    hub.publish("calls", CallsUpdate(game=game.game, calls=(TACKLE,)))
    hub.publish("calls", CallsUpdate(game=game.game, calls=(OVERTURNED,)))
    wait_until(lambda: ("call_changed", TACKLE.id) in early.events(), lambda: early.heard)
    wait_until(lambda: "knee was up" in early.last("downfield/call"), lambda: early.heard)
    with Subscriber(broker.port) as late:
        wait_until(lambda: late.document("downfield/call") and late.document("downfield/state"), "what is retained")
        assert all(retained for _, _, retained in late.heard)
        assert late.events() == [], "an event of before is no event now"
        assert late.last("downfield/status") == "online"
        assert late.document("downfield/state")["home_score"] == game.home.points
        assert late.document("downfield/state")["game"] == game.game
        last = late.document("downfield/call")
        assert (last["game"], last["call"]["standing"]) == (game.game, "overturned")
        assert last["call"]["ruling"]["note"] == "knee was up"


def test_what_became_of_a_call_is_an_event_with_its_ruling_and_game(broker: Mosquitto, game: GameView) -> None:
    hub = Hub()
    hub.publish("game", game)
    with Subscriber(broker.port) as heard, publishing(broker.port, hub, "club/2"):
        wait_until(lambda: heard.document("club/2/state"), "the state comes")
        hub.publish("calls", CallsUpdate(game=game.game, calls=(TACKLE,)))
        noted = TACKLE.model_copy(update={"id": "formation:1", "verdict": "reported", "standing": "noted"})
        hub.publish("calls", CallsUpdate(game=game.game, calls=(noted,)))
        hub.publish("calls", CallsUpdate(game=game.game, calls=(OVERTURNED,)))
        wait_until(lambda: "knee was up" in heard.last("club/2/call"), "what is only noted takes no call's place")
        hub.publish("calls", CallsUpdate(game=game.game, calls=(), withdrawn=(TACKLE.id,)))
        hub.publish("game", game.model_copy(update={"game": "another"}))
        wait_until(lambda: heard.events().count(("game_started", "")) == 2, lambda: heard.heard)
        became = [("call", TACKLE.id), ("call", noted.id), ("call_changed", TACKLE.id), ("call_withdrawn", TACKLE.id)]
        assert heard.events() == [("game_started", ""), *became, ("game_started", "")]
        changed = heard.document("club/2/events/call_changed")
        assert changed["game"]["game"] == game.game
        assert (changed["call"]["ruling"]["decision"], changed["call"]["ruling"]["note"]) == ("overturn", "knee was up")
        wait_until(lambda: heard.document("club/2/call").get("game") == "another", "the new game has no call yet")
        assert heard.document("club/2/call")["call"] is None


def test_a_broker_that_was_away_is_sent_the_calls_of_its_outage_once(broker: Mosquitto, game: GameView) -> None:
    hub = Hub()
    hub.publish("game", game)
    with publishing(broker.port, hub) as failed:
        with Subscriber(broker.port) as before:
            wait_until(lambda: before.document("downfield/state"), "the state comes")
        broker.kill()
        wait_until(lambda: failed, "the outage is told")
        for number in range(1, 6):
            call = TACKLE.model_copy(update={"id": f"tackle:{number}"})
            hub.publish("calls", CallsUpdate(game=game.game, calls=(call,)))
        hub.publish("game", game.model_copy(update={"down": 4}))
        broker.start()
        with Subscriber(broker.port) as after:
            wait_until(lambda: after.document("downfield/state").get("down") == 4, lambda: after.heard)
            assert after.last("downfield/status") == "online"
            assert after.document("downfield/call")["call"]["id"] == "tackle:5"
    assert "It is tried again; the game goes on." in failed[0]


def test_a_broker_that_is_not_there_is_said_once_and_holds_nothing_up(game: GameView) -> None:
    hub, told = Hub(), list[str]()
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and says nothing
        address = f"mqtt://127.0.0.1:{silent.getsockname()[1]}"
        runner = OutletRunner(hub, [MqttOutlet(MqttOptions(address))], told.append)
        for number in range(1000):
            hub.publish("game", game.model_copy(update={"down": number}))
        wait_until(lambda: told, "it is said")
        runner.close()
    (text,) = told
    assert text.startswith(
        f"MQTT: {address.removeprefix('mqtt://')}: no answer of a broker; one with TLS is named mqtts:"
    )
    assert text.endswith("It is tried again; the game goes on.")


def test_the_last_will_tells_that_a_rig_was_killed(broker: Mosquitto) -> None:
    program = f"""
import asyncio, sys
from downfield.broadcast.integrations.mqtt import MqttOptions, MqttOutlet
from downfield.broadcast.integrations.outlets import UpdateQueue
outlet = MqttOutlet(MqttOptions("mqtt://127.0.0.1:{broker.port}"))
asyncio.run(outlet.run(aiter(UpdateQueue())))
"""
    with Subscriber(broker.port) as heard:
        rig = subprocess.Popen([sys.executable, "-c", program])
        wait_until(lambda: heard.last("downfield/status") == "online", "it is there")
        rig.send_signal(signal.SIGKILL)
        rig.wait()
        wait_until(lambda: heard.last("downfield/status") == "offline", "the broker publishes the last will")


def test_home_assistant_finds_every_sensor_with_its_device(broker: Mosquitto, game: GameView) -> None:
    hub = Hub()
    hub.publish("game", game)
    with Subscriber(broker.port) as heard, publishing(broker.port, hub, "club/2"):
        wait_until(lambda: heard.document("club/2/state"), "the state comes")
    found = {topic: heard.document(topic) for topic, _, _ in heard.heard if topic.startswith("homeassistant/")}
    keys = {topic.split("/")[3] for topic in found}
    assert keys >= {"home_score", "away_score", "down_and_distance", "clock", "phase", "call", "game"}
    assert len({document["unique_id"] for document in found.values()}) == len(found)
    state = heard.document("club/2/state")
    for topic, document in found.items():
        key = topic.split("/")[3]
        assert topic == f"homeassistant/sensor/club_2/{key}/config"
        assert document["device"]["identifiers"] == ["club_2"]
        assert {"name", "manufacturer", "model", "sw_version"} <= document["device"].keys()
        assert {"name", "sw_version"} <= document["origin"].keys()
        assert document["availability_topic"] == "club/2/status"
        if key == "clock":
            assert document["state_topic"] == "club/2/clock"
        else:
            assert document["state_topic"] == "club/2/state"
            assert key in state, f"{key} is read out of a state that has no such key"
            assert f"value_json.{key} " in document["value_template"]


def refusal(options: MqttOptions) -> str:
    with pytest.raises(MqttError) as refused:
        asyncio.run(MqttOutlet(options).run(aiter(UpdateQueue())))
    return str(refused.value)


# paho-mqtt leaves a connection that fails in its handshake to the garbage collector.
@pytest.mark.filterwarnings("ignore:.*ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning")
def test_tls_and_a_password_let_in_and_what_is_wrong_is_said(tmp_path: Path, game: GameView) -> None:
    certificate = own_certificate(tmp_path / "tls", ["127.0.0.1", "localhost"])
    passwords = tmp_path / "passwords"
    subprocess.run(["mosquitto_passwd", "-b", "-c", str(passwords), "pat", "s:3/cret"], check=True)
    lines = (f"certfile {certificate.certificate}", f"keyfile {certificate.key}", f"password_file {passwords}")
    with Mosquitto(tmp_path, "allow_anonymous false", *lines) as server:
        address, trusted = f"127.0.0.1:{server.port}", str(certificate.certificate)
        assert "certificate is not trusted" in refusal(MqttOptions(f"mqtts://pat:s:3/cret@{address}"))
        assert "Set user and password in mqtt.address" in refusal(MqttOptions(f"mqtts://{address}", trusted))
        wrong = refusal(MqttOptions(f"mqtts://pat:other@{address}", trusted))
        assert "Set user and password in mqtt.address" in wrong
        assert "other" not in wrong
        assert "one with TLS is named mqtts://" in refusal(MqttOptions(f"mqtt://{address}"))
        assert "no broker at" in refusal(MqttOptions("mqtts://127.0.0.1:1", str(tmp_path / "none.pem")))
        hub, failed = Hub(), list[str]()
        options = MqttOptions(f"mqtts://pat:s:3/cret@{address}", trusted)
        outlet = MqttOutlet(options)
        runner = OutletRunner(hub, [outlet], failed.append)
        hub.publish("game", game)
        wait_until(lambda: "state" in outlet._published or failed, "it publishes")
        runner.close()
        assert failed == []
    gc.collect()
