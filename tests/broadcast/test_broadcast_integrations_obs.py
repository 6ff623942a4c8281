"""OBS is driven by its protocol, goes on after every break, and is never asked for what is past."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from evidence_service import played_view
from fake_obs import CHALLENGE, PASSWORD, SALT, FakeObs, run
from overlay_pages import a_call
from waiting import let_run_async, wait_until_async
from websockets.asyncio.server import ServerConnection, serve

from downfield.broadcast.integrations import obs, outlets
from downfield.broadcast.integrations.obs import ObsError, ObsOptions, ObsOutlet, authentication
from downfield.broadcast.integrations.outlets import OutletRunner, StreamUpdate, UpdateQueue
from downfield.game.published.game_topics import CallsUpdate, GameView
from downfield.game.published.hub import Hub
from downfield.game.published.stream_topics import ReplayView

TACKLE = a_call(frame=7, players=("dark-28", "light-24"))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obs, "OBS_LIMITS", obs.ObsLimits(settle_s=0.01, longer_s=0.05, answer_s=2.0))
    monkeypatch.setattr(outlets, "OUTLET_LIMITS", outlets.OutletLimits(retry_s=0.02))


@pytest.fixture
def game(tmp_path: Path) -> GameView:
    return played_view(tmp_path)


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
            await wait_until_async(lambda: fake.asked == ["SaveReplayBuffer"])
            queue.put(StreamUpdate(None, call=a_call(verdict="reported", standing="noted")))  # nothing to see
            queue.put(StreamUpdate(None, replay=ReplayView(state="ready", seconds=0.05)))
            await wait_until_async(lambda: fake.scene == "Replay")
            await wait_until_async(lambda: fake.scene == "Table")
            assert fake.asked.count("SaveReplayBuffer") == 1
            driving.cancel()

    run(work())


LONG = ReplayView(take=1, state="ready", seconds=60)


def test_the_scene_goes_back_when_a_play_begins_or_the_replay_is_taken_off(game: GameView) -> None:
    async def work() -> None:
        fake, queue = FakeObs(), UpdateQueue()
        async with fake.serving() as address:
            driving = asyncio.create_task(ObsOutlet(ObsOptions(address, scene="Replay")).run(aiter(queue)))
            for over in (StreamUpdate(game.model_copy(update={"phase": "live"})), StreamUpdate(game, replay_over=True)):
                queue.put(StreamUpdate(game, replay=LONG))
                await wait_until_async(lambda: fake.scene == "Replay")
                queue.put(StreamUpdate(game))  # such as a change of the clock: the replay goes on
                queue.put(StreamUpdate(game, call=TACKLE))
                await let_run_async(0.05)
                assert fake.scene == "Replay"
                queue.put(over)
                await wait_until_async(lambda: fake.scene == "Table")
            driving.cancel()

    run(work())


def test_a_second_replay_stays_on_and_the_scene_from_before_the_first_comes_back(game: GameView) -> None:
    async def work() -> None:
        fake, queue = FakeObs(), UpdateQueue()
        async with fake.serving() as address:
            driving = asyncio.create_task(ObsOutlet(ObsOptions(address, scene="Replay")).run(aiter(queue)))
            queue.put(StreamUpdate(game, replay=ReplayView(take=1, state="ready", seconds=0.2)))
            await wait_until_async(lambda: fake.scene == "Replay")
            queue.put(StreamUpdate(game, replay_over=True))
            queue.put(StreamUpdate(game, replay=LONG))  # made before: it is there at once
            await let_run_async(0.5)
            assert fake.scene == "Replay", "the end of the first replay took the second off"
            queue.put(StreamUpdate(game, replay_over=True))
            await wait_until_async(lambda: fake.scene == "Table")
            driving.cancel()

    run(work())


def test_the_scene_stays_while_the_replay_is_frozen_and_goes_back_at_its_end() -> None:
    async def work() -> None:
        fake, queue = FakeObs(), UpdateQueue()
        async with fake.serving() as address:
            driving = asyncio.create_task(ObsOutlet(ObsOptions(address, scene="Replay")).run(aiter(queue)))
            short = ReplayView(take=1, state="ready", seconds=0.2, frozen=True)
            queue.put(StreamUpdate(None, replay=short))
            await wait_until_async(lambda: fake.scene == "Replay")
            await let_run_async(1.2)
            assert fake.scene == "Replay", "it went back under a frozen picture"
            queue.put(StreamUpdate(None, paced=short.model_copy(update={"frozen": False, "speed": 2.0})))
            await wait_until_async(lambda: fake.scene == "Table")
            driving.cancel()

    run(work())


def test_a_scene_that_somebody_changed_stays() -> None:
    async def work() -> None:
        fake, queue = FakeObs(), UpdateQueue()
        async with fake.serving() as address:
            driving = asyncio.create_task(ObsOutlet(ObsOptions(address, scene="Replay")).run(aiter(queue)))
            queue.put(StreamUpdate(None, replay=ReplayView(state="ready", seconds=0.1)))
            await wait_until_async(lambda: fake.scene == "Replay")
            fake.scene = "Interview"
            await wait_until_async(lambda: fake.asked.count("GetCurrentProgramScene") == 2)
            await let_run_async(0.05)
            assert fake.scene == "Interview"
            driving.cancel()

    run(work())


def test_what_obs_refuses_is_told_once_and_does_not_end_the_connection() -> None:
    async def work() -> None:
        fake, queue, told = FakeObs(), UpdateQueue(), list[str]()
        fake.refuse = {"SaveReplayBuffer": 501, "SetCurrentProgramScene": 600}
        async with fake.serving() as address:
            options = ObsOptions(address, scene="Replya", replay_buffer=True)
            driving = asyncio.create_task(ObsOutlet(options, told.append).run(aiter(queue)))
            for _ in range(2):
                queue.put(StreamUpdate(None, call=TACKLE))
            await wait_until_async(lambda: fake.asked == ["SaveReplayBuffer"] * 2)
            for expected in (1, 2):
                queue.put(StreamUpdate(None, replay=LONG))
                await wait_until_async(lambda n=expected: fake.asked.count("SetCurrentProgramScene") == n)  # type: ignore[misc]
            await wait_until_async(lambda: len(told) >= 2)
            assert len(fake.connections) == 1
            driving.cancel()
        assert told == [
            "OBS: its replay buffer is not running, so nothing is saved. Press Start Replay Buffer in OBS.",
            "OBS: it has no scene 'Replya'. Set obs.scene to the name of one that it has.",
        ]

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

        for text in (json.dumps({"op": 99, "d": {}}), "[]", '{"op": 0}', "hello"):

            async def other(socket: ServerConnection, text: str = text) -> None:
                await socket.send(text)
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
                await wait_until_async(lambda n=expected: len(fake.connections) >= n)  # type: ignore[misc]
                await fake.connections[-1].close()
            await wait_until_async(lambda: len(fake.connections) >= 4)
            hub.publish("calls", CallsUpdate(calls=(TACKLE,)))
            await wait_until_async(lambda: fake.asked == ["SaveReplayBuffer"])
            await asyncio.to_thread(runner.close)
        assert len(told) == 1
        assert told[0].startswith("OBS: the connection ended")

    run(work())


def test_after_a_break_the_replay_scene_is_taken_off_and_what_is_past_is_not_done(game: GameView) -> None:
    async def work() -> None:
        fake, queue = FakeObs(), UpdateQueue()
        async with fake.serving() as address:
            outlet = ObsOutlet(ObsOptions(address, scene="Replay", replay_buffer=True))
            driving = asyncio.create_task(outlet.run(aiter(queue)))
            queue.put(StreamUpdate(game, replay=LONG))
            await wait_until_async(lambda: fake.scene == "Replay")
            await fake.connections[-1].close(1011, "as OBS does when it fails")
            with pytest.raises(ObsError, match="the connection ended"):
                await driving
            long_ago = time.monotonic() - 2 * obs.OBS_LIMITS.stale_s
            queue.put(StreamUpdate(game, call=TACKLE, made_s=long_ago))
            queue.put(StreamUpdate(game, replay=LONG, made_s=long_ago))
            driving = asyncio.create_task(outlet.run(aiter(queue)))
            await wait_until_async(lambda: fake.scene == "Table")
            fake.asked.clear()
            queue.put(StreamUpdate(game, call=TACKLE))
            await wait_until_async(lambda: bool(fake.asked))
            assert (fake.asked, fake.scene) == (["SaveReplayBuffer"], "Table")
            driving.cancel()

    run(work())
