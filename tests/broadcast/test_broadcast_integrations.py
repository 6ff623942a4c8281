"""Other programs are told of the game: OBS by its protocol, a webhook signed, mixers by files; none can fail it."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from evidence_service import played_view
from fake_obs import run
from hypothesis import given, settings
from hypothesis import strategies as st
from overlay_pages import a_call
from waiting import wait_until_async

from downfield.broadcast.integrations import outlets
from downfield.broadcast.integrations.documents import FilesError, FilesOutlet, game_document, update_document, web_vtt
from downfield.broadcast.integrations.outlets import OutletRunner, StreamUpdate, UpdateQueue, UpdateSource
from downfield.broadcast.integrations.webhook import Answer, WebhookOutlet, signed
from downfield.game.published.game_topics import CallsUpdate, GameView, RulingView
from downfield.game.published.hub import FeedMessage, Hub
from downfield.game.published.stream_topics import ReplayView

TACKLE = a_call(frame=7, players=("dark-28", "light-24"))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlets, "OUTLET_LIMITS", outlets.OutletLimits(retry_s=0.02))


@pytest.fixture
def game(tmp_path: Path) -> GameView:
    return played_view(tmp_path)


def test_an_outlet_that_fails_again_after_it_worked_is_told_again() -> None:
    class Failing:
        name = "Mixer"

        def __init__(self) -> None:
            self.runs = 0

        async def run(self, _: AsyncIterator[StreamUpdate]) -> None:
            self.runs += 1
            if self.runs == 3:
                clock_s[0] += outlets.OUTLET_LIMITS.works_s + 1
            raise OSError("it is gone")

    clock_s = [0.0]
    failing, told = Failing(), list[str]()
    runner = OutletRunner(Hub(), [failing], told.append, lambda: clock_s[0])
    run(wait_until_async(lambda: failing.runs > 4))
    runner.close()
    assert told == ["Mixer: it is gone. It is tried again; the game goes on."] * 2


class FakeReceiver:
    """Takes deliveries; answers with statuses in turn, the last one for ever."""

    def __init__(self, *statuses: int, retry_after_s: float | None = None) -> None:
        self._statuses, self.retry_after_s = list(statuses), retry_after_s
        self.taken: list[tuple[bytes, Mapping[str, str]]] = []

    def post(self, _: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        self.taken.append((body, headers))
        status = self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]
        if status == 0:
            raise ConnectionRefusedError("connection refused")
        return Answer(status, self.retry_after_s)


class Clock:
    """A clock that a pause sets on."""

    def __init__(self) -> None:
        self.now_s = 0.0

    async def pause(self, seconds: float) -> None:
        self.now_s += seconds
        await asyncio.sleep(0)

    def now_ms(self) -> int:
        return int(self.now_s * 1000)


async def some(*updates: StreamUpdate) -> AsyncIterator[StreamUpdate]:
    for update in updates:
        yield update


def test_a_delivery_is_signed_and_tried_again_under_the_same_name(game: GameView) -> None:
    receiver = FakeReceiver(0, 503, 200)
    outlet = WebhookOutlet("https://example.org/x", "hush", post=receiver.post, pause=Clock().pause)
    run(outlet.run(some(StreamUpdate(game, call=TACKLE))))
    assert len(receiver.taken) == 3
    assert len({headers["X-Downfield-Delivery"] for _, headers in receiver.taken}) == 1
    body, headers = receiver.taken[-1]
    signed_text = headers["X-Downfield-Timestamp"].encode() + b"." + body
    assert headers["X-Downfield-Signature"] == f"sha256={hmac.new(b'hush', signed_text, hashlib.sha256).hexdigest()}"
    document = json.loads(body)
    assert (document["v"], document["event"], document["call"]["id"]) == (1, "call", TACKLE.id)
    assert document["game"]["home_name"] == game.home.name


@pytest.mark.parametrize(
    ("status", "became"),
    [(500, "given_up"), (503, "given_up"), (429, "given_up"), (408, "given_up"), (400, "refused"), (404, "refused")],
)
def test_a_delivery_that_nobody_takes_is_given_up_after_a_day_and_what_is_refused_at_once(
    status: int, became: str
) -> None:
    receiver, clock, told = FakeReceiver(status), Clock(), list[str]()
    outlet = WebhookOutlet(
        "https://example.org/services/S3CRET",
        report=told.append,
        post=receiver.post,
        pause=clock.pause,
        now_ms=clock.now_ms,
    )
    run(outlet.run(some(StreamUpdate(None, call=TACKLE))))
    waiting, (delivery,) = outlet.deliveries()
    assert (waiting, delivery.status, delivery.answer) == ([], became, f"status {status}")
    assert delivery.attempts == len(receiver.taken)
    if became == "refused":
        assert len(receiver.taken) == 1
    else:
        assert 86_400 < clock.now_s < 86_500
    assert len(told) == 1, "what is known is not told again at each attempt"
    assert f"status {status}" in told[0]
    assert "S3CRET" not in told[0] + outlet.to, "whoever reads the log or the panel could post there"
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


def taken_from(queue: UpdateQueue, count: int) -> list[StreamUpdate]:
    found: list[StreamUpdate] = []

    async def work() -> None:
        async for update in queue:
            found.append(update)
            if len(found) == count:
                return

    run(work())
    return found


def test_a_slow_outlet_gets_the_newest_state_and_every_call_before_any_state(game: GameView) -> None:
    queue = UpdateQueue(3)
    states = [StreamUpdate(game.model_copy(update={"down": number})) for number in range(10)]
    calls = [StreamUpdate(game, call=a_call(id=f"call {number}")) for number in range(3)]
    for state in states[:5]:
        queue.put(state)
    queue.put(calls[0])
    for state in states[5:]:
        queue.put(state)
    assert queue.dropped == 0, "an older state is no loss"
    queue.put(calls[1])
    queue.put(calls[2])
    assert taken_from(queue, 3) == calls
    assert queue.dropped == 2


def test_of_calls_alone_the_oldest_goes(game: GameView) -> None:
    queue = UpdateQueue(2)
    calls = [StreamUpdate(game, call=a_call(id=f"call {number}")) for number in range(4)]
    for call in calls:
        queue.put(call)
    assert taken_from(queue, 2) == calls[2:]


def test_a_state_is_sent_when_something_of_it_has_changed(game: GameView) -> None:
    receiver = FakeReceiver(200)
    later = game.model_copy(update={"t_ns": game.t_ns + 1, "situation": "another way to say it"})
    third = game.model_copy(update={"down": 3})

    async def states() -> AsyncIterator[StreamUpdate]:
        for state in (game, later, third, third):
            yield StreamUpdate(state)
            await wait_until_async(lambda: receiver.taken and not outlet.deliveries()[0])

    outlet = WebhookOutlet("https://e.org", post=receiver.post)
    run(outlet.run(states()))
    assert [json.loads(body)["game"]["down"] for body, _ in receiver.taken] == [game.down, 3]


def test_a_receiver_says_how_long_to_wait(game: GameView) -> None:
    waits: list[float] = []
    for asked_s in (7.0, 3_600.0, None):
        receiver, clock = FakeReceiver(429, 200, retry_after_s=asked_s), Clock()
        run(WebhookOutlet("https://e.org", post=receiver.post, pause=clock.pause).run(some(StreamUpdate(game))))
        waits.append(clock.now_s)
    assert waits == [7.0, 60.0, 1.0]


def messages(hub: Hub, *values: tuple[str, object]) -> list[FeedMessage]:
    return [
        FeedMessage(hub.epoch, number, topic, value, 1_000 + number) for number, (topic, value) in enumerate(values)
    ]


def test_what_becomes_of_a_call_is_told_with_its_ruling(game: GameView) -> None:
    ruling = RulingView(decision="overturn", by="Ann", note="daylight", event="ruling-1")
    overturned = TACKLE.model_copy(update={"standing": "overturned", "ruling": ruling})
    source, hub = UpdateSource(), Hub()
    told = [
        update
        for message in messages(
            hub,
            ("game", game),
            ("calls", CallsUpdate(game=game.game, calls=(TACKLE,))),
            ("calls", CallsUpdate(game=game.game, calls=(overturned,))),
            ("calls", CallsUpdate(game=game.game, calls=(overturned,))),
            ("calls", CallsUpdate(game=game.game, calls=(), withdrawn=(TACKLE.id, "never told"))),
        )
        for update in source.updates(message)
    ]
    documents = [update_document(update) for update in told]
    assert [document["event"] for document in documents] == ["game_started", "call", "call_changed", "call_withdrawn"]
    assert [document["at_ms"] for document in documents] == [1_000, 1_001, 1_002, 1_004]
    assert documents[2]["call"]["ruling"]["note"] == "daylight"
    assert documents[3]["call"]["id"] == TACKLE.id


def test_another_game_is_no_withdrawal_of_the_calls_before(game: GameView) -> None:
    over = game.model_copy(update={"phase": "over"})
    other = game.model_copy(update={"game": "another"})
    source, hub = UpdateSource(), Hub()
    told = [
        update_document(update)["event"]
        for message in messages(
            hub,
            ("game", game),
            ("calls", CallsUpdate(game=game.game, calls=(TACKLE,))),
            ("game", over),
            ("calls", CallsUpdate(game="another", calls=(), withdrawn=(TACKLE.id,))),
            ("game", other),
            ("calls", CallsUpdate(game="another", calls=(TACKLE,))),  # ids are unique in their game
        )
        for update in source.updates(message)
    ]
    assert told == ["game_started", "call", "game_ended", "game_started", "call"]


def test_the_call_in_words_is_as_it_was_ruled_on(game: GameView, tmp_path: Path) -> None:
    text = tmp_path / "call.txt"
    for update, shown in (
        (StreamUpdate(game, call=TACKLE), "dark 28 tackled by light 24"),
        (StreamUpdate(game, changed=TACKLE.model_copy(update={"standing": "struck"})), ""),
        (StreamUpdate(game, withdrawn=TACKLE), ""),
        (StreamUpdate(game, turn="started"), ""),
    ):
        told = (StreamUpdate(game, call=TACKLE), update)
        run(FilesOutlet(tmp_path).run(some(*told)))
        assert text.read_text() == shown


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
    frozen = ready.model_copy(update={"frozen": True})
    again = [source.updates(FeedMessage(hub.epoch, number, "replay", frozen, 0)) for number in (6, 7)]
    assert again == [[StreamUpdate(game, paced=frozen)], []], "a replay that is frozen is no other one"


def test_files_are_written_whole_and_only_when_they_change(game: GameView, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    scored = game.model_copy(update={"home": game.home.model_copy(update={"points": 7, "name": "Łódź 株式会社"})})

    async def work() -> None:
        queue = UpdateQueue()
        writing = asyncio.create_task(FilesOutlet(folder).run(aiter(queue)))
        queue.put(StreamUpdate(game))
        await wait_until_async((folder / "call.txt").is_file)  # the last of them
        first = (folder / "away_score.txt").stat().st_mtime_ns
        queue.put(StreamUpdate(scored, call=TACKLE))
        await wait_until_async(
            lambda: (folder / "call.txt").read_text(encoding="utf-8") == "dark 28 tackled by light 24"
        )
        assert (folder / "away_score.txt").stat().st_mtime_ns == first
        writing.cancel()

    run(work())
    assert (folder / "home_score.txt").read_text() == "7"
    state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    assert (state["home_name"], state["v"]) == ("Łódź 株式会社", 1)
    assert set(game_document(game)) <= set(state)
    assert not list(folder.glob(".*"))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    taken = tmp_path / "out"
    taken.write_text("a file")
    with pytest.raises(FilesError, match=r"out can't be written \(File exists\)"):
        run(FilesOutlet(taken).run(aiter(UpdateQueue())))


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
    soon = a_call(id="c", t_ns=63_000_300_000, text="at the same instant, as written")
    shown = re.findall(r"(\S+) --> (\S+)", web_vtt([second, soon], 0))
    assert shown == [("00:01:03.000", "00:01:08.000")] * 2, "a caption that ends when it begins is never shown"


def test_a_replay_is_told_with_its_clip(game: GameView) -> None:
    document = update_document(StreamUpdate(game, replay=ReplayView(take=3, state="ready", clip="api/x.mp4")))
    assert (document["event"], document["replay"]["clip"]) == ("replay", "api/x.mp4")
