"""A change that is sent again, because no answer came in time, takes effect once."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import httpx
import pytest
from asgi_client import AsgiClient
from fastapi import FastAPI, Header, HTTPException, Response
from waiting import WAIT_S, let_run_async

from downfield.api.context import access_control
from downfield.api.context.access_control import AccessControl, AnsweredRequests, AuthorizedRouter
from downfield.api.feed.event_stream import OpenStreams
from downfield.api.security.access import AccessPolicy
from downfield.api.security.forwarding import KnownClients
from downfield.api.security.middleware import SecurityMiddleware
from downfield.api.security.secret_file import SecretFile
from downfield.api.security.tokens import TokenStore
from downfield.store.writing.store import Store


@dataclass
class Counting:
    """An application whose routes count what they did, the slow one once it may."""

    store: Store
    done: list[str] = field(default_factory=list)
    may: asyncio.Event = field(default_factory=asyncio.Event)

    def app(self) -> FastAPI:
        router = AuthorizedRouter()

        @router.post("/taps", "anyone")
        def tap(name: str) -> dict[str, int]:
            self.done.append(name)
            return {"done": len(self.done)}

        @router.post("/slow", "anyone")
        async def slow() -> dict[str, int]:
            await self.may.wait()
            self.done.append("slow")
            return {"done": len(self.done)}

        @router.post("/failing", "anyone")
        def failing() -> None:
            self.done.append("failing")
            raise HTTPException(503)

        @router.post("/receipts", "anyone")
        def receipt(key: Annotated[str | None, Header(alias="Idempotency-Key")] = None) -> str:
            self.done.append(key or "")
            return f"{len(self.done)}"

        app = FastAPI()
        control = AccessControl(AccessPolicy(), KnownClients(), SecretFile(), TokenStore(self.store), OpenStreams())
        app.state.access_control = control
        app.add_middleware(SecurityMiddleware, access=control.policy, known=control.known, responses=Counter())
        app.include_router(router)
        return app


@pytest.fixture
def counting(tmp_path: Path) -> Counting:
    return Counting(Store.at(tmp_path / "devices.db"))


@pytest.fixture
def client(counting: Counting) -> AsgiClient:
    return AsgiClient(counting.app())


def test_the_same_request_gets_the_first_answer_and_counts_once(counting: Counting, client: AsgiClient) -> None:
    answers = [client.post("/taps?name=a", {}, idempotency_key="k1") for _ in range(3)]
    assert [answer.json for answer in answers] == [{"done": 1}] * 3
    assert counting.done == ["a"]
    client.post("/taps?name=a", {}, idempotency_key="k2")
    client.post("/taps?name=a", {})
    assert counting.done == ["a", "a", "a"], "another key, or none, is another request"


@pytest.mark.parametrize("other", ["path", "body", "sender"])
def test_a_key_with_another_request_is_no_repeat(counting: Counting, client: AsgiClient, other: str) -> None:
    client.post("/taps?name=a", {"x": 1}, idempotency_key="k")
    path = "/taps?name=b" if other == "path" else "/taps?name=a"
    headers = {"authorization": "Bearer another"} if other == "sender" else {}
    client.post(path, {"x": 2 if other == "body" else 1}, idempotency_key="k", **headers)
    assert len(counting.done) == 2


def test_an_error_is_not_remembered(counting: Counting, client: AsgiClient) -> None:
    assert [client.post("/failing", {}, idempotency_key="k").status for _ in range(2)] == [503, 503]
    assert counting.done == ["failing", "failing"]


def test_a_route_with_receipts_of_its_own_is_left_alone(client: AsgiClient) -> None:
    assert [client.post("/receipts", {}, idempotency_key="k").json for _ in range(2)] == ["1", "2"]


def test_an_attempt_that_comes_while_the_first_is_handled_waits_for_its_answer(counting: Counting) -> None:
    async def both() -> list[object]:
        transport = httpx.ASGITransport(app=counting.app())
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            sent = [asyncio.create_task(client.post("/slow", headers={"Idempotency-Key": "k"})) for _ in range(3)]
            await asyncio.sleep(0)
            counting.may.set()
            return [answer.json() for answer in await asyncio.gather(*sent)]

    assert asyncio.run(asyncio.wait_for(both(), WAIT_S)) == [{"done": 1}] * 3


def test_of_those_that_waited_for_a_failure_one_goes_on_and_the_others_wait_for_it() -> None:
    outcomes, at_once, most = [500, 200], 0, 0

    async def handle() -> Response:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await let_run_async(0.01)
        at_once -= 1
        return Response(b"done", outcomes.pop(0))

    async def four() -> list[int]:
        answered = AnsweredRequests()
        answers = await asyncio.gather(*(answered.once("k", b"the same", handle) for _ in range(4)))
        return [answer.status_code for answer in answers]

    assert asyncio.run(asyncio.wait_for(four(), WAIT_S)) == [500, 200, 200, 200]
    assert most == 1


def test_the_oldest_answers_are_forgotten(
    counting: Counting, client: AsgiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_control, "MAX_ANSWERS", 2)
    for key in ("k1", "k2", "k3", "k1"):
        client.post("/taps?name=a", {}, idempotency_key=key)
    assert len(counting.done) == 4
    client.post("/taps?name=a", {}, idempotency_key="k3")
    assert len(counting.done) == 4
