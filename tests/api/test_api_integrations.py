"""Other programs are told of the game: OBS by its protocol, a webhook signed, mixers by files; none can fail it."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from evidence_service import EvidenceService
from hypothesis import given, settings
from hypothesis import strategies as st
from overlay_pages import a_call
from websockets.asyncio.server import ServerConnection, serve

from downfield.api.feed.hub import FeedMessage, Hub
from downfield.api.integrations import obs, outlets
from downfield.api.integrations.captions import web_vtt
from downfield.api.integrations.documents import game_document, update_document
from downfield.api.integrations.files import FilesOutlet
from downfield.api.integrations.obs import ObsError, ObsOptions, ObsOutlet, authentication
from downfield.api.integrations.outlets import OutletRunner, StreamUpdate, UpdateQueue, UpdateSource
from downfield.api.integrations.webhook import WebhookError, WebhookOutlet, signed
from downfield.game.published.game_topics import CallsUpdate, GameView
from downfield.game.published.stream_topics import ReplayView

TACKLE = a_call(frame=7, players=("dark-28", "light-24"))
PASSWORD, SALT, CHALLENGE = (
    "supersecretpassword",
    "lM1GncleQOaCu9lT1yeUZhFYnqhsLLP1G5lAGo3ixaI=",
    "+IxH4CnCiqpX1rM9scsNynZzbOe4KhDeYcTNS3PDaeY=",
)


class FakeObs:
    """Speaks obs-websocket 5.

    Attributes:
        scene: in the program now.
        asked: every request, in order.

    """

    def __init__(self, password: str = "") -> None:
        self._password = password
        self.scene = "Table"
        self.asked: list[str] = []
        self.refuse: set[str] = set()
        self.connections: list[ServerConnection] = []

    async def handle(self, socket: ServerConnection) -> None:
        self.connections.append(socket)
        hello: dict[str, Any] = {"obsWebSocketVersion": "5.5.0", "rpcVersion": 1}
        if self._password:
            hello["authentication"] = {"salt": SALT, "challenge": CHALLENGE}
        await socket.send(json.dumps({"op": 0, "d": hello}))
        identify = json.loads(await socket.recv())
        assert (identify["op"], identify["d"]["rpcVersion"]) == (1, 1)
        if self._password and identify["d"].get("authentication") != authentication(self._password, SALT, CHALLENGE):
            await socket.close(4009, "Authentication failed.")
            return
        await socket.send(json.dumps({"op": 2, "d": {"negotiatedRpcVersion": 1}}))
        async for message in socket:
            await self._answer(socket, json.loads(message))

    async def _answer(self, socket: ServerConnection, message: dict[str, Any]) -> None:
        assert message["op"] == 6
        kind, data = message["d"]["requestType"], message["d"]["requestData"]
        self.asked.append(kind)
        answer: dict[str, Any] = {}
        if kind == "SetCurrentProgramScene":
            self.scene = data["sceneName"]
            self.asked[-1] = f"scene {self.scene}"
        elif kind == "GetCurrentProgramScene":
            answer = {"currentProgramSceneName": self.scene}
        status = {"result": kind not in self.refuse, "code": 501 if kind in self.refuse else 100}
        response = {"requestType": kind, "requestId": message["d"]["requestId"], "requestStatus": status}
        await socket.send(json.dumps({"op": 7, "d": response | {"responseData": answer}}))

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        async with serve(self.handle, "127.0.0.1", 0) as server:
            yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(2000):
        if holds():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come to pass")


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 30))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obs, "LIMITS", obs.ObsLimits(settle_s=0.01, longer_s=0.05, answer_s=2.0))
    monkeypatch.setattr(outlets, "LIMITS", outlets.OutletLimits(retry_s=0.02))


@pytest.fixture
def game(tmp_path: Path) -> GameView:
    service = EvidenceService(tmp_path / "a.db")
    view: GameView = service.hub.value("game")
    service.close()
    return view


def test_the_password_is_answered_as_the_protocol_says() -> None:
    # The example in the documentation of obs-websocket.
    assert authentication(PASSWORD, SALT, CHALLENGE) == "1Ct943GAT+6YQUUX47Ia/ncufilbe6+oD6lY+5kaCu4="


@pytest.mark.parametrize("password", ["", "correct horse"])
def test_obs_shows_the_scene_while_a_replay_runs_and_saves_its_buffer_after_a_call(password: str) -> None:
    async def work() -> None:
        fake, queue = FakeObs(password), UpdateQueue()
        async with fake.serving() as address:
            options = ObsOptions(address, password, scene="Replay", replay_buffer=True)
            driving = asyncio.create_task(ObsOutlet(options).run(aiter(queue)))
            queue.put(StreamUpdate(None, call=TACKLE))
            await until(lambda: fake.asked == ["SaveReplayBuffer"])
            queue.put(StreamUpdate(None, call=a_call(verdict="reported", standing="noted")))  # nothing to see
            queue.put(StreamUpdate(None, replay=ReplayView(state="ready", seconds=0.05)))
            await until(lambda: fake.scene == "Replay")
            await until(lambda: fake.scene == "Table")
            assert fake.asked.count("SaveReplayBuffer") == 1
            driving.cancel()

    run(work())


LONG = ReplayView(take=1, state="ready", seconds=60)


def test_the_scene_goes_back_when_a_play_begins_or_the_replay_is_taken_off(game: GameView) -> None:
    async def work() -> None:
        fake, queue = FakeObs(), UpdateQueue()
        async with fake.serving() as address:
            driving = asyncio.create_task(ObsOutlet(ObsOptions(address, scene="Replay")).run(aiter(queue)))
            for over in (
                StreamUpdate(game.model_copy(update={"phase": "live"})),
                StreamUpdate(game, replay_over=True),
            ):
                queue.put(StreamUpdate(game, replay=LONG))
                await until(lambda: fake.scene == "Replay")
                queue.put(StreamUpdate(game))  # such as a change of the clock: the replay goes on
                queue.put(StreamUpdate(game, call=TACKLE))
                await asyncio.sleep(0.05)
                assert fake.scene == "Replay"
                queue.put(over)
                await until(lambda: fake.scene == "Table")
            driving.cancel()

    run(work())


def test_a_second_replay_stays_on_and_the_scene_from_before_the_first_comes_back(game: GameView) -> None:
    async def work() -> None:
        fake, queue = FakeObs(), UpdateQueue()
        async with fake.serving() as address:
            driving = asyncio.create_task(ObsOutlet(ObsOptions(address, scene="Replay")).run(aiter(queue)))
            queue.put(StreamUpdate(game, replay=ReplayView(take=1, state="ready", seconds=0.2)))
            await until(lambda: fake.scene == "Replay")
            queue.put(StreamUpdate(game, replay_over=True))
            queue.put(StreamUpdate(game, replay=LONG))  # made before: it is there at once
            await asyncio.sleep(0.5)
            assert fake.scene == "Replay", "the end of the first replay took the second off"
            queue.put(StreamUpdate(game, replay_over=True))
            await until(lambda: fake.scene == "Table")
            driving.cancel()

    run(work())


def test_a_scene_that_somebody_changed_stays() -> None:
    async def work() -> None:
        fake, queue = FakeObs(), UpdateQueue()
        async with fake.serving() as address:
            driving = asyncio.create_task(ObsOutlet(ObsOptions(address, scene="Replay")).run(aiter(queue)))
            queue.put(StreamUpdate(None, replay=ReplayView(state="ready", seconds=0.1)))
            await until(lambda: fake.scene == "Replay")
            fake.scene = "Interview"
            await until(lambda: fake.asked.count("GetCurrentProgramScene") == 2)
            await asyncio.sleep(0.05)
            assert fake.scene == "Interview"
            driving.cancel()

    run(work())


def test_a_refused_request_does_not_end_the_connection() -> None:
    async def work() -> None:
        fake, queue = FakeObs(), UpdateQueue()
        fake.refuse = {"SaveReplayBuffer"}
        async with fake.serving() as address:
            driving = asyncio.create_task(ObsOutlet(ObsOptions(address, replay_buffer=True)).run(aiter(queue)))
            for _ in range(2):
                queue.put(StreamUpdate(None, call=TACKLE))
            await until(lambda: len(fake.asked) == 2)
            assert len(fake.connections) == 1
            driving.cancel()

    run(work())


def test_what_is_wrong_with_obs_is_said() -> None:
    async def refused(address: str, password: str, match: str) -> None:
        with pytest.raises(ObsError, match=match):
            await ObsOutlet(ObsOptions(address, password)).run(aiter(UpdateQueue()))

    async def work() -> None:
        async with FakeObs("right").serving() as address:
            await refused(address, "wrong", "password is wrong")
            await refused(address, "", "asks for a password")
        await refused(address, "right", "no answer at")

        async def other(socket: ServerConnection) -> None:
            await socket.send(json.dumps({"op": 99, "d": {}}))
            await socket.wait_closed()

        async with serve(other, "127.0.0.1", 0) as server:
            await refused(f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}", "", "no OBS")

    run(work())


def test_a_connection_that_breaks_is_made_again_and_told_once() -> None:
    async def work() -> None:
        fake, told = FakeObs(), list[str]()
        async with fake.serving() as address:
            hub = Hub()
            hub.publish("calls", CallsUpdate(calls=()))
            runner = OutletRunner(hub, [ObsOutlet(ObsOptions(address, replay_buffer=True))], told.append)
            for expected in (1, 2, 3):
                await until(lambda n=expected: len(fake.connections) >= n)  # type: ignore[misc]
                await fake.connections[-1].close()
            await until(lambda: len(fake.connections) >= 4)
            hub.publish("calls", CallsUpdate(calls=(TACKLE,)))
            await until(lambda: fake.asked == ["SaveReplayBuffer"])
            await asyncio.to_thread(runner.close)
        assert len(told) == 1
        assert told[0].startswith("OBS: the connection ended")

    run(work())


class FakeReceiver:
    """Takes deliveries; answers with statuses in turn, the last one for ever."""

    def __init__(self, *statuses: int) -> None:
        self._statuses = list(statuses)
        self.taken: list[tuple[bytes, Mapping[str, str]]] = []

    def post(self, _: str, body: bytes, headers: Mapping[str, str]) -> int:
        self.taken.append((body, headers))
        status = self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]
        if status == 0:
            raise ConnectionRefusedError("connection refused")
        return status


async def some(*updates: StreamUpdate) -> AsyncIterator[StreamUpdate]:
    for update in updates:
        yield update


def test_a_delivery_is_signed_and_tried_again_under_the_same_name(game: GameView) -> None:
    receiver = FakeReceiver(0, 503, 200)
    outlet = WebhookOutlet("https://example.org/x", "hush", post=receiver.post, pauses_s=(0.0, 0.0, 0.0))
    run(outlet.run(some(StreamUpdate(game, call=TACKLE))))
    assert len(receiver.taken) == 3
    assert len({headers["X-Downfield-Delivery"] for _, headers in receiver.taken}) == 1
    body, headers = receiver.taken[-1]
    signed_text = headers["X-Downfield-Timestamp"].encode() + b"." + body
    assert headers["X-Downfield-Signature"] == f"sha256={hmac.new(b'hush', signed_text, hashlib.sha256).hexdigest()}"
    document = json.loads(body)
    assert (document["v"], document["event"], document["call"]["id"]) == (1, "call", TACKLE.id)
    assert document["game"]["home_name"] == game.home.name


@pytest.mark.parametrize(("status", "attempts"), [(500, 3), (410, 1), (404, 1)])
def test_a_delivery_that_nobody_takes_is_given_up(status: int, attempts: int) -> None:
    receiver = FakeReceiver(status)
    outlet = WebhookOutlet("https://example.org/services/S3CRET", post=receiver.post, pauses_s=(0.0, 0.0))
    with pytest.raises(WebhookError, match=f"status {status}") as given_up:
        run(outlet.run(some(StreamUpdate(None, call=TACKLE))))
    assert "S3CRET" not in str(given_up.value), "whoever reads the log or the panel could post there"
    assert len(receiver.taken) == attempts
    assert "X-Downfield-Signature" not in receiver.taken[0][1]


def test_states_are_sent_only_if_wanted(game: GameView) -> None:
    receiver = FakeReceiver(200)
    run(WebhookOutlet("https://e.org", states=False, post=receiver.post).run(some(StreamUpdate(game))))
    assert receiver.taken == []
    over = StreamUpdate(game, replay_over=True)  # the webhook is told when replays begin
    run(WebhookOutlet("https://e.org", post=receiver.post).run(some(StreamUpdate(game), over)))
    assert len(receiver.taken) == 1
    assert json.loads(receiver.taken[0][0])["event"] == "state"


@settings(max_examples=25)
@given(st.text(min_size=1), st.binary(), st.integers(0, 2**40))
def test_a_signature_is_of_secret_time_and_body(secret: str, body: bytes, at_s: int) -> None:
    made = signed(secret, body, at_s)
    assert made == signed(secret, body, at_s)
    others = [signed(secret + "x", body, at_s), signed(secret, body + b"x", at_s), signed(secret, body, at_s + 1)]
    assert all(made["X-Downfield-Signature"] != other["X-Downfield-Signature"] for other in others)


def test_a_slow_outlet_loses_the_oldest_updates_and_holds_up_nobody(game: GameView) -> None:
    queue = UpdateQueue(3)
    for number in range(10):
        queue.put(StreamUpdate(game.model_copy(update={"down": number})))
    assert queue.dropped == 7

    async def work() -> None:
        assert (await anext(aiter(queue))).game == game.model_copy(update={"down": 7})

    run(work())


def test_only_what_happens_from_now_on_is_told(game: GameView) -> None:
    hub, source = Hub(), UpdateSource()
    hub.publish("game", game)
    hub.publish("calls", CallsUpdate(calls=(TACKLE,)))
    hub.publish("replay", ReplayView(take=1, state="ready"))
    assert source.updates(hub.snapshot()) == [StreamUpdate(game)]
    assert source.updates(hub.snapshot()) == []  # after falling behind, a snapshot again


def test_the_end_of_a_replay_is_told_once_another_is_asked_for_or_it_is_taken_off(game: GameView) -> None:
    source, hub = UpdateSource(), Hub()
    hub.publish("game", game)
    source.updates(hub.snapshot())
    over, ready = StreamUpdate(game, replay_over=True), ReplayView(take=2, state="ready")
    told = [
        source.updates(FeedMessage(hub.epoch, number, "replay", view, 0))
        for number, view in enumerate((ReplayView(take=2, state="making"), ready, ready, ReplayView(take=3)), 2)
    ]
    assert told == [[over], [StreamUpdate(game, replay=ready)], [], [over]]


def test_files_are_written_whole_and_only_when_they_change(game: GameView, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    scored = game.model_copy(update={"home": game.home.model_copy(update={"points": 7, "name": "Łódź 株式会社"})})

    async def work() -> None:
        queue = UpdateQueue()
        writing = asyncio.create_task(FilesOutlet(folder).run(aiter(queue)))
        queue.put(StreamUpdate(game))
        await until((folder / "call.txt").is_file)  # the last of them
        first = (folder / "away_score.txt").stat().st_mtime_ns
        queue.put(StreamUpdate(scored, call=TACKLE))
        await until(lambda: (folder / "call.txt").read_text(encoding="utf-8") == "dark 28 tackled by light 24")
        assert (folder / "away_score.txt").stat().st_mtime_ns == first
        writing.cancel()

    run(work())
    assert (folder / "home_score.txt").read_text() == "7"
    state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    assert (state["home_name"], state["v"]) == ("Łódź 株式会社", 1)
    assert set(game_document(game)) <= set(state)
    assert not list(folder.glob(".*"))


def test_captions_are_timed_and_escaped() -> None:
    first = a_call(id="a", t_ns=61_500_000_000, text="dark-28 tackled by <light-24> & co")
    second = a_call(id="b", t_ns=63_000_000_000, text="too close")
    noted = a_call(id="n", t_ns=62_000_000_000, verdict="reported", standing="noted")
    assert web_vtt([second, noted, first], 1_500_000_000) == (
        "WEBVTT\n\na\n00:01:00.000 --> 00:01:01.500\nDark 28 tackled by &lt;light 24&gt; &amp; co\n\n"
        "b\n00:01:01.500 --> 00:01:06.500\nToo close\n"
    )
    assert web_vtt([first], 62_000_000_000) == "WEBVTT\n"  # before the video began
    assert "01:01:01.500 -->" in web_vtt([first], 0, 3600.0)


def test_a_replay_is_told_with_its_clip(game: GameView) -> None:
    document = update_document(StreamUpdate(game, replay=ReplayView(take=3, state="ready", clip="api/x.mp4")))
    assert (document["event"], document["replay"]["clip"]) == ("replay", "api/x.mp4")
